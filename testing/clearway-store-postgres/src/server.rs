//! A PostgreSQL server of one's own: private, reachable through a socket file alone, gone afterwards.
//!
//! The server is a child of a keeper, a small shell that waits for its input to end. Input ends when the [`Server`] is
//! dropped and just as well when its process is killed, and then the keeper stops the server and removes its directory.
//! Should the keeper itself have been killed, the next start finds the directory with nobody's lock on it.

use crate::link::Link;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PREFIX: &str = "clearway-postgres-";
/// A machine that is busy with other tests takes its time.
const START_MAX: Duration = Duration::from_secs(60);
/// How long an abandoned server is asked before it is made to stop.
const STOP_MAX: Duration = Duration::from_secs(10);

/// Makes the data, starts the server, and stops it at the end of the input, whoever ended that.
///
/// The data are sorted by letters, punctuation last, as servers do whose locale is a language: a search which relies on
/// the order of bytes and forgot to say so fails here. A server built without such orders is taken as it is. The signal
/// asks for an immediate stop: nothing here is worth a checkpoint. It is sent until the server is gone, because one
/// that has only just been started does not hear it yet; what it had started itself may go on writing for a moment, so
/// that the data are removed until they are gone.
const KEEPER: &str = r#"
trap '' TERM INT HUP
make() { "$1/initdb" -D "$2/data" -A trust -U clearway -E UTF8 --no-sync --locale=C $3; }
make "$1" "$2" "--locale-provider=icu --icu-locale=en-u-ka-shifted" || make "$1" "$2" "" || exit 1
"$1/postgres" -D "$2/data" -k "$2" -c listen_addresses= -c fsync=off -c max_connections=64 \
    -c unix_socket_permissions=0777 &
server=$!
while read -r _; do :; done
while kill -QUIT "$server"; do sleep 0.02; done
tries=0
until rm -rf "$2/data" || [ "$tries" -ge 100 ]; do tries=$((tries + 1)); sleep 0.05; done
rm -rf "$2"
"#;

/// A running server.
#[derive(Debug)]
pub struct Server {
    directory: PathBuf,
    keeper: Child,
    _lock: File,
}

impl Server {
    /// Starts one in a directory for temporary files.
    ///
    /// # Panics
    /// If there is no server to start, or it does not start: a test without its database has failed.
    pub fn start() -> Self {
        let temporary = std::env::temp_dir();
        end_stale(&temporary);
        Self::try_start(&temporary).unwrap_or_else(|error| panic!("no PostgreSQL server: {error}"))
    }

    /// Where its socket lies.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The process that ends it.
    pub fn keeper(&self) -> u32 {
        self.keeper.id()
    }

    fn try_start(temporary: &Path) -> Result<Self, String> {
        let programs = programs()?;
        let user = User::of_server()?;
        let (directory, lock) = make_directory(temporary, &user).map_err(|error| error.to_string())?;
        let keeper = spawn_keeper(&programs, &user, &directory).map_err(|error| error.to_string())?;
        let mut server = Self { directory, keeper, _lock: lock };
        server.wait_until_it_answers()?;
        Ok(server)
    }

    fn wait_until_it_answers(&mut self) -> Result<(), String> {
        let started = Instant::now();
        loop {
            let Err(error) = Link::open(&self.directory) else { return Ok(()) };
            if started.elapsed() > START_MAX || !matches!(self.keeper.try_wait(), Ok(None)) {
                let log = fs::read_to_string(self.directory.join("log")).unwrap_or_default();
                return Err(format!("{error}\n{log}"));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
        // The keeper is another user than root and may not be allowed to take the directory out of a private one.
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// Where the server's programs lie: in the path, or where Debian puts them, the newest first.
fn programs() -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort();
    places.extend(versions.into_iter().rev().map(|(_, place)| place));
    let has_both = |place: &PathBuf| place.join("initdb").exists() && place.join("postgres").exists();
    places.into_iter().find(has_both).ok_or_else(|| {
        "neither the path nor /usr/lib/postgresql has initdb and postgres; scripts/setup installs them"
            .to_owned()
    })
}

/// As whom the server runs: it refuses to run as root.
#[derive(Debug)]
struct User(Option<(u32, u32)>);

impl User {
    fn of_server() -> Result<Self, String> {
        let own = fs::metadata("/proc/self").map(|of| of.uid()).unwrap_or(1);
        if own != 0 {
            return Ok(Self(None));
        }
        let number = |flag, name| {
            let output =
                Command::new("id").args([flag, name]).output().ok().filter(|output| output.status.success());
            output.and_then(|output| String::from_utf8_lossy(&output.stdout).trim().parse().ok())
        };
        let numbers = |name| Some((number("-u", name)?, number("-g", name)?));
        let found = numbers("postgres").or_else(|| numbers("nobody"));
        found.map(|found| Self(Some(found))).ok_or_else(|| "there is no user to run it as".to_owned())
    }

    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        if let Some((user, group)) = self.0 {
            command.uid(user).gid(group);
        }
        command
    }
}

/// A directory under a lock that lasts as long as this process. It gets its name only when it is locked, so that nobody
/// takes it for abandoned before.
fn make_directory(temporary: &Path, user: &User) -> io::Result<(PathBuf, File)> {
    let unnamed = tempfile::Builder::new().prefix(".starting-").tempdir_in(temporary)?.keep();
    let lock = File::create_new(unnamed.join("lock"))?;
    lock.lock()?;
    if let Some((user, group)) = user.0 {
        chown(&unnamed, Some(user), Some(group))?;
    }
    let random = unnamed.to_string_lossy().rsplit('-').next().unwrap_or_default().to_owned();
    let directory = temporary.join(format!("{PREFIX}{random}"));
    fs::rename(&unnamed, &directory)?;
    Ok((directory, lock))
}

fn spawn_keeper(programs: &Path, user: &User, directory: &Path) -> io::Result<Child> {
    let log = File::create(directory.join("log"))?;
    let mut command = user.command(Path::new("/bin/sh"));
    command.args(["-c", KEEPER, "keeper"]).arg(programs).arg(directory).current_dir("/");
    // A group of its own: whoever ends the group of a test must not end the keeper before it has cleaned up.
    command.process_group(0).stdin(Stdio::piped()).stdout(log.try_clone()?).stderr(log).spawn()
}

/// Ends servers whose processes are gone and whose keepers were killed too.
fn end_stale(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let directory = entry.path();
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_ours && is_abandoned(&directory) {
            end_server(&directory);
            let _ = fs::remove_dir_all(&directory);
        }
    }
}

/// Nobody holds its lock, or the lock went with everything else that its keeper was allowed to remove.
fn is_abandoned(directory: &Path) -> bool {
    match File::open(directory.join("lock")) {
        Ok(lock) => lock.try_lock().is_ok(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Ends the server of a directory, if the process its note names is still that server.
fn end_server(directory: &Path) {
    let note = fs::read_to_string(directory.join("data/postmaster.pid")).unwrap_or_default();
    let Some(pid) = note.lines().next().filter(|pid| pid.parse::<u32>().is_ok()) else { return };
    let is_alive = || {
        let output = Command::new("ps").args(["-o", "args=", "-p", pid]).output();
        let told =
            output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
        told.contains(&*directory.to_string_lossy())
    };
    let asked = Instant::now();
    while is_alive() && asked.elapsed() < START_MAX {
        let signal = if asked.elapsed() < STOP_MAX { "-QUIT" } else { "-KILL" };
        let _ = Command::new("kill").args([signal, pid]).status();
        std::thread::sleep(Duration::from_millis(20));
    }
}
