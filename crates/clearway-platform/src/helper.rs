//! Threads that wait in the kernel for something that knows no timeout, so that their owner can give up.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

/// Helper threads at a time. A waiter that gave up leaves its thread in the queue until the holder
/// lets go, so a server in front of a holder that stands still must not collect them without end.
const HELPERS_MAX: usize = 64;

const HELPER_STACK_BYTES: usize = 64 * 1024;

static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// What a helper says, until it has ended. `None` if no thread may or can be started.
pub(crate) fn on_helper<T: Send + 'static>(
    work: impl FnOnce(&Sender<T>) + Send + 'static,
) -> Option<mpsc::Receiver<T>> {
    let permit = Permit::take()?;
    let (sender, said) = mpsc::channel();
    let body = move || {
        let _permit = permit;
        work(&sender);
    };
    let builder = thread::Builder::new().name("clearway-gate".to_owned()).stack_size(HELPER_STACK_BYTES);
    builder.spawn(body).ok().map(|_| said)
}

pub(crate) fn ended_early() -> io::Error {
    io::Error::other("the waiting thread ended early")
}

/// Counts one helper thread for as long as it lives.
struct Permit;

impl Permit {
    fn take() -> Option<Self> {
        let grow = |count: usize| (count < HELPERS_MAX).then_some(count + 1);
        HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grow).ok().map(|_| Self)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
    }
}
