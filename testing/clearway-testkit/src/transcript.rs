//! What a command said, with everything replaced that no two runs share.

/// Replaces instants, hashes, commits, spans in milliseconds, sizes, ages and process ids, so that two runs of one
/// story read alike. Ids are no business of this: only the story knows which words are ids.
pub fn steady(text: &str) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| milliseconds(&words(line))).collect();
    lines.join("\n")
}

/// Looks at a line word by word. Columns are told apart by two spaces, however many it were.
fn words(line: &str) -> String {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let mut out = " ".repeat(indent);
    let mut spaces = 0;
    for word in line[indent..].split(' ') {
        if word.is_empty() {
            spaces += 1;
            continue;
        }
        if out.len() > indent {
            out.push_str(if spaces > 0 { "  " } else { " " });
        }
        spaces = 0;
        let is_pid = out.ends_with("process ") && word.bytes().all(|b| b.is_ascii_digit());
        let is_commit = out.ends_with(" as ") && word.len() == 9 && is_hex(word);
        out.push_str(&match (is_pid, is_commit) {
            (true, _) => "PID".to_owned(),
            (_, true) => "COMMIT".to_owned(),
            _ => word_of(word),
        });
    }
    ages(&out)
}

fn word_of(word: &str) -> String {
    let body = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let steady = if is_instant(body) {
        "TIME"
    } else if body.len() == 64 && is_hex(body) {
        "HASH"
    } else if body.len() == 40 && is_hex(body) {
        "COMMIT"
    } else {
        return word.to_owned();
    };
    word.replacen(body, steady, 1)
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `2026-07-29T21:48:25.123Z` and its parts.
fn is_instant(word: &str) -> bool {
    let shape: String = word.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    ["0000-00-00T00:00:00.000Z", "0000-00-00", "00-00", "00:00:00", "00:00"].contains(&shape.as_str())
}

/// Fields that hold a span measured while the command ran.
const MEASURED: [&str; 6] = [
    "\"expires_in_ms\"",
    "\"last_active_ms_ago\"",
    "\"ms\"",
    "\"offer_left_ms\"",
    "\"waited_ms\"",
    "\"gives_up_in_ms\"",
];

/// `"expires_in_ms": 1799987,` and `(165 KiB)`.
fn milliseconds(line: &str) -> String {
    let line = match line.split_once(": ") {
        Some((key, value))
            if MEASURED.contains(&key.trim()) && value.starts_with(|c: char| c.is_ascii_digit()) =>
        {
            format!("{key}: MS{}", value.trim_start_matches(|c: char| c.is_ascii_digit()))
        }
        _ => line.to_owned(),
    };
    match line.split_once(" KiB)") {
        Some((before, after)) => {
            format!("{}N KiB){after}", before.trim_end_matches(|c: char| c.is_ascii_digit()))
        }
        None => line,
    }
}

/// A slow machine says `3s ago` where a fast one says `now`, and in the middle of a sentence `just now`.
fn ages(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let mut out: Vec<&str> = Vec::with_capacity(words.len());
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        let is_age = word.ends_with('s') && word[..word.len() - 1].parse::<u32>().is_ok();
        let is_told = |now: &str| out.last() == Some(&now) && at > 0 && words[at - 1] != "now";
        if is_age && next == "ago," {
            out.push("just now,");
        } else if is_age && next.starts_with("ago") {
            out.push("now");
        } else if !(word.starts_with("ago") && (is_told("now") || is_told("just now,"))) {
            out.push(word);
        }
    }
    out.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_replaced_and_nothing_else() {
        let hash = "a".repeat(64);
        for (text, expect) in [
            ("reserved sessions in src/main.rs", "reserved sessions in src/main.rs"),
            ("until 2026-07-29T21:48:25.123Z.", "until TIME."),
            ("     4  11-15 22:18:33  lease.granted", "     4  TIME TIME  lease.granted"),
            ("  \"expires_in_ms\": 1799987,", "  \"expires_in_ms\": MS,"),
            ("  \"ttl_ms\": 1000,", "  \"ttl_ms\": 1000,"),
            ("store.db (165 KiB)", "store.db (N KiB)"),
            ("ada    active  2s ago  src/", "ada  active  now  src/"),
            ("to heron, 1s ago, topic build", "to heron, just now, topic build"),
            ("process 123 waits", "process PID waits"),
            (&format!("head {hash}"), "head HASH"),
            ("2 paths as 0123abcde on main", "2 paths as COMMIT on main"),
        ] {
            assert_eq!(steady(text), expect);
        }
    }
}
