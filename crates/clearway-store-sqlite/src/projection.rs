//! The projections as a whole, and a single row made anew from the log.

use crate::leases::LeaseTable;
use crate::load::ScopeRow;
use crate::rows::{self, AGENT_COLUMNS};
use clearway_core::event::Body;
use clearway_core::fold::{State, change_lease};
use clearway_core::ids::{Fence, LeaseId, Seq};
use clearway_core::lease::Lease;
use clearway_core::pattern::Fold;
use clearway_wire::canonical;
use rusqlite::{Connection, Result};

/// Everything stored about a scope, as it is; an unreadable row is missing from it.
pub(crate) fn read(connection: &Connection, scope: &ScopeRow) -> Result<State> {
    let table = LeaseTable { connection, scope: scope.id, fold: scope.state.fold };
    let leases = table.all_live()?.into_iter().chain(table.latest_ended(None)?);
    let mut statement = connection.prepare(&format!("SELECT {AGENT_COLUMNS} FROM agents WHERE scope = ?"))?;
    let agents = rows::collect(&mut statement, [scope.id], rows::agent)?;
    Ok(State {
        scope: scope.state.clone(),
        agents: agents.into_iter().filter_map(Readable::ok).map(|agent| (agent.id, agent)).collect(),
        leases: leases.filter_map(Readable::ok).map(|lease| (lease.id, lease)).collect(),
    })
}

type Readable<T> = crate::rows::Readable<T>;

/// The lease with this id as the log tells it. Walks the whole log: this is for a damaged row, not for every day.
pub(crate) fn rebuild_lease(
    connection: &Connection,
    scope: i64,
    fold: Fold,
    id: &str,
) -> Result<Option<Lease>> {
    let Some(id) = LeaseId::parse(id) else { return Ok(None) };
    let mut statement = connection.prepare("SELECT seq, bytes FROM events WHERE scope = ? ORDER BY seq")?;
    let mut rows = statement.query([scope])?;
    let (mut lease, mut epoch) = (None::<Lease>, Default::default());
    while let Some(row) = rows.next()? {
        let (seq, bytes): (u64, Vec<u8>) = (row.get(0)?, row.get(1)?);
        let Ok(event) = canonical::decode(Seq(seq), &bytes, fold) else { continue };
        match (&event.body, lease.as_mut()) {
            (Body::EpochBegan { epoch: began, .. }, _) => epoch = *began,
            (Body::LeaseGranted(granted), _) if granted.id == id => lease = Some(granted.clone()),
            (body, Some(lease)) if body.lease() == Some(id) => {
                change_lease(lease, Fence { epoch, seq: Seq(seq) }, event.at, body);
            }
            _ => {}
        }
    }
    Ok(lease)
}
