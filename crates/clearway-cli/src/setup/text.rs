//! What every kind of configuration text has in common.

/// Why a file cannot be edited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfit(pub(super) String);

/// What is left of a text without our entries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Removed {
    pub(super) text: String,
    /// Nothing that anybody would miss.
    pub(super) is_hollow: bool,
}

/// A byte-order mark, if there is one, and what follows it.
pub(super) fn split_mark(text: &str) -> (&str, &str) {
    let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    text.split_at(mark)
}

/// How lines end, going by the first.
pub(super) fn newline_of(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// A part of a text and what is to stand there instead.
pub(super) type Edit = (std::ops::Range<usize>, String);

/// The text with every edit made. They do not overlap.
pub(super) fn applied(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|(range, _)| range.start);
    let (mut made, mut from) = (String::with_capacity(text.len()), 0);
    for (range, new) in edits {
        made.push_str(&text[from..range.start]);
        made.push_str(&new);
        from = range.end;
    }
    made.push_str(&text[from..]);
    made
}
