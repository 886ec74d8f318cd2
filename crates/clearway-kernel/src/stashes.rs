//! What is put aside by `git stash`: only what is the caller's own goes there, and only what is its own comes back by
//! accident.
//!
//! Git does not know whose an entry is. The hook before a command that puts something aside notes the entry that is first
//! then, the hook after it writes down who made those that came since, each by its commit, in a file beside the store.
//! Commands of agents that do so take turns, so that no entry is another's. What nobody wrote down is a person's.

use crate::committing::Judged;
use crate::hooking::HookCall;
use crate::outside::PutAside;
use crate::session::Session;
use crate::sharing::Crowd;
use crate::targets::Look;
use crate::turns::{self, Due};
use clearway_core::agent::{AgentName, Liveness};
use clearway_core::command::{Command, Upheaval};
use clearway_core::commit::Whose;
use clearway_core::failure::Failure;
use clearway_core::git_line::{GitAct, GitUse, OWN_PATHS};
use clearway_core::hint::Hint;
use clearway_core::ids::AgentId;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::stash::Maker;
use clearway_core::text::shown;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Who made which entry, beside the store.
const SUFFIX: &str = "-stashes";
/// Bytes of it; beyond that the older half goes, and who made those entries is not known any more.
const BYTES_MAX: u64 = 256 * 1_024;
/// Bytes of paths that a command names; more are told by a command that knows them.
const PATHS_BYTES_MAX: usize = 200;
/// Letters of a path that mean something else to git or to a shell.
const ODD: [char; 9] = ['*', '?', '[', ']', ':', ' ', '\'', '"', '\\'];

/// What becomes of uncommitted work that a command takes, and the command that takes what is the caller's.
pub(crate) struct Taking {
    /// What it is called.
    purpose: &'static str,
    /// What is written behind `git`, in front of the paths.
    words: &'static str,
    /// Which files it takes, of those that git knows and those that it does not.
    takes: Takes,
}

/// Which files a command takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Takes {
    All,
    Tracked,
    Untracked,
}

/// It is put aside.
pub(crate) const PUT_ASIDE: Taking =
    Taking { purpose: "put aside only what is yours", words: "stash push -u --", takes: Takes::All };
const UNDONE: Taking =
    Taking { purpose: "undo only what is yours", words: "restore --", takes: Takes::Tracked };
const REMOVED: Taking =
    Taking { purpose: "remove only what is yours", words: "clean -fd --", takes: Takes::Untracked };

impl Session<'_> {
    /// Why what a command undoes, or removes, is not the caller's alone.
    pub(crate) fn undoes_of_others(
        &mut self,
        call: &HookCall,
        used: &GitUse,
        from: &Path,
        only: &[String],
        crowd: &Crowd,
    ) -> Result<Option<Failure>, Failure> {
        let is_new = matches!(used.act, GitAct::Discards { untracked: true, .. });
        let taking = if is_new { REMOVED } else { UNDONE };
        match only {
            [] => Ok(None),
            only => self.takes_of_others(call, &used.what, from, Some(only), crowd, &taking),
        }
    }

    /// Why what a command takes is not the caller's alone.
    pub(crate) fn takes_of_others(
        &mut self,
        call: &HookCall,
        what: &str,
        from: &Path,
        only: Option<&[String]>,
        crowd: &Crowd,
        taking: &Taking,
    ) -> Result<Option<Failure>, Failure> {
        let reached = self.reached_paths(from, only);
        let changed = self.outside.changed_paths(&self.site)?;
        let mut judged = self.judged(&changed)?;
        judged.retain(|judged| is_at(&judged.path, reached.as_deref()));
        if taking.takes != Takes::All && !judged.is_empty() {
            let known: BTreeSet<String> = self.outside.tracked_files(&self.site)?.into_iter().collect();
            judged.retain(|judged| known.contains(&judged.path) == (taking.takes == Takes::Tracked));
        }
        let foreign: Vec<&Judged> = judged.iter().filter(|judged| !judged.whose.may_go()).collect();
        let Some(first) = foreign.first() else { return Ok(None) };
        let names: BTreeSet<AgentName> = foreign.iter().flat_map(|judged| owners(judged, crowd)).collect();
        let upheaval = Upheaval {
            worktree: self.site.worktree(),
            what: what.to_owned(),
            present: Vec::new(),
            wrote: names.iter().cloned().collect(),
        };
        // It is on record that it was refused; why is said better here.
        self.command(Command::Upheave(upheaval))?.outcome.err();
        let who: Vec<String> = names.iter().map(ToString::to_string).collect();
        let more = match foreign.len() {
            1 => String::new(),
            count => format!(" and {} more", count - 1),
        };
        let message =
            format!("{what} would take uncommitted work of {}: {}{more}", who.join(", "), shown(&first.path));
        let is_own = |judged: &&Judged| judged.whose == Whose::Mine;
        let own: Vec<&str> = judged.iter().filter(is_own).map(|judged| judged.path.as_str()).collect();
        Ok(Some(Failure::new(Slug::OthersAtWork, message).hint(self.own_part(call, &own, taking))))
    }

    /// The paths as they are from the root; `None` is everything. What cannot be told is everything.
    fn reached_paths(&mut self, from: &Path, only: Option<&[String]>) -> Option<Vec<String>> {
        let mut look = Look { outside: self.outside, engine: &mut *self.engine };
        let mut reached = Vec::new();
        for path in only? {
            let place = from.join(path).display().to_string();
            let has_magic = path.starts_with(':') || path.contains(['*', '?', '[']);
            let literal = !has_magic || look.outside.changed_at(Path::new(&place)).is_some();
            reached.push(look.resolve(&self.site, &place).ok().filter(|_| literal)?.path);
        }
        Some(reached)
    }

    /// The command that takes what is the caller's, and nothing else.
    fn own_part(&self, call: &HookCall, own: &[&str], taking: &Taking) -> Hint {
        let Taking { purpose, words: verb, .. } = taking;
        if own.is_empty() {
            return Hint::from("nothing of it is yours; see whose it is: clearway diff --stat");
        }
        let root = self.site.root.clone().unwrap_or_default();
        let is_here = call.cwd == root;
        let root = shell::word(&root.display().to_string());
        let is_odd = own.iter().any(|path| path.contains(ODD));
        let words: Vec<String> = own.iter().map(|path| shell::as_it_is(path)).collect();
        let words = words.join(" ");
        if words.len() > PATHS_BYTES_MAX && !is_odd {
            let before = if is_here { String::new() } else { format!("cd {root} && ") };
            return Hint::Advice(format!("{purpose}: {before}git {verb} {OWN_PATHS}"));
        }
        let within = if is_here { String::new() } else { format!("-C {root} ") };
        let literal = if is_odd { "--literal-pathspecs " } else { "" };
        Hint::Advice(format!("{purpose}: git {within}{literal}{verb} {words}"))
    }

    /// Judges what commands do with entries, in their order, and notes what is there before any is made. The turn is the
    /// caller's by now.
    pub(crate) fn stash(
        &mut self,
        call: &HookCall,
        uses: &[GitUse],
        crowd: &Crowd,
    ) -> Result<Option<Failure>, Failure> {
        let there = self.outside.put_aside(&self.site)?;
        let makers = self.makers()?;
        let here = self.site.worktree();
        let maker = |commit: &String| match makers.get(commit) {
            None => Maker::Unknown,
            Some((agent, at)) if crowd.family.contains(agent) => {
                if *at == here.0 {
                    Maker::Own
                } else {
                    Maker::OwnElsewhere
                }
            }
            Some((agent, _)) => by_whom(*agent, crowd),
        };
        let before: Vec<Maker> = there.entries.iter().map(maker).collect();
        let mut entries = before.clone();
        let mut puts_aside = false;
        for used in uses {
            let taken: Vec<(usize, bool)> = match &used.act {
                GitAct::PutsAside { only, untracked } => {
                    puts_aside = true;
                    let reached = self.reached_paths(&call.cwd.join(&used.directory), only.as_deref());
                    if has_something(&there, reached.as_deref(), *untracked) {
                        entries.insert(0, Maker::Own);
                    }
                    continue;
                }
                GitAct::TakesAside { entry, .. } => vec![(entry.unwrap_or(0), entry.is_some())],
                GitAct::DropsAside => (0..entries.len()).map(|entry| (entry, false)).collect(),
                _ => continue,
            };
            let refused = |(entry, named): &&(usize, bool)| {
                entries.get(*entry).is_some_and(|maker| !maker.may_be_taken(*named))
            };
            if let Some((entry, _)) = taken.iter().find(refused) {
                return Ok(Some(not_yours(used, *entry, &entries[*entry], &before, puts_aside)));
            }
            if let GitAct::TakesAside { entry, drops: true } = &used.act
                && entry.unwrap_or(0) < entries.len()
            {
                entries.remove(entry.unwrap_or(0));
            }
        }
        if puts_aside {
            let root = self.site.root.clone().unwrap_or_default();
            turns::note(self.outside, call, &root, &Due::Aside(there.entries.first().cloned()));
        }
        Ok(None)
    }

    /// Writes down that the caller made every entry that came after this one, as far as nobody else did.
    pub(crate) fn note_put_aside(&mut self, top: Option<&str>) -> Result<(), Failure> {
        let Some((me, _)) = self.me()? else { return Ok(()) };
        let known = self.makers()?;
        let there = self.outside.put_aside(&self.site)?.entries;
        let is_new = |commit: &&String| Some(commit.as_str()) != top;
        let new: Vec<&String> =
            there.iter().take_while(is_new).filter(|commit| !known.contains_key(*commit)).collect();
        let place = self.file_beside_store(SUFFIX)?;
        let worktree = self.site.worktree().0;
        for commit in new {
            self.outside.jot(&place, &format!("{commit}\t{me}\t{worktree}"), BYTES_MAX)?;
        }
        Ok(())
    }

    /// Who made which entry, and in which checkout.
    fn makers(&mut self) -> Result<BTreeMap<String, (AgentId, String)>, Failure> {
        let place = self.file_beside_store(SUFFIX)?;
        let text = self.outside.read_text(&place)?.unwrap_or_default();
        let read = |line: &str| {
            let mut fields = line.splitn(3, '\t');
            let commit = fields.next()?.to_owned();
            let agent = AgentId::parse(fields.next()?)?;
            Some((commit, (agent, fields.next()?.to_owned())))
        };
        Ok(text.lines().filter_map(read).collect())
    }
}

/// Whether there is anything that a command would put aside.
fn has_something(there: &PutAside, reached: Option<&[String]>, untracked: bool) -> bool {
    let tracked = there.changed.iter();
    let new = there.untracked.iter().filter(|_| untracked);
    tracked.chain(new).any(|path| is_at(path, reached))
}

fn is_at(path: &str, reached: Option<&[String]>) -> bool {
    reached.is_none_or(|reached| reached.iter().any(|place| Path::new(path).starts_with(place)))
}

fn by_whom(agent: AgentId, crowd: &Crowd) -> Maker {
    match crowd.all.iter().find(|seen| seen.view.agent.id == agent) {
        None => Maker::Unknown,
        Some(seen) if seen.liveness == Liveness::Gone => Maker::Gone(seen.view.agent.name.clone()),
        Some(seen) => Maker::Other(seen.view.agent.name.clone()),
    }
}

fn owners(judged: &Judged, crowd: &Crowd) -> Vec<AgentName> {
    let of: Vec<AgentId> = match &judged.whose {
        Whose::Held(leases) => leases.iter().map(|lease| lease.holder).collect(),
        Whose::Written(by) => by.clone(),
        Whose::Mine | Whose::Nobodys => Vec::new(),
    };
    let owners = crowd.all.iter().filter(|seen| of.contains(&seen.view.agent.id));
    owners.map(|seen| seen.view.agent.name.clone()).collect()
}

/// Why an entry is not taken, with the one that is the caller's.
fn not_yours(used: &GitUse, entry: usize, maker: &Maker, before: &[Maker], after_stash: bool) -> Failure {
    let what = &used.what;
    let whose = maker.whose();
    let message = match after_stash {
        true => {
            format!("nothing here would be put aside, and {what} would take stash@{{{entry}}}, which {whose}")
        }
        false => format!("{what} would take stash@{{{entry}}}, which {whose}"),
    };
    let own = before.iter().position(|maker| *maker == Maker::Own);
    let is_all = used.act == GitAct::DropsAside;
    let command = if is_all { "git stash drop" } else { what.as_str() };
    let hint = match own {
        Some(own) => format!("yours is: {command} stash@{{{own}}}"),
        None if maker.may_be_taken(true) && !is_all => {
            format!("none is yours; if this one is meant, name it: {command} stash@{{{entry}}}")
        }
        None => "none is yours; see what is there: git stash list".to_owned(),
    };
    Failure::new(Slug::OthersAtWork, message).hint(hint)
}
