//! Failures of stores and configurations in the words of users.

use crate::config::ConfigError;
use clearway_core::failure::{Details, Failure, Field, Retry};
use clearway_core::hint::STORE_SLIP;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_store::contract::{About, Finding, Holder, Lack, Openness, Room, StoreError};

/// What a store's trouble means to a user.
pub fn store_failure(error: &StoreError) -> Failure {
    let message = error.to_string();
    match error {
        StoreError::Busy { holders, .. } => busy(message, holders),
        StoreError::Full { disk, free_bytes, lack, .. } => Failure::new(Slug::StoreFull, message)
            .hint(way_to_room(*lack))
            .details(Details::Fields(room(disk, *free_bytes, *lack))),
        StoreError::ReadOnly { .. } => Failure::new(Slug::StoreReadOnly, message)
            .hint("reading still works; to write, the directory has to be writable")
            .hint("in a sandbox, ask to run this command outside of it"),
        StoreError::Unreadable { .. } => Failure::new(Slug::StoreUnavailable, message)
            .hint("a store belongs to one user alone: use your own, with --store FILE if need be"),
        StoreError::Unavailable { .. } => {
            Failure::new(Slug::StoreUnavailable, message).hint("see what is wrong: clearway doctor")
        }
        StoreError::Unsure { .. } => Failure::new(Slug::StoreUnavailable, message)
            .hint("look before trying again: clearway leases")
            .hint("with --idempotency-key KEY a repetition is answered like the first time"),
        StoreError::NotPrivate { path, openness: Openness::Mode, .. } => {
            Failure::new(Slug::StoreNotPrivate, message).hint(make_private(path))
        }
        StoreError::NotPrivate { path, openness: Openness::Shared, .. } => {
            Failure::new(Slug::StoreNotPrivate, message).hint(format!(
                "everybody uses that directory; put the store in one of its own: mkdir -m 700 {}/clearway",
                shell::word(path)
            ))
        }
        StoreError::NotPrivate { path, .. } => Failure::new(Slug::StoreNotPrivate, message)
            .hint(format!("see whose it is: ls -ld {}", shell::word(path))),
        StoreError::Network { .. } => Failure::new(Slug::NetworkFileSystem, message)
            .hint("locks do not hold there: put the store on a local disk with CLEARWAY_STORE=FILE"),
        StoreError::SeveralNames { path, .. } => {
            Failure::new(Slug::StoreUnavailable, message).hint(find_names(path))
        }
        StoreError::Nowhere { directory } => Failure::new(Slug::StoreUnavailable, message)
            .hint(STORE_SLIP)
            .hint(format!("if it is meant, make it first: mkdir -p -m 700 {}", shell::word(directory))),
        StoreError::Link { path } => Failure::new(Slug::StoreUnavailable, message)
            .hint(format!("name the file it leads to: readlink -m {}", shell::word(path))),
        StoreError::Newer { .. } => Failure::new(Slug::StoreNewer, message)
            .hint("a newer clearway wrote this store: use that one; nothing was changed"),
        StoreError::Corrupt { path, .. } => Failure::new(Slug::StoreCorrupt, message)
            .hint("rebuild stored rows from the log, if it can be read: clearway doctor --repair")
            .hint(format!("otherwise keep it aside and start afresh: {}", set_aside(path))),
        StoreError::NoDatabase { path } => Failure::new(Slug::StoreCorrupt, message)
            .hint("if it never was a store, name another file: --store FILE or CLEARWAY_STORE=FILE")
            .hint(begin_anew(path, false)),
        StoreError::Lost { path, holds_others, .. } => {
            Failure::new(Slug::StoreLost, message).hint(begin_anew(path, *holds_others))
        }
        StoreError::UnreadableRow(_) => Failure::new(Slug::UnreadableRow, message).hint(REPAIR),
        StoreError::IdTaken | StoreError::Internal(_) => Failure::new(Slug::Internal, message)
            .hint("this is a defect of clearway; please report it with the output of: clearway doctor"),
    }
}

fn way_to_room(lack: Lack) -> &'static str {
    match lack {
        Lack::Bytes(_) => "make room on that disk; nothing was changed",
        Lack::Files { .. } => "remove files on that disk, however small; nothing was changed",
        Lack::Quota => "remove files of yours on that disk, or have the quota raised; nothing was changed",
    }
}

fn room(disk: &str, free_bytes: u64, lack: Lack) -> Vec<(&'static str, Field)> {
    let mut fields = vec![("disk", disk.to_owned().into()), ("free_bytes", free_bytes.into())];
    match lack {
        Lack::Bytes(Some(Room { bytes, kept_bytes })) => {
            fields.extend([("needed_bytes", bytes.into()), ("kept_bytes", kept_bytes.into())]);
        }
        Lack::Files { free, needed } => {
            fields.extend([("free_files", free.into()), ("needed_files", needed.into())]);
        }
        Lack::Bytes(None) | Lack::Quota => {}
    }
    fields
}

/// What takes a file or directory from everybody but its owner.
fn make_private(path: &str) -> String {
    format!("make it yours alone: chmod go-rwx {}", shell::word(path))
}

/// Moves what lies in the place of a file beside the store out of the way.
fn move_away(path: &str, store: &str) -> String {
    format!("move it out of the way: {} && mv {} \"$aside\"", make_aside(store), shell::word(path))
}

fn find_names(path: &str) -> String {
    let path = shell::word(path);
    format!("nothing was written; find its names and remove all but one: find / -samefile {path} 2>/dev/null")
}

fn busy(message: String, holders: &[Holder]) -> Failure {
    let message = if holders.is_empty() { message } else { format!("{message}: {}", said(holders)) };
    let failure = Failure::new(Slug::StoreBusy, message).retry(Retry::Now);
    // Nobody waits out a process that stands still.
    let mut hints: Vec<String> = holders.iter().filter_map(wake).collect();
    if hints.is_empty() {
        hints.push("wait longer with: --timeout 30s".to_owned());
    }
    let details = match holders {
        [] => Details::None,
        holders => Details::field("holders", holders.iter().map(ToString::to_string).collect::<Vec<_>>()),
    };
    hints.into_iter().fold(failure, Failure::hint).details(details)
}

/// Those who are in the way, in one line.
pub(crate) fn said(holders: &[Holder]) -> String {
    holders.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// What lets a stopped process go on.
pub(crate) fn wake(holder: &Holder) -> Option<String> {
    match holder {
        Holder::Process { pid, is_stopped: true, .. } => {
            Some(format!("a stopped process can go on with: kill -CONT {pid}"))
        }
        Holder::Process { .. } | Holder::Told(_) => None,
    }
}

/// What leads out of what an examination of a store at this place found.
pub(crate) fn way_out(finding: &Finding, place: &str) -> String {
    let in_the_way = finding.path.as_deref().filter(|_| finding.about == About::Access);
    if let Some(path) = in_the_way {
        return move_away(path, place);
    }
    let words = match finding.about {
        About::Access => "make the place writable, or keep the store elsewhere: CLEARWAY_STORE=FILE",
        About::Disk => "make room there, or keep the store on another disk: CLEARWAY_STORE=FILE",
        About::Ballast => "take it now: clearway doctor --repair",
        About::Witness => "the next write makes it remember again, or now: clearway doctor --repair",
        About::Names => return find_names(place),
        About::Privacy => return make_private(finding.path.as_deref().unwrap_or(place)),
        About::Lost | About::Gate | About::Foreign => return begin_anew(place, finding.about == About::Gate),
        About::Nowhere => STORE_SLIP,
        About::Rows | About::Key | About::Schema | About::Pages => REPAIR,
    };
    words.to_owned()
}

/// What mends whatever the log covers.
pub(crate) const REPAIR: &str = "rebuild it from the log: clearway doctor --repair";

/// The ways out of a lost log. A file with other scopes in it stays: only the gate goes, which remembers the lost one.
fn begin_anew(store: &str, holds_others: bool) -> String {
    let back = "put the file back if you have it";
    match holds_others {
        false => format!("{back}; otherwise keep what is left aside and begin anew: {}", set_aside(store)),
        true => format!(
            "{back}; otherwise let the gate forget all scopes, each until its next write, and begin anew: \
             {} && mv {} \"$aside\"",
            make_aside(store),
            shell::word(&format!("{store}-gate"))
        ),
    }
}

/// Moves a store and the files beside it, as far as there are any, out of the way, and never onto an earlier one.
fn set_aside(store: &str) -> String {
    let (directory, name) = store.rsplit_once('/').unwrap_or((".", store));
    // The slash at its end has a link to a directory followed.
    let directory = shell::word(&format!("{directory}/"));
    let name = literal_glob(name);
    let (name, beside) = (shell::word(&name), shell::word(&format!("{name}-*")));
    let make_aside = make_aside(store);
    format!(
        "{make_aside} && find {directory} -maxdepth 1 -type f '(' -name {name} -o -name {beside} ')' \
         -exec mv {{}} \"$aside\" ';'"
    )
}

fn make_aside(store: &str) -> String {
    format!("aside=$(mktemp -d {})", shell::word(&format!("{store}.damaged.XXXXXX")))
}

/// A pattern of `find -name` that matches nothing but this name, and is never taken for an option.
fn literal_glob(name: &str) -> String {
    let is_special = |at: usize, c: char| matches!(c, '*' | '?' | '[' | '\\') || (at == 0 && c == '-');
    let escape = |(at, c): (usize, char)| is_special(at, c).then_some('\\').into_iter().chain([c]);
    name.char_indices().flat_map(escape).collect()
}

/// Every mistake of a configuration at once.
pub fn config_failure(errors: &[ConfigError]) -> Failure {
    let slug = errors.first().map_or(Slug::ConfigBadValue, ConfigError::slug);
    let message = errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let failure = Failure::new(slug, message);
    let failure = errors.iter().filter_map(ConfigError::way_out).fold(failure, Failure::hint);
    failure.hint("see which files are read: clearway config path")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_that_may_have_been_made_is_not_called_undone() {
        let failure = store_failure(&StoreError::Unsure { path: "db".to_owned() });
        assert_eq!(failure.slug, Slug::StoreUnavailable);
        assert_eq!(failure.message, "db did not say whether the change was made");
        assert!(format!("{:?}", failure.hints).contains("--idempotency-key"), "{:?}", failure.hints);
    }
}
