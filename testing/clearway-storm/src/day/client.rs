//! A client at work: a process that is called like it, calls the hook with its payloads, and can be killed.

use super::clock::{Clock, SHOWN};
use crate::stage::Outcome;
use clearway_testkit::Home;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// Which client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Claude,
    Codex,
    Gemini,
}

/// What an agent does with a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tool {
    Read(String),
    /// Adds a line to each of these files; only Codex changes several at once.
    Edit(Vec<Put>),
    /// Writes a whole file.
    Write(Put),
    Shell(String),
}

/// A file, and the text that is put into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Put {
    pub(super) file: String,
    pub(super) text: String,
}

/// What the hook is called for.
#[derive(Clone, Debug)]
pub(super) enum Event<'t> {
    Start(&'static str),
    Before(&'t Tool),
    After(&'t Tool),
    TurnEnd,
    SubagentEnd,
    End(&'static str),
}

/// What the model gets to see of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    /// The call is not made, for this reason.
    pub(super) denied: Option<String>,
    /// Something is told beside it.
    pub(super) told: Option<String>,
    /// This is run instead of what was typed.
    pub(super) instead: Option<String>,
}

/// A running client.
#[derive(Debug)]
pub(super) struct Client {
    kind: Kind,
    child: Child,
    orders: ChildStdin,
    codes: BufReader<ChildStdout>,
    /// Its own name, which no other process of a client ever has.
    name: String,
    scratch: PathBuf,
    calls: usize,
}

/// Whose call it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Speaker<'s> {
    pub(super) session: &'s str,
    pub(super) subagent: Option<&'s str>,
    pub(super) cwd: &'s Path,
}

/// Reads how far the day is ahead and the name of a payload's file, calls the hook, tells its exit code.
const LOOP: &str = r#"entrance=$1; shown=$2; names=$3; shift 3
if [ "$0" = claude ]; then CLAUDE_PID=$$; export CLAUDE_PID; fi
while read -r ahead call; do
  "$entrance" --time --fork --monotonic "$ahead" /bin/sh -c "$shown" "$names" "$@" \
    < "$call.in" > "$call.out" 2> "$call.err"
  echo $?
done"#;

impl Client {
    /// Starts one in a directory.
    pub(super) fn start(home: &Home, clock: &Clock, kind: Kind, cwd: &Path, name: &str) -> Outcome<Self> {
        let scratch = home.path().join("tmp").join(name);
        let program = home.directory("clients").join(kind.word());
        let made = std::fs::create_dir_all(&scratch).and_then(|()| match program.exists() {
            true => Ok(()),
            false => std::os::unix::fs::symlink("/bin/sh", &program),
        });
        made.map_err(|error| format!("{name}: {error}"))?;
        let mut command = Command::new(program);
        command.args(["-c", LOOP, kind.word()]).arg(&clock.entrance).arg(SHOWN).arg(&clock.names);
        command.arg(home.binary()).args(["hook", kind.word()]);
        command.current_dir(cwd).env_clear().envs(home.environment());
        let mut command = clock.enter(command);
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut child = started.map_err(|error| format!("{name} does not start: {error}"))?;
        let orders = child.stdin.take().ok_or("a client does not listen")?;
        let codes = child.stdout.take().map(BufReader::new).ok_or("a client is not heard")?;
        Ok(Self { kind, child, orders, codes, name: name.to_owned(), scratch, calls: 0 })
    }

    /// Calls the hook, if this client has it called for such an event.
    pub(super) fn call(&mut self, clock: &Clock, speaker: Speaker<'_>, event: &Event<'_>) -> Outcome<Answer> {
        if !self.kind.is_registered(event) {
            return Ok(Answer::default());
        }
        // A call before a tool and the one after it have one name.
        self.calls += usize::from(!matches!(event, Event::After(_)));
        let payload = self.kind.payload(speaker, event, &format!("{}-{}", self.name, self.calls));
        let file = |ending: &str| self.scratch.join(format!("call.{ending}"));
        std::fs::write(file("in"), payload.to_string()).map_err(|error| error.to_string())?;
        writeln!(self.orders, "{} {}", clock.ahead_s(), self.scratch.join("call").display())
            .map_err(|error| format!("a client is gone: {error}"))?;
        let mut code = String::new();
        self.codes.read_line(&mut code).map_err(|error| error.to_string())?;
        let text = |ending: &str| std::fs::read_to_string(file(ending)).unwrap_or_default();
        let (out, err) = (text("out"), text("err"));
        self.kind
            .answer(event, code.trim(), &out)
            .ok_or_else(|| format!("{payload}\nwas answered {} with {out:?} and {err:?}", code.trim()))
    }

    /// Ends without a word.
    pub(super) fn die(mut self) -> Outcome<()> {
        self.child.kill().and_then(|()| self.child.wait()).map(|_| ()).map_err(|error| error.to_string())
    }
}

impl Drop for Client {
    /// Nobody works on when the day is over, however it ended.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Kind {
    fn word(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    fn is_registered(self, event: &Event<'_>) -> bool {
        match event {
            Event::After(Tool::Read(_)) => self == Self::Gemini,
            Event::SubagentEnd => self != Self::Gemini,
            _ => true,
        }
    }

    /// Whether the model is shown what is told beside an answer.
    fn hears(self, event: &Event<'_>) -> bool {
        match event {
            Event::Start(_) | Event::After(_) => true,
            Event::Before(_) => self != Self::Gemini,
            Event::TurnEnd | Event::SubagentEnd | Event::End(_) => false,
        }
    }

    fn payload(self, speaker: Speaker<'_>, event: &Event<'_>, call: &str) -> Value {
        let mut payload = json!({
            "session_id": speaker.session,
            "transcript_path": "/nowhere/transcript.jsonl",
            "cwd": speaker.cwd,
            "hook_event_name": self.event_name(event),
        });
        let mut put = |field: &str, value: Value| payload[field] = value;
        match self {
            Self::Claude => {}
            Self::Codex => {
                put("model", json!("gpt-5-codex"));
                put("permission_mode", json!("default"));
                put("turn_id", json!(format!("turn-{call}")));
            }
            Self::Gemini => put("timestamp", json!("2026-11-15T10:00:00.000Z")),
        }
        if let Some(subagent) = speaker.subagent {
            put("agent_id", json!(subagent));
            put("agent_type", json!("worker"));
        }
        match event {
            Event::Start(source) => put("source", json!(source)),
            Event::End(reason) => put("reason", json!(reason)),
            Event::Before(tool) | Event::After(tool) => {
                let (name, input) = self.tool(tool, speaker.cwd);
                put("tool_name", json!(name));
                put("tool_input", input);
                if self != Self::Gemini {
                    put("tool_use_id", json!(format!("call-{call}")));
                }
            }
            Event::TurnEnd => put("stop_hook_active", json!(false)),
            Event::SubagentEnd => {}
        }
        payload
    }

    fn event_name(self, event: &Event<'_>) -> &'static str {
        match (event, self) {
            (Event::Start(_), _) => "SessionStart",
            (Event::End(_), _) => "SessionEnd",
            (Event::SubagentEnd, _) => "SubagentStop",
            (Event::Before(_), Self::Gemini) => "BeforeTool",
            (Event::After(_), Self::Gemini) => "AfterTool",
            (Event::TurnEnd, Self::Gemini) => "AfterAgent",
            (Event::Before(_), _) => "PreToolUse",
            (Event::After(_), _) => "PostToolUse",
            (Event::TurnEnd, _) => "Stop",
        }
    }

    fn tool(self, tool: &Tool, cwd: &Path) -> (&'static str, Value) {
        let whole = |file: &String| cwd.join(file);
        match (self, tool) {
            (Self::Gemini, Tool::Read(file)) => ("read_file", json!({"file_path": whole(file)})),
            (Self::Gemini, Tool::Shell(command)) => ("run_shell_command", json!({"command": command})),
            (Self::Gemini, Tool::Write(put)) => {
                ("write_file", json!({"file_path": whole(&put.file), "content": put.text}))
            }
            (Self::Gemini, Tool::Edit(puts)) => ("replace", replacement(puts, cwd)),
            (Self::Codex, Tool::Edit(puts)) => ("apply_patch", json!({"command": patch(UPDATE, puts)})),
            (Self::Codex, Tool::Write(put)) => {
                ("apply_patch", json!({"command": patch(ADD, std::slice::from_ref(put))}))
            }
            (Self::Codex, Tool::Read(file)) => ("Bash", json!({"command": format!("cat {file}")})),
            (_, Tool::Shell(command)) => ("Bash", json!({"command": command})),
            (Self::Claude, Tool::Read(file)) => ("Read", json!({"file_path": whole(file)})),
            (Self::Claude, Tool::Write(put)) => {
                ("Write", json!({"file_path": whole(&put.file), "content": put.text}))
            }
            (Self::Claude, Tool::Edit(puts)) => ("Edit", replacement(puts, cwd)),
        }
    }

    /// What an answer says; `None` if it is none that this client is ever to be given on a day without trouble.
    fn answer(self, event: &Event<'_>, code: &str, stdout: &str) -> Option<Answer> {
        let document: Value = match stdout {
            "" => Value::Null,
            text => serde_json::from_str(text).ok().filter(Value::is_object)?,
        };
        let output = &document["hookSpecificOutput"];
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match code {
            "2" if self == Self::Gemini => {
                Some(Answer { denied: Some(text(&document["reason"])?), ..Answer::default() })
            }
            "2" => {
                Some(Answer { denied: Some(text(&output["permissionDecisionReason"])?), ..Answer::default() })
            }
            "0" if document.get("systemMessage").is_none() => Some(Answer {
                denied: None,
                told: text(&output["additionalContext"]).filter(|_| self.hears(event)),
                instead: text(&output["updatedInput"]["command"]),
            }),
            _ => None,
        }
    }
}

fn replacement(puts: &[Put], cwd: &Path) -> Value {
    let put = puts.first();
    let (file, text) = (put.map(|put| cwd.join(&put.file)), put.map(|put| put.text.trim_end()));
    json!({"file_path": file, "old_string": "a", "new_string": text})
}

const UPDATE: (&str, &str) = ("Update", "@@\n");
const ADD: (&str, &str) = ("Add", "");

fn patch((verb, hunk): (&str, &str), puts: &[Put]) -> String {
    let part = |put: &Put| {
        let lines: String = put.text.lines().map(|line| format!("+{line}\n")).collect();
        format!("*** {verb} File: {}\n{hunk}{lines}", put.file)
    };
    format!("*** Begin Patch\n{}*** End Patch\n", puts.iter().map(part).collect::<String>())
}
