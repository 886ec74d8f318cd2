//! Rows and the values they stand for.

use clearway_core::agent::{Agent, AgentName, Client, IdentityKey};
use clearway_core::facts::Process;
use clearway_core::ids::{AgentId, Fence, LeaseId, Seq, SetId, WaitId};
use clearway_core::lease::{End, Ended, Grade, Lease, Mode};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::target::{ResourceName, Target, Worktree};
use clearway_core::time::{Mono, Wall};
use clearway_core::wait::{Wait, WaitView};
use clearway_wire::waiting;
use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Row, Statement};

/// The columns of a lease, in the order [`lease`] reads them.
pub(crate) const LEASE_COLUMNS: &str = "id, space, worktree, pattern, write_set, mode, grade, holder, fence, reason, \
     slot, bound, handed_by, makes_way, ceded, ttl_ms, granted, deadline, end_max, created_at";

/// How many these are, and so where those stand that follow them.
const AFTER_LEASE: usize = 20;

/// The columns of a wait, in the order [`wait`] reads them.
pub(crate) const WAIT_COLUMNS: &str =
    "id, agent, wanted, place, attached, until, kept_until, offered_until, offers, since, created_at, heard";

/// The columns of an agent, in the order [`agent`] reads them.
pub(crate) const AGENT_COLUMNS: &str =
    "id, name, client, key, parent, root, process, registered_at, ended_at, halted";

/// A row that could be read, or the id of one that could not.
pub(crate) type Readable<T> = Result<T, String>;

/// Reads a lease. A row whose values make no sense is unreadable, which is not an error of the statement.
pub(crate) fn lease(row: &Row<'_>, fold: Fold) -> rusqlite::Result<Readable<Lease>> {
    Ok(try_lease(row, fold).ok_or_else(|| legible(row, 0)))
}

/// Reads a lease and then its anchor, which has to be that of its target: searches go by it.
pub(crate) fn lease_in_place(row: &Row<'_>, fold: Fold) -> rusqlite::Result<Readable<Lease>> {
    Ok(lease(row, fold)?.and_then(|lease| in_place(row, AFTER_LEASE, lease)))
}

/// The same for an ended lease.
pub(crate) fn ended_lease_in_place(row: &Row<'_>, fold: Fold) -> rusqlite::Result<Readable<Lease>> {
    Ok(ended_lease(row, fold)?.and_then(|lease| in_place(row, AFTER_LEASE + 2, lease)))
}

fn in_place(row: &Row<'_>, index: usize, lease: Lease) -> Readable<Lease> {
    let is_there = column::<String>(row, index).as_deref() == Some(anchor(&lease.target));
    if is_there { Ok(lease) } else { Err(legible(row, 0)) }
}

/// Reads an ended lease: the columns of a lease, then how and when it ended.
pub(crate) fn ended_lease(row: &Row<'_>, fold: Fold) -> rusqlite::Result<Readable<Lease>> {
    let read = || {
        let how = End::from_word(&column::<String>(row, AFTER_LEASE)?)?;
        Some(Lease {
            ended: Some(Ended { how, at: Wall(column(row, AFTER_LEASE + 1)?) }),
            ..try_lease(row, fold)?
        })
    };
    Ok(read().ok_or_else(|| legible(row, 0)))
}

fn try_lease(row: &Row<'_>, fold: Fold) -> Option<Lease> {
    Some(Lease {
        id: LeaseId::parse(&column::<String>(row, 0)?)?,
        target: target(column(row, 1)?, &column::<String>(row, 3)?, fold)?,
        set: optional(row, 4, |text: String| SetId::parse(&text))?,
        mode: mode(&column::<String>(row, 5)?)?,
        grade: grade(&column::<String>(row, 6)?)?,
        holder: AgentId::parse(&column::<String>(row, 7)?)?,
        fence: Fence::from_integer(column(row, 8)?),
        reason: column(row, 9)?,
        worktree: Worktree(column(row, 2)?),
        slot: column(row, 10)?,
        bound: bound(&column::<String>(row, 11)?)?,
        handed_by: optional(row, 12, |text: String| AgentId::parse(&text))?,
        makes_way: column(row, 13)?,
        ceded: paths(&column::<String>(row, 14)?, fold)?,
        ttl_ms: column(row, 15)?,
        granted: Mono(column(row, 16)?),
        deadline: Mono(column(row, 17)?),
        end_max: column::<Option<u64>>(row, 18)?.map(Mono),
        created_at: Wall(column(row, 19)?),
        ended: None,
    })
}

/// Paths that made way, as a row holds them.
pub(crate) fn ceded(lease: &Lease) -> String {
    lease.ceded.iter().map(Target::canonical).collect::<Vec<_>>().join("\n")
}

fn paths(text: &str, fold: Fold) -> Option<Vec<Target>> {
    text.lines().map(|line| target(0, line, fold)).collect()
}

fn bound(text: &str) -> Option<Option<Process>> {
    if text.is_empty() { Some(None) } else { Process::from_key(text).map(Some) }
}

/// Reads a wait. What was heard of its process counts within one boot only.
pub(crate) fn wait(row: &Row<'_>, fold: Fold) -> rusqlite::Result<Readable<WaitView>> {
    Ok(try_wait(row, fold).ok_or_else(|| legible(row, 0)))
}

fn try_wait(row: &Row<'_>, fold: Fold) -> Option<WaitView> {
    let wait = Wait {
        id: WaitId::parse(&column::<String>(row, 0)?)?,
        agent: AgentId::parse(&column::<String>(row, 1)?)?,
        wanted: waiting::decode_wanted(&column::<Vec<u8>>(row, 2)?, fold).ok()?,
        place: Seq(column(row, 3)?),
        attached: optional(row, 4, |text: String| Process::from_key(&text))?,
        until: Mono(column(row, 5)?),
        kept_until: column::<Option<u64>>(row, 6)?.map(Mono),
        offered_until: column::<Option<u64>>(row, 7)?.map(Mono),
        offers: column(row, 8)?,
        since: Mono(column(row, 9)?),
        created_at: Wall(column(row, 10)?),
    };
    Some(WaitView { wait, heard: column::<Option<u64>>(row, 11)?.map(Mono) })
}

/// Reads an agent.
pub(crate) fn agent(row: &Row<'_>) -> rusqlite::Result<Readable<Agent>> {
    Ok(try_agent(row).ok_or_else(|| legible(row, 0)))
}

fn try_agent(row: &Row<'_>) -> Option<Agent> {
    Some(Agent {
        id: AgentId::parse(&column::<String>(row, 0)?)?,
        name: AgentName::parse(&column::<String>(row, 1)?)?,
        client: Client::from_word(&column::<String>(row, 2)?)?,
        key: IdentityKey(column(row, 3)?),
        parent: optional(row, 4, |text: String| AgentId::parse(&text))?,
        root: AgentId::parse(&column::<String>(row, 5)?)?,
        process: optional(row, 6, |text: String| Process::from_key(&text))?,
        registered_at: Wall(column(row, 7)?),
        ended_at: column::<Option<i64>>(row, 8)?.map(Wall),
        halted: column(row, 9)?,
    })
}

/// The number of a target's space.
pub(crate) fn space(target: &Target) -> i64 {
    i64::from(matches!(target, Target::Name(_)))
}

/// By what candidates are found: the literal directory in front of a pattern, or the name itself.
pub(crate) fn anchor(target: &Target) -> &str {
    match target {
        Target::Path(pattern) => pattern.anchor(),
        Target::Name(name) => name.as_str(),
    }
}

fn target(space: i64, text: &str, fold: Fold) -> Option<Target> {
    match space {
        0 => Pattern::from_canonical(text, fold).ok().map(Target::Path),
        1 => ResourceName::parse(text).ok().map(Target::Name),
        _ => None,
    }
}

fn mode(word: &str) -> Option<Mode> {
    [Mode::Shared, Mode::Exclusive].into_iter().find(|mode| mode.word() == word)
}

fn grade(word: &str) -> Option<Grade> {
    [Grade::Auto, Grade::Claimed].into_iter().find(|grade| grade.word() == word)
}

/// A cell for people to read, whatever is in it: one bad cell must not end the reading of the others.
pub(crate) fn legible(row: &Row<'_>, index: usize) -> String {
    match row.get_ref(index) {
        Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => String::from_utf8_lossy(bytes).into_owned(),
        Ok(other) => format!("{other:?}"),
        Err(error) => error.to_string(),
    }
}

fn column<T: FromSql>(row: &Row<'_>, index: usize) -> Option<T> {
    row.get(index).ok()
}

/// A column that may be absent: present and senseless is unreadable, absent is fine.
fn optional<T: FromSql, U>(
    row: &Row<'_>,
    index: usize,
    parse: impl FnOnce(T) -> Option<U>,
) -> Option<Option<U>> {
    match column::<Option<T>>(row, index)? {
        Some(value) => parse(value).map(Some),
        None => Some(None),
    }
}

/// Runs a query and sorts its rows into readable and unreadable ones.
pub(crate) fn collect<T>(
    statement: &mut Statement<'_>,
    parameters: impl rusqlite::Params,
    read: impl FnMut(&Row<'_>) -> rusqlite::Result<Readable<T>>,
) -> rusqlite::Result<Vec<Readable<T>>> {
    statement.query_map(parameters, read)?.collect()
}
