//! Commands of git in an agent's shell, where others may work in the same checkout.
//!
//! What would change the whole checkout, or take along what is with somebody else, is refused; what writes the index takes
//! its turn at it. Whoever is alone is asked for nothing and waits for nobody. People are not concerned: nothing here is
//! called for what they type.

use crate::config::Enforcement;
use crate::ground::Ground;
use crate::hooking::{HookCall, unheard};
use crate::listings::AgentSeen;
use crate::outage::{Failing, cannot_be_asked, welcome_beside};
use crate::outside::Outside;
use crate::rooted::rooted;
use crate::session::{Globals, Session};
use crate::shelter::{Refusal, Unkept, home};
use crate::site::SiteKind;
use crate::stashes::PUT_ASIDE;
use crate::turns;
use clearway_core::agent::{AgentName, Liveness};
use clearway_core::command::{Command, Upheaval};
use clearway_core::commit::Whose;
use clearway_core::failure::Failure;
use clearway_core::git_line::{GitAct, GitUse, git_uses};
use clearway_core::hint::Hint;
use clearway_core::ids::AgentId;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::target::ResourceName;
use clearway_store::contract::LeaseListing;
use std::collections::BTreeSet;
use std::path::Path;

/// Whether a line may run, as far as it asks something of git, in every checkout that it is about.
#[derive(Debug, Default)]
pub struct Sharing {
    /// Why it may not.
    pub refused: Option<Refusal>,
    /// Where the store fails that would tell whether others are in its way.
    pub unjudged: Vec<Unkept>,
    /// What else kept us from telling, where somebody watches.
    pub unsure: Vec<Failure>,
}

/// Asks whether a line may run. It has its turns then, until it is over. One checkout that cannot be asked says nothing of
/// the others. `failing` is the store of where the agent stands, if that failed already.
pub fn before_git(
    outside: &mut dyn Outside,
    call: &HookCall,
    command: &str,
    failing: Option<&Failing>,
) -> Sharing {
    let mut sharing = Sharing::default();
    let home = home(outside);
    let uses = git_uses(command, home.as_deref());
    if uses.is_empty() {
        return sharing;
    }
    // A call before this one that was never heard of again is over.
    turns::abandon(outside, call);
    let globals = unheard(&call.globals_with_client(outside));
    let order = Order { call, command, brings_turn: commits_with_us(command) };
    for (ground, uses) in by_checkout(outside, &globals, call, uses, failing, &mut sharing.unjudged) {
        let (mode, is_unattended) = (ground.config.mode(), ground.config.is_unattended());
        let root = ground.site.root.clone().unwrap_or_default();
        let concerns_others = uses.iter().any(|used| concerns_others(&used.act));
        let session = Session::on(outside, &globals, ground);
        match session.and_then(|mut session| session.judge_uses(&order, &uses)) {
            Ok(None) => {}
            Err(_) if !concerns_others => {}
            Err(failure) if cannot_be_asked(&failure) => sharing.unjudged.push(unjudged(&root, failure)),
            Err(failure) if !is_unattended => sharing.unsure.push(failure),
            Ok(Some(failure)) | Err(failure) => {
                turns::abandon(outside, call);
                sharing.refused = Some(Refusal { failure, mode });
                return sharing;
            }
        }
    }
    sharing
}

fn unjudged(place: &Path, failure: Failure) -> Unkept {
    Unkept { file: place.join(".git").display().to_string(), failure }
}

/// Whether a command may reach what others have there. What only writes the index they do not lose by, and a commit is
/// looked at by the repository's own hooks.
fn concerns_others(act: &GitAct) -> bool {
    !matches!(act, GitAct::WritesIndex | GitAct::Commits)
}

/// A line that is about to run.
#[derive(Clone, Copy)]
pub(crate) struct Order<'c> {
    pub(crate) call: &'c HookCall,
    pub(crate) command: &'c str,
    /// Whether something in it takes its own turn at the index, for which it would wait in vain.
    brings_turn: bool,
}

fn commits_with_us(line: &str) -> bool {
    let is_ours = |placed: &shell::Placed| {
        let program =
            placed.words.first().map(|word| word.text.rsplit('/').next().unwrap_or_default().to_owned());
        program.is_some_and(|program| program == "clearway")
    };
    shell::placed(line, None).iter().any(is_ours)
}

/// The commands by the checkouts that they are about, where anybody invited us, but for those whose store fails.
fn by_checkout(
    outside: &mut dyn Outside,
    globals: &Globals,
    call: &HookCall,
    uses: Vec<GitUse>,
    failing: Option<&Failing>,
    unasked: &mut Vec<Unkept>,
) -> Vec<(Ground, Vec<GitUse>)> {
    let mut found: Vec<(Ground, Vec<GitUse>)> = Vec::new();
    for mut used in uses {
        let directory = rooted(outside, globals, &call.cwd, &used.directory);
        let place = match &used.act {
            GitAct::RemovesCheckout { path } => rooted(outside, globals, &call.cwd, path),
            _ => directory.clone(),
        };
        used.directory = directory.display().to_string();
        // What is not there is git's to say.
        if !outside.is_directory(&place) {
            continue;
        }
        let ground = match welcome_beside(outside, globals, &place, failing) {
            Ok(ground) => ground,
            Err(failure) => {
                unasked.extend(concerns_others(&used.act).then(|| unjudged(&place, failure)));
                continue;
            }
        };
        let Some(ground) = ground.filter(|ground| ground.site.kind == SiteKind::Git) else { continue };
        match found.iter_mut().find(|(known, _)| known.site.root == ground.site.root) {
            Some((_, uses)) => uses.push(used),
            None if ground.site.root.is_some() => found.push((ground, vec![used])),
            None => {}
        }
    }
    found
}

/// Everybody else in a scope who is not known to be gone, and who belongs to the caller.
pub(crate) struct Crowd {
    pub(crate) family: BTreeSet<AgentId>,
    pub(crate) all: Vec<AgentSeen>,
}

impl Crowd {
    fn others(&self) -> impl Iterator<Item = &AgentSeen> {
        let is_other =
            |seen: &&AgentSeen| !self.family.contains(&seen.view.agent.id) && seen.liveness != Liveness::Gone;
        self.all.iter().filter(is_other)
    }

    pub(crate) fn is_alone(&self) -> bool {
        self.others().next().is_none()
    }
}

impl Session<'_> {
    fn judge_uses(&mut self, order: &Order<'_>, uses: &[GitUse]) -> Result<Option<Failure>, Failure> {
        let key = self.site.key.clone();
        let survey = self.survey_in(&key, LeaseListing::Live)?;
        let crowd = Crowd { family: survey.household_of(&self.caller), all: survey.agents() };
        if !crowd.is_alone() {
            for used in uses {
                if let Some(failure) = self.refused_for_others(order, used, &crowd)? {
                    return Ok(Some(failure));
                }
            }
        }
        let stashes = uses.iter().any(|used| is_about_stash(&used.act));
        // Where nothing is enforced nobody is made to wait, and nothing is kept from anybody.
        let is_enforced = self.config.mode() == Enforcement::Enforce;
        let is_put_aside = is_enforced && !crowd.is_alone() && self.commit_puts_aside(uses)?;
        let mut names = Vec::new();
        if !crowd.is_alone() && !order.brings_turn && uses.iter().any(|used| writes_index(&used.act)) {
            names.push(ResourceName::git_index(&self.site.worktree()));
        }
        if stashes || is_put_aside {
            names.push(ResourceName::git_stash());
        }
        names.retain(|_| is_enforced);
        if let Some(failure) = self.take_turn(order.call, names)? {
            return Ok(Some(failure));
        }
        if stashes && let Some(failure) = self.stash(order.call, uses, &crowd)? {
            return Ok(Some(failure));
        }
        if is_put_aside {
            return self.keep_before_hooks(order);
        }
        Ok(None)
    }

    /// Why a command of git has to leave a checkout alone that others work in.
    fn refused_for_others(
        &mut self,
        order: &Order<'_>,
        used: &GitUse,
        crowd: &Crowd,
    ) -> Result<Option<Failure>, Failure> {
        let from = order.call.cwd.join(&used.directory);
        let is_file = |outside: &dyn Outside, name: &String| outside.changed_at(&from.join(name)).is_some();
        match &used.act {
            GitAct::Upheaves { unless_file: Some(name), undoes_it } if is_file(self.outside, name) => {
                let undone = if *undoes_it { vec![name.clone()] } else { Vec::new() };
                self.undoes_of_others(order.call, used, &from, &undone, crowd)
            }
            GitAct::Discards { only, .. } => self.undoes_of_others(order.call, used, &from, only, crowd),
            GitAct::Upheaves { .. } => {
                let apart = self.checkout_apart();
                self.upheaval(&used.what, crowd, apart)
            }
            GitAct::RemovesCheckout { .. } => {
                let look = Hint::command("see who is at work there", "status", &[]);
                self.upheaval(&used.what, crowd, look)
            }
            GitAct::PutsAside { only, .. } => {
                self.takes_of_others(order.call, &used.what, &from, only.as_deref(), crowd, &PUT_ASIDE)
            }
            _ => Ok(None),
        }
    }

    fn upheaval(&mut self, what: &str, crowd: &Crowd, hint: Hint) -> Result<Option<Failure>, Failure> {
        let present = self.standing_here(crowd);
        let wrote = self.writers_here(crowd)?;
        let upheaval = Command::Upheave(Upheaval {
            worktree: self.site.worktree(),
            what: what.to_owned(),
            present,
            wrote,
        });
        let key = self.site.key.clone();
        match self.preview_in(&key, upheaval.clone())?.outcome {
            Err(failure) if failure.slug == Slug::OthersAtWork => {}
            _ => return Ok(None),
        }
        let refused = self.command(upheaval)?.outcome.err();
        Ok(refused.map(|failure| failure.hint(hint)))
    }

    /// Others who are at work and whose client stands in this checkout, whether they hold anything or not.
    fn standing_here(&mut self, crowd: &Crowd) -> Vec<AgentName> {
        let Some(root) = self.site.root.clone() else { return Vec::new() };
        let mut standing = Vec::new();
        for seen in crowd.others().filter(|seen| seen.liveness == Liveness::Active) {
            let process = seen.view.agent.process.as_ref().filter(|_| seen.view.agent.client.has_hooks());
            let place = process.and_then(|process| self.outside.place_of(process)?.directory);
            if place.is_some_and(|place| self.is_of_checkout(&root, &place)) {
                standing.push(seen.view.agent.name.clone());
            }
        }
        standing
    }

    /// Whether a directory belongs to a checkout, and not to one inside of it.
    fn is_of_checkout(&self, root: &Path, place: &Path) -> bool {
        let has_own = |place: &&Path| self.outside.changed_at(&place.join(".git")).is_some();
        place.ancestors().find(has_own) == Some(root)
    }

    /// Others who wrote uncommitted lines of files that nobody holds.
    fn writers_here(&mut self, crowd: &Crowd) -> Result<Vec<AgentName>, Failure> {
        let others: BTreeSet<AgentId> = crowd.others().map(|seen| seen.view.agent.id).collect();
        if self.noted_by(&|author| others.contains(&author))?.is_empty() {
            return Ok(Vec::new());
        }
        let changed = self.outside.changed_paths(&self.site)?;
        let by = self.judged(&changed)?.into_iter().flat_map(|judged| match judged.whose {
            Whose::Written(by) => by,
            _ => Vec::new(),
        });
        let by: BTreeSet<AgentId> = by.collect();
        let names = crowd.others().filter(|seen| by.contains(&seen.view.agent.id));
        Ok(names.map(|seen| seen.view.agent.name.clone()).collect())
    }

    /// A checkout of its own, where nobody else is.
    fn checkout_apart(&self) -> Hint {
        let root = self.site.root.as_ref().map(|root| root.display().to_string()).unwrap_or_default();
        let name = self.name_beside(&root);
        let within = shell::word(&root);
        Hint::Advice(format!("do it in a checkout of your own: git -C {within} worktree add --detach {name}"))
    }

    /// A name beside that of a directory, which nothing has yet, quoted for a shell.
    pub(crate) fn name_beside(&self, directory: &str) -> String {
        let mut names = (1..).map(|number| format!("{directory}-{number}"));
        let name = names.find(|name| self.outside.changed_at(Path::new(name)).is_none());
        shell::word(&name.unwrap_or_default())
    }
}

fn is_about_stash(act: &GitAct) -> bool {
    matches!(act, GitAct::PutsAside { .. } | GitAct::TakesAside { .. } | GitAct::DropsAside)
}

fn writes_index(act: &GitAct) -> bool {
    !matches!(
        act,
        GitAct::RemovesCheckout { .. } | GitAct::DropsAside | GitAct::Discards { untracked: true, .. }
    )
}
