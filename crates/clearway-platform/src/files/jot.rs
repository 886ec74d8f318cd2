//! Notes on the side: lines that are worth having and not worth waiting for.

use super::private::PRIVATE_FILE_MODE;
use super::{FileError, read_text, write_atomic};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// Adds a line without waiting for anybody or for the disk, and makes no directory. Of a file that grew beyond
/// `bytes_max` the older half goes; of lines that are added in that very moment some may go with it.
pub fn jot(path: &Path, line: &str, bytes_max: u64) -> Result<(), FileError> {
    let opened = OpenOptions::new().append(true).create(true).mode(PRIVATE_FILE_MODE).open(path);
    let mut file = opened.map_err(FileError::system("open", path))?;
    // One call, so that lines of several processes do not run into each other.
    file.write_all(format!("{line}\n").as_bytes()).map_err(FileError::system("write", path))?;
    let length = file.metadata().map_err(FileError::system("look at", path))?.len();
    if length > bytes_max { forget_older_half(path) } else { Ok(()) }
}

fn forget_older_half(path: &Path) -> Result<(), FileError> {
    let text = read_text(path)?.unwrap_or_default();
    let middle = (text.len() / 2..text.len()).find(|at| text.as_bytes().get(*at) == Some(&b'\n'));
    let newer = middle.and_then(|at| text.get(at + 1..)).unwrap_or_default();
    write_atomic(path, newer.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_added_and_the_older_half_of_too_many_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("notes");
        for number in 0..100 {
            jot(&path, &format!("line {number:03}"), 400).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.len() <= 409 && text.ends_with("line 099\n"), "{text}");
        assert!(text.lines().all(|line| line.len() == 8), "{text}");
        assert!(jot(&dir.path().join("absent/notes"), "x", 400).is_err(), "no directory is made");
    }
}
