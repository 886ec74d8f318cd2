//! What becomes of a commit that others are in the way of: a word, an override, or a refusal with the one command that leads
//! on.

use super::scene::Scene;
use super::{GitAnswer, Saying};
use crate::config::Enforcement;
use crate::outside::UnderWay;
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::command::{Command, Commit};
use clearway_core::failure::Failure;
use clearway_core::hint::Hint;
use clearway_core::limits::MESSAGE_RETOLD_BYTES_MAX;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::text::truncate_columns;

/// Says why an operator lets a commit take along what is with others.
pub(crate) const REASON_VARIABLE: &str = "CLEARWAY_COMMIT_REASON";

/// Paths of one request; more are asked about in several.
const PATHS_ASKED: usize = 128;
/// Paths beyond which none is looked at by itself for what can be committed without it.
pub(crate) const PATHS_TOLD_APART: usize = 32;

impl Session<'_> {
    pub(super) fn refuse_commit(
        &mut self,
        scene: &Scene,
        under_way: &UnderWay,
        saying: &Saying<'_>,
        paths: &[(String, Target)],
        commit: &Commit,
        failure: Failure,
    ) -> Result<GitAnswer, Failure> {
        let reason = self.outside.surroundings().variables.get(REASON_VARIABLE).cloned();
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            self.act_as_operator(&reason)?;
            return Ok(match self.decide_commit(commit)? {
                Ok(()) => GitAnswer::Silent,
                Err(failure) if scene.is_person => GitAnswer::Warned(failure),
                Err(failure) => GitAnswer::Refused(failure),
            });
        }
        match self.config.mode() {
            _ if scene.is_person => return Ok(GitAnswer::Warned(without_advice(failure))),
            Enforcement::Observe => return Ok(GitAnswer::Silent),
            Enforcement::Warn => return Ok(GitAnswer::Warned(without_advice(failure))),
            Enforcement::Enforce => {}
        }
        let Err(failure) = self.decide_commit(commit)? else { return Ok(GitAnswer::Silent) };
        let rest = self.rest(paths, commit)?;
        let hint = way_out(under_way, saying, &rest, paths, commit);
        Ok(GitAnswer::Refused(self.at_root(without_advice(failure).hint(hint))))
    }

    /// Why a commit would be refused, as far as can be told without writing anything.
    pub(crate) fn refusal_of(&mut self, commit: &Commit) -> Result<Option<Failure>, Failure> {
        let key = self.site.key.clone();
        for part in parts(commit) {
            match self.preview_in(&key, Command::Commit(part))?.outcome {
                Ok(_) => {}
                Err(failure) if failure.slug == Slug::CommitRefused => return Ok(Some(failure)),
                Err(failure) => return Err(failure),
            }
        }
        Ok(None)
    }

    /// Has a commit decided for good, part by part, up to the first that is refused.
    fn decide_commit(&mut self, commit: &Commit) -> Result<Result<(), Failure>, Failure> {
        for part in parts(commit) {
            if let Err(failure) = self.command(Command::Commit(part))?.outcome {
                return Ok(Err(failure));
            }
        }
        Ok(Ok(()))
    }

    /// What of a commit may be made without the rest.
    fn rest(&mut self, paths: &[(String, Target)], commit: &Commit) -> Result<Vec<String>, Failure> {
        let concerned = |target: &Target| {
            commit.paths.contains(target) || commit.written.iter().any(|(written, _)| written == target)
        };
        let few = commit.paths.len() + commit.written.len() <= PATHS_TOLD_APART;
        let mut rest = Vec::new();
        for (path, target) in paths {
            let is_free = match concerned(target) {
                false => true,
                true => few && self.refusal_of(&commit.only(target))?.is_none(),
            };
            rest.extend(is_free.then(|| path.clone()));
        }
        Ok(rest)
    }
}

/// The commit in parts that one request can hold.
fn parts(commit: &Commit) -> Vec<Commit> {
    let with = |paths: &[Target], written: &[(Target, AgentName)]| Commit {
        paths: paths.to_vec(),
        written: written.to_vec(),
        ..commit.clone()
    };
    let held = commit.paths.chunks(PATHS_ASKED).map(|paths| with(paths, &[]));
    held.chain(commit.written.chunks(PATHS_ASKED).map(|written| with(&[], written))).collect()
}

/// One command is enough, and it is not the one of a lease that is wanted.
fn without_advice(mut failure: Failure) -> Failure {
    failure.hints.clear();
    failure
}

/// The one command that leads on.
fn way_out(
    under_way: &UnderWay,
    saying: &Saying<'_>,
    rest: &[String],
    paths: &[(String, Target)],
    commit: &Commit,
) -> Hint {
    let git = |line: &str| Hint::Advice(format!("give it up: git {line}"));
    match under_way {
        UnderWay::Merge(_) => git("merge --abort"),
        UnderWay::CherryPick => git("cherry-pick --abort"),
        UnderWay::Revert => {
            let all: Vec<String> = paths.iter().map(|(path, _)| shell::word(path)).collect();
            git(&format!("restore --staged --worktree {}", all.join(" ")))
        }
        UnderWay::Nothing if saying.amends && !rest.is_empty() => {
            let rest: Vec<String> = rest.iter().map(|path| shell::word(path)).collect();
            let line = format!("git commit --amend --no-edit --only {}", rest.join(" "));
            Hint::Advice(format!("amend with the rest: {line}"))
        }
        UnderWay::Nothing | UnderWay::Rebase => {
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            let Paragraphs { told, is_whole } = Paragraphs::of(saying);
            let purpose = if is_whole { COMMIT_REST } else { COMMIT_REST_IN_SHORT };
            crate::committing::rest_of_it(&told, purpose, &rest).unwrap_or_else(|| {
                let is_held = |(_, target): &&(String, Target)| commit.paths.contains(target);
                match paths.iter().find(is_held) {
                    Some((path, _)) => Hint::command("see whose it is", "who", &[path]),
                    None => Hint::from("see whose lines they are: clearway diff --stat"),
                }
            })
        }
    }
}

/// What the command is good for that commits the rest.
const COMMIT_REST: &str = "commit the rest";
const COMMIT_REST_IN_SHORT: &str = "commit the rest, with the beginning of its message";
/// Below this line git shows whoever writes a message what is committed.
const SCISSORS: &str = "# ------------------------ >8 ------------------------";

/// What a commit says, paragraph by paragraph, without what git puts there for its writer.
#[derive(Debug, PartialEq, Eq)]
struct Paragraphs {
    told: Vec<String>,
    /// Whether nothing of it is left out.
    is_whole: bool,
}

impl Paragraphs {
    /// A subject is one line, as git itself takes it; the lines of any other paragraph stay apart.
    fn of(saying: &Saying<'_>) -> Self {
        let lines = saying.message.unwrap_or_default().lines().take_while(|line| *line != SCISSORS);
        let lines = lines.filter(|line| saying.is_given || !line.starts_with('#')).map(str::trim_end);
        let lines: Vec<&str> = lines.collect();
        let paragraphs = lines.split(|line| line.is_empty()).filter(|lines| !lines.is_empty());
        let mut whole: Vec<String> = paragraphs.map(|lines| lines.join("\n")).collect();
        match whole.first_mut() {
            Some(subject) => *subject = subject.replace('\n', " "),
            None => whole.push("my part".to_owned()),
        }
        let fitting = |bytes: &mut usize, paragraph: &String| {
            *bytes += paragraph.len();
            (*bytes <= MESSAGE_RETOLD_BYTES_MAX).then(|| paragraph.clone())
        };
        let mut told: Vec<String> = whole.iter().scan(0, fitting).collect();
        if told.is_empty() {
            told.extend(whole.first().map(|subject| truncate_columns(subject, SUBJECT_COLUMNS).into_owned()));
        }
        Self { is_whole: told == whole, told }
    }
}

/// Columns of a subject that is longer than a whole message may be.
const SUBJECT_COLUMNS: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_told_paragraph_by_paragraph() {
        for (message, is_given, expect) in [
            (
                Some("\nsplit\nthe lexer\n\n\nbecause\n - of this\n# On branch main\n"),
                false,
                vec!["split the lexer", "because\n - of this"],
            ),
            (Some("x\n\n#12 is over\n"), true, vec!["x", "#12 is over"]),
            (Some(&format!("x\n\ny\n{SCISSORS}\ndiff\n")), false, vec!["x", "y"]),
            (Some("# Please enter\n"), false, vec!["my part"]),
            (None, false, vec!["my part"]),
        ] {
            let told = Paragraphs::of(&Saying { message, is_given, amends: false });
            assert_eq!(
                told,
                Paragraphs { told: expect.iter().map(ToString::to_string).collect(), is_whole: true }
            );
        }
    }

    #[test]
    fn of_a_message_that_is_too_long_there_is_the_beginning() {
        let long = "y".repeat(MESSAGE_RETOLD_BYTES_MAX);
        for (message, told) in [
            (format!("x\n\n{long}"), "x".to_owned()),
            (format!("{long}y"), format!("{}\u{2026}", "y".repeat(119))),
        ] {
            let said = Paragraphs::of(&Saying { message: Some(&message), ..Saying::default() });
            assert_eq!(said, Paragraphs { told: vec![told], is_whole: false });
        }
    }
}
