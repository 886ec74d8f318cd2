//! Where a store is, as somebody writes it: the path of a file, or the address of a server.
//!
//! A relative path means another file in every directory, so only whoever types it, and sees where it stands, may write
//! one; in a file it is relative to that file, and in the environment, which goes everywhere, it is none at all.

use std::path::Path;

use super::error::Problem;
use super::keys::{Key, KeyId};
use super::value::Value;

/// Bytes of a location.
const BYTES_MAX: usize = 4_096;

/// What addresses of databases begin with elsewhere: whoever writes one of these means an address, not a file of that
/// name.
const SCHEMES: [&str; 8] = ["file", "http", "https", "postgres", "postgresql", "sqlite", "sqlite3", "unix"];

/// The file that a location names; nothing if it is the address of a server.
pub fn file_of(location: &str) -> Option<&str> {
    match location.split_once("://") {
        Some(("file", path)) => Some(path),
        Some(_) => None,
        None => Some(location),
    }
}

pub(super) fn check(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("it is empty");
    }
    if text.len() > BYTES_MAX {
        return Err("it is longer than 4096 bytes");
    }
    if text.chars().any(char::is_control) {
        return Err("it contains a control character");
    }
    if is_half_an_address(text) {
        return Err("it is half an address: a file is named by its path alone, as in /path/to/store.db");
    }
    Ok(())
}

fn is_half_an_address(text: &str) -> bool {
    let is_known = |scheme: &str| SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    text.split_once(':').is_some_and(|(scheme, rest)| is_known(scheme) && !rest.starts_with("//"))
}

/// A value from a file of settings: a relative location lies beside that file.
pub(super) fn in_file(key: &Key, value: Value, file: &Path) -> Value {
    match (relative(key, &value), file.parent()) {
        (Some(path), Some(directory)) => Value::Text(directory.join(path).display().to_string()),
        _ => value,
    }
}

/// A value from the environment, which is not relative; `cwd` is where the caller stands.
pub(super) fn in_environment(key: &Key, value: Value, cwd: Option<&Path>) -> Result<Value, Problem> {
    match relative(key, &value) {
        Some(path) => Err(Problem::relative_location(key.name, path, cwd)),
        None => Ok(value),
    }
}

fn relative<'v>(key: &Key, value: &'v Value) -> Option<&'v str> {
    let Value::Text(text) = value else { return None };
    file_of(text).filter(|path| key.id == KeyId::StoreUrl && Path::new(path).is_relative())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scheme_without_its_slashes_is_no_file() {
        for text in ["sqlite:foo.db", "SQLite:x", "file:/x", "postgres:db", "file:x"] {
            assert!(check(text).is_err(), "{text}");
        }
        for text in [
            "./sqlite:foo.db",
            "/a/sqlite:x",
            "a:b.db",
            "sqlite://x",
            "file:///x",
            "postgres://h/d",
            "sqlite",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn a_location_names_a_file_or_a_server() {
        assert_eq!(file_of("a/b.db"), Some("a/b.db"));
        assert_eq!(file_of("file:///a/b.db"), Some("/a/b.db"));
        assert_eq!(file_of("postgres://h/d"), None);
    }
}
