//! Single values of git's configuration files. Includes are not followed, so what a value decides has to be safe without
//! them.

use std::path::Path;

use clearway_platform::files::read_small;

/// Configuration beyond this is not searched.
const CONFIG_BYTES_MAX: u64 = 1_024 * 1_024;

/// The last value of a key in a section without a subsection; a key alone means true. `None` if the file has none.
pub(crate) fn value_in(file: &Path, section: &str, key: &str) -> Option<String> {
    let config = read_small(file, CONFIG_BYTES_MAX).ok()?;
    value(&String::from_utf8_lossy(&config), section, key)
}

/// Whether a value means yes.
pub(crate) fn is_true(value: &str) -> bool {
    ["true", "yes", "on", "1"].iter().any(|word| value.eq_ignore_ascii_case(word))
}

pub(crate) fn value(config: &str, section: &str, key: &str) -> Option<String> {
    let (mut is_here, mut last) = (false, None);
    for mut line in config.lines().map(str::trim) {
        if let Some((name, rest)) = line.strip_prefix('[').and_then(|line| line.split_once(']')) {
            is_here = name.trim().eq_ignore_ascii_case(section);
            line = rest;
        }
        let (name, value) = line.split_once('=').unwrap_or((line.split(['#', ';']).next()?, "true"));
        if is_here && name.trim().eq_ignore_ascii_case(key) {
            last = Some(unquoted(value.trim()));
        }
    }
    last
}

/// What a value is without its quotes and without a comment behind it.
fn unquoted(written: &str) -> String {
    let (mut value, mut is_quoted, mut kept) = (String::new(), false, 0);
    let mut letters = written.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => is_quoted = !is_quoted,
            '#' | ';' if !is_quoted => break,
            '\\' => value.extend(letters.next().map(|letter| match letter {
                'n' => '\n',
                't' => '\t',
                other => other,
            })),
            letter => value.push(letter),
        }
        // Blanks before a comment are none of the value.
        if is_quoted || !letter.is_whitespace() {
            kept = value.len();
        }
    }
    value.truncate(kept);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_a_section_counts() {
        let check = |config, expect: Option<&str>| {
            assert_eq!(value(config, "core", "excludesfile").as_deref(), expect, "{config:?}");
        };
        check("", None);
        check("[core]\n\texcludesFile = ~/.ignore\n", Some("~/.ignore"));
        check("[Core]\n\tEXCLUDESFILE=a ; why\n[core]\nexcludesfile = b # so\n", Some("b"));
        check("[core] excludesfile = a\n", Some("a"));
        check("[core]\nexcludesfile = \"a # b\" ; c\n", Some("a # b"));
        check("[core]\nexcludesfile = \"a\\\"\\\\\" \n", Some("a\"\\"));
        check("[core]\nexcludesfile\n", Some("true"));
        check("[core]\nexcludesfile =\n", Some(""));
        check("[core \"sub\"]\nexcludesfile = a\n", None);
        check("[other]\nexcludesfile = a\n", None);
        check("# [core]\nexcludesfile = a\n", None);
        check("[remote \"core\"]\nexcludesfile = a\n", None);
        check("excludesfile = a\n", None);
        check("[core]\n# excludesfile = a\n; excludesfile = b\n", None);
    }

    #[test]
    fn yes_is_said_in_four_ways() {
        assert!(["true", "Yes", "on", "1"].iter().all(|value| is_true(value)));
        assert!(["", "false", "no", "2"].iter().all(|value| !is_true(value)));
    }
}
