//! Installs the clients that tests drive, and the managers of git hooks, and says where they are. Tests do so themselves; done before, it costs no test
//! its time.

use std::process::ExitCode;

/// The exit code of a command line that cannot be read.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    if std::env::args_os().len() > 1 {
        eprintln!(
            "clearway-clients: it takes no words; it installs clients and managers of git hooks and says where they are"
        );
        return ExitCode::from(USAGE);
    }
    let both = clearway_clients::ready().and_then(|clients| Ok((clients, clearway_clients::managers()?)));
    match both {
        Ok((clients, managers)) => {
            println!("{}\n{}", clients.directory().display(), managers.directory().display());
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("clearway-clients: {why}");
            ExitCode::FAILURE
        }
    }
}
