//! Which hooks a file holds, whoever put them there.

use super::entries::{Entry, Shape, entries, handlers, is_ours, words};
use clearway_core::agent::Client;
use serde_json::Value;

/// One handler of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) event: String,
    pub(crate) matcher: Option<String>,
    /// Where it stands: in which element of the event's list, and where in that.
    pub(crate) place: (usize, usize),
    pub(crate) handler: Value,
}

impl Found {
    /// Whether it calls us for a client.
    pub(super) fn calls(&self, client: Client) -> bool {
        words(&self.handler).get(2).is_some_and(|word| word == client.name_stem())
    }
}

/// Every handler of a document of hooks.
pub(super) fn all(document: &Value, shape: Shape) -> Vec<Found> {
    let events = document.get("hooks").and_then(Value::as_object);
    let mut found = Vec::new();
    for (event, list) in events.into_iter().flatten() {
        for (position, element) in list.as_array().into_iter().flatten().enumerate() {
            let matcher = element.get("matcher").and_then(Value::as_str).map(str::to_owned);
            found.extend(handlers(element, shape).enumerate().map(|(inner, handler)| Found {
                event: event.clone(),
                matcher: matcher.clone(),
                place: (position, inner),
                handler: handler.clone(),
            }));
        }
    }
    found
}

/// Those of ours.
pub(crate) fn ours(document: &Value, shape: Shape) -> Vec<Found> {
    all(document, shape).into_iter().filter(|found| is_ours(&found.handler)).collect()
}

/// How our hooks stand in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// None is there.
    Missing,
    /// Some are there, but not as they are to be.
    Changed,
    /// All are there, and call this program.
    Whole {
        /// The program.
        binary: String,
        /// Whether a hook that fails is taken for a refusal.
        unattended: bool,
    },
}

impl State {
    pub(super) fn is_whole(&self) -> bool {
        matches!(self, Self::Whole { .. })
    }
}

/// Compares a document with what `init` writes, for whichever binary it was.
pub(super) fn state(client: Client, document: &Value, shape: Shape) -> State {
    let ours = ours(document, shape);
    let Some(binary) = ours.first().and_then(|found| words(&found.handler).into_iter().next()) else {
        return State::Missing;
    };
    let is_whole = |unattended: &bool| {
        let wanted = entries(client, &binary, *unattended);
        wanted.len() == ours.len() && wanted.iter().all(|entry| is_there(entry, document, shape))
    };
    match [false, true].into_iter().find(is_whole) {
        Some(unattended) => State::Whole { binary, unattended },
        None => State::Changed,
    }
}

fn is_there(entry: &Entry, document: &Value, shape: Shape) -> bool {
    let list = document.get("hooks").and_then(|hooks| hooks.get(entry.event)).and_then(Value::as_array);
    list.into_iter().flatten().any(|element| entry.is_in(element, shape))
}

/// Whether a client was asked to take a hook of ours that fails for a refusal.
pub(super) fn blocks(client: Client, document: &Value, shape: Shape) -> bool {
    let called = ours(document, shape).first().and_then(|found| words(&found.handler).into_iter().next());
    let Some(binary) = called else { return false };
    let lenient = entries(client, &binary, false);
    let strict = entries(client, &binary, true);
    strict.iter().any(|entry| !lenient.contains(entry) && is_there(entry, document, shape))
}

/// Tools that did this job before and whose hooks would refuse or reserve beside ours.
const RIVALS: [&str; 3] = ["interlock", "intermute", "foundry"];

/// Whether a name is one of theirs.
pub(super) fn is_rival_name(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    RIVALS.iter().any(|rival| text.contains(rival))
}

/// Whether a handler is one of theirs.
pub(super) fn is_rival(handler: &Value) -> bool {
    is_rival_name(&words(handler).join(" "))
}

/// Commands of such tools in a document, and plugins of theirs that a setting of it enables.
pub(super) fn rivals(document: &Value, shape: Shape, plugins: Option<&str>) -> Vec<String> {
    let commands = all(document, shape).into_iter().map(|found| words(&found.handler).join(" "));
    let plugins = plugins.and_then(|setting| document.get(setting)?.as_object());
    let plugins = plugins.into_iter().flatten().filter(|(_, on)| **on == Value::Bool(true));
    let plugins = plugins.map(|(name, _)| format!("plugin {name}"));
    let mut named: Vec<String> = commands.chain(plugins).filter(|text| is_rival_name(text)).collect();
    named.sort();
    named.dedup();
    named
}
