//! The only crate that asks the machine for facts: what time it is, which process this is and
//! which others still live, what a file system can promise, who holds a lock.
//!
//! It decides nothing. It knows no lease, no event and no command; it hands plain values to
//! callers that do, so that everything above it can be tested with facts made up.
//!
//! Linux is tested. macOS sits behind the same functions and is untested. Windows is refused at
//! compile time, because neither `flock` nor process identity mean there what they mean here.
//!
//! Start with [`environment`] and [`clock`]; [`gate`] is the one module with a protocol in it.

#[cfg(windows)]
compile_error!(
    "Clearway does not build for Windows: use it inside WSL2, where the Linux build runs unchanged"
);

pub mod clock;
pub mod command;
pub mod doorbell;
pub mod environment;
pub mod files;
pub mod gate;
mod helper;
pub mod input;
mod lock;
pub mod output;
pub mod process;
pub mod random;
pub mod stopwatch;
pub mod terminal;

#[cfg_attr(target_os = "macos", path = "system/macos.rs")]
#[cfg_attr(not(target_os = "macos"), path = "system/linux.rs")]
mod system;
