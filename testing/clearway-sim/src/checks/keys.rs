//! I6: the same key and the same request is one act, answered alike each time; another request under it is none.

use super::{Checked, Invariant, Scene, hold};
use crate::ledger::Ledger;
use clearway_core::command::{Await, Command, Stay};
use clearway_core::decide::Success;
use clearway_core::event::Event;
use clearway_core::ids::AgentId;
use clearway_core::slug::Slug;
use clearway_core::time::{BootKey, Mono};
use clearway_store::Reply;
use std::collections::BTreeMap;

/// How long a key is promised to be remembered.
const KEPT_MS: u64 = 24 * 60 * 60 * 1_000;

/// What was answered under each key.
#[derive(Debug, Default)]
pub(crate) struct Keys(BTreeMap<(AgentId, String), Kept>);

#[derive(Debug)]
struct Kept {
    request: String,
    rev: u64,
    success: Success,
    boot: BootKey,
    at: Mono,
}

/// Whether a key was found used for something else.
pub(crate) fn is_mismatch(reply: &Reply) -> bool {
    matches!(&reply.outcome, Err(failure) if failure.slug == Slug::IdempotencyMismatch)
}

impl Kept {
    /// Whether it is a place in the queue, and somebody comes to wait there or to take what it is for.
    fn is_waited_at(&self, scene: &Scene<'_>) -> bool {
        let Scene { request, .. } = scene;
        let asks_anew =
            matches!(request.command, Command::Await(Await { stay: Stay::Durable, wait: None, .. }));
        matches!(self.success, Success::Queued { .. }) && self.request == request.digest_text() && !asks_anew
    }
}

impl Keys {
    /// Judges a keyed request, and keeps its answer.
    pub(crate) fn check(
        &mut self,
        scene: &Scene<'_>,
        then: &Ledger,
        events: &[Event],
        reply: &Reply,
    ) -> Checked {
        let known = then.identified(&scene.request.caller);
        let kept = |agent: AgentId, key: &String| self.0.get(&(agent, key.clone()));
        let key = scene.request.idempotency_key.as_ref();
        let found = known.zip(key).and_then(|(agent, key)| kept(agent, key));
        let found =
            found.filter(|kept| kept.boot != scene.now.boot || scene.now.mono.0 < kept.at.0 + KEPT_MS);
        let found = found.filter(|kept| !kept.is_waited_at(scene));
        match found {
            Some(kept) => repeated(kept, scene, events, reply),
            None => {
                hold(!reply.replayed && !is_mismatch(reply), Invariant::I6Idempotency, || {
                    "a first request was answered as a repetition".to_owned()
                })?;
                named(scene, events, reply)?;
                self.keep(scene, events, reply);
                Ok(())
            }
        }
    }

    fn keep(&mut self, scene: &Scene<'_>, events: &[Event], reply: &Reply) {
        // What the kernel does by itself is nobody's, under no key.
        let agent = reply.agent.as_ref().map(|(agent, _)| *agent);
        let (Some(agent), Some(key)) = (agent, &scene.request.idempotency_key) else { return };
        let (Ok(success), false) = (&reply.outcome, events.is_empty()) else { return };
        let leaves_it = matches!(scene.request.command, Command::Await(Await { stay: Stay::Durable, .. }));
        if matches!(success, Success::Queued { .. }) && !leaves_it {
            return;
        }
        let kept = Kept {
            request: scene.request.digest_text(),
            rev: reply.rev.0,
            success: success.clone(),
            boot: scene.now.boot.clone(),
            at: scene.now.mono,
        };
        self.0.insert((agent, key.clone()), kept);
    }
}

/// Whoever acted is named in the answer: without a name nobody could be answered again under the key.
fn named(scene: &Scene<'_>, events: &[Event], reply: &Reply) -> Checked {
    let acted = scene.me.filter(|me| events.iter().any(|event| event.actor.agent == Some(*me)));
    let named = reply.agent.as_ref().map(|(agent, _)| *agent);
    hold(acted.is_none() || acted == named, Invariant::I6Idempotency, || {
        format!("{acted:?} acted, and the answer names {named:?}")
    })
}

fn repeated(kept: &Kept, scene: &Scene<'_>, events: &[Event], reply: &Reply) -> Checked {
    let same = kept.request == scene.request.digest_text();
    let right = match &reply.outcome {
        Ok(success) => same && reply.replayed && reply.rev.0 == kept.rev && *success == kept.success,
        Err(_) => !same && is_mismatch(reply),
    };
    hold(right && events.is_empty(), Invariant::I6Idempotency, || {
        let key = &scene.request.idempotency_key;
        format!("{key:?} was used at {}; now: replayed {}, {} events", kept.rev, reply.replayed, events.len())
    })
}
