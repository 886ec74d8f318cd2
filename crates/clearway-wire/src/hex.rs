//! Bytes as text: two digits each.

/// Bytes as lower-case digits.
pub fn encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads exactly so many bytes from digits.
pub fn decode<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N {
        return None;
    }
    decode_all(text)?.try_into().ok()
}

/// Reads as many bytes as there are digits for.
pub fn decode_all(text: &str) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(2) || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let byte = |digits: &[u8]| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok();
    text.as_bytes().chunks(2).map(byte).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_read_back_and_only_digits_are_bytes() {
        assert_eq!(decode(&encode(&[0, 10, 255])), Some([0, 10, 255]));
        assert_eq!(decode::<1>("+1"), None);
        assert_eq!(decode::<2>("01"), None);
        assert_eq!(decode::<1>("é"), None);
        assert_eq!(decode_all("00ff7a"), Some(vec![0, 255, 122]));
        assert_eq!((decode_all("0g"), decode_all("0")), (None, None));
    }
}
