//! What a client's configuration is to hold, and which of its entries are ours.

use super::place::setup_of;
use crate::clients::{Registration, registrations};
use clearway_core::agent::Client;
use clearway_core::shell;
use serde_json::{Map, Value, json};

/// How a client's hooks are written below the name of their event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Groups of handlers, each group for some tools.
    Grouped,
    /// Handlers, each for some tools, in a document that says its version.
    Flat,
}

/// One entry that is to be there.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Entry {
    pub(super) event: &'static str,
    pub(super) matcher: Option<&'static str>,
    /// What is called, in the order it is written.
    pub(super) handler: Vec<(&'static str, Value)>,
}

impl Entry {
    /// The entry as a client of this shape reads it, field by field.
    pub(super) fn fields(&self, shape: Shape) -> Vec<(&'static str, Value)> {
        let matcher = self.matcher.map(|matcher| ("matcher", json!(matcher)));
        match shape {
            Shape::Flat => self.handler.iter().cloned().chain(matcher).collect(),
            Shape::Grouped => matcher.into_iter().chain([("hooks", json!([self.handler()]))]).collect(),
        }
    }

    /// What is called, as a value.
    pub(super) fn handler(&self) -> Value {
        object(&self.handler)
    }

    /// Whether an element of the event's list is this entry, alone or among handlers of others for the same tools.
    pub(super) fn is_in(&self, element: &Value, shape: Shape) -> bool {
        if shape == Shape::Flat {
            return *element == object(&self.fields(shape));
        }
        let same_tools = element.get("matcher").and_then(Value::as_str) == self.matcher;
        same_tools && handlers(element, shape).any(|handler| *handler == self.handler())
    }
}

fn object(fields: &[(&'static str, Value)]) -> Value {
    let fields: Map<String, Value> =
        fields.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Value::Object(fields)
}

/// What an element of an event's list calls.
pub(super) fn handlers(element: &Value, shape: Shape) -> impl Iterator<Item = &Value> {
    let own = (shape == Shape::Flat).then_some(element);
    let group = element.get("hooks").and_then(Value::as_array).filter(|_| shape == Shape::Grouped);
    own.into_iter().chain(group.into_iter().flatten())
}

/// Everything a client is to be configured with. `unattended` asks it to take a hook that fails for a refusal, where it
/// can be asked that.
pub(super) fn entries(client: Client, binary: &str, unattended: bool) -> Vec<Entry> {
    let entry = |registration: &Registration| Entry {
        event: registration.event,
        matcher: registration.matcher,
        handler: handler(client, registration, binary, unattended),
    };
    registrations(client).iter().map(entry).collect()
}

/// The events before a tool call: only there a refusal keeps anything from happening.
const GATES: [&str; 3] = ["PreToolUse", "BeforeTool", "preToolUse"];

/// What one entry calls, before a client's file says so in its own words.
pub(crate) struct Called<'a> {
    pub(crate) binary: &'a str,
    pub(crate) arguments: &'static [&'static str],
    pub(crate) timeout_ms: u32,
    /// Whether a hook that fails is to be taken for a refusal.
    pub(crate) blocks: bool,
}

impl Called<'_> {
    /// The whole seconds after which the client gives up.
    pub(crate) fn seconds(&self) -> Value {
        json!(self.timeout_ms / 1_000)
    }

    /// The line for a shell.
    pub(crate) fn line(&self) -> Value {
        json!(command_line(self.binary, self.arguments))
    }

    /// The same for a client that takes a program that is not there, or cannot run, for a refusal, and would lock its agent
    /// out.
    pub(crate) fn line_if_there(&self) -> Value {
        let line = command_line(self.binary, self.arguments);
        json!(if self.blocks { line } else { guarded(self.binary, &line) })
    }
}

fn handler(
    client: Client,
    registration: &Registration,
    binary: &str,
    unattended: bool,
) -> Vec<(&'static str, Value)> {
    let called = Called {
        binary,
        arguments: registration.arguments,
        timeout_ms: registration.timeout_ms,
        blocks: unattended && GATES.contains(&registration.event),
    };
    setup_of(client).map(|setup| (setup.handler)(&called)).unwrap_or_default()
}

/// The words that look for the binary before it is called; it follows them, then `||`.
const GUARD: [&str; 3] = ["test", "!", "-x"];
/// What follows it: what is no refusal of ours is a program that is broken.
const ONLY_REFUSALS: &str = "exit $(($?==2?2:0))";

fn guarded(binary: &str, line: &str) -> String {
    format!("{} {} || {line} || {ONLY_REFUSALS}", GUARD.join(" "), shell::word(binary))
}

/// What our hooks are called where hooks have names.
pub(crate) const NAME: &str = "clearway";

fn command_line(binary: &str, arguments: &[&str]) -> String {
    std::iter::once(shell::word(binary))
        .chain(arguments.iter().map(|word| shell::word(word)))
        .collect::<Vec<_>>()
        .join(" ")
}

/// The program and arguments of a handler; empty for one that calls no command.
pub(super) fn words(handler: &Value) -> Vec<String> {
    let text = |field: &str| handler.get(field).and_then(Value::as_str);
    let Some(command) = text("command").or_else(|| text("bash")) else { return Vec::new() };
    match handler.get("args").and_then(Value::as_array) {
        Some(arguments) => {
            let arguments = arguments.iter().filter_map(Value::as_str).map(str::to_owned);
            std::iter::once(command.to_owned()).chain(arguments).collect()
        }
        None => called(shell::read(command).words),
    }
}

/// The command behind the guard, if there is one, without what follows it.
fn called(words: Vec<String>) -> Vec<String> {
    match words.strip_prefix(GUARD.map(str::to_owned).as_slice()) {
        Some([binary, or, command @ ..]) if or == "||" && command.first() == Some(binary) => {
            command.iter().take_while(|word| *word != "||").cloned().collect()
        }
        _ => words,
    }
}

/// Whether a handler is one of ours, from wherever it was installed.
pub(super) fn is_ours(handler: &Value) -> bool {
    let words = words(handler);
    let program = words.first().and_then(|word| word.rsplit('/').next());
    program == Some(NAME) && words.get(1).is_some_and(|word| word == crate::hook::VERB)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_were_quoted_are_read_back() {
        for path in ["/usr/bin/clearway", "/home/a b/clearway", "/it's/clearway", "/$(x)/`y`/\"/clearway"] {
            let line = command_line(path, &["hook", "codex"]);
            assert_eq!(words(&json!({"command": line})), [path, "hook", "codex"], "{line}");
            assert!(is_ours(&json!({"type": "command", "command": line})), "{line}");
        }
    }

    #[test]
    fn a_binary_that_is_gone_locks_nobody_out_unless_nobody_watches() {
        for (client, field) in [(Client::Gemini, "command"), (Client::Copilot, "bash")] {
            for unattended in [false, true] {
                for entry in entries(client, "/a b/clearway", unattended) {
                    let handler = entry.handler();
                    let line = handler[field].as_str().unwrap();
                    let looks = line.starts_with("test ! -x '/a b/clearway' || '/a b/clearway' hook ");
                    assert_eq!(looks, !(unattended && GATES.contains(&entry.event)), "{line}");
                    assert!(is_ours(&handler), "{line}");
                    assert_eq!(words(&handler)[..2], ["/a b/clearway", "hook"]);
                    assert!(!words(&handler).contains(&"||".to_owned()), "{line}");
                    assert_eq!(line.ends_with(ONLY_REFUSALS), looks, "{line}");
                }
            }
        }
    }

    #[test]
    fn only_our_own_handlers_are_ours() {
        for (handler, ours) in [
            (json!({"command": "/opt/clearway", "args": ["hook", "claude"]}), true),
            (json!({"bash": "clearway hook copilot preToolUse"}), true),
            (json!({"command": "/opt/clearway", "args": ["status"]}), false),
            (json!({"command": "/opt/notclearway hook claude"}), false),
            (json!({"command": "echo clearway hook claude"}), false),
            (json!({"command": "test ! -x /opt/clearway || /opt/clearway hook gemini"}), true),
            (json!({"command": "test ! -x /opt/clearway || echo clearway hook gemini"}), false),
            (json!({"type": "prompt", "prompt": "clearway hook claude"}), false),
            (json!("clearway hook claude"), false),
        ] {
            assert_eq!(is_ours(&handler), ours, "{handler}");
        }
    }

    #[test]
    fn each_client_counts_time_in_its_own_unit() {
        let timeout = |client, field: &str| {
            let entries = entries(client, "/bin/clearway", false);
            entries[0].handler().get(field).and_then(Value::as_u64)
        };
        assert_eq!(timeout(Client::ClaudeCode, "timeout"), Some(5));
        assert_eq!(timeout(Client::Codex, "timeout"), Some(5));
        assert_eq!(timeout(Client::Gemini, "timeout"), Some(5_000));
        assert_eq!(timeout(Client::Cursor, "timeout"), Some(5));
        assert_eq!(timeout(Client::Copilot, "timeoutSec"), Some(5));
    }

    #[test]
    fn a_failure_blocks_only_where_that_was_asked_for_and_only_before_a_tool_call() {
        for (client, field) in [(Client::ClaudeCode, "onFailure"), (Client::Cursor, "failClosed")] {
            let blocking = |unattended| {
                let entries = entries(client, "/bin/clearway", unattended);
                let has = entries.into_iter().filter(|entry| entry.handler().get(field).is_some());
                has.map(|entry| entry.event).collect::<Vec<_>>()
            };
            assert!(blocking(false).is_empty());
            assert_eq!(blocking(true).len(), 1);
            assert!(blocking(true).iter().all(|event| GATES.contains(event)));
        }
    }
}
