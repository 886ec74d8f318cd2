//! Passwords that well-known programs take by a short flag: `curl -u ada:…`, `mysql -p…`, `sshpass -p …`,
//! `docker login -p …`.
//!
//! A flag alone says nothing (`docker run -u 1000:1000`, `mkdir -p`), so it counts only after the name of a program
//! that is known to take a password by it, on the same line and in the same command. Long flags that say `password`
//! are found as assignments.

use super::shapes::is_placeholder;
use super::{Rule, Span};

/// How a program takes its password.
#[derive(Clone, Copy)]
enum Habit {
    /// `-u user:password`; what stands before the colon stays.
    UserAndPassword,
    /// `-ppassword`, joined to its flag.
    Joined(&'static str),
    /// `-p password` or `-ppassword`.
    Either(&'static str),
}

const PROGRAMS: [(&str, Habit); 9] = [
    ("curl", Habit::UserAndPassword),
    ("mysql", Habit::Joined("-p")),
    ("mysqladmin", Habit::Joined("-p")),
    ("mysqldump", Habit::Joined("-p")),
    ("mysqlimport", Habit::Joined("-p")),
    ("mariadb", Habit::Joined("-p")),
    ("mariadb-dump", Habit::Joined("-p")),
    ("sshpass", Habit::Either("-p")),
    ("redis-cli", Habit::Either("-a")),
];
/// Programs whose verb `login` takes a password by `-p`; other verbs mean a port or a path by it.
const LOGINS: [&str; 7] = ["docker", "podman", "buildah", "skopeo", "nerdctl", "oc", "az"];
const USER_FLAGS: [&str; 2] = ["--user", "--proxy-user"];
const QUOTES: [char; 3] = ['"', '\'', '`'];

pub(super) fn find(text: &str, spans: &mut Vec<Span>) {
    let mut words = Words { text, at: 0 };
    let mut habit = None;
    let mut awaits_value = false;
    let mut previous = "";
    while let Some(word) = words.next() {
        if word.starts_line {
            (habit, awaits_value, previous) = (None, false, "");
        }
        let Some(current) = habit else {
            let before = std::mem::replace(&mut previous, word.text);
            habit = habit_of(word.text).or_else(|| login_habit(before, word.text));
            continue;
        };
        let value = if std::mem::take(&mut awaits_value) { Some(0) } else { value_in(current, word.text) };
        match value {
            Some(from) if from < word.text.len() => {
                let value = words.quoted_from(&word, from);
                spans.extend(secret_of(current, text, value));
            }
            Some(_) => awaits_value = true,
            None if ends_command(word.text) => habit = None,
            None => {}
        }
    }
}

fn login_habit(program: &str, verb: &str) -> Option<Habit> {
    (verb == "login" && LOGINS.contains(&program_in(program))).then_some(Habit::Either("-p"))
}

fn program_in(word: &str) -> &str {
    word.trim_start_matches(QUOTES).trim_start_matches("$(").rsplit('/').next().unwrap_or_default()
}

fn habit_of(word: &str) -> Option<Habit> {
    let program = program_in(word);
    PROGRAMS.iter().find(|(name, _)| *name == program).map(|(_, habit)| *habit)
}

fn ends_command(word: &str) -> bool {
    matches!(word, "|" | "||" | "&&" | "&") || word.ends_with(';')
}

/// Where in a word the value of the password flag starts; its end where the value is the next word.
fn value_in(habit: Habit, word: &str) -> Option<usize> {
    let word = word.trim_end_matches(QUOTES);
    match habit {
        Habit::UserAndPassword => long_user(word).or_else(|| short_user(word)),
        Habit::Joined(flag) => word.strip_prefix(flag).filter(|rest| !rest.is_empty()).map(|_| flag.len()),
        Habit::Either(flag) => word.starts_with(flag).then_some(flag.len()),
    }
}

fn long_user(word: &str) -> Option<usize> {
    let flag = USER_FLAGS.iter().find(|flag| word.starts_with(**flag))?;
    match word.as_bytes().get(flag.len()) {
        None => Some(flag.len()),
        Some(b'=') => Some(flag.len() + 1),
        Some(_) => None,
    }
}

/// `-u`, `-uada:…`, or `u` as the last of several letters as in `-sSu`.
fn short_user(word: &str) -> Option<usize> {
    let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'))?;
    let flag_at = letters.find(['u', 'U'])?;
    let only_switches = letters.get(..flag_at)?.bytes().all(|b| b.is_ascii_alphabetic());
    only_switches.then_some("-".len() + flag_at + 1)
}

/// The secret in a value; of a user and a password what follows the colon.
fn secret_of(habit: Habit, text: &str, (start, end): (usize, usize)) -> Option<Span> {
    let value = text.get(start..end)?;
    let start = match habit {
        Habit::UserAndPassword => start + value.find(':')? + 1,
        Habit::Joined(_) | Habit::Either(_) => start,
    };
    let secret = text.get(start..end)?;
    (!secret.is_empty() && !is_placeholder(secret)).then_some(Span { start, end, rule: Rule::Password })
}

struct Word<'t> {
    text: &'t str,
    start: usize,
    starts_line: bool,
}

/// Words between blanks. Quotes matter only to the values asked for, so that prose with an apostrophe is no trap.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Words<'t> {
    fn next(&mut self) -> Option<Word<'t>> {
        let rest = self.text.get(self.at..)?;
        let blanks = rest.len() - rest.trim_ascii_start().len();
        let starts_line = self.at == 0 || rest.get(..blanks)?.contains('\n');
        let start = self.at + blanks;
        let word = self.text.get(start..)?.split(|c: char| c.is_ascii_whitespace()).next()?;
        self.at = start + word.len();
        (!word.is_empty()).then_some(Word { text: word, start, starts_line })
    }

    /// The value that starts at a byte of a word, without its quotes; a quoted one runs to its quote or line end.
    fn quoted_from(&mut self, word: &Word<'t>, from: usize) -> (usize, usize) {
        let start = word.start + from;
        let rest = self.text.get(start..).unwrap_or_default();
        let Some(quote) = rest.chars().next().filter(|c| QUOTES.contains(c)) else {
            let bare = word.text.get(from..).unwrap_or_default().trim_end_matches([';', ',', ')']);
            return (start, start + bare.trim_end_matches(QUOTES).len());
        };
        let inner = rest.get(quote.len_utf8()..).unwrap_or_default();
        let bytes = inner.find([quote, '\n']).unwrap_or(inner.len());
        let start = start + quote.len_utf8();
        self.at = self.at.max(start + bytes);
        (start, start + bytes)
    }
}
