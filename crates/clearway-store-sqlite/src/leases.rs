//! Finding leases: by what they may overlap, by id, by holder, by time.

use crate::rows::{self, LEASE_COLUMNS, Readable};
use clearway_core::agent::SignOfLife;
use clearway_core::ids::{AgentId, LeaseId};
use clearway_core::lease::{Lease, Mode};
use clearway_core::limits::{SHARED_PAST_MAX, WIDE_PAST_MAX};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::target::{ResourceName, Worktree};
use clearway_core::time::{Mono, Now};
use rusqlite::types::Value;
use rusqlite::{CachedStatement, Connection, Result, params, params_from_iter};

/// One scope's rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LeaseTable<'a> {
    pub(crate) connection: &'a Connection,
    pub(crate) scope: i64,
    pub(crate) fold: Fold,
}

/// The index of the constraint that makes targets unique. Searches name their index: without statistics SQLite takes the
/// primary key for as good, and reads every lease of the scope.
const BY_TARGET: &str = "sqlite_autoindex_leases_2";

const BY_PATTERN: &str = "ended_leases_by_pattern";
const BY_PATTERN_AND_HOLDER: &str = "ended_leases_by_holder";
const BY_PATTERN_AND_GIVER: &str = "ended_leases_by_giver";

type Rows = Result<Vec<Readable<Lease>>>;

/// What time may have ended.
#[derive(Debug, Default)]
pub(crate) struct Due {
    pub(crate) overdue: Vec<Readable<Lease>>,
    /// Leases that signs of life keep, and until when.
    pub(crate) kept: Vec<(String, Mono)>,
}

impl LeaseTable<'_> {
    /// Live path leases of a worktree that overlap the pattern. The index narrows, the one matcher decides.
    pub(crate) fn overlapping(&self, worktree: &Worktree, pattern: &Pattern) -> Rows {
        let mut found = Vec::new();
        for (id, text) in self.candidates(worktree, pattern)? {
            // A pattern that cannot be read may overlap anything: its row is fetched and reported.
            let stored = text.and_then(|text| Pattern::from_canonical(&text, self.fold).ok());
            if stored.is_none_or(|stored| stored.collides_with(pattern)) {
                found.extend(self.live_by_id(&id)?);
            }
        }
        Ok(found)
    }

    /// Ids and patterns of live leases anchored above, at or below the anchor.
    fn candidates(&self, worktree: &Worktree, pattern: &Pattern) -> Result<Vec<(String, Option<String>)>> {
        let above = ancestors(pattern.anchor());
        let text = candidates_text(above.len());
        let mut values: Vec<Value> = vec![self.scope.into(), worktree.0.clone().into()];
        values.extend(above.into_iter().map(|anchor| Value::from(anchor.to_owned())));
        let (from, to) = below(pattern.anchor());
        values.extend([self.scope.into(), worktree.0.clone().into(), from.into(), to.into()]);
        let mut statement = self.connection.prepare_cached(&text)?;
        statement
            .query_map(params_from_iter(values), |row| Ok((rows::legible(row, 0), row.get(1).ok())))?
            .collect()
    }

    /// Live leases of a name.
    pub(crate) fn named(&self, name: &ResourceName) -> Rows {
        let text = "scope = ? AND space = 1 AND worktree = '' AND anchor = ?";
        self.live_by(BY_TARGET, text, params![self.scope, name.as_str()])
    }

    /// A lease by id, live or ended.
    pub(crate) fn by_id(&self, id: LeaseId) -> Rows {
        let live = self.live_by_id(id.as_str())?;
        if live.is_empty() {
            self.ended("scope = ? AND id = ?", params![self.scope, id.as_str()])
        } else {
            Ok(live)
        }
    }

    fn live_by_id(&self, id: &str) -> Rows {
        self.live("scope = ? AND id = ?", params![self.scope, id])
    }

    /// Live leases of an agent.
    pub(crate) fn held_by(&self, agent: AgentId) -> Rows {
        self.live_by("leases_by_holder", "scope = ? AND holder = ?", params![self.scope, agent.as_str()])
    }

    /// Every live lease.
    pub(crate) fn every_live(&self) -> Rows {
        self.live("scope = ?", params![self.scope])
    }

    /// Live leases that are overdue, those first that are for longest, and when to look again at those that turned out
    /// not to be.
    pub(crate) fn due(&self, limit: usize, now: &Now) -> Result<Due> {
        let (mut overdue, kept) =
            self.looked_at(now)?.into_iter().partition::<Vec<_>, _>(|(_, over)| *over <= now.mono);
        overdue.sort_by(|(one, over), (other, other_over)| (over, one).cmp(&(other_over, other)));
        let mut found = Vec::new();
        for (id, _) in overdue.into_iter().take(limit) {
            found.extend(self.live_by_id(&id)?);
        }
        Ok(Due { overdue: found, kept })
    }

    /// The leases that are to be looked at by now, and when each is over as far as its holder was seen.
    fn looked_at(&self, now: &Now) -> Result<Vec<(String, Mono)>> {
        let mut statement = self.select(
            "SELECT id, min(coalesce(end_max, 9223372036854775807), max(deadline, coalesce(last_seen + ttl_ms, 0))) \
             FROM leases INDEXED BY leases_by_check \
             LEFT JOIN presence ON presence.scope = leases.scope AND agent = holder AND boot = ?3 AND last_seen <= ?4 \
             WHERE leases.scope = ?1 AND check_at <= ?2",
        )?;
        let read = |row: &rusqlite::Row<'_>| Ok((rows::legible(row, 0), Mono(row.get(1)?)));
        statement
            .query_map(params![self.scope, now.mono.0, now.boot.0, SignOfLife::latest(now.mono).0], read)?
            .collect()
    }

    /// The latest ended lease on exactly this path, or some of the latest if that was shared, the latest that each of these
    /// agents held or handed over, and the latest on more of the directories above. How long the past of a path is must not
    /// matter to whoever takes it now.
    pub(crate) fn history(&self, worktree: &Worktree, path: &Pattern, agents: &[AgentId]) -> Rows {
        let here = params![self.scope, worktree.0, path.canonical()];
        let mut found = self.past(&past_text(BY_PATTERN, "", 1), here)?;
        // Whoever is new here had nothing before.
        if agents.is_empty() {
            return Ok(found);
        }
        let is_shared = |row: &Readable<Lease>| row.as_ref().is_ok_and(|lease| lease.mode == Mode::Shared);
        if found.iter().any(is_shared) {
            found = self.past(&past_text(BY_PATTERN, "", SHARED_PAST_MAX), here)?;
        }
        let is_known = !found.is_empty();
        for id in self.wide_past(worktree, path)? {
            found.extend(self.ended("scope = ? AND id = ?", params![self.scope, id])?);
        }
        for agent in agents.iter().filter(|_| is_known) {
            let parameters = params![self.scope, worktree.0, path.canonical(), agent.as_str()];
            found.extend(self.past(&past_text(BY_PATTERN_AND_HOLDER, "AND holder = ?", 1), parameters)?);
            found.extend(self.past(&past_text(BY_PATTERN_AND_GIVER, "AND handed_by = ?", 1), parameters)?);
        }
        Ok(found)
    }

    /// Ids of the latest ended leases on more than one path of each directory above.
    fn wide_past(&self, worktree: &Worktree, path: &Pattern) -> Result<Vec<String>> {
        let mut statement = self.select(&wide_past_text())?;
        let mut found = Vec::new();
        for directory in ancestors(path.anchor()).into_iter().filter(|directory| *directory != path.anchor())
        {
            let limit = i64::try_from(WIDE_PAST_MAX).unwrap_or(i64::MAX);
            let values = params![self.scope, worktree.0, directory, limit];
            let ids = statement.query_map(values, |row| Ok(rows::legible(row, 0)))?;
            found.extend(ids.collect::<Result<Vec<String>>>()?);
        }
        Ok(found)
    }

    fn past(&self, text: &str, parameters: impl rusqlite::Params) -> Rows {
        let mut statement = self.select(text)?;
        rows::collect(&mut statement, parameters, |row| rows::ended_lease(row, self.fold))
    }

    /// Every live lease, in the order of fences.
    pub(crate) fn all_live(&self) -> Rows {
        self.live("scope = ? ORDER BY fence", params![self.scope])
    }

    /// Every live lease that is found where its target is; one that is not counts as unreadable.
    pub(crate) fn all_in_place(&self) -> Rows {
        let mut statement =
            self.select(&format!("SELECT {LEASE_COLUMNS}, anchor FROM leases WHERE scope = ?"))?;
        rows::collect(&mut statement, [self.scope], |row| rows::lease_in_place(row, self.fold))
    }

    /// The same for ended ones, which are looked for by it too.
    pub(crate) fn all_ended_in_place(&self) -> Rows {
        let text =
            format!("SELECT {LEASE_COLUMNS}, ended_how, ended_at, anchor FROM ended_leases WHERE scope = ?");
        let mut statement = self.select(&text)?;
        rows::collect(&mut statement, [self.scope], |row| rows::ended_lease_in_place(row, self.fold))
    }

    /// The latest ended leases.
    pub(crate) fn latest_ended(&self, limit: usize) -> Rows {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.ended("scope = ? ORDER BY fence DESC LIMIT ?", params![self.scope, limit])
    }

    fn live(&self, condition: &str, parameters: impl rusqlite::Params) -> Rows {
        self.read_live(&format!("SELECT {LEASE_COLUMNS} FROM leases WHERE {condition}"), parameters)
    }

    fn live_by(&self, index: &str, condition: &str, parameters: impl rusqlite::Params) -> Rows {
        let text = format!("SELECT {LEASE_COLUMNS} FROM leases INDEXED BY {index} WHERE {condition}");
        self.read_live(&text, parameters)
    }

    fn read_live(&self, text: &str, parameters: impl rusqlite::Params) -> Rows {
        let mut statement = self.select(text)?;
        rows::collect(&mut statement, parameters, |row| rows::lease(row, self.fold))
    }

    fn ended(&self, condition: &str, parameters: impl rusqlite::Params) -> Rows {
        let text = format!("SELECT {LEASE_COLUMNS}, ended_how, ended_at FROM ended_leases WHERE {condition}");
        let mut statement = self.select(&text)?;
        rows::collect(&mut statement, parameters, |row| rows::ended_lease(row, self.fold))
    }

    fn select(&self, text: &str) -> Result<CachedStatement<'_>> {
        self.connection.prepare_cached(text)
    }
}

/// The latest ended lease on a pattern, found from the end of an index.
fn past_text(index: &str, condition: &str, limit: usize) -> String {
    format!(
        "SELECT {LEASE_COLUMNS}, ended_how, ended_at FROM ended_leases INDEXED BY {index} \
         WHERE scope = ? AND worktree = ? AND pattern = ? AND space = 0 {condition} ORDER BY fence DESC LIMIT {limit}"
    )
}

/// The latest ended leases on more than one path that are anchored at a directory.
fn wide_past_text() -> String {
    "SELECT id FROM ended_leases INDEXED BY ended_leases_wide WHERE scope = ? AND worktree = ? AND anchor = ? \
     AND space = 0 AND anchor <> pattern ORDER BY fence DESC LIMIT ?"
        .to_owned()
}

/// The search for candidates at so many anchors and below the last of them.
fn candidates_text(anchors: usize) -> String {
    let slots = vec!["?"; anchors].join(",");
    let fixed = format!(
        "SELECT id, pattern FROM leases INDEXED BY {BY_TARGET} \
         WHERE scope = ? AND space = 0 AND worktree = ? AND anchor"
    );
    format!("{fixed} IN ({slots}) UNION ALL {fixed} > ? AND anchor < ?")
}

/// The anchor itself and every directory above it, the root included.
fn ancestors(anchor: &str) -> Vec<&str> {
    let above = anchor.match_indices('/').map(|(end, _)| &anchor[..end]);
    let mut all: Vec<&str> = std::iter::once("").chain(above).collect();
    if !anchor.is_empty() {
        all.push(anchor);
    }
    all
}

/// The open range of texts that lie below an anchor: `a/` up to `a0`, since `0` follows `/`.
fn below(anchor: &str) -> (String, String) {
    if anchor.is_empty() {
        (String::new(), "\u{10ffff}".to_owned())
    } else {
        (format!("{anchor}/"), format!("{anchor}0"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::Schema;
    use rusqlite::StatementStatus;

    #[test]
    fn the_search_for_candidates_never_reads_the_whole_scope() {
        let connection = Connection::open_in_memory().unwrap();
        Schema::CURRENT.migrate(&connection, 0).unwrap();
        let mut statement =
            connection.prepare(&format!("EXPLAIN QUERY PLAN {}", candidates_text(3))).unwrap();
        let count = statement.parameter_count();
        let plan: Vec<String> = statement
            .query_map(params_from_iter(vec![Value::Null; count]), |row| row.get("detail"))
            .unwrap()
            .collect::<Result<_>>()
            .unwrap();
        let searches = plan.iter().filter(|step| step.contains("leases"));
        assert!(searches.clone().all(|step| step.contains("AND anchor")), "{plan:?}");
        assert_eq!(searches.count(), 2, "{plan:?}");
    }

    #[test]
    fn the_past_of_a_path_costs_the_same_however_long_it_is() {
        let connection = Connection::open_in_memory().unwrap();
        Schema::CURRENT.migrate(&connection, 0).unwrap();
        let insert = "INSERT INTO scopes (id, key, rev, head, epoch, folds, live_leases, root_patterns, live_waits) \
                      VALUES (1, 's', 0, zeroblob(32), 0, 0, 0, 0, 0)";
        connection.execute(insert, []).unwrap();
        let live = |from: u32, to: u32| {
            let insert = "WITH RECURSIVE past (n) AS (SELECT ?1 UNION ALL SELECT n + 1 FROM past WHERE n < ?2) \
                          INSERT INTO ended_leases SELECT 1, printf('%08d', n), 0, '/w', 'a.rs', 'a.rs', NULL, 'exclusive', \
                          'claimed', printf('holder%02d', n % 50), n, NULL, NULL, '', printf('giver%02d', n % 50), 0, '', 1000, 1, 2, NULL, 3, 'released', 4 \
                          FROM past";
            connection.execute(insert, [from, to]).unwrap();
        };
        let steps = || {
            let asked = [(BY_PATTERN, "", None), (BY_PATTERN_AND_HOLDER, "AND holder = ?", Some("holder07"))];
            asked.map(|(index, condition, holder)| {
                let mut statement = connection.prepare(&past_text(index, condition, 1)).unwrap();
                let values = [Value::from(1), Value::from("/w".to_owned()), Value::from("a.rs".to_owned())];
                let values = values.into_iter().chain(holder.map(|holder| Value::from(holder.to_owned())));
                let mut rows = statement.query(params_from_iter(values)).unwrap();
                let fence: u32 = rows.next().unwrap().unwrap().get("fence").unwrap();
                assert!(rows.next().unwrap().is_none());
                drop(rows);
                (fence, statement.get_status(StatementStatus::VmStep))
            })
        };
        live(1, 60);
        let [(newest, few), (own, few_own)] = steps();
        assert_eq!((newest, own), (60, 57));
        live(61, 10_000);
        let [(newest, many), (own, many_own)] = steps();
        assert_eq!((newest, own), (10_000, 9_957));
        assert_eq!((few, few_own), (many, many_own));
    }

    #[test]
    fn candidates_lie_on_the_way_down_or_below() {
        assert_eq!(ancestors(""), [""]);
        assert_eq!(ancestors("a/b.rs"), ["", "a", "a/b.rs"]);
        let (from, to) = below("src");
        assert!("src/a" > from.as_str() && "src/a" < to.as_str());
        assert!("srcx" > to.as_str() && "src" < from.as_str());
    }
}
