//! Halves of characters in a payload. Clients written in JavaScript cut texts between the two halves of a character and
//! write each half as an escape, which is no Unicode and which a strict reader refuses with everything around it.

use serde_json::Value;

/// Reads a document; one that holds half a character is read without it, for it is no less of an edit.
pub(crate) fn read(document: &[u8]) -> serde_json::Result<Value> {
    serde_json::from_slice(document).or_else(|error| match mended(document) {
        Some(mended) => serde_json::from_slice(&mended),
        None => Err(error),
    })
}

/// The bytes of `\ufffd`, which stands for what cannot be read.
const UNREADABLE: &[u8] = b"\\ufffd";
/// The bytes of one escape.
const ESCAPE: usize = 6;

/// The same document with every escape of a lone half replaced, byte for byte of the same length; `None` if there is
/// none. What is no JSON stays what it is: nothing but escapes of halves is touched.
fn mended(document: &[u8]) -> Option<Vec<u8>> {
    let mut mended: Option<Vec<u8>> = None;
    let mut at = 0;
    while at < document.len() {
        at += match (document[at], half(&document[at..])) {
            (b'\\', Some(Half::First)) if second_follows(&document[at..]) => 2 * ESCAPE,
            (b'\\', Some(_)) => {
                let bytes = mended.get_or_insert_with(|| document.to_vec());
                bytes[at..at + ESCAPE].copy_from_slice(UNREADABLE);
                ESCAPE
            }
            // What follows a backslash is part of its escape, whatever it is.
            (b'\\', None) => 2,
            _ => 1,
        };
    }
    mended
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Half {
    First,
    Second,
}

fn second_follows(escape: &[u8]) -> bool {
    half(&escape[ESCAPE..]) == Some(Half::Second)
}

/// Which half of a character an escape at the beginning of these bytes is.
fn half(bytes: &[u8]) -> Option<Half> {
    let digits = bytes.get(..ESCAPE)?.strip_prefix(b"\\u")?;
    if !digits.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let unit = u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    match unit {
        0xd800..=0xdbff => Some(Half::First),
        0xdc00..=0xdfff => Some(Half::Second),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_half_is_replaced_and_what_only_looks_like_one_is_not() {
        for (document, text) in [
            (r#""bad \ud83d end""#, Some("bad \u{fffd} end")),
            (r#""\uDC00\uD83D""#, Some("\u{fffd}\u{fffd}")),
            (r#""\ud83d\ud83d\ude00""#, Some("\u{fffd}😀")),
            (r#""\\\ud83d""#, Some("\\\u{fffd}")),
            (r#""\ud83d\\ude00""#, Some("\u{fffd}\\ude00")),
            (r#""\ud83d\ude00""#, Some("😀")),
            (r#""\\ud83d""#, Some("\\ud83d")),
            (r#""plain""#, Some("plain")),
            (r#"{"unfinished": "\ud83d"#, None),
        ] {
            assert_eq!(read(document.as_bytes()).ok().as_ref().and_then(Value::as_str), text, "{document}");
        }
    }

    #[test]
    fn what_ends_in_the_middle_is_no_reason_to_panic() {
        for document in ["\\", "\\u", "\\ud83", "\"\\ud83d", "\\ud83d\\", "\\ud83d\\udc0"] {
            drop(mended(document.as_bytes()));
        }
    }

    /// As JavaScript writes a text of these units: pairs as they are, halves and what has to be as escapes.
    fn written(units: &[u16]) -> String {
        let escaped = |half: u16| format!("\\u{half:04x}");
        let character = |read: Result<char, std::char::DecodeUtf16Error>| match read {
            Ok(character) if u32::from(character) > 0xffff => {
                let mut pair = [0; 2];
                character.encode_utf16(&mut pair).iter().map(|half| escaped(*half)).collect()
            }
            Ok(character) => {
                let quoted = serde_json::to_string(&character).expect("JSON");
                quoted[1..quoted.len() - 1].to_owned()
            }
            Err(half) => escaped(half.unpaired_surrogate()),
        };
        let text: String = char::decode_utf16(units.iter().copied()).map(character).collect();
        format!("\"{text}\"")
    }

    fn unit() -> impl Strategy<Value = u16> {
        prop_oneof![0xd800u16..=0xdfff, Just(u16::from(b'\\')), Just(u16::from(b'u')), any::<u16>()]
    }

    proptest! {
        /// Whatever a client cut in two is read as every other program reads it: each half as one that is unreadable.
        #[test]
        fn any_text_of_sixteen_bit_units_can_be_read(units in prop::collection::vec(unit(), 0..40)) {
            let document = written(&units);
            let text = read(document.as_bytes()).expect("JSON");
            prop_assert_eq!(text, Value::String(String::from_utf16_lossy(&units)));
        }

        #[test]
        fn any_bytes_are_no_reason_to_panic(bytes in prop::collection::vec(prop_oneof![Just(b'\\'), Just(b'u'), Just(b'd'), any::<u8>()], 0..80)) {
            let mended = mended(&bytes).unwrap_or_else(|| bytes.clone());
            prop_assert_eq!(mended.len(), bytes.len());
            prop_assert_eq!(super::mended(&mended), None);
        }
    }
}
