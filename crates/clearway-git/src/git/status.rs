//! Reading `git status --porcelain=v2 -z`.

use super::GitError;

/// Every path the status speaks of, without a slash at the end.
pub(super) fn dirty_in(output: &[u8]) -> Result<Vec<String>, GitError> {
    let mut dirty = Vec::new();
    for record in records(output)? {
        if !matches!(record.kind, b'#' | b'!') {
            dirty.push(text(record.path));
            dirty.extend(record.was.map(text));
        }
    }
    Ok(dirty)
}

/// The paths of a status that the index does not know. A repository inside is none of them.
pub(super) fn untracked_in(output: &[u8]) -> Result<Vec<String>, GitError> {
    let records = records(output)?;
    let is_new = |record: &&Record<'_>| record.kind == b'?' && !record.path.ends_with(b"/");
    let new = records.iter().filter(is_new).map(|record| record.path);
    new.map(|path| std::str::from_utf8(path).map(str::to_owned).map_err(|_| unknown(path))).collect()
}

/// Names that were given away and those that took their place, as far as the index tells.
pub(super) fn renamed_in(output: &[u8]) -> Result<Vec<(String, String)>, GitError> {
    let records = records(output)?;
    Ok(records.iter().filter_map(|record| Some((text(record.was?), text(record.path)))).collect())
}

/// One record of a status.
#[derive(Debug)]
pub(crate) struct Record<'o> {
    /// What it is about: `1` and `2` a tracked path, `u` an unmerged one, `?` an untracked one, `!` an ignored one, `#`
    /// the checkout as a whole.
    pub(crate) kind: u8,
    /// What is said before the path.
    pub(crate) fields: Vec<&'o [u8]>,
    /// The path; of the checkout as a whole, what is said.
    pub(crate) path: &'o [u8],
    /// What a renamed path was before.
    pub(crate) was: Option<&'o [u8]>,
}

/// Reads the whole status.
pub(crate) fn records(output: &[u8]) -> Result<Vec<Record<'_>>, GitError> {
    let mut parts = output.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    let mut records = Vec::new();
    while let Some(record) = parts.next() {
        // Git writes this many fields before the path; a rename's old path follows as its own.
        let (kind, fields_before_path) = match record.first() {
            Some(b'1') => (b'1', 8),
            Some(b'2') => (b'2', 9),
            Some(b'u') => (b'u', 10),
            Some(b'?') => (b'?', 1),
            Some(b'!') => (b'!', 1),
            Some(b'#') => (b'#', 2),
            _ => return Err(unknown(record)),
        };
        let mut fields: Vec<&[u8]> = record.splitn(fields_before_path + 1, |byte| *byte == b' ').collect();
        let path = if fields.len() > fields_before_path { fields.pop() } else { None };
        let path = path.or((kind == b'#').then_some(b"".as_slice())).ok_or_else(|| unknown(record))?;
        let was = (kind == b'2').then(|| parts.next().ok_or_else(|| unknown(record))).transpose()?;
        records.push(Record { kind, fields, path, was });
    }
    Ok(records)
}

/// An untracked repository is listed with a slash at its end.
fn text(path: &[u8]) -> String {
    String::from_utf8_lossy(path.strip_suffix(b"/").unwrap_or(path)).into_owned()
}

fn unknown(record: &[u8]) -> GitError {
    GitError::Format { command: "status", record: String::from_utf8_lossy(record).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(output: &str, expect: &[&str]) {
        assert_eq!(dirty_in(output.as_bytes()).unwrap(), expect, "{output:?}");
    }

    #[test]
    fn changed_unmerged_and_untracked_paths_are_dirty() {
        let hash = "0".repeat(40);
        check("", &[]);
        check(&format!("1 .M N... 100644 100644 100644 {hash} {hash} a b\0"), &["a b"]);
        check(&format!("u UU N... 1 2 3 4 {hash} {hash} {hash} c\0"), &["c"]);
        check("? new file\0? repo/\0", &["new file", "repo"]);
    }

    #[test]
    fn a_rename_makes_both_names_dirty() {
        let hash = "0".repeat(40);
        let renamed = format!("2 R. N... 1 2 3 {hash} {hash} R100 new name\0old name\0? x\0");
        check(&renamed, &["new name", "old name", "x"]);
    }

    #[test]
    fn new_files_and_new_names_are_told_apart_from_changes() {
        let hash = "0".repeat(40);
        let output = format!("2 R. N... 1 2 3 {hash} {hash} R100 new\0old\0? x y\0? repo/\0");
        assert_eq!(renamed_in(output.as_bytes()).unwrap(), [("old".to_owned(), "new".to_owned())]);
        assert_eq!(untracked_in(output.as_bytes()).unwrap(), ["x y"]);
        assert!(untracked_in(b"? \xff\0").is_err());
    }

    #[test]
    fn headers_and_ignored_files_are_not_dirty() {
        check("# branch.oid abc\0! target\0", &[]);
    }

    #[test]
    fn what_cannot_be_read_is_an_error_and_not_clean() {
        for output in ["1 .M N...\0", "9 what\0", "2 R. N... 1 2 3 4 5 R100 new\0"] {
            assert!(dirty_in(output.as_bytes()).is_err(), "{output:?}");
        }
    }

    proptest! {
        #[test]
        fn any_output_is_answered(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
            if let Ok(dirty) = dirty_in(&bytes) {
                prop_assert!(dirty.len() <= bytes.len());
            }
        }

        #[test]
        fn any_untracked_path_is_read_back(path in "[^\\x00]{0,30}[^\\x00/]") {
            prop_assert_eq!(dirty_in(format!("? {path}\0").as_bytes()).unwrap(), [path]);
        }
    }
}
