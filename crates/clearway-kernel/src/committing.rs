//! `commit`: what is the caller's own goes into a commit, and nothing else.
//!
//! Git makes the commit, of named paths alone, so what others staged or changed stays as it is. Those who commit so take
//! turns at the index of a checkout: git itself reads it before it locks it.

use crate::mutations::usage;
use crate::outside::{ChangedPaths, CommitOrder, GitCommit};
use crate::session::Session;
use crate::targets::Look;
use crate::waiting::{AtEnd, Watcher};
use clearway_core::agent::Liveness;
use clearway_core::command::{Command, Reserve, Want};
use clearway_core::commit::{Whose, whose};
use clearway_core::decide::Success;
use clearway_core::facts::Process;
use clearway_core::failure::{Details, Failure, LeaseView};
use clearway_core::hint::Hint;
use clearway_core::ids::AgentId;
use clearway_core::lease::{Grade, Kind, Mode};
use clearway_core::limits::TTL_MS_AUTO;
use clearway_core::path::CanonicalPath;
use clearway_core::pattern::Pattern;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::target::{ResourceName, Target};
use clearway_core::text::shown;
use clearway_store::Reply;
use clearway_store::contract::LeaseListing;
use std::collections::{BTreeMap, BTreeSet};

/// Paths that are named in a sentence; programs are told all of them.
const PATHS_NAMED: usize = 3;

/// `commit` as it was typed.
#[derive(Clone, Debug)]
pub struct CommitWords {
    /// `--message`, each a paragraph.
    pub messages: Vec<String>,
    /// Files, directories or patterns; everything of the caller's if none is named.
    pub paths: Vec<String>,
}

/// What became of it.
#[derive(Clone, Debug)]
pub struct Committed {
    /// The commit.
    pub commit: GitCommit,
    /// What is in it.
    pub paths: Vec<String>,
    /// How many changed paths of the checkout are not.
    pub left: u64,
    /// How the scope stood afterwards, and who committed.
    pub reply: Reply,
}

/// What a commit takes along.
struct Share {
    paths: Vec<String>,
    left: u64,
}

impl Session<'_> {
    /// Commits what is the caller's, or what is named of it.
    pub fn commit(&mut self, words: &CommitWords, watch: &mut Watcher<'_>) -> Result<Committed, Failure> {
        self.refuse_idempotency_key()?;
        if words.messages.iter().all(|message| message.trim().is_empty()) {
            return Err(usage("a commit needs a message that says something", "say what changes: -m TEXT"));
        }
        // Nobody is made to wait, and no scope begins, where there is nothing to commit.
        self.share(words)?;
        let process = self.take_index(watch)?;
        let began = self.now()?.mono;
        let made = self.make(words);
        let reply = self.command(Command::LetGo(process))?;
        let (commit, share) = made?;
        // Git's hook may have done so already; where there is none, the work is over all the same.
        let paths = share.paths.clone();
        drop(self.settle_commit(|_| Ok(paths), Some(began)));
        Ok(Committed { commit, paths: share.paths, left: share.left, reply })
    }

    /// Makes the commit. Where its hooks put aside what is not committed, the work of others is kept first, and they wait
    /// with their edits.
    fn make(&mut self, words: &CommitWords) -> Result<(GitCommit, Share), Failure> {
        let share = self.share(words)?;
        let is_put_aside = self.outside.hooks_put_aside(&self.site) && self.has_work_of_others()?;
        if is_put_aside {
            self.put_in_safety("clearway commit".to_owned())?;
        }
        let agent = self.caller.claim.as_ref().map(ToString::to_string);
        let order = CommitOrder { messages: words.messages.clone(), paths: share.paths.clone(), agent };
        let made = self.outside.commit(&self.site, &order);
        if is_put_aside {
            // What cannot be said now is over by itself.
            drop(self.let_others_edit());
        }
        Ok((made?, share))
    }

    /// Waits until nobody else who takes turns writes the index of this checkout. The turn ends with this process.
    fn take_index(&mut self, watch: &mut Watcher<'_>) -> Result<Process, Failure> {
        let process = self.outside.own_process().ok_or_else(|| {
            Failure::new(Slug::Internal, "this process cannot be told apart from others, so it has no turn")
                .hint("commit by git itself: git commit --only")
        })?;
        let here = self.site.worktree();
        let mut names = vec![ResourceName::git_index(&here)];
        if self.outside.hooks_put_aside(&self.site) {
            names.push(ResourceName::git_stash());
        }
        let reserve = Reserve {
            wants: names.into_iter().map(|name| Want { target: Target::Name(name), capacity: 1 }).collect(),
            worktree: here,
            mode: Mode::Exclusive,
            grade: Grade::Claimed,
            as_set: false,
            ttl_ms: TTL_MS_AUTO,
            max_ms: None,
            reason: Some("commit".to_owned()),
            best_effort: false,
            bound: Some(process.clone()),
            makes_way: false,
        };
        let wait_ms = self.patience_ms(None, "", "")?;
        let scope = self.site.key.clone();
        let reply = self.wait_for(&scope, &reserve, None, wait_ms, AtEnd::GiveUp, watch)?;
        match reply.outcome {
            Ok(Success::Reserved { .. }) => Ok(process),
            Ok(_) => Err(Failure::new(Slug::Internal, "the kernel gave the answer to another question")),
            Err(mut failure) => {
                failure.hints.clear();
                Err(failure.hint("others commit in this checkout; try again"))
            }
        }
    }

    /// What of the changes here a commit takes along.
    fn share(&mut self, words: &CommitWords) -> Result<Share, Failure> {
        self.own_share(words).map_err(|failure| self.at_root(failure))
    }

    fn own_share(&mut self, words: &CommitWords) -> Result<Share, Failure> {
        // Where there is no checkout, that is to be said, and not that a path is not in it.
        let changed = self.outside.changed_paths(&self.site)?;
        let named = self.named_paths(&words.paths)?;
        let judged = self.judged(&changed)?;
        let is_named = |path: &str| named.iter().any(|named| named.is(path));
        let mut taken: BTreeSet<&str> = BTreeSet::new();
        let mut refused: Vec<&Judged> = Vec::new();
        for judged in &judged {
            match &judged.whose {
                _ if !named.is_empty() && !is_named(&judged.path) => {}
                Whose::Mine => drop(taken.insert(&judged.path)),
                Whose::Nobodys if !named.is_empty() => drop(taken.insert(&judged.path)),
                Whose::Nobodys => {}
                Whose::Held(_) | Whose::Written(_) if named.is_empty() => {}
                Whose::Held(_) | Whose::Written(_) => refused.push(judged),
            }
        }
        let partners = partners(&changed, &judged, &taken);
        taken.extend(partners);
        if !refused.is_empty() {
            let rest: Vec<&str> = taken.into_iter().collect();
            return Err(with_others(&refused, &words.messages, &rest));
        }
        if taken.is_empty() {
            return Err(nothing(&judged, words));
        }
        let left = (judged.len() - taken.len()) as u64;
        Ok(Share { paths: taken.into_iter().map(str::to_owned).collect(), left })
    }

    /// Whose each change of this checkout is.
    pub(crate) fn judged(&mut self, changed: &ChangedPaths) -> Result<Vec<Judged>, Failure> {
        let key = self.site.key.clone();
        let survey = self.survey_in(&key, LeaseListing::Live)?;
        let (here, fold) = (self.site.worktree(), self.site.fold);
        let family = survey.household_of(&self.caller);
        let counts = |view: &LeaseView| {
            view.lease.ended.is_none() && view.lease.worktree == here && view.liveness != Liveness::Gone
        };
        let leases: Vec<LeaseView> = survey.leases().into_iter().filter(counts).collect();
        let agents = survey.agents();
        let gone: BTreeSet<AgentId> = agents
            .iter()
            .filter(|seen| seen.liveness == Liveness::Gone)
            .map(|seen| seen.view.agent.id)
            .collect();
        let names: BTreeMap<AgentId, String> =
            agents.iter().map(|seen| (seen.view.agent.id, seen.view.agent.name.to_string())).collect();
        let authors = self.authors_of_changes(&gone)?;
        let judge = |path: &String| {
            let target = Target::Path(Pattern::literal(&CanonicalPath::parse(path, fold).ok()?));
            let live = leases.iter().map(|view| &view.lease);
            let authors = authors.get(path).map(Vec::as_slice).unwrap_or_default();
            let whose = whose(&target, live, authors, |agent| family.contains(&agent));
            let others = match &whose {
                Whose::Held(held) => {
                    let is_held = |view: &&LeaseView| held.iter().any(|lease| lease.id == view.lease.id);
                    leases.iter().filter(is_held).cloned().collect()
                }
                _ => Vec::new(),
            };
            let writers = match &whose {
                Whose::Written(by) => by.iter().filter_map(|id| names.get(id).cloned()).collect(),
                _ => Vec::new(),
            };
            Some(Judged { path: path.clone(), whose, others, writers })
        };
        Ok(changed.paths.iter().filter_map(judge).collect())
    }

    /// Who of those that are still there wrote the uncommitted lines of each file, as far as hooks told.
    fn authors_of_changes(
        &mut self,
        gone: &BTreeSet<AgentId>,
    ) -> Result<BTreeMap<String, Vec<AgentId>>, Failure> {
        let files = self.attributed(&[], None)?.files;
        let authors = files.into_iter().map(|file| {
            let by = file.counts().into_keys().flatten().map(|author| author.id);
            (file.change.path.clone(), by.filter(|author| !gone.contains(author)).collect())
        });
        Ok(authors.collect())
    }

    /// The words as paths of this checkout, and as what else they may mean.
    fn named_paths(&mut self, words: &[String]) -> Result<Vec<NamedPath>, Failure> {
        let mut named = Vec::new();
        for word in words {
            let target = self.target(Kind::Path, word)?;
            let mut look = Look { outside: self.outside, engine: &mut *self.engine };
            let literal = look.resolve(&self.site, word).ok().map(|located| located.path);
            named.push(NamedPath { target, literal, fold: self.site.fold });
        }
        Ok(named)
    }
}

/// A word that names changes: a file that is gone is meant by its very name, whatever is in it.
struct NamedPath {
    target: Target,
    literal: Option<String>,
    fold: clearway_core::pattern::Fold,
}

impl NamedPath {
    fn is(&self, path: &str) -> bool {
        let Target::Path(pattern) = &self.target else { return false };
        let is_below = |directory: &String| {
            directory.is_empty()
                || path
                    .strip_prefix(directory.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.literal.as_ref().is_some_and(is_below)
            || CanonicalPath::parse(path, self.fold).is_ok_and(|path| pattern.matches(&path))
    }
}

/// A change, and whose it is.
pub(crate) struct Judged {
    pub(crate) path: String,
    pub(crate) whose: Whose,
    /// The leases of others on it.
    pub(crate) others: Vec<LeaseView>,
    /// The others that wrote it.
    writers: Vec<String>,
}

impl Judged {
    fn why(&self) -> String {
        let by = |verb: &str, mut names: Vec<String>| {
            names.sort();
            names.dedup();
            format!("{} {verb} {}", shown(&self.path), names.join(", "))
        };
        match self.others.is_empty() {
            true => by("has uncommitted lines of", self.writers.clone()),
            false => by("is held by", self.others.iter().map(|view| view.agent.to_string()).collect()),
        }
    }
}

/// Of a file with a new name both names go together, if nobody else has the other one.
fn partners<'c>(changed: &'c ChangedPaths, judged: &[Judged], taken: &BTreeSet<&str>) -> Vec<&'c str> {
    let may_go = |path: &str| judged.iter().any(|judged| judged.path == path && judged.whose.may_go());
    let pairs = changed.renames.iter().flat_map(|(from, to)| [(from, to), (to, from)]);
    let partners = pairs.filter(|(one, other)| taken.contains(one.as_str()) && may_go(other));
    partners.map(|(_, other)| other.as_str()).collect()
}

/// The command that commits what is left of what was asked for.
pub(crate) fn rest_of_it(messages: &[String], paths: &[&str]) -> Option<Hint> {
    let mut verb = "commit".to_owned();
    messages.iter().for_each(|message| verb.push_str(&format!(" -m {}", shell::as_it_is(message))));
    (!paths.is_empty()).then(|| Hint::command("commit the rest", &verb, paths))
}

fn with_others(refused: &[&Judged], messages: &[String], rest: &[&str]) -> Failure {
    let why: Vec<String> = refused.iter().take(PATHS_NAMED).map(|judged| judged.why()).collect();
    let more = refused.len().saturating_sub(PATHS_NAMED);
    let more = if more > 0 { format!(", and {more} more are with others") } else { String::new() };
    let mut seen = BTreeSet::new();
    let leases = refused.iter().flat_map(|judged| judged.others.clone());
    let leases = leases.filter(|view| seen.insert(view.lease.id)).collect();
    let message = format!("{}{more}; nothing was committed", why.join(", "));
    let failure = Failure::new(Slug::CommitRefused, message)
        .details(Details::Blockers { leases, ahead: Vec::new().into() });
    let first = refused.first().map(|judged| judged.path.as_str()).unwrap_or_default();
    failure
        .hint(rest_of_it(messages, rest).unwrap_or_else(|| Hint::command("see whose it is", "who", &[first])))
}

fn nothing(judged: &[Judged], words: &CommitWords) -> Failure {
    if !words.paths.is_empty() {
        let names: Vec<String> = words.paths.iter().take(PATHS_NAMED).map(|path| shown(path)).collect();
        let message = format!("nothing is changed at {}", names.join(", "));
        return Failure::new(Slug::NothingToCommit, message)
            .hint("see what is changed: clearway diff --stat");
    }
    if judged.is_empty() {
        return Failure::new(Slug::NothingToCommit, "nothing is changed here")
            .hint("see what you hold: clearway mine");
    }
    let free: Vec<&str> = judged
        .iter()
        .filter(|judged| judged.whose == Whose::Nobodys)
        .map(|judged| judged.path.as_str())
        .collect();
    let message = "nothing of what is changed here is yours";
    let failure = Failure::new(Slug::NothingToCommit, message);
    let changed = judged.len() as u64;
    let failure = failure.details(Details::field("changed", changed));
    match (free.len(), rest_of_it(&words.messages, &free)) {
        (1..=PATHS_NAMED, Some(Hint::Command { flags, words, paths, runner, .. })) => {
            failure.hint(Hint::Command {
                purpose: "nobody is known to have changed it; name it to commit it".to_owned(),
                flags,
                words,
                paths,
                runner,
            })
        }
        _ => failure.hint("see whose it is: clearway diff --stat"),
    }
}
