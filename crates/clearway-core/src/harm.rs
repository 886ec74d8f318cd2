//! Which commands destroy what is not committed, and where. Nothing here is a shell: a command whose words only a shell can
//! read may destroy anything in its checkout if it destroys at all, and what is kept too often costs little.

use crate::git_line::{after_globals, has_flag, is_flag, without_excluded};
use crate::grasp::{self, Grasp};
pub use crate::shell::TOP as ROOT;
use crate::shell::{self, Placed, Word, joined, without_unread};

/// What a command may destroy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harm {
    /// Where, from where the command is run, each with everything below; `.` is everything there.
    pub paths: Vec<String>,
    /// Those of them that go with everything in them, whatever git knows of it.
    pub removed: Vec<String>,
    /// What of them goes, or is written over, for sure, what git ignores included.
    pub gone: Vec<Gone>,
    /// What of them lies elsewhere afterwards, and is not lost by that.
    pub moved: Vec<String>,
    /// What only a shell can read may name these, and would remove them with everything in them.
    pub guessed: Vec<String>,
    /// Whether it may remove more than can be read, whatever that is.
    pub may_remove: bool,
    /// Whether it may take files that git ignores, which only a shell can tell.
    pub may_take_ignored: bool,
    /// Where `git clean` takes repositories along that the one around them does not track.
    pub cleaned: Vec<Cleaned>,
    /// Which files there.
    pub grasp: Grasp,
}

/// A name of what goes, wildcards and all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gone {
    /// The name, from where the command is run.
    pub name: String,
    /// Whether what lies below it goes with it.
    pub is_deep: bool,
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
/// By which `find` removes whatever lies where it starts.
const TESTS_NOTHING: [&str; 3] = ["-delete", "-depth", "-xdev"];
/// By which `find` runs a command for what it found.
const FINDS_AND_RUNS: [&str; 4] = ["-exec", "-execdir", "-ok", "-okdir"];

/// What a command line may destroy of what is not committed; `None` if nothing, as far as can be told. `home` is that of
/// whoever runs it, if it is known.
pub fn harm_of(line: &str, home: Option<&str>) -> Option<Harm> {
    let mut harm = Harm::default();
    let mut is_moved = false;
    for placed in shell::placed(line, home) {
        harm.join(of_command(&placed, is_moved));
        is_moved |= may_move(&placed);
    }
    (!harm.paths.is_empty()).then_some(harm)
}

/// Whether a command may have a name of git's lead to something else than before.
fn may_move(placed: &Placed) -> bool {
    let Some(Run { program: "git", rest, is_fed, .. }) = program(&placed.words) else { return false };
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    let looks = after_globals("", &texts).is_some_and(|(_, words)| grasp::only_looks(words));
    is_fed || rest.iter().any(|word| word.is_opaque) || !looks
}

/// What one command may. Where nobody can tell where it runs it may be here. `is_moved` is whether one before it may have
/// moved what it names.
fn of_command(Placed { directory, is_lost, words }: &Placed, is_moved: bool) -> Harm {
    let mut harm = Harm::default();
    let Some(run) = program(words) else { return harm };
    let Run { program, rest, is_fed, .. } = run;
    let is_opaque = is_fed || rest.iter().any(|word| word.is_opaque);
    let reading = Reading { is_fed, is_opaque, is_moved };
    let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
    let plain = rest.iter().filter(|word| !word.is_opaque).map(|word| word.text.as_str());
    let plain: Vec<&str> = plain.collect();
    match program {
        "git" => harm.add_git(directory, &texts, reading),
        "rm" => harm.add_rm(directory, &run),
        "mv" if is_opaque => harm.add_all(directory, named(&plain)),
        "mv" => harm.add_mv(directory, &named(&texts)),
        _ => {}
    }
    if *is_lost && !harm.paths.is_empty() {
        harm.lose_place();
    }
    harm
}

/// A program that a command runs, however it is spelled.
#[derive(Clone, Copy)]
struct Run<'w> {
    program: &'static str,
    /// The words behind it.
    rest: &'w [Word],
    /// Whether it gets more of them from elsewhere.
    is_fed: bool,
    /// Where what feeds it looks for them.
    starts: &'w [Word],
    /// Whether it gets all that is there.
    takes_all: bool,
}

/// What a command runs that may destroy.
fn program(words: &[Word]) -> Option<Run<'_>> {
    let known = |word: &Word| {
        PROGRAMS.into_iter().find(|known| !word.is_opaque && *known == shell::name_of(&word.text))
    };
    let (first, rest) = words.split_first()?;
    match shell::name_of(&first.text) {
        "xargs" => {
            let at = rest.iter().position(|word| known(word).is_some())?;
            Some(fed(known(&rest[at])?, &rest[at + 1..]))
        }
        "find" => {
            let ends_starts = |word: &Word| word.text.starts_with(['-', '(', '!']);
            let (starts, tests) = rest.split_at(rest.iter().position(ends_starts)?);
            if tests.iter().any(|word| word.text == "-delete") {
                let takes_all = tests.iter().all(|word| TESTS_NOTHING.contains(&word.text.as_str()));
                return Some(Run { starts, takes_all, ..fed("rm", &[]) });
            }
            let runs = |word: &Word| FINDS_AND_RUNS.contains(&word.text.as_str());
            let at = rest.iter().position(runs)?;
            Some(Run { starts, ..fed(known(rest.get(at + 1)?)?, &rest[at + 2..]) })
        }
        _ => Some(Run { is_fed: false, ..fed(known(first)?, rest) }),
    }
}

fn fed<'w>(program: &'static str, rest: &'w [Word]) -> Run<'w> {
    Run { program, rest, is_fed: true, starts: &[], takes_all: false }
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
    /// What lies elsewhere afterwards, and nothing in the line removes.
    pub fn only_moved(&self) -> impl Iterator<Item = &String> {
        self.moved.iter().filter(|path| !self.gone.iter().any(|gone| gone.name == **path))
    }

    /// What is removed by name. Where some of it cannot be read, anything that is there may go as well.
    fn add_rm(&mut self, directory: &str, run: &Run<'_>) {
        let Run { rest, is_fed, starts, takes_all, .. } = *run;
        let texts: Vec<&str> = rest.iter().map(|word| word.text.as_str()).collect();
        let is_deep = is_recursive(&texts);
        let is_unread = |words: &[Word]| words.iter().any(|word| word.is_opaque);
        if is_fed || (is_deep && is_unread(rest)) {
            self.add_all(directory, root());
            self.may_take_ignored = true;
            self.may_remove =
                (is_deep || takes_all) && (starts.is_empty() || starts.iter().any(may_hold_all));
        }
        let (names, is_whole) = match is_fed {
            true if starts.is_empty() && takes_all => (vec![".".to_owned()], true),
            true => (plain_of(starts), takes_all),
            false => (plain_of(rest), is_deep),
        };
        if is_whole {
            let whole = names.iter().filter(|name| !name.contains(WILD));
            self.removed.extend(whole.map(|name| joined(directory, name)));
            let unread = rest.iter().chain(starts).filter(|word| word.is_opaque);
            self.guessed.extend(unread.filter_map(|word| guess(&word.text)));
        }
        if !is_fed {
            self.add_gone(directory, &names, is_deep);
        }
        self.add_all(directory, names);
    }

    /// What is moved is somewhere afterwards; what lay in its place is not.
    fn add_mv(&mut self, directory: &str, names: &[String]) {
        self.add_moved(directory, names);
        self.add_all(directory, moved(names));
    }

    fn add_moved(&mut self, directory: &str, names: &[String]) {
        let Some((_, sources)) = names.split_last() else { return };
        self.moved.extend(sources.iter().map(|name| joined(directory, without_wildcards(name))));
        let written = moved(names).split_off(sources.len());
        self.add_gone(directory, &written, false);
    }

    fn add_gone(&mut self, directory: &str, names: &[String], is_deep: bool) {
        let gone = |name: &String| Gone { name: joined(directory, name), is_deep };
        self.gone.extend(names.iter().map(gone));
    }

    /// Nobody can tell where it runs, which may be here: what does not say where it lies may be anything.
    fn lose_place(&mut self) {
        let is_placed = |path: &String| path.starts_with('/');
        self.paths.retain(is_placed);
        self.paths.insert(0, ROOT.to_owned());
        self.removed.retain(is_placed);
        self.moved.retain(is_placed);
        self.gone.retain(|gone| is_placed(&gone.name));
        self.grasp = Grasp::everything();
        for cleaned in &mut self.cleaned {
            (cleaned.directory, cleaned.path) = (String::new(), ROOT.to_owned());
        }
    }

    fn add_git(&mut self, directory: &str, words: &[&str], reading: Reading) {
        let Reading { is_fed, is_opaque, is_moved } = reading;
        // Where git is told to find the repository it is asked for is most often the one at hand.
        let (words, worktree) = without_leads(words);
        let Some((within, rest)) = after_globals(directory, &words) else { return };
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
        if !is_opaque {
            self.add_gone_of_git(&within, rest, &found);
        }
        if let Some(worktree) = worktree.filter(|worktree| *worktree != "." && !found.is_empty()) {
            self.add_all(&joined(directory, worktree), root());
        }
        let is_magic = found.iter().any(|path| path.starts_with(':'));
        let grasp = if is_moved { Grasp::everything() } else { Grasp::of_git(rest) };
        match found.is_empty() {
            true => {}
            false if is_opaque => self.add_all(&within, root()),
            false if is_magic => self.add(&within, root(), grasp),
            false => self.add(&within, found, grasp),
        }
    }

    /// What a command of git takes away of what git ignores, and what it removes as a whole.
    fn add_gone_of_git(&mut self, within: &str, words: &[&str], found: &[String]) {
        match words {
            ["worktree", ..] => {
                self.removed.extend(found.iter().map(|path| joined(within, path)));
                self.add_gone(within, found, true);
            }
            ["mv", rest @ ..] => self.add_moved(within, &named(rest)),
            // What is excluded from it stays, and so does what magic words leave out.
            ["clean", rest @ ..] if has_flag(rest, &[], &['x', 'X']) => {
                let is_magic = found.iter().any(|path| path.starts_with(':'));
                self.may_take_ignored = is_magic || has_flag(rest, &["--exclude"], &['e']);
                if !self.may_take_ignored {
                    self.add_gone(within, found, true);
                }
            }
            _ => {}
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
        self.gone.extend(other.gone);
        self.moved.extend(other.moved);
        self.guessed.extend(other.guessed);
        self.may_remove |= other.may_remove;
        self.may_take_ignored |= other.may_take_ignored;
        self.cleaned.extend(other.cleaned);
    }
}

/// The words of a command of git without those that tell it where the repository is, and the checkout that they name.
fn without_leads<'l>(words: &[&'l str]) -> (Vec<&'l str>, Option<&'l str>) {
    const LEADS: [&str; 2] = ["--git-dir", "--work-tree"];
    let (mut kept, mut worktree) = (Vec::new(), None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (flag, value) = word.split_once('=').map_or((*word, None), |(flag, value)| (flag, Some(value)));
        if !LEADS.contains(&flag) {
            kept.push(*word);
            continue;
        }
        let value = value.or_else(|| rest.next().copied());
        worktree = value.filter(|_| flag == LEADS[1]).or(worktree);
    }
    (kept, worktree)
}

/// Whether the repository may lie where `find` starts.
fn may_hold_all(start: &Word) -> bool {
    start.is_opaque
        || start.text.starts_with('/')
        || start.text.split('/').any(|part| [".", ".."].contains(&part))
}

/// The names among words that can be read.
fn plain_of(words: &[Word]) -> Vec<String> {
    let plain = words.iter().filter(|word| !word.is_opaque).map(|word| word.text.as_str());
    named(&plain.collect::<Vec<_>>())
}

/// What a word that only a shell can read names if what it cannot read is nothing, or the checkout at hand.
fn guess(word: &str) -> Option<String> {
    let rest = without_unread(word)?;
    let is_place = rest.starts_with('/') && rest.trim_matches('/').contains('/');
    let inside = rest.trim_start_matches('/');
    let is_of_repository = inside.split('/').next() == Some(".git");
    is_of_repository.then(|| format!("{ROOT}{inside}")).or_else(|| is_place.then_some(rest))
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
        harm_of(line, None).map(|harm| harm.paths).unwrap_or_default()
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
            ("rm -rf {src,d2}", vec!["src", "d2"]),
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
            ("find src -delete", vec![":/", "src"]),
            ("find src -exec rm -rf {} +", vec![":/", "src"]),
            ("git checkout \"$branch\"", vec![":/"]),
            ("git checkout $(git ls-files -m)", vec![":/"]),
            ("git checkout -q `cat list`", vec![":/"]),
            ("git ls-files -m | while read f; do git checkout $f; done", vec![":/"]),
            ("git --git-dir /w/.git --work-tree /w checkout .", vec!["/w/:/", "."]),
            ("rm -rf $X /w/app/src", vec![":/", "/w/app/src"]),
            ("cd $X; rm -rf src /w/app/src", vec![":/", "/w/app/src"]),
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
            "git worktree remove ../wt",
            "xargs cat",
            "git branch | xargs git branch -D",
            "git diff --name-only | xargs git add",
            "echo new | xargs git checkout -b",
            "echo rm x",
            "rm 'x",
        ] {
            assert_eq!(harm_of(line, None), None, "{line}");
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
            ("rm -rf $D .git", vec![".git"]),
            ("find . -delete", vec!["."]),
            ("find /w/app /w/x -depth -delete", vec!["/w/app", "/w/x"]),
            ("find . -name x -delete", vec![]),
            ("rm src", vec![]),
        ] {
            assert_eq!(harm_of(line, None).unwrap_or_default().removed, expect, "{line}");
        }
    }

    #[test]
    fn what_a_home_stands_for_is_reached_wherever_the_command_stands() {
        for (line, expect) in [
            ("cd /tmp; rm -rf ~/app/src", vec!["/home/bob/app/src"]),
            ("rm -rf $HOME/../app", vec!["/home/bob/../app"]),
            ("git -C ~/app checkout .", vec!["/home/bob/app"]),
            ("cd ~/app && git reset --hard", vec!["/home/bob/app/:/"]),
            ("cd && rm -f app/x", vec!["/home/bob/app/x"]),
        ] {
            let harm = harm_of(line, Some("/home/bob")).unwrap_or_default();
            assert_eq!(harm.paths, expect, "{line}");
            assert!(!harm.may_remove, "{line}");
        }
    }

    #[test]
    fn what_only_a_shell_can_read_may_be_the_repository() {
        for (line, expect, may_remove) in [
            ("rm -rf $UNSET/w/app/.git", vec!["/w/app/.git"], true),
            ("rm -rf \"${X:-}/w/app\"", vec!["/w/app"], true),
            ("rm -rf $ROOT/.git", vec![":/.git"], true),
            ("rm -rf $D/ $E", vec![], true),
            ("echo . | xargs rm -rf", vec![], true),
            ("find $D -delete", vec![], true),
            ("find src -name x -delete", vec![], false),
            ("find . -name x -delete", vec![], false),
            ("find . -exec rm -rf {} +", vec![], true),
            ("find src -exec rm -rf {} +", vec![], false),
            ("rm -f $D/.git", vec![], false),
            ("rm -rf src", vec![], false),
        ] {
            let harm = harm_of(line, None).unwrap_or_default();
            assert_eq!((harm.guessed, harm.may_remove), (to_owned(&expect), may_remove), "{line}");
        }
    }

    #[test]
    fn what_goes_for_sure_and_what_only_lies_elsewhere_is_told_apart() {
        for (line, gone, moved) in [
            ("rm -rf logs a*.log", vec![("logs", true), ("a*.log", true)], vec![]),
            ("rm -f a.log", vec![("a.log", false)], vec![]),
            ("mv a b c", vec![("c", false), ("c/a", false), ("c/b", false)], vec!["a", "b"]),
            ("git mv a b", vec![("b", false), ("b/a", false)], vec!["a"]),
            ("git clean -fdx", vec![(".", true)], vec![]),
            ("git clean -fdX logs", vec![("logs", true)], vec![]),
            ("git clean -fdx -e a", vec![], vec![]),
            ("git clean -fd", vec![], vec![]),
            ("git reset --hard", vec![], vec![]),
            ("git stash -a", vec![], vec![]),
            ("git worktree remove -f ../w", vec![("../w", true)], vec![]),
            ("cd $X; rm -rf a /w/b", vec![("/w/b", true)], vec![]),
            ("ls | xargs rm -rf", vec![], vec![]),
        ] {
            let harm = harm_of(line, None).unwrap_or_default();
            let found: Vec<_> = harm.gone.iter().map(|gone| (gone.name.as_str(), gone.is_deep)).collect();
            assert_eq!((found, harm.moved), (gone, to_owned(&moved)), "{line}");
        }
    }

    fn to_owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
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
            let cleaned = harm_of(line, None).map(|harm| harm.cleaned).unwrap_or_default();
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
            let any = harm_of(line, None).map(|harm| harm.grasp) == Some(Grasp::everything());
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
            let harm = harm_of(&line, Some("/home/bob"));
            prop_assert!(harm.is_none_or(|harm| !harm.paths.is_empty()));
        }
    }
}
