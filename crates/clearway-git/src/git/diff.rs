//! What a checkout holds beyond its last commit, line by line.

use super::{Git, GitError, PATHS_BYTES_MAX, Question, batches};
use std::collections::BTreeMap;
use std::path::Path;

/// Untracked files that are larger are not read.
const FILE_BYTES_MAX: u64 = 1_024 * 1_024;

/// What is not committed of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChange {
    /// Its path in the checkout.
    pub path: String,
    /// Whether it holds something else than text, of which no line can be told.
    pub is_binary: bool,
    /// Runs of changed lines, from the top.
    pub runs: Vec<LineRun>,
}

/// Lines that took the place of others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LineRun {
    /// The number of the first line that is there now, from 1.
    pub first: u64,
    /// Lines that were there.
    pub removed: Vec<String>,
    /// Lines that are there now.
    pub added: Vec<String>,
}

impl Git {
    /// What differs from the last commit at these paths and below them, untracked files included, in order of their
    /// paths. What is staged counts as what it is in the checkout.
    pub fn changes(&self, worktree: &Path, paths: &[&str]) -> Result<Vec<FileChange>, GitError> {
        let has_commit = self.has_commit(worktree, "HEAD")?;
        // Before the first commit everything is new, also what is staged.
        let new: &[&str] = if has_commit { &NEW } else { &ALL };
        let mut changes = BTreeMap::new();
        for batch in batches(paths, PATHS_BYTES_MAX) {
            if has_commit {
                let question = Question { command: "diff", options: &PATCH, paths: &batch };
                let found = read(&self.ask(worktree, &question)?);
                changes.extend(found.into_iter().map(|change| (change.path.clone(), change)));
            }
            let question = Question { command: "ls-files", options: new, paths: &batch };
            for path in super::tracked(&self.ask(worktree, &question)?) {
                changes.insert(path.clone(), new_file(worktree, path));
            }
        }
        Ok(changes.into_values().collect())
    }

    /// When each of these files was last committed up to a commit, in seconds, as far back as asked; never, if there is no
    /// such commit.
    pub fn committed_since(
        &self,
        worktree: &Path,
        tip: &str,
        paths: &[&str],
        seconds: i64,
    ) -> Result<BTreeMap<String, i64>, GitError> {
        let mut last = BTreeMap::new();
        if !self.has_commit(worktree, tip)? {
            return Ok(last);
        }
        let since = format!("--since=@{seconds}");
        let options = [tip, &since, "--format=%x01%ct", "--name-only", "--no-renames", "-z"];
        for batch in batches(paths, PATHS_BYTES_MAX) {
            let question = Question { command: "log", options: &options, paths: &batch };
            committed(&self.ask(worktree, &question)?, &mut last);
        }
        Ok(last)
    }

    fn has_commit(&self, worktree: &Path, commit: &str) -> Result<bool, GitError> {
        let options = ["--quiet", "--verify", commit];
        self.says(worktree, &Question { command: "rev-parse", options: &options, paths: &[] })
    }
}

/// A patch against the last commit without context, as no setting of a user or a repository changes it.
const PATCH: [&str; 9] = patch_of("HEAD");
/// The same of what is staged, which also says what is new before the first commit.
pub(super) const STAGED_PATCH: [&str; 9] = patch_of("--cached");

const fn patch_of(what: &str) -> [&str; 9] {
    [
        what,
        "--no-color",
        "--no-ext-diff",
        "--no-textconv",
        "--no-renames",
        "--unified=0",
        "--ignore-submodules=dirty",
        "--src-prefix=a/",
        "--dst-prefix=b/",
    ]
}

const NEW: [&str; 3] = ["--others", "--exclude-standard", "-z"];
const ALL: [&str; 4] = ["--cached", "--others", "--exclude-standard", "-z"];

/// A file that no commit knows is new as a whole.
fn new_file(worktree: &Path, path: String) -> FileChange {
    let file = worktree.join(&path);
    let is_short =
        std::fs::symlink_metadata(&file).is_ok_and(|found| found.is_file() && found.len() <= FILE_BYTES_MAX);
    let text = is_short.then(|| std::fs::read_to_string(&file).ok()).flatten();
    let Some(text) = text.filter(|text| !text.contains('\0')) else {
        return FileChange { path, is_binary: true, runs: Vec::new() };
    };
    let added: Vec<String> = text.lines().map(str::to_owned).collect();
    let run = LineRun { first: 1, removed: Vec::new(), added };
    FileChange { path, is_binary: false, runs: if text.is_empty() { Vec::new() } else { vec![run] } }
}

/// Reads a patch without context. A line that cannot be text is shown with replacement characters.
pub(super) fn read(patch: &[u8]) -> Vec<FileChange> {
    let mut changes: Vec<FileChange> = Vec::new();
    let (mut removed_left, mut added_left) = (0, 0);
    for line in String::from_utf8_lossy(patch).split('\n') {
        let change = changes.last_mut();
        match change {
            Some(change) if removed_left > 0 && line.starts_with('-') => {
                removed_left -= 1;
                change.runs.last_mut().into_iter().for_each(|run| run.removed.push(line[1..].to_owned()));
            }
            Some(change) if added_left > 0 && line.starts_with('+') => {
                added_left -= 1;
                change.runs.last_mut().into_iter().for_each(|run| run.added.push(line[1..].to_owned()));
            }
            _ if line.starts_with("diff --git ") => {
                changes.push(FileChange { path: same_name(line), ..FileChange::default() });
            }
            Some(change) if line.starts_with("@@ ") => {
                let Some((removed, first, added)) = header(line) else { continue };
                (removed_left, added_left) = (removed, added);
                change.runs.push(LineRun { first, ..LineRun::default() });
            }
            Some(change) => {
                change.is_binary |= line.starts_with("Binary files ");
                if let Some(name) = name_in(line) {
                    change.path = name;
                }
            }
            None => {}
        }
    }
    changes.retain(|change| !change.path.is_empty());
    changes
}

/// One of the two names of a file in the head of its patch; one of them is nowhere for a new or a removed file.
fn name_in(line: &str) -> Option<String> {
    let old = line.strip_prefix("--- ").map(|name| (name, "a/"));
    let (name, prefix) = old.or_else(|| line.strip_prefix("+++ ").map(|name| (name, "b/")))?;
    let name = unquoted(name.strip_suffix('\t').unwrap_or(name));
    name.strip_prefix(prefix).map(str::to_owned)
}

/// The name in `diff --git a/NAME b/NAME`, for files of which no line changed: both are the same.
fn same_name(line: &str) -> String {
    let names = line.strip_prefix("diff --git ").unwrap_or_default();
    let second = names.get(names.len() / 2 + 1..).map(unquoted).unwrap_or_default();
    second.strip_prefix("b/").unwrap_or_default().to_owned()
}

/// `@@ -REMOVED +ADDED @@`: how many lines went, where the new ones begin, and how many came.
fn header(line: &str) -> Option<(u64, u64, u64)> {
    let mut words = line.split(' ').skip(1);
    let (_, removed) = range(words.next()?.strip_prefix('-')?)?;
    let (first, added) = range(words.next()?.strip_prefix('+')?)?;
    Some((removed, first, added))
}

fn range(text: &str) -> Option<(u64, u64)> {
    match text.split_once(',') {
        Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// A name as git writes it: in quotes, with escapes, if it holds anything unusual.
fn unquoted(name: &str) -> String {
    let Some(inside) = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else {
        return name.to_owned();
    };
    let mut bytes = Vec::new();
    let mut rest = inside.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'\\' { escaped(&mut rest) } else { byte });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn escaped(rest: &mut impl Iterator<Item = u8>) -> u8 {
    match rest.next().unwrap_or(b'\\') {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'a' => 7,
        b'b' => 8,
        b'v' => 11,
        b'f' => 12,
        digit @ b'0'..=b'3' => rest.take(2).fold(digit - b'0', |value, digit| {
            value.wrapping_mul(8).wrapping_add(digit.wrapping_sub(b'0') & 7)
        }),
        other => other,
    }
}

/// The latest commit of each file in a list whose commits come from the latest on.
fn committed(output: &[u8], last: &mut BTreeMap<String, i64>) {
    let mut at = 0;
    for record in output.split(|byte| *byte == 0).map(|record| String::from_utf8_lossy(record)) {
        for part in record.split('\n').filter(|part| !part.is_empty()) {
            match part.strip_prefix('\u{1}') {
                Some(seconds) => at = seconds.trim().parse().unwrap_or(at),
                None => drop(last.entry(part.to_owned()).or_insert(at)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(first: u64, removed: &[&str], added: &[&str]) -> LineRun {
        let owned = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect();
        LineRun { first, removed: owned(removed), added: owned(added) }
    }

    #[test]
    fn runs_of_lines_are_read_with_their_places() {
        let patch = "diff --git a/x.rs b/x.rs\nindex 1..2 100644\n--- a/x.rs\n+++ b/x.rs\n\
                     @@ -1 +1,2 @@ fn main\n-old\n+new\n+--- more\n@@ -9,2 +10,0 @@\n-gone\n--- too\n\
                     \\ No newline at end of file\n";
        let found = read(patch.as_bytes());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "x.rs");
        assert_eq!(
            found[0].runs,
            [run(1, &["old"], &["new", "--- more"]), run(10, &["gone", "-- too"], &[])]
        );
    }

    #[test]
    fn new_removed_binary_and_oddly_named_files_have_their_names() {
        let patch = "diff --git a/new b/new\nnew file mode 100644\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+x\n\
                     diff --git a/gone b/gone\ndeleted file mode 100644\n--- a/gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-y\n\
                     diff --git a/pic b/pic\nindex 1..2\nBinary files a/pic and b/pic differ\n\
                     diff --git a/two words b/two words\nold mode 100644\nnew mode 100755\n\
                     diff --git \"a/t\\tb\" \"b/t\\tb\"\n--- \"a/t\\tb\"\n+++ \"b/t\\tb\"\n@@ -1 +1 @@\n-1\n+2\n";
        let found = read(patch.as_bytes());
        let names: Vec<&str> = found.iter().map(|change| change.path.as_str()).collect();
        assert_eq!(names, ["new", "gone", "pic", "two words", "t\tb"]);
        assert!(found[2].is_binary && found[3].runs.is_empty());
    }

    #[test]
    fn escapes_of_a_name_are_undone() {
        for (name, expect) in [("plain", "plain"), (r#""a\"b\\c""#, "a\"b\\c"), (r#""\303\244""#, "ä")] {
            assert_eq!(unquoted(name), expect);
        }
    }

    #[test]
    fn the_latest_commit_of_a_file_counts() {
        let mut last = BTreeMap::new();
        committed("\u{1}20\0\na\0b\0\u{1}10\0\na\0c\0".as_bytes(), &mut last);
        assert_eq!(last, [("a", 20), ("b", 20), ("c", 10)].map(|(path, at)| (path.to_owned(), at)).into());
    }

    proptest! {
        #[test]
        fn any_patch_is_answered(patch in "(diff --git [ab\"/\\\\ ]{0,9}\n|@@ [-+0-9, ]{0,9}\n|[-+ \\\\\"a]{0,5}\n){0,20}") {
            let lines = patch.lines().count();
            let found = read(patch.as_bytes());
            let kept: usize =
                found.iter().flat_map(|change| &change.runs).map(|run| run.added.len() + run.removed.len()).sum();
            prop_assert!(kept <= lines);
        }
    }
}
