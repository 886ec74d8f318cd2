//! Words for a shell: what a hint shows has to work when it is pasted.

/// The text as one word of a POSIX shell, quoted only where it must be.
pub fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:,@%=".contains(c);
    if !text.is_empty() && text.chars().all(plain) && !text.starts_with('-') {
        text.to_owned()
    } else if text.starts_with('-') {
        format!("./{}", quoted_if_needed(text))
    } else {
        quoted(text)
    }
}

fn quoted_if_needed(text: &str) -> String {
    if text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c)) {
        text.to_owned()
    } else {
        quoted(text)
    }
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
