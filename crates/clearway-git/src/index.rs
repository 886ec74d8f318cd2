//! What the index of a worktree tells without asking git: how much it tracks, and whether a path is tracked.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use clearway_platform::files::read_small;

use crate::config;
use crate::discover::Repository;

const HEADER_BYTES: usize = 12;
/// An index beyond this is not searched.
const INDEX_BYTES_MAX: u64 = 256 * 1_024 * 1_024;
/// What an entry says of its file before the name of its content.
const STAT_BYTES: usize = 40;
/// An entry of a later version with two more bytes of flags.
const EXTENDED: u16 = 0x4000;
/// Entries of these versions begin at multiples of this.
const ALIGNMENT: usize = 8;

/// How many entries the index of a git directory says it has; `None` without a readable index.
///
/// An estimate: unmerged paths count up to three times, and a split or sparse index holds less
/// than the worktree.
pub fn index_entry_count(git_dir: &Path) -> Option<u32> {
    let mut header = [0_u8; HEADER_BYTES];
    File::open(git_dir.join("index")).ok()?.read_exact(&mut header).ok()?;
    head(&header).map(|(_, count)| count)
}

/// Whether the index of a worktree has a path, in whatever case. An index that cannot be read, or that is only a part of
/// one, may have anything; where there is none, nothing is tracked.
pub(crate) fn may_be_tracked(repository: &Repository, path: &str) -> bool {
    let format = config::value_in(&repository.common_dir.join("config"), "extensions", "objectformat");
    let name_bytes = if format.is_some_and(|format| format.eq_ignore_ascii_case("sha256")) { 32 } else { 20 };
    match read_small(&repository.git_dir.join("index"), INDEX_BYTES_MAX) {
        Ok(bytes) => has(&bytes, name_bytes, path.as_bytes()).unwrap_or(true),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    }
}

/// `None` if it cannot be told.
fn has(index: &[u8], name_bytes: usize, path: &[u8]) -> Option<bool> {
    let (version, count) = head(index.first_chunk()?)?;
    let (mut at, mut name) = (HEADER_BYTES, Vec::new());
    for _ in 0..count {
        at = entry(index, at, name_bytes, version, &mut name)?;
        // A directory that is sparse stands for everything in it.
        let is_above = name.ends_with(b"/")
            && path.get(..name.len()).is_some_and(|above| above.eq_ignore_ascii_case(&name));
        if is_above || name.eq_ignore_ascii_case(path) {
            return Some(true);
        }
    }
    is_whole(index.get(at..index.len().checked_sub(name_bytes)?)?).then_some(false)
}

fn head(header: &[u8; HEADER_BYTES]) -> Option<(u32, u32)> {
    let [b'D', b'I', b'R', b'C', version @ .., a, b, c, d] = *header else { return None };
    let version = u32::from_be_bytes(version);
    (2..=4).contains(&version).then(|| (version, u32::from_be_bytes([a, b, c, d])))
}

/// Reads the path of the entry at a place, and where the next one begins. `name` is that of the one before, of which
/// later versions say only what is different.
fn entry(index: &[u8], at: usize, name_bytes: usize, version: u32, name: &mut Vec<u8>) -> Option<usize> {
    let flags_at = at + STAT_BYTES + name_bytes;
    let flags = u16::from_be_bytes(*index.get(flags_at..)?.first_chunk()?);
    let mut from = flags_at + if flags & EXTENDED == 0 { 2 } else { 4 };
    if version >= 4 {
        let (dropped, after) = number(index, from)?;
        name.truncate(name.len().checked_sub(dropped)?);
        from = after;
    } else {
        name.clear();
    }
    let rest = index.get(from..)?;
    let length = rest.iter().position(|byte| *byte == 0)?;
    name.extend(&rest[..length]);
    let end = from + length + 1;
    Some(if version >= 4 { end } else { at + (end - at).next_multiple_of(ALIGNMENT) })
}

/// A number of as many bytes as it needs, seven bits in each, in which none can be written two ways.
fn number(bytes: &[u8], mut at: usize) -> Option<(usize, usize)> {
    let mut byte = *bytes.get(at)?;
    let mut value = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *bytes.get(at)?;
        value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some((value, at + 1))
}

/// Whether no extension says that the entries lie in another file.
fn is_whole(mut extensions: &[u8]) -> bool {
    while let Some((signature, rest)) = extensions.split_first_chunk::<4>() {
        let Some((length, rest)) = rest.split_first_chunk::<4>() else { return false };
        let Some(rest) = rest.get(u32::from_be_bytes(*length) as usize..) else { return false };
        if signature == b"link" {
            return false;
        }
        extensions = rest;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_known_versions_only() {
        let count = |header| head(header).map(|(_, count)| count);
        assert_eq!(count(b"DIRC\0\0\0\x02\0\0\x01\x02"), Some(258));
        assert_eq!(count(b"DIRC\0\0\0\x04\0\0\0\0"), Some(0));
        assert_eq!(count(b"DIRC\0\0\0\x05\0\0\0\x01"), None);
        assert_eq!(count(b"CRID\0\0\0\x02\0\0\0\x01"), None);
    }

    #[test]
    fn a_missing_or_short_index_has_no_count() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(index_entry_count(dir.path()), None);
        std::fs::write(dir.path().join("index"), "DIRC").unwrap();
        assert_eq!(index_entry_count(dir.path()), None);
    }

    #[test]
    fn what_cannot_be_read_may_have_anything() {
        for bytes in [&b""[..], b"DIRC", b"DIRC\0\0\0\x02\0\0\0\x01", b"DIRC\0\0\0\x05\0\0\0\0"] {
            assert_eq!(has(bytes, 20, b"a"), None, "{bytes:?}");
        }
        let empty = [&b"DIRC\0\0\0\x02\0\0\0\0"[..], &[0; 20]].concat();
        assert_eq!(has(&empty, 20, b"a"), Some(false));
        let split = [&b"DIRC\0\0\0\x02\0\0\0\0link\0\0\0\0"[..], &[0; 20]].concat();
        assert_eq!(has(&split, 20, b"a"), None);
    }
}
