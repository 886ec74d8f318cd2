//! The message of a snapshot's commit: what it is, and every file with what a tree cannot say of it.
//!
//! Lines of words; whatever somebody else chose, such as a name, has its odd bytes written as `%XX`. A line that is not
//! understood is passed over, because a later build may write more of them.

use super::content::LINK_MODE;
use super::directories::Directories;
use super::remake::Linked;
use super::survey::Staged;
use super::under_way::{self, StateFile};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Lines before the list of files.
pub(super) const HEAD_LINES: usize = 10;

const NOTHING: &str = "-";
const DELETED: &str = "deleted";

/// What a snapshot is, as whoever took it says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Label {
    /// Why it was taken, in one word.
    pub cause: String,
    /// Why, in somebody's words.
    pub reason: Option<String>,
    /// When, in milliseconds since 1970.
    pub at_ms: i64,
    /// The checkout.
    pub worktree: PathBuf,
}

/// What is kept of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptFile {
    /// Its path in the checkout.
    pub path: PathBuf,
    /// How it differed from the last commit.
    pub state: KeptState,
    /// Its permission bits; 0 if it was not there.
    pub mode: u32,
    /// Its size.
    pub bytes: u64,
    /// What the index had of it.
    pub staged: Staged,
}

impl KeptFile {
    /// Whether it was a symbolic link, whose permission bits mean nothing.
    pub fn is_link(&self) -> bool {
        self.mode == LINK_MODE
    }
}

/// How a file differed from the last commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeptState {
    /// It was changed.
    Modified,
    /// The commit has it not.
    New,
    /// It was removed.
    Deleted,
    /// A merge left it for somebody to settle.
    Conflict,
    /// Git ignores it.
    Ignored,
    /// It did not: it went with others, and no snapshot holds it.
    Unchanged,
    /// It was an empty directory, of which git knows nothing.
    Directory,
}

impl KeptState {
    const ALL: [Self; 5] = [Self::Modified, Self::New, Self::Deleted, Self::Conflict, Self::Ignored];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Modified => "modified",
            Self::New => "new",
            Self::Deleted => DELETED,
            Self::Conflict => "conflict",
            Self::Ignored => "ignored",
            Self::Unchanged => "unchanged",
            Self::Directory => "directory",
        }
    }
}

/// Everything the message says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Manifest {
    /// What it is.
    pub label: Label,
    /// The commit that was checked out.
    pub base: Option<String>,
    /// How many files there are.
    pub file_count: u64,
    /// How many bytes they have.
    pub bytes: u64,
    /// Every file; none if only the head of the message was read.
    pub files: Vec<KeptFile>,
    /// What is kept of directories.
    pub directories: Directories,
    /// What is to be known of its checkout to make it again; `None` of the one that the repository lies in.
    pub(super) linked: Option<Linked>,
    /// What git was in the middle of.
    pub(super) under_way: Vec<StateFile>,
}

impl Manifest {
    /// The message. `nonce` tells it from that of any other snapshot.
    pub(super) fn message(&self, nonce: &str) -> String {
        let Label { cause, reason, at_ms, worktree } = &self.label;
        let mut text = format!(
            "clearway snapshot\n\nformat 1\ncause {cause}\nat {at_ms}\nworktree {}\nbase {}\n\
             files {} {}\nreason {}\nnonce {nonce}\n",
            escaped(worktree.as_os_str().as_bytes()),
            self.base.as_deref().unwrap_or(NOTHING),
            self.file_count,
            self.bytes,
            reason.as_ref().map_or_else(|| NOTHING.to_owned(), |reason| escaped(reason.as_bytes())),
        );
        for file in &self.files {
            let staged = match &file.staged {
                // Lines of their own, which an older build passes over, say it of these.
                Staged::Same | Staged::Announced | Staged::Unmerged(_) => NOTHING.to_owned(),
                Staged::Deleted => DELETED.to_owned(),
                Staged::Entry { mode, id } => format!("{mode}:{id}"),
            };
            let (state, path) = (file.state.word(), escaped(file.path.as_os_str().as_bytes()));
            text.push_str(&format!("file {state} {:o} {} {staged} {path}\n", file.mode, file.bytes));
        }
        for file in &self.files {
            let path = escaped(file.path.as_os_str().as_bytes());
            match &file.staged {
                Staged::Announced => text.push_str(&format!("announced {path}\n")),
                Staged::Unmerged(stages) => {
                    let [before, ours, theirs] = stages.each_ref().map(stage_word);
                    text.push_str(&format!("unmerged {before} {ours} {theirs} {path}\n"));
                }
                _ => {}
            }
        }
        if let Some(Linked { branch }) = &self.linked {
            let branch =
                branch.as_ref().map_or_else(|| NOTHING.to_owned(), |branch| escaped(branch.as_bytes()));
            text.push_str(&format!("linked {branch}\n"));
        }
        for (name, bytes) in &self.under_way {
            text.push_str(&format!("under-way {name} {}\n", escaped(bytes)));
        }
        let Directories { usual, unusual, empty } = &self.directories;
        text.extend(usual.map(|mode| format!("directories {mode:o}\n")));
        for (word, directories) in [("directory", unusual), ("empty", empty)] {
            for (path, mode) in directories {
                text.push_str(&format!("{word} {mode:o} {}\n", escaped(path.as_os_str().as_bytes())));
            }
        }
        text
    }

    /// Reads it back; `None` if it is no message of ours.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut manifest = Self::default();
        let mut is_ours = false;
        let mut staged: BTreeMap<PathBuf, Staged> = BTreeMap::new();
        for line in text.lines() {
            let (key, rest) = line.split_once(' ').unwrap_or((line, ""));
            let label = &mut manifest.label;
            match key {
                "format" => is_ours = rest == "1",
                "cause" => label.cause = rest.to_owned(),
                "at" => label.at_ms = rest.parse().ok()?,
                "worktree" => label.worktree = path(rest),
                "base" => manifest.base = Some(rest.to_owned()).filter(|base| base != NOTHING),
                "reason" if rest != NOTHING => label.reason = String::from_utf8(unescaped(rest)).ok(),
                "files" => {
                    let (files, bytes) = rest.split_once(' ')?;
                    (manifest.file_count, manifest.bytes) = (files.parse().ok()?, bytes.parse().ok()?);
                }
                "file" => manifest.files.push(file(rest)?),
                "linked" => {
                    let branch = String::from_utf8(unescaped(rest)).ok().filter(|_| rest != NOTHING);
                    manifest.linked = Some(Linked { branch });
                }
                "announced" => staged.extend([(path(rest), Staged::Announced)]),
                "unmerged" => staged.extend([unmerged(rest)?]),
                "under-way" => {
                    let (name, bytes) = rest.split_once(' ')?;
                    let file = (name.to_owned(), unescaped(bytes));
                    manifest.under_way.extend(Some(file).filter(|_| under_way::is_known(name)));
                }
                "directories" => manifest.directories.usual = Some(u32::from_str_radix(rest, 8).ok()?),
                "directory" => manifest.directories.unusual.extend([directory(rest)?]),
                "empty" => manifest.directories.empty.extend([directory(rest)?]),
                _ => {}
            }
        }
        for file in &mut manifest.files {
            file.staged = staged.remove(&file.path).unwrap_or_else(|| std::mem::take(&mut file.staged));
        }
        is_ours.then_some(manifest)
    }
}

fn file(line: &str) -> Option<KeptFile> {
    let mut words = line.split(' ');
    let word = words.next()?;
    let state = KeptState::ALL.into_iter().find(|state| state.word() == word)?;
    let mode = u32::from_str_radix(words.next()?, 8).ok()?;
    let bytes = words.next()?.parse().ok()?;
    let staged = match words.next()? {
        NOTHING => Staged::Same,
        DELETED => Staged::Deleted,
        entry => {
            let (mode, id) = entry.split_once(':')?;
            Staged::Entry { mode: mode.to_owned(), id: id.to_owned() }
        }
    };
    Some(KeptFile { path: path(words.next()?), state, mode, bytes, staged })
}

/// A mode and a blob; nothing where the index had none.
fn stage_word(stage: &Option<(String, String)>) -> String {
    stage.as_ref().map_or_else(|| NOTHING.to_owned(), |(mode, id)| format!("{mode}:{id}"))
}

fn unmerged(line: &str) -> Option<(PathBuf, Staged)> {
    let words: Vec<&str> = line.split(' ').collect();
    let [stages @ .., name] = words.as_slice() else { return None };
    let stages: &[&str; 3] = stages.try_into().ok()?;
    let stage = |word: &str| word.split_once(':').map(|(mode, id)| (mode.to_owned(), id.to_owned()));
    Some((path(name), Staged::Unmerged(stages.map(stage))))
}

fn directory(line: &str) -> Option<(PathBuf, u32)> {
    let (mode, name) = line.split_once(' ')?;
    Some((path(name), u32::from_str_radix(mode, 8).ok()?))
}

fn path(text: &str) -> PathBuf {
    Path::new(&OsString::from_vec(unescaped(text))).to_owned()
}

/// One word that stands for any bytes.
pub(super) fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for byte in bytes {
        match byte {
            b'!'..=b'$' | b'&'..=b'~' => text.push(char::from(*byte)),
            other => text.push_str(&format!("%{other:02X}")),
        }
    }
    // A dash alone stands for nothing at all.
    if text == NOTHING { "%2D".to_owned() } else { text }
}

pub(super) fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((byte, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *byte == b'%') {
            Some(value) => {
                bytes.push(value);
                rest = &after[2..];
            }
            None => {
                bytes.push(*byte);
                rest = after;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn manifest(path: Vec<u8>, reason: Option<String>) -> Manifest {
        let file = |state, staged| KeptFile {
            path: PathBuf::from(OsString::from_vec(path.clone())),
            state,
            mode: 0o100_755 & 0o7777,
            bytes: 7,
            staged,
        };
        let entry = Staged::Entry { mode: "100644".to_owned(), id: "a".repeat(40) };
        let side = Some(("100644".to_owned(), "a".repeat(40)));
        let unmerged = Staged::Unmerged([None, side.clone(), side]);
        Manifest {
            label: Label {
                cause: "manual".to_owned(),
                reason,
                at_ms: -5,
                worktree: PathBuf::from("/a b/\u{e9}"),
            },
            base: None,
            file_count: 4,
            bytes: 28,
            files: vec![
                file(KeptState::New, entry),
                file(KeptState::Deleted, Staged::Deleted),
                KeptFile { path: "both".into(), ..file(KeptState::Conflict, unmerged) },
                KeptFile { path: "to come".into(), ..file(KeptState::New, Staged::Announced) },
            ],
            linked: Some(Linked { branch: Some("a b".to_owned()) }),
            under_way: vec![("MERGE_MSG".to_owned(), b"a b\nc\n".to_vec())],
            directories: Directories {
                usual: Some(0o755),
                unusual: [(PathBuf::from(OsString::from_vec(path.clone())), 0o2700)].into(),
                empty: [(PathBuf::from("a b"), 0)].into(),
            },
        }
    }

    proptest! {
        #[test]
        fn a_message_is_read_as_it_was_written(
            path in proptest::collection::vec(1_u8.., 1..12),
            reason in proptest::option::of("\\PC{0,12}|-|a\nfile x"),
        ) {
            let manifest = manifest(path, reason);
            prop_assert_eq!(Manifest::read(&manifest.message("n")), Some(manifest));
        }

        #[test]
        fn any_text_is_answered(text in "(file |cause |format 1\n|at |[a-z%0-9 -]{0,6}|\n){0,20}") {
            let read = Manifest::read(&text);
            prop_assert!(read.is_none() || text.contains("format 1"));
        }
    }

    #[test]
    fn the_head_has_as_many_lines_as_are_read_of_it() {
        let whole =
            Manifest { base: Some("b".to_owned()), ..manifest(b"a".to_vec(), Some("why".to_owned())) };
        let message = whole.message("n");
        let head: Vec<&str> = message.lines().take(HEAD_LINES).collect();
        let read = Manifest::read(&head.join("\n")).unwrap();
        let expect = Manifest {
            files: Vec::new(),
            directories: Directories::default(),
            linked: None,
            under_way: Vec::new(),
            ..whole
        };
        assert_eq!(read, expect);
        assert_eq!(Manifest::read("clearway snapshot\n\nformat 2\n"), None);
    }
}
