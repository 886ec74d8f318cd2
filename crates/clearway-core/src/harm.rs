//! Which commands destroy what is not committed, and where. Nothing here is a shell: a command with words that only a shell
//! can read is none of these, and what is kept too often costs little.

use crate::git_line::after_globals;
use crate::shell::{self, Placed, joined};

/// What a command may destroy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harm {
    /// Where, from where the command is run, each with everything below; `.` is everything there.
    pub paths: Vec<String>,
}

/// Letters that stand for other names.
const WILD: [char; 4] = ['*', '?', '[', ']'];

/// What a command line may destroy of what is not committed; `None` if nothing, as far as can be told.
pub fn harm_of(line: &str) -> Option<Harm> {
    let mut harm = Harm::default();
    for Placed { directory, words } in shell::placed(line) {
        if words.iter().any(|word| word.is_opaque) {
            continue;
        }
        let words: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        match words.as_slice() {
            ["git", rest @ ..] => {
                let Some((within, rest)) = after_globals(&directory, rest) else { continue };
                harm.add(&within, of_git(rest));
            }
            ["rm", rest @ ..] => harm.add(&directory, named(rest)),
            ["mv", rest @ ..] => harm.add(&directory, moved(&named(rest))),
            _ => {}
        }
    }
    (!harm.paths.is_empty()).then_some(harm)
}

impl Harm {
    fn add(&mut self, directory: &str, paths: Vec<String>) {
        for path in paths {
            let path = joined(directory, without_wildcards(&path));
            if !self.paths.contains(&path) {
                self.paths.push(path);
            }
        }
    }
}

/// What a name with wildcards can stand for lies in the directory in front of them.
fn without_wildcards(path: &str) -> &str {
    match path.find(WILD) {
        None => path,
        Some(at) => path[..at].rfind('/').map_or(".", |slash| &path[..slash.max(1)]),
    }
}

/// The words that are no flags; behind `--` all of them.
fn named(words: &[&str]) -> Vec<String> {
    let mut is_over = false;
    let mut named = Vec::new();
    for word in words {
        match *word {
            "--" if !is_over => is_over = true,
            word if !is_over && word.starts_with('-') => {}
            word => named.push(word.to_owned()),
        }
    }
    named
}

/// What a move takes away and what it may write over: a name, or one in a directory.
fn moved(names: &[String]) -> Vec<String> {
    let Some((target, sources)) = names.split_last() else { return Vec::new() };
    let name = |source: &String| source.trim_end_matches('/').rsplit('/').next().map(str::to_owned);
    let within = sources.iter().filter_map(name).map(|name| joined(target, &name));
    sources.iter().cloned().chain([target.clone()]).chain(within).collect()
}

fn of_git(words: &[&str]) -> Vec<String> {
    let [verb, rest @ ..] = words else { return Vec::new() };
    let has = |flags: &[&str]| rest.iter().any(|word| flags.contains(word));
    let has_short = |letter: char| {
        rest.iter().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(letter))
    };
    let everything = || vec![".".to_owned()];
    let named_or_everything = || match named(rest) {
        names if names.is_empty() => everything(),
        names => names,
    };
    match *verb {
        "reset" if has(&["--hard", "--merge", "--keep"]) => root(),
        "switch" if has(&["--discard-changes", "--force"]) || has_short('f') => root(),
        "merge" | "rebase" | "cherry-pick" | "revert" | "am" if has(&["--abort", "--skip", "--quit"]) => {
            root()
        }
        "checkout" if has(&["--force"]) || has_short('f') => root(),
        "checkout" if !has(&["--orphan", "--detach"]) && !has_short('b') && !has_short('B') => named(rest),
        "restore" => named(rest),
        "clean" if has(&["--force"]) || has_short('f') => named_or_everything(),
        "rm" => named(rest),
        "mv" => moved(&named(rest)),
        "stash" => match rest.iter().find(|word| !word.starts_with('-')) {
            None | Some(&("push" | "save")) => root(),
            Some(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Everything, wherever in the checkout the command is run.
fn root() -> Vec<String> {
    vec![ROOT.to_owned()]
}

/// The path that stands for the root of the checkout, in any directory of it.
pub const ROOT: &str = ":/";

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn paths(line: &str) -> Vec<String> {
        harm_of(line).map(|harm| harm.paths).unwrap_or_default()
    }

    #[test]
    fn commands_that_destroy_are_told_with_where() {
        for (line, expect) in [
            ("git reset --hard", vec![":/"]),
            ("git reset --hard HEAD~1", vec![":/"]),
            ("git -C sub -c a=b reset --hard", vec!["sub/:/"]),
            ("git checkout -- .", vec!["."]),
            ("git checkout -- src/a.rs 'two words'", vec!["src/a.rs", "two words"]),
            ("git checkout -f main", vec![":/"]),
            ("git restore --staged --worktree src", vec!["src"]),
            ("git clean -fdx", vec!["."]),
            ("git clean -fd docs", vec!["docs"]),
            ("git stash", vec![":/"]),
            ("git stash push -m x", vec![":/"]),
            ("git merge --abort", vec![":/"]),
            ("rm -rf src", vec!["src"]),
            ("rm -- -odd", vec!["-odd"]),
            ("rm -rf src/*.rs", vec!["src"]),
            ("rm *", vec!["."]),
            ("mv a b", vec!["a", "b", "b/a"]),
            ("cd sub && rm x", vec!["sub/x"]),
            ("cd /abs; git clean -f", vec!["/abs"]),
            ("make; FOO=1 rm x\nrm y", vec!["x", "y"]),
            ("rm x | cat", vec!["x"]),
            ("rm \"$file\"; git reset --hard 2>&1 | tail -1", vec![":/"]),
            ("rm -f x > log", vec!["x"]),
        ] {
            assert_eq!(paths(line), expect, "{line}");
        }
    }

    #[test]
    fn commands_that_destroy_nothing_and_what_only_a_shell_can_read_are_left_alone() {
        for line in [
            "",
            "git status",
            "git reset --soft HEAD~1",
            "git checkout -b new",
            "git clean -n",
            "git stash list",
            "git stash pop",
            "git stash show -p",
            "cargo build && cargo test",
            "rm $(cat list)",
            "rm \"$file\"",
            "(rm x)",
            "echo rm x",
            "rm 'x",
        ] {
            assert_eq!(harm_of(line), None, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_answered(line in "(git |rm |mv |cd |reset --hard|[-a-z/.*;&' \"\n]{0,6}){0,8}") {
            let harm = harm_of(&line);
            prop_assert!(harm.is_none_or(|harm| !harm.paths.is_empty()));
        }
    }
}
