//! Words that were taken for paths and are names that somebody holds. Whoever finds nothing on such a path is told so, by
//! every verb in the same words.

use crate::listings::show;
use crate::mutations::ChosenWords;
use crate::session::Session;
use crate::site::Found;
use crate::targets::resource_name;
use clearway_core::decide::{Notice, held_as_name};
use clearway_core::failure::Failure;
use clearway_core::hint::Hint;
use clearway_core::ids::ScopeKey;
use clearway_core::lease::Kind;
use clearway_core::slice::ReadSet;
use clearway_core::slug::Slug;
use clearway_core::target::{ResourceName, Target};
use clearway_store::Reply;
use std::collections::BTreeMap;

impl Session<'_> {
    /// Those of the words that are names somebody holds, here or machine-wide.
    pub(crate) fn held_names(&mut self, kind: Kind, words: &[String]) -> Result<Vec<ResourceName>, Failure> {
        if kind == Kind::Name {
            return Ok(Vec::new());
        }
        let mut by_scope: BTreeMap<ScopeKey, Vec<ResourceName>> = BTreeMap::new();
        for word in words {
            // A file that is there is what was meant, and the common case: nothing more is read for it.
            let Some(name) =
                resource_name(&self.config, word).ok().filter(|_| self.found(word) != Found::File)
            else {
                continue;
            };
            by_scope.entry(self.scope_of(&Target::Name(name.clone()))).or_default().push(name);
        }
        let mut held = Vec::new();
        for (scope, names) in by_scope {
            held.extend(self.held_in(&scope, names)?);
        }
        Ok(held)
    }

    /// A word that is taken for a path and is a bare word, as names are, while a resource has that name. What is plainly
    /// a path asks nothing.
    pub(crate) fn taken_as_path(&mut self, word: &str) -> Result<Option<Notice>, Failure> {
        let is_bare = !word.contains(['/', '.', '*', '?', '[', '{', '\\']);
        let Some(name) = resource_name(&self.config, word).ok().filter(|_| is_bare) else { return Ok(None) };
        let scope = self.scope_of(&Target::Name(name.clone()));
        let is_held =
            self.found(word) != Found::File && !self.held_in(&scope, vec![name.clone()])?.is_empty();
        let is_named = is_held || self.config.is_resource(name.as_str());
        Ok(is_named.then_some(Notice::TakenAsPath { name, is_held }))
    }

    /// Those of the names nobody holds here that somebody holds machine-wide: a repository without the setting does not
    /// see it.
    pub(crate) fn machine_names(&mut self, kind: Kind, words: &[String]) -> Result<Vec<Notice>, Failure> {
        let names = words.iter().filter_map(|word| resource_name(&self.config, word).ok());
        let is_of_here =
            |name: &ResourceName| self.scope_of(&Target::Name(name.clone())) != ScopeKey::machine();
        let names: Vec<ResourceName> = names.filter(is_of_here).collect();
        if kind != Kind::Name || names.is_empty() || self.site.key == ScopeKey::machine() {
            return Ok(Vec::new());
        }
        let held = self.held_in(&ScopeKey::machine(), names)?;
        Ok(held.into_iter().map(Notice::HeldMachineWide).collect())
    }

    fn held_in(
        &mut self,
        scope: &ScopeKey,
        mut names: Vec<ResourceName>,
    ) -> Result<Vec<ResourceName>, Failure> {
        let now = self.now()?;
        let read = ReadSet { names: names.clone(), ..ReadSet::default() }.for_the_answer_alone();
        let slice = self.read_in(scope, |snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        let facts = self.process_facts(&slice.agents, &slice.leases);
        let shown = show(&slice.leases, &slice.agents, &facts, &now, slice.scope.is_of(&now.boot));
        names.retain(|name| {
            let mut live = shown.iter().filter(|view| view.lease.ended.is_none());
            live.any(|view| view.lease.target == Target::Name(name.clone()))
        });
        Ok(names)
    }

    /// An answer to words of which some named nothing that is held, with what is held by these names.
    pub(crate) fn with_names(&mut self, words: &ChosenWords, mut reply: Reply) -> Result<Reply, Failure> {
        let missed = |notice: &Notice| matches!(notice, Notice::NothingHeld { .. });
        match &mut reply.outcome {
            Err(failure) if failure.slug == Slug::NotFound => {
                let names = self.held_names(words.kind, &words.targets)?;
                let hints = names.iter().map(|name| Hint::from(held_as_name(name)));
                failure.hints.splice(..0, hints);
            }
            Ok(_) if reply.notices.iter().any(missed) => {
                let names = self.held_names(words.kind, &words.targets)?;
                reply.notices.extend(names.into_iter().map(Notice::IsName));
            }
            _ => {}
        }
        Ok(reply)
    }
}
