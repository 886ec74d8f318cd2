//! `events`: the log, one event a line, followed if asked.

use crate::arguments::EventsFlags;
use crate::console::{Console, Problem, document};
use crate::render::{Known, event_line};
use clearway_core::ids::Seq;
use clearway_kernel::{EventFilter, EventSeen, Events, Session};
use clearway_wire::json::EventJson;

/// Events read and written at a time.
const EVENTS_PER_BATCH: usize = 1_000;
/// How long one wait for something new lasts before the next.
const WAIT_MS: u64 = 5_000;

/// Writes events until there are no more, or as they come.
pub(super) fn events(
    session: &mut Session<'_>,
    flags: EventsFlags,
    console: &mut Console<'_, '_>,
) -> Result<(), Problem> {
    let mut known = known(session, console.json)?;
    let mut wanted = flags.limit.unwrap_or(usize::MAX);
    let mut filter = EventFilter { from: flags.from, limit: None, kind: flags.kind, agent: flags.agent_name };
    while wanted > 0 {
        let batch = wanted.min(EVENTS_PER_BATCH);
        filter.limit = Some(batch);
        let Events { events, last } = session.events(&filter)?;
        if !write(&events, &mut known, console)? {
            return Ok(());
        }
        wanted = wanted.saturating_sub(events.len());
        filter.from = Some(last.next().to_string());
        if events.len() < batch {
            if !flags.follow {
                return Ok(());
            }
            wait(session, last)?;
        }
    }
    Ok(())
}

/// Names for ids; programs have the ids themselves.
fn known(session: &mut Session<'_>, json: bool) -> Result<Known, Problem> {
    let mut known = Known::default();
    if !json {
        let agents = session.agents()?.agents.into_iter();
        known.agents = agents.map(|seen| (seen.view.agent.id, seen.view.agent.name.to_string())).collect();
    }
    Ok(known)
}

/// `false` if nobody reads any more.
fn write(events: &[EventSeen], known: &mut Known, console: &mut Console<'_, '_>) -> Result<bool, Problem> {
    let mut text = String::new();
    for seen in events {
        let line = match console.json {
            true => document(&EventJson::new(&seen.event, seen.agent.as_ref(), seen.hash)),
            false => event_line(seen, known, &console.page),
        };
        text.push_str(&line);
        text.push('\n');
    }
    if text.is_empty() { Ok(true) } else { console.line(&text) }
}

fn wait(session: &mut Session<'_>, after: Seq) -> Result<(), Problem> {
    while !session.wait_for_events(after, WAIT_MS)? {}
    Ok(())
}
