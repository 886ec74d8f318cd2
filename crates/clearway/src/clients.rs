//! The files of agents' clients, on the real machine.

use crate::failures::{directory_of, file_failure};
use crate::machine::Machine;
use clearway_cli::{ClientFiles, HooksFollowed, HooksPlace};
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_platform::files::{self, FileError};
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The first git that has hooks in its configuration.
const CONFIG_HOOKS: (u32, u32) = (2, 54);

impl ClientFiles for Machine {
    fn own_binary(&self) -> Option<PathBuf> {
        std::env::current_exe().ok()
    }

    fn can_run(&self, path: &Path) -> bool {
        files::can_run(path)
    }

    fn journal_path(&self) -> Result<PathBuf, Failure> {
        Ok(self.state_dir()?.join("init.json"))
    }

    fn take_turn(&mut self, journal: &Path, timeout: Duration) -> Result<Box<dyn std::fmt::Debug>, Failure> {
        let lock = files::with_suffix(journal, ".lock");
        let turn = directory_of(&lock).and_then(|()| files::take_turn(&lock, timeout));
        turn.map(|turn| Box::new(turn) as Box<dyn std::fmt::Debug>).map_err(|error| file_failure(&error))
    }

    fn replace_text(&mut self, path: &Path, text: &str) -> Result<Vec<PathBuf>, Failure> {
        files::replace(path, text.as_bytes()).map_err(|error| unwritable(&error))
    }

    fn remove_text(&mut self, path: &Path) -> Result<(), Failure> {
        files::remove_followed(path).map_err(|error| unwritable(&error))
    }

    fn remove_empty_directory(&mut self, path: &Path) {
        files::remove_if_empty(path);
    }

    fn hooks_place(&self, root: &Path) -> Option<HooksPlace> {
        let common = clearway_git::discover(root).ok().flatten()?.common_dir;
        Some(HooksPlace { own: common.join("hooks"), config: common.join("config") })
    }

    fn hooks_followed(&self, root: &Path) -> Option<HooksFollowed> {
        let git = clearway_git::Git::locate(self.environment()).ok()?;
        let in_config = git.version(root).is_ok_and(|version| version >= CONFIG_HOOKS);
        Some(HooksFollowed { directory: git.hooks_directory(root).ok()?, in_config })
    }

    fn replace_git_config(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        files::replace_locked(path, text.as_bytes()).map_err(|error| unwritable(&error))
    }

    fn put_hook(&mut self, path: &Path, kept: Option<&Path>, text: &str) -> Result<(), Failure> {
        files::put_in_front(path, kept, text.as_bytes()).map_err(|error| unwritable(&error))
    }

    fn give_back_hook(&mut self, path: &Path, kept: &Path) -> Result<(), Failure> {
        files::put_back(path, kept).map_err(|error| unwritable(&error))
    }

    fn typed_line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        let read = std::io::stdin().lock().read_line(&mut line);
        match read {
            // Nobody is there any more, which is no agreement.
            Ok(0) => Ok("no".to_owned()),
            Ok(_) => Ok(line),
            Err(error) => Err(Failure::new(Slug::Usage, format!("standard input cannot be read: {error}"))
                .hint("say it on the line: clearway init --yes")),
        }
    }
}

fn unwritable(error: &FileError) -> Failure {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    Failure::new(Slug::ClientConfigUnwritable, format!("{error}{cause}"))
        .hint("make it and its directory yours to write, then run this again")
}
