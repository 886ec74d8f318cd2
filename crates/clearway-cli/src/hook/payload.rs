//! Reading what a client sent without trusting it. What its words are is data that its own file in `clients/` holds:
//! nothing here knows one client from another.

use super::event::{Act, Event, Moment, ServerTool};
use super::patch;
use super::surrogates;
use super::tools;
use clearway_core::agent::Client;
use clearway_core::input::session_id;
use clearway_kernel::WholeText;
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
    /// The name that an MCP server gave a tool of this name; `None` for a tool of no server. Where server and tool
    /// cannot be told apart, it is the end of the name.
    pub(crate) mcp: fn(&str) -> Option<&str>,
    /// The fields of a payload.
    pub(crate) fields: Fields,
    /// Where a payload names files that a tool call turned out to have changed, each a pointer into it.
    pub(crate) changed: &'static [&'static str],
    /// Why a session ends that is followed by another one of the same client.
    pub(crate) goes_on: &'static [&'static str],
    /// Out of what a session begins that is a branch of another one.
    pub(crate) forks: &'static [&'static str],
}

impl Words {
    /// Whether the event of a payload and its tool are among these, so that it could be this client's.
    pub(crate) fn know(&self, payload: &Value) -> bool {
        let event = text(payload, self.fields.event);
        let is_known = |name: &str| self.events.iter().any(|(known, _)| known.eq_ignore_ascii_case(name));
        let has_tool = text(payload, self.fields.tool).is_none_or(|_| tool_of(self, payload).is_some());
        event.is_none_or(is_known) && has_tool
    }
}

/// Names of fields; of several the first that is there counts.
#[derive(Debug)]
pub(crate) struct Fields {
    pub(crate) event: &'static [&'static str],
    pub(crate) session: &'static [&'static str],
    pub(crate) subagent: &'static [&'static str],
    pub(crate) tool: &'static [&'static str],
    pub(crate) input: &'static [&'static str],
    /// What is there once the tool was used.
    pub(crate) result: &'static [&'static str],
    /// By what that says that the call came to nothing; nothing where the client calls an event of its own for that, or
    /// does not tell.
    pub(crate) failure: &'static [Failing],
    pub(crate) tool_use: &'static [&'static str],
    pub(crate) cwd: &'static [&'static str],
    /// Why a session ends.
    pub(crate) reason: &'static [&'static str],
    /// Out of what a session begins.
    pub(crate) source: &'static [&'static str],
    /// In a tool's input, what it puts into its file.
    pub(crate) put: &'static [&'static str],
    /// In a tool's input, all that its file is to hold.
    pub(crate) whole: &'static [&'static str],
    /// In the input of a shell, the directory that its command runs in where that is another one.
    pub(crate) runs_in: &'static [&'static str],
}

/// By what a result says that a call came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    /// By this field, if it holds anything.
    Holds(&'static str),
    /// By the first field of these that is there, if its word is not the one for success.
    IsNot(&'static [&'static str], &'static str),
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
    AfterFailure,
}

/// Where a tool's input tells what it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// Every field of these that is there names a file.
    Writes(&'static [&'static str]),
    /// The same, and the file is to hold nothing but the text that comes with it.
    Replaces(&'static [&'static str]),
    /// The same, and a command beside them says whether the file is looked at, made or changed.
    Editor(&'static [&'static str]),
    /// The same, and the file is to go.
    Removes(&'static [&'static str]),
    /// The first field of these that is there is a patch over several files.
    Patch(&'static [&'static str]),
    /// This field is a command.
    Shell(&'static str),
}

/// Understands a payload. The event's name is what the payload says, or else what the command line says.
pub(crate) fn read(client: Client, words: &Words, payload: &Value, event: Option<&str>) -> Event {
    let name = text(payload, words.fields.event).or(event);
    let name = name.or_else(|| unnamed(words, payload)).unwrap_or_default();
    let known = words.events.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    let is = |at: When| known.is_some_and(|(_, when)| *when == at);
    let failed = is(When::AfterFailure) || says_failure(words, payload);
    Event {
        client,
        failed,
        put: if is(When::AfterTool) && !failed { put(words, payload) } else { Vec::new() },
        whole: if is(When::BeforeTool) { whole(words, payload) } else { Vec::new() },
        session: text(payload, words.fields.session).and_then(session_id).filter(|id| !id.is_empty()),
        subagent: text(payload, words.fields.subagent).and_then(session_id).filter(|id| !id.is_empty()),
        moment: known.map_or(Moment::Other, |(_, when)| moment(*when, words, payload)),
        changed: words.changed.iter().flat_map(|at| files(payload.pointer(at))).collect(),
        name: name.to_owned(),
        tool_use: text(payload, words.fields.tool_use).map(str::to_owned),
        goes_on: text(payload, words.fields.reason).is_some_and(|reason| words.goes_on.contains(&reason)),
        forks: text(payload, words.fields.source).is_some_and(|source| words.forks.contains(&source)),
        was_held: payload.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false),
        cwd: cwd(words, payload),
    }
}

/// Where the call is made: of a command, where it runs.
fn cwd(words: &Words, payload: &Value) -> Option<PathBuf> {
    let cwd = text(payload, words.fields.cwd).map(PathBuf::from).filter(|cwd| cwd.is_absolute())?;
    let is_shell = matches!(tool_of(words, payload), Some(Tool::Shell(_)));
    let input = if is_shell { input_of(words, payload) } else { None };
    let within = input.as_deref().and_then(|input| text(input, words.fields.runs_in));
    Some(within.map_or_else(|| cwd.clone(), |within| cwd.join(within)))
}

/// Whether what is said of a tool that was used is that it came to nothing.
fn says_failure(words: &Words, payload: &Value) -> bool {
    let result = words.fields.result.iter().find_map(|field| payload.get(field)).and_then(object);
    let says = |result: &Value, failing: &Failing| match failing {
        Failing::Holds(field) => result.get(field).is_some_and(|error| !error.is_null()),
        Failing::IsNot(fields, success) => text(result, fields).is_some_and(|word| word != *success),
    };
    result.is_some_and(|result| words.fields.failure.iter().any(|failing| says(&result, failing)))
}

/// What a payload is about that does not name its event, in a hook whose line does not either: it was put into the file
/// of another client, and is about a tool call or it would be of no consequence.
fn unnamed(words: &Words, payload: &Value) -> Option<&'static str> {
    text(payload, words.fields.tool)?;
    let is_over = words.fields.result.iter().any(|field| payload.get(field).is_some());
    let wanted = if is_over { When::AfterTool } else { When::BeforeTool };
    words.events.iter().find(|(_, when)| *when == wanted).map(|(name, _)| *name)
}

fn moment(when: When, words: &Words, payload: &Value) -> Moment {
    match when {
        When::SessionStart => Moment::SessionStart,
        When::SessionEnd => Moment::SessionEnd,
        When::TurnEnd => Moment::TurnEnd,
        When::SubagentEnd => Moment::SubagentEnd,
        When::BeforeTool => Moment::BeforeTool(act(words, payload)),
        When::AfterTool | When::AfterFailure => Moment::AfterTool(act(words, payload)),
    }
}

fn act(words: &Words, payload: &Value) -> Act {
    let Some(name) = text(payload, words.fields.tool) else { return Act::Other };
    let Some(input) = input_of(words, payload) else { return Act::Other };
    let of_server = (words.mcp)(name);
    let act = match tool_of(words, payload) {
        Some(Tool::Editor(_)) if tools::editor_looks(&input) => return Act::Other,
        Some(
            Tool::Writes(fields) | Tool::Replaces(fields) | Tool::Editor(fields) | Tool::Removes(fields),
        ) => edit(named_by(fields, &input)),
        Some(Tool::Patch(fields)) => edit(text(&input, fields).map(patch::files).unwrap_or_default()),
        Some(Tool::Shell(field)) => text(&input, &[field]).map_or(Act::Other, shell),
        None => Act::Other,
    };
    match act {
        Act::Other if of_server.is_some() => Act::Server(server_tool(name, &input)),
        act => act,
    }
}

/// What a tool call puts into which file.
fn put(words: &Words, payload: &Value) -> Vec<(String, String)> {
    let Some(input) = input_of(words, payload) else { return Vec::new() };
    match tool_of(words, payload) {
        Some(Tool::Writes(fields) | Tool::Replaces(fields) | Tool::Editor(fields)) => {
            let named = named_by(fields, &input);
            // What goes into which of several files is not said.
            let [file] = named.as_slice() else { return Vec::new() };
            let edits = input.get(tools::EDITS).and_then(Value::as_array).into_iter().flatten();
            let put = |edit| text(edit, words.fields.put).or_else(|| text(edit, &tools::PUT));
            let texts = std::iter::once(&*input).chain(edits).filter_map(put);
            texts.map(|text| (file.clone(), text.to_owned())).collect()
        }
        Some(Tool::Patch(fields)) => text(&input, fields).map(patch::added).unwrap_or_default(),
        Some(Tool::Removes(_) | Tool::Shell(_)) | None => Vec::new(),
    }
}

/// The files that a tool call is about to write as a whole, with what they are to hold.
fn whole(words: &Words, payload: &Value) -> Vec<WholeText> {
    let Some(input) = input_of(words, payload) else { return Vec::new() };
    match tool_of(words, payload) {
        Some(Tool::Replaces(fields)) => replaced(words, fields, &input),
        Some(Tool::Editor(fields)) if tools::editor_creates(&input) => replaced(words, fields, &input),
        Some(Tool::Removes(fields)) => {
            let gone = |file| WholeText { file, text: String::new() };
            named_by(fields, &input).into_iter().map(gone).collect()
        }
        Some(Tool::Patch(fields)) => text(&input, fields).map(patch::whole).unwrap_or_default(),
        Some(Tool::Shell(field)) => text(&input, &[field]).map(patch::typed_whole).unwrap_or_default(),
        Some(Tool::Writes(_) | Tool::Editor(_)) | None => Vec::new(),
    }
}

/// A text that is not said is no reason to keep anybody from writing it.
fn replaced(words: &Words, fields: &[&str], input: &Value) -> Vec<WholeText> {
    let all = text(input, words.fields.whole).or_else(|| text(input, &tools::WHOLE));
    let Some(text) = all.filter(|_| !tools::adds(input)) else { return Vec::new() };
    named_by(fields, input).into_iter().map(|file| WholeText { file, text: text.to_owned() }).collect()
}

/// The files that these fields name.
fn named_by(fields: &[&str], input: &Value) -> Vec<String> {
    fields.iter().flat_map(|field| files(input.get(field))).collect()
}

/// What is known of the tool that a payload names.
fn tool_of(words: &Words, payload: &Value) -> Option<Tool> {
    let name = text(payload, words.fields.tool)?;
    let known = words.tools.iter().find(|(known, _)| *known == name).map(|(_, tool)| *tool);
    known.or_else(|| (words.mcp)(name).and_then(tools::of_server))
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
    file.as_str().or_else(|| text(file, &LISTED))
}

/// How an object in a list names its file. Arguments of servers are read too, of which nobody has a list.
const LISTED: [&str; 3] = ["path", "file_path", "filePath"];

/// The input of a tool. Where that is the bare text of a patch, it is what the tool's first field would hold.
fn input_of<'p>(words: &Words, payload: &'p Value) -> Option<Cow<'p, Value>> {
    let input = words.fields.input.iter().find_map(|field| payload.get(field))?;
    let bare = || match (tool_of(words, payload), input) {
        (Some(Tool::Patch([field, ..])), Value::String(patch)) => Some(Cow::Owned(Value::Object(
            [((*field).to_owned(), Value::from(patch.as_str()))].into_iter().collect(),
        ))),
        _ => None,
    };
    object(input).or_else(bare)
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
