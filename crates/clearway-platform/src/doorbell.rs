//! Doorbells: datagram sockets that wake whoever follows a scope.
//!
//! A ring carries no news, it says "look again"; a lost one costs only the follower's own next
//! look. Ringing never blocks and never fails a writer.

use std::fs;
use std::io;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::files::{self, FileError};
use crate::random;

/// Sockets rung at a time; followers beyond them find out by looking.
pub const LISTENERS_MAX: usize = 1_024;

/// The longest scope key that can name a directory.
pub const SCOPE_KEY_BYTES_MAX: usize = 128;

/// Rings taken as one; a queue holds far fewer, but a ringer could be faster than we are.
const RINGS_MAX: usize = 1_024;

/// What a socket address can hold on every platform we build for, with its closing zero.
const ADDRESS_BYTES_MAX: usize = 103;

const SUFFIX: &str = ".sock";

/// Why nobody can listen.
#[derive(Debug, thiserror::Error)]
pub enum DoorbellError {
    /// The key cannot name a directory.
    #[error("{key:?} cannot name a doorbell: use 1 to {SCOPE_KEY_BYTES_MAX} bytes without a slash")]
    ScopeKey {
        /// The key given.
        key: String,
    },
    /// The socket's directory cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
}

/// One follower's ear; its socket is removed when this is dropped.
#[derive(Debug)]
pub struct Listener {
    socket: UnixDatagram,
    path: PathBuf,
}

/// Starts to listen for rings of a scope below the given runtime directory.
pub fn listen(runtime_dir: &Path, scope_key: &str) -> Result<Listener, DoorbellError> {
    let dir = scope_dir(runtime_dir, scope_key)?;
    files::create_private_dir_all(&dir)?;
    let mut salt = [0_u8; 8];
    random::fill(&mut salt).map_err(FileError::system("name a socket in", &dir))?;
    let name = format!("{}-{:016x}", std::process::id(), u64::from_ne_bytes(salt));
    let path = dir.join(format!("{name}{SUFFIX}"));
    let socket = bind(&dir, &name, &path).map_err(FileError::system("listen on", &path))?;
    Ok(Listener { socket, path })
}

/// Wakes everyone who listens for the scope and answers how many that were.
///
/// Where nobody ever listened this costs one failed `open`. Sockets nobody listens on any more are
/// removed.
pub fn ring(runtime_dir: &Path, scope_key: &str) -> usize {
    let Ok(dir) = scope_dir(runtime_dir, scope_key) else { return 0 };
    let Ok(entries) = fs::read_dir(&dir) else { return 0 };
    let Some(bell) = Bell::new() else { return 0 };
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let sockets = names.filter(|name| name.ends_with(SUFFIX)).take(LISTENERS_MAX);
    sockets.filter(|name| bell.ring(&dir, name)).count()
}

impl Listener {
    /// Waits until someone rings, for at most `timeout`, and answers whether someone did.
    ///
    /// Rings that piled up count as one.
    pub fn wait(&mut self, timeout: Duration) -> io::Result<bool> {
        let started = Instant::now();
        loop {
            if self.drain()? {
                return Ok(true);
            }
            let left = timeout.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Ok(false);
            }
            if self.receive_within(left)? {
                self.drain()?;
                return Ok(true);
            }
        }
    }

    /// The socket's path, for showing.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn receive_within(&self, timeout: Duration) -> io::Result<bool> {
        self.socket.set_nonblocking(false)?;
        self.socket.set_read_timeout(Some(timeout))?;
        received(&self.socket)
    }

    fn drain(&self) -> io::Result<bool> {
        self.socket.set_nonblocking(true)?;
        for taken in 0..RINGS_MAX {
            if !received(&self.socket)? {
                return Ok(taken > 0);
            }
        }
        Ok(true)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

struct Bell(UnixDatagram);

impl Bell {
    fn new() -> Option<Self> {
        let socket = UnixDatagram::unbound().ok()?;
        socket.set_nonblocking(true).ok()?;
        Some(Self(socket))
    }

    /// A full queue means the listener was rung already and has not looked yet.
    fn ring(&self, dir: &Path, name: &str) -> bool {
        let sent = with_short_address(dir, name, |address| self.0.send_to(&[1], address));
        match sent {
            Ok(_) => true,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => true,
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let _ = fs::remove_file(dir.join(name));
                false
            }
            Err(_) => false,
        }
    }
}

/// Binds under a hidden name first: between the file's appearance and the socket's readiness a
/// ring would be refused, and the ringer would take the file for a leftover.
fn bind(dir: &Path, name: &str, path: &Path) -> io::Result<UnixDatagram> {
    let hidden = format!(".{name}");
    let socket = with_short_address(dir, &hidden, |address| UnixDatagram::bind(address))?;
    fs::rename(dir.join(hidden), path)?;
    Ok(socket)
}

/// Socket addresses are short, directories need not be: Linux can reach one through its
/// descriptor.
fn with_short_address<T>(dir: &Path, name: &str, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    let plain = dir.join(name);
    if cfg!(target_os = "macos") || plain.as_os_str().len() <= ADDRESS_BYTES_MAX {
        return act(&plain);
    }
    let opened = fs::File::open(dir)?;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&opened);
    act(&PathBuf::from(format!("/proc/self/fd/{descriptor}/{name}")))
}

fn received(socket: &UnixDatagram) -> io::Result<bool> {
    match socket.recv(&mut [0_u8; 1]) {
        Ok(_) => Ok(true),
        Err(error) if is_passing(error.kind()) => Ok(false),
        Err(error) => Err(error),
    }
}

fn is_passing(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

fn scope_dir(runtime_dir: &Path, scope_key: &str) -> Result<PathBuf, DoorbellError> {
    let usable = !scope_key.is_empty()
        && scope_key.len() <= SCOPE_KEY_BYTES_MAX
        && !scope_key.starts_with('.')
        && !scope_key.contains(['/', '\0']);
    if !usable {
        return Err(DoorbellError::ScopeKey { key: scope_key.to_owned() });
    }
    Ok(runtime_dir.join(scope_key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// Long enough to never pass on a loaded machine; no test waits it out.
    const LONG: Duration = Duration::from_secs(60);

    fn rung(listener: &mut Listener) -> bool {
        listener.wait(Duration::ZERO).unwrap()
    }

    fn files_in(dir: &Path) -> usize {
        fs::read_dir(dir).unwrap().count()
    }

    #[test]
    fn ringing_where_nobody_listens_creates_nothing() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(ring(&dir.path().join("run"), "scope"), 0);
        assert_eq!(files_in(dir.path()), 0);
    }

    #[test]
    fn every_listener_of_the_scope_is_rung_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let mut listeners = [(); 3].map(|()| listen(dir.path(), "one").unwrap());
        let mut other = listen(dir.path(), "two").unwrap();
        assert_eq!(ring(dir.path(), "one"), 3);
        assert!(listeners.iter_mut().all(rung));
        assert!(!rung(&mut other));
    }

    #[test]
    fn a_ring_ends_a_wait() {
        let dir = tempfile::tempdir().unwrap();
        let mut listener = listen(dir.path(), "scope").unwrap();
        let waiter = std::thread::spawn(move || listener.wait(LONG).unwrap());
        assert_eq!(ring(dir.path(), "scope"), 1);
        assert!(waiter.join().unwrap());
    }

    #[test]
    fn a_wait_without_a_ring_ends_by_itself() {
        let dir = tempfile::tempdir().unwrap();
        let mut listener = listen(dir.path(), "scope").unwrap();
        assert!(!listener.wait(Duration::from_millis(1)).unwrap());
    }

    #[test]
    fn rings_pile_up_without_blocking_and_count_as_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut listener = listen(dir.path(), "scope").unwrap();
        for _ in 0..2_000 {
            assert_eq!(ring(dir.path(), "scope"), 1);
        }
        assert!(rung(&mut listener));
        assert!(!rung(&mut listener));
    }

    #[test]
    fn a_listener_takes_its_socket_with_it() {
        let dir = tempfile::tempdir().unwrap();
        let listener = listen(dir.path(), "scope").unwrap();
        assert!(listener.path().exists());
        drop(listener);
        assert_eq!(files_in(&dir.path().join("scope")), 0);
    }

    #[test]
    fn sockets_of_listeners_that_died_are_removed_and_other_files_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let mut listener = listen(dir.path(), "scope").unwrap();
        let scope = dir.path().join("scope");
        drop(UnixDatagram::bind(scope.join("1-1.sock")).unwrap());
        fs::write(scope.join("notes"), "").unwrap();
        assert_eq!(ring(dir.path(), "scope"), 1);
        assert!(rung(&mut listener));
        assert!(!scope.join("1-1.sock").exists());
        assert!(scope.join("notes").exists());
    }

    #[test]
    fn a_directory_too_long_for_a_socket_address_works_too() {
        let dir = tempfile::tempdir().unwrap();
        let deep = dir.path().join("d".repeat(120)).join("e".repeat(120));
        let mut listener = listen(&deep, "scope").unwrap();
        assert_eq!(ring(&deep, "scope"), 1);
        assert!(rung(&mut listener));
    }

    #[test]
    fn only_the_owner_can_reach_the_sockets() {
        let dir = tempfile::tempdir().unwrap();
        let _listener = listen(&dir.path().join("run"), "scope").unwrap();
        for made in ["run", "run/scope"] {
            assert_eq!(fs::metadata(dir.path().join(made)).unwrap().permissions().mode() & 0o7777, 0o700);
        }
    }

    #[test]
    fn a_key_that_could_lead_elsewhere_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let too_long = "k".repeat(SCOPE_KEY_BYTES_MAX + 1);
        for key in ["", ".", "..", "a/b", "/etc", ".hidden", "a\0b", &too_long] {
            assert!(matches!(listen(dir.path(), key), Err(DoorbellError::ScopeKey { .. })), "{key:?}");
            assert_eq!(ring(dir.path(), key), 0);
        }
        assert_eq!(files_in(dir.path()), 0);
    }
}
