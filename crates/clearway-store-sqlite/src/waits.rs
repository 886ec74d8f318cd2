//! The queue's rows: read whole, changed as the fold says.

use crate::rows::{self, Readable, WAIT_COLUMNS};
use crate::transaction::SqliteTransaction;
use clearway_core::event::Event;
use clearway_core::facts::Process;
use clearway_core::fold::{Standing, change_wait};
use clearway_core::ids::WaitId;
use clearway_core::pattern::Fold;
use clearway_core::time::Mono;
use clearway_core::wait::{Wait, WaitView};
use clearway_store::contract::StoreError;
use clearway_wire::waiting;
use rusqlite::{Connection, Result, params};

/// Every place in the queue of a scope, in order.
pub(crate) fn queue(connection: &Connection, scope: i64, fold: Fold) -> Result<Vec<Readable<WaitView>>> {
    let text = format!("SELECT {WAIT_COLUMNS} FROM waits WHERE scope = ? ORDER BY place");
    let mut statement = connection.prepare_cached(&text)?;
    rows::collect(&mut statement, [scope], |row| rows::wait(row, fold))
}

impl SqliteTransaction<'_> {
    pub(crate) fn insert_wait(
        &mut self,
        wait: &Wait,
        heard: Option<Mono>,
    ) -> std::result::Result<(), StoreError> {
        let scope = self.row()?.id;
        let text = format!(
            "INSERT INTO waits (scope, {WAIT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        );
        self.insert(
            &text,
            &[
                &scope,
                &wait.id.as_str(),
                &wait.agent.as_str(),
                &waiting::encode_wanted(&wait.wanted),
                &wait.place.0,
                &wait.attached.as_ref().map(Process::key),
                &wait.until.0,
                &wait.kept_until.map(|until| until.0),
                &wait.offered_until.map(|until| until.0),
                &wait.offers,
                &wait.since.0,
                &wait.created_at.0,
                &heard.map(|heard| heard.0),
            ],
        )
    }

    /// Changes or ends one wait: its row is taken out and, while it waits, put back where its place is.
    pub(crate) fn change_wait(&mut self, id: WaitId, event: &Event) -> std::result::Result<(), StoreError> {
        let Some(WaitView { mut wait, heard }) = self.wait(id)? else {
            return Err(StoreError::Internal(format!("wait {id} is not in the queue")));
        };
        let scope = self.row()?.id;
        self.insert("DELETE FROM waits WHERE scope = ? AND id = ?", &[&scope, &id.as_str()])?;
        match change_wait(&mut wait, event.seq, &event.body) {
            Standing::Waits => self.insert_wait(&wait, heard),
            Standing::Over => {
                let state = &mut self.row()?.state;
                state.live_waits = state.live_waits.saturating_sub(1);
                Ok(())
            }
        }
    }

    fn wait(&mut self, id: WaitId) -> std::result::Result<Option<WaitView>, StoreError> {
        let row = self.row()?;
        let (scope, fold) = (row.id, row.state.fold);
        let text = format!("SELECT {WAIT_COLUMNS} FROM waits WHERE scope = ? AND id = ?");
        let found = self.run(|connection| {
            let mut statement = connection.prepare_cached(&text)?;
            rows::collect(&mut statement, params![scope, id.as_str()], |row| rows::wait(row, fold))
        })?;
        if let Some(Ok(view)) = found.into_iter().next() {
            return Ok(Some(view));
        }
        let rebuilt =
            self.run(|connection| crate::projection::rebuild_wait(connection, scope, fold, id.as_str()))?;
        Ok(rebuilt.map(|wait| WaitView { wait, heard: None }))
    }
}
