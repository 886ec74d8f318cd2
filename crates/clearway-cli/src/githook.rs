//! `clearway git-hook NAME`: what git's hooks ask and tell, in git's own way: an exit code, and words on standard
//! error.
//!
//! A name that we do nothing for is no mistake: a newer installation may call for it.

use crate::console::{Console, Problem};
use crate::{Host, Streams};
use clearway_core::failure::Failure;
use clearway_kernel::{GitAnswer, Globals, after_commit, before_commit, before_rebase};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The verb.
pub(crate) const VERB: &str = "git-hook";
/// Bytes of what git tells a hook of a push: some thousand refs.
const REFS_BYTES_MAX: usize = 4 * 1_024 * 1_024;
const REFS_WAIT: Duration = Duration::from_secs(10);
/// What is ours alone and never leaves the repository.
const OWN_REFS: &str = "refs/clearway/";
/// What git takes for a refusal.
const REFUSED: u8 = 1;

/// The words after the verb, if the line is a plain call by git; anything else is left to the whole parser.
pub(crate) fn plain(arguments: &[OsString]) -> Option<&[OsString]> {
    let words = arguments.get(2..)?;
    let is_named = words.first().is_some_and(|name| !name.as_encoded_bytes().starts_with(b"-"));
    (arguments[1] == VERB && is_named).then_some(words)
}

/// Answers git and returns the exit code.
pub(crate) fn run(words: &[OsString], given: &Globals, host: &mut dyn Host, streams: &mut Streams<'_>) -> u8 {
    let name = words.first().and_then(|word| word.to_str()).unwrap_or_default();
    let answer = match name {
        "prepare-commit-msg" => {
            let message = words.get(1).and_then(|file| message(host, Path::new(file)));
            before_commit(host, given, message.as_deref())
        }
        "post-commit" => after_commit(host, given),
        "pre-rebase" => before_rebase(host, given),
        "pre-push" => return push(host, streams),
        _ => GitAnswer::Silent,
    };
    tell(&answer, host, streams)
}

fn tell(answer: &GitAnswer, host: &mut dyn Host, streams: &mut Streams<'_>) -> u8 {
    let say = |failure: &Failure, note: &str, streams: &mut Streams<'_>| {
        let text = format!("clearway: {}{note}\n", clearway_core::text::printable(&failure.message));
        // Git goes on whether or not anybody reads it.
        let _ = streams.stderr.write_all(text.as_bytes());
        0
    };
    match answer {
        GitAnswer::Silent => 0,
        GitAnswer::Warned(failure) => say(failure, "", streams),
        GitAnswer::Unchecked(failure) => say(failure, "; nothing was checked", streams),
        GitAnswer::Refused(failure) => {
            let mut console = Console::new(false, false, host.surroundings(), streams);
            console.complain_aloud(&Problem::from(failure.clone()), host).max(REFUSED)
        }
    }
}

/// What the commit will say, as far as that is written already.
fn message(host: &mut dyn Host, file: &Path) -> Option<String> {
    let here = host.surroundings().cwd.clone().unwrap_or_default();
    host.read_text(&here.join(file)).ok().flatten()
}

/// Keeps what is ours from being pushed. Each line names a local ref, its commit, a remote ref and its commit.
fn push(host: &mut dyn Host, streams: &mut Streams<'_>) -> u8 {
    let Ok(bytes) = host.input(REFS_BYTES_MAX, REFS_WAIT) else { return 0 };
    let text = String::from_utf8_lossy(&bytes);
    let own = text.lines().find(|line| line.split(' ').step_by(2).any(|name| name.starts_with(OWN_REFS)));
    let Some(line) = own else { return 0 };
    let name = line.split(' ').step_by(2).find(|name| name.starts_with(OWN_REFS)).unwrap_or_default();
    let name = clearway_core::text::printable(name);
    let text = format!(
        "clearway: {name} is not pushed: it is of this machine alone\n  push a branch by its name: git push origin HEAD\n"
    );
    let _ = streams.stderr.write_all(text.as_bytes());
    REFUSED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_call_by_git_is_known_by_its_verb() {
        let words = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        let line = words("clearway git-hook prepare-commit-msg .git/COMMIT_EDITMSG message");
        assert_eq!(plain(&line).map(<[OsString]>::len), Some(3));
        for other in ["clearway git-hook", "clearway git-hook --help", "clearway status git-hook x"] {
            assert_eq!(plain(&words(other)), None, "{other}");
        }
    }
}
