//! Whether a command is there, found as it will be found when it is run. It is a look, not a promise.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

/// Where programs are looked for when nothing is said.
const PATH_DEFAULT: &str = "/bin:/usr/bin";

/// How much of a program is looked at, which is what the kernel looks at.
const HEAD_BYTES: usize = 256;

/// What a look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// Something that can be run, as far as can be seen.
    Runnable,
    /// Something that cannot.
    NotRunnable(WhyNot),
    /// Nothing.
    Absent,
}

/// What keeps a program from being run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhyNot {
    /// It is a directory.
    Directory,
    /// It lacks the permission.
    Permission,
    /// It is a text that does not say what reads it.
    Text,
    /// What it says should read it cannot be run.
    Interpreter(PathBuf),
    /// What it says should read it is not there.
    InterpreterAbsent(PathBuf),
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
        match look_at(&candidate, directory) {
            Program::Runnable => return Program::Runnable,
            Program::NotRunnable(why) => found = Program::NotRunnable(why),
            Program::Absent => {}
        }
    }
    found
}

fn look_at(path: &Path, directory: &Path) -> Program {
    match std::fs::metadata(path) {
        Ok(seen) if seen.is_dir() => Program::NotRunnable(WhyNot::Directory),
        Ok(seen) if !is_executable(path, &seen) => Program::NotRunnable(WhyNot::Permission),
        Ok(_) => look_into(path, directory).map_or(Program::Runnable, Program::NotRunnable),
        Err(_) => Program::Absent,
    }
}

fn is_executable(path: &Path, seen: &Metadata) -> bool {
    seen.is_file() && access(path, Access::EXEC_OK).is_ok()
}

/// Some C libraries hand a text without a first line to a shell and others do not; here it is refused with all of them.
/// What may be run without being read, and every format that is not text, is the kernel's to judge.
fn look_into(path: &Path, directory: &Path) -> Option<WhyNot> {
    let mut head = Vec::with_capacity(HEAD_BYTES);
    File::open(path).ok()?.take(HEAD_BYTES as u64).read_to_end(&mut head).ok()?;
    let Some(line) = head.strip_prefix(b"#!") else {
        let is_text = head.iter().all(|byte| *byte >= b' ' || byte.is_ascii_whitespace());
        return is_text.then_some(WhyNot::Text);
    };
    let line = line.split(|byte| *byte == b'\n').next()?.trim_ascii_start();
    let interpreter = line.split(|byte| matches!(byte, b' ' | b'\t')).next()?;
    let interpreter = directory.join(OsStr::from_bytes(interpreter));
    match std::fs::metadata(&interpreter) {
        Ok(seen) if is_executable(&interpreter, &seen) => None,
        Ok(_) => Some(WhyNot::Interpreter(interpreter)),
        Err(_) => Some(WhyNot::InterpreterAbsent(interpreter)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_program_is_found_as_it_will_be_when_it_is_run() {
        let place = tempfile::tempdir().unwrap();
        for (name, mode, bytes) in [
            ("tool", 0o755, b"#!/bin/sh\n".as_slice()),
            ("spaced", 0o755, b"#! /bin/sh -e\n"),
            ("text", 0o644, b"#!/bin/sh\n"),
            ("bare", 0o755, b"echo hi\n"),
            ("empty", 0o755, b""),
            ("orphan", 0o755, b"#!/nowhere/sh -e\n"),
            ("misread", 0o755, b"#!/etc/passwd\n"),
            ("binary", 0o755, b"\x7fELF\x02\x01\x01\0\0"),
        ] {
            let file = place.path().join("bin").join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, bytes).unwrap();
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
        }
        let search = OsString::from("/nowhere:bin");
        let look = |name: &str| look_up(OsStr::new(name), Some(&search), place.path());
        for (name, found) in [
            ("tool", Program::Runnable),
            ("bin/tool", Program::Runnable),
            ("./tool", Program::Absent),
            ("spaced", Program::Runnable),
            ("binary", Program::Runnable),
            ("text", Program::NotRunnable(WhyNot::Permission)),
            ("bin/text", Program::NotRunnable(WhyNot::Permission)),
            ("./bin", Program::NotRunnable(WhyNot::Directory)),
            ("bare", Program::NotRunnable(WhyNot::Text)),
            ("empty", Program::NotRunnable(WhyNot::Text)),
            ("bin/orphan", Program::NotRunnable(WhyNot::InterpreterAbsent("/nowhere/sh".into()))),
            ("bin/misread", Program::NotRunnable(WhyNot::Interpreter("/etc/passwd".into()))),
            ("other", Program::Absent),
            ("", Program::Absent),
        ] {
            assert_eq!(look(name), found, "{name}");
        }
        assert_eq!(look_up(OsStr::new("sh"), None, place.path()), Program::Runnable);
    }
}
