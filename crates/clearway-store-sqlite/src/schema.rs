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

    /// Makes the indexes that are missing. A table that lacks a constraint cannot be mended in place.
    pub(crate) fn restore_indexes(&self, connection: &Connection) -> Result<()> {
        let actual = Self::describe(connection)?;
        let missing = self.expected()?.into_iter().filter(|entry| !actual.contains(entry));
        for entry in missing.filter(|entry| entry.starts_with("index ")) {
            if let Some((_, sql)) = entry.split_once(": ").filter(|(_, sql)| !sql.is_empty()) {
                connection.execute_batch(sql)?;
            }
        }
        Ok(())
    }

    /// What a fresh store of this schema is made of.
    pub(crate) fn expected(&self) -> Result<Vec<String>> {
        let fresh = Connection::open_in_memory()?;
        self.migrate(&fresh, 0)?;
        Self::describe(&fresh)
    }
}

/// The number a file has.
pub(crate) fn number_of(connection: &Connection) -> Result<u32> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}
