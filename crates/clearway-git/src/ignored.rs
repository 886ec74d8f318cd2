//! Whether git ignores a file, found by reading what git would read: `.gitignore` of every directory above it,
//! `info/exclude`, and the user's `core.excludesFile`. What the index has is never ignored; it is read only where a
//! pattern fits.
//!
//! Where this errs it says that a file is not ignored: configuration in included files is not read, case is not folded,
//! and a file of patterns beyond its limit counts as empty.

use std::path::{Path, PathBuf};

use clearway_platform::environment::Environment;
use clearway_platform::files::read_small;

use crate::discover::{Repository, discover_from};
use crate::glob::{Glob, literal_length};
use crate::{config, index};

/// Bytes of a file of patterns.
const PATTERNS_BYTES_MAX: u64 = 1_024 * 1_024;

/// Whether git ignores a file of a worktree, by its path below the root.
pub fn is_ignored(environment: &Environment, worktree: &Path, path: &str) -> bool {
    let found = discover_from(worktree).ok().flatten();
    let Some(repository) = found.filter(|found| found.worktree.as_deref() == Some(worktree)) else {
        return false;
    };
    fits_a_pattern(environment, &repository, worktree, path) && !index::may_be_tracked(&repository, path)
}

/// Whether a pattern excludes the file or a directory above it. What is in an excluded directory cannot be taken back in.
fn fits_a_pattern(environment: &Environment, repository: &Repository, worktree: &Path, path: &str) -> bool {
    let user = users_file(environment, repository, worktree);
    let own = repository.common_dir.join("info/exclude");
    // Later lists go before earlier ones.
    let mut lists: Vec<List> =
        [user, Some(own)].into_iter().flatten().map(|file| List::read(&file, 0)).collect();
    let ends = path.match_indices('/').map(|(at, _)| at);
    let mut base = 0;
    for end in ends.chain([path.len()]) {
        let file = worktree.join(&path[..base]).join(".gitignore");
        // Git does not follow a link here.
        if !file.is_symlink() {
            lists.push(List::read(&file, base));
        }
        let is_directory = end < path.len();
        if lists.iter().rev().find_map(|list| list.excludes(&path[..end], is_directory)) == Some(true) {
            return true;
        }
        base = end + 1;
    }
    false
}

/// The user's own file of patterns, for every repository.
fn users_file(environment: &Environment, repository: &Repository, worktree: &Path) -> Option<PathBuf> {
    let home = environment.var("HOME").map(PathBuf::from);
    let of_user = environment.var("XDG_CONFIG_HOME").filter(|given| !given.is_empty()).map(PathBuf::from);
    let of_user =
        of_user.or_else(|| Some(home.as_ref()?.join(".config"))).map(|directory| directory.join("git"));
    let files = [
        Some(PathBuf::from("/etc/gitconfig")),
        of_user.as_ref().map(|directory| directory.join("config")),
        home.as_ref().map(|home| home.join(".gitconfig")),
        Some(repository.common_dir.join("config")),
        Some(repository.git_dir.join("config.worktree")),
    ];
    let mut given = files.iter().flatten().filter_map(|file| config::value_in(file, "core", "excludesfile"));
    match given.next_back() {
        Some(file) => match file.strip_prefix("~/") {
            Some(below) => Some(home?.join(below)),
            None => Some(worktree.join(file)),
        },
        None => Some(of_user?.join("ignore")),
    }
}

/// The patterns of one file.
#[derive(Debug)]
struct List {
    rules: Vec<Rule>,
    /// Bytes of a path up to what the patterns are about.
    base: usize,
}

impl List {
    fn read(file: &Path, base: usize) -> Self {
        // Half a pattern is another one.
        let whole = |bytes: &Vec<u8>| (bytes.len() as u64) < PATTERNS_BYTES_MAX;
        let bytes = read_small(file, PATTERNS_BYTES_MAX).ok().filter(whole).unwrap_or_default();
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        Self { rules: bytes.split(|byte| *byte == b'\n').filter_map(Rule::parse).collect(), base }
    }

    /// What the last pattern that fits says; `None` if none does.
    fn excludes(&self, path: &str, is_directory: bool) -> Option<bool> {
        let name = &path.as_bytes()[self.base..];
        let rule = self.rules.iter().rev().find(|rule| rule.fits(name, is_directory))?;
        Some(!rule.takes_back)
    }
}

/// One pattern.
#[derive(Debug, PartialEq, Eq)]
struct Rule {
    takes_back: bool,
    for_directories: bool,
    /// Whether it is about the last part of a path alone.
    for_names: bool,
    /// What it begins with, as it stands.
    literal: Vec<u8>,
    /// What follows that; `None` if nothing can.
    rest: Option<Glob>,
}

impl Rule {
    fn parse(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = without_blanks(line.split(|byte| *byte == 0).next()?);
        if line.is_empty() || line.starts_with(b"#") {
            return None;
        }
        let (takes_back, line) = line.strip_prefix(b"!").map_or((false, line), |line| (true, line));
        let (for_directories, line) = line.strip_suffix(b"/").map_or((false, line), |line| (true, line));
        let for_names = !line.contains(&b'/');
        let line = line.strip_prefix(b"/").unwrap_or(line);
        let (literal, rest) = line.split_at(literal_length(line));
        let (literal, rest) = (literal.to_owned(), Glob::parse(rest));
        Some(Self { takes_back, for_directories, for_names, literal, rest })
    }

    fn fits(&self, path: &[u8], is_directory: bool) -> bool {
        if self.for_directories && !is_directory {
            return false;
        }
        let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or(path);
        let text = if self.for_names { name } else { path };
        let rest = text.strip_prefix(self.literal.as_slice());
        rest.is_some_and(|rest| self.rest.as_ref().is_some_and(|glob| glob.matches(rest)))
    }
}

/// Blanks at the end do not count, unless a backslash stands before them.
fn without_blanks(line: &[u8]) -> &[u8] {
    let (mut end, mut is_escaped) = (0, false);
    for (at, byte) in line.iter().enumerate() {
        if is_escaped || *byte != b' ' {
            end = at + 1;
        }
        is_escaped = !is_escaped && *byte == b'\\';
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_at_the_end_count_only_behind_a_backslash() {
        for (line, expect) in [
            ("a  ", "a"),
            ("a\\ ", "a\\ "),
            ("a\\  ", "a\\ "),
            ("a b ", "a b"),
            ("  ", ""),
            ("a\\\\ ", "a\\\\"),
        ] {
            assert_eq!(without_blanks(line.as_bytes()), expect.as_bytes(), "{line:?}");
        }
    }

    #[test]
    fn a_line_that_is_no_pattern_is_passed_over() {
        for line in ["", "# a", "\r", "  "] {
            assert_eq!(Rule::parse(line.as_bytes()), None, "{line:?}");
        }
        assert!(Rule::parse(b"\\#a").is_some_and(|rule| rule.fits(b"#a", false)));
    }
}
