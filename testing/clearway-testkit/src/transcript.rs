//! What a command said, with everything replaced that no two runs share.

/// Replaces ids, hashes, fences, instants, spans and made names, so that two runs of one story read alike.
pub fn steady(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for c in text.chars().chain(std::iter::once('\n')) {
        if c.is_ascii_alphanumeric() || "-:.+_".contains(c) {
            word.push(c);
        } else {
            push_words(&mut out, &word);
            word.clear();
            out.push(c);
        }
    }
    out.pop();
    spans(&out)
}

/// An instant is one word with its punctuation; anything else is looked at piece by piece.
fn push_words(out: &mut String, word: &str) {
    let body = word.trim_end_matches(['.', ':']);
    if is_instant(body) {
        out.push_str("TIME");
        out.push_str(&word[body.len()..]);
        return;
    }
    let mut piece = String::new();
    for c in word.chars() {
        if c.is_ascii_alphanumeric() {
            piece.push(c);
        } else {
            out.push_str(&steady_word(&piece));
            piece.clear();
            out.push(c);
        }
    }
    out.push_str(&steady_word(&piece));
}

/// `2026-07-29T21:48:25.123Z`
fn is_instant(word: &str) -> bool {
    let shape: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    ["0000-00-00T00:00:00.000Z", "0000-00-00", "00:00:00", "00:00", "00:00:00.000"].contains(&shape.as_str())
}

fn steady_word(word: &str) -> String {
    let has_digit = word.bytes().any(|b| b.is_ascii_digit());
    let is_hex = word.bytes().all(|b| b.is_ascii_hexdigit());
    let is_id = has_digit && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    match word.len() {
        64 if is_hex => "HASH".to_owned(),
        13 if word.starts_with("10995") => "FENCE".to_owned(),
        8 if is_id => "ID".to_owned(),
        _ => word.to_owned(),
    }
}

/// Numbers that measure time: `"expires_in_ms": 1799987` and `29m 59s`.
fn spans(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line.split_once("_ms\":") {
        Some((before, after)) => {
            let rest = after.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}_ms\": MS{rest}")
        }
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_replaced_and_nothing_else() {
        for (text, expect) in [
            ("lease k3f9a0zz on src/main.rs", "lease ID on src/main.rs"),
            ("reserved sessions", "reserved sessions"),
            ("until 2026-07-29T21:48:25.123Z.", "until TIME."),
            ("k3f9a0zz@1099511627780", "ID@FENCE"),
            ("\"expires_in_ms\": 1799987,", "\"expires_in_ms\": MS,"),
        ] {
            assert_eq!(steady(text), expect);
        }
    }
}
