//! `events`: the log, one event a line, followed if asked.

use crate::arguments::EventsFlags;
use crate::console::{Console, Problem, document};
use crate::render::{Known, event_line};
use clearway_kernel::{EventFilter, EventSeen, Events, Session};
use clearway_wire::json::EventJson;

/// Events read and written at a time.
const EVENTS_PER_BATCH: usize = 1_000;
/// Whoever follows the log wants to see where it stands, not all that ever happened.
const EVENTS_BEFORE_FOLLOWING: usize = 10;
/// How long one wait for something new lasts before the log is looked at all the same.
const WAIT_MS: u64 = 1_000;

/// Writes events until there are no more, or as they come.
pub(super) fn events(
    session: &mut Session<'_>,
    flags: EventsFlags,
    console: &mut Console<'_, '_>,
) -> Result<(), Problem> {
    let mut known = known(session, console.json)?;
    let mut wanted = flags.limit.unwrap_or(usize::MAX);
    let mut filter = EventFilter {
        from: flags.from,
        kind: flags.kind,
        agent: flags.agent_name,
        run: flags.run,
        ..EventFilter::default()
    };
    if let Some(name) = filter.agent.as_deref() {
        console.note(&session.unknown_agent(name)?);
    }
    let from_start = filter.from.is_some() || !flags.follow;
    if let Some(last) = flags.last.or((!from_start).then_some(EVENTS_BEFORE_FOLLOWING.min(wanted))) {
        let found = session.events(&EventFilter { last: Some(last), ..filter.clone() })?;
        filter.from = Some(found.cursor);
        if !write(session, &found.events, &mut known, console)? || !flags.follow {
            return Ok(());
        }
    }
    while wanted > 0 {
        let batch = wanted.min(EVENTS_PER_BATCH);
        filter.limit = Some(batch);
        let Events { events, last, cursor } = session.events(&filter)?;
        if !write(session, &events, &mut known, console)? {
            return Ok(());
        }
        wanted = wanted.saturating_sub(events.len());
        filter.from = Some(cursor);
        if events.len() < batch {
            if !flags.follow {
                return Ok(());
            }
            // Nothing new may also be a log that went back: the next read looks for the cursor's own event.
            if !session.wait_for_events(last, WAIT_MS)? {
                return Ok(());
            }
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
fn write(
    session: &mut Session<'_>,
    events: &[EventSeen],
    known: &mut Known,
    console: &mut Console<'_, '_>,
) -> Result<bool, Problem> {
    if !console.json {
        let unknown = known.missing(events);
        known.learn_leases(session.lease_names(&unknown)?);
    }
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
