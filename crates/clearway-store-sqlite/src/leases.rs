//! Finding leases: by what they may overlap, by id, by holder, by time.

use crate::rows::{self, LEASE_COLUMNS, Readable};
use clearway_core::ids::{AgentId, LeaseId};
use clearway_core::lease::Lease;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slice::Due;
use clearway_core::target::{ResourceName, Worktree};
use clearway_core::time::Mono;
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

type Rows = Result<Vec<Readable<Lease>>>;

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

    /// Live leases that may be overdue.
    pub(crate) fn due(&self, due: Due, now: Mono) -> Rows {
        let limit = match due {
            Due::None => return Ok(Vec::new()),
            Due::Some(limit) => i64::try_from(limit).unwrap_or(i64::MAX),
            Due::All => -1,
            Due::EveryLive => return self.live("scope = ?", params![self.scope]),
        };
        let text = "scope = ? AND check_at <= ? ORDER BY check_at LIMIT ?";
        self.live_by("leases_by_check", text, params![self.scope, now.0, limit])
    }

    /// Each holder's latest ended lease on exactly this pattern.
    pub(crate) fn history(&self, worktree: &Worktree, pattern: &Pattern) -> Rows {
        // The columns beside a lone max() are those of the row it was found in.
        let text = format!(
            "SELECT {LEASE_COLUMNS}, ended_how, ended_at, max(fence) FROM ended_leases \
             INDEXED BY ended_leases_by_pattern \
             WHERE scope = ? AND worktree = ? AND pattern = ? AND space = 0 GROUP BY holder"
        );
        let mut statement = self.select(&text)?;
        let parameters = params![self.scope, worktree.0, pattern.canonical()];
        rows::collect(&mut statement, parameters, |row| rows::ended_lease(row, self.fold))
    }

    /// Every live lease, in the order of fences.
    pub(crate) fn all_live(&self) -> Rows {
        self.live("scope = ? ORDER BY fence", params![self.scope])
    }

    /// The latest ended leases; all of them without a limit.
    pub(crate) fn latest_ended(&self, limit: Option<usize>) -> Rows {
        let limit = limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
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
    fn candidates_lie_on_the_way_down_or_below() {
        assert_eq!(ancestors(""), [""]);
        assert_eq!(ancestors("a/b.rs"), ["", "a", "a/b.rs"]);
        let (from, to) = below("src");
        assert!("src/a" > from.as_str() && "src/a" < to.as_str());
        assert!("srcx" > to.as_str() && "src" < from.as_str());
    }
}
