//! Names as git has them beside names as they are compared.
//!
//! A path is asked for in composed characters, whatever the file is called. Git takes names by their bytes, so a name that
//! may be spelled in several ways is looked for in its directory, among all that is there.

use std::collections::BTreeSet;
use unicode_normalization::UnicodeNormalization;

/// What to ask git about to hear of a path however it is spelled: the path itself, or the nearest directory above it that
/// has but one spelling.
pub(super) fn spelled_alike(path: &str) -> &str {
    match path.find(|scalar: char| !scalar.is_ascii()) {
        None => path,
        Some(at) => path[..at].rsplit_once('/').map_or("", |(directory, _)| directory),
    }
}

/// Paths that were asked about, in the way they are compared with git's.
pub(super) struct Spellings<'p> {
    paths: &'p [&'p str],
    asked: &'p [&'p str],
    /// Of a path that was looked for in its directory: a spelling that all of its spellings share.
    shared: Vec<Option<String>>,
}

impl<'p> Spellings<'p> {
    pub(super) fn new(paths: &'p [&'p str], asked: &'p [&'p str]) -> Self {
        let shared = paths.iter().zip(asked).map(|(path, asked)| (path != asked).then(|| of_all(path)));
        Self { paths, asked, shared: shared.collect() }
    }

    /// Whether what git names is the path, or below it.
    pub(super) fn is_at(&self, found: &str, at: usize) -> bool {
        match &self.shared[at] {
            None => is_at_or_below(found, self.paths[at]),
            Some(shared) => is_at_or_below(&of_all(found), shared),
        }
    }

    /// Whether git can have meant nothing else than what was asked: beside a path that was looked for in its directory
    /// are others, which are nobody's.
    pub(super) fn knows(&self, found: &str) -> bool {
        self.asked.iter().any(|asked| is_at_or_below(found, asked))
    }
}

/// Composed and without case. A file system may tell two names apart that are alike here: then a change in one counts for
/// the other too.
fn of_all(path: &str) -> String {
    path.nfc().collect::<String>().to_lowercase().nfc().collect()
}

/// Everything is below the empty path, which is the root.
fn is_at_or_below(found: &str, path: &str) -> bool {
    let rest = found.strip_prefix(path);
    rest.is_some_and(|rest| path.is_empty() || rest.is_empty() || rest.starts_with('/'))
}

/// The files of `git ls-files -v -z` that git does not look at: their letter is small, or an `S`.
pub(super) fn unwatched_in(output: &[u8]) -> BTreeSet<String> {
    let records = output.split(|byte| *byte == 0);
    let unwatched = records.filter_map(|record| match record {
        [b'a'..=b'z' | b'S', b' ', path @ ..] => Some(String::from_utf8_lossy(path).into_owned()),
        _ => None,
    });
    unwatched.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_can_be_spelled_in_two_ways_is_looked_for_in_its_directory() {
        for (path, asked) in [
            ("src/a.rs", "src/a.rs"),
            ("caf\u{e9}.txt", ""),
            ("src/caf\u{e9}.txt", "src"),
            ("src/caf\u{e9}/a/b.txt", "src"),
            ("", ""),
        ] {
            assert_eq!(spelled_alike(path), asked, "{path}");
        }
    }

    #[test]
    fn it_is_found_in_any_spelling_and_what_lies_beside_it_is_not_it() {
        let (paths, asked) = (["caf\u{e9}.txt", "src"], ["", "src"]);
        let spellings = Spellings::new(&paths, &asked);
        for found in ["caf\u{e9}.txt", "cafe\u{301}.txt", "CAFE\u{301}.TXT", "cafe\u{301}.txt/below"] {
            assert!(spellings.is_at(found, 0) && spellings.knows(found), "{found}");
        }
        assert!(
            !spellings.is_at("cafe.txt", 0) && !spellings.is_at("src/a.rs", 0) && spellings.knows("cafe.txt")
        );
        assert!(spellings.is_at("src/a.rs", 1) && !spellings.is_at("SRC/a.rs", 1));
        let plain = Spellings::new(&paths[1..], &asked[1..]);
        assert!(!plain.knows("SRC/a.rs"), "git spells it otherwise");
    }

    #[test]
    fn files_that_git_was_told_not_to_look_at_have_letters_of_their_own() {
        let output = b"H plain\0S skipped\0h assumed\0s both\0M unmerged\0";
        let expected = ["assumed", "both", "skipped"].map(str::to_owned);
        assert_eq!(unwatched_in(output), BTreeSet::from(expected));
    }
}
