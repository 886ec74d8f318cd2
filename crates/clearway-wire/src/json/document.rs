//! How a document is written: on one line that steers no terminal.

use clearway_core::text::is_disturbing;
use serde::Serialize;

/// A struct as one line of JSON. Ours hold nothing that JSON cannot.
pub fn document(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).unwrap_or_default();
    if !text.chars().any(is_disturbing) {
        return text;
    }
    // All of them stand inside of strings, where an escape is the same character to whoever reads the document.
    let escaped = |c: char| {
        let units = c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
        if is_disturbing(c) { units } else { c.to_string() }
    };
    text.chars().map(escaped).collect()
}
