//! A doctor looks at everything a command depends on, and names what is wrong and what to do.

use crate::checked::UncheckedCommit;
use crate::failures::{REPAIR, said, store_failure, wake, way_out};
use crate::ledger::{Cost, SLOW_MS};
use crate::listings::{AgentSeen, LeaseFilter};
use crate::notifying::last_failure;
use crate::session::Session;
use crate::site::SiteKind;
use clearway_core::agent::{Client, SignOfLife};
use clearway_core::command::Command;
use clearway_core::decide::Notice;
use clearway_core::facts::Process;
use clearway_core::failure::{Details, Failure};
use clearway_core::hint::Hint;
use clearway_core::ids::Seq;
use clearway_core::path::CanonicalPath;
use clearway_core::pattern::Pattern;
use clearway_core::shell;
use clearway_core::slice::{AgentView, ReadSet};
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::text::shown;
use clearway_core::time::rounded;
use clearway_store::contract::{About, Examination, Finding, LeaseListing, Severity, StoreError};
use clearway_store::verify::{Mark, verify};
use std::path::{Path, PathBuf};

/// What making rows, tables and indexes anew mends by the way.
const MENDED_BY_REBUILDING: [About; 5] =
    [About::Key, About::Schema, About::Pages, About::Ballast, About::Witness];

/// What was looked at, in order.
#[derive(Clone, Debug)]
pub struct Diagnosis {
    /// One line each.
    pub checks: Vec<Check>,
}

impl Diagnosis {
    /// Whether nothing is wrong.
    pub fn is_healthy(&self) -> bool {
        self.checks.iter().all(|check| check.status != CheckStatus::Wrong)
    }
}

/// What a repair did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Rows made anew from the log.
    pub rows: u64,
    /// Events that are gone for good.
    pub lost_events: u64,
    /// Temporary files of killed processes that were removed.
    pub leftovers: u64,
}

/// One thing looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What.
    pub about: &'static str,
    /// How it is.
    pub status: CheckStatus,
    /// In words.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckStatus {
    /// As it should be.
    Good,
    /// Worth knowing.
    Notable,
    /// Not as it should be.
    Wrong,
}

impl CheckStatus {
    /// The word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Good => "ok",
            Self::Notable => "note",
            Self::Wrong => "wrong",
        }
    }
}

impl Session<'_> {
    /// Looks at everything. Writes nothing.
    pub fn diagnose(&mut self) -> Result<Diagnosis, Failure> {
        let mut checks = vec![self.build_check(), self.scope_check()];
        let place = self.whereabouts().notice().or_else(|| self.held_around());
        checks.extend(place.as_ref().and_then(place_check));
        let key = self.site.key.clone();
        let examination = match self.engine.examine(&key) {
            Ok(examination) => examination,
            // Who is in the way of everybody is what a doctor is asked for.
            Err(error @ StoreError::Busy { .. }) => {
                checks.push(kept_out(&store_failure(&error)));
                return Ok(Diagnosis { checks });
            }
            Err(error) => return Err(store_failure(&error)),
        };
        if holds_nothing(&examination) {
            let is_wrong = |check: &Check| check.status == CheckStatus::Wrong;
            checks.extend(findings(&examination).into_iter().filter(is_wrong));
            return Ok(Diagnosis { checks });
        }
        checks.extend(self.identity_check()?);
        checks.extend(self.other_git_hooks());
        checks.extend(self.notify_check());
        let gone = if examination.exists { None } else { self.refuse_gone(Seq(0)).err() };
        match gone {
            None => checks.extend(store_checks(&examination)),
            Some(failure) => checks.push(missing_check(&failure)),
        }
        checks.extend(leftover_check(&self.leftovers()?));
        if examination.exists {
            checks.push(schema_check(&examination));
            checks.extend(finding_checks(&examination));
            checks.push(self.writer_check()?);
            checks.extend(self.row_checks()?);
            checks.extend(self.log_check());
            // What keeps these from being looked at is among the findings above.
            checks.extend(self.cost().ok().as_ref().and_then(slow_check));
            checks.extend(self.unchecked_commits().unwrap_or_default());
            checks.extend(self.uncovered().unwrap_or_default());
            checks.extend(self.seen_too_early().unwrap_or_default());
            checks.extend(self.written_in_silence().unwrap_or_default().iter().map(silent_check));
        }
        Ok(Diagnosis { checks })
    }

    /// Makes the projections anew from the log. A log that lost its tail begins a new epoch, if an operator gives a
    /// reason; a broken log is not repaired. Answers how many rows and events were dealt with.
    pub fn repair(&mut self, reason: Option<&str>) -> Result<Repaired, Failure> {
        let leftovers = self.remove_leftovers()?;
        Ok(Repaired { leftovers, ..self.repair_rows(reason)? })
    }

    fn leftovers(&mut self) -> Result<Vec<PathBuf>, Failure> {
        let store = self.file_beside_store("")?;
        Ok(self.outside.leftovers(&store))
    }

    fn remove_leftovers(&mut self) -> Result<u64, Failure> {
        let mut removed = 0;
        for path in self.leftovers()? {
            removed += u64::from(self.outside.remove_leftover(&path)?);
        }
        Ok(removed)
    }

    fn repair_rows(&mut self, reason: Option<&str>) -> Result<Repaired, Failure> {
        let key = self.site.key.clone();
        let marks = self.marks(&[])?.marks;
        let Some(head) = self.read(|snapshot| snapshot.head())? else { return Ok(Repaired::default()) };
        // What lies beyond the end is lost; what lies before it must be what is remembered.
        let (kept, lost): (Vec<Mark>, Vec<Mark>) =
            marks.into_iter().partition(|mark| mark.head.rev <= head.rev);
        let lost_events = lost.iter().map(|mark| mark.head.rev.0 - head.rev.0).max().unwrap_or(0);
        let Some(report) = self.read(|snapshot| verify(snapshot, &key, &kept))? else {
            return Ok(Repaired::default());
        };
        if let Some(broken) = report.broken {
            let message = format!("the log itself is broken at event {}: {}", broken.seq, broken.what);
            return Err(Failure::new(Slug::AuditBroken, message)
                .hint("nothing was changed; keep the store as it is and look at a copy")
                .details(clearway_core::failure::Details::FirstBadSeq(broken.seq)));
        }
        if lost_events > 0 {
            self.go_on_without(reason)?;
        }
        let rows = report.stale_projections.len() as u64;
        let examination = self.engine.examine(&key).map_err(|error| store_failure(&error))?;
        let damaged =
            examination.findings.iter().any(|finding| MENDED_BY_REBUILDING.contains(&finding.about));
        if rows > 0 || damaged {
            self.engine.rebuild(&key, &report.state).map_err(|error| store_failure(&error))?;
        }
        if lost_events > 0 {
            self.command(Command::Recover)?.outcome?;
        }
        Ok(Repaired { rows, lost_events, leftovers: 0 })
    }

    /// Going on without what was lost ends everybody's leases: that is for an operator to decide, and to explain.
    fn go_on_without(&mut self, reason: Option<&str>) -> Result<(), Failure> {
        let Some(reason) = reason else {
            let message =
                "the log lost its tail, and going on ends every lease: that is for an operator to decide";
            return Err(Failure::new(Slug::NotOperator, message).hint(Hint::for_operator(
                "nothing was changed; as an operator say why: clearway doctor --repair --reason TEXT",
            )));
        };
        self.act_as_operator(reason)
    }

    /// Nobody sees how the command ends that a person is told by.
    fn notify_check(&mut self) -> Option<Check> {
        self.config.notify_command()?;
        Some(match last_failure(self.outside) {
            None => {
                good("notify", "the command of [notify] has not failed since the machine started".to_owned())
            }
            Some(how) => Check {
                about: "notify",
                status: CheckStatus::Notable,
                text: format!("the command of [notify] failed the last time: {}", shown(&how)),
                hint: Some("try it by hand, with a JSON document on its standard input".to_owned()),
            },
        })
    }

    fn writer_check(&mut self) -> Result<Check, Failure> {
        let writers = self.engine.writers(&self.site.key).map_err(|error| store_failure(&error))?;
        Ok(match writers.as_slice() {
            [] => good("writers", "nobody is writing".to_owned()),
            writers => {
                // Whoever writes is through in a moment; whoever stands still keeps everybody from writing.
                let hint = writers.iter().find_map(wake);
                let status = if hint.is_some() { CheckStatus::Wrong } else { CheckStatus::Notable };
                Check { about: "writers", status, text: said(writers), hint }
            }
        })
    }

    fn build_check(&self) -> Check {
        let build = self.outside.build();
        let engine = self.engine.capabilities();
        let linking = if build.is_static { "static" } else { "dynamic" };
        let text = format!(
            "clearway {} for {} ({linking}), {} {}",
            build.version, build.target, engine.engine, engine.version
        );
        let slow = "a dynamic build starts slower: release builds are for the musl target".to_owned();
        match build.is_static {
            true => good("build", text),
            false => Check { about: "build", status: CheckStatus::Notable, text, hint: Some(slow) },
        }
    }

    fn scope_check(&self) -> Check {
        let site = &self.site;
        if let Some(failure) = &self.no_scope {
            let text = format!("there is no scope here: {}; what follows is of the machine", failure.message);
            let hint = failure.hints.first().map(ToString::to_string);
            // A repository that cannot be used has to be repaired; no scope is nobody's fault.
            let is_damaged = failure.details != Details::None;
            let status = if is_damaged { CheckStatus::Wrong } else { CheckStatus::Notable };
            return Check { about: "scope", status, text, hint };
        }
        let kind = match site.kind {
            SiteKind::Git => "git repository",
            SiteKind::Directory => "directory without git",
            SiteKind::Machine => "machine",
        };
        good("scope", format!("{} ({kind} {})", site.key, site.place))
    }

    fn identity_check(&mut self) -> Result<Option<Check>, Failure> {
        let key = self.site.key.clone();
        let identified = match self.identified_in(&key) {
            Err(failure) => return damaged("identity", failure),
            Ok(identified) => identified,
        };
        Ok(Some(match identified.map(|identified| identified.known) {
            Ok(Some(view)) => good("identity", format!("you are {}", view.agent.name)),
            Ok(None) => good(
                "identity",
                "you are not registered here yet: the first reservation does that".to_owned(),
            ),
            Err(failure) => self.unidentified(failure),
        }))
    }

    /// Nobody in particular is what cron is; a session that cannot be told is a fault of the environment.
    fn unidentified(&self, failure: Failure) -> Check {
        let nobody = failure.slug == Slug::NoIdentity && !self.caller.in_client_session();
        let status = if nobody { CheckStatus::Notable } else { CheckStatus::Wrong };
        let hint = failure.hints.first().map(ToString::to_string);
        Check { about: "identity", status, text: failure.message, hint }
    }

    /// Clients that run in this checkout and never called a hook here: started before the hooks were there, or with hooks
    /// switched off. One in whose checkout files changed that nobody holds is unguarded.
    fn uncovered(&mut self) -> Result<Vec<Check>, Failure> {
        let Some(root) = self.site.root.clone() else { return Ok(Vec::new()) };
        let agents = self.agents()?.agents;
        let is_known =
            |process: &Process| agents.iter().any(|seen| seen.view.agent.process.as_ref() == Some(process));
        let running = self.outside.clients_in(&root);
        let uncovered: Vec<_> = running.into_iter().filter(|(process, _)| !is_known(process)).collect();
        if uncovered.is_empty() {
            return Ok(Vec::new());
        }
        let held = self.leases(&LeaseFilter::default())?.leases;
        let is_held = |path: &String| {
            CanonicalPath::parse(path, self.site.fold).is_ok_and(|path| {
                let target = Target::Path(Pattern::literal(&path));
                held.iter().any(|view| view.lease.is_on(&target))
            })
        };
        let unheld = self.outside.changed_files(&root).iter().filter(|path| !is_held(path)).count();
        Ok(uncovered.iter().map(|(process, client)| uncovered_check(process.pid, *client, unheld)).collect())
    }

    /// Signs of life that are later than the clock: nobody saw them, and they keep no lease.
    fn seen_too_early(&mut self) -> Result<Vec<Check>, Failure> {
        let now = self.now()?;
        let agents = self.read(|snapshot| snapshot.agents(&now))?.unwrap_or_default();
        let check = |view: &AgentView| {
            let Some(SignOfLife::Ahead { ms }) = view.sign else { return None };
            let (name, ahead) = (&view.agent.name, rounded(ms));
            let text = format!("{name} is said to be seen {ahead} from now: that keeps no lease");
            Some(wrong("presence", text, "its next command says when it was seen: clearway agents"))
        };
        Ok(agents.iter().filter_map(check).collect())
    }

    /// Commits of the last day that went past the check with what was with somebody else.
    fn unchecked_commits(&mut self) -> Result<Vec<Check>, Failure> {
        let check = |UncheckedCommit { commit, paths, .. }| Check {
            about: "git",
            status: CheckStatus::Notable,
            text: format!(
                "{commit} went past the check with what was with somebody else: {}",
                paths.join(", ")
            ),
            hint: Some(
                "see who held it and who committed: clearway events --kind commit.unchecked".to_owned(),
            ),
        };
        Ok(self.unchecked_lately()?.into_iter().map(check).collect())
    }

    /// Git hooks that Interlock left: they would refuse commits by reservations that nobody makes any more.
    fn other_git_hooks(&mut self) -> Vec<Check> {
        if self.site.kind != SiteKind::Git {
            return Vec::new();
        }
        let hooks = PathBuf::from(&self.site.place).join("hooks");
        let mut checks = Vec::new();
        for name in ["pre-commit", "post-commit"] {
            let (path, kept) = (hooks.join(name), hooks.join(format!("{name}.interlock-backup")));
            let is_theirs =
                matches!(self.outside.read_text(&path), Ok(Some(text)) if text.contains(INTERLOCK_MARKER));
            if !is_theirs {
                continue;
            }
            let has_backup = matches!(self.outside.read_text(&kept), Ok(Some(_)));
            let word = |path: &Path| shell::word(&path.display().to_string());
            let aside = format!("mv {} {}", word(&path), word(&hooks.join(format!("{name}.interlock"))));
            let back = format!(" && mv {} {}", word(&kept), word(&path));
            let hint = format!("move it aside: {aside}{}", if has_backup { back } else { String::new() });
            let text =
                format!("{} is Interlock's, another tool for this", shown(&path.display().to_string()));
            checks.push(Check { about: "git", status: CheckStatus::Notable, text, hint: Some(hint) });
        }
        checks
    }

    fn row_checks(&mut self) -> Result<Vec<Check>, Failure> {
        let now = self.now()?;
        let queue = ReadSet { waits: true, ..ReadSet::default() };
        let found = self.read(|snapshot| {
            let leases = snapshot.leases(LeaseListing::WithEnded(usize::MAX), &now)?.unreadable;
            Ok((leases, snapshot.load(&queue, &now)?.unreadable_waits))
        });
        let (leases, waits) = match found {
            Err(failure) => return damaged("rows", failure).map(|check| check.into_iter().collect()),
            Ok(found) => found.unwrap_or_default(),
        };
        if leases.is_empty() && waits.is_empty() {
            return Ok(vec![good("rows", "every stored row can be read".to_owned())]);
        }
        let one = |what: &str, id: &String| {
            let text = format!("the row of {what} {id} can be read neither as stored nor from its events");
            wrong("rows", text, REPAIR)
        };
        let leases = leases.iter().map(|id| one("lease", id));
        Ok(leases.chain(waits.iter().map(|id| one("wait", id))).collect())
    }

    /// Whether the log is whole; nothing where the findings say already that nobody may look.
    fn log_check(&mut self) -> Vec<Check> {
        let verified = self.verify(&[]);
        let lost = verified.as_ref().ok().map(|verified| verified.lost_texts.clone()).unwrap_or_default();
        let log = match verified {
            Ok(verified) => {
                let anchored = match verified.anchored {
                    Some(seq) => format!("anchored up to {seq}"),
                    None => "not anchored yet".to_owned(),
                };
                good("log", format!("{} events, whole, {anchored}", verified.events))
            }
            Err(failure) if failure.slug == Slug::StoreNotPrivate => return Vec::new(),
            Err(failure) => Check {
                about: "log",
                status: CheckStatus::Wrong,
                text: failure.message,
                hint: failure.hints.first().map(ToString::to_string),
            },
        };
        std::iter::once(log).chain(mail_check(&lost)).collect()
    }
}

/// What lay beside the log cannot be made anew from it; all a doctor can do is to say what is lost.
fn mail_check(lost: &[String]) -> Option<Check> {
    let some = lost.iter().take(LOST_TEXTS_NAMED).map(String::as_str).collect::<Vec<_>>().join(" ");
    let more = lost.len().saturating_sub(LOST_TEXTS_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let text = format!("the texts of these messages are lost: {some}{more}");
    (!lost.is_empty()).then_some(Check { about: "mail", status: CheckStatus::Notable, text, hint: None })
}

/// How many messages without a text a doctor names.
const LOST_TEXTS_NAMED: usize = 20;

fn good(about: &'static str, text: String) -> Check {
    Check { about, status: CheckStatus::Good, text, hint: None }
}

fn wrong(about: &'static str, text: String, hint: &str) -> Check {
    Check { about, status: CheckStatus::Wrong, text, hint: Some(hint.to_owned()) }
}

/// Damage that keeps something from being looked at is a finding like any other; that others could reach the store is
/// said once, under its own name. What else goes wrong ends the visit.
fn damaged(about: &'static str, failure: Failure) -> Result<Option<Check>, Failure> {
    match failure.slug {
        Slug::StoreCorrupt => Ok(Some(wrong(about, failure.message, REPAIR))),
        Slug::StoreNotPrivate => Ok(None),
        _ => Err(failure),
    }
}

/// What keeps everything else from being looked at.
fn kept_out(failure: &Failure) -> Check {
    let text = format!("nothing in it could be looked at: {}", failure.message);
    let hint = failure.hints.first().map(ToString::to_string);
    Check { about: "store", status: CheckStatus::Wrong, text, hint }
}

/// Whether there was to be a store, and there is nothing to look at.
fn holds_nothing(examination: &Examination) -> bool {
    let kinds = [About::Lost, About::Foreign];
    examination.findings.iter().any(|finding| kinds.contains(&finding.about))
}

/// A store that was there and is not.
fn missing_check(failure: &Failure) -> Check {
    let hint = "put it back, or begin anew, knowing nothing of what was held: clearway reserve PATH";
    Check {
        about: "store",
        status: CheckStatus::Wrong,
        text: failure.message.clone(),
        hint: Some(hint.to_owned()),
    }
}

/// Where the store is; of one that is not there, whether it could be.
fn store_checks(examination: &Examination) -> Vec<Check> {
    match (examination.exists, findings(examination)) {
        (false, found) if !found.is_empty() => found,
        _ => vec![store_check(examination)],
    }
}

fn store_check(examination: &Examination) -> Check {
    let place = &examination.place;
    match examination.exists {
        true => {
            let kilobytes = examination.bytes.div_ceil(1024) + examination.log_bytes.div_ceil(1024);
            good("store", format!("{place} ({kilobytes} KiB)"))
        }
        false => good("store", format!("{place} does not exist yet: the first reservation makes it")),
    }
}

fn schema_check(examination: &Examination) -> Check {
    let (found, known) = (examination.schema, examination.schema_known);
    if found == known {
        good("schema", format!("{found}, the one this build writes"))
    } else {
        let text = format!("{found}; this build migrates it to {known} at the next write");
        Check { about: "schema", status: CheckStatus::Notable, text, hint: None }
    }
}

fn finding_checks(examination: &Examination) -> Vec<Check> {
    let is_private = !examination.findings.iter().any(|finding| finding.about == About::Privacy);
    let private = good("privacy", "only you can read the store or change its directory".to_owned());
    is_private.then_some(private).into_iter().chain(findings(examination)).collect()
}

fn findings(examination: &Examination) -> Vec<Check> {
    let one = |finding: &Finding| {
        let status =
            if finding.severity == Severity::Error { CheckStatus::Wrong } else { CheckStatus::Notable };
        let (about, text) = (finding.about.word(), finding.text.clone());
        Check { about, status, text, hint: Some(way_out(finding, &examination.place)) }
    };
    examination.findings.iter().map(one).collect()
}

/// The line by which a git hook of Interlock is known.
const INTERLOCK_MARKER: &str = "INTERLOCK_HOOK_MARKER";

fn uncovered_check(pid: u32, client: Client, unheld: usize) -> Check {
    let unguarded = match unheld {
        0 => String::new(),
        1 => "; it is unguarded: 1 changed file is held by nobody".to_owned(),
        _ => format!("; it is unguarded: {unheld} changed files are held by nobody"),
    };
    let text = format!("{} (process {pid}) runs here and never called a hook{unguarded}", client.name_stem());
    let resume = client.resume_words().unwrap_or_default();
    let hint = format!("end it and go on with its session, so that it reads its hooks: {resume}");
    Check { about: "session", status: CheckStatus::Notable, text, hint: Some(hint) }
}

/// A client whose hooks were switched off while it ran is known, and would be trusted to say what it does.
fn silent_check((seen, files): &(AgentSeen, usize)) -> Check {
    let agent = &seen.view.agent;
    let files = if *files == 1 { "1 file".to_owned() } else { format!("{files} files") };
    let text = format!("{} holds {files} that changed after its last hook call", agent.name);
    let resume = agent.client.resume_words().unwrap_or_default();
    let hint =
        format!("if nobody else did that, its hooks are silent; end it and go on with its session: {resume}");
    Check { about: "session", status: CheckStatus::Notable, text, hint: Some(hint) }
}

/// Clients wait for their hooks, and a slow one is first felt and last understood.
fn slow_check(cost: &Cost) -> Option<Check> {
    let slowest = cost.slow.first()?;
    let calls = if cost.slow.len() == 1 { "hook call" } else { "hook calls" };
    let whose = slowest.agent.as_ref().map(|agent| format!(" of {agent}")).unwrap_or_default();
    let text = format!(
        "{} {calls} took {SLOW_MS} ms or longer in the last day; the slowest{whose} {} ms: {}",
        cost.slow.len(),
        slowest.ms,
        shown(&slowest.cause)
    );
    let hint = Some("see whose they are: clearway status --cost".to_owned());
    Some(Check { about: "hooks", status: CheckStatus::Notable, text, hint })
}

fn place_check(notice: &Notice) -> Option<Check> {
    let (text, hint) = notice.about_place()?;
    Some(Check { about: "place", status: CheckStatus::Notable, text, hint: Some(hint) })
}

/// How many leftovers are named; the rest is counted.
const LEFTOVERS_NAMED: usize = 3;

fn leftover_check(leftovers: &[PathBuf]) -> Option<Check> {
    if leftovers.is_empty() {
        return None;
    }
    let named: Vec<String> =
        leftovers.iter().take(LEFTOVERS_NAMED).map(|path| shown(&path.display().to_string())).collect();
    let files = if leftovers.len() == 1 { "file" } else { "files" };
    let text = format!("{} temporary {files} of killed processes: {}", leftovers.len(), named.join(", "));
    let hint = Some("remove them: clearway doctor --repair".to_owned());
    Some(Check { about: "leftover", status: CheckStatus::Notable, text, hint })
}
