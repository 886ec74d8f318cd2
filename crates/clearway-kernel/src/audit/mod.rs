//! Verifying, anchoring and exporting a scope's log.
//!
//! An anchor is a head signed with an operator's key and kept outside the database. Hooks extend an unkeyed chain
//! and read no key; whoever rewrites the log and hashes it anew still cannot make the anchors agree.

mod anchor;
mod key;

pub use anchor::Anchor;
pub(crate) use key::{KEY_VARIABLE, presented_key};

use crate::failures::{store_failure, way_out};
use crate::session::Session;
use clearway_core::event::Event;
use clearway_core::failure::{Details, Failure};
use clearway_core::ids::{Epoch, ScopeKey, Seq};
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::text::shown;
use clearway_store::contract::Head;
use clearway_store::verify::{Broken, Mark, Report, verify};
use clearway_wire::anchor::AnchorRecord;
use clearway_wire::chain::ChainHash;
use std::path::{Path, PathBuf};

/// What `audit verify` found. A broken log is a failure that carries it.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Events read.
    pub events: u64,
    /// The end of the log.
    pub head: Head,
    /// Which boot its fences belong to.
    pub epoch: Epoch,
    /// The last event an anchor vouches for.
    pub anchored: Option<Seq>,
    /// Events after it.
    pub unanchored: u64,
    /// Anchors of events that were lost, and that an operator went on without.
    pub given_up: u64,
    /// Whether the gate beside the store remembers what there is of the log.
    pub witnessed: bool,
    /// Messages whose text is gone: it lay beside the log, which has only its digest.
    pub lost_texts: Vec<String>,
}

/// What `audit anchor` wrote.
#[derive(Clone, Debug)]
pub struct AnchorOutcome {
    /// The anchor.
    pub anchor: Anchor,
    /// Where it was written, each a file.
    pub written: Vec<PathBuf>,
    /// Whether the operator's key was made by this call.
    pub new_key: bool,
}

/// What `audit export` reads out: every event with its canonical bytes.
#[derive(Clone, Debug)]
pub struct Exported {
    /// The decoded event.
    pub event: Event,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its hash.
    pub hash: ChainHash,
}

impl Session<'_> {
    /// Verifies the log against itself, its projections, the witness beside the store, and every anchor: those
    /// beside the store and those in `anchor_files`.
    pub fn verify(&mut self, anchor_files: &[PathBuf]) -> Result<Verified, Failure> {
        self.verify_log(anchor_files).map_err(damage_is_broken)
    }

    fn verify_log(&mut self, anchor_files: &[PathBuf]) -> Result<Verified, Failure> {
        self.refuse_nowhere()?;
        let Marks { marks, anchored, witness, distrusted } = self.marks(anchor_files)?;
        let (mut anchored, mut given_up) = (anchored, 0);
        let key = self.site.key.clone();
        let report = self.read(|snapshot| verify(snapshot, &key, &marks))?;
        let mut findings: Vec<Failure> = Vec::new();
        match &report {
            Some(report) => {
                findings.extend(wrong_with(report, witness.as_ref()));
                findings.extend(self.damage()?);
                let all = anchored.len();
                anchored.retain(|seq| !report.gave_up(*seq));
                given_up = (all - anchored.len()) as u64;
            }
            None => findings.extend(marks.iter().max_by_key(|mark| mark.head.rev).map(no_log)),
        }
        let is_whole = report.is_some() && findings.is_empty();
        findings.extend(distrusted);
        if let Some(mut failure) = all_of(findings) {
            if is_whole && !anchor_files.is_empty() && !anchored.is_empty() {
                failure.message.push_str("; the log agrees with every anchor that can be trusted");
            }
            return Err(failure);
        }
        let report =
            report.map(|report| (report.events, report.head, report.state.scope.epoch, report.lost_texts));
        let (events, head, epoch, lost_texts) = report.unwrap_or((0, Head::EMPTY, Epoch(0), Vec::new()));
        let anchored = anchored.into_iter().max();
        let unanchored = head.rev.0.saturating_sub(anchored.map_or(0, |seq| seq.0));
        let witnessed = witness.is_some() || events == 0;
        Ok(Verified { events, head, epoch, anchored, unanchored, given_up, witnessed, lost_texts })
    }

    /// Every head that somebody remembers. What a stranger signed is not among them.
    pub(crate) fn marks(&mut self, anchor_files: &[PathBuf]) -> Result<Marks, Failure> {
        let (anchors, distrusted) = self.anchors(anchor_files)?;
        let anchored = anchors.iter().map(|anchor| anchor.head().rev).collect();
        let mut marks: Vec<Mark> = anchors.iter().map(Anchor::mark).collect();
        let key = self.site.key.clone();
        let witness = self.engine.witness(&key).map_err(|error| store_failure(&error))?;
        marks.extend(witness.map(|head| Mark { head, by: "the witness beside the store".to_owned() }));
        Ok(Marks { marks, anchored, witness, distrusted })
    }

    /// Verifies the log and signs the head it verified with the operator's key and writes it beside the store, and to `export` if given.
    pub fn anchor(&mut self, export: Option<PathBuf>) -> Result<AnchorOutcome, Failure> {
        let now = self.now()?;
        let Verified { head, epoch, .. } = self.verify(&[])?;
        if head == Head::EMPTY {
            return Err(Failure::new(Slug::NotFound, "there is nothing to anchor: the log is empty")
                .hint("reserve something first: clearway reserve PATH"));
        }
        self.vouch()?;
        self.flush_log()?;
        export.iter().try_for_each(|path| self.can_export(path))?;
        let (key, new_key) = key::load_or_make(self.outside)?;
        let anchor = Anchor::sign(&key, &self.site.key, epoch, head, now.wall);
        let own = self.anchor_file()?;
        // The copy elsewhere comes first: where it fails nothing was written.
        for path in export.iter().chain([&own]) {
            self.outside.append_private(path, &anchor.line(), self.config.store_timeout())?;
        }
        let written = std::iter::once(own).chain(export).collect();
        Ok(AnchorOutcome { anchor, written, new_key })
    }

    /// Reads out a piece of the log for keeping elsewhere.
    pub fn export(&mut self, after: Seq, limit: usize) -> Result<Vec<Exported>, Failure> {
        self.refuse_nowhere()?;
        let now = self.now()?;
        let read = clearway_core::slice::ReadSet::default();
        let found = self
            .read(|snapshot| Ok((snapshot.load(&read, &now)?.scope.fold, snapshot.events(after, limit)?)))?;
        let Some((fold, stored)) = found else { return Ok(Vec::new()) };
        stored
            .into_iter()
            .map(|stored| match clearway_wire::canonical::decode(stored.seq, &stored.bytes, fold) {
                Ok(event) => Ok(Exported { event, bytes: stored.bytes, hash: stored.hash }),
                Err(error) => Err(broken(stored.seq, &error.to_string())),
            })
            .collect()
    }

    /// Every anchor of the operator known for the scope, each with a good signature, and what is to be said if there
    /// are others. A damaged file keeps no other from being compared.
    fn anchors(&mut self, files: &[PathBuf]) -> Result<(Vec<Anchor>, Vec<Failure>), Failure> {
        let own = self.anchor_file()?;
        let (mut anchors, mut distrusted) = (Vec::new(), Vec::new());
        for path in std::iter::once(&own).chain(files) {
            let text = match self.outside.read_text(path) {
                Err(unreadable) if *path == own && !files.is_empty() => {
                    distrusted.push(unreadable);
                    continue;
                }
                text => text?,
            };
            if text.is_none() && *path != own {
                let message = format!("there is no file {}", shown(&path.display().to_string()));
                return Err(Failure::new(Slug::NotFound, message)
                    .hint("anchors are made with: clearway audit anchor"));
            }
            let (before, place) = (anchors.len(), path.display().to_string());
            let read = |line| Anchor::read(line, &place, &self.site.key);
            let (good, bad): (Vec<_>, Vec<_>) =
                text.unwrap_or_default().lines().map(read).partition(Result::is_ok);
            anchors.extend(good.into_iter().flatten().flatten());
            let bad = bad.into_iter().find_map(Result::err);
            if anchors.len() == before && *path != own && bad.is_none() {
                return Err(no_anchor_of(&self.site.key, path));
            }
            distrusted.extend(bad.map(|bad| way_out_of_anchors(bad, &place, *path == own)));
        }
        let (anchors, stranger) = key::of_operator(self.outside, anchors)?;
        distrusted.extend(stranger);
        Ok((anchors, distrusted))
    }

    /// A place that is not there, such as a disk that is not mounted, is not made: the copy would look like one.
    fn can_export(&mut self, path: &Path) -> Result<(), Failure> {
        let shown = shown(&path.display().to_string());
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent.filter(|parent| !self.outside.is_directory(parent)) {
            let parent = parent.display().to_string();
            let message =
                format!("--export {shown}: there is no directory {}", clearway_core::text::shown(&parent));
            return Err(Failure::new(Slug::Usage, message)
                .hint("nothing was anchored; mount or make the directory first"));
        }
        let refused = |why: &str| {
            Failure::new(Slug::Usage, format!("--export {shown}: {why}"))
                .hint("nothing was anchored; name a file of anchors to add a line to, or a new one")
        };
        let text = self.outside.read_text(path).map_err(|failure| refused(&failure.message))?;
        let mut lines = text.iter().flat_map(|text| text.lines()).filter(|line| !line.trim().is_empty());
        match lines.all(|line| AnchorRecord::parse(line).is_some()) {
            true => Ok(()),
            false => Err(refused("it holds something else than anchors")),
        }
    }

    fn anchor_file(&mut self) -> Result<PathBuf, Failure> {
        self.file_beside_store("-anchors")
    }

    /// An anchor may only vouch for what the disk has promised.
    fn flush_log(&mut self) -> Result<(), Failure> {
        let key = self.site.key.clone();
        self.engine.flush(&key).map_err(|error| store_failure(&error))
    }

    /// Indexes answer queries, so a damaged one is a damaged fact.
    fn damage(&mut self) -> Result<Option<Failure>, Failure> {
        let key = self.site.key.clone();
        let examination = self.engine.examine(&key).map_err(|error| store_failure(&error))?;
        let damage = examination.findings.iter().find(|finding| finding.about.is_damage());
        Ok(damage.map(|finding| {
            let message = format!("the store is damaged: {}", finding.text);
            Failure::new(Slug::AuditBroken, message).hint(way_out(finding, &examination.place))
        }))
    }
}

/// What is remembered of a log outside of it.
#[derive(Debug)]
pub(crate) struct Marks {
    pub(crate) marks: Vec<Mark>,
    /// The events that anchors vouch for.
    anchored: Vec<Seq>,
    /// What the gate beside the store remembers of the log.
    witness: Option<Head>,
    /// What to say of anchors that vouch for nothing: the operator did not sign them, or they are not what was signed.
    distrusted: Vec<Failure>,
}

/// What to do about a file of anchors that are not what was signed. Those beside the store can be made again, once a copy
/// kept elsewhere says that the log is whole.
fn way_out_of_anchors(bad: Failure, place: &str, is_own: bool) -> Failure {
    match is_own {
        true => {
            let place = shell::word(place);
            bad.hint(format!(
                "once that agrees, keep the damaged file aside and anchor anew: mv {place} {place}.damaged"
            ))
        }
        false => Failure { hints: Vec::new(), ..bad }.hint("name another copy of the anchors"),
    }
}

/// Whoever names a file expects it to vouch for the log, and one of another log vouches for nothing.
fn no_anchor_of(scope: &ScopeKey, path: &Path) -> Failure {
    let message = format!("{} holds no anchor of {scope}", shown(&path.display().to_string()));
    Failure::new(Slug::NotFound, message).hint("name the file that anchors of this log were exported to")
}

/// What is wrong with a log that was read. Rows are compared with a whole log alone.
fn wrong_with(report: &Report, witness: Option<&Head>) -> Option<Failure> {
    match (&report.broken, report.stale_projections.first()) {
        (Some(what), _) => Some(broken_log(what, witness)),
        (None, Some(first)) => Some(altered(first, report.stale_projections.len(), report.head.rev)),
        (None, None) => None,
    }
}

/// What the gate misses it refuses to go on without until somebody says so. Of what anchors alone remember nothing here
/// knows: the store and its gate were put back together, and go on as if nothing had been.
fn broken_log(Broken { seq, what, is_lost_tail }: &Broken, witness: Option<&Head>) -> Failure {
    let mut failure = broken(*seq, what);
    if *is_lost_tail {
        let is_missed = witness.is_some_and(|head| head.rev >= *seq);
        failure = failure.hint(match is_missed {
            true => "go on without what is lost; every lease ends: clearway doctor --repair --reason TEXT",
            false => "put a newer copy of the store back; nothing that is left here holds what is missing",
        });
        failure.hints.rotate_right(1);
    }
    failure
}

fn no_log(mark: &Mark) -> Failure {
    broken(Seq(1), &format!("there is no log, but {} remembers one", mark.by))
}

/// One failure that says everything: the first finding decides, the others are added to it.
fn all_of(findings: Vec<Failure>) -> Option<Failure> {
    findings.into_iter().reduce(|mut all, next| {
        all.message = format!("{}; and {}", all.message, next.message);
        all.hints.extend(next.hints);
        all
    })
}

/// A store that cannot be read for damage is a log that does not verify.
fn damage_is_broken(failure: Failure) -> Failure {
    let broken = Failure::new(Slug::AuditBroken, failure.message.clone());
    let broken = match failure.slug {
        Slug::StoreCorrupt => broken.hint("keep the store as it is and look at a copy"),
        Slug::StoreLost => failure.hints.iter().cloned().fold(broken, Failure::hint),
        _ => return failure,
    };
    broken.details(Details::FirstBadSeq(Seq(1)))
}

fn broken(seq: Seq, what: &str) -> Failure {
    Failure::new(Slug::AuditBroken, format!("the log is broken at event {seq}: {what}"))
        .hint("everything before that event can be trusted; keep the store as it is and look at a copy")
        .details(Details::FirstBadSeq(seq))
}

fn altered(first: &str, count: usize, rev: Seq) -> Failure {
    let message = match count {
        1 => format!("the log is whole up to {rev}, but a stored row does not follow from it: {first}"),
        _ => format!(
            "the log is whole up to {rev}, but {count} stored rows do not follow from it, first {first}"
        ),
    };
    Failure::new(Slug::AuditBroken, message).hint("rebuild them from the log: clearway doctor --repair")
}
