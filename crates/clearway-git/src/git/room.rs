//! Whether git failed for want of room: what it says of that, and what the disk says where git does not say why.

use crate::discover::discover;
use clearway_platform::files;
use std::path::{Path, PathBuf};

/// What git and the system say of a disk on which there is no room.
const FULL: [&str; 3] = ["No space left", "Out of diskspace", "Disk quota exceeded"];
/// What git says of the name of a commit that it could not write, and no more.
const UNWRITTEN: &str = "couldn't write";
/// Bytes without which that is for want of room: any system writes a small file in less.
const ROOM_BYTES: u64 = 64 * 1_024;

/// A disk without room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoRoom {
    /// Where it is mounted.
    pub disk: PathBuf,
    /// How much is free there.
    pub free_bytes: u64,
    /// Whether the checkout that git was asked in lies there too.
    pub holds_checkout: bool,
}

/// The disk that lacks room for what git wrote in a checkout, if that is why it failed: of those where it keeps something,
/// the one with the least.
pub(super) fn missing(checkout: &Path, said: &str) -> Option<NoRoom> {
    let is_full = FULL.iter().any(|sign| is_said(said, sign));
    if !is_full && !is_said(said, UNWRITTEN) {
        return None;
    }
    let repository = discover(checkout).ok()??;
    let places = [repository.common_dir.join("objects/pack"), repository.common_dir, repository.git_dir];
    let asked = places.iter().filter_map(|place| Some((files::free_bytes(place).ok()?, place)));
    let (free_bytes, place) = asked.min_by_key(|(free_bytes, _)| *free_bytes)?;
    if !is_full && !files::lacks(place, ROOM_BYTES) {
        return None;
    }
    let disk = files::mount_point(place).ok()?;
    let holds_checkout = files::mount_point(checkout).is_ok_and(|of_checkout| of_checkout == disk);
    Some(NoRoom { disk, free_bytes, holds_checkout })
}

/// Whether git says so itself: what hooks say beside it may be of any disk.
fn is_said(said: &str, sign: &str) -> bool {
    let is_own = |line: &&str| ["fatal: ", "error: "].iter().any(|start| line.starts_with(start));
    said.lines().filter(is_own).any(|line| line.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hooks_say_of_a_disk_is_not_of_git() {
        for (said, expect) in [
            ("fatal: unable to write loose object file: No space left on device", true),
            ("warning: x\nerror: couldn't write a: No space left on device", true),
            ("cp: error writing '/mnt/x': No space left on device", false),
            ("No space left on device\nfatal: no commit", false),
        ] {
            assert_eq!(is_said(said, FULL[0]), expect, "{said}");
        }
    }
}
