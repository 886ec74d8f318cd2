//! Which commands destroy what is not committed, and where. Nothing here is a shell: a command whose words only a shell can
//! read may destroy anything in its checkout if it destroys at all, and what is kept too often costs little.

use crate::git_line::{after_globals, has_flag, is_flag, without_excluded};
use crate::grasp::{self, Grasp};
pub use crate::shell::TOP as ROOT;
use crate::shell::{self, Placed, Word, joined};

/// What a command may destroy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harm {
    /// Where, from where the command is run, each with everything below; `.` is everything there.
    pub paths: Vec<String>,
    /// Those of them that go with everything in them, whatever git knows of it.
    pub removed: Vec<String>,
    /// Where `git clean` takes repositories along that the one around them does not track.
    pub cleaned: Vec<Cleaned>,
    /// Which files there.
    pub grasp: Grasp,
}

/// Where `git clean` is told twice to use force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cleaned {
    /// Where git runs, from where the command is run.
    pub directory: String,
    /// The place, from there.
    pub path: String,
    /// Whether what git ignores goes too.
    pub with_ignored: bool,
}

/// Letters that stand for other names.
const WILD: [char; 4] = ['*', '?', '[', ']'];
/// Programs that destroy.
const PROGRAMS: [&str; 3] = ["git", "rm", "mv"];
/// By which `find` runs a command for what it found.
const FINDS_AND_RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// What a command line may destroy of what is not committed; `None` if nothing, as far as can be told.
pub fn harm_of(line: &str) -> Option<Harm> {
    let mut harm = Harm::default();
    let mut is_moved = false;
    for placed in shell::placed(line) {
        harm.join(of_command(&placed, is_moved));
        is_moved |= may_move(&placed);
    }
    (!harm.paths.is_empty()).then_some(harm)
}

/// Whether a command may have a name of git's lead to something else than before.
fn may_move(placed: &Placed) -> bool {
    let Some(("git", rest, is_fed)) = program(&placed.words) else { return false };
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    let looks = after_globals("", &texts).is_some_and(|(_, words)| grasp::only_looks(words));
    is_fed || rest.iter().any(|word| word.is_opaque) || !looks
}

/// What one command may. Where nobody can tell where it runs it may be here. `is_moved` is whether one before it may have
/// moved what it names.
fn of_command(Placed { directory, is_lost, words }: &Placed, is_moved: bool) -> Harm {
    let mut harm = Harm::default();
    let Some((program, rest, is_fed)) = program(words) else { return harm };
    let is_opaque = is_fed || rest.iter().any(|word| word.is_opaque);
    let reading = Reading { is_fed, is_opaque, is_moved };
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    let plain = rest.iter().filter(|word| !word.is_opaque).map(|word| word.text.as_str());
    let plain: Vec<&str> = plain.collect();
    match program {
        "git" => harm.add_git(directory, &texts, reading),
        "rm" if is_fed || (is_opaque && is_recursive(&texts)) => harm.add_all(directory, root()),
        "rm" => {
            let names = named(&plain);
            if is_recursive(&texts) {
                let whole = names.iter().filter(|name| !name.contains(WILD));
                harm.removed.extend(whole.map(|name| joined(directory, name)));
            }
            harm.add_all(directory, names);
        }
        "mv" if is_opaque => harm.add_all(directory, named(&plain)),
        "mv" => harm.add_all(directory, moved(&named(&texts))),
        _ => {}
    }
    if *is_lost && !harm.paths.is_empty() {
        harm.paths = root();
        harm.removed.retain(|path| path.starts_with('/'));
        harm.grasp = Grasp::everything();
        for cleaned in &mut harm.cleaned {
            (cleaned.directory, cleaned.path) = (String::new(), ROOT.to_owned());
        }
    }
    harm
}

/// The program that a command runs, however it is spelled, the words behind it, and whether it gets more of them from
/// elsewhere.
fn program(words: &[Word]) -> Option<(&str, &[Word], bool)> {
    let known = |word: &Word| {
        PROGRAMS.into_iter().find(|known| !word.is_opaque && *known == shell::name_of(&word.text))
    };
    let (first, rest) = words.split_first()?;
    match shell::name_of(&first.text) {
        "xargs" => {
            let at = rest.iter().position(|word| known(word).is_some())?;
            Some((known(&rest[at])?, &rest[at + 1..], true))
        }
        "find" if rest.iter().any(|word| word.text == "-delete") => Some(("rm", rest, true)),
        "find" => {
            let runs = |word: &Word| FINDS_AND_RUNS.contains(&word.text.as_str());
            let at = rest.iter().position(runs)?;
            Some((known(rest.get(at + 1)?)?, &rest[at + 2..], true))
        }
        _ => Some((known(first)?, rest, false)),
    }
}

/// How much of a command can be read.
#[derive(Clone, Copy)]
struct Reading {
    /// Whether it gets words from elsewhere.
    is_fed: bool,
    /// Whether any of its words is one that only a shell can read, or comes from elsewhere.
    is_opaque: bool,
    /// Whether a command in front of it may have moved what it names, or had git track something else.
    is_moved: bool,
}

fn is_recursive(words: &[&str]) -> bool {
    has_flag(words, &["--recursive"], &['r', 'R'])
}

impl Harm {
    fn add_git(&mut self, directory: &str, words: &[&str], reading: Reading) {
        let Reading { is_fed, is_opaque, is_moved } = reading;
        // Where git is told to find the repository it is asked for is most often the one at hand.
        let leads = |word: &&&str| !word.starts_with("--git-dir=") && !word.starts_with("--work-tree=");
        let words: Vec<&str> = words.iter().filter(leads).copied().collect();
        let Some((within, rest)) = after_globals(directory, &words) else { return };
        // One word alone that nobody can read is most often a branch, but what is fed is most often a list of files.
        let is_branch = !is_fed && rest.first() == Some(&"checkout") && !rest.contains(&"--");
        let found = match of_git(rest) {
            found if found.is_empty() && is_fed => of_git(&[rest, &["."]].concat()),
            found => found,
        };
        if let Some(with_ignored) = takes_repositories(rest) {
            let is_unclear = is_opaque || found.iter().any(|path| path.starts_with(':'));
            let places = if is_unclear { root() } else { found.clone() };
            let one = |path: String| Cleaned {
                directory: within.clone(),
                path: without_wildcards(&path).to_owned(),
                with_ignored,
            };
            self.cleaned.extend(places.into_iter().map(one));
        }
        if rest.first() == Some(&"worktree") && !is_opaque {
            self.removed.extend(found.iter().map(|path| joined(&within, path)));
        }
        let is_magic = found.iter().any(|path| path.starts_with(':'));
        let grasp = if is_moved { Grasp::everything() } else { Grasp::of_git(rest) };
        match found.is_empty() || (is_opaque && is_branch && found != root()) {
            true => {}
            false if is_opaque => self.add_all(&within, root()),
            false if is_magic => self.add(&within, root(), grasp),
            false => self.add(&within, found, grasp),
        }
    }

    fn add_all(&mut self, directory: &str, paths: Vec<String>) {
        self.add(directory, paths, Grasp::everything());
    }

    fn add(&mut self, directory: &str, paths: Vec<String>, grasp: Grasp) {
        self.grasp = std::mem::take(&mut self.grasp).and(grasp);
        for path in paths {
            self.add_path(whole_of_top(joined(directory, without_wildcards(&path))));
        }
    }

    fn add_path(&mut self, path: String) {
        if !self.paths.contains(&path) {
            self.paths.push(path);
        }
    }

    fn join(&mut self, other: Self) {
        self.grasp = std::mem::take(&mut self.grasp).and(other.grasp);
        other.paths.into_iter().for_each(|path| self.add_path(path));
        self.removed.extend(other.removed);
        self.cleaned.extend(other.cleaned);
    }
}

/// Of what is told from the root of a checkout, that is everything there: where the root lies is for git to say.
fn whole_of_top(mut path: String) -> String {
    if let Some(at) = path.find(ROOT) {
        path.truncate(at + ROOT.len());
    }
    path
}

/// What a name with wildcards can stand for lies in the directory in front of them.
fn without_wildcards(path: &str) -> &str {
    match path.find(WILD) {
        None => path,
        Some(at) => path[..at].rfind('/').map_or(".", |slash| &path[..slash.max(1)]),
    }
}

/// The words that are no flags, which a dash alone is not; behind `--` all of them.
pub(crate) fn named(words: &[&str]) -> Vec<String> {
    let mut is_over = false;
    let mut named = Vec::new();
    for word in words {
        match *word {
            "--" if !is_over => is_over = true,
            word if !is_over && word.len() > 1 && word.starts_with('-') => {}
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
    let has = |long: &[&str], short: &[char]| has_flag(rest, long, short);
    let cleaned = || match named(&without_excluded(rest, |word| word).copied().collect::<Vec<_>>()) {
        names if names.is_empty() => vec![".".to_owned()],
        names => names,
    };
    match *verb {
        "reset" if has(&["--hard", "--merge", "--keep"], &[]) => root(),
        "switch" if has(&["--discard-changes", "--force"], &['f']) => root(),
        "merge" | "rebase" | "cherry-pick" | "revert" | "am"
            if has(&["--abort", "--skip", "--quit"], &[]) =>
        {
            root()
        }
        "checkout" if has(&["--force"], &['f']) => root(),
        "checkout" if !has(&["--orphan", "--detach"], &['b', 'B']) => named(rest),
        "restore" => named(rest),
        "clean" if has(&["--force"], &['f']) => cleaned(),
        "rm" => named(rest),
        "worktree" if rest.first() == Some(&"remove") && has(&["--force"], &['f']) => named(&rest[1..]),
        "mv" => moved(&named(rest)),
        "read-tree" if has(&["--reset"], &['u']) => root(),
        "checkout-index" if has(&["--force"], &['f']) => root(),
        "apply" if has(&["--reverse"], &['R']) => root(),
        "stash" => match rest.iter().find(|word| !word.starts_with('-')) {
            None | Some(&("push" | "save")) => root(),
            Some(_) => Vec::new(),
        },
        _ => Vec::new(),
    }
}

/// Whether a command of git is a `clean` that takes repositories along; if so, whether it takes what git ignores too. One that
/// names no place leaves directories alone, unless it is told otherwise.
fn takes_repositories(words: &[&str]) -> Option<bool> {
    let rest = words.strip_prefix(&["clean"])?;
    let flags: Vec<&str> =
        without_excluded(rest, |word| word).copied().take_while(|word| *word != "--").collect();
    let letters =
        |flag: &&str| flag.strip_prefix('-').filter(|flag| !flag.starts_with('-')).map(str::to_owned);
    let letters: String = flags.iter().filter_map(letters).collect();
    let is_dry = letters.contains('n') || flags.iter().any(|flag| is_flag(flag, "--dry-run"));
    let force = letters.matches('f').count() + flags.iter().filter(|flag| is_flag(flag, "--force")).count();
    let reaches = letters.contains('d')
        || !named(&without_excluded(rest, |word| word).copied().collect::<Vec<_>>()).is_empty();
    (force > 1 && reaches && !is_dry).then(|| letters.contains(['x', 'X']))
}

/// Everything, wherever in the checkout the command is run.
fn root() -> Vec<String> {
    vec![ROOT.to_owned()]
}

/// What a repository cannot be without: its commits, what is kept among them, and what leads to them.
const HELD_IN_REPOSITORY: [&str; 4] = ["objects", "refs", "packed-refs", "reftable"];

/// Whether a repository is lost, or something committed or kept in it, when something is removed with all that is in it.
/// Both are places without links. What else lies in a repository, git makes again, or tells people to remove.
pub fn removes_repository(removed: &str, repository: &str) -> bool {
    if below(repository, removed).is_some() {
        return true;
    }
    let held = below(removed, repository).and_then(|inside| inside.split('/').next());
    held.is_some_and(|held| HELD_IN_REPOSITORY.contains(&held) && !removed.ends_with(".lock"))
}

/// The rest of a path that is another or lies below it.
fn below<'p>(path: &'p str, above: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(above.trim_end_matches('/'))?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}

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
            ("git reset --har", vec![":/"]),
            ("git clean --fo", vec!["."]),
            ("git merge --abo", vec![":/"]),
            ("git -C sub -c a=b reset --hard", vec!["sub/:/"]),
            ("git checkout -- .", vec!["."]),
            ("git checkout -- src/a.rs 'two words'", vec!["src/a.rs", "two words"]),
            ("git checkout -f main", vec![":/"]),
            ("git restore --staged --worktree src", vec!["src"]),
            ("git clean -fdx", vec!["."]),
            ("git clean -fd docs", vec!["docs"]),
            ("git clean -fd -e keep", vec!["."]),
            ("git clean -fd -e keep -- build", vec!["build"]),
            ("git clean -fd --exclude keep", vec!["."]),
            ("git stash", vec![":/"]),
            ("git stash push -m x", vec![":/"]),
            ("git merge --abort", vec![":/"]),
            ("rm -rf src", vec!["src"]),
            ("rm -- -odd", vec!["-odd"]),
            ("rm -f -", vec!["-"]),
            ("rm -rf src/*.rs", vec!["src"]),
            ("rm *", vec!["."]),
            ("mv a b", vec!["a", "b", "b/a"]),
            ("cd sub && rm x", vec!["sub/x"]),
            ("cd /abs; git clean -f", vec!["/abs"]),
            ("make; FOO=1 rm x\nrm y", vec!["x", "y"]),
            ("rm x | cat", vec!["x"]),
            ("rm \"$file\"; git reset --hard 2>&1 | tail -1", vec![":/"]),
            ("rm -f x > log", vec!["x"]),
            ("/bin/rm -rf src", vec!["src"]),
            ("/usr/bin/git reset --hard", vec![":/"]),
            ("git reset --hard \"$(git rev-parse HEAD)\"", vec![":/"]),
            ("git reset --hard $SHA", vec![":/"]),
            ("git clean -fdx -e \"$KEEP\"", vec![":/"]),
            ("git checkout -- \":/src\"", vec![":/"]),
            ("git checkout -- ':(top)src'", vec![":/"]),
            ("git --git-dir=.git --work-tree=. reset --hard", vec![":/"]),
            ("git worktree remove --force ../wt", vec!["../wt"]),
            ("rm -rf \"$PWD/src\"", vec!["./src"]),
            ("rm -rf \"$DIRECTORY/src\"", vec![":/"]),
            ("rm -rf {src,d2}", vec![":/"]),
            ("rm -f \"$file\" x", vec!["x"]),
            ("nice -n 5 rm -rf src", vec!["src"]),
            ("(rm -rf src)", vec!["src"]),
            ("make && (cd src && rm x) && rm y", vec!["src/x", "y"]),
            ("case x in x) rm -rf src;; esac", vec!["src"]),
            ("pushd src; rm f2.txt", vec!["src/f2.txt"]),
            ("eval \"rm -rf src\"", vec!["src"]),
            ("echo src | xargs rm -rf", vec![":/"]),
            ("echo src | xargs -0 /bin/rm -rf --", vec![":/"]),
            ("git diff --name-only | xargs git restore", vec![":/"]),
            ("git diff --name-only | xargs git checkout --", vec![":/"]),
            ("git diff --name-only | xargs git checkout", vec![":/"]),
            ("git diff --name-only | xargs git rm -f", vec![":/"]),
            ("git diff --name-only | xargs -I{} git -C sub restore {}", vec!["sub/:/"]),
            ("git ls-files | xargs rm", vec![":/"]),
            ("cd \"$(git rev-parse --show-toplevel)\" && git reset --hard", vec![":/"]),
            ("cd $HOME/x && rm -f y", vec![":/"]),
            ("cd - && git checkout -- a", vec![":/"]),
            ("cd \"$PWD\"/src && git checkout -- ../a", vec!["./src/../a"]),
            ("GIT_DIR=.git GIT_WORK_TREE=. git reset --hard", vec![":/"]),
            ("out=$(git stash 2>&1); echo $out", vec![":/"]),
            ("echo $(rm -rf src) `rm x`", vec!["src", "x"]),
            ("cat <(rm -rf src)", vec!["src"]),
            ("GIT=git; $GIT reset --hard", vec![":/"]),
            ("git checkout --forc; git reset --har", vec![":/"]),
            ("find . -name x -exec git checkout -- {} \\;", vec![":/"]),
            ("find src -delete", vec![":/"]),
            ("find src -exec rm -rf {} +", vec![":/"]),
            ("git read-tree -u --reset HEAD", vec![":/"]),
            ("git checkout-index -fa", vec![":/"]),
            ("git diff | git apply -R", vec![":/"]),
            ("timeout -k 1 5 git reset --hard", vec![":/"]),
            ("bash -c -- 'git reset --hard'", vec![":/"]),
            ("trap \"rm -rf src\" EXIT", vec!["src"]),
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
            "git checkout \"$branch\"",
            "git worktree remove ../wt",
            "xargs cat",
            "git branch | xargs git branch -D",
            "git diff --name-only | xargs git add",
            "echo new | xargs git checkout -b",
            "echo rm x",
            "rm 'x",
        ] {
            assert_eq!(harm_of(line), None, "{line}");
        }
    }

    #[test]
    fn what_is_removed_with_everything_in_it_is_told_however_it_is_named() {
        for (line, expect) in [
            ("rm -rf \"$PWD\"", vec!["."]),
            ("rm -rf -- \"$(git rev-parse --show-toplevel)\"", vec![":/"]),
            ("D=/w/app; rm -rf $D/.git", vec!["/w/app/.git"]),
            ("cd $HOME && rm -rf /w/app src", vec!["/w/app"]),
            ("rm -rf $D", vec![]),
            ("rm src", vec![]),
        ] {
            assert_eq!(harm_of(line).unwrap_or_default().removed, expect, "{line}");
        }
    }

    #[test]
    fn a_clean_takes_repositories_along_if_it_is_told_so_twice() {
        for (line, expect) in [
            ("git clean -ffd", vec![(".", false)]),
            ("git clean -f -f -d -x", vec![(".", true)]),
            ("git clean --force -fdX -e keep", vec![(".", true)]),
            ("git -C sub clean -ff -- a 'b*'", vec![("a", false), (".", false)]),
            ("cd sub && git clean -ffd \"$X\"", vec![(":/", false)]),
            ("git clean -fd", vec![]),
            ("git clean -ff", vec![]),
            ("git clean -nffd", vec![]),
            ("git clean -fd -e ff", vec![]),
            ("git clean -fd -- -ff", vec![]),
        ] {
            let cleaned = harm_of(line).map(|harm| harm.cleaned).unwrap_or_default();
            let found: Vec<_> =
                cleaned.iter().map(|cleaned| (cleaned.path.as_str(), cleaned.with_ignored)).collect();
            assert_eq!(found, expect, "{line}");
        }
    }

    #[test]
    fn what_a_command_in_front_may_have_moved_can_be_any_commit() {
        for (line, is_any) in [
            ("git reset --hard origin/main", false),
            ("git fetch && git reset --hard origin/main", true),
            ("git branch -f x y; git reset --hard x", true),
            ("git reset topic && git checkout -- .", true),
            ("git add -N new; git stash", true),
            ("git -C ../other fetch; git reset --hard FETCH_HEAD", true),
            ("git $verb; git reset --hard", true),
            ("git branch | xargs git branch -f; git reset --hard", true),
            ("git status && git log -1 && git reset --hard x", false),
            ("cargo test; git checkout -f main", false),
            ("git checkout -f main && git fetch", false),
        ] {
            let any = harm_of(line).map(|harm| harm.grasp) == Some(Grasp::everything());
            assert_eq!(any, is_any, "{line}");
        }
    }

    #[test]
    fn only_what_a_repository_cannot_be_without_is_called_its_removal() {
        for (removed, expect) in [
            ("/w/app/.git", true),
            ("/w/app", true),
            ("/w/", true),
            ("/", true),
            ("/w/app/.git/objects", true),
            ("/w/app/.git/objects/pack", true),
            ("/w/app/.git/refs", true),
            ("/w/app/.git/refs/heads/main", true),
            ("/w/app/.git/packed-refs", true),
            ("/w/app/.git/reftable", true),
            ("/w/app/.git/rebase-merge", false),
            ("/w/app/.git/index.lock", false),
            ("/w/app/.git/refs/heads/main.lock", false),
            ("/w/app/.git/objects-of-old", false),
            ("/w/app/.git/worktrees/x", false),
            ("/w/app/.github", false),
            ("/w/ap", false),
            ("/w/app/src", false),
        ] {
            assert_eq!(removes_repository(removed, "/w/app/.git"), expect, "{removed}");
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
