//! The commands of a line as far as they can be read without being a shell: which words each has, and where it runs.
//!
//! Nothing is expanded. A word that a shell would make another of is told apart, and where the line goes on in a way that
//! only a shell can follow (a text that begins with `<<`, a directory that nobody can tell) reading ends: what was read before
//! stands.

use std::iter::Peekable;
use std::str::Chars;

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
    /// The directory, from where the line is run; empty if that is it.
    pub directory: String,
    /// Its words, the program first.
    pub words: Vec<Word>,
}

/// How deep a command may stand in commands of other shells.
const NESTED_MAX: usize = 2;
/// Words before a command that change nothing of what it does.
const BEFORE: [&str; 14] = [
    "then", "do", "else", "if", "elif", "while", "until", "{", "!", "time", "exec", "command", "nohup",
    "builtin",
];
/// Programs that run the command behind them, and flags of theirs.
const AROUND: [&str; 3] = ["sudo", "env", "nice"];
/// A subshell begins and ends.
const OPENS: &str = "(";
const CLOSES: &str = ")";
const SHELLS: [&str; 4] = ["sh", "bash", "zsh", "dash"];
/// Variables by which git is led elsewhere.
const LEADS_GIT: &str = "GIT_";

/// The commands of a line that can be read, in their order, each with where it runs.
pub fn placed(line: &str) -> Vec<Placed> {
    let mut found = Vec::new();
    place(line, String::new(), NESTED_MAX, &mut found);
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

fn place(line: &str, mut directory: String, deeper: usize, found: &mut Vec<Placed>) {
    let mut outer = Vec::new();
    for words in Reader::new(line).commands() {
        let Some(words) = bare(&words) else { continue };
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        match texts.as_slice() {
            [OPENS] => outer.push(directory.clone()),
            // What only looks like the end of a subshell, as in `case`, ends a command.
            [CLOSES] => directory = outer.pop().unwrap_or(directory),
            ["cd" | "pushd", "-"] | ["cd" | "pushd"] | ["popd", ..] => return,
            ["cd" | "pushd", _] if words[1].is_opaque => return,
            ["cd" | "pushd", to] => directory = joined(&directory, to),
            ["eval", ..] if deeper > 0 && !words.iter().any(|word| word.is_opaque) => {
                place(&texts[1..].join(" "), directory.clone(), deeper - 1, found);
            }
            [shell, flag, text, ..] if is_shell(shell, flag) && !words[2].is_opaque && deeper > 0 => {
                place(text, directory.clone(), deeper - 1, found);
            }
            [] => {}
            _ => found.push(Placed { directory: directory.clone(), words: words.to_vec() }),
        }
    }
}

fn is_shell(program: &str, flag: &str) -> bool {
    let name = program.rsplit('/').next().unwrap_or(program);
    SHELLS.contains(&name) && flag.starts_with('-') && !flag.starts_with("--") && flag.ends_with('c')
}

/// The command without what stands before it; `None` if that leads it to another repository.
fn bare(words: &[Word]) -> Option<&[Word]> {
    let mut rest = words;
    while let Some((first, after)) = rest.split_first() {
        let setting = first.text.split_once('=').map(|(name, _)| name).filter(|name| is_variable(name));
        match first.text.as_str() {
            _ if setting.is_some_and(|name| name.starts_with(LEADS_GIT)) => return None,
            _ if setting.is_some() => rest = after,
            word if BEFORE.contains(&word) => rest = after,
            word if AROUND.contains(&word) => rest = without_numbers(without_flags(after)),
            "timeout" => rest = without_flags(after).get(1..).unwrap_or_default(),
            _ => break,
        }
    }
    Some(rest)
}

fn without_flags(words: &[Word]) -> &[Word] {
    let flags = words.iter().take_while(|word| word.text.starts_with('-')).count();
    &words[flags..]
}

/// What `nice -n 5` has behind its flags.
fn without_numbers(words: &[Word]) -> &[Word] {
    let is_number = |word: &&Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
    &words[words.iter().take_while(is_number).count()..]
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Reads a line letter by letter.
struct Reader<'l> {
    letters: Peekable<Chars<'l>>,
    commands: Vec<Vec<Word>>,
    words: Vec<Word>,
    word: Option<Word>,
    /// Whether it has a brace that is not quoted.
    is_braced: bool,
    /// Whether the next word says where something is read from or written to.
    is_redirected: bool,
    /// Whether a text of its own begins behind this line.
    has_text: bool,
}

/// Whether reading goes on.
type GoesOn = bool;

impl<'l> Reader<'l> {
    fn new(line: &'l str) -> Self {
        Self {
            letters: line.chars().peekable(),
            commands: Vec::new(),
            words: Vec::new(),
            word: None,
            is_braced: false,
            is_redirected: false,
            has_text: false,
        }
    }

    fn commands(mut self) -> Vec<Vec<Word>> {
        while let Some(letter) = self.letters.next() {
            if !self.take(letter) {
                return self.commands;
            }
        }
        self.end_command();
        self.commands
    }

    fn take(&mut self, letter: char) -> GoesOn {
        match letter {
            ' ' | '\t' | '\r' => self.end_word(),
            '\n' => {
                self.end_command();
                return !self.has_text;
            }
            ';' | '|' => self.end_command(),
            '&' if self.letters.peek() == Some(&'>') => self.end_word(),
            '&' => self.end_command(),
            '>' | '<' => return self.redirect(letter),
            '(' if self.word.is_none() && self.words.is_empty() => self.parenthesis(OPENS),
            '(' => return false,
            ')' => self.parenthesis(CLOSES),
            '#' if self.word.is_none() => self.skip_comment(),
            '\'' => return self.quoted_plainly(),
            '"' => return self.quoted(),
            '\\' => self.escaped(),
            '$' | '`' => return self.expansion(letter),
            '~' if self.word.is_none() => self.push_opaque(letter),
            '{' => {
                self.is_braced = true;
                self.push(letter);
            }
            letter => self.push(letter),
        }
        true
    }

    fn parenthesis(&mut self, text: &str) {
        self.end_command();
        self.commands.push(vec![Word { text: text.to_owned(), is_opaque: false }]);
    }

    fn push(&mut self, letter: char) {
        self.word.get_or_insert_default().text.push(letter);
    }

    fn push_opaque(&mut self, letter: char) {
        self.push(letter);
        self.word.get_or_insert_default().is_opaque = true;
    }

    fn end_word(&mut self) {
        let is_braced = std::mem::take(&mut self.is_braced);
        let Some(mut word) = self.word.take() else { return };
        // `stash@{0}` is a word like any other; `a{b,c}` is two.
        word.is_opaque |= is_braced && (word.text.contains(',') || word.text.contains(".."));
        if !std::mem::take(&mut self.is_redirected) {
            self.words.push(word);
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        self.is_redirected = false;
        let words = std::mem::take(&mut self.words);
        if !words.is_empty() {
            self.commands.push(words);
        }
    }

    /// What stands before `>` may be the number of a file, which is no word of the command.
    fn redirect(&mut self, letter: char) -> GoesOn {
        let is_number = |word: &Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
        if self.word.as_ref().is_some_and(is_number) {
            self.word = None;
        }
        self.end_word();
        if letter == '<' && self.letters.peek() == Some(&'<') {
            self.has_text = true;
        }
        while self.letters.next_if(|next| "><&|-".contains(*next)).is_some() {}
        self.is_redirected = true;
        self.letters.peek() != Some(&'(')
    }

    fn skip_comment(&mut self) {
        while self.letters.next_if(|next| *next != '\n').is_some() {}
    }

    fn quoted_plainly(&mut self) -> GoesOn {
        self.word.get_or_insert_default();
        for letter in self.letters.by_ref() {
            match letter {
                '\'' => return true,
                letter => self.word.get_or_insert_default().text.push(letter),
            }
        }
        false
    }

    fn quoted(&mut self) -> GoesOn {
        self.word.get_or_insert_default();
        while let Some(letter) = self.letters.next() {
            match letter {
                '"' => return true,
                '\\' => match self.letters.next() {
                    Some('\n') => {}
                    Some(next) if "$`\"\\".contains(next) => self.push(next),
                    Some(next) => {
                        self.push('\\');
                        self.push(next);
                    }
                    None => return false,
                },
                '$' | '`' => {
                    if !self.expansion(letter) {
                        return false;
                    }
                }
                letter => self.push(letter),
            }
        }
        false
    }

    fn escaped(&mut self) {
        match self.letters.next() {
            Some('\n') | None => {}
            Some(letter) => self.push(letter),
        }
    }

    /// What a shell puts something else in the place of, as it is written.
    fn expansion(&mut self, letter: char) -> GoesOn {
        self.push_opaque(letter);
        let (open, close) = match (letter, self.letters.peek()) {
            ('`', _) => (None, '`'),
            ('$', Some('(')) => (Some('('), ')'),
            ('$', Some('{')) => (Some('{'), '}'),
            _ => return true,
        };
        let mut depth = usize::from(open.is_none());
        while let Some(next) = self.letters.next() {
            self.push(next);
            match next {
                _ if Some(next) == open => depth += 1,
                _ if next == close => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return true;
            }
        }
        false
    }
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
            format!("{}$ {}", placed.directory, words.join("|"))
        };
        placed(line).into_iter().map(command).collect()
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
            ("rm \"$file\" ~/x a{b,c} 'd{e'", vec!["$ rm|$file…|~/x…|a{b,c}…|d{e"]),
            (
                "git commit -m \"$(cat <<'X'\nit's (done); git stash\nX\n)\"",
                vec!["$ git|commit|-m|$(cat <<'X'\nit's (done); git stash\nX\n)…"],
            ),
            ("git stash pop stash@{1}", vec!["$ git|stash|pop|stash@{1}"]),
            ("git add a; (cd b && git stash); git rm c", vec!["$ git|add|a", "b$ git|stash", "$ git|rm|c"]),
            ("{ git stash; }", vec!["$ git|stash", "$ }"]),
            ("git add a\\ b", vec!["$ git|add|a b"]),
        ] {
            assert_eq!(read(line), expect, "{line}");
        }
    }

    #[test]
    fn where_only_a_shell_can_follow_reading_ends() {
        for (line, expect) in [
            ("cat > f <<EOF\ngit stash\nEOF", vec!["$ cat"]),
            ("git status; cd \"$HOME\"; git stash", vec!["$ git|status"]),
            ("git stash 'x", vec![]),
            ("GIT_DIR=x git stash", vec![]),
            ("diff <(git stash) x", vec![]),
            ("x=$(cd a && git stash)", vec![]),
        ] {
            assert_eq!(read(line), expect, "{line}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_read_to_its_end(line in "(git |stash|cd |[-a-z$({})`\\\\;&|<>'\" \n~#]{0,4}){0,12}") {
            for command in placed(&line) {
                prop_assert!(!command.words.is_empty());
            }
        }
    }
}
