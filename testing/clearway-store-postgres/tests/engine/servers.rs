//! No server outlives whoever started it.

use clearway_store_postgres::Server;
use clearway_testkit::until;
use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A process that keeps a server, where that is, and the process that would end it.
fn owner() -> (Child, PathBuf, String) {
    let mut child = owner_command().spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let (directory, keeper) = line.trim().rsplit_once(' ').unwrap();
    (child, directory.into(), keeper.to_owned())
}

fn owner_command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_clearway-store-postgres"));
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    command
}

fn server_of(directory: &Path) -> String {
    let note = std::fs::read_to_string(directory.join("data/postmaster.pid")).unwrap();
    note.lines().next().unwrap().to_owned()
}

fn is_running(pid: &str) -> bool {
    let told = Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    let state = String::from_utf8_lossy(&told.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

#[test]
fn a_server_ends_with_its_owner() {
    let server = Server::start();
    let (directory, pid) = (server.directory().to_owned(), server_of(server.directory()));
    assert!(is_running(&pid));
    drop(server);
    assert!(!is_running(&pid) && !directory.exists());
}

#[test]
fn a_server_ends_when_its_owner_is_killed() {
    let (mut owner, directory, _) = owner();
    let pid = server_of(&directory);
    owner.kill().unwrap();
    owner.wait().unwrap();
    until("the directory goes", || !directory.exists());
    until("the server ends", || !is_running(&pid));
}

#[test]
fn a_server_ends_when_its_owner_is_killed_while_it_starts() {
    for moment in ["log", "data/postmaster.pid"] {
        let place = tempfile::tempdir().unwrap();
        std::fs::set_permissions(place.path(), Permissions::from_mode(0o777)).unwrap();
        let directories = || std::fs::read_dir(place.path()).unwrap().flatten().map(|entry| entry.path());
        let mut owner = owner_command().env("TMPDIR", place.path()).spawn().unwrap();
        until(moment, || directories().any(|directory| directory.join(moment).exists()));
        owner.kill().unwrap();
        owner.wait().unwrap();
        until("the directory goes", || directories().next().is_none());
    }
}

#[test]
fn a_server_whose_keeper_was_killed_too_is_ended_by_the_next_start() {
    let (mut owner, directory, keeper) = owner();
    let pid = server_of(&directory);
    assert!(Command::new("kill").args(["-KILL", &keeper]).status().unwrap().success());
    owner.kill().unwrap();
    owner.wait().unwrap();
    drop(Server::start());
    assert!(!is_running(&pid) && !directory.exists());
}
