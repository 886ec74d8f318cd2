//! Reading `git status --porcelain=v2 -z`.

use super::GitError;

/// Every path the status speaks of, without a slash at the end.
pub(super) fn dirty_in(output: &[u8]) -> Result<Vec<String>, GitError> {
    let mut records = output.split(|byte| *byte == 0).filter(|record| !record.is_empty());
    let mut dirty = Vec::new();
    while let Some(record) = records.next() {
        // Git writes this many fields before the path; a rename's old path follows as its own.
        let fields_before_path = match record.first() {
            Some(b'1') => 8,
            Some(b'2') => 9,
            Some(b'u') => 10,
            Some(b'?') => 1,
            Some(b'#' | b'!') => continue,
            _ => return Err(unknown(record)),
        };
        let path = record.splitn(fields_before_path + 1, |byte| *byte == b' ').nth(fields_before_path);
        dirty.push(text(path.ok_or_else(|| unknown(record))?));
        if record.first() == Some(&b'2') {
            dirty.push(text(records.next().ok_or_else(|| unknown(record))?));
        }
    }
    Ok(dirty)
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
