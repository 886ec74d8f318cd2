//! The size of a worktree, read from the head of its index.

use std::fs::File;
use std::io::Read;
use std::path::Path;

const HEADER_BYTES: usize = 12;

/// How many entries the index of a git directory says it has; `None` without a readable index.
///
/// An estimate: unmerged paths count up to three times, and a split or sparse index holds less
/// than the worktree.
pub fn index_entry_count(git_dir: &Path) -> Option<u32> {
    let mut header = [0_u8; HEADER_BYTES];
    File::open(git_dir.join("index")).ok()?.read_exact(&mut header).ok()?;
    entry_count(&header)
}

fn entry_count(header: &[u8; HEADER_BYTES]) -> Option<u32> {
    let [b'D', b'I', b'R', b'C', version @ .., a, b, c, d] = *header else { return None };
    let known = (2..=4).contains(&u32::from_be_bytes(version));
    known.then(|| u32::from_be_bytes([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_known_versions_only() {
        assert_eq!(entry_count(b"DIRC\0\0\0\x02\0\0\x01\x02"), Some(258));
        assert_eq!(entry_count(b"DIRC\0\0\0\x04\0\0\0\0"), Some(0));
        assert_eq!(entry_count(b"DIRC\0\0\0\x05\0\0\0\x01"), None);
        assert_eq!(entry_count(b"CRID\0\0\0\x02\0\0\0\x01"), None);
    }

    #[test]
    fn a_missing_or_short_index_has_no_count() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(index_entry_count(dir.path()), None);
        std::fs::write(dir.path().join("index"), "DIRC").unwrap();
        assert_eq!(index_entry_count(dir.path()), None);
    }
}
