//! What the commands of a line ask of git, as far as it concerns others in the same checkout: its index, what is put aside,
//! and everything that changes the checkout as a whole.
//!
//! Like `harm.rs` this is no shell: what only a shell can read is none of these.

use crate::commit::short_flags;
use crate::shell::{self, Placed, Word, joined};

/// One command of git in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitUse {
    /// Where, from where the line is run; empty if that is it. What follows `:/` is meant from the root of the checkout.
    pub directory: String,
    /// What it is called, such as `git stash pop`.
    pub what: String,
    /// What it does.
    pub act: GitAct,
}

/// What a command of git does that others have to know of. Most of them write the index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitAct {
    /// It writes the index, and nothing that is not its caller's.
    WritesIndex,
    /// It commits, and hooks of the repository run before it.
    Commits,
    /// It takes what is not committed out of the checkout and puts it aside.
    PutsAside {
        /// Only what is at these paths, from where it runs; `None` is everything.
        only: Option<Vec<String>>,
        /// Whether files that git does not know go with it.
        untracked: bool,
    },
    /// It undoes what is not committed, or removes what git does not know.
    Discards {
        /// What is at these paths, from where it runs.
        only: Vec<String>,
        /// Whether that is what git does not know.
        untracked: bool,
    },
    /// It uses an entry of what was put aside, or drops it.
    TakesAside {
        /// Which, if one is named.
        entry: Option<usize>,
        /// Whether the entry is gone after it.
        drops: bool,
    },
    /// It drops every entry.
    DropsAside,
    /// It changes the checkout as a whole, or moves its branch, unless what it names is a file.
    Upheaves {
        /// What it names, if that may be a file.
        unless_file: Option<String>,
        /// Whether it undoes what is not committed of that, if it is a file.
        undoes_it: bool,
    },
    /// It removes or moves a checkout.
    RemovesCheckout {
        /// Where that is, from where the line is run.
        path: String,
    },
}

/// A change of the checkout as a whole, whatever is named.
const WHOLE: GitAct = GitAct::Upheaves { unless_file: None, undoes_it: false };

/// The paths that are the caller's own, as a refusal names them where they are too many.
pub const OWN_PATHS: &str = "$(clearway mine --dirty)";

/// What a line asks of git. `home` is that of whoever runs it, if it is known.
pub fn git_uses(line: &str, home: Option<&str>) -> Vec<GitUse> {
    shell::placed(line, home).iter().filter_map(git_use).collect()
}

/// The directory that a command of git works in, and its words behind the flags that every command has; `None` if they lead
/// it to another repository. `words` come behind `git`.
pub(crate) fn after_globals<'w, 'l>(
    directory: &str,
    words: &'w [&'l str],
) -> Option<(String, &'w [&'l str])> {
    let (mut within, mut rest) = (directory.to_owned(), words);
    loop {
        match rest {
            ["-C", to, after @ ..] => (within, rest) = (joined(&within, to), after),
            ["-c" | "--config-env", _, after @ ..] => rest = after,
            [flag, ..] if flag.starts_with("--git-dir") || flag.starts_with("--work-tree") => return None,
            [flag, after @ ..] if flag.starts_with('-') => rest = after,
            _ => return Some((within, rest)),
        }
    }
}

/// The words behind `git clean` without what is excluded from it: a name there is one that stays, not one that goes.
pub(crate) fn without_excluded<'w, T>(
    words: &'w [T],
    text: impl Fn(&'w T) -> &'w str,
) -> impl Iterator<Item = &'w T> {
    let (mut is_over, mut is_value) = (false, false);
    words.iter().filter(move |word| {
        let was_value = is_value;
        is_value = !was_value && !is_over && has_value_next(text(word));
        is_over |= !was_value && text(word) == "--";
        !was_value
    })
}

/// Whether the word behind this one of `git clean` is what it excludes.
fn has_value_next(flag: &str) -> bool {
    match flag.strip_prefix('-') {
        Some(long) if long.starts_with('-') => !long.contains('=') && is_flag(flag, "--exclude"),
        Some(letters) => letters.find('e').is_some_and(|at| at + 1 == letters.len()),
        None => false,
    }
}

/// Whether a word is a long flag, with a value or without: git and most others know one by its first letters too.
pub(crate) fn is_flag(word: &str, flag: &str) -> bool {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    name == flag || (name.len() > "--".len() && flag.starts_with(name))
}

/// Whether any of these words is one of these long flags, or holds one of these letters among its short ones.
pub(crate) fn has_flag(words: &[&str], long: &[&str], short: &[char]) -> bool {
    let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--");
    words
        .iter()
        .any(|word| long.iter().any(|flag| is_flag(word, flag)) || (is_short(word) && word.contains(short)))
}

fn git_use(placed: &Placed) -> Option<GitUse> {
    if placed.is_lost || placed.program() != Some("git") {
        return None;
    }
    let texts: Vec<&str> = placed.words[1..].iter().map(|word| word.text.as_str()).collect();
    let (directory, rest) = after_globals(&placed.directory, &texts)?;
    let words = &placed.words[placed.words.len() - rest.len()..];
    let (verb, words) = words.split_first().filter(|(verb, _)| !verb.is_opaque)?;
    let (what, act) = act(&verb.text, &Arguments { words })?;
    let act = match act {
        GitAct::RemovesCheckout { path } => GitAct::RemovesCheckout { path: joined(&directory, &path) },
        act => act,
    };
    Some(GitUse { directory, what: format!("git {what}"), act })
}

fn act(verb: &str, arguments: &Arguments<'_>) -> Option<(String, GitAct)> {
    let act = match verb {
        "stash" => return stash(arguments),
        "checkout" => checkout(arguments),
        "reset" => reset(arguments),
        "switch"
            if (arguments.has(&["--create"]) || arguments.has_short('c', ""))
                && arguments.makes_branch_here() =>
        {
            Some(GitAct::WritesIndex)
        }
        "switch" | "pull" => Some(WHOLE),
        "merge" | "rebase"
            if arguments.has(&["--abort", "--quit", "--continue", "--skip", "--edit-todo"]) =>
        {
            Some(GitAct::WritesIndex)
        }
        "merge" | "rebase" => Some(WHOLE),
        "bisect" => bisect(arguments),
        "worktree" => worktree(arguments),
        "commit" if arguments.has(&["--dry-run"]) => None,
        "commit" if arguments.has(&["--no-verify"]) || arguments.skips_hooks() => Some(GitAct::WritesIndex),
        "commit" => Some(GitAct::Commits),
        "restore" => Some(restore(arguments)),
        "clean" => clean(arguments),
        "add" | "rm" | "mv" | "cherry-pick" | "revert" | "am" | "update-index" | "read-tree" => {
            Some(GitAct::WritesIndex)
        }
        "apply" if arguments.has(&["--index", "--cached", "-3", "--3way"]) => Some(GitAct::WritesIndex),
        _ => None,
    };
    act.map(|act| (verb.to_owned(), act))
}

fn stash(arguments: &Arguments<'_>) -> Option<(String, GitAct)> {
    let words = arguments.words;
    let (verb, behind) = match words.split_first() {
        Some((verb, behind)) if !verb.text.starts_with('-') => (verb.text.as_str(), behind),
        _ => ("push", words),
    };
    let behind = Arguments { words: behind };
    let act = match verb {
        "push" => GitAct::PutsAside { only: behind.put_aside(), untracked: behind.takes_untracked() },
        "save" => GitAct::PutsAside { only: None, untracked: behind.takes_untracked() },
        "pop" | "drop" => GitAct::TakesAside { entry: behind.entry(0)?, drops: true },
        "apply" => GitAct::TakesAside { entry: behind.entry(0)?, drops: false },
        "branch" => GitAct::TakesAside { entry: behind.entry(1)?, drops: true },
        "clear" => GitAct::DropsAside,
        _ => return None,
    };
    let named = match (verb, behind.words.first()) {
        ("branch", Some(name)) => format!(" {}", shell::as_it_is(&name.text)),
        _ => String::new(),
    };
    Some((format!("stash {verb}{named}"), act))
}

/// Whether `checkout` means files is told by what lies there, where one word alone is named.
fn checkout(arguments: &Arguments<'_>) -> Option<GitAct> {
    let (names, paths) = arguments.named();
    let all = Some(WHOLE);
    if arguments.has_short('b', "") && arguments.makes_branch_here() {
        return Some(GitAct::WritesIndex);
    }
    if arguments.has(&["--orphan", "--detach"])
        || ['b', 'B', 'd'].iter().any(|flag| arguments.has_short(*flag, ""))
    {
        return all;
    }
    match (names.as_slice(), paths.is_empty()) {
        _ if arguments.has(&["--patch", "--pathspec-from-file"]) || arguments.has_short('p', "") => {
            Some(GitAct::WritesIndex)
        }
        (_, false) => Some(discards(paths)),
        ([], true) if arguments.has(&["--force"]) || arguments.has_short('f', "") => all,
        ([name], true) if name.is_opaque => Some(GitAct::WritesIndex),
        ([name], true) => Some(GitAct::Upheaves { unless_file: Some(name.text.clone()), undoes_it: true }),
        // The first may be a commit, which is at no path.
        (names, true) => Some(discards(names.iter().copied())),
    }
}

/// What is restored from the index or a commit; where only the index is, nothing is undone.
fn restore(arguments: &Arguments<'_>) -> GitAct {
    let only_index = (arguments.has(&["--staged"]) || arguments.has_short('S', "s"))
        && !(arguments.has(&["--worktree"]) || arguments.has_short('W', "s"));
    if only_index || arguments.has(&["--patch", "--pathspec-from-file"]) || arguments.has_short('p', "s") {
        return GitAct::WritesIndex;
    }
    let (names, paths) = arguments.named();
    discards(names.into_iter().chain(paths))
}

fn clean(arguments: &Arguments<'_>) -> Option<GitAct> {
    let words: Vec<Word> = without_excluded(arguments.words, |word| &word.text).cloned().collect();
    let arguments = Arguments { words: &words };
    let is_meant = arguments.has(&["--force"]) || arguments.has_short('f', "e");
    let is_asked = arguments.has(&["--dry-run", "--interactive"])
        || ['n', 'i'].iter().any(|flag| arguments.has_short(*flag, "e"));
    let (names, paths) = arguments.named();
    let words: Vec<&Word> = names.into_iter().chain(paths).collect();
    // What git ignores is nobody's.
    let is_meant = is_meant && !arguments.has_short('X', "e");
    if !is_meant || is_asked || words.iter().any(|word| word.is_opaque) {
        return None;
    }
    let only = if words.is_empty() { vec![".".to_owned()] } else { texts(words) };
    Some(GitAct::Discards { only, untracked: true })
}

/// Undoing what is at these paths, unless only a shell can tell which they are.
fn discards<'w>(words: impl IntoIterator<Item = &'w Word>) -> GitAct {
    let words: Vec<&Word> = words.into_iter().collect();
    match words.iter().any(|word| word.is_opaque) {
        true => GitAct::WritesIndex,
        false => GitAct::Discards { only: texts(words), untracked: false },
    }
}

fn texts(words: Vec<&Word>) -> Vec<String> {
    words.into_iter().map(|word| word.text.clone()).collect()
}

fn reset(arguments: &Arguments<'_>) -> Option<GitAct> {
    let (names, paths) = arguments.named();
    let is_whole = arguments.has(&["--hard", "--merge", "--keep"]);
    match names.as_slice() {
        _ if arguments.has(&["--soft", "--patch", "--pathspec-from-file"])
            || arguments.has_short('p', "") =>
        {
            Some(GitAct::WritesIndex)
        }
        _ if is_whole => Some(WHOLE),
        _ if !paths.is_empty() => Some(GitAct::WritesIndex),
        [] => Some(WHOLE),
        [name] if !name.is_opaque => {
            Some(GitAct::Upheaves { unless_file: Some(name.text.clone()), undoes_it: false })
        }
        _ => Some(GitAct::WritesIndex),
    }
}

/// `bisect reset` leads out of it, so nobody is kept in the middle.
fn bisect(arguments: &Arguments<'_>) -> Option<GitAct> {
    const STEPS: [&str; 8] = ["start", "good", "bad", "new", "old", "skip", "run", "replay"];
    let step = arguments.words.first()?;
    STEPS.contains(&step.text.as_str()).then_some(WHOLE)
}

fn worktree(arguments: &Arguments<'_>) -> Option<GitAct> {
    let (names, _) = arguments.named();
    match names.as_slice() {
        [verb, path, ..] if ["remove", "move"].contains(&verb.text.as_str()) && !path.is_opaque => {
            Some(GitAct::RemovesCheckout { path: path.text.clone() })
        }
        _ => None,
    }
}

/// The words behind a verb.
struct Arguments<'w> {
    words: &'w [Word],
}

impl<'w> Arguments<'w> {
    /// Whether a flag is there, by itself or with a value.
    fn has(&self, flags: &[&str]) -> bool {
        self.flags().any(|word| flags.iter().any(|flag| is_flag(&word.text, flag)))
    }

    /// Whether a flag of one letter is there, alone or with others. Behind one of `values` stands no flag but a value.
    fn has_short(&self, letter: char, values: &str) -> bool {
        let is_in = |word: &Word| {
            let Some(letters) = word.text.strip_prefix('-').filter(|rest| !rest.starts_with('-')) else {
                return false;
            };
            let end = letters.find(|one| values.contains(one)).unwrap_or(letters.len());
            letters[..end].contains(letter)
        };
        self.flags().any(is_in)
    }

    /// Whether a new branch begins at what is checked out, so that no file and no index changes.
    fn makes_branch_here(&self) -> bool {
        const ELSEWHERE: [&str; 5] =
            ["--orphan", "--detach", "--force", "--discard-changes", "--force-create"];
        let (names, paths) = self.named();
        let moves = self.has(&ELSEWHERE) || ['B', 'C', 'f', 'd'].iter().any(|flag| self.has_short(*flag, ""));
        names.len() == 1 && paths.is_empty() && !moves
    }

    /// Whether `git commit` is told so by a flag of one letter.
    fn skips_hooks(&self) -> bool {
        self.flags().any(|word| short_flags(&word.text).contains('n'))
    }

    fn flags(&self) -> impl Iterator<Item = &'w Word> {
        self.words.iter().take_while(|word| word.text != "--").filter(|word| word.text.starts_with('-'))
    }

    /// The words that are no flags, and those behind `--`.
    fn named(&self) -> (Vec<&'w Word>, &'w [Word]) {
        let end = self.words.iter().position(|word| word.text == "--");
        let before = &self.words[..end.unwrap_or(self.words.len())];
        let behind = end.map_or(&[] as &[Word], |end| &self.words[end + 1..]);
        (before.iter().filter(|word| !word.text.starts_with('-')).collect(), behind)
    }

    fn takes_untracked(&self) -> bool {
        let long = self.has(&["--include-untracked", "--all"]);
        long || ['u', 'a'].iter().any(|flag| self.has_short(*flag, "m"))
    }

    /// The paths of `stash push`; `None` if they cannot be told or there are none.
    fn put_aside(&self) -> Option<Vec<String>> {
        if self.has(&["--pathspec-from-file", "--staged"]) || self.has_short('S', "m") {
            return None;
        }
        let (names, behind) = self.named();
        let is_message = |word: &&Word| {
            let at = self.words.iter().position(|other| std::ptr::eq(other, *word));
            let before = at.and_then(|at| at.checked_sub(1)).map(|at| self.words[at].text.as_str());
            before.is_some_and(|flag| flag == "--message" || (flag.starts_with('-') && flag.ends_with('m')))
        };
        let paths: Vec<&Word> = names.into_iter().filter(|word| !is_message(word)).chain(behind).collect();
        let (own, others): (Vec<&Word>, Vec<&Word>) =
            paths.into_iter().partition(|word| word.text == OWN_PATHS);
        let is_any = !own.is_empty() || !others.is_empty();
        let is_known = others.iter().all(|word| !word.is_opaque);
        (is_any && is_known).then(|| others.into_iter().map(|word| word.text.clone()).collect())
    }

    /// The entry that the word at this place names; `None` if it cannot be told.
    #[expect(clippy::option_option, reason = "whether it can be told, and whether one is named")]
    fn entry(&self, place: usize) -> Option<Option<usize>> {
        let (names, behind) = self.named();
        let words: Vec<&Word> = names.into_iter().chain(behind).collect();
        let Some(word) = words.get(place) else { return Some(None) };
        let number = word.text.strip_prefix("stash@{").and_then(|rest| rest.strip_suffix('}'));
        number.unwrap_or(&word.text).parse().ok().map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn acts(line: &str) -> Vec<GitAct> {
        git_uses(line, None).into_iter().map(|used| used.act).collect()
    }

    fn aside(only: Option<&[&str]>) -> GitAct {
        let only = only.map(|only| only.iter().map(ToString::to_string).collect());
        GitAct::PutsAside { only, untracked: false }
    }

    fn taken(entry: Option<usize>, drops: bool) -> GitAct {
        GitAct::TakesAside { entry, drops }
    }

    fn unless(file: &str, undoes_it: bool) -> GitAct {
        GitAct::Upheaves { unless_file: Some(file.to_owned()), undoes_it }
    }

    #[test]
    fn what_is_put_aside_and_taken_back_is_told() {
        for (line, expect) in [
            ("git stash", aside(None)),
            ("git stash -u -m 'wip: x'", aside(None)),
            ("git stash push --staged", aside(None)),
            ("git stash save later", aside(None)),
            ("git stash push -um note -- src/a.rs 'two words'", aside(Some(&["src/a.rs", "two words"]))),
            ("git stash push src", aside(Some(&["src"]))),
            ("git stash push -u -- $(clearway mine --dirty)", aside(Some(&[]))),
            ("git stash push -- $files", aside(None)),
            ("git stash pop", taken(None, true)),
            ("git stash apply --index stash@{2}", taken(Some(2), false)),
            ("git stash drop 3", taken(Some(3), true)),
            ("git stash branch new stash@{1}", taken(Some(1), true)),
            ("git stash branch new", taken(None, true)),
            ("git stash clear", GitAct::DropsAside),
        ] {
            let told = acts(line).into_iter().map(|act| match act {
                GitAct::PutsAside { only, .. } => GitAct::PutsAside { only, untracked: false },
                act => act,
            });
            assert_eq!(told.collect::<Vec<_>>(), [expect], "{line}");
        }
        for (line, expect) in
            [("git stash -u", true), ("git stash push --all x", true), ("git stash -m au", false)]
        {
            let told = matches!(acts(line)[..], [GitAct::PutsAside { untracked, .. }] if untracked == expect);
            assert!(told, "{line}");
        }
    }

    #[test]
    fn what_changes_a_whole_checkout_is_told() {
        for (line, expect) in [
            ("git switch main", WHOLE),
            ("/usr/bin/git reset --hard", WHOLE),
            ("git reset --har", WHOLE),
            ("cd \"$(git rev-parse --show-toplevel)\" && git reset --hard", WHOLE),
            ("out=$(git reset --hard)", WHOLE),
            ("git switch -c new main", WHOLE),
            ("git switch -C new", WHOLE),
            ("git checkout main", unless("main", true)),
            ("git checkout -b new main", WHOLE),
            ("git checkout -fb new", WHOLE),
            ("git checkout main --", unless("main", true)),
            ("git checkout -f", WHOLE),
            ("git reset", WHOLE),
            ("git reset --hard HEAD~1", WHOLE),
            ("git reset HEAD~2", unless("HEAD~2", false)),
            ("git rebase -i main", WHOLE),
            ("git merge other 2>&1 | tail", WHOLE),
            ("git pull --rebase", WHOLE),
            ("git bisect start", WHOLE),
            ("git -C sub worktree remove ../x", GitAct::RemovesCheckout { path: "sub/../x".to_owned() }),
        ] {
            assert_eq!(acts(line), [expect], "{line}");
        }
    }

    #[test]
    fn what_only_writes_the_index_is_told_apart() {
        for line in [
            "git add .",
            "git rm x",
            "git mv a b",
            "git checkout -p -- a",
            "git checkout -- $files",
            "git restore --staged a",
            "git restore -p a",
            "git reset --soft HEAD~1",
            "git reset -- a",
            "git reset HEAD a b",
            "git commit -anm x",
            "git merge --abort",
            "git rebase --continue",
            "git cherry-pick x",
            "git checkout \"$branch\"",
            "git checkout -qb new",
            "git switch -c new",
            "git switch --create \"$branch\"",
        ] {
            assert_eq!(acts(line), [GitAct::WritesIndex], "{line}");
        }
        assert_eq!(acts("git commit -m 'n' -- a"), [GitAct::Commits]);
        assert_eq!(acts("git commit -uno -Snobody -m x"), [GitAct::Commits]);
        assert_eq!(acts("git commit -m \"$(cat x)\""), [GitAct::Commits]);
    }

    #[test]
    fn what_is_undone_is_told_with_where() {
        for (line, expect, is_new) in [
            ("git checkout -- .", vec!["."], false),
            ("git checkout HEAD~1 -- a 'b c'", vec!["a", "b c"], false),
            ("git checkout HEAD a", vec!["HEAD", "a"], false),
            ("git restore a b", vec!["a", "b"], false),
            ("git restore -SW a", vec!["a"], false),
            ("git clean -fd", vec!["."], true),
            ("git clean -fdx -- build", vec!["build"], true),
            ("git clean -fd -e keep", vec!["."], true),
            ("git clean -fd -e keep -- build", vec!["build"], true),
            ("git clean -fd --exclude keep", vec!["."], true),
            ("git clean -fd --excl keep build", vec!["build"], true),
            ("git clean -fd --exclude=keep build", vec!["build"], true),
            ("git clean -fde keep", vec!["."], true),
            ("git clean -fd -ekeep build", vec!["build"], true),
            ("git clean -f -e -n", vec!["."], true),
            ("git clean -f -e -- -e", vec!["."], true),
            ("git clean -f -- -e build", vec!["-e", "build"], true),
            ("git clean -fd -e \"$KEEP\"", vec!["."], true),
        ] {
            let only = expect.into_iter().map(str::to_owned).collect();
            assert_eq!(acts(line), [GitAct::Discards { only, untracked: is_new }], "{line}");
        }
    }

    #[test]
    fn nothing_is_said_of_what_concerns_nobody() {
        for line in [
            "",
            "git status",
            "git fetch --all",
            "git clone x",
            "git gc",
            "git pack-refs --all",
            "git branch new",
            "git log | head",
            "git stash list",
            "git stash show -p",
            "git bisect reset",
            "git worktree add ../x",
            "git diff",
            "echo git stash",
            "git --git-dir=x stash",
            "git stash pop $entry",
            "cd $HOME/other && git stash",
            "git push",
            "git clean -nfd",
            "git clean -fd $directory",
            "git clean -fdX",
        ] {
            assert_eq!(acts(line), [], "{line}");
        }
    }

    #[test]
    fn several_are_told_in_their_order_with_where() {
        let uses = git_uses("cd sub && git stash && make; git -C .. stash pop", None);
        let told: Vec<(&str, &str)> =
            uses.iter().map(|used| (used.directory.as_str(), used.what.as_str())).collect();
        assert_eq!(told, [("sub", "git stash push"), ("sub/..", "git stash pop")]);
    }

    proptest! {
        #[test]
        fn any_line_is_answered(line in "(git |stash |checkout |reset |-- |pop |-[a-z] |[-a-z/.*;&' \"\n@{}0-9]{0,6}){0,8}") {
            for used in git_uses(&line, Some("/home/bob")) {
                prop_assert!(used.what.starts_with("git "));
            }
        }
    }
}
