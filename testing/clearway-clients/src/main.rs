//! Installs the clients that tests drive and says where they are. Tests do so themselves; done before, it costs no test
//! its time.

use std::process::ExitCode;

fn main() -> ExitCode {
    match clearway_clients::ready() {
        Ok(installed) => {
            println!("{}", installed.directory().display());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("clearway-clients: {why}");
            ExitCode::FAILURE
        }
    }
}
