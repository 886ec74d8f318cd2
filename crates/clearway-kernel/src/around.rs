//! Scopes around the one here. A path belongs to the innermost scope, so what was taken of it in one around that before it
//! began keeps nobody away here: who looks or writes is told where it is held. Asks for nothing on behalf of hooks, which
//! are told of paths alone.

use crate::ground::{self, Around};
use crate::listings::show;
use crate::session::Session;
use crate::site::{Site, SiteKind, directory_key};
use clearway_core::decide::Notice;
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::ids::ScopeKey;
use clearway_core::path::CanonicalPath;
use clearway_core::pattern::Pattern;
use clearway_core::slice::ReadSet;
use clearway_core::target::{Target, Worktree};
use clearway_store::contract::LeaseListing;
use std::path::Path;

/// What of a scope around this one counts as held here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meant {
    /// What names only what lies here: it was taken before this scope began.
    OnlyHere,
    /// What names something that lies here, and more.
    AlsoHere,
}

impl Session<'_> {
    /// What there is to say of a scope around this one in which something is held that lies here, or of the one that its root
    /// was before it became a repository: who holds something there looks for it here, and finds nothing.
    pub(crate) fn held_around(&mut self) -> Option<Notice> {
        self.held_outside(Meant::OnlyHere)
    }

    /// What there is to say of a scope that has just begun where there is one already: in a directory above, or in the very
    /// one that has become a repository. A repository above has others inside as a rule, and is worth a word only where
    /// something is held that lies here.
    pub(crate) fn began_inside_another(&mut self) -> Option<Notice> {
        let root = self.site.root.clone()?;
        for outer in root.ancestors() {
            let scope = directory_key(outer);
            // It is made, whatever can be said beside.
            if scope != self.site.key && self.engine.has(&scope).unwrap_or_default() {
                return Some(inside(self.site.place.clone(), outer, &scope));
            }
        }
        self.held_outside(Meant::AlsoHere)
    }

    /// The live leases of this checkout that name only what lies in a scope inside this one, and something of a target.
    pub(crate) fn held_inside(&mut self, inner: &Path, target: &Pattern) -> Result<Vec<LeaseView>, Failure> {
        let (scope, here) = (self.site.key.clone(), self.site.worktree());
        let Some(directory) = place_in(&self.site, inner) else { return Ok(Vec::new()) };
        let mut held = self.held_on(&scope, &here, target)?;
        held.retain(|view| named_by(view).is_some_and(|pattern| pattern.is_inside(&directory)));
        Ok(held)
    }

    fn held_outside(&mut self, meant: Meant) -> Option<Notice> {
        let (root, own) = (self.site.root.clone()?, self.site.key.clone());
        let Around { former, outer } =
            ground::around(self.outside, &mut *self.engine, &self.config, &self.start, &root);
        let former = former.filter(|former| self.site.kind == SiteKind::Git && *former != own);
        if let Some(former) = former.filter(|former| self.is_held(former)) {
            return Some(inside(self.site.place.clone(), &root, &former));
        }
        let mut others = outer.into_iter().filter(|outer| outer.key != own);
        let outer = others.find(|outer| self.is_held_in(outer, &root, meant))?;
        Some(inside(root.display().to_string(), outer.root.as_deref()?, &outer.key))
    }

    /// Whether anything is held in a scope.
    fn is_held(&mut self, scope: &ScopeKey) -> bool {
        let Ok(survey) = self.survey_in(scope, LeaseListing::Live) else { return false };
        survey.leases().iter().any(|view| view.lease.ended.is_none())
    }

    /// Whether something is held in a scope around this one that lies here. What cannot be told is not said.
    fn is_held_in(&mut self, outer: &Site, root: &Path, meant: Meant) -> bool {
        let Some(directory) = place_in(outer, root) else { return false };
        let Ok(below) = Pattern::below(&directory) else { return false };
        let reaches = |pattern: &Pattern| match meant {
            Meant::OnlyHere => pattern.is_inside(&directory),
            Meant::AlsoHere => pattern.is_inside(&directory) || pattern.overlaps(&below),
        };
        let held = self.held_on(&outer.key, &outer.worktree(), &Pattern::subtree(&directory));
        held.is_ok_and(|held| held.iter().filter_map(named_by).any(reaches))
    }

    /// The live leases of a checkout on paths that overlap a pattern.
    fn held_on(
        &mut self,
        scope: &ScopeKey,
        worktree: &Worktree,
        pattern: &Pattern,
    ) -> Result<Vec<LeaseView>, Failure> {
        let (now, target) = (self.now()?, Target::Path(pattern.clone()));
        let mut read = ReadSet::default();
        read.meet(worktree, &target);
        let read = read.for_the_answer_alone();
        let slice = self.read_in(scope, |snapshot| snapshot.load(&read, &now))?.unwrap_or_default();
        let facts = self.process_facts(&slice.agents, &slice.leases);
        let mut held = show(&slice.leases, &slice.agents, &facts, &now, slice.scope.is_of(&now.boot));
        held.retain(|view| {
            let Some(named) = named_by(view) else { return false };
            view.lease.ended.is_none() && view.lease.worktree == *worktree && named.overlaps(pattern)
        });
        Ok(held)
    }
}

fn named_by(view: &LeaseView) -> Option<&Pattern> {
    match &view.lease.target {
        Target::Path(pattern) => Some(pattern),
        Target::Name(_) => None,
    }
}

/// A directory below the root of a site as paths there are compared.
fn place_in(site: &Site, directory: &Path) -> Option<CanonicalPath> {
    let below = directory.strip_prefix(site.root.as_deref()?).ok()?.to_str()?;
    CanonicalPath::parse(below, site.fold).ok()
}

fn inside(inner: String, outer: &Path, scope: &ScopeKey) -> Notice {
    Notice::ScopeInsideAnother { inner, outer: outer.display().to_string(), scope: scope.to_string() }
}
