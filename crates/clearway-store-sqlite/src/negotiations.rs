//! The rows of requests to holders: those that are open apart from those that are over, so that the past slows nobody.

use crate::rows::{self, Readable};
use crate::transaction::SqliteTransaction;
use clearway_core::event::Event;
use clearway_core::fold::change_negotiation;
use clearway_core::ids::NegotiationId;
use clearway_core::negotiation::Negotiation;
use clearway_core::pattern::Fold;
use clearway_store::contract::StoreError;
use clearway_wire::negotiating;
use rusqlite::{Connection, Result, Row, params};

/// Every request of a scope that is open.
pub(crate) fn open(connection: &Connection, scope: i64, fold: Fold) -> Result<Vec<Readable<Negotiation>>> {
    let text = "SELECT id, body, over FROM negotiations WHERE scope = ? AND over = 0";
    let mut statement = connection.prepare_cached(text)?;
    rows::collect(&mut statement, [scope], |row| read(row, fold))
}

/// Every request of a scope.
pub(crate) fn all(connection: &Connection, scope: i64, fold: Fold) -> Result<Vec<Readable<Negotiation>>> {
    let text = "SELECT id, body, over FROM negotiations WHERE scope = ?";
    let mut statement = connection.prepare_cached(text)?;
    rows::collect(&mut statement, [scope], |row| read(row, fold))
}

/// The one with this id, open or over.
pub(crate) fn by_id(
    connection: &Connection,
    scope: i64,
    fold: Fold,
    id: NegotiationId,
) -> Result<Option<Readable<Negotiation>>> {
    let text = "SELECT id, body, over FROM negotiations WHERE scope = ? AND over IN (0, 1) AND id = ?";
    let mut statement = connection.prepare_cached(text)?;
    let found = rows::collect(&mut statement, params![scope, id.as_str()], |row| read(row, fold))?;
    Ok(found.into_iter().next())
}

/// Reads a request, which has to lie with those that are open or with those that are over: searches go by that.
fn read(row: &Row<'_>, fold: Fold) -> Result<Readable<Negotiation>> {
    let id = rows::legible(row, 0);
    let is_over = row.get::<_, bool>(2).ok();
    let body = row.get::<_, Vec<u8>>(1).ok().and_then(|body| negotiating::decode(&body, fold).ok());
    let is_in_place = |found: &Negotiation| found.id.as_str() == id && is_over == Some(!found.is_open());
    Ok(body.filter(is_in_place).ok_or(id))
}

impl SqliteTransaction<'_> {
    pub(crate) fn insert_negotiation(
        &mut self,
        negotiation: &Negotiation,
    ) -> std::result::Result<(), StoreError> {
        let (scope, over) = (self.row()?.id, !negotiation.is_open());
        self.insert(
            "INSERT INTO negotiations (scope, over, id, body) VALUES (?, ?, ?, ?)",
            &[&scope, &over, &negotiation.id.as_str(), &negotiating::encode(negotiation)],
        )
    }

    /// Makes a request. An id that one had which is over by now is taken as well.
    pub(crate) fn ask(&mut self, negotiation: &Negotiation) -> std::result::Result<(), StoreError> {
        match self.negotiation(negotiation.id)? {
            Some(_) => Err(StoreError::IdTaken),
            None => self.insert_negotiation(negotiation),
        }
    }

    /// Changes or ends one open request.
    pub(crate) fn change_negotiation(
        &mut self,
        id: NegotiationId,
        event: &Event,
    ) -> std::result::Result<(), StoreError> {
        let Some(mut negotiation) = self.negotiation(id)? else {
            return Err(StoreError::Internal(format!("negotiation {id} was never asked")));
        };
        let scope = self.row()?.id;
        let text = "DELETE FROM negotiations WHERE scope = ? AND over IN (0, 1) AND id = ?";
        self.insert(text, &[&scope, &id.as_str()])?;
        change_negotiation(&mut negotiation, event.at, &event.body);
        self.insert_negotiation(&negotiation)
    }

    fn negotiation(&mut self, id: NegotiationId) -> std::result::Result<Option<Negotiation>, StoreError> {
        let row = self.row()?;
        let (scope, fold) = (row.id, row.state.fold);
        match self.run(|connection| by_id(connection, scope, fold, id))? {
            Some(Err(row)) => {
                self.run(|connection| crate::projection::rebuild_negotiation(connection, scope, fold, &row))
            }
            found => Ok(found.and_then(Readable::ok)),
        }
    }
}
