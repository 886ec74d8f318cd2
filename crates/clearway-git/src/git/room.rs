//! Whether git failed for want of room: what it says of that, and what the disk says where git does not say why.

use crate::discover::discover;
use clearway_platform::files;
use std::fmt;
use std::path::{Path, PathBuf};

/// What git and the system say of a disk on which there is no room.
const FULL: [&str; 2] = ["No space left", "Out of diskspace"];
/// What they say where it is the user that may not take up more.
const QUOTA: &str = "Disk quota exceeded";
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
    /// What there is too little of.
    pub lack: Lack,
    /// Whether the checkout that git was asked in lies there too.
    pub holds_checkout: bool,
}

/// What a disk has too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Bytes.
    Bytes,
    /// Files that can be made, however small.
    Files,
    /// What the user may take up.
    Quota,
}

impl fmt::Display for NoRoom {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (disk, free_bytes) = (self.disk.display(), self.free_bytes);
        match self.lack {
            Lack::Bytes => write!(out, "{free_bytes} bytes are free on {disk}"),
            Lack::Files => {
                write!(out, "no more files can be made on {disk}, though {free_bytes} bytes are free")
            }
            Lack::Quota => write!(out, "the quota of its user on {disk} is used up"),
        }
    }
}

/// The disk that lacks room for what git wrote in a checkout, if that is why it failed: of those where it keeps something,
/// the one with the least.
pub(super) fn missing(checkout: &Path, said: &str) -> Option<NoRoom> {
    let is_quota = is_said(said, QUOTA);
    let is_full = is_quota || FULL.iter().any(|sign| is_said(said, sign));
    if !is_full && !is_said(said, UNWRITTEN) {
        return None;
    }
    let repository = discover(checkout).ok()??;
    let places = [repository.common_dir.join("objects/pack"), repository.common_dir, repository.git_dir];
    let asked = places.iter().filter_map(|place| Some((files::free_bytes(place).ok()?, place)));
    let tightest = asked.min_by_key(|(free_bytes, _)| *free_bytes)?.1;
    let fileless = places.iter().find(|place| files::lacks_files(place, 1));
    let (place, lack) = match fileless {
        _ if is_quota => (tightest, Lack::Quota),
        _ if files::lacks(tightest, ROOM_BYTES) => (tightest, Lack::Bytes),
        Some(place) => (place, Lack::Files),
        None if is_full => (tightest, Lack::Bytes),
        None => return None,
    };
    let (free_bytes, disk) = (files::free_bytes(place).ok()?, files::mount_point(place).ok()?);
    let holds_checkout = files::mount_point(checkout).is_ok_and(|of_checkout| of_checkout == disk);
    Some(NoRoom { disk, free_bytes, lack, holds_checkout })
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

    #[test]
    fn what_there_is_too_little_of_is_said() {
        for (lack, expect) in [
            (Lack::Bytes, "7 bytes are free on /d"),
            (Lack::Files, "no more files can be made on /d, though 7 bytes are free"),
            (Lack::Quota, "the quota of its user on /d is used up"),
        ] {
            let missing = NoRoom { disk: PathBuf::from("/d"), free_bytes: 7, lack, holds_checkout: false };
            assert_eq!(missing.to_string(), expect);
        }
        assert!(is_said("error: unable to write file x: Disk quota exceeded", QUOTA));
    }
}
