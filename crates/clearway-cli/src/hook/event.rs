//! What a hook was called for, whichever client called it.

use clearway_core::agent::Client;
use clearway_kernel::{WholeText, Wrote};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A call of a hook, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Event {
    /// Who called. It may be another client than the one the hook was installed for.
    pub(crate) client: Client,
    /// The client's own id of its session; `None` if it named none that can be one.
    pub(crate) session: Option<String>,
    /// The client's own id of the subagent it speaks for.
    pub(crate) subagent: Option<String>,
    /// What the client calls the event.
    pub(crate) name: String,
    /// What it is.
    pub(crate) moment: Moment,
    /// Files that the tool call changed, as far as the client says so once it is over.
    pub(crate) changed: Vec<String>,
    /// Whether the tool call came to nothing, as far as the client says so.
    pub(crate) failed: bool,
    /// What the tool call put into which file, as far as its input says so.
    pub(crate) put: Vec<(String, String)>,
    /// The files that a tool call is about to write as a whole, as far as its input says what they are to hold.
    pub(crate) whole: Vec<WholeText>,
    /// The client's own id of the tool call.
    pub(crate) tool_use: Option<String>,
    /// Where the agent works.
    pub(crate) cwd: Option<PathBuf>,
    /// Whether the end of a session is none: the client goes on under another id.
    pub(crate) goes_on: bool,
    /// Whether a session begins as a branch of another one.
    pub(crate) forks: bool,
    /// Whether the turn that ends was held by a hook before.
    pub(crate) was_held: bool,
}

/// What happens at the client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A session begins, or goes on under another id.
    SessionStart,
    /// It is over.
    SessionEnd,
    /// The agent waits for its person.
    TurnEnd,
    /// A subagent is done.
    SubagentEnd,
    /// A tool is about to be used.
    BeforeTool(Act),
    /// It was used, with or without success.
    AfterTool(Act),
    /// Something we were not registered for.
    Other,
}

/// What a tool does, as far as that can be told from its input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// It writes, moves or removes these files.
    Edit(Vec<String>),
    /// It runs this command.
    Shell(String),
    /// It is a tool of an MCP server that we know nothing of.
    Server(ServerTool),
    /// Anything else.
    Other,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerTool {
    /// As the client calls it.
    pub(crate) name: String,
    /// Every argument that could name files, and what it names.
    pub(crate) arguments: BTreeMap<String, Vec<String>>,
}

impl Event {
    /// Files that a tool call changed and that nothing before it named.
    pub(crate) fn unannounced(&self) -> Vec<String> {
        let announced: &[String] = match &self.moment {
            Moment::AfterTool(Act::Edit(files)) => files,
            Moment::AfterTool(_) => &[],
            _ => return Vec::new(),
        };
        self.changed.iter().filter(|file| !announced.contains(file)).cloned().collect()
    }

    /// The files that a tool call wrote, with what it put there.
    pub(crate) fn wrote(&self, files: &[String]) -> Vec<Wrote> {
        let put_into = |file: &String| {
            let of_file = self.put.iter().filter(|(into, _)| into == file);
            let put = of_file.map(|(_, text)| text.clone()).collect();
            Wrote { file: file.clone(), put }
        };
        files.iter().map(put_into).collect()
    }

    /// What a second call for the same thing has in common with the first.
    pub(crate) fn key(&self) -> Option<String> {
        let (session, tool_use) = (self.session.as_ref()?, self.tool_use.as_ref()?);
        Some(format!("hook:{session}:{tool_use}:{}", self.name))
    }
}
