//! Words for a shell, and words of one: what a hint shows has to work when it is pasted, and what was written for a shell
//! is read without being one.

mod commands;
mod known;
mod reader;

use crate::text::printable;
pub(crate) use commands::name_of;
pub use commands::{Placed, Word, joined, placed};
pub use known::TOP;
pub(crate) use known::without_unread;

/// The text as one word of a POSIX shell, quoted only where it must be, and never taken for a flag.
pub fn word(text: &str) -> String {
    let before = if text.starts_with('-') { "./" } else { "" };
    format!("{before}{}", as_it_is(text))
}

/// The same for a word that may be a flag.
pub fn as_it_is(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { quoted(text) }
}

/// The same for what no terminal shows: letter by letter, whatever they are.
pub fn literally(text: &str) -> String {
    if is_plain(text) { text.to_owned() } else { in_quotes(text) }
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c))
}

fn in_quotes(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn quoted(text: &str) -> String {
    if printable(text) == text {
        return in_quotes(text);
    }
    // What a terminal does not show as it is, the shell makes of digits. It takes away lines that end the whole.
    format!("\"$(printf '{}')\"", text.chars().map(for_printf).collect::<String>())
}

/// A letter in the pattern of `printf`, between single quotes.
fn for_printf(letter: char) -> String {
    let mut bytes = [0; 4];
    let text = letter.encode_utf8(&mut bytes);
    match letter {
        '%' => "%%".to_owned(),
        '\\' | '\'' => octal(text),
        _ if printable(text) == *text => text.to_owned(),
        _ => octal(text),
    }
}

fn octal(text: &str) -> String {
    text.bytes().map(|byte| format!("\\{byte:03o}")).collect()
}

/// A text as a POSIX shell parts it into words. Nothing is expanded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The words, without their quotes.
    pub words: Vec<String>,
    /// Whether a shell would take them for one command and do nothing more with them.
    pub is_plain: bool,
}

/// Reads a text as a shell would.
pub fn read(text: &str) -> Line {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut is_plain = true;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        is_plain &= is_inert(quote, letter);
        match (quote, letter) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (Some(open), _) if letter == open => quote = None,
            (None | Some('"'), '\\') => {
                let next = letters.next();
                is_plain &= next.is_some_and(|next| next != '\n');
                escaped(quote, next, &mut word);
            }
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    Line { words, is_plain: is_plain && quote.is_none() }
}

/// A letter after a backslash: a line goes on after one, and between quotes it is a letter itself before most others.
fn escaped(quote: Option<char>, letter: Option<char>, word: &mut Option<String>) {
    if letter == Some('\n') {
        return;
    }
    let word = word.get_or_insert_default();
    if quote.is_some() && !letter.is_some_and(|letter| "$`\"\\".contains(letter)) {
        word.push('\\');
    }
    word.extend(letter);
}

/// Whether a letter means nothing to a shell but itself, the end of a word, a quote, or that the next is itself.
fn is_inert(quote: Option<char>, letter: char) -> bool {
    match quote {
        None => letter.is_alphanumeric() || "_-./:=@,+% \t'\"\\".contains(letter),
        Some('"') => !"$`\\!".contains(letter),
        Some(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{as_it_is, read, word};

    #[test]
    fn a_backslash_is_read_as_a_shell_reads_it() {
        for (text, words) in [
            (r#"cd "a\b" c"#, ["cd", r"a\b", "c"]),
            (r#"cd "a\"b" c"#, ["cd", r#"a"b"#, "c"]),
            (r"cd a\ b c", ["cd", "a b", "c"]),
            ("cd \\\n a c", ["cd", "a", "c"]),
            ("cd a\\\nb c", ["cd", "ab", "c"]),
        ] {
            assert_eq!(read(text).words, words, "{text}");
        }
    }

    #[test]
    fn what_was_quoted_is_read_back() {
        for text in ["/usr/bin/x", "/home/a b/x", "/it's/x", "/$(x)/`y`/\"/x", "", "-n"] {
            let line = read(&format!("run {} on", as_it_is(text)));
            assert_eq!(line.words, ["run", text, "on"], "{text}");
        }
    }

    #[test]
    fn a_line_is_plain_if_a_shell_has_nothing_to_do_with_it() {
        for plain in
            ["", "a b", " a  'b *' ", "a \"b c\"", "a=b/c:d,e+f%g@h.i_j-k", "a\\ b", r"'it'\''s'", r"\$a"]
        {
            assert!(read(plain).is_plain, "{plain}");
        }
        for more in [
            "a; b",
            "a && b",
            "a $(b)",
            "a `b`",
            "a \"$b\"",
            "a > b",
            "*.rs",
            "~",
            "a\nb",
            "'a",
            "a\\\nb",
            "a\\",
            "!a",
            r#""a\ b""#,
        ] {
            assert!(!read(more).is_plain, "{more}");
        }
        assert_eq!(read("test ! -x a || a b").words, ["test", "!", "-x", "a", "||", "a", "b"]);
    }

    #[test]
    fn only_what_a_shell_would_touch_is_quoted() {
        for (text, shown) in [
            ("src/a.rs", "src/a.rs"),
            ("src/**", "'src/**'"),
            ("it's", r"'it'\''s'"),
            ("$(rm x)", "'$(rm x)'"),
            ("", "''"),
            ("-rf", "./-rf"),
        ] {
            assert_eq!(word(text), shown);
        }
    }
}
