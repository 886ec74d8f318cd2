//! The wildcards of git's ignore files, on bytes as git has it: `*` and `?` and classes stop at a slash, `**` between
//! slashes does not.
//!
//! A pattern is read into steps, and a text is followed through all of them at once, so that no pattern takes longer
//! than its length times that of the text.

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    steps: Vec<Step>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// This byte.
    Byte(u8),
    /// Any one byte but a slash.
    One,
    /// One byte of a class, never a slash.
    Class {
        is_negated: bool,
        members: Vec<(u8, u8)>,
    },
    /// Anything without a slash, or nothing.
    Run,
    /// Anything at all, or nothing.
    All,
    /// Any number of directories, each with its slash. Two steps: before the name of one, and within it.
    Directories,
    WithinDirectory,
}

/// Bytes that mean something else than themselves.
const SPECIAL: [u8; 4] = *b"*?[\\";

/// How much at the beginning of a pattern stands for itself.
pub(crate) fn literal_length(pattern: &[u8]) -> usize {
    pattern.iter().position(|byte| SPECIAL.contains(byte)).unwrap_or(pattern.len())
}

impl Glob {
    /// Reads a pattern; `None` if it can match nothing, such as an open class.
    pub(crate) fn parse(pattern: &[u8]) -> Option<Self> {
        let (mut steps, mut rest) = (Vec::new(), pattern);
        while let Some((first, after)) = rest.split_first() {
            rest = match first {
                b'?' => {
                    steps.push(Step::One);
                    after
                }
                b'\\' => {
                    let (escaped, after) = after.split_first()?;
                    steps.push(Step::Byte(*escaped));
                    after
                }
                b'[' => {
                    let (class, after) = class(after)?;
                    steps.push(class);
                    after
                }
                b'*' => {
                    let begins =
                        rest.len() == pattern.len() || pattern[pattern.len() - rest.len() - 1] == b'/';
                    stars(&mut steps, rest, begins)
                }
                byte => {
                    steps.push(Step::Byte(*byte));
                    after
                }
            };
        }
        Some(Self { steps })
    }

    /// Whether the whole text matches.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let end = self.steps.len();
        let mut at = vec![false; end + 1];
        self.reach(&mut at, 0);
        for byte in text {
            let mut next = vec![false; end + 1];
            for (place, step) in self.steps.iter().enumerate().filter(|(place, _)| at[*place]) {
                if let Some(to) = step.takes(place, *byte) {
                    self.reach(&mut next, to);
                }
            }
            at = next;
        }
        at[end]
    }

    /// Marks a place and those that are reached from it without a byte.
    fn reach(&self, at: &mut [bool], place: usize) {
        if std::mem::replace(&mut at[place], true) {
            return;
        }
        match self.steps.get(place) {
            Some(Step::Run | Step::All) => self.reach(at, place + 1),
            Some(Step::Directories) => self.reach(at, place + 2),
            _ => {}
        }
    }
}

impl Step {
    /// Where a byte leads to from a step, if anywhere.
    fn takes(&self, place: usize, byte: u8) -> Option<usize> {
        match self {
            Self::Byte(wanted) => (byte == *wanted).then_some(place + 1),
            Self::One => (byte != b'/').then_some(place + 1),
            Self::Class { is_negated, members } => {
                let is_member = members.iter().any(|(first, last)| (*first..=*last).contains(&byte));
                (byte != b'/' && is_member != *is_negated).then_some(place + 1)
            }
            Self::Run => (byte != b'/').then_some(place),
            Self::All => Some(place),
            Self::Directories => (byte != b'/').then_some(place + 1),
            Self::WithinDirectory if byte == b'/' => Some(place - 1),
            Self::WithinDirectory => Some(place),
        }
    }
}

/// Reads stars. Two or more mean more than one only between slashes or ends.
fn stars<'p>(steps: &mut Vec<Step>, rest: &'p [u8], begins: bool) -> &'p [u8] {
    let count = rest.iter().take_while(|byte| **byte == b'*').count();
    let after = &rest[count..];
    match after {
        [b'/', after @ ..] if count > 1 && begins => {
            steps.extend([Step::Directories, Step::WithinDirectory]);
            return after;
        }
        [] | [b'\\', b'/', ..] if count > 1 && begins => steps.push(Step::All),
        _ => steps.push(Step::Run),
    }
    after
}

/// Reads a class behind its bracket, and what follows it; `None` if it does not end.
fn class(text: &[u8]) -> Option<(Step, &[u8])> {
    let (is_negated, mut rest) = match text {
        [b'!' | b'^', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let (mut members, mut is_first) = (Vec::new(), true);
    loop {
        let (first, after) = match rest {
            [b']', rest @ ..] if !is_first => return Some((Step::Class { is_negated, members }, rest)),
            [b'[', b':', named @ ..] => match named_class(named, &mut members)? {
                Some(after) => {
                    (rest, is_first) = (after, false);
                    continue;
                }
                None => (b'[', &rest[1..]),
            },
            [b'\\', escaped, rest @ ..] => (*escaped, rest),
            [first, rest @ ..] => (*first, rest),
            [] => return None,
        };
        is_first = false;
        let (last, after) = match after {
            [b'-', b'\\', last, after @ ..] => (*last, after),
            [b'-', last, after @ ..] if *last != b']' => (*last, after),
            after => (first, after),
        };
        // Git compares the first letter before it sees that a range begins there, also one that runs backwards.
        members.extend([(first, first), (first, last)]);
        rest = after;
    }
}

/// Reads a class such as `alpha:]`. `None` outside if there is no such class, inside if it is none after all.
fn named_class<'p>(text: &'p [u8], members: &mut Vec<(u8, u8)>) -> Option<Option<&'p [u8]>> {
    let end = text.iter().position(|byte| *byte == b']')?;
    let Some(name) = text[..end].strip_suffix(b":") else { return Some(None) };
    let found = NAMED.iter().find(|(known, _)| *known == name)?;
    members.extend(found.1);
    Some(Some(&text[end + 1..]))
}

type Members = &'static [(u8, u8)];

const NAMED: [(&[u8], Members); 12] = [
    (b"alnum", &[(b'0', b'9'), (b'A', b'Z'), (b'a', b'z')]),
    (b"alpha", &[(b'A', b'Z'), (b'a', b'z')]),
    (b"blank", &[(b' ', b' '), (b'\t', b'\t')]),
    (b"cntrl", &[(0, 31), (127, 127)]),
    (b"digit", &[(b'0', b'9')]),
    (b"graph", &[(33, 126)]),
    (b"lower", &[(b'a', b'z')]),
    (b"print", &[(32, 126)]),
    (b"punct", &[(33, 47), (58, 64), (91, 96), (123, 126)]),
    (b"space", &[(b' ', b' '), (9, 13)]),
    (b"upper", &[(b'A', b'Z')]),
    (b"xdigit", &[(b'0', b'9'), (b'A', b'F'), (b'a', b'f')]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_mean_what_git_says() {
        let check = |pattern: &str, text: &str, expect: bool| {
            let glob = Glob::parse(pattern.as_bytes());
            let found = glob.is_some_and(|glob| glob.matches(text.as_bytes()));
            assert_eq!(found, expect, "{pattern} {text}");
        };
        check("*.o", "a.o", true);
        check("*.o", "a/b.o", false);
        check("a/**/b", "a/b", true);
        check("a/**/b", "a/x/y/b", true);
        check("a/**/b", "a/xb", false);
        check("**/b", "b", true);
        check("a/**", "a/x/y", true);
        check("a**b", "a/b", false);
        check("a?c", "a/c", false);
        check("[a-c]x", "bx", true);
        check("[a--]", "a", true);
        check("[c-a]", "b", false);
        check("[!a-c]x", "bx", false);
        check("[^a]x", "/x", false);
        check("[]x]y", "]y", true);
        check("[[:digit:]]", "7", true);
        check("[[:nothing:]]", "7", false);
        check("[a", "a", false);
        check("\\*", "*", true);
        check("\\*", "a", false);
        check("a\\", "a\\", false);
    }

    #[test]
    fn no_pattern_takes_for_ever() {
        let glob = Glob::parse("*a".repeat(60).as_bytes()).unwrap();
        assert!(!glob.matches("a".repeat(59).as_bytes()) && glob.matches("a".repeat(60).as_bytes()));
    }
}
