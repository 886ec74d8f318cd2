//! Setting up agents' clients: their own configuration is made to call our hooks, and given back again.
//!
//! What a file becomes is a pure function of its text (`jsonc.rs`, `toml.rs`, `page.rs`), whether a client will run
//! what is in it a pure judgement of its files (`standing.rs`). Here the files are read and written, one after the
//! other: what keeps one client from being set up keeps no other. Nothing of this is on the path of a hook.

mod changes;
mod diff;
mod entries;
mod found;
pub(crate) mod githooks;
mod journal;
mod jsonc;
mod page;
pub(crate) mod place;
mod shapes;
pub(crate) mod standing;
mod surgery;
#[cfg(test)]
mod tests;
mod text;
mod toml;

pub(crate) use changes::{After, Change, carry_out, plan};
pub(crate) use entries::NAME;
pub(crate) use found::{Found, ours};
pub use githooks::{HooksFollowed, HooksPlace};
pub(crate) use journal::hex;
pub(crate) use place::{Form, Setup, below_home, variable};
pub(crate) use standing::{Installed, Scene, Standing, is_true};
pub(crate) use surgery::no_json_with_comments;

use crate::Host;
use clearway_core::agent::Client;
use clearway_core::failure::Failure;
use place::{directory, repository_files, setup_of, user_files};
use standing::judge;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What setting up clients asks of the machine beside what everything asks.
pub trait ClientFiles {
    /// The program that runs, by a path that leads to it.
    fn own_binary(&self) -> Option<PathBuf>;

    /// Whether a file can be run.
    fn can_run(&self, path: &Path) -> bool;

    /// Where it is remembered what files of clients held before.
    fn journal_path(&self) -> Result<PathBuf, Failure>;

    /// Waits until nobody else sets up clients, at most so long. The turn ends when it is dropped.
    fn take_turn(&mut self, journal: &Path, timeout: Duration) -> Result<Box<dyn std::fmt::Debug>, Failure>;

    /// Replaces the text of a file as a whole, or makes it. A link is followed, the mode is kept. The directories that
    /// had to be made, outermost first.
    fn replace_text(&mut self, path: &Path, text: &str) -> Result<Vec<PathBuf>, Failure>;

    /// Removes a file, if it is there. A link to it stays.
    fn remove_text(&mut self, path: &Path) -> Result<(), Failure>;

    /// Removes a directory, if it is empty.
    fn remove_empty_directory(&mut self, path: &Path);

    /// Where hooks of a repository are its own; `None` where there is no git. Git is not asked.
    fn hooks_place(&self, root: &Path) -> Option<HooksPlace>;

    /// What git itself does about hooks.
    fn hooks_followed(&self, root: &Path) -> Option<HooksFollowed>;

    /// Replaces the text of a configuration of git under the lock that git itself takes.
    fn replace_git_config(&mut self, path: &Path, text: &str) -> Result<(), Failure>;

    /// Puts an executable hook where another may be, which is kept under another name if one is given.
    fn put_hook(&mut self, path: &Path, kept: Option<&Path>, text: &str) -> Result<(), Failure>;

    /// Puts back the hook that was kept, or none where none was.
    fn give_back_hook(&mut self, path: &Path, kept: &Path) -> Result<(), Failure>;

    /// A line that a person types.
    fn typed_line(&mut self) -> Result<String, Failure>;
}

/// What is to be set up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    /// These clients; those that are found if none is named.
    pub(crate) clients: Vec<Client>,
    /// A hook that fails is to be taken for a refusal, where a client can be asked that.
    pub(crate) unattended: bool,
    /// The repository's page for agents is to tell of us.
    pub(crate) agents_md: bool,
    /// Hooks of other tools for this are to be taken out.
    pub(crate) without_others: bool,
    /// Git is to call us.
    pub(crate) git_hooks: bool,
    /// Also before it changes what a branch leads to.
    pub(crate) strict: bool,
    /// Everything of ours is to be taken away instead.
    pub(crate) uninstall: bool,
}

/// A client as it stands.
#[derive(Clone, Debug)]
pub(crate) struct ClientSeen {
    pub(crate) client: Client,
    pub(crate) standing: Standing,
    /// What else was noticed.
    pub(crate) notes: Vec<String>,
    /// Other tools for this in the user's own files.
    pub(crate) rivals: Vec<String>,
}

impl ClientSeen {
    /// Everything that was noticed.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = &String> {
        self.notes.iter().chain(&self.rivals)
    }
}

/// The clients that there are on this machine.
pub(crate) fn detected(host: &dyn Host) -> Vec<Client> {
    let variables = &host.surroundings().variables;
    let path = variables.get("PATH").cloned().unwrap_or_default();
    let programs = |client| setup_of(client).into_iter().flat_map(|setup| setup.programs);
    let is_installed = |client: Client| {
        let mut candidates = path.split(':').filter(|part| part.starts_with('/'));
        candidates.any(|part| programs(client).any(|program| host.can_run(&Path::new(part).join(program))))
    };
    let has_files =
        |client| directory(client, variables).is_some_and(|directory| host.is_directory(&directory));
    place::all().filter(|client| has_files(*client) || is_installed(*client)).collect()
}

/// Looks at clients, in the repository if there is one.
pub(crate) fn look(host: &mut dyn Host, root: Option<&Path>, clients: &[Client]) -> Vec<ClientSeen> {
    let mut seen = Vec::new();
    for client in clients.iter().copied() {
        let Some(directory) = directory(client, &host.surroundings().variables) else { continue };
        let standing = judge(&mut Scene { client, directory: &directory, root, host });
        let (notes, rivals) = notes(host, &directory, root, client);
        seen.push(ClientSeen { client, standing, notes, rivals });
    }
    seen
}

/// What a client calls beside our hooks of the user: the same ones of the repository, and other tools for this.
fn notes(
    host: &mut dyn Host,
    directory: &Path,
    root: Option<&Path>,
    client: Client,
) -> (Vec<String>, Vec<String>) {
    let repository = root.map(|root| repository_files(client, root)).unwrap_or_default();
    let plugins = setup_of(client).and_then(|setup| setup.plugins);
    let (mut notes, mut installs, mut rivals) = (Vec::new(), Vec::new(), Vec::new());
    for file in user_files(client, directory).iter().chain(&repository) {
        let Ok(Some(text)) = host.read_text(&file.path) else { continue };
        let Ok(document) = file.form.value(&text) else { continue };
        if !found::ours(&document, file.form.shape()).is_empty() {
            installs.push(shown(&file.path));
        }
        for rival in found::rivals(&document, file.form.shape(), plugins) {
            let remark =
                format!("another tool for this is still installed in {}: {rival}", shown(&file.path));
            if repository.contains(file) { notes.push(remark) } else { rivals.push(remark) }
        }
    }
    if installs.len() > 1 {
        notes.push(format!("its hooks are installed more than once: in {}", installs.join(" and in ")));
    }
    (notes, rivals)
}

pub(crate) fn shown(path: &Path) -> String {
    clearway_core::text::shown(&path.display().to_string())
}

/// What a client is called in a sentence.
pub(crate) fn name(client: Client) -> &'static str {
    setup_of(client).map_or("", |setup| setup.title)
}
