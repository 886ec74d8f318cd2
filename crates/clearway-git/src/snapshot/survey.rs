//! What a checkout holds beyond its last commit, file by file, as one `git status` tells it.

use crate::git::status::records;
use crate::git::{Git, GitError, Question, batches};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Bytes of paths handed to one `git status`.
const PATHS_BYTES_MAX: usize = 96 * 1_024;

const OPTIONS: [&str; 6] =
    ["--porcelain=v2", "-z", "--branch", "--untracked-files=all", "--no-renames", "--ignore-submodules=all"];

/// What is not committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Survey {
    /// The commit that is checked out; `None` before the first.
    pub(super) head: Option<String>,
    /// The branch that is checked out; `None` for a detached head.
    pub(super) branch: Option<String>,
    /// Every path that differs from it, in their order.
    pub(super) files: BTreeMap<PathBuf, Change>,
    /// Ignored files, and ignored directories as a whole.
    pub(super) ignored: Vec<PathBuf>,
    /// Repositories inside this one that it does not track. They are their own.
    pub(super) nested: Vec<PathBuf>,
}

/// How one path differs from the last commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Change {
    /// Whether git tracks it: the last commit has it, or the index.
    pub(super) tracked: bool,
    /// Whether the last commit has it.
    pub(super) in_head: bool,
    /// What the index has instead of it.
    pub(super) staged: Staged,
}

/// What the index holds of a path that the last commit has not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Staged {
    /// The same.
    #[default]
    Same,
    /// That it is gone.
    Deleted,
    /// This.
    Entry {
        /// Its mode, as git writes it.
        mode: String,
        /// The blob.
        id: String,
    },
    /// That it is to come, as `git add --intent-to-add` says.
    Announced,
    /// What both sides of a merge and the commit before them have, for somebody to settle: in this order the commit before
    /// them, ours and theirs, each with its mode and its blob.
    Unmerged([Option<(String, String)>; 3]),
}

impl Change {
    /// Whether a merge left it for somebody to settle.
    pub(super) fn is_conflict(&self) -> bool {
        matches!(self.staged, Staged::Unmerged(_))
    }
}

/// Whether ignored files are listed too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ignored {
    Listed,
    PassedOver,
}

/// Looks at these paths and what lies below them; the empty path is everything.
pub(super) fn survey(
    git: &Git,
    worktree: &Path,
    paths: &[&str],
    ignored: Ignored,
) -> Result<Survey, GitError> {
    let mut options = OPTIONS.to_vec();
    options.extend((ignored == Ignored::Listed).then_some("--ignored=matching"));
    let mut survey = Survey::default();
    for batch in batches(paths, PATHS_BYTES_MAX) {
        let batch: &[&str] = if batch == ["."] { &[] } else { &batch };
        let question = Question { command: "status", options: &options, paths: batch };
        survey.read(&git.ask(worktree, &question)?)?;
    }
    Ok(survey)
}

impl Survey {
    fn read(&mut self, output: &[u8]) -> Result<(), GitError> {
        for record in records(output)? {
            let path =
                PathBuf::from(OsStr::from_bytes(record.path.strip_suffix(b"/").unwrap_or(record.path)));
            let field = |at: usize| {
                String::from_utf8_lossy(record.fields.get(at).copied().unwrap_or_default()).into_owned()
            };
            let is_submodule = || field(2).starts_with('S');
            match record.kind {
                b'#' if field(1) == "branch.oid" => {
                    self.head = Some(String::from_utf8_lossy(record.path).into_owned())
                        .filter(|head| head != "(initial)");
                }
                b'#' if field(1) == "branch.head" => {
                    self.branch = Some(String::from_utf8_lossy(record.path).into_owned())
                        .filter(|branch| branch != "(detached)");
                }
                b'1' | b'2' if !is_submodule() => {
                    let is_new = field(3) == GONE;
                    let staged = match (field(1).starts_with('.'), field(4).as_str()) {
                        (true, _) if is_new && field(1) == ".A" => Staged::Announced,
                        (true, _) => Staged::Same,
                        (false, GONE) => Staged::Deleted,
                        (false, mode) => Staged::Entry { mode: mode.to_owned(), id: field(7) },
                    };
                    let change = Change { tracked: true, in_head: !is_new, staged };
                    self.files
                        .entry(path)
                        .and_modify(|known| known.staged = change.staged.clone())
                        .or_insert(change);
                }
                b'u' if !is_submodule() => {
                    let stage =
                        |at: usize| Some((field(2 + at), field(6 + at))).filter(|(mode, _)| mode != GONE);
                    let staged = Staged::Unmerged([1, 2, 3].map(stage));
                    let change = Change { tracked: true, in_head: true, staged };
                    self.files.insert(path, change);
                }
                b'?' if record.path.ends_with(b"/") => self.nested.push(path),
                b'?' => {
                    let change = Change { tracked: false, in_head: false, staged: Staged::Same };
                    self.files.entry(path).or_insert(change);
                }
                b'!' => self.ignored.push(path),
                _ => {}
            }
        }
        Ok(())
    }
}

/// The mode of what is not there.
const GONE: &str = "000000";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_staged_changed_new_gone_and_unmerged_is_told_apart() {
        let (zero, id) = ("0".repeat(40), "a".repeat(40));
        let status = format!(
            "# branch.oid {id}\0# branch.head main\0\
             1 .M N... 100644 100644 100644 {id} {id} changed\0\
             1 A. N... 000000 100755 100755 {zero} {id} two words\0\
             1 D. N... 100644 000000 000000 {id} {zero} left\0\
             1 .M S.M. 160000 160000 160000 {id} {id} sub\0\
             1 .A N... 000000 000000 100644 {zero} {zero} announced\0\
             u AA N... 000000 100644 100644 100644 {zero} {id} {id} both\0\
             ? left\0? new\nline\0? inner/\0! target/\0"
        );
        let mut survey = Survey::default();
        survey.read(status.as_bytes()).unwrap();
        assert_eq!((survey.head.as_deref(), survey.branch.as_deref()), (Some(id.as_str()), Some("main")));
        let change = |path: &str| survey.files.get(Path::new(path)).cloned();
        let plain = |in_head| Some(Change { tracked: in_head, in_head, staged: Staged::Same });
        assert_eq!(change("changed"), plain(true));
        assert_eq!(change("new\nline"), plain(false));
        assert_eq!(
            change("two words").map(|change| change.staged),
            Some(Staged::Entry { mode: "100755".to_owned(), id })
        );
        assert_eq!(change("left"), Some(Change { tracked: true, in_head: true, staged: Staged::Deleted }));
        let side = Some(("100644".to_owned(), "a".repeat(40)));
        let both = change("both").map(|change| change.staged);
        assert_eq!(both, Some(Staged::Unmerged([None, side.clone(), side])));
        let announced = change("announced").map(|change| change.staged);
        assert_eq!(announced, Some(Staged::Announced));
        assert_eq!(change("sub"), None);
        assert_eq!((survey.nested, survey.ignored), (vec!["inner".into()], vec!["target".into()]));
    }

    #[test]
    fn before_the_first_commit_there_is_no_head() {
        let mut survey = Survey::default();
        survey.read(b"# branch.oid (initial)\0? a\0").unwrap();
        assert_eq!((survey.head, survey.files.len()), (None, 1));
    }
}
