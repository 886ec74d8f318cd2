//! What is *not* a secret although it stands where one could: placeholders and hyphenated words.

use super::Rule;

/// The longest word of an ordinary hyphenated name, in bytes.
const WORD_BYTES_MAX: usize = 14;
/// The longest number in an ordinary hyphenated name, such as a year, in bytes.
const NUMBER_BYTES_MAX: usize = 4;
/// The longest name inside a placeholder such as `${NAME}`, in bytes.
const PLACEHOLDER_BYTES_MAX: usize = 64;

/// Values that are written where a secret goes but are types or constants.
const CONSTANTS: [&str; 14] = [
    "String",
    "&str",
    "str",
    "string",
    "bool",
    "number",
    "None",
    "none",
    "null",
    "nil",
    "true",
    "false",
    "undefined",
    "${{",
];

/// Whether a value stands for a secret instead of being one: our own marks, `$NAME`, `${NAME}`, `<name>`, `{name}`,
/// `****`, a type name.
pub(super) fn is_placeholder(value: &str) -> bool {
    is_own_mark(value)
        || CONSTANTS.contains(&value)
        || value.bytes().all(|b| b == b'*')
        || value.strip_prefix('$').is_some_and(is_variable_name)
        || value.strip_prefix("$(").is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_lowercase()))
        || between(value, "${", "}").is_some_and(is_short_name)
        || between(value, "<", ">").is_some_and(is_short_name)
        || between(value, "{", "}").is_some_and(is_short_name)
}

/// Whether a text reads like `fix-login-page` or `npm_lifecycle_event`: at least two parts, each a lower-case word,
/// a short number, or a word with a number behind it. Random secrets mix cases and digits, or have long parts.
pub(super) fn is_words(text: &str) -> bool {
    let mut parts = 0;
    for part in text.split(['-', '_', '.']).filter(|part| !part.is_empty()) {
        parts += 1;
        if !is_word(part) {
            return false;
        }
    }
    parts >= 2
}

/// Whether a text is one lower-case word, possibly capitalised, hyphenated or at the end of a sentence.
pub(super) fn is_plain_word(text: &str) -> bool {
    let word = text.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    let tail = word.strip_prefix(|c: char| c.is_ascii_alphabetic());
    let reads_as_word = |tail: &str| tail.bytes().all(|b| b.is_ascii_lowercase() || b == b'-');
    tail.is_some_and(|tail| tail.len() < WORD_BYTES_MAX && reads_as_word(tail))
}

/// Whether what follows "the password is" reads on as a sentence: words of one case, also joined as in `user's` or
/// `hashed/salted`.
pub(super) fn is_prose(text: &str) -> bool {
    let text = text.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    let is_shouted =
        |part: &str| part.len() <= WORD_BYTES_MAX && part.bytes().all(|b| b.is_ascii_uppercase());
    let reads_on = |part: &str| is_plain_word(part) || is_shouted(part);
    is_words(text) || text.split(['\'', '/', '_']).all(reads_on)
}

/// Our own mark, with whatever closing punctuation a bare value drags along.
fn is_own_mark(value: &str) -> bool {
    let inside = value.strip_prefix("[redacted:").and_then(|rest| rest.split_once(']'));
    inside.is_some_and(|(name, after)| {
        Rule::ALL.iter().any(|rule| rule.name() == name) && after.bytes().all(|b| b.is_ascii_punctuation())
    })
}

fn is_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let number_bytes = part.len() - letters.len();
    letters.len() <= WORD_BYTES_MAX
        && number_bytes <= NUMBER_BYTES_MAX
        && letters.bytes().all(|b| b.is_ascii_lowercase())
}

fn between<'t>(value: &'t str, open: &str, close: &str) -> Option<&'t str> {
    value.strip_prefix(open)?.strip_suffix(close)
}

fn is_variable_name(name: &str) -> bool {
    let starts_well = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    starts_well && name.len() <= PLACEHOLDER_BYTES_MAX && name.bytes().all(is_upper_name_byte)
}

fn is_upper_name_byte(b: u8) -> bool {
    b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_'
}

fn is_short_name(name: &str) -> bool {
    let belongs = |b: u8| b.is_ascii_alphabetic() || matches!(b, b'_' | b'-' | b'.' | b' ');
    name.len() <= PLACEHOLDER_BYTES_MAX && (name.bytes().all(belongs) || is_variable_name(name))
}
