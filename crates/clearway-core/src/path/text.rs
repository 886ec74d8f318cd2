//! The text rules shared by paths and patterns: which scalars are refused, normalisation, case folding.

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Whether names that differ only in case are one name. A sticky property of the scope, found once from
/// its file system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Fold {
    /// Names are compared scalar by scalar.
    #[default]
    Exact,
    /// Names are compared under simple Unicode lower-casing after NFC.
    Insensitive,
}

impl Fold {
    /// The form of one scalar under which names are compared.
    ///
    /// The simple mapping is one scalar to one scalar: the only multi-scalar mapping of the standard
    /// library, for `İ`, starts with its simple one.
    pub(crate) fn scalar(self, scalar: char) -> char {
        match self {
            Fold::Exact => scalar,
            Fold::Insensitive if scalar.is_ascii() => scalar.to_ascii_lowercase(),
            Fold::Insensitive => scalar.to_lowercase().next().unwrap_or(scalar),
        }
    }
}

/// Why a scalar may not appear in a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    Nul,
    Control,
    DirectionOverride,
}

/// The first refused scalar of a text with its byte position.
pub(crate) fn first_refused(text: &str) -> Option<(usize, Refused)> {
    if text.bytes().all(|byte| matches!(byte, 0x20..=0x7E)) {
        return None;
    }
    text.char_indices().find_map(|(position, scalar)| refusal(scalar).map(|why| (position, why)))
}

fn refusal(scalar: char) -> Option<Refused> {
    match scalar {
        '\0' => Some(Refused::Nul),
        _ if scalar.is_control() => Some(Refused::Control),
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => Some(Refused::DirectionOverride),
        _ => None,
    }
}

/// NFC of a text; the text itself when it already is.
pub(crate) fn compose(text: &str) -> std::borrow::Cow<'_, str> {
    if text.is_ascii() || is_nfc(text) { text.into() } else { text.nfc().collect::<String>().into() }
}

/// The form of a plain name under which it is stored and compared: NFC, then folded, then NFC again
/// because a lower-case letter may compose with a mark that its upper-case form did not.
pub(crate) fn normalise(text: &str, fold: Fold) -> String {
    match fold {
        Fold::Exact => compose(text).into_owned(),
        Fold::Insensitive if text.is_ascii() => text.to_ascii_lowercase(),
        Fold::Insensitive => {
            let folded: String = compose(text).chars().map(|scalar| fold.scalar(scalar)).collect();
            compose(&folded).into_owned()
        }
    }
}

/// Whether a segment names git's own directory on some file system: one that folds case reaches it
/// through `.GIT` as well.
pub(crate) fn is_git_directory(segment: &str) -> bool {
    segment.eq_ignore_ascii_case(".git")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn refuses_controls_and_direction_overrides_and_nothing_else() {
        let check = |text: &str, expect: Option<(usize, Refused)>| assert_eq!(first_refused(text), expect);
        check("src/a b.rs", None);
        check("é/ü", None);
        check("a\0", Some((1, Refused::Nul)));
        check("ab\n", Some((2, Refused::Control)));
        check("\u{7F}", Some((0, Refused::Control)));
        check("é\u{85}", Some((2, Refused::Control)));
        check("x\u{202E}y", Some((1, Refused::DirectionOverride)));
        check("x\u{2069}y", Some((1, Refused::DirectionOverride)));
        check("x\u{200F}y", None);
    }

    #[test]
    fn folding_composes_again() {
        assert_eq!(normalise("J\u{30C}", Fold::Insensitive), "\u{1F0}");
        assert_eq!(normalise("E\u{301}", Fold::Exact), "É");
        assert_eq!(normalise("E\u{301}", Fold::Insensitive), "é");
        assert_eq!(normalise("İ", Fold::Insensitive), "i");
    }

    proptest! {
        #[test]
        fn normalising_twice_changes_nothing(text in any::<String>()) {
            for fold in [Fold::Exact, Fold::Insensitive] {
                let once = normalise(&text, fold);
                prop_assert_eq!(&normalise(&once, fold), &once);
            }
        }
    }
}
