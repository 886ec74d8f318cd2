//! A line of a shell, letter by letter: its words, what ends a command, and what a shell would run to make a word.

use super::commands::{BEFORE, Word, is_variable};
use std::iter::Peekable;
use std::str::Chars;

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The words of a command.
    Command(Vec<Word>),
    /// A subshell begins.
    Opens,
    /// A subshell ends.
    Closes,
    /// What another shell runs whose output stands in a word, as it is written. It runs before the command of that word.
    Within(String),
}

/// Reads a line letter by letter.
pub(super) struct Reader<'l> {
    letters: Peekable<Chars<'l>>,
    parts: Vec<Part>,
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
    pub(super) fn new(line: &'l str) -> Self {
        Self {
            letters: line.chars().peekable(),
            parts: Vec::new(),
            words: Vec::new(),
            word: None,
            is_braced: false,
            is_redirected: false,
            has_text: false,
        }
    }

    pub(super) fn parts(mut self) -> Vec<Part> {
        while let Some(letter) = self.letters.next() {
            if !self.take(letter) {
                return self.parts;
            }
        }
        self.end_command();
        self.parts
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
            '(' if self.word.is_none() && self.begins_command() => self.parenthesis(Part::Opens),
            '(' => return self.list(),
            ')' => self.parenthesis(Part::Closes),
            '#' if self.word.is_none() => self.skip_comment(),
            '\'' => return self.quoted_plainly(),
            '"' => return self.quoted(),
            '\\' => self.escaped(),
            '$' | '`' => return self.expansion(letter),
            '~' if self.begins_value() => self.push_opaque(letter),
            '{' => {
                self.is_braced = true;
                self.push(letter);
            }
            letter => self.push(letter),
        }
        true
    }

    /// Whether a command begins here: behind nothing, or behind words that stand before one.
    fn begins_command(&self) -> bool {
        self.words.iter().all(|word| BEFORE.contains(&word.text.as_str()))
    }

    /// Whether what a tilde may stand for begins here: a word, or what a variable is set to.
    fn begins_value(&self) -> bool {
        let names = |word: &Word| word.text.strip_suffix('=').is_some_and(is_variable);
        self.word.as_ref().is_none_or(names)
    }

    fn parenthesis(&mut self, part: Part) {
        self.end_command();
        self.parts.push(part);
    }

    /// What begins behind a word: the body of a function, which may run, or the values of a variable.
    fn list(&mut self) -> GoesOn {
        let is_setting = self.word.as_ref().is_some_and(|word| word.text.ends_with('='));
        match self.balanced() {
            Some(text) if text.is_empty() => self.end_command(),
            Some(text) if is_setting => {
                let word = self.word.get_or_insert_default();
                word.text.push_str(&text);
                word.is_opaque = true;
            }
            _ => return false,
        }
        true
    }

    /// What stands up to the end of the parenthesis that has just begun.
    fn balanced(&mut self) -> Option<String> {
        let (mut text, mut depth) = (String::new(), 1_usize);
        for letter in self.letters.by_ref() {
            match letter {
                '(' => depth += 1,
                ')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Some(text);
            }
            text.push(letter);
        }
        None
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
            self.parts.push(Part::Command(words));
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
        self.is_redirected = self.letters.next_if_eq(&'(').is_none();
        if self.is_redirected {
            return true;
        }
        let Some(text) = self.balanced() else { return false };
        self.words.push(Word { text: format!("{letter}({text})"), is_opaque: true });
        self.parts.push(Part::Within(text));
        true
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
            ('`', _) => ('`', '`'),
            ('$', Some('(')) => ('(', ')'),
            ('$', Some('{')) => ('{', '}'),
            _ => return true,
        };
        let (mut within, mut depth) = (String::new(), usize::from(letter == '`'));
        while let Some(next) = self.letters.next() {
            self.push(next);
            match next {
                _ if next == close => depth -= 1,
                _ if next == open => depth += 1,
                _ => {}
            }
            if depth == 0 {
                self.parts.extend((open != '{').then(|| Part::Within(without_first(&within, open))));
                return true;
            }
            within.push(next);
        }
        false
    }
}

/// What stands behind the letter that it begins with, if that is one that opens.
fn without_first(text: &str, open: char) -> String {
    text.strip_prefix(open).unwrap_or(text).to_owned()
}
