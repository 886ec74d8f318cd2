//! What is checked out, read from the head of a worktree, and where that has been before.

use crate::discover::Repository;
use clearway_platform::files::read_small;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// Digits of a commit that people are shown.
const COMMIT_DIGITS: usize = 9;

/// The branch that a git directory has checked out, or the beginning of the commit where there is none.
pub fn head_name(git_dir: &Path) -> Option<String> {
    let head = std::fs::read_to_string(git_dir.join("HEAD")).ok()?;
    match head.trim().strip_prefix("ref: ") {
        Some(reference) => Some(reference.strip_prefix("refs/heads/").unwrap_or(reference).to_owned()),
        None => head.get(..COMMIT_DIGITS).map(str::to_owned),
    }
}

/// What the head of a worktree leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The full name of the branch; `None` if it is detached.
    pub branch: Option<String>,
    /// The commit; zeros before the first.
    pub commit: String,
}

/// One step of a head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeadMove {
    /// The commit it led to before; zeros before the first.
    pub from: String,
    /// The commit it led to then.
    pub to: String,
    /// When, in seconds.
    pub seconds: i64,
    /// What git said of it.
    pub action: String,
}

/// Bytes of packed references that are searched.
const PACKED_BYTES_MAX: u64 = 16 * 1_024 * 1_024;
/// Bytes of the steps of a head that are read at once.
const STEPS_BYTES_MAX: u64 = 1_024 * 1_024;

/// What a head leads to, without asking git; `None` where references are kept in no files.
pub fn head(git_dir: &Path, common_dir: &Path) -> Option<Head> {
    let head = std::fs::read_to_string(git_dir.join("HEAD")).ok()?;
    let Some(name) = head.trim().strip_prefix("ref: ") else {
        return Some(Head { branch: None, commit: object_name(head.trim())? });
    };
    let is_in_files = name.starts_with("refs/") && !name.ends_with(".invalid");
    let commit = is_in_files.then(|| reference(common_dir, name))?;
    Some(Head { branch: Some(name.to_owned()), commit: commit.unwrap_or_else(|| "0".repeat(40)) })
}

/// The steps of the head of a checkout that its log holds beyond so many bytes, and how many it has. `None` where there is
/// no such log.
pub fn head_moves(repository: &Repository, after: u64) -> Option<(u64, Vec<HeadMove>)> {
    let mut log = std::fs::File::open(repository.git_dir.join("logs/HEAD")).ok()?;
    let length = log.metadata().ok()?.len();
    if length <= after {
        return Some((length, Vec::new()));
    }
    log.seek(SeekFrom::Start(after)).ok()?;
    let mut bytes = Vec::new();
    log.take(STEPS_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    // A line that is being written is read another time.
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let text = String::from_utf8_lossy(&bytes[..whole]);
    Some((after + whole as u64, text.lines().filter_map(head_move).collect()))
}

fn head_move(line: &str) -> Option<HeadMove> {
    let (who, action) = line.split_once('\t').unwrap_or((line, ""));
    let mut words = who.split(' ');
    let (from, to) = (object_name(words.next()?)?, object_name(words.next()?)?);
    let seconds = words.rev().nth(1)?.parse().ok()?;
    Some(HeadMove { from, to, seconds, action: action.to_owned() })
}

/// The commit that a reference leads to; `None` if there is no such reference.
fn reference(common_dir: &Path, name: &str) -> Option<String> {
    if let Ok(text) = std::fs::read_to_string(common_dir.join(name)) {
        return object_name(text.trim());
    }
    let packed = read_small(&common_dir.join("packed-refs"), PACKED_BYTES_MAX).ok()?;
    let packed = String::from_utf8_lossy(&packed).into_owned();
    let mut lines = packed.lines().filter_map(|line| line.split_once(' '));
    lines.find(|(_, packed)| *packed == name).and_then(|(commit, _)| object_name(commit))
}

fn object_name(text: &str) -> Option<String> {
    (text.len() >= 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_followed_through_files_and_packed_references() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let commit = || head(dir.path(), dir.path()).map(|head| head.commit);
        assert_eq!(commit(), None);
        put("HEAD", "ref: refs/heads/main\n");
        assert_eq!(commit(), Some("0".repeat(40)));
        put("packed-refs", &format!("# pack-refs with: peeled\n{one} refs/heads/main\n^{two}\n"));
        assert_eq!(commit(), Some(one.clone()));
        put("refs/heads/main", &format!("{two}\n"));
        assert_eq!(commit(), Some(two));
        put("HEAD", "ref: refs/heads/.invalid\n");
        assert_eq!(commit(), None);
        put("HEAD", &format!("{one}\n"));
        assert_eq!(head(dir.path(), dir.path()), Some(Head { branch: None, commit: one }));
    }

    #[test]
    fn a_step_of_a_head_is_read_whoever_made_it() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let line = format!("{one} {two} A. B <a@example.org> 1700000000 +0100\tcommit: x\ty");
        let step = head_move(&line).unwrap();
        assert_eq!(
            (step.from, step.to, step.seconds, step.action.as_str()),
            (one, two, 1_700_000_000, "commit: x\ty")
        );
        assert_eq!(head_move("rubbish"), None);
    }

    #[test]
    fn a_head_names_a_branch_or_a_commit() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(head_name(dir.path()), None);
        for (head, name) in [
            ("ref: refs/heads/topic/a\n", "topic/a"),
            ("ref: refs/remotes/x\n", "refs/remotes/x"),
            ("0123456789abcdef0123456789abcdef01234567\n", "012345678"),
        ] {
            std::fs::write(dir.path().join("HEAD"), head).unwrap();
            assert_eq!(head_name(dir.path()).as_deref(), Some(name));
        }
    }
}
