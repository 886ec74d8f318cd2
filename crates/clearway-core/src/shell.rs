//! Words for a shell: what a hint shows has to work when it is pasted.

/// The text as one word of a POSIX shell, quoted only where it must be, and never taken for a flag.
pub fn word(text: &str) -> String {
    let before = if text.starts_with('-') { "./" } else { "" };
    format!("{before}{}", as_it_is(text))
}

/// The same for a word that may be a flag.
pub fn as_it_is(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::word;

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
