//! The clients we know: one file each, with how it speaks and how it is set up. A new one is a file here, a line in
//! [`CLIENTS`] and a folder of fixtures; nothing else in this crate names one.

mod claude;
mod codex;
mod copilot;
mod cursor;
mod gemini;

use crate::hook::event::{Event, Moment};
use crate::hook::payload::Words;
use crate::hook::reply::{Reply, Told, Verdict};
use crate::setup::Setup;
use clearway_core::agent::Client;
use serde_json::Value;
use std::collections::BTreeMap;

/// The environment of a hook.
pub(crate) type Variables = BTreeMap<String, String>;

/// How one client speaks, and how it is set up.
#[derive(Debug)]
pub(crate) struct Dialect {
    pub(crate) client: Client,
    pub(crate) words: Words,
    /// The document of a denial.
    pub(crate) deny: fn(&Event, &str) -> Value,
    /// The document of anything else that is said; `None` where nobody would hear it.
    pub(crate) tell: fn(&Event, &Told) -> Option<Value>,
    /// The document that has a turn go on which was about to end.
    pub(crate) hold: Option<fn(&str) -> Value>,
    /// The document that refuses a tool call and ends the turn; a denial where there is none.
    pub(crate) stop: Option<fn(&Event, &str) -> Value>,
    /// The document that has another command run instead, for clients whose shells are sandboxed as a rule.
    pub(crate) rewrite: Option<fn(&Event, &str) -> Value>,
    /// Whether a payload is this client's, however the hook was installed.
    pub(crate) owns: fn(&Value, &Variables) -> bool,
    /// How it is made to call us.
    pub(crate) setup: Setup,
    /// What it is asked to call us for.
    pub(crate) registered: &'static [Registration],
}

/// One entry of a client's hook configuration. The command is `clearway` followed by the arguments, and never changes:
/// a client that asks its person to trust a command would ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The client's name of the event.
    pub event: &'static str,
    /// Which tools, in the client's language; `None` for events without tools.
    pub matcher: Option<&'static str>,
    /// What follows the name of the binary.
    pub arguments: &'static [&'static str],
    /// After which the client gives up, in milliseconds; each client has its own unit.
    pub timeout_ms: u32,
}

/// Every client, those first whose payloads are easiest to tell.
pub(crate) static CLIENTS: [&Dialect; 5] =
    [&cursor::DIALECT, &copilot::DIALECT, &codex::DIALECT, &gemini::DIALECT, &claude::DIALECT];

/// What a client is to be configured with; nothing for one that has no hooks.
pub fn registrations(client: Client) -> &'static [Registration] {
    of(client).map_or(&[], |dialect| dialect.registered)
}

/// What is known of a client; `None` for one that has no hooks.
pub(crate) fn of(client: Client) -> Option<&'static Dialect> {
    CLIENTS.into_iter().find(|dialect| dialect.client == client)
}

/// What the clients are called on a command line, in the order they are spoken of.
pub(crate) fn names() -> Vec<&'static str> {
    Client::ALL.into_iter().filter(|client| of(*client).is_some()).map(Client::name_stem).collect()
}

/// The client that a hook was installed for.
pub(crate) fn named(word: &str) -> Option<&'static Dialect> {
    CLIENTS.into_iter().find(|dialect| dialect.client.name_stem() == word)
}

impl Dialect {
    /// Whose payload this is: some clients also run the hooks of others.
    pub(crate) fn speaker(&'static self, payload: &Value, variables: &Variables) -> &'static Self {
        if (self.owns)(payload, variables) {
            return self;
        }
        let owner = CLIENTS.into_iter().find(|dialect| (dialect.owns)(payload, variables));
        // Nothing about it is anybody's alone: it is for whoever knows its words, those of the most imitated first.
        let knower = || {
            let mut known = std::iter::once(self).chain(CLIENTS.into_iter().rev());
            known.find(|dialect| dialect.words.know(payload))
        };
        owner.or_else(knower).unwrap_or(self)
    }

    /// Whether the model hears what is said at this moment.
    pub(crate) fn hears(&self, event: &Event) -> bool {
        if event.moment == Moment::TurnEnd {
            return self.hold.is_some() && !event.was_held;
        }
        let told = Told { model: Some(String::new()), person: None };
        (self.tell)(event, &told).is_some()
    }

    /// Writes a verdict as this client reads it.
    pub(crate) fn render(&self, event: &Event, verdict: &Verdict) -> Reply {
        match verdict {
            Verdict::Silent => Reply::default(),
            Verdict::Deny(reason) => Reply::deny(&(self.deny)(event, reason), reason),
            Verdict::Stop(reason) => match self.stop {
                Some(stop) => Reply::stop(&stop(event, reason), reason),
                None => Reply::deny(&(self.deny)(event, reason), reason),
            },
            Verdict::Hold(text) => self.hold.map_or_else(Reply::default, |hold| Reply::document(&hold(text))),
            Verdict::Tell(told) => {
                (self.tell)(event, told).map_or_else(Reply::default, |document| Reply::document(&document))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::payload::When;
    use std::collections::BTreeSet;

    #[test]
    fn every_event_that_is_registered_is_understood() {
        for dialect in CLIENTS {
            for entry in dialect.registered {
                let known = dialect.words.events.iter().any(|(name, _)| *name == entry.event);
                assert!(known, "{:?} {}", dialect.client, entry.event);
                assert_eq!(entry.arguments[..2], ["hook", dialect.client.name_stem()]);
                assert!(entry.timeout_ms >= 1_000, "no client counts in less than seconds");
            }
            let events: BTreeSet<&str> = dialect.registered.iter().map(|entry| entry.event).collect();
            assert_eq!(events.len(), dialect.registered.len(), "{:?}", dialect.client);
        }
    }

    /// What a client is asked to call us for after a tool is a text of its own, which may not change lightly: the
    /// person would be asked again. So it is compared with what is known of the tools.
    #[test]
    fn every_tool_that_may_write_is_heard_of_before_and_after() {
        for dialect in CLIENTS {
            let is_about_tools = |entry: &&Registration| {
                let known = dialect.words.events.iter().find(|(name, _)| *name == entry.event);
                known.is_some_and(|(_, when)| {
                    matches!(when, When::BeforeTool | When::AfterTool | When::AfterFailure)
                })
            };
            for entry in dialect.registered.iter().filter(is_about_tools) {
                let matcher = entry.matcher.unwrap_or("*");
                let named: Vec<&str> = matcher.trim_matches(['^', '$', '(', ')']).split('|').collect();
                let is_named = |tool: &str| ["*", ".*"].contains(&matcher) || named.contains(&tool);
                for (tool, _) in dialect.words.tools {
                    assert!(is_named(tool), "{:?} {}: {tool}", dialect.client, entry.event);
                }
                let servers = ["*", ".*", "mcp__.*"];
                let reaches = servers.contains(&matcher) || named.iter().any(|name| servers.contains(name));
                assert!(reaches, "{:?} {}: tools of servers", dialect.client, entry.event);
            }
        }
    }

    #[test]
    fn no_payload_is_claimed_by_two_clients() {
        let payloads = [
            r#"{"cursor_version":"2","hook_event_name":"preToolUse","conversation_id":"c"}"#,
            r#"{"sessionId":"s","timestamp":1,"toolName":"edit","toolArgs":"{}"}"#,
            r#"{"session_id":"s","turn_id":"t","model":"m","hook_event_name":"PreToolUse"}"#,
            r#"{"session_id":"s","timestamp":"t","transcript_path":"p","hook_event_name":"BeforeTool"}"#,
            r#"{"session_id":"s","transcript_path":"p","hook_event_name":"PreToolUse"}"#,
        ];
        let variables = Variables::from([("CLAUDE_CODE_SESSION_ID".to_owned(), "other".to_owned())]);
        for payload in payloads {
            let payload: Value = serde_json::from_str(payload).unwrap();
            let owners = CLIENTS.iter().filter(|dialect| (dialect.owns)(&payload, &variables)).count();
            assert!(owners <= 1, "{payload}");
        }
    }
}
