//! What little of a line is known without a shell: the directory it is in, the root of the checkout there, and variables
//! that the line itself set.

use super::commands::Word;
use std::collections::BTreeMap;

/// The path that stands for the root of the checkout, in any directory of it.
pub const TOP: &str = ":/";

/// What a shell asks for the directory it is in, and for the root of the checkout there.
const ASKS_WHERE: [&str; 3] = ["pwd", "pwd -P", "pwd -L"];
const ASKS_TOP: &str = "git rev-parse --show-toplevel";

/// Variables that a line set, as far as it can be told to what.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    values: BTreeMap<String, Option<Value>>,
    /// Whether a command stood before: whether what is set behind it is set at all may depend on that.
    has_run: bool,
}

/// Commands of a shell by which it sets variables that they name.
const SET: [&str; 10] =
    ["for", "read", "export", "local", "declare", "typeset", "readonly", "unset", "printf", "select"];
/// Those after which any may be another one.
const SET_ANY: [&str; 4] = [".", "source", "eval", "mapfile"];

#[derive(Clone, Debug, PartialEq, Eq)]
struct Value {
    text: String,
    /// Where it was set, if it means something else elsewhere.
    place: Option<String>,
}

/// Words that braces may make of one; a text that makes more is only a shell's to read.
const BRACED_MAX: usize = 64;
/// The variable that a tilde stands for.
const HOME: &str = "HOME";

impl Known {
    /// What is known where a line begins.
    pub(super) fn of(home: Option<&str>) -> Self {
        let value = |home: &str| Some(Value { text: home.to_owned(), place: None });
        Self { values: home.map(|home| (HOME.to_owned(), value(home))).into_iter().collect(), has_run: false }
    }

    /// The home of whoever runs the line.
    pub(super) fn home(&self) -> Option<String> {
        self.values.get(HOME)?.as_ref().map(|home| home.text.clone())
    }

    /// What is set twice is one of two things.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>, directory: &str) {
        let is_of_place = |text: &str| text.starts_with('.') || text.contains(TOP);
        let value = value.filter(|_| !self.has_run).map(|text| Value {
            text: text.to_owned(),
            place: is_of_place(text).then(|| directory.to_owned()),
        });
        let known = self.values.entry(name.to_owned()).or_insert_with(|| value.clone());
        if *known != value {
            *known = None;
        }
    }

    /// Takes note of a command: what it may set is not known any more, and what is set behind it may not be.
    pub(super) fn forget_what(&mut self, words: &[&str]) {
        let Some((program, rest)) = words.split_first() else { return };
        self.has_run |= !matches!(*program, "cd" | "pushd");
        let names = |words: &[&str]| {
            let name = |word: &&str| {
                word.split(['=', '+', '[']).next().unwrap_or_default().trim_start_matches('-').to_owned()
            };
            words.iter().map(name).collect::<Vec<_>>()
        };
        let changed = match *program {
            program if SET_ANY.contains(&program) => self.values.keys().cloned().collect(),
            program if SET.contains(&program) => names(rest),
            _ if program.contains("+=") || program.contains("]=") => names(&[program]),
            _ => Vec::new(),
        };
        for name in changed {
            self.values.insert(name, None);
        }
    }

    /// The word as a shell in this directory would read it, if that can be told, which may be several; `None` is a directory
    /// that cannot.
    pub(super) fn read(&self, word: &Word, directory: Option<&str>) -> Vec<Word> {
        if !word.is_opaque {
            return vec![word.clone()];
        }
        let one = |text: String| match self.expanded(&text, directory) {
            Some(text) => Word { text, is_opaque: false },
            None => Word { text, is_opaque: true },
        };
        let several = braced(&word.text).filter(|several| several.len() > 1);
        several.unwrap_or_else(|| vec![word.text.clone()]).into_iter().map(one).collect()
    }

    fn expanded(&self, text: &str, directory: Option<&str>) -> Option<String> {
        // What a shell makes a file of is no name that is known.
        if text.starts_with(['<', '>']) {
            return None;
        }
        let text = without_tilde(text);
        let (mut read, mut rest) = (String::new(), text.as_str());
        while let Some(at) = rest.find(['$', '`']) {
            read.push_str(&rest[..at]);
            let (named, after) = reference(&rest[at..])?;
            let (value, is_place) = self.value(&named, directory)?;
            // Only at its beginning a path is one from somewhere.
            if is_place && !read.is_empty() && !read.ends_with('=') {
                return None;
            }
            read.push_str(&value);
            rest = after;
        }
        read.push_str(rest);
        let makes_several = read.contains(['{', ' ', '~']);
        (!makes_several).then_some(read)
    }

    /// What something stands for, and whether that is a place.
    fn value(&self, named: &Named<'_>, directory: Option<&str>) -> Option<(String, bool)> {
        match named {
            Named::Output(line) if ASKS_WHERE.contains(line) => directory.map(|_| (".".to_owned(), true)),
            Named::Output(line) if *line == ASKS_TOP => directory.map(|_| (TOP.to_owned(), true)),
            Named::Variable("PWD") => directory.map(|_| (".".to_owned(), true)),
            Named::Variable(name) => {
                let Value { text, place } = self.values.get(*name)?.as_ref()?;
                let is_here = place.as_deref().is_none_or(|place| directory == Some(place));
                is_here.then(|| (text.clone(), place.is_some()))
            }
            Named::Output(_) => None,
        }
    }
}

/// A text with the variable that a tilde at its beginning, or at that of what a variable is set to, stands for.
fn without_tilde(text: &str) -> String {
    let at = text.find("=~").map_or(0, |at| at + 1);
    let (before, rest) = text.split_at(at);
    let Some(after) = rest.strip_prefix('~') else { return text.to_owned() };
    match after.strip_prefix('+') {
        Some(after) if after.is_empty() || after.starts_with('/') => format!("{before}$PWD{after}"),
        _ if after.is_empty() || after.starts_with('/') => format!("{before}$HOME{after}"),
        _ => text.to_owned(),
    }
}

/// A word without what only a shell can read, as if that were nothing; `None` if there is nothing of the kind, or its end
/// cannot be told.
pub(crate) fn without_unread(text: &str) -> Option<String> {
    let (mut read, mut rest) = (String::new(), text);
    text.find(['$', '`'])?;
    while let Some(at) = rest.find(['$', '`']) {
        read.push_str(&rest[..at]);
        rest = reference(&rest[at..])?.1;
    }
    Some(read + rest)
}

/// The words that braces make of one: `a{b,c}` is two. `None` if they are too many, or it cannot be told.
fn braced(text: &str) -> Option<Vec<String>> {
    if text.contains("$(") || text.contains('`') {
        return None;
    }
    let mut left = vec![(String::new(), text.to_owned())];
    let mut words = Vec::new();
    while let Some((done, rest)) = left.pop() {
        let Some(List { before, items, after }) = list(&rest) else {
            words.push(done + &rest);
            continue;
        };
        if items.len() == 1 {
            left.push((format!("{done}{before}{{{}}}", items[0]), after));
        } else {
            let word = |item: &String| (done.clone() + &before, format!("{item}{after}"));
            left.extend(items.iter().rev().map(word));
        }
        if left.len() + words.len() > BRACED_MAX {
            return None;
        }
    }
    Some(words)
}

/// A text in braces, with what stands around it.
struct List {
    before: String,
    items: Vec<String>,
    after: String,
}

/// The first text in braces that is not the name of a variable, parted by its commas.
fn list(text: &str) -> Option<List> {
    let is_list = |at: &usize| !text[..*at].ends_with('$');
    let open = text.match_indices('{').map(|(at, _)| at).find(is_list)?;
    let (mut items, mut depth) = (vec![String::new()], 0_usize);
    for (at, letter) in text[open + 1..].char_indices() {
        match letter {
            '}' if depth == 0 => {
                let after = text[open + 1 + at + 1..].to_owned();
                return Some(List { before: text[..open].to_owned(), items, after });
            }
            ',' if depth == 0 => {
                items.push(String::new());
                continue;
            }
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        items.last_mut()?.push(letter);
    }
    None
}

/// Something that a shell puts a value in the place of.
enum Named<'t> {
    /// The output of a line.
    Output(&'t str),
    /// A variable.
    Variable(&'t str),
}

/// What a text begins with that a shell puts a value in the place of, and what follows it.
fn reference(text: &str) -> Option<(Named<'_>, &str)> {
    if let Some(rest) = text.strip_prefix('`') {
        let (line, after) = rest.split_once('`')?;
        return Some((Named::Output(line.trim()), after));
    }
    let rest = text.strip_prefix('$')?;
    if let Some(rest) = rest.strip_prefix('(') {
        let (line, after) = rest.split_once(')')?;
        return Some((Named::Output(line.trim()), after));
    }
    if let Some(rest) = rest.strip_prefix('{') {
        let (name, after) = rest.split_once('}')?;
        return Some((Named::Variable(name), after));
    }
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let end = rest.find(|letter| !is_of_name(letter)).unwrap_or(rest.len());
    (end > 0).then(|| (Named::Variable(&rest[..end]), &rest[end..]))
}
