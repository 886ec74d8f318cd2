//! Adding a line to a file that readers always find whole.

use super::private::parent_of;
use super::{FileError, read_text, write_atomic};
use crate::lock::lock_within;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Adds a line. To add is to read and to replace, so those who add to a file take turns, each for at most `timeout`:
/// the turn is a lock on the directory, which leaves no file behind.
pub fn append_line(path: &Path, line: &str, timeout: Duration) -> Result<(), FileError> {
    let parent = parent_of(path);
    let directory = Arc::new(File::open(parent).map_err(FileError::system("open", parent))?);
    let turn =
        lock_within(&directory, timeout).and_then(|turn| turn.ok_or_else(|| io::ErrorKind::TimedOut.into()));
    let turn = turn.map_err(FileError::system("lock", parent))?;
    let mut text = read_text(path)?.unwrap_or_default();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
    text.push('\n');
    write_atomic(path, text.as_bytes())?;
    drop(turn);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn lines_of_many_writers_are_all_there() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let path = &path;
                scope.spawn(move || append_line(path, &number.to_string(), PATIENCE).unwrap());
            }
        });
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["0", "1", "2", "3", "4", "5", "6", "7"]);
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1, "and nothing beside them");
    }

    #[test]
    fn a_line_without_an_end_gets_one() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lines");
        std::fs::write(&path, "a").unwrap();
        append_line(&path, "b", PATIENCE).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "a\nb\n");
    }

    #[test]
    fn whoever_stands_in_the_way_is_waited_for_no_longer_than_said() {
        let dir = tempfile::tempdir().unwrap();
        let held = lock_within(&Arc::new(File::open(dir.path()).unwrap()), Duration::ZERO).unwrap();
        assert!(held.is_some());
        assert!(append_line(&dir.path().join("lines"), "a", Duration::from_millis(1)).is_err());
        drop(held);
        append_line(&dir.path().join("lines"), "a", PATIENCE).unwrap();
    }
}
