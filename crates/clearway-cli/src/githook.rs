//! `clearway git-hook NAME`: what git's hooks ask and tell, in git's own way: an exit code, and words on standard
//! error.
//!
//! A name that we do nothing for is said in a line and keeps nobody from git: whoever wrote it meant something to be
//! checked, and it may be right in a newer version than this one.

use crate::console::{Console, Problem};
use crate::setup::githooks;
use crate::{Host, Streams};
use clearway_core::failure::Failure;
use clearway_core::shell;
use clearway_kernel::{
    GitAnswer, Globals, RefMove, Saying, after_commit, before_commit, before_move, before_push, before_rebase,
};
use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

/// The verb.
pub(crate) const VERB: &str = "git-hook";
/// Bytes of what git tells a hook of a push: some thousand refs.
const REFS_BYTES_MAX: usize = 4 * 1_024 * 1_024;
const REFS_WAIT: Duration = Duration::from_secs(10);
/// The one moment at which git can be kept from changing references.
const PREPARED: &str = "prepared";
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
            // What git says of a commit that takes the place of the last one.
            let amends = words.get(2..).is_some_and(|words| words == ["commit", "HEAD"]);
            let is_given = words.get(2).is_some_and(|source| source == "message");
            before_commit(host, given, &Saying { message: message.as_deref(), is_given, amends })
        }
        "post-commit" => after_commit(host, given),
        "pre-rebase" => before_rebase(host, given),
        "pre-push" => match told(host) {
            Some(text) => match own_ref(&text, host.own_refs()) {
                Some(name) => return keep_back(name, words.get(1), streams),
                None => before_push(host, given, &pushed(&text)),
            },
            None => GitAnswer::Silent,
        },
        "reference-transaction" => {
            let is_prepared = words.get(1).is_some_and(|state| state == PREPARED);
            let told = is_prepared.then(|| told(host)).flatten();
            let moves = told.map(|text| moves(&text)).unwrap_or_default();
            if moves.is_empty() { GitAnswer::Silent } else { before_move(host, given, &moves) }
        }
        _ => GitAnswer::Said(not_known(words)),
    };
    tell(&answer, host, streams)
}

fn not_known(words: &[OsString]) -> String {
    let name = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
    let known = githooks::names(true).join(", ");
    let (others, last) = known.rsplit_once(", ").unwrap_or_default();
    let name = clearway_core::text::quoted(&name);
    format!("nothing is known of a hook {name}, and nothing was checked; known are {others} and {last}")
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
        GitAnswer::Said(text) => {
            let _ = streams.stderr.write_all(format!("clearway: {text}\n").as_bytes());
            0
        }
        GitAnswer::Warned(failure) => say(failure, "", streams),
        GitAnswer::Unchecked(failure) => say(failure, "; nothing was checked", streams),
        GitAnswer::Unsettled(failure) => {
            say(failure, "; the leases of what was committed stay: clearway release PATH", streams)
        }
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

/// What git tells a hook on its standard input, if it is to be had.
fn told(host: &mut dyn Host) -> Option<String> {
    host.input(REFS_BYTES_MAX, REFS_WAIT).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// A reference of ours among those that are pushed. Each line names a local one, its commit, a remote one and its commit.
fn own_ref<'t>(text: &'t str, own: &str) -> Option<&'t str> {
    text.lines().flat_map(|line| line.split(' ').step_by(2)).find(|name| name.starts_with(own))
}

/// The commits that are pushed; none of a reference that is removed.
fn pushed(text: &str) -> Vec<String> {
    let commits = text.lines().filter_map(|line| line.split(' ').nth(1));
    commits.filter(|commit| is_commit(commit)).map(str::to_owned).collect()
}

/// Changes of branches and of a head. Each line names the commits before and after and the reference; symbolic ones, and
/// those that are removed, lead nobody to a commit.
fn moves(text: &str) -> Vec<RefMove> {
    let one = |line: &str| {
        let mut words = line.split(' ');
        let (from, to, name) = (words.next()?, words.next()?, words.next()?);
        let is_branch = name == "HEAD" || name.starts_with("refs/heads/");
        (is_branch && is_commit(to) && from != to).then(|| RefMove {
            from: from.to_owned(),
            to: to.to_owned(),
            name: name.to_owned(),
        })
    };
    text.lines().filter_map(one).collect()
}

fn is_commit(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit()) && text.bytes().any(|byte| byte != b'0')
}

/// Keeps what is ours from being pushed.
fn keep_back(name: &str, remote: Option<&OsString>, streams: &mut Streams<'_>) -> u8 {
    let name = clearway_core::text::printable(name);
    let remote = remote.map_or_else(|| "origin".to_owned(), |remote| shell::word(&remote.to_string_lossy()));
    let text = format!(
        "clearway: {name} is not pushed: it is of this machine alone\n  push a branch by its name: git push {remote} HEAD\n"
    );
    let _ = streams.stderr.write_all(text.as_bytes());
    REFUSED
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_references_only_branches_and_heads_that_move_to_a_commit_count() {
        let (none, one, two) = ("0".repeat(40), "1".repeat(40), "2".repeat(40));
        let text = format!(
            "{none} {one} refs/remotes/origin/main\n{one} {none} refs/heads/gone\n{one} {one} refs/heads/same\n\
             ref:refs/heads/a ref:refs/heads/b HEAD\n{none} {one} refs/stash\n{none} {one} refs/clearway/snap/a/1\n\
             {one} {two} HEAD\n{none} {two} refs/heads/main\n"
        );
        let names: Vec<String> = moves(&text).into_iter().map(|moved| moved.name).collect();
        assert_eq!(names, ["HEAD", "refs/heads/main"]);
    }

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
