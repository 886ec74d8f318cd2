//! A way to the server that breaks at the worst moment: around a commit.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

const SOCKET: &str = ".s.PGSQL.5432";
const COMMIT: &[u8] = b"COMMIT\0";

/// Where the next commit gets lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lose {
    /// Nowhere.
    Nothing = 0,
    /// On the way to the server: it is never made.
    TheCommit = 1,
    /// On the way back: it is made, and nobody hears of it.
    ItsAnswer = 2,
}

/// A socket in a directory of its own that leads to the server.
#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) directory: tempfile::TempDir,
    lose: Arc<AtomicU8>,
}

impl Proxy {
    pub(crate) fn before(server: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let listener = UnixListener::bind(directory.path().join(SOCKET)).unwrap();
        let lose = Arc::new(AtomicU8::new(Lose::Nothing as u8));
        let (server, armed) = (server.join(SOCKET), Arc::clone(&lose));
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let server = UnixStream::connect(&server).unwrap();
                let muted = Arc::new(AtomicU8::new(0));
                let (answers, asked) =
                    ((server.try_clone().unwrap(), client.try_clone().unwrap()), Arc::clone(&muted));
                std::thread::spawn(move || pass_answers(answers.0, answers.1, &asked));
                let armed = Arc::clone(&armed);
                std::thread::spawn(move || pass_questions(client, server, &armed, &muted));
            }
        });
        Self { directory, lose }
    }

    /// Loses the next commit, and only that.
    pub(crate) fn lose_next(&self, what: Lose) {
        self.lose.store(what as u8, Ordering::SeqCst);
    }
}

fn pass_questions(mut client: UnixStream, mut server: UnixStream, armed: &AtomicU8, muted: &AtomicU8) {
    let (mut said, mut chunk) = (Vec::new(), [0; 65_536]);
    while let Ok(count @ 1..) = client.read(&mut chunk) {
        said.extend_from_slice(&chunk[..count]);
        if holds(&said, COMMIT) {
            let lose = armed.swap(0, Ordering::SeqCst);
            said.clear();
            if lose == Lose::TheCommit as u8 {
                break;
            }
            muted.store(lose, Ordering::SeqCst);
        }
        if server.write_all(&chunk[..count]).is_err() {
            break;
        }
    }
    cut(&client, &server);
}

fn pass_answers(mut server: UnixStream, mut client: UnixStream, muted: &AtomicU8) {
    let (mut told, mut chunk) = (Vec::new(), [0; 65_536]);
    while let Ok(count @ 1..) = server.read(&mut chunk) {
        if muted.load(Ordering::SeqCst) == 0 {
            if client.write_all(&chunk[..count]).is_err() {
                break;
            }
            continue;
        }
        told.extend_from_slice(&chunk[..count]);
        if holds(&told, COMMIT) {
            break;
        }
    }
    cut(&client, &server);
}

fn holds(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn cut(client: &UnixStream, server: &UnixStream) {
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
}
