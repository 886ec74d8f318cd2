//! The commands of a line as far as they can be read without being a shell: which words each has, and where it runs.
//!
//! Little is expanded (`known.rs`). A word that a shell would make another of is told apart, and so is a command of which
//! nobody can tell where it runs. Where the line goes on in a way that only a shell can follow (a text that begins with
//! `<<`) reading ends: what was read before stands.

use super::known::Known;
use super::reader::{Part, Reader};

/// A word of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its letters without their quotes; of a word that a shell would make another of, as it is written.
    pub text: String,
    /// Whether a shell would make another word of it. Letters that stand for other names (`*`) do not count.
    pub is_opaque: bool,
}

/// A command, and where it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed {
    /// The directory, from where the line is run; empty if that is it. It ends with `:/` where it is the root of the
    /// checkout that the rest of it lies in.
    pub directory: String,
    /// Whether nobody can tell where it runs, or which repository it is about.
    pub is_lost: bool,
    /// Its words, the program first.
    pub words: Vec<Word>,
}

impl Placed {
    /// The name of its program, without the directory that it is in; `None` if only a shell can tell.
    pub fn program(&self) -> Option<&str> {
        self.words.first().filter(|word| !word.is_opaque).map(|word| name_of(&word.text))
    }
}

/// How deep a command may stand in commands of other shells.
const NESTED_MAX: usize = 4;
/// Words before a command that change nothing of what it does.
pub(super) const BEFORE: [&str; 15] = [
    "then", "do", "else", "if", "elif", "while", "until", "{", "!", "time", "exec", "command", "nohup",
    "builtin", "coproc",
];
/// Programs that run the command behind them, their flags and what these take.
const AROUND: [&str; 11] =
    ["sudo", "doas", "env", "nice", "timeout", "setsid", "stdbuf", "ionice", "chrt", "taskset", "flock"];
const SHELLS: [&str; 5] = ["sh", "bash", "zsh", "dash", "ksh"];
/// The one of them that takes a file first.
const LOCKS: &str = "flock";
/// Variables by which git is led elsewhere.
const LEADS_GIT: &str = "GIT_";

/// The commands of a line that can be read, in their order, each with where it runs. `home` is that of whoever runs it, if it
/// is known.
pub fn placed(line: &str, home: Option<&str>) -> Vec<Placed> {
    let mut found = Vec::new();
    let mut walk =
        Walk { directory: String::new(), is_lost: false, known: Known::of(home), deeper: NESTED_MAX };
    walk.through(line, &mut found);
    found
}

/// A path as it is meant by somebody in a directory; the empty one is where the line is run.
pub fn joined(directory: &str, path: &str) -> String {
    match (directory, path) {
        ("", path) => path.to_owned(),
        (_, path) if path.starts_with('/') => path.to_owned(),
        (directory, ".") => directory.to_owned(),
        (directory, path) => format!("{}/{path}", directory.trim_end_matches('/')),
    }
}

/// The name of a program, however it is called.
pub(crate) fn name_of(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// A walk through the commands of a line, as a shell takes it.
#[derive(Clone)]
struct Walk {
    directory: String,
    is_lost: bool,
    known: Known,
    /// How much deeper it may go.
    deeper: usize,
}

impl Walk {
    fn through(&mut self, line: &str, found: &mut Vec<Placed>) {
        let mut outer = Vec::new();
        for part in Reader::new(line).parts() {
            match part {
                Part::Opens => outer.push(self.clone()),
                // What only looks like the end of a subshell, as in `case`, ends a command.
                Part::Closes => *self = outer.pop().unwrap_or_else(|| self.clone()),
                Part::Within(text) => self.within(&text, found),
                Part::Command(words) => self.run(&words, found),
            }
        }
    }

    /// What another shell runs, which changes nothing of this one.
    fn within(&self, text: &str, found: &mut Vec<Placed>) {
        if let Some(deeper) = self.deeper.checked_sub(1) {
            Self { deeper, ..self.clone() }.through(text, found);
        }
    }

    /// What this shell itself reads as a line.
    fn read_again(&mut self, text: &str, found: &mut Vec<Placed>) {
        if let Some(deeper) = self.deeper.checked_sub(1) {
            let before = std::mem::replace(&mut self.deeper, deeper);
            self.through(text, found);
            self.deeper = before;
        }
    }

    fn run(&mut self, words: &[Word], found: &mut Vec<Placed>) {
        let place = (!self.is_lost).then_some(self.directory.as_str());
        let words: Vec<Word> = words.iter().flat_map(|word| self.known.read(word, place)).collect();
        let Bare { words, settings, leads_elsewhere } = bare(&words);
        // Before a command they are that command's alone.
        if words.is_empty() {
            settings.iter().for_each(|(name, value)| self.known.set(name, *value, &self.directory));
        }
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let is_plain = |at: usize| words.get(at).is_some_and(|word| !word.is_opaque);
        self.known.forget_what(&texts);
        match texts.as_slice() {
            [] => {}
            ["cd" | "pushd" | "popd", ..] => self.go(words),
            ["eval", ..] if !words.iter().any(|word| word.is_opaque) => {
                self.read_again(&texts[1..].join(" "), found);
            }
            ["trap", _, ..] if is_plain(1) => self.within(texts[1], found),
            [program, ..] if SHELLS.contains(&name_of(program)) => match script(words) {
                Some(text) => self.within(text, found),
                None => self.note(words, leads_elsewhere, found),
            },
            [program, ..] if name_of(program) == "env" && string_of(&texts).is_some() => {
                self.within(&string_of(&texts).unwrap_or_default(), found);
            }
            _ => self.note(words, leads_elsewhere, found),
        }
    }

    fn note(&self, words: &[Word], leads_elsewhere: bool, found: &mut Vec<Placed>) {
        let is_lost = self.is_lost || leads_elsewhere;
        found.push(Placed { directory: self.directory.clone(), is_lost, words: words.to_vec() });
    }

    /// Where the next command runs. Nobody can tell what was there before (`cd -`, `popd`).
    fn go(&mut self, words: &[Word]) {
        let is_flag = |word: &&Word| word.text.starts_with('-') && word.text.len() > 1;
        let named = words[1..].iter().find(|word| !is_flag(word));
        let to = match (words[0].text.as_str(), named) {
            ("popd", _) => None,
            ("cd", None) => self.known.home(),
            (_, named) => {
                named.filter(|word| !word.is_opaque && word.text != "-").map(|word| word.text.clone())
            }
        };
        match to {
            None => self.is_lost = true,
            Some(to) => {
                self.is_lost &= !to.starts_with('/');
                self.directory = joined(&self.directory, &to);
            }
        }
    }
}

/// What a shell is given to run: the first word behind its flags, one of which says so.
fn script(words: &[Word]) -> Option<&str> {
    let is_flag = |word: &&Word| word.text.starts_with('-');
    let flags: Vec<&Word> = words[1..].iter().take_while(is_flag).collect();
    let is_said = flags.iter().any(|flag| !flag.text.starts_with("--") && flag.text.contains('c'));
    let text = words.get(1 + flags.len()).filter(|word| is_said && !word.is_opaque);
    text.map(|word| word.text.as_str())
}

/// What `env -S` is given to part into words: among its own flags, which end with the command.
fn string_of(words: &[&str]) -> Option<String> {
    let is_own = |word: &&&str| word.starts_with('-') || word.contains('=');
    let own = words[1..].iter().take_while(is_own).count();
    let at =
        1 + words[1..=own].iter().position(|word| word.starts_with("-S") || word.starts_with("--split"))?;
    let text = words[at].strip_prefix("-S").or_else(|| words[at].split_once('=').map(|(_, text)| text));
    let rest = words[at + 1..].iter().copied();
    Some(text.filter(|text| !text.is_empty()).into_iter().chain(rest).collect::<Vec<_>>().join(" "))
}

/// A command without what stands before it.
struct Bare<'w> {
    words: &'w [Word],
    /// Variables that were set there, and to what, if that can be told.
    settings: Vec<(&'w str, Option<&'w str>)>,
    /// Whether what stood there leads git to another repository.
    leads_elsewhere: bool,
}

fn bare(words: &[Word]) -> Bare<'_> {
    let (mut rest, mut leads_elsewhere) = (words, false);
    let mut settings = Vec::new();
    while let Some((first, after)) = rest.split_first() {
        let setting = first.text.split_once('=').filter(|(name, _)| is_variable(name));
        match (setting, first.text.as_str()) {
            (Some((name, value)), _) => {
                leads_elsewhere |= name.starts_with(LEADS_GIT);
                settings.push((name, (!first.is_opaque).then_some(value)));
                rest = after;
            }
            (None, word) if BEFORE.contains(&word) => rest = after,
            (None, word) if AROUND.contains(&name_of(word)) && !holds_text(rest) => {
                rest = without_values(after, name_of(word) == LOCKS);
            }
            _ => break,
        }
    }
    Bare { words: rest, settings, leads_elsewhere }
}

fn holds_text(words: &[Word]) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    name_of(texts[0]) == "env" && string_of(&texts).is_some()
}

/// The command behind flags, numbers and spans of time. Whether a flag takes the word behind it is told by what follows: a
/// program that is looked for here.
fn without_values(words: &[Word], takes_file: bool) -> &[Word] {
    let is_number = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let (mut rest, mut was_flag, mut lacks_file) = (words, false, takes_file);
    while let Some((first, after)) = rest.split_first().filter(|(first, _)| !is_looked_for(first)) {
        let is_flag = first.text.starts_with('-');
        let is_value = was_flag && after.iter().any(is_looked_for);
        if !is_flag && !is_value && !is_number(&first.text) && !std::mem::take(&mut lacks_file) {
            break;
        }
        (rest, was_flag) = (after, is_flag);
    }
    rest
}

/// What is looked for behind flags of which nobody here knows what they take.
const LOOKED_FOR: [&str; 5] = ["git", "rm", "mv", "xargs", "find"];

fn is_looked_for(word: &Word) -> bool {
    let name = name_of(&word.text);
    LOOKED_FOR.contains(&name) || SHELLS.contains(&name)
}

pub(super) fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Commands as `DIRECTORY$ WORDS`, opaque words with a mark.
    fn read(line: &str) -> Vec<String> {
        let word = |word: &Word| format!("{}{}", word.text, if word.is_opaque { "…" } else { "" });
        let command = |placed: Placed| {
            let words: Vec<String> = placed.words.iter().map(word).collect();
            let place = if placed.is_lost { "?".to_owned() } else { placed.directory };
            format!("{place}$ {}", words.join("|"))
        };
        placed(line, None).into_iter().map(command).collect()
    }

    #[test]
    fn commands_are_read_with_where_they_run() {
        for (line, expect) in [
            ("git stash", vec!["$ git|stash"]),
            (
                "git stash && cargo test 2>&1 | tail -5; git stash pop",
                vec!["$ git|stash", "$ cargo|test", "$ tail|-5", "$ git|stash|pop"],
            ),
            (
                "cd sub && git reset --hard > /dev/null 2>&1 || true",
                vec!["sub$ git|reset|--hard", "sub$ true"],
            ),
            ("cd a; cd b\ngit add .", vec!["a/b$ git|add|."]),
            ("git commit -m \"it's; done\" # git stash", vec!["$ git|commit|-m|it's; done"]),
            ("FOO=1 sudo -n git pull &", vec!["$ git|pull"]),
            ("if x; then git switch main; fi", vec!["$ x", "$ git|switch|main", "$ fi"]),
            ("bash -lc 'cd sub && git stash'", vec!["sub$ git|stash"]),
            ("timeout 60 git pull", vec!["$ git|pull"]),
            ("rm \"$file\" ~/x a{b,c} 'd{e'", vec!["$ rm|$file…|~/x…|ab|ac|d{e"]),
            (
                "git commit -m \"$(cat <<'X'\nit's (done); git stash\nX\n)\"",
                vec!["$ cat", "$ git|commit|-m|$(cat <<'X'\nit's (done); git stash\nX\n)…"],
            ),
            ("git stash pop stash@{1}", vec!["$ git|stash|pop|stash@{1}"]),
            ("git add a; (cd b && git stash); git rm c", vec!["$ git|add|a", "b$ git|stash", "$ git|rm|c"]),
            ("{ git stash; }", vec!["$ git|stash", "$ }"]),
            ("git add a\\ b", vec!["$ git|add|a b"]),
            (
                "cd \"$PWD\" && cd ./src; cd -P $(pwd)/x; git stash",
                vec!["././src$ pwd", "././src/./x$ git|stash"],
            ),
            (
                "cd sub; cd \"$(git rev-parse --show-toplevel)\" && rm x",
                vec!["sub$ git|rev-parse|--show-toplevel", "sub/:/$ rm|x"],
            ),
            ("R=`pwd`; D=/w/app; rm -rf $R/a ${D}", vec!["$ pwd", "$ rm|-rf|./a|/w/app"]),
            ("R=$(pwd); cd sub; rm $R", vec!["$ pwd", "sub$ rm|$R…"]),
            ("D=a; if x; then D=b; fi; rm $D", vec!["$ x", "$ fi", "$ rm|$D…"]),
            ("timeout -k 1 5 sudo -u bob git pull", vec!["$ git|pull"]),
            ("env -u FOO setsid stdbuf -o0 git pull", vec!["$ git|pull"]),
            ("flock x git pull; flock -n /tmp/l rm x", vec!["$ git|pull", "$ rm|x"]),
            ("sudo -E apt remove x", vec!["$ apt|remove|x"]),
            ("env -S 'git stash' -u; env -i A=b git pull", vec!["$ git|stash|-u", "$ git|pull"]),
            ("bash -l -c -- 'git stash' x", vec!["$ git|stash"]),
            ("trap 'rm -rf src' EXIT", vec!["$ rm|-rf|src"]),
            ("env X=1 git restore -SW .", vec!["$ git|restore|-SW|."]),
            ("env git commit -S -m x", vec!["$ git|commit|-S|-m|x"]),
            ("sudo -u bob dash -c 'git stash'", vec!["$ git|stash"]),
            ("eval 'cd sub; D=x'; rm y", vec!["sub$ rm|y"]),
            ("for d in a b; do (cd x && rm y); done", vec!["$ for|d|in|a|b", "x$ rm|y", "$ done"]),
            ("D=build; for D in src; do rm $D; done", vec!["$ for|D|in|src", "$ rm|$D…", "$ done"]),
            ("D=a; export D=b; rm $D", vec!["$ export|D=b", "$ rm|$D…"]),
            ("D=a; D+=b; rm $D", vec!["$ D+=b", "$ rm|$D…"]),
            ("D=a; . ./env; rm $D", vec!["$ .|./env", "$ rm|$D…"]),
            ("test -n \"$D\" || D=build; rm $D", vec!["$ test|-n|$D…", "$ rm|$D…"]),
            ("f() { rm x; }; a=(1 2); git stash", vec!["$ f", "$ rm|x", "$ }", "$ git|stash"]),
            (
                "out=$(git stash 2>&1); echo `git pull`",
                vec!["$ git|stash", "$ git|pull", "$ echo|`git pull`…"],
            ),
            ("diff <(git stash) x", vec!["$ git|stash", "$ diff|<(git stash)…|x"]),
            ("x=$(cd a && git stash); git pull", vec!["a$ git|stash", "$ git|pull"]),
        ] {
            assert_eq!(read(line), expect, "{line}");
        }
    }

    #[test]
    fn what_a_home_and_braces_stand_for_is_known() {
        let read = |line: &str| {
            let commands = placed(line, Some("/home/bob")).into_iter();
            let word = |word: &Word| format!("{}{}", word.text, if word.is_opaque { "…" } else { "" });
            let command = |placed: Placed| {
                let words: Vec<String> = placed.words.iter().map(word).collect();
                format!("{}$ {}", if placed.is_lost { "?" } else { &placed.directory }, words.join("|"))
            };
            commands.map(command).collect::<Vec<_>>().join(" ; ")
        };
        for (line, expect) in [
            (
                "rm ~/app $HOME/../x \"${HOME}/y z\" ~",
                "$ rm|/home/bob/app|/home/bob/../x|${HOME}/y z…|/home/bob",
            ),
            ("rm ~ada/app '~/x' \"~/x\" a~b", "$ rm|~ada/app…|~/x|~/x|a~b"),
            ("cd ~/app && rm x; cd; rm y", "/home/bob/app$ rm|x ; /home/bob$ rm|y"),
            ("D=~/app; rm -rf $D/src", "$ rm|-rf|/home/bob/app/src"),
            ("HOME=/x; rm ~/y", "$ rm|~/y…"),
            ("git --git-dir=$HOME/app/.git status", "$ git|--git-dir=/home/bob/app/.git|status"),
            ("rm ~/*.rs $HOME/a?", "$ rm|/home/bob/*.rs|/home/bob/a?"),
            (
                "rm src/{a,b{1,2}}.rs ~/{x,y} '{a,b}' a{0} {}",
                "$ rm|src/a.rs|src/b1.rs|src/b2.rs|/home/bob/x|/home/bob/y|{a,b}|a{0}|{}",
            ),
            (
                "rm {1..3} $X/{a,b} ${X}{a,b} $(ls {a,b})",
                "$ ls|a|b ; $ rm|{1..3}…|$X/a…|$X/b…|${X}a…|${X}b…|$(ls {a,b})…",
            ),
        ] {
            assert_eq!(read(line), expect, "{line}");
        }
    }

    #[test]
    fn where_only_a_shell_can_follow_reading_ends() {
        for (line, expect) in [("cat > f <<EOF\ngit stash\nEOF", vec!["$ cat"]), ("git stash 'x", vec![])] {
            assert_eq!(read(line), expect, "{line}");
        }
    }

    #[test]
    fn where_nobody_can_tell_where_a_command_runs_that_is_said() {
        for (line, expect) in [
            ("git status; cd \"$HOME\"; git stash", vec!["$ git|status", "?$ git|stash"]),
            ("cd ~/x && cd y; git stash; cd /w && git pull", vec!["?$ git|stash", "/w$ git|pull"]),
            ("cd -; git stash", vec!["?$ git|stash"]),
            ("(cd; git stash); git pull", vec!["?$ git|stash", "$ git|pull"]),
            ("popd; rm \"$PWD\"", vec!["?$ rm|$PWD…"]),
            ("GIT_DIR=x git stash; git pull", vec!["?$ git|stash", "$ git|pull"]),
        ] {
            assert_eq!(read(line), expect, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_read_to_its_end(line in "(git |stash|cd |[-a-z$({})`\\\\;&|<>'\" \n~#]{0,4}){0,12}") {
            for command in placed(&line, Some("/h")) {
                prop_assert!(!command.words.is_empty());
            }
        }
    }
}
