//! Installs the clients that tests drive and says where they are. Tests do so themselves; done before, it costs no test
//! its time.

use std::process::ExitCode;

/// The exit code of a command line that cannot be read.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    if std::env::args_os().len() > 1 {
        eprintln!("clearway-clients: it takes no words; it installs the clients and says where they are");
        return ExitCode::from(USAGE);
    }
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
