//! Reading what a client sent without trusting it.

use super::event::{Act, Event, Moment, ServerTool};
use super::patch;
use super::surrogates;
use super::tools;
use clearway_core::agent::Client;
use clearway_core::input::session_id;
use serde_json::Value;
use std::borrow::Cow;
use std::path::PathBuf;

/// How a client says things.
#[derive(Debug)]
pub(crate) struct Words {
    /// Names of events.
    pub(crate) events: &'static [(&'static str, When)],
    /// Names of tools.
    pub(crate) tools: &'static [(&'static str, Tool)],
    /// How a tool of an MCP server is called, up to the name that the server gave it.
    pub(crate) mcp: McpName,
    /// The fields of a payload.
    pub(crate) fields: Fields,
    /// Where a payload names files that a tool call turned out to have changed, each a pointer into it.
    pub(crate) changed: &'static [&'static str],
}

/// Names of fields; of several the first that is there counts.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) session: &'static [&'static str],
    pub(crate) subagent: &'static [&'static str],
    pub(crate) tool: &'static [&'static str],
    pub(crate) input: &'static [&'static str],
    pub(crate) tool_use: &'static [&'static str],
}

impl Fields {
    /// As Claude Code names them, and those who imitate it.
    pub(crate) const OF_CLAUDE: Self = Self {
        session: &["session_id"],
        subagent: &["agent_id"],
        tool: &["tool_name"],
        input: &["tool_input"],
        tool_use: &["tool_use_id"],
    };
}

/// What an event is, before its tool is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    SessionStart,
    SessionEnd,
    TurnEnd,
    SubagentEnd,
    BeforeTool,
    AfterTool,
}

/// Where a tool's input tells what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Every field of these that is there names a file.
    Writes(&'static [&'static str]),
    /// The first field of these that is there is a patch over several files.
    Patch(&'static [&'static str]),
    /// This field is a command.
    Shell(&'static str),
}

/// How the tools of MCP servers are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum McpName {
    /// `mcp__server__tool`.
    DoubleUnderscore,
    /// `mcp_server_tool`.
    Underscore,
    /// `MCP:tool`.
    Colon,
}

/// Understands a payload. The event's name is what the payload says, or else what the command line says.
pub(crate) fn read(client: Client, words: &Words, payload: &Value, event: Option<&str>) -> Event {
    let name = text(payload, &["hook_event_name"]).or(event).unwrap_or_default();
    let known = words.events.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let is_after = known.is_some_and(|(_, when)| *when == When::AfterTool);
    Event {
        client,
        put: if is_after { put(words, payload) } else { Vec::new() },
        session: text(payload, words.fields.session).and_then(session_id).filter(|id| !id.is_empty()),
        subagent: text(payload, words.fields.subagent).and_then(session_id).filter(|id| !id.is_empty()),
        moment: known.map_or(Moment::Other, |(_, when)| moment(*when, words, payload)),
        changed: words.changed.iter().flat_map(|at| files(payload.pointer(at))).collect(),
        name: name.to_owned(),
        tool_use: text(payload, words.fields.tool_use).map(str::to_owned),
        goes_on: text(payload, &["reason"]).is_some_and(|reason| GOES_ON.contains(&reason)),
        forks: text(payload, &["source"]) == Some("fork"),
        cwd: text(payload, &["cwd"]).map(PathBuf::from).filter(|cwd| cwd.is_absolute()),
    }
}

/// Why a session ends that is followed by another one of the same client.
const GOES_ON: [&str; 2] = ["clear", "resume"];

fn moment(when: When, words: &Words, payload: &Value) -> Moment {
    match when {
        When::SessionStart => Moment::SessionStart,
        When::SessionEnd => Moment::SessionEnd,
        When::TurnEnd => Moment::TurnEnd,
        When::SubagentEnd => Moment::SubagentEnd,
        When::BeforeTool => Moment::BeforeTool(act(words, payload)),
        When::AfterTool => Moment::AfterTool(act(words, payload)),
    }
}

fn act(words: &Words, payload: &Value) -> Act {
    let Some(name) = text(payload, words.fields.tool) else { return Act::Other };
    let input = words.fields.input.iter().find_map(|field| payload.get(field));
    let Some(input) = input.and_then(object) else { return Act::Other };
    let of_server = words.mcp.tool_of(name);
    let act = match tool_of(words, payload) {
        Some(Tool::Writes(fields)) => edit(fields.iter().flat_map(|field| files(input.get(field))).collect()),
        Some(Tool::Patch(fields)) => edit(text(&input, fields).map(patch::files).unwrap_or_default()),
        Some(Tool::Shell(field)) => text(&input, &[field]).map_or(Act::Other, shell),
        None => Act::Other,
    };
    match act {
        Act::Other if of_server.is_some() => Act::Server(server_tool(name, &input)),
        act => act,
    }
}

/// Fields of a tool's input that hold what it puts into its file, whatever the client.
const PUT: [&str; 6] = ["new_string", "content", "new_str", "file_text", "newText", "contents"];
/// A list of edits in one file, each with such a field.
const EDITS: &str = "edits";

/// What a tool call puts into which file.
fn put(words: &Words, payload: &Value) -> Vec<(String, String)> {
    let input = words.fields.input.iter().find_map(|field| payload.get(field)).and_then(object);
    let Some(input) = input else { return Vec::new() };
    match tool_of(words, payload) {
        Some(Tool::Writes(fields)) => {
            let named: Vec<String> = fields.iter().flat_map(|field| files(input.get(field))).collect();
            // What goes into which of several files is not said.
            let [file] = named.as_slice() else { return Vec::new() };
            let edits = input.get(EDITS).and_then(Value::as_array).into_iter().flatten();
            let texts = std::iter::once(&*input).chain(edits).filter_map(|edit| text(edit, &PUT));
            texts.map(|text| (file.clone(), text.to_owned())).collect()
        }
        Some(Tool::Patch(fields)) => text(&input, fields).map(patch::added).unwrap_or_default(),
        Some(Tool::Shell(_)) | None => Vec::new(),
    }
}

/// What is known of the tool that a payload names.
fn tool_of(words: &Words, payload: &Value) -> Option<Tool> {
    let name = text(payload, words.fields.tool)?;
    let known = words.tools.iter().find(|(known, _)| *known == name).map(|(_, tool)| *tool);
    known.or_else(|| words.mcp.tool_of(name).and_then(tools::of_server))
}

fn server_tool(name: &str, input: &Value) -> ServerTool {
    let fields = input.as_object().into_iter().flatten();
    let named = fields.map(|(field, value)| (field.clone(), files(Some(value))));
    ServerTool { name: name.to_owned(), arguments: named.filter(|(_, files)| !files.is_empty()).collect() }
}

fn shell(command: &str) -> Act {
    match patch::typed(command) {
        files if files.is_empty() => Act::Shell(command.to_owned()),
        files => Act::Edit(files),
    }
}

fn edit(files: Vec<String>) -> Act {
    if files.is_empty() { Act::Other } else { Act::Edit(files) }
}

/// A field is the name of a file or a list of such names.
fn files(named: Option<&Value>) -> Vec<String> {
    match named {
        Some(Value::String(file)) => vec![file.clone()],
        Some(Value::Array(files)) => files.iter().filter_map(named_file).map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

fn named_file(file: &Value) -> Option<&str> {
    file.as_str().or_else(|| text(file, &["path", "file_path", "filePath"]))
}

/// Some clients write a tool's input as JSON inside a text.
fn object(input: &Value) -> Option<Cow<'_, Value>> {
    match input {
        Value::Object(_) => Some(Cow::Borrowed(input)),
        Value::String(text) => {
            surrogates::read(text.as_bytes()).ok().filter(Value::is_object).map(Cow::Owned)
        }
        _ => None,
    }
}

/// The first of these fields that is a text.
pub(crate) fn text<'v>(value: &'v Value, fields: &[&str]) -> Option<&'v str> {
    fields.iter().find_map(|field| value.get(field)?.as_str())
}

impl McpName {
    /// The name that the server gave a tool. Where server and tool cannot be told apart, it is the end of the name.
    fn tool_of(self, name: &str) -> Option<&str> {
        match self {
            Self::DoubleUnderscore => name.strip_prefix("mcp__")?.rsplit_once("__").map(|(_, tool)| tool),
            Self::Underscore => name.strip_prefix("mcp_"),
            Self::Colon => name.strip_prefix("MCP:"),
        }
    }
}
