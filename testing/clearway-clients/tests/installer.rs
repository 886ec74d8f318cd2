//! The installer as a program.

use std::process::Command;

#[test]
fn words_that_it_does_not_take_install_nothing() {
    let output = Command::new(env!("CARGO_BIN_EXE_clearway-clients")).arg("--help").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty() && output.stderr.starts_with(b"clearway-clients: it takes no words"));
}
