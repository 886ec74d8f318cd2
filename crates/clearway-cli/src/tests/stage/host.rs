//! What the command line asks of it beside.

use super::Stage;
use crate::{Backstage, ClientFiles, Host, Spent};
use clearway_core::failure::Failure;
use clearway_wire::json::Zone;
use std::path::{Path, PathBuf};
use std::time::Duration;

impl ClientFiles for Stage {
    fn own_binary(&self) -> Option<PathBuf> {
        Some(PathBuf::from("/usr/bin/clearway"))
    }

    fn can_run(&self, path: &Path) -> bool {
        path == Path::new("/usr/bin/clearway")
    }

    fn journal_path(&self) -> Result<PathBuf, Failure> {
        Ok(PathBuf::from("/state/init.json"))
    }

    fn take_turn(&mut self, _: &Path, _: Duration) -> Result<Box<dyn std::fmt::Debug>, Failure> {
        Ok(Box::new(()))
    }

    fn replace_text(&mut self, path: &Path, text: &str) -> Result<Vec<PathBuf>, Failure> {
        self.files.insert(path.to_owned(), text.to_owned());
        Ok(Vec::new())
    }

    fn remove_text(&mut self, path: &Path) -> Result<(), Failure> {
        self.files.remove(path);
        Ok(())
    }

    fn remove_empty_directory(&mut self, _: &Path) {}

    fn hooks_place(&self, _: &Path) -> Option<crate::HooksPlace> {
        None
    }

    fn hooks_followed(&self, _: &Path) -> Option<crate::HooksFollowed> {
        None
    }

    fn replace_git_config(&mut self, path: &Path, text: &str) -> Result<(), Failure> {
        self.replace_text(path, text).map(drop)
    }

    fn put_hook(&mut self, path: &Path, _: Option<&Path>, text: &str) -> Result<(), Failure> {
        self.replace_text(path, text).map(drop)
    }

    fn give_back_hook(&mut self, path: &Path, _: &Path) -> Result<(), Failure> {
        self.remove_text(path)
    }

    fn typed_line(&mut self) -> Result<String, Failure> {
        Ok(self.input.clone())
    }
}

impl Host for Stage {
    fn zone(&self) -> Zone {
        Zone::read(None, None)
    }

    fn spent(&self) -> Spent {
        self.spent
    }

    fn input(&mut self, _: usize, _: Duration) -> Result<Vec<u8>, Failure> {
        Ok(self.input.clone().into_bytes())
    }

    fn backstage(&mut self) -> Result<Box<dyn Backstage>, Failure> {
        Err(Failure::new(clearway_core::slug::Slug::GitMissing, "this machine has no programs"))
    }
}
