//! Which directory a scope belongs to. A scope is found by the path of its repository, so a repository that was moved
//! finds none and one at a used path finds another's: what the directory was is remembered beside the store, and
//! compared. Only the default store keeps such a record.

use crate::config::file_of;
use crate::failures::store_failure;
use crate::mutations::usage;
use crate::outside::{FileId, Outside, StoreAt};
use crate::session::Session;
use crate::site::SiteKind;
use clearway_core::decide::Notice;
use clearway_core::event::Body;
use clearway_core::failure::{Details, Failure, LeaseView};
use clearway_core::ids::{ScopeKey, Seq};
use clearway_core::pattern::Fold;
use clearway_core::slug::Slug;
use clearway_core::text::{quoted, shown};
use clearway_core::time::Wall;
use clearway_store::contract::LeaseListing;
use clearway_wire::canonical;
use std::path::Path;

const SUFFIX: &str = "-place";

/// A scope that exists.
#[derive(Clone, Debug)]
pub struct ScopeSeen {
    /// Its key.
    pub key: ScopeKey,
    /// Where its repository is, or was when the scope began.
    pub place: String,
    /// Live leases.
    pub leases: u64,
    /// The number of its last event.
    pub rev: Seq,
    /// When that was.
    pub last_event: Option<Wall>,
    /// Whether it is the scope here.
    pub is_here: bool,
    /// What keeps it from being read; the rest is then not known.
    pub trouble: Option<String>,
}

/// What adopting a scope came to.
#[derive(Clone, Debug)]
pub struct Adoption {
    /// The scope in use from now on.
    pub scope: ScopeKey,
    /// What belongs to it.
    pub place: String,
    /// Whether anything changed.
    pub changed: bool,
    /// Where a log that was begun meanwhile was put.
    pub put_aside: Option<String>,
    /// Live leases on paths of the place where it was: they do not follow.
    pub left_behind: u64,
}

/// How a repository and a scope belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Whereabouts {
    /// As far as is known, as ever.
    Known,
    /// The repository is that of another scope.
    Moved { scope: ScopeKey, from: String },
    /// The scope began with another directory.
    Replaced { place: String },
}

impl Whereabouts {
    /// What there is to say of it.
    pub(crate) fn notice(&self) -> Option<Notice> {
        match self {
            Self::Known => None,
            Self::Moved { scope, from } => {
                Some(Notice::ScopeMoved { scope: scope.to_string(), from: from.clone() })
            }
            Self::Replaced { place } => Some(Notice::ScopeReplaced { place: place.clone() }),
        }
    }
}

/// What is remembered of a scope's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    id: FileId,
    /// Whether the scope folds case, so that this need not be read from the store.
    pub(crate) fold: Fold,
    /// The directory that was last reported to be another one.
    told: Option<FileId>,
    path: String,
}

impl Record {
    /// Whether the scope was adopted by another directory than the one at `place`, which then has to have its own.
    pub(crate) fn is_of_another(&self, place: &str, id: Option<FileId>) -> bool {
        self.path != place && Some(self.id) != id
    }

    fn text(&self) -> String {
        let told = self.told.map(|id| format!("told {}\n", id_text(id))).unwrap_or_default();
        let fold = u8::from(self.fold == Fold::Insensitive);
        format!("{told}is {}\nfolds {fold}\npath {}", id_text(self.id), self.path)
    }

    fn parse(text: &str) -> Option<Self> {
        let (told, rest) = match text.strip_prefix("told ").and_then(|rest| rest.split_once('\n')) {
            Some((told, rest)) => (id_of(told), rest),
            None => (None, text),
        };
        let (id, rest) = rest.strip_prefix("is ")?.split_once("\nfolds ")?;
        let (folds, path) = rest.split_once("\npath ")?;
        let fold = match folds {
            "0" => Fold::Exact,
            "1" => Fold::Insensitive,
            _ => return None,
        };
        Some(Self { id: id_of(id)?, fold, told, path: path.to_owned() })
    }
}

fn id_text(id: FileId) -> String {
    format!("{} {} {}", id.device, id.inode, id.born)
}

fn id_of(text: &str) -> Option<FileId> {
    let numbers: Vec<u64> = text.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [device, inode, born] = numbers.as_slice() else { return None };
    Some(FileId { device: *device, inode: *inode, born: *born })
}

impl Session<'_> {
    /// Remembers the directory of a scope that has just been written to; what to say if that is another one than it was.
    /// A record that cannot be written is no reason to fail a command that has happened: the next one tries again.
    pub(crate) fn note_place(&mut self) -> Option<Notice> {
        let id = self.directory_id()?;
        let notice = self.own_place_notice();
        match self.record.clone() {
            Some(_) if notice.is_none() => {}
            Some(record) => self.remember(&Record { told: Some(id), ..record }),
            None => {
                let (fold, path) = (self.site.fold, self.site.place.clone());
                self.remember(&Record { id, fold, told: None, path });
            }
        }
        notice
    }

    /// What there is to say of where the scope is, to whoever looks and whoever writes.
    pub(crate) fn place_notice(&mut self) -> Option<Notice> {
        self.own_place_notice().or_else(|| self.held_around())
    }

    /// What there is to say of a store that is nowhere, or of a directory that the scope does not know yet.
    fn own_place_notice(&mut self) -> Option<Notice> {
        if let Some(nowhere) = self.store_nowhere() {
            return Some(nowhere);
        }
        let id = self.directory_id()?;
        match self.record.clone() {
            Some(record) if record.id == id || record.told == Some(id) => None,
            Some(record) => Some(Notice::ScopeReplaced { place: record.path }),
            None => {
                let (scope, from) = self.scope_with(id)?;
                Some(Notice::ScopeMoved { scope: scope.to_string(), from })
            }
        }
    }

    /// Whoever asks whether a log is whole is not told so of one whose very place is not there.
    pub(crate) fn refuse_nowhere(&self) -> Result<(), Failure> {
        let complaint = self.store_nowhere().and_then(|notice| notice.about_place());
        complaint.map_or(Ok(()), |(what, hint)| Err(Failure::new(Slug::StoreUnavailable, what).hint(hint)))
    }

    /// What there is to say of a store that was named in a directory which is not there.
    pub fn store_nowhere(&self) -> Option<Notice> {
        let file = self.start.join(file_of(self.config.store_url()?)?);
        let directory = file.parent().filter(|directory| !self.outside.is_directory(directory))?;
        Some(Notice::StoreNowhere { directory: directory.display().to_string() })
    }

    pub(crate) fn whereabouts(&mut self) -> Whereabouts {
        let Some(id) = self.directory_id() else { return Whereabouts::Known };
        match self.record(&self.site.key.clone()) {
            Some(record) if record.id != id => Whereabouts::Replaced { place: record.path },
            _ => match self.scope_with(id) {
                Some((scope, from)) => Whereabouts::Moved { scope, from },
                None => Whereabouts::Known,
            },
        }
    }

    /// Goes on with the scope that the repository had before: the named one, or the one that remembers it.
    pub fn adopt(&mut self, key: Option<&str>) -> Result<Adoption, Failure> {
        let id = self.adopting_id()?;
        let wanted = match (key, self.whereabouts()) {
            (Some(key), _) => self.existing_scope(key)?,
            (None, Whereabouts::Moved { scope, .. }) => scope,
            (None, _) => self.site.key.clone(),
        };
        let before = self.record(&wanted);
        if wanted == self.site.key && before.as_ref().is_none_or(|record| record.id == id) {
            return self.adopted(false, None);
        }
        let mut put_aside = None;
        if wanted != self.site.key {
            self.refuse_present(&wanted, before.as_ref(), id)?;
            let rev = self.refuse_others_here()?;
            let adopted = self.engine.adopt(&self.own_key, &wanted, rev);
            put_aside = adopted.map_err(|error| store_failure(&error))?;
            self.site.key = wanted;
        }
        let (fold, path) = (self.fold()?, self.site.place.clone());
        self.remember(&Record { id, fold, told: None, path });
        self.adopted(true, put_aside)
    }

    /// Every scope of the store in use. One that cannot be read is listed with what is wrong with it.
    pub fn scopes(&mut self) -> Result<Vec<ScopeSeen>, Failure> {
        let keys = self.engine.scopes().map_err(|error| store_failure(&error))?;
        Ok(keys
            .into_iter()
            .map(|key| self.scope_seen(&key).unwrap_or_else(|failure| self.unseen(key, failure)))
            .collect())
    }

    fn unseen(&mut self, key: ScopeKey, failure: Failure) -> ScopeSeen {
        let place = self.record(&key).map(|record| record.path).unwrap_or_default();
        let is_here = self.is_here(&key);
        let trouble = Some(failure.message);
        ScopeSeen { key, place, leases: 0, rev: Seq(0), last_event: None, is_here, trouble }
    }

    /// Whether a scope is that of the directory; the scope of the machine is nobody's place.
    fn is_here(&self, key: &ScopeKey) -> bool {
        *key == self.site.key && self.site.kind != SiteKind::Machine
    }

    fn scope_seen(&mut self, key: &ScopeKey) -> Result<ScopeSeen, Failure> {
        let survey = self.survey_in(key, LeaseListing::Live)?;
        let (rev, leases) = (survey.rev(), live(survey.leases()).len() as u64);
        let ends = self.read_in(key, |snapshot| {
            Ok((snapshot.events(Seq(0), 1)?, snapshot.events(Seq(rev.0.saturating_sub(1)), 1)?))
        })?;
        let (first, last) = ends.unwrap_or_default();
        let event = |stored: &[clearway_store::contract::StoredEvent]| {
            let stored = stored.first()?;
            canonical::decode(stored.seq, &stored.bytes, survey.fold()).ok()
        };
        let began_at = match event(&first).map(|event| event.body) {
            Some(Body::ScopeOpened { place, .. }) => place,
            _ => String::new(),
        };
        let place = self.record(key).map_or(began_at, |record| record.path);
        Ok(ScopeSeen {
            place,
            leases,
            rev,
            last_event: event(&last).map(|event| event.at),
            is_here: self.is_here(key),
            trouble: None,
            key: key.clone(),
        })
    }

    /// The directory that the scope here belongs to; `None` where that is not remembered.
    fn directory_id(&self) -> Option<FileId> {
        let remembers = self.config.store_url().is_none() && self.site.kind != SiteKind::Machine;
        remembers.then(|| self.outside.file_id(Path::new(&self.site.place))).flatten()
    }

    fn adopting_id(&self) -> Result<FileId, Failure> {
        if self.config.store_url().is_some() {
            return Err(usage(
                "one file holds every scope used with it, by the path of its repository: nothing can be adopted there",
                "leave out --store, CLEARWAY_STORE and store.url",
            ));
        }
        self.directory_id().ok_or_else(|| {
            usage(
                "only a repository or a directory adopts a scope",
                "go there and leave out --scope, or add -C DIR",
            )
        })
    }

    /// A scope by its key, which must have a store of its own.
    fn existing_scope(&mut self, key: &str) -> Result<ScopeKey, Failure> {
        let known = self.engine.scopes().map_err(|error| store_failure(&error))?;
        known.into_iter().find(|known| known.as_str() == key).ok_or_else(|| {
            Failure::new(Slug::NotFound, format!("no scope has the key {}", quoted(key)))
                .hint("see which scopes there are: clearway scope list")
        })
    }

    /// A scope whose repository is still where it was belongs to that one.
    fn refuse_present(&self, wanted: &ScopeKey, record: Option<&Record>, own: FileId) -> Result<(), Failure> {
        match record {
            Some(record) if record.id == own => Ok(()),
            Some(record) if self.outside.file_id(Path::new(&record.path)) != Some(record.id) => Ok(()),
            Some(record) => {
                let message = format!("{wanted} belongs to {}, which is still there", shown(&record.path));
                Err(usage(&message, "a copy has a scope of its own: there is nothing to adopt"))
            }
            None => Err(usage(
                &format!("nothing is remembered of what {wanted} belongs to"),
                "write to it once where it is: clearway reserve PATH",
            )),
        }
    }

    /// Nobody may lose what it holds in a log that is put aside, but for the caller, who is told. Answers where it ends.
    fn refuse_others_here(&mut self) -> Result<Seq, Failure> {
        if self.own_key != self.site.key {
            return Ok(Seq(0));
        }
        let survey = self.survey_in(&self.site.key.clone(), LeaseListing::Live)?;
        let me = survey.caller(&self.caller).map(|seen| seen.view.agent.id);
        let mut leases = live(survey.leases());
        leases.retain(|view| Some(view.lease.holder) != me);
        let waiting = survey.queue.iter().find(|queued| Some(queued.wait.agent) != me);
        let who = leases.first().map(|view| &view.agent).or(waiting.map(|queued| &queued.agent));
        match who {
            None => Ok(survey.rev()),
            Some(who) => {
                let message = format!("{who} holds or waits for something in the scope that was begun here");
                Err(Failure::new(Slug::ReservationHeld, message)
                    .hint("once nobody else does, adopt again; see who: clearway status")
                    .details(Details::Blockers { leases, ahead: Box::default() }))
            }
        }
    }

    fn adopted(&mut self, changed: bool, put_aside: Option<String>) -> Result<Adoption, Failure> {
        let (scope, here) = (self.site.key.clone(), self.site.worktree());
        let leases = live(self.survey_in(&scope, LeaseListing::Live)?.leases());
        let elsewhere = |view: &&LeaseView| {
            let root = &view.lease.worktree;
            !root.0.is_empty() && *root != here && !self.outside.is_directory(Path::new(&root.0))
        };
        let left_behind = leases.iter().filter(elsewhere).count() as u64;
        Ok(Adoption { scope, place: self.site.place.clone(), changed, put_aside, left_behind })
    }

    /// Another scope that remembers a directory as its own.
    fn scope_with(&mut self, id: FileId) -> Option<(ScopeKey, String)> {
        let others = self.engine.scopes().ok()?.into_iter().filter(|key| *key != self.site.key);
        let remembered = others.collect::<Vec<_>>().into_iter().filter_map(|key| {
            let record = self.record(&key)?;
            (record.id == id).then_some((key, record.path))
        });
        remembered.into_iter().next()
    }

    fn record(&mut self, scope: &ScopeKey) -> Option<Record> {
        let store = StoreAt { url: self.config.store_url(), from: &self.start };
        record_of(self.outside, store, scope)
    }

    fn remember(&mut self, record: &Record) {
        if let Ok(file) = self.file_beside_store(SUFFIX) {
            let _ = self.outside.write_private(&file, &record.text());
        }
    }
}

/// What is remembered of a scope's directory; nothing where the store is one file.
pub(crate) fn record_of(outside: &mut dyn Outside, store: StoreAt<'_>, scope: &ScopeKey) -> Option<Record> {
    let file = store.url.is_none().then(|| outside.file_beside_store(store, scope, SUFFIX))?.ok()?;
    Record::parse(&outside.read_text(&file).ok()??)
}

fn live(mut leases: Vec<LeaseView>) -> Vec<LeaseView> {
    leases.retain(|view| view.lease.ended.is_none());
    leases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_remembered_is_read_back() {
        let id = FileId { device: 1, inode: 2, born: 3 };
        for told in [None, Some(FileId { inode: 9, ..id })] {
            for fold in [Fold::Exact, Fold::Insensitive] {
                let record = Record { id, fold, told, path: "/a b/\nc".to_owned() };
                assert_eq!(Record::parse(&record.text()), Some(record));
            }
        }
        let (short, odd) = ("is 1 2\nfolds 0\npath /a", "is 1 2 3\nfolds 2\npath /a");
        for text in ["", short, odd, "is 1 2 3\npath /a", "is 1 2 x\nfolds 0\npath /a", "told 1 2 3\n"] {
            assert_eq!(Record::parse(text), None, "{text}");
        }
    }
}
