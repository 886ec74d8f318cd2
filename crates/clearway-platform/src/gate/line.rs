//! The line in front of the gate, in strict order of arrival.
//!
//! A lock that comes free is taken by whoever asks first, not by whoever waited longest: a sleeper takes a while to
//! wake, and busy processes ask all the time. So nobody waits for the same lock as somebody else. Everybody draws a
//! ticket, locks the byte of its own ticket and waits for the byte of the ticket before: no newcomer can have that one.
//! A process that dies leaves its byte, wherever it stood; whoever comes after it then makes sure that all before are
//! gone too.
//!
//! The locks belong to the open file, so threads of one process stand in line like processes. The file holds the last
//! ticket drawn and the first in line; what it says only matters to those in line. Whatever goes wrong here costs order
//! and nothing else: the gate excludes, with or without a line.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use crate::files::{self, FileError};

/// The byte that is locked while a ticket is drawn.
const DRAWING: u64 = 0;
/// The byte of ticket 0. Tickets are numbered from 1, and their bytes need not be there to be locked.
const TICKETS: u64 = 1;
/// Where the last ticket drawn stands.
const DRAWN_AT: u64 = 0;
/// Where the ticket of the first in line stands.
const SERVED_AT: u64 = 8;

/// The line of one store, as one waiter opened it.
#[derive(Debug, Clone)]
pub(super) struct Line(Arc<File>);

/// A place in the line; dropping it leaves the line.
#[derive(Debug)]
pub(super) struct Place {
    line: Line,
    ticket: u64,
}

impl Line {
    pub(super) fn open(path: &Path) -> Result<Self, FileError> {
        Ok(Self(Arc::new(files::open_private(path)?)))
    }

    /// Whether nobody else stands in it.
    pub(super) fn is_empty(&self) -> bool {
        locks::is_free(&self.0, DRAWING, None).unwrap_or(true)
    }

    /// Draws a ticket, after all drawn before. `None`, no place, where a count that was lost gives one out again, where
    /// it cannot be written, and where there are no such locks.
    pub(super) fn join(&self) -> Option<Place> {
        locks::wait(&self.0, DRAWING, 1).ok()?;
        let drawn = self.draw();
        locks::leave(&self.0, DRAWING, Some(1));
        drawn.map(|ticket| Place { line: self.clone(), ticket })
    }

    fn draw(&self) -> Option<u64> {
        let ticket = self.read(DRAWN_AT) + 1;
        self.0.write_all_at(&ticket.to_le_bytes(), DRAWN_AT).ok()?;
        locks::take(&self.0, TICKETS + ticket, 1).ok()?.then_some(ticket)
    }

    /// Who is first. As long as it changes, the line moves.
    pub(super) fn served(&self) -> u64 {
        self.read(SERVED_AT)
    }

    /// A count that is not there, or is no count, is begun anew.
    fn read(&self, offset: u64) -> u64 {
        let mut count = [0; size_of::<u64>()];
        let read = self.0.read_exact_at(&mut count, offset).map_or(0, |()| u64::from_le_bytes(count));
        if read > TICKET_MAX { 0 } else { read }
    }

    /// Leaves the line, wherever a helper that shares it may stand.
    pub(super) fn leave(&self) {
        locks::leave(&self.0, TICKETS, None);
    }
}

/// Beyond this a byte of a file has no number any more.
const TICKET_MAX: u64 = 1 << 62;

impl Place {
    /// Waits until nobody is before it, however long it takes: for helper threads only.
    pub(super) fn wait(&self) {
        let file = &self.line.0;
        let _ = locks::wait(file, TICKETS + self.ticket - 1, 1);
        // Whoever stood right before may have died in line.
        let _ = locks::wait(file, TICKETS, self.ticket);
        // A disk without room for it only makes those who wait take a moving line for a standing one.
        let _ = file.write_all_at(&self.ticket.to_le_bytes(), SERVED_AT);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.line.leave();
    }
}

/// Locks on stretches of a file, for writing, that belong to the open file.
#[cfg(not(target_os = "macos"))]
mod locks {
    use nix::errno::Errno;
    use nix::fcntl::{FcntlArg, fcntl};
    use nix::libc;
    use std::fs::File;
    use std::io;

    /// From here so many bytes, or all that follow.
    fn stretch(kind: libc::c_int, from: u64, length: Option<u64>) -> libc::flock {
        let number = |value: u64| libc::off_t::try_from(value).unwrap_or(libc::off_t::MAX);
        // The constants are small, and their type differs from the field's on some systems.
        let (l_type, l_whence) = (kind as libc::c_short, libc::SEEK_SET as libc::c_short);
        libc::flock { l_type, l_whence, l_start: number(from), l_len: number(length.unwrap_or(0)), l_pid: 0 }
    }

    pub(super) fn is_free(file: &File, from: u64, length: Option<u64>) -> io::Result<bool> {
        let mut wanted = stretch(libc::F_WRLCK, from, length);
        fcntl(file, FcntlArg::F_OFD_GETLK(&mut wanted))?;
        Ok(wanted.l_type == libc::F_UNLCK as libc::c_short)
    }

    pub(super) fn take(file: &File, from: u64, length: u64) -> io::Result<bool> {
        match fcntl(file, FcntlArg::F_OFD_SETLK(&stretch(libc::F_WRLCK, from, Some(length)))) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::EACCES) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn wait(file: &File, from: u64, length: u64) -> io::Result<()> {
        loop {
            match fcntl(file, FcntlArg::F_OFD_SETLKW(&stretch(libc::F_WRLCK, from, Some(length)))) {
                Err(Errno::EINTR) => {}
                settled => return Ok(settled.map(|_| ())?),
            }
        }
    }

    pub(super) fn leave(file: &File, from: u64, length: Option<u64>) {
        let _ = fcntl(file, FcntlArg::F_OFD_SETLK(&stretch(libc::F_UNLCK, from, length)));
    }
}

/// Untested: macOS has no such locks.
#[cfg(target_os = "macos")]
mod locks {
    use std::fs::File;
    use std::io;

    pub(super) fn is_free(_file: &File, _from: u64, _length: Option<u64>) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn take(_file: &File, _from: u64, _length: u64) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn wait(_file: &File, _from: u64, _length: u64) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn leave(_file: &File, _from: u64, _length: Option<u64>) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(dir: &tempfile::TempDir) -> Line {
        Line::open(&dir.path().join("next")).unwrap()
    }

    #[test]
    fn tickets_are_drawn_one_after_the_other_and_the_line_is_empty_when_all_have_left() {
        let dir = tempfile::tempdir().unwrap();
        let places: Vec<Place> = (0..3).map(|_| line(&dir).join().unwrap()).collect();
        assert_eq!(places.iter().map(|place| place.ticket).collect::<Vec<_>>(), [1, 2, 3]);
        assert!(!line(&dir).is_empty());
        drop(places);
        assert!(line(&dir).is_empty());
    }

    #[test]
    fn a_count_that_cannot_be_written_is_no_place() {
        let dir = tempfile::tempdir().unwrap();
        drop(line(&dir).join());
        let unwritable = Line(Arc::new(File::open(dir.path().join("next")).unwrap()));
        assert!(unwritable.join().is_none());
        assert!(line(&dir).is_empty(), "nobody is left drawing");
    }

    #[test]
    fn a_ticket_that_is_given_out_again_is_no_place() {
        let dir = tempfile::tempdir().unwrap();
        let first = line(&dir).join().unwrap();
        first.line.0.set_len(0).unwrap();
        assert!(line(&dir).join().is_none());
    }

    #[test]
    fn whoever_stood_behind_one_that_died_in_line_still_waits_for_all_before_it() {
        let dir = tempfile::tempdir().unwrap();
        let [first, dying, third] = [(); 3].map(|()| line(&dir).join().unwrap());
        first.wait();
        let (died, onlooker) = (TICKETS + dying.ticket, line(&dir));
        drop(dying);
        let waiter = std::thread::spawn(move || {
            third.wait();
            third
        });
        while locks::is_free(&onlooker.0, died, Some(1)).unwrap() {
            std::thread::yield_now();
        }
        // It has the place of the dead one, and would be let in now if it did not look further.
        for _ in 0..1_000 {
            std::thread::yield_now();
            assert_eq!(onlooker.served(), 1);
        }
        drop(first);
        let third = waiter.join().unwrap();
        assert_eq!(onlooker.served(), third.ticket);
    }
}
