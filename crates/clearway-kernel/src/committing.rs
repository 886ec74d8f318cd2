//! `commit`: what is the caller's own goes into a commit, and nothing else.
//!
//! Git makes the commit, of named paths alone, so what others staged or changed stays as it is. Those who commit so take
//! turns at the index of a checkout: git itself reads it before it locks it.

use crate::githooks::{PATHS_TOLD_APART, PathOfCommit};
use crate::mutations::usage;
use crate::outside::{ChangedPaths, CommitOrder, GitCommit, UnderWay};
use crate::radar::Foreseen;
use crate::session::Session;
use crate::targets::Look;
use crate::waiting::{AtEnd, Watcher};
use clearway_core::agent::{AgentName, Liveness};
use clearway_core::command::{Command, Commit, Reserve};
use clearway_core::commit::{Whose, whose};
use clearway_core::decide::Success;
use clearway_core::facts::Process;
use clearway_core::failure::{Details, Failure, LeaseView};
use clearway_core::hint::Hint;
use clearway_core::ids::AgentId;
use clearway_core::lease::{Grade, Kind, Lease};
use clearway_core::limits::TTL_MS_AUTO;
use clearway_core::path::CanonicalPath;
use clearway_core::pattern::Fold;
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
    /// What of it will not merge with the work of others.
    pub clash: Option<String>,
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
        self.refuse_part_of_operation()?;
        // Nobody is made to wait, and no scope begins, where there is nothing to commit.
        self.share(words)?;
        let (process, turn) = self.take_index(watch)?;
        let began = self.now()?.mono;
        let made = self.make(words);
        // What git did is the answer, whatever becomes of the turn, which ends with this process all the same.
        let done = self.heard(|session| session.command(Command::LetGo(process)));
        let reply = done.unwrap_or(turn);
        let (commit, share) = made?;
        // Git's hook may have done so already; where there is none, the work is over all the same.
        let paths = share.paths.clone();
        let others = self.settle_commit(|_| Ok(paths), Some(began)).unwrap_or_default();
        let clash = Foreseen::lines(&self.radar_here(&others));
        Ok(Committed { commit, paths: share.paths, left: share.left, clash, reply })
    }

    /// Git commits a merge or a cherry-pick as a whole.
    fn refuse_part_of_operation(&mut self) -> Result<(), Failure> {
        let what = match self.outside.under_way() {
            UnderWay::Merge(_) => "a merge",
            UnderWay::CherryPick => "a cherry-pick",
            _ => return Ok(()),
        };
        let message = format!("{what} is under way, and git commits no part of it");
        Err(Failure::new(Slug::GitFailed, message)
            .hint("finish it, once it is resolved and staged: git commit"))
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
    fn take_index(&mut self, watch: &mut Watcher<'_>) -> Result<(Process, Reply), Failure> {
        let process = self.outside.own_process().ok_or_else(|| {
            Failure::new(Slug::Internal, "this process cannot be told apart from others, so it has no turn")
                .hint("commit by git itself: git commit --only")
        })?;
        let here = self.site.worktree();
        let mut names = vec![ResourceName::git_index(&here)];
        if self.outside.hooks_put_aside(&self.site) {
            names.push(ResourceName::git_stash());
        }
        let names = names.into_iter().map(Target::Name);
        let reserve = Reserve {
            reason: Some("commit".to_owned()),
            bound: Some(process.clone()),
            ..Reserve::alone(names, here, Grade::Claimed, TTL_MS_AUTO)
        };
        let wait_ms = self.patience_ms(None, "", "")?;
        let scope = self.site.key.clone();
        let reply = self.wait_for(&scope, &reserve, None, wait_ms, AtEnd::GiveUp, watch)?;
        match &reply.outcome {
            Ok(Success::Reserved { .. }) => Ok((process, reply)),
            Ok(_) => Err(Failure::new(Slug::Internal, "the kernel gave the answer to another question")),
            Err(failure) if failure.slug == Slug::ReservationHeld => {
                let held = Failure { hints: Vec::new(), ..failure.clone() };
                Err(held.hint("others commit in this checkout; try again"))
            }
            Err(failure) => Err(failure.clone()),
        }
    }

    /// What of the changes here a commit takes along.
    fn share(&mut self, words: &CommitWords) -> Result<Share, Failure> {
        self.own_share(words).map_err(|failure| self.at_root(failure))
    }

    fn own_share(&mut self, words: &CommitWords) -> Result<Share, Failure> {
        // Where there is no checkout, that is to be said, and not that a path is not in it.
        let changed = self.outside.changed_paths(&self.site)?;
        let judged = self.judged(&changed)?;
        let (mut taken, refusal) = match words.paths.is_empty() {
            true => (paths_of(judged.iter().filter(|judged| judged.whose == Whose::Mine)), None),
            false => {
                let named = self.named_paths(&words.paths, &changed)?;
                let is_named = |judged: &&Judged| named.iter().any(|named| named.is(&judged.path));
                let (named_changes, unchanged) =
                    (judged.iter().filter(is_named), unchanged(&words.paths, &named, &judged));
                let (taken, refusal) = self.without_refused(named_changes.collect())?;
                if let (None, false, false) = (&refusal, taken.is_empty(), unchanged.is_empty()) {
                    return Err(not_all(&unchanged, &words.messages, &taken));
                }
                (taken, refusal)
            }
        };
        let partners = partners(&changed, &judged, &taken);
        taken.extend(partners);
        match refusal {
            Some(refusal) => {
                let is_whole = |path: &&str| !is_split(path, &changed.renames, &taken, &judged);
                let rest: BTreeSet<&str> = taken.iter().copied().filter(is_whole).collect();
                let is_written = |judged: &&Judged| {
                    matches!(judged.whose, Whose::Written(_)) && !taken.contains(judged.path.as_str())
                };
                let written = judged.iter().find(is_written).map(|judged| judged.path.as_str());
                Err(with_others(refusal, &words.messages, &rest, written))
            }
            None if taken.is_empty() => Err(nothing(&judged, words)),
            None => {
                let left = changed.nameless + (changed.paths.len() - taken.len()) as u64;
                Ok(Share { paths: taken.into_iter().map(str::to_owned).collect(), left })
            }
        }
    }

    /// Those that the check of a commit lets pass, and why the others are refused, if there are any.
    fn without_refused<'j>(&mut self, named: Vec<&'j Judged>) -> Result<Named<'j>, Failure> {
        let (free, others): (Vec<&Judged>, Vec<&Judged>) =
            named.into_iter().partition(|judged| judged.whose.may_go());
        let mut taken = paths_of(free.into_iter());
        let refusal = self.refusal_of(&self.concerning(&others))?;
        let Some(refusal) = refusal else {
            taken.extend(paths_of(others.into_iter()));
            return Ok((taken, None));
        };
        if others.len() <= PATHS_TOLD_APART {
            for judged in others {
                let passes = self.refusal_of(&self.concerning(&[judged]))?.is_none();
                taken.extend(passes.then_some(judged.path.as_str()));
            }
        }
        Ok((taken, Some(refusal)))
    }

    /// A commit of what is not the caller's, for the check.
    fn concerning(&self, others: &[&Judged]) -> Commit {
        let written = |judged: &&Judged| {
            let target = judged.target.clone();
            judged.writers.iter().map(move |writer| (target.clone(), writer.clone())).collect::<Vec<_>>()
        };
        let is_held = |judged: &&&Judged| matches!(judged.whose, Whose::Held(_));
        Commit {
            paths: others.iter().filter(is_held).map(|judged| judged.target.clone()).collect(),
            brought: Vec::new(),
            written: others.iter().flat_map(written).collect(),
            worktree: self.site.worktree(),
        }
    }

    /// Whose each change of this checkout is.
    pub(crate) fn judged(&mut self, changed: &ChangedPaths) -> Result<Vec<Judged>, Failure> {
        let key = self.site.key.clone();
        let survey = self.survey_in(&key, LeaseListing::Live)?;
        let here = self.site.worktree();
        let family = survey.household_of(&self.caller);
        let counts = |view: &LeaseView| {
            let is_there = view.liveness != Liveness::Gone || view.lease.bound.is_some();
            view.lease.ended.is_none() && view.lease.worktree == here && is_there
        };
        let leases: Vec<Lease> = survey.leases().into_iter().filter(counts).map(|view| view.lease).collect();
        let names: BTreeMap<AgentId, AgentName> = survey
            .agents()
            .into_iter()
            .filter(|seen| seen.liveness != Liveness::Gone)
            .map(|seen| (seen.view.agent.id, seen.view.agent.name))
            .collect();
        let authors = self.authors_of_changes()?;
        let judge = |path: PathOfCommit| {
            let is_family = |agent: AgentId| family.contains(&agent);
            let counts = |lease: &&Lease| path.is_guarded || is_family(lease.holder);
            let by = authors.get(&path.path).into_iter().flatten().copied();
            let by: Vec<AgentId> =
                by.filter(|author| path.is_guarded && names.contains_key(author)).collect();
            let whose = whose(&path.target, leases.iter().filter(counts), &by, is_family);
            let writers = match &whose {
                Whose::Written(by) => by.iter().filter_map(|id| names.get(id).cloned()).collect(),
                _ => Vec::new(),
            };
            let is_mixed =
                matches!(whose, Whose::Written(_)) && by.iter().any(|author| family.contains(author));
            Judged { path: path.path, target: path.target, whose, writers, is_mixed }
        };
        Ok(self.paths_of_commit(&changed.paths).into_iter().map(judge).collect())
    }

    /// Who wrote the uncommitted lines of each file, as far as hooks told.
    fn authors_of_changes(&mut self) -> Result<BTreeMap<String, Vec<AgentId>>, Failure> {
        let files = self.attributed(&[], None)?.files;
        let authors = files.into_iter().map(|file| {
            let by = file.counts().into_keys().flatten().map(|author| author.id);
            (file.change.path.clone(), by.collect())
        });
        Ok(authors.collect())
    }

    /// The words as paths of this checkout, and as what else they may mean.
    fn named_paths(&mut self, words: &[String], changed: &ChangedPaths) -> Result<Vec<NamedPath>, Failure> {
        let mut named = Vec::new();
        for word in words {
            let target = self.target(Kind::Path, word)?;
            let mut look = Look { outside: self.outside, engine: &mut *self.engine };
            let literal = look.resolve(&self.site, word).ok().map(|located| located.path);
            let literal = literal.filter(|literal| changed.paths.iter().any(|path| is_below(path, literal)));
            named.push(match literal {
                Some(literal) => NamedPath::Literal(literal),
                None => NamedPath::Pattern(target, self.site.fold),
            });
        }
        Ok(named)
    }
}

/// A word that names changes.
enum NamedPath {
    /// Something is changed at or below what bears this very name, also where it is gone: that is what is meant, whatever
    /// letters are in it.
    Literal(String),
    /// Nothing does.
    Pattern(Target, Fold),
}

impl NamedPath {
    fn is(&self, path: &str) -> bool {
        match self {
            Self::Literal(literal) => is_below(path, literal),
            Self::Pattern(Target::Path(pattern), fold) => {
                CanonicalPath::parse(path, *fold).is_ok_and(|path| pattern.matches(&path))
            }
            Self::Pattern(Target::Name(_), _) => false,
        }
    }
}

/// Whether a path is a place or lies below it; the empty place is the root.
fn is_below(path: &str, place: &str) -> bool {
    place.is_empty() || path.strip_prefix(place).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A change, and whose it is.
pub(crate) struct Judged {
    pub(crate) path: String,
    target: Target,
    pub(crate) whose: Whose,
    /// The others that wrote it.
    writers: Vec<AgentName>,
    /// Whether the caller's family wrote some of it beside others, and nobody holds it.
    is_mixed: bool,
}

/// The named paths that go into a commit, and why the others do not.
type Named<'j> = (BTreeSet<&'j str>, Option<Failure>);

fn paths_of<'j>(judged: impl Iterator<Item = &'j Judged>) -> BTreeSet<&'j str> {
    judged.map(|judged| judged.path.as_str()).collect()
}

/// The words that name no change.
fn unchanged<'w>(words: &'w [String], named: &[NamedPath], judged: &[Judged]) -> Vec<&'w str> {
    let names_one = |named: &NamedPath| judged.iter().any(|judged| named.is(&judged.path));
    let pairs = words.iter().zip(named).filter(|(_, named)| !names_one(named));
    pairs.map(|(word, _)| word.as_str()).collect()
}

/// Whoever names a file means it to be committed.
fn not_all(unchanged: &[&str], messages: &[String], rest: &BTreeSet<&str>) -> Failure {
    let failure = Failure::new(
        Slug::NothingToCommit,
        format!("nothing is changed at {}; nothing was committed", named(unchanged)),
    );
    let rest: Vec<&str> = rest.iter().copied().collect();
    let hint = rest_of_it(messages, "commit the rest", &rest);
    failure.hint(hint.unwrap_or_else(|| Hint::from(SEE_CHANGES)))
}

/// The first few words of a list, as a sentence has them.
fn named(words: &[&str]) -> String {
    let names: Vec<String> = words.iter().take(PATHS_NAMED).map(|word| shown(word)).collect();
    names.join(", ")
}

const SEE_CHANGES: &str = "see what is changed: clearway diff --stat";

/// Of a file with a new name both names go together, if nobody else has the other one.
fn partners<'c>(changed: &'c ChangedPaths, judged: &[Judged], taken: &BTreeSet<&str>) -> Vec<&'c str> {
    let may_go = |path: &str| judged.iter().any(|judged| judged.path == path && judged.whose.may_go());
    let pairs = changed.renames.iter().flat_map(|(from, to)| [(from, to), (to, from)]);
    let partners = pairs.filter(|(one, other)| taken.contains(one.as_str()) && may_go(other));
    partners.map(|(_, other)| other.as_str()).collect()
}

/// Whether only one name of a renamed file would go into a commit, which would add it twice or lose it.
fn is_split(path: &str, renames: &[(String, String)], taken: &BTreeSet<&str>, judged: &[Judged]) -> bool {
    let is_changed = |other: &str| judged.iter().any(|judged| judged.path == other);
    other_name(path, renames).is_some_and(|other| is_changed(other) && !taken.contains(other))
}

/// The other name of a renamed file.
pub(crate) fn other_name<'r>(path: &str, renames: &'r [(String, String)]) -> Option<&'r str> {
    renames.iter().find_map(|(from, to)| match path {
        _ if path == from => Some(to.as_str()),
        _ if path == to => Some(from.as_str()),
        _ => None,
    })
}

/// The command that commits what is left of what was asked for.
pub(crate) fn rest_of_it(messages: &[String], purpose: &str, paths: &[&str]) -> Option<Hint> {
    let verb = format!("commit{}", said_by(messages));
    (!paths.is_empty()).then(|| Hint::command(purpose, &verb, paths))
}

/// The words of a command that give a commit its message.
pub(crate) fn said_by(messages: &[String]) -> String {
    messages.iter().map(|message| format!(" -m {}", one_line_of_shell(message))).collect()
}

/// A text for a shell that takes one line at a time: what has several is printed there.
fn one_line_of_shell(text: &str) -> String {
    if !text.trim_end().contains('\n') {
        return shell::as_it_is(text.trim_end());
    }
    let lines: String = text.lines().map(|line| format!(" {}", shell::as_it_is(line))).collect();
    format!(r#""$(printf '%s\n'{lines})""#)
}

/// Who holds a file answers for what is in it, so that is how lines of several agents are committed.
pub(crate) fn take_lines(path: &str) -> Hint {
    Hint::command("take the file, with what others wrote there, and commit again", "reserve", &[path])
}

fn with_others(
    refusal: Failure,
    messages: &[String],
    rest: &BTreeSet<&str>,
    written: Option<&str>,
) -> Failure {
    let rest: Vec<&str> = rest.iter().copied().collect();
    let message = format!("{}; nothing was committed", refusal.message);
    let held = match &refusal.details {
        Details::Blockers { leases, .. } => leases.first().map(|view| view.lease.target.display()),
        _ => None,
    };
    let look = held.map(|held| Hint::command("see whose it is", "who", &[&held]));
    let hint = rest_of_it(messages, "commit the rest", &rest).or(look);
    let failure = Failure { message, hints: Vec::new(), ..refusal };
    failure.hint(hint.unwrap_or_else(|| written.map_or_else(|| Hint::from(SEE_CHANGES), take_lines)))
}

fn nothing(judged: &[Judged], words: &CommitWords) -> Failure {
    if !words.paths.is_empty() {
        let words: Vec<&str> = words.paths.iter().map(String::as_str).collect();
        let message = format!("nothing is changed at {}", named(&words));
        return Failure::new(Slug::NothingToCommit, message).hint(SEE_CHANGES);
    }
    if judged.is_empty() {
        return Failure::new(Slug::NothingToCommit, "nothing is changed here")
            .hint("see what you hold: clearway mine");
    }
    let mixed: Vec<&str> =
        judged.iter().filter(|judged| judged.is_mixed).map(|judged| judged.path.as_str()).collect();
    if let [first, ..] = mixed.as_slice() {
        let message =
            format!("what you changed here has uncommitted lines of others beside it: {}", named(&mixed));
        return Failure::new(Slug::NothingToCommit, message).hint(take_lines(first));
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
    let purpose = "nobody is known to have changed it; name it to commit it";
    let by_name = rest_of_it(&words.messages, purpose, &free).filter(|_| free.len() <= PATHS_NAMED);
    failure.hint(by_name.unwrap_or_else(|| Hint::from("see whose it is: clearway diff --stat")))
}
