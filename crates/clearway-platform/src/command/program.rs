//! Whether a command is there, found as it will be found when it is run. It is a look, not a promise.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Where programs are looked for when nothing is said.
const PATH_DEFAULT: &str = "/bin:/usr/bin";

/// What a look found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Something that can be run.
    Runnable,
    /// Something that cannot.
    NotRunnable,
    /// Nothing.
    Absent,
}

/// Looks for a program: a name with a slash is a path seen from `directory`, any other is searched for in `path`.
pub fn look_up(name: &OsStr, path: Option<&OsStr>, directory: &Path) -> Program {
    let is_path = name.as_encoded_bytes().contains(&b'/');
    let default = OsString::from(PATH_DEFAULT);
    let places = std::env::split_paths(path.unwrap_or(&default)).filter(|_| !is_path);
    let candidates = places.map(|place| directory.join(place).join(name));
    let named = is_path.then(|| directory.join(name));
    let mut found = Program::Absent;
    for candidate in named.into_iter().chain(candidates).filter(|_| !name.is_empty()) {
        match look_at(&candidate) {
            Program::Runnable => return Program::Runnable,
            Program::NotRunnable => found = Program::NotRunnable,
            Program::Absent => {}
        }
    }
    found
}

fn look_at(path: &PathBuf) -> Program {
    match std::fs::metadata(path) {
        Ok(seen) if seen.is_file() && access(path, Access::EXEC_OK).is_ok() => Program::Runnable,
        Ok(_) => Program::NotRunnable,
        Err(_) => Program::Absent,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_is_found_as_it_will_be_when_it_is_run() {
        let place = tempfile::tempdir().unwrap();
        for (name, mode) in [("tool", 0o755), ("text", 0o644)] {
            let file = place.path().join("bin").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "").unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        }
        let search = OsString::from("/nowhere:bin");
        let look = |name: &str| look_up(OsStr::new(name), Some(&search), place.path());
        for (name, found) in [
            ("tool", Program::Runnable),
            ("bin/tool", Program::Runnable),
            ("./tool", Program::Absent),
            ("text", Program::NotRunnable),
            ("bin/text", Program::NotRunnable),
            ("./bin", Program::NotRunnable),
            ("other", Program::Absent),
            ("", Program::Absent),
        ] {
            assert_eq!(look(name), found, "{name}");
        }
        assert_eq!(look_up(OsStr::new("sh"), None, place.path()), Program::Runnable);
    }
}
