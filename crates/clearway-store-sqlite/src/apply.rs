//! What events mean for rows: agents come, leases are granted, changed and ended, and the scope's row follows.
//!
//! It changes projections and nothing else: the log is appended to in `transaction.rs`, and what an event means for
//! a lease is said by `clearway_core::fold`.

use crate::leases::LeaseTable;
use crate::projection::rebuild_lease;
use crate::rows::{self, LEASE_COLUMNS};
use crate::transaction::SqliteTransaction;
use clearway_core::agent::{Agent, IdentityKey};
use clearway_core::event::{Body, Event};
use clearway_core::facts::Process;
use clearway_core::fold::change_lease;
use clearway_core::ids::{AgentId, Fence, LeaseId, SetId};
use clearway_core::lease::{Ended, Lease};
use clearway_core::pattern::Fold;
use clearway_core::slice::Freeze;
use clearway_core::time::Wall;
use clearway_store::contract::StoreError;
use rusqlite::{ToSql, params};

impl SqliteTransaction<'_> {
    /// Brings the projections up to date with an event.
    pub(crate) fn apply_event(&mut self, event: &Event) -> Result<(), StoreError> {
        match &event.body {
            Body::ScopeOpened { fold, .. } => self.row()?.state.fold = *fold,
            Body::EpochBegan { epoch, boot, .. } => {
                let state = &mut self.row()?.state;
                (state.epoch, state.boot, state.lost_tail) = (*epoch, Some(boot.clone()), 0);
                state.frozen = None;
            }
            Body::ScopeFrozen { until, reason } => {
                self.row()?.state.frozen = Some(Freeze { until: *until, reason: reason.clone() });
            }
            Body::ScopeThawed { .. } => self.row()?.state.frozen = None,
            Body::WaitBegan(wait) => {
                self.row()?.state.live_waits += 1;
                self.insert_wait(wait, None)?;
            }
            Body::AgentRegistered(agent) => self.register(agent)?,
            Body::AgentResumed { agent, key, process } => self.resume(*agent, key, process.as_ref())?,
            Body::AgentEnded { agent } => self.say_goodbye(*agent, event.at)?,
            Body::AgentHalted { agent, reason } => self.halt(*agent, Some(reason))?,
            Body::AgentContinued { agent, .. } => self.halt(*agent, None)?,
            Body::NegotiationAsked(negotiation) => self.ask(negotiation)?,
            Body::LeaseGranted(lease) => self.grant(lease)?,
            Body::Mail(mail) => self.apply_mail(event.at, mail)?,
            body => {
                if let Some(id) = body.negotiation() {
                    self.change_negotiation(id, event)?;
                } else if let Some(id) = body.lease() {
                    self.change(id, event)?;
                } else if let Some(id) = body.wait() {
                    self.change_wait(id, event)?;
                }
            }
        }
        Ok(())
    }

    pub(crate) fn register(&mut self, agent: &Agent) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        self.insert(
            "INSERT INTO agents (scope, id, name, client, key, parent, root, process, registered_at, ended_at, \
             halted) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            &[
                &scope,
                &agent.id.as_str(),
                &agent.name.as_str(),
                &agent.client.word(),
                &agent.key.0,
                &agent.parent.as_ref().map(AgentId::as_str),
                &agent.root.as_str(),
                &agent.process.as_ref().map(Process::key),
                &agent.registered_at.0,
                &agent.ended_at.map(|at| at.0),
                &agent.halted,
            ],
        )
    }

    fn resume(
        &mut self,
        agent: AgentId,
        key: &IdentityKey,
        process: Option<&Process>,
    ) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        self.insert(
            "UPDATE agents SET key = ?, process = ?, ended_at = NULL WHERE scope = ? AND id = ?",
            &[&key.0, &process.map(Process::key), &scope, &agent.as_str()],
        )
    }

    fn say_goodbye(&mut self, agent: AgentId, at: Wall) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        self.insert(
            "UPDATE agents SET ended_at = ? WHERE scope = ? AND id = ?",
            &[&at.0, &scope, &agent.as_str()],
        )
    }

    fn halt(&mut self, agent: AgentId, reason: Option<&String>) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        self.insert(
            "UPDATE agents SET halted = ? WHERE scope = ? AND id = ?",
            &[&reason, &scope, &agent.as_str()],
        )
    }

    fn grant(&mut self, lease: &Lease) -> Result<(), StoreError> {
        let row = self.row()?;
        row.state.live_leases += 1;
        row.state.root_patterns += u64::from(lease.target.is_root_level());
        if self.has_ended(lease.id)? {
            return Err(StoreError::IdTaken);
        }
        self.insert_live(lease)
    }

    pub(crate) fn insert_live(&mut self, lease: &Lease) -> Result<(), StoreError> {
        self.insert_lease("leases", lease, "check_at", &[&lease.deadline_given(None).0])
    }

    pub(crate) fn insert_ended(&mut self, lease: &Lease, ended: Ended) -> Result<(), StoreError> {
        self.insert_lease("ended_leases", lease, "ended_how, ended_at", &[&ended.how.word(), &ended.at.0])
    }

    /// Inserts what every lease has, in the order of [`LEASE_COLUMNS`], and some columns more.
    fn insert_lease(
        &mut self,
        table: &str,
        lease: &Lease,
        columns: &str,
        beside: &[&dyn ToSql],
    ) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        let (set, bound) = (
            lease.set.as_ref().map(SetId::as_str),
            lease.bound.as_ref().map(Process::key).unwrap_or_default(),
        );
        let mut values: Vec<&dyn ToSql> = vec![&scope];
        let (space, canonical, anchor) =
            (rows::space(&lease.target), lease.target.canonical(), rows::anchor(&lease.target));
        let (id, mode, grade, holder) =
            (lease.id.as_str(), lease.mode.word(), lease.grade.word(), lease.holder.as_str());
        let (fence, handed_by) = (lease.fence.to_integer(), lease.handed_by.as_ref().map(AgentId::as_str));
        let (ceded, end_max) = (rows::ceded(lease), lease.end_max.map(|end| end.0));
        values.extend::<[&dyn ToSql; 12]>([
            &id,
            &space,
            &lease.worktree.0,
            &canonical,
            &set,
            &mode,
            &grade,
            &holder,
            &fence,
            &lease.reason,
            &lease.slot,
            &bound,
        ]);
        values.extend::<[&dyn ToSql; 9]>([
            &handed_by,
            &lease.makes_way,
            &ceded,
            &lease.ttl_ms,
            &lease.granted.0,
            &lease.deadline.0,
            &end_max,
            &lease.created_at.0,
            &anchor,
        ]);
        values.extend(beside);
        let places = vec!["?"; values.len()].join(", ");
        let text =
            format!("INSERT INTO {table} (scope, {LEASE_COLUMNS}, anchor, {columns}) VALUES ({places})");
        self.insert(&text, &values)
    }

    fn has_ended(&self, id: LeaseId) -> Result<bool, StoreError> {
        let scope = self.scope.as_ref().map_or(0, |scope| scope.id);
        self.run(|connection| {
            let mut statement =
                connection.prepare_cached("SELECT 1 FROM ended_leases WHERE scope = ? AND id = ?")?;
            statement.exists(params![scope, id.as_str()])
        })
    }

    /// Changes or ends one live lease as the fold says.
    fn change(&mut self, id: LeaseId, event: &Event) -> Result<(), StoreError> {
        let fence = Fence { epoch: self.row()?.state.epoch, seq: event.seq };
        let mut lease = self.live_lease(id)?;
        change_lease(&mut lease, fence, event.at, &event.body);
        match lease.ended {
            Some(ended) => self.end(&lease, ended),
            None => self.update(&lease),
        }
    }

    fn live_lease(&self, id: LeaseId) -> Result<Lease, StoreError> {
        let Some(scope) = &self.scope else { return Err(StoreError::UnreadableRow(id)) };
        let table =
            LeaseTable { connection: &self.writer.connection, scope: scope.id, fold: scope.state.fold };
        match self.run(|_| table.by_id(id))?.into_iter().next() {
            Some(Ok(lease)) if lease.ended.is_none() => Ok(lease),
            Some(Err(row)) => self
                .run(|connection| rebuild_lease(connection, scope.id, scope.state.fold, &row))?
                .ok_or(StoreError::UnreadableRow(id)),
            _ => Err(StoreError::UnreadableRow(id)),
        }
    }

    fn update(&mut self, lease: &Lease) -> Result<(), StoreError> {
        // What was found out about it before this event is not true of it any more.
        self.postponed.retain(|(id, _)| id != lease.id.as_str());
        let scope = self.row()?.id;
        self.insert(
            "UPDATE leases SET holder = ?, handed_by = ?, ceded = ?, mode = ?, grade = ?, makes_way = ?, fence = ?, reason = ?, \
             slot = ?, ttl_ms = ?, deadline = ?, \
             end_max = ?, check_at = ? WHERE scope = ? AND id = ?",
            &[
                &lease.holder.as_str(),
                &lease.handed_by.as_ref().map(AgentId::as_str),
                &rows::ceded(lease),
                &lease.mode.word(),
                &lease.grade.word(),
                &lease.makes_way,
                &lease.fence.to_integer(),
                &lease.reason,
                &lease.slot,
                &lease.ttl_ms,
                &lease.deadline.0,
                &lease.end_max.map(|end| end.0),
                &lease.deadline_given(None).0,
                &scope,
                &lease.id.as_str(),
            ],
        )
    }

    fn end(&mut self, lease: &Lease, ended: Ended) -> Result<(), StoreError> {
        let row = self.row()?;
        row.state.live_leases = row.state.live_leases.saturating_sub(1);
        let root = u64::from(lease.target.is_root_level());
        row.state.root_patterns = row.state.root_patterns.saturating_sub(root);
        let scope = row.id;
        self.insert("DELETE FROM leases WHERE scope = ? AND id = ?", &[&scope, &lease.id.as_str()])?;
        self.insert_ended(lease, ended)
    }

    pub(crate) fn write_scope_row(&mut self) -> Result<(), StoreError> {
        let row = self.row()?.clone();
        let folds = row.state.fold == Fold::Insensitive;
        self.insert(
            "UPDATE scopes SET rev = ?, head = ?, epoch = ?, boot = ?, folds = ?, live_leases = ?, root_patterns = ?, \
             live_waits = ?, frozen_until = ?, frozen_reason = ? WHERE id = ?",
            &[
                &row.head.rev.0,
                &row.head.hash.0,
                &row.state.epoch.0,
                &row.state.boot.as_ref().map(|boot| &boot.0),
                &folds,
                &row.state.live_leases,
                &row.state.root_patterns,
                &row.state.live_waits,
                &row.state.frozen.as_ref().map(|freeze| freeze.until.0),
                &row.state.frozen.as_ref().map(|freeze| &freeze.reason),
                &row.id,
            ],
        )
    }

    pub(crate) fn write_postponed(&mut self) -> Result<(), StoreError> {
        let scope = self.row()?.id;
        for (id, at) in std::mem::take(&mut self.postponed) {
            self.insert("UPDATE leases SET check_at = ? WHERE scope = ? AND id = ?", &[&at.0, &scope, &id])?;
        }
        Ok(())
    }
}
