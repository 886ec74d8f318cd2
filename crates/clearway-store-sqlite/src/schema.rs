//! The schema, its number, and the way from one number to the next.

use rusqlite::{Connection, Result};

/// Marks a file as Clearway's: `Clwy`.
pub(crate) const APPLICATION_ID: i32 = 0x436c_7779;

/// The steps that make a schema. Step `n` leads from number `n` to `n + 1`; number 0 is an empty file.
#[derive(Clone, Copy, Debug)]
pub struct Schema {
    /// SQL of each step.
    pub steps: &'static [&'static str],
}

impl Schema {
    /// What this build reads and writes.
    pub const CURRENT: Self = Self { steps: &[include_str!("schema.sql")] };

    /// The number of the newest schema.
    pub fn number(&self) -> u32 {
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX)
    }

    /// Runs the steps that are missing. The caller has begun a transaction.
    pub(crate) fn migrate(&self, connection: &Connection, from: u32) -> Result<()> {
        for step in self.steps.iter().skip(from as usize) {
            connection.execute_batch(step)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", self.number())
    }

    /// What a schema is made of, sorted, so that two can be compared.
    pub(crate) fn describe(connection: &Connection) -> Result<Vec<String>> {
        let mut query = connection.prepare(
            "SELECT type || ' ' || name || ': ' || coalesce(sql, '') FROM sqlite_schema \
             WHERE name NOT LIKE 'sqlite_stat%' ORDER BY 1",
        )?;
        query.query_map([], |row| row.get(0))?.collect()
    }

    /// Makes the schema what a fresh store's is: what does not belong there goes, what is missing or altered is made
    /// anew. Only [`FACTS`] stay as they are, since no log could bring them back; the caller fills the rest again.
    pub(crate) fn restore(&self, connection: &Connection) -> Result<()> {
        let expected = objects(&self.fresh()?)?;
        for object in objects(connection)?.iter().filter(|object| !expected.contains(object)) {
            if !FACTS.contains(&object.name.as_str()) {
                let name = object.name.replace('"', "\"\"");
                connection.execute_batch(&format!("DROP {} IF EXISTS \"{name}\"", object.kind))?;
            }
        }
        let left: Vec<String> = objects(connection)?.into_iter().map(|object| object.name).collect();
        let (tables, others): (Vec<Object>, Vec<Object>) =
            expected.into_iter().partition(|object| object.kind == "table");
        for missing in tables.iter().chain(&others).filter(|object| !left.contains(&object.name)) {
            connection.execute_batch(&missing.sql)?;
        }
        Ok(())
    }

    /// What a fresh store of this schema is made of.
    pub(crate) fn expected(&self) -> Result<Vec<String>> {
        Self::describe(&self.fresh()?)
    }

    fn fresh(&self) -> Result<Connection> {
        let fresh = Connection::open_in_memory()?;
        self.migrate(&fresh, 0)?;
        Ok(fresh)
    }
}

/// The tables that everything else follows from.
const FACTS: [&str; 2] = ["scopes", "events"];

/// Something a statement made: a table, an index, a trigger or a view.
#[derive(Debug, PartialEq, Eq)]
struct Object {
    kind: String,
    name: String,
    sql: String,
}

/// Everything a schema's statements made. What SQLite makes by itself has no statement, and goes with its table.
fn objects(connection: &Connection) -> Result<Vec<Object>> {
    let mut query = connection.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL")?;
    let read =
        |row: &rusqlite::Row<'_>| Ok(Object { kind: row.get(0)?, name: row.get(1)?, sql: row.get(2)? });
    query.query_map([], read)?.collect()
}

/// The number a file has.
pub(crate) fn number_of(connection: &Connection) -> Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
