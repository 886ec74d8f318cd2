//! The projections as a whole, and a single row made anew from the log.

use crate::leases::LeaseTable;
use crate::load::ScopeRow;
use crate::rows::{self, AGENT_COLUMNS};
use clearway_core::agent::Agent;
use clearway_core::event::{Body, Event};
use clearway_core::fold::{Standing, State, change_agent, change_lease, change_negotiation, change_wait};
use clearway_core::ids::{AgentId, Epoch, Fence, LeaseId, NegotiationId, Seq, WaitId};
use clearway_core::lease::Lease;
use clearway_core::negotiation::Negotiation;
use clearway_core::pattern::Fold;
use clearway_core::wait::Wait;
use clearway_wire::canonical;
use rusqlite::{Connection, Result};

/// Everything stored about a scope, as it is; an unreadable row is missing from it.
pub(crate) fn read(connection: &Connection, scope: &ScopeRow) -> Result<State> {
    let table = LeaseTable { connection, scope: scope.id, fold: scope.state.fold };
    let leases = table.all_in_place()?.into_iter().chain(table.all_ended_in_place()?);
    let mut statement = connection.prepare(&format!("SELECT {AGENT_COLUMNS} FROM agents WHERE scope = ?"))?;
    let agents = rows::collect(&mut statement, [scope.id], rows::agent)?;
    Ok(State {
        scope: scope.state.clone(),
        agents: agents.into_iter().filter_map(Readable::ok).map(|agent| (agent.id, agent)).collect(),
        leases: leases.filter_map(Readable::ok).map(|lease| (lease.id, lease)).collect(),
        waits: crate::waits::queue(connection, scope.id, scope.state.fold)?
            .into_iter()
            .filter_map(Readable::ok)
            .map(|view| (view.wait.id, view.wait))
            .collect(),
        mail: crate::mail::read_state(connection, scope)?,
        negotiations: crate::negotiations::all(connection, scope.id, scope.state.fold)?
            .into_iter()
            .filter_map(Readable::ok)
            .map(|negotiation| (negotiation.id, negotiation))
            .collect(),
    })
}

type Readable<T> = crate::rows::Readable<T>;

/// The agent with this id as the log tells it. Like [`rebuild_lease`], for a damaged row only.
pub(crate) fn rebuild_agent(connection: &Connection, scope: i64, id: &str) -> Result<Option<Agent>> {
    let Some(id) = AgentId::parse(id) else { return Ok(None) };
    let mut found = None;
    walk(connection, scope, Fold::Exact, |event| match event.body {
        Body::AgentRegistered(agent) if agent.id == id => found = Some(agent),
        body if body.changed_agent() == Some(id) => {
            found.iter_mut().for_each(|agent| change_agent(agent, event.at, &body));
        }
        _ => {}
    })?;
    Ok(found)
}

/// The lease with this id as the log tells it. Walks the whole log: this is for a damaged row, not for every day.
pub(crate) fn rebuild_lease(
    connection: &Connection,
    scope: i64,
    fold: Fold,
    id: &str,
) -> Result<Option<Lease>> {
    let Some(id) = LeaseId::parse(id) else { return Ok(None) };
    let (mut lease, mut epoch) = (None::<Lease>, Epoch::default());
    walk(connection, scope, fold, |event| match (&event.body, lease.as_mut()) {
        (Body::EpochBegan { epoch: began, .. }, _) => epoch = *began,
        (Body::LeaseGranted(granted), _) if granted.id == id => lease = Some(granted.clone()),
        (body, Some(lease)) if body.lease() == Some(id) => {
            change_lease(lease, Fence { epoch, seq: event.seq }, event.at, body);
        }
        _ => {}
    })?;
    Ok(lease)
}

/// The wait with this id as the log tells it; `None` if it is over. Like [`rebuild_lease`], for a damaged row only.
pub(crate) fn rebuild_wait(
    connection: &Connection,
    scope: i64,
    fold: Fold,
    id: &str,
) -> Result<Option<Wait>> {
    let Some(id) = WaitId::parse(id) else { return Ok(None) };
    let mut found = None::<Wait>;
    walk(connection, scope, fold, |event| match &event.body {
        Body::WaitBegan(wait) if wait.id == id => found = Some(wait.clone()),
        body if body.wait() == Some(id) => {
            found = found.take().and_then(|mut wait| {
                let standing = change_wait(&mut wait, event.seq, body);
                (standing == Standing::Waits).then_some(wait)
            });
        }
        _ => {}
    })?;
    Ok(found)
}

/// The request with this id as the log tells it. Like [`rebuild_lease`], for a damaged row only.
pub(crate) fn rebuild_negotiation(
    connection: &Connection,
    scope: i64,
    fold: Fold,
    id: &str,
) -> Result<Option<Negotiation>> {
    let Some(id) = NegotiationId::parse(id) else { return Ok(None) };
    let mut found = None::<Negotiation>;
    walk(connection, scope, fold, |event| match &event.body {
        Body::NegotiationAsked(asked) if asked.id == id => found = Some(asked.clone()),
        body if body.negotiation() == Some(id) => {
            found.iter_mut().for_each(|negotiation| change_negotiation(negotiation, event.at, body));
        }
        _ => {}
    })?;
    Ok(found)
}

/// Hands out every event of a log that can be read.
fn walk(connection: &Connection, scope: i64, fold: Fold, mut visit: impl FnMut(Event)) -> Result<()> {
    let mut statement = connection.prepare("SELECT seq, bytes FROM events WHERE scope = ? ORDER BY seq")?;
    let mut rows = statement.query([scope])?;
    while let Some(row) = rows.next()? {
        let (Ok(seq), Ok(bytes)) = (row.get(0).map(Seq), row.get::<_, Vec<u8>>(1)) else { continue };
        if let Ok(event) = canonical::decode(seq, &bytes, fold) {
            visit(event);
        }
    }
    Ok(())
}
