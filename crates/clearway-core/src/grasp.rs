//! Which files, of those that lie where a command reaches, it can destroy. What nobody can tell counts as all of them.

use crate::git_line::has_flag;
use crate::harm::named;

/// Commands of git that only look.
const LOOKS: [&str; 7] = ["diff", "grep", "log", "ls-files", "rev-parse", "show", "status"];

/// What a command can destroy where it reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grasp {
    /// Files that git tracks.
    pub tracked: bool,
    /// Files that it does not track.
    pub untracked: bool,
    /// Commits, or names that may be some, whose files are written, over those that git does not track too.
    pub onto: Vec<String>,
}

impl Grasp {
    /// All that is there.
    pub fn everything() -> Self {
        Self { tracked: true, untracked: true, onto: Vec::new() }
    }

    fn tracked(onto: Vec<String>) -> Self {
        Self { tracked: true, untracked: false, onto }
    }

    fn untracked() -> Self {
        Self { untracked: true, ..Self::default() }
    }

    /// What two commands of a line can destroy together.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.onto.extend(other.onto);
        Self {
            tracked: self.tracked || other.tracked,
            untracked: self.untracked || other.untracked,
            onto: self.onto,
        }
    }

    /// What a command of git can, whose every word can be read, if nothing in front of it moves what it names.
    pub(crate) fn of_git(words: &[&str]) -> Self {
        let [verb, rest @ ..] = words else { return Self::default() };
        match *verb {
            "clean" => Self::untracked(),
            "rm" | "merge" => Self::tracked(Vec::new()),
            "reset" | "switch" => Self::over(named(rest)),
            "checkout" => Self::over(named(rest.split(|word| *word == "--").next().unwrap_or_default())),
            "restore" if !has_flag(rest, &["--source"], &['s']) => Self::tracked(Vec::new()),
            "stash" if !has_flag(rest, &["--include-untracked", "--all"], &['u', 'a']) => {
                Self::tracked(Vec::new())
            }
            _ => Self::everything(),
        }
    }

    /// Files that git tracks, and those that commits of these names have. What was checked out before, what is found by its
    /// message, a directory of a commit, and what two commits have in common, is no name.
    fn over(names: Vec<String>) -> Self {
        let is_search = |name: &String| name == "-" || name.contains(':') || name.contains("...");
        if names.iter().any(is_search) { Self::everything() } else { Self::tracked(names) }
    }
}

/// Whether a command of git leaves alone what commits are called, and what is tracked.
pub(crate) fn only_looks(words: &[&str]) -> bool {
    words.first().is_none_or(|verb| LOOKS.contains(verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_git_does_not_track_are_out_of_reach_of_what_undoes_those_that_it_tracks() {
        let tracked = |onto: &[&str]| Grasp::tracked(onto.iter().map(|name| (*name).to_owned()).collect());
        for (line, expect) in [
            ("reset --hard", tracked(&[])),
            ("reset --hard HEAD~1", tracked(&["HEAD~1"])),
            ("checkout -f main", tracked(&["main"])),
            ("checkout -- .", tracked(&[])),
            ("checkout topic -- src", tracked(&["topic"])),
            ("restore src", tracked(&[])),
            ("restore --source=topic src", Grasp::everything()),
            ("restore -s topic src", Grasp::everything()),
            ("stash push -m mine", tracked(&[])),
            ("restore --sou topic src", Grasp::everything()),
            ("restore --staged --worktree src", tracked(&[])),
            ("checkout -f -", Grasp::everything()),
            ("switch -f -", Grasp::everything()),
            ("reset --hard :/wip", Grasp::everything()),
            ("checkout topic:src -- a", Grasp::everything()),
            ("checkout -f main...topic", Grasp::everything()),
            ("stash -u", Grasp::everything()),
            ("stash --inc", Grasp::everything()),
            ("stash push --al", Grasp::everything()),
            ("stash push --all", Grasp::everything()),
            ("merge --abort", tracked(&[])),
            ("rebase --abort", Grasp::everything()),
            ("clean -fdx", Grasp::untracked()),
            ("mv a b", Grasp::everything()),
        ] {
            assert_eq!(Grasp::of_git(&line.split(' ').collect::<Vec<_>>()), expect, "{line}");
        }
    }

    #[test]
    fn a_line_can_destroy_what_any_of_its_commands_can() {
        let both = Grasp::tracked(vec!["main".to_owned()]).and(Grasp::untracked());
        assert_eq!(both, Grasp { onto: vec!["main".to_owned()], ..Grasp::everything() });
    }
}
