//! What becomes of a commit that others are in the way of: a word, an override, or a refusal with the one command that leads
//! on.

use super::scene::Scene;
use super::{GitAnswer, Saying};
use crate::committing::{other_name, rest_of_it, said_by, take_lines};
use crate::config::Enforcement;
use crate::outside::{Staged, UnderWay};
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::command::{Command, Commit};
use clearway_core::commit::{amends, names_author};
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
        asked: &Asked<'_>,
        commit: &Commit,
        failure: Failure,
    ) -> Result<GitAnswer, Failure> {
        let reason = self.outside.surroundings().variables.get(REASON_VARIABLE).cloned();
        if let Some(reason) = reason.filter(|reason| !reason.is_empty()) {
            self.act_as_operator_in_hook(&reason)?;
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
        let typed = self.typed(asked);
        let rest = self.whole_rest(asked, commit)?;
        let mut hint = asked.way_out(&rest, commit, &typed);
        let here = self.site.worktree();
        hint.run_from(typed.elsewhere.as_deref().unwrap_or(&here.0), &here);
        Ok(GitAnswer::Refused(without_advice(failure).hint(hint)))
    }

    /// What was typed that has git make this commit, as far as that can be told.
    fn typed(&mut self, asked: &Asked<'_>) -> Typed {
        let root = self.site.worktree().0;
        let prefix = self.outside.surroundings().variables.get(PREFIX_VARIABLE);
        let elsewhere = prefix.filter(|prefix| !prefix.is_empty()).map(|prefix| format!("{root}/{prefix}"));
        let words = self.outside.git_words();
        let names_author = words.as_ref().is_some_and(|words| names_author(words));
        let amends = words.map_or(asked.saying.amends, |words| amends(&words));
        let names_all = self.paths_of_commit(&asked.staged.paths).len() == asked.staged.paths.len();
        Typed { root, elsewhere, amends, names_author, names_all }
    }

    /// What of a commit may be made without the rest, and both names of a renamed file or neither.
    fn whole_rest(&mut self, asked: &Asked<'_>, commit: &Commit) -> Result<Vec<String>, Failure> {
        let mut free = self.rest(asked.paths, commit)?;
        let nobodys = self.paths_of_commit(&asked.staged.paths).into_iter().filter(|path| !path.is_guarded);
        free.extend(nobodys.map(|path| path.path));
        free.sort();
        // Without them the command still works as it says.
        let changed = self.outside.changed_paths(&self.site).unwrap_or_default();
        let is_whole = |path: &&String| match other_name(path, &changed.renames) {
            Some(other) => free.iter().any(|path| path == other) || !asked.is_about(other),
            None => true,
        };
        Ok(free.iter().filter(is_whole).cloned().collect())
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

/// Where git says in which directory below the root it was typed.
const PREFIX_VARIABLE: &str = "GIT_PREFIX";

/// How a commit was typed.
struct Typed {
    root: String,
    /// The directory, if it is not the root.
    elsewhere: Option<String>,
    /// Whether it takes the place of the last one.
    amends: bool,
    /// Whether it names another author or time than whoever typed it.
    names_author: bool,
    /// Whether all that is staged can be reserved by its name.
    names_all: bool,
}

impl Typed {
    /// Git, in the root of the checkout.
    fn git(&self) -> String {
        match self.elsewhere {
            Some(_) => format!("git -C {}", shell::word(&self.root)),
            None => "git".to_owned(),
        }
    }
}

/// A commit that git is about to make.
pub(super) struct Asked<'a> {
    pub(super) under_way: &'a UnderWay,
    pub(super) saying: &'a Saying<'a>,
    pub(super) staged: &'a Staged,
    /// What of it leases are about.
    pub(super) paths: &'a [(String, Target)],
}

impl Asked<'_> {
    fn is_about(&self, path: &str) -> bool {
        self.paths.iter().any(|(known, _)| known == path)
    }

    /// The one command that leads on, and destroys nothing of anybody else.
    fn way_out(&self, rest: &[String], commit: &Commit, typed: &Typed) -> Hint {
        match self.under_way {
            UnderWay::Merge(_) => self.way_out_of("merge --abort", rest, commit, typed),
            UnderWay::CherryPick => self.way_out_of("cherry-pick --abort", rest, commit, typed),
            UnderWay::Revert if self.staged.brings.is_some() || self.staged.is_of_several => {
                self.way_out_of("revert --abort", rest, commit, typed)
            }
            // Git is in the middle of nothing then: what it staged is taken back, and nothing else.
            UnderWay::Revert => {
                let all: Vec<&str> = self.paths.iter().map(|(path, _)| path.as_str()).collect();
                let (git, all) = (typed.git(), words(&all));
                let back = format!("diff-index -p --cached --binary HEAD --{all} | {git} apply -R --index");
                self.way_out_of(&back, rest, commit, typed)
            }
            UnderWay::Nothing | UnderWay::Rebase => self.rest_of_it(rest, commit, typed),
        }
    }

    /// The commit of what is in nobody's way. What has a name that cannot be typed is left out of it, which is said.
    fn rest_of_it(&self, rest: &[String], commit: &Commit, typed: &Typed) -> Hint {
        let is_named = |path: &&str| !path.contains(char::REPLACEMENT_CHARACTER);
        let named: Vec<&str> = rest.iter().map(String::as_str).filter(is_named).collect();
        let names_all = typed.names_all && named.len() == rest.len();
        let but = if names_all { "" } else { ", but for names that cannot be typed" };
        let whose = if typed.names_author { ", as yours and of now" } else { "" };
        if named.is_empty() {
            return self.whose(commit);
        }
        if typed.amends {
            let (message, short) = self.message();
            let line = format!("{} commit --amend {message} --only --{}", typed.git(), words(&named));
            return Hint::Advice(format!("amend with the rest{short}{but}{whose}: {line}"));
        }
        let Paragraphs { told, is_whole } = Paragraphs::of(self.saying);
        let short = if is_whole { "" } else { IN_SHORT };
        rest_of_it(&told, &format!("commit the rest{short}{but}{whose}"), &named)
            .unwrap_or_else(|| self.whose(commit))
    }

    /// The way out of what is under way. What others did beside it or over it is staged no more; where it stands in the way
    /// by what it brings itself, it is given up without that.
    fn way_out_of(&self, give_up: &str, rest: &[String], commit: &Commit, typed: &Typed) -> Hint {
        let git = typed.git();
        let is_free = |path: &str| rest.iter().any(|free| free == path);
        let in_way = self.paths.iter().map(|(path, _)| path.as_str()).filter(|path| !is_free(path));
        let (beyond, brought): (Vec<&str>, Vec<&str>) =
            in_way.partition(|path| self.staged.beyond.iter().any(|beyond| beyond == path));
        let is_undecided = |path: &&str| match &self.staged.brings {
            Some(brings) => brings.undecided.iter().any(|undecided| undecided == path),
            None => true,
        };
        let is_apart = beyond.iter().all(|path| self.staged.is_apart(path));
        let tree = self.staged.brings.as_ref().map_or("HEAD", |brings| brings.tree.as_str());
        let unstage = match (beyond.is_empty(), is_apart) {
            (true, _) => String::new(),
            (false, true) => format!("{git} reset -q --{} && ", words(&beyond)),
            (false, false) => format!("{git} reset -q {tree} --{} && ", words(&beyond)),
        };
        match brought.is_empty() {
            true if !beyond.iter().any(is_undecided) => {
                let anew = self.staged_anew(rest, &git);
                let (message, short) = self.message();
                let line = format!("{unstage}{anew}{git} commit {message}");
                Hint::Advice(format!("commit it without what is with others{short}: {line}"))
            }
            false if is_apart => Hint::Advice(format!("give it up: {unstage}{git} {give_up}")),
            _ => self.whose(commit),
        }
    }

    /// Git forgets what it took from the checkout for this commit alone.
    fn staged_anew(&self, rest: &[String], git: &str) -> String {
        let is_added = |path: &&str| self.staged.beyond.iter().any(|beyond| beyond == path);
        let added: Vec<&str> = rest.iter().map(String::as_str).filter(is_added).collect();
        match self.staged.is_passing && !added.is_empty() {
            true => format!("{git} add --{} && ", words(&added)),
            false => String::new(),
        }
    }

    /// The message that was given in words, and what there is to say of it; another one git has kept.
    fn message(&self) -> (String, &'static str) {
        if !self.saying.is_given {
            return ("--no-edit".to_owned(), "");
        }
        let Paragraphs { told, is_whole } = Paragraphs::of(self.saying);
        (said_by(&told).trim_start().to_owned(), if is_whole { "" } else { IN_SHORT })
    }

    fn whose(&self, commit: &Commit) -> Hint {
        let is_held = |(_, target): &&(String, Target)| commit.paths.contains(target);
        match self.paths.iter().find(is_held) {
            Some((path, _)) => Hint::command("see whose it is", "who", &[path]),
            None => {
                let is_written = |(_, target): &&(String, Target)| {
                    commit.written.iter().any(|(written, _)| written == target)
                };
                let written = self.paths.iter().find(is_written);
                let see = || Hint::from("see whose lines they are: clearway diff --stat");
                written.map_or_else(see, |(path, _)| take_lines(path))
            }
        }
    }
}

/// Paths after a command, each as a word of its own.
fn words(paths: &[&str]) -> String {
    paths.iter().map(|path| format!(" {}", shell::word(path))).collect()
}

/// What is said of a command whose message is cut.
const IN_SHORT: &str = ", with the beginning of its message";
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
