//! `with`: a command under named leases. Standard output is the command's, and so is the exit code.

use super::queueing::watched;
use crate::arguments::{WAIT_AS_LONG_AS_ALLOWED, WithFlags, mode};
use crate::console::{Console, Problem};
use crate::usage::explain_wait;
use clearway_core::slug::{FailureKind, Slug};
use clearway_kernel::{Run, Session, WithWait, WithWords};

/// The exit code of a command that was not begun, whatever kept it. Commands themselves do not use it.
const NOT_BEGUN_CODE: u8 = 125;

/// Runs the command: its exit code.
pub(super) fn with(
    session: &mut Session<'_>,
    flags: WithFlags,
    console: &mut Console<'_, '_>,
) -> Result<u8, Problem> {
    let words = WithWords {
        names: flags.names,
        mode: mode(flags.shared),
        ttl: flags.ttl,
        reason: flags.reason,
        wait: match flags.wait {
            None => WithWait::No,
            Some(word) if word == WAIT_AS_LONG_AS_ALLOWED => WithWait::AsAllowed,
            Some(span) => WithWait::For(span),
        },
        command: flags.command,
    };
    let held = match &words.wait {
        WithWait::No => session.hold(&words, &mut |_| {}),
        _ => watched(console, |watch| session.hold(&words, watch)),
    };
    let held = held.map_err(|failure| match &words.wait {
        WithWait::For(span) => explain_wait(failure, span, "with NAME --wait 5m -- CMD…"),
        _ => failure,
    })?;
    match session.run(held)? {
        Run::Ended(code) => Ok(code),
        Run::Lost(failure) => Err(failure.into()),
    }
}

/// The exit code of a failure where a command would have given its own. A slip on the line and a wrong configuration
/// are seen by whoever writes the script; what happens while it runs has a code that commands leave alone.
pub(crate) fn code_beside_command(slug: Slug) -> u8 {
    match slug.kind() {
        FailureKind::Usage
        | FailureKind::Configuration
        | FailureKind::Lost
        | FailureKind::Unrunnable
        | FailureKind::NoCommand => slug.exit_code(),
        _ => NOT_BEGUN_CODE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_from_the_exit_codes_of_commands() {
        for (slug, code) in [
            (Slug::ReservationHeld, 125),
            (Slug::WouldDeadlock, 125),
            (Slug::StoreBusy, 125),
            (Slug::StoreUnavailable, 125),
            (Slug::LeaseLost, 124),
            (Slug::CommandNotExecutable, 126),
            (Slug::CommandNotFound, 127),
            (Slug::Usage, 2),
            (Slug::ConfigBadValue, 78),
        ] {
            assert_eq!(code_beside_command(slug), code, "{slug}");
        }
    }
}
