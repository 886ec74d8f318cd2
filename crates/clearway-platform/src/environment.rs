//! A snapshot of what the process was started with, taken once by the binary, so that nobody else
//! reads the environment. It is plain data: tests build their own.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::IsTerminal;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Everything the process inherited.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Environment {
    /// The environment variables.
    pub vars: BTreeMap<OsString, OsString>,
    /// The working directory; `None` if it was deleted or cannot be reached.
    pub cwd: Option<PathBuf>,
    /// Whether standard input is a terminal.
    pub stdin_is_terminal: bool,
    /// Whether standard output is a terminal.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal.
    pub stderr_is_terminal: bool,
    /// Columns of the terminal written to, if there is one.
    pub terminal_width: Option<u16>,
}

impl Environment {
    /// Looks at this process, once.
    pub fn capture() -> Self {
        let (stdin, stdout, stderr) = (std::io::stdin(), std::io::stdout(), std::io::stderr());
        let (stdout_is_terminal, stderr_is_terminal) = (stdout.is_terminal(), stderr.is_terminal());
        let width_of_stdout = || stdout_is_terminal.then(|| width_of(&stdout)).flatten();
        let width_of_stderr = || stderr_is_terminal.then(|| width_of(&stderr)).flatten();
        Self {
            vars: one_by_one(std::env::vars_os()),
            cwd: std::env::current_dir().ok(),
            stdin_is_terminal: stdin.is_terminal(),
            stdout_is_terminal,
            stderr_is_terminal,
            terminal_width: width_of_stdout().or_else(width_of_stderr),
        }
    }

    /// A variable that is set and not empty; an empty one means unset here, as XDG has it.
    pub fn var(&self, name: &str) -> Option<&OsStr> {
        self.vars.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// A variable that is set, not empty and text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.var(name)?.to_str()
    }
}

/// The same as collecting, which would sort first: with a buffer of a page on the stack and code that nothing else of a
/// short call runs.
pub fn one_by_one<K: Ord, V>(pairs: impl Iterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    for (key, value) in pairs {
        map.insert(key, value);
    }
    map
}

/// Why no directory of ours can be named.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HomeError {
    /// Neither the XDG variable nor `HOME` is set.
    #[error("HOME is not set, so there is no place for {purpose}; set HOME or {variable}")]
    Missing {
        /// What the directory is for.
        purpose: &'static str,
        /// The variable that would name it directly.
        variable: &'static str,
    },
    /// A relative home would move with the working directory.
    #[error("HOME is {home:?}, which is not an absolute path; {purpose} needs one")]
    Relative {
        /// What the directory is for.
        purpose: &'static str,
        /// The value found.
        home: PathBuf,
    },
}

/// Where stores live: `$XDG_STATE_HOME/clearway`, else `$HOME/.local/state/clearway`.
pub fn state_dir(environment: &Environment) -> Result<PathBuf, HomeError> {
    let base = base_dir(environment, "XDG_STATE_HOME", ".local/state", "the store")?;
    Ok(base.join("clearway"))
}

/// What the system says of the local time zone: the file that `TZ` names, else `/etc/localtime`.
pub fn zone_file(environment: &Environment) -> Option<Vec<u8>> {
    let named = environment.text("TZ").map(|name| name.trim_start_matches(':'));
    let path = match named {
        // Names of zones lie below one directory, and a path is meant as it stands.
        Some(name) if !name.split('/').any(|part| part == "..") => {
            Path::new("/usr/share/zoneinfo").join(name)
        }
        Some(_) => return None,
        None => PathBuf::from("/etc/localtime"),
    };
    std::fs::read(path).ok()
}

/// The user's settings: `$XDG_CONFIG_HOME/clearway/config.toml`, else below `$HOME/.config`.
pub fn config_file(environment: &Environment) -> Result<PathBuf, HomeError> {
    let base = base_dir(environment, "XDG_CONFIG_HOME", ".config", "the settings")?;
    Ok(base.join("clearway/config.toml"))
}

/// Where sockets live: `$XDG_RUNTIME_DIR/clearway`, else `run` below the state directory.
///
/// Never below `/tmp`, where another user could have put a directory of that name first.
pub fn runtime_dir(environment: &Environment) -> Result<PathBuf, HomeError> {
    match absolute(environment, "XDG_RUNTIME_DIR") {
        Some(base) => Ok(base.join("clearway")),
        None => Ok(state_dir(environment)?.join("run")),
    }
}

fn base_dir(
    environment: &Environment,
    variable: &'static str,
    below_home: &str,
    purpose: &'static str,
) -> Result<PathBuf, HomeError> {
    if let Some(base) = absolute(environment, variable) {
        return Ok(base.to_owned());
    }
    let home = environment.var("HOME").map(Path::new).ok_or(HomeError::Missing { purpose, variable })?;
    if !home.is_absolute() {
        return Err(HomeError::Relative { purpose, home: home.to_owned() });
    }
    Ok(home.join(below_home))
}

/// The XDG specification has relative values ignored, not obeyed and not refused.
fn absolute<'e>(environment: &'e Environment, variable: &str) -> Option<&'e Path> {
    environment.var(variable).map(Path::new).filter(|path| path.is_absolute())
}

fn width_of(terminal: &impl AsFd) -> Option<u16> {
    let size = rustix::termios::tcgetwinsize(terminal).ok()?;
    (size.ws_col > 0).then_some(size.ws_col)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(vars: &[(&str, &str)]) -> Environment {
        let vars = vars.iter().map(|(name, value)| (name.into(), value.into())).collect();
        Environment { vars, ..Environment::default() }
    }

    fn check(
        place: fn(&Environment) -> Result<PathBuf, HomeError>,
        vars: &[(&str, &str)],
        expect: Result<&str, HomeError>,
    ) {
        assert_eq!(place(&with(vars)), expect.map(PathBuf::from), "{vars:?}");
    }

    #[test]
    fn the_xdg_variable_wins_over_home() {
        let vars = [("HOME", "/home/a"), ("XDG_STATE_HOME", "/s"), ("XDG_CONFIG_HOME", "/c")];
        check(state_dir, &vars, Ok("/s/clearway"));
        check(config_file, &vars, Ok("/c/clearway/config.toml"));
    }

    #[test]
    fn home_is_the_base_when_xdg_is_unset_empty_or_relative() {
        for value in ["", "relative/state"] {
            let vars = [("HOME", "/home/a"), ("XDG_STATE_HOME", value), ("XDG_CONFIG_HOME", value)];
            check(state_dir, &vars, Ok("/home/a/.local/state/clearway"));
            check(config_file, &vars, Ok("/home/a/.config/clearway/config.toml"));
        }
        check(state_dir, &[("HOME", "/home/a")], Ok("/home/a/.local/state/clearway"));
    }

    #[test]
    fn sockets_fall_back_below_the_state_directory() {
        check(runtime_dir, &[("XDG_RUNTIME_DIR", "/run/user/7")], Ok("/run/user/7/clearway"));
        check(runtime_dir, &[("HOME", "/home/a")], Ok("/home/a/.local/state/clearway/run"));
        check(runtime_dir, &[("XDG_STATE_HOME", "/s")], Ok("/s/clearway/run"));
    }

    #[test]
    fn a_missing_or_relative_home_is_an_error_that_names_the_way_out() {
        let missing = HomeError::Missing { purpose: "the store", variable: "XDG_STATE_HOME" };
        assert!(missing.to_string().contains("XDG_STATE_HOME"));
        check(state_dir, &[], Err(missing.clone()));
        check(state_dir, &[("HOME", "")], Err(missing));
        let relative = HomeError::Relative { purpose: "the store", home: "here".into() };
        check(state_dir, &[("HOME", "here")], Err(relative));
    }

    #[test]
    fn empty_variables_are_unset() {
        let environment = with(&[("EMPTY", ""), ("FULL", "x")]);
        assert_eq!(environment.var("EMPTY"), None);
        assert_eq!(environment.text("FULL"), Some("x"));
        assert_eq!(environment.var("ABSENT"), None);
    }

    #[test]
    fn the_snapshot_holds_this_process_environment_and_directory() {
        let environment = Environment::capture();
        assert_eq!(environment.var("PATH"), std::env::var_os("PATH").as_deref());
        assert_eq!(environment.cwd, std::env::current_dir().ok());
    }
}
