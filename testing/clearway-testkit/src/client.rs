//! A client that lives: a process that calls our hook, as clients do, and can be killed.

use crate::{Home, Repository};
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running client. It calls the hook with one payload after the other.
#[derive(Debug)]
pub struct Client {
    child: Child,
    orders: ChildStdin,
    codes: BufReader<ChildStdout>,
    scratch: PathBuf,
    root: PathBuf,
    session: String,
    calls: usize,
}

/// What a hook answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// Reads the name of a payload's file, calls the hook, tells its exit code.
const LOOP: &str = r#"CLAUDE_PID=$$; export CLAUDE_PID
while read -r call; do "$@" < "$call.in" > "$call.out" 2> "$call.err"; echo $?; done"#;

impl Client {
    /// Claude Code at work in a repository.
    ///
    /// # Panics
    /// If no process can be started.
    pub fn claude(home: &Home, repository: &Repository<'_>, session: &str) -> Self {
        Self::claude_behind(home, repository, session, &[])
    }

    /// The same, whose hooks are run by another program that takes a program and its arguments.
    ///
    /// # Panics
    /// If no process can be started.
    pub fn claude_behind(home: &Home, repository: &Repository<'_>, session: &str, runner: &[&str]) -> Self {
        let scratch = home.path().join(format!("tmp/client-{session}"));
        fs::create_dir_all(&scratch).expect("a directory");
        let mut command = Command::new("sh");
        command.args(["-c", LOOP, "claude"]).args(runner).arg(home.binary()).args(["hook", "claude"]);
        command.current_dir(repository.path()).env_clear().envs(home.environment());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell starts");
        let orders = child.stdin.take().expect("a pipe");
        let codes = BufReader::new(child.stdout.take().expect("a pipe"));
        let (root, session) = (repository.path().to_owned(), session.to_owned());
        Self { child, orders, codes, scratch, root, session, calls: 0 }
    }

    /// Goes on under another session id, as after `/clear`.
    pub fn resume_as(&mut self, session: &str) {
        session.clone_into(&mut self.session);
    }

    /// Calls the hook with a payload.
    ///
    /// # Panics
    /// If the client is gone.
    pub fn call(&mut self, payload: &Value) -> Answer {
        self.calls += 1;
        let file = |ending: &str| self.scratch.join(format!("{}.{ending}", self.calls));
        let (input, out, err) = (file("in"), file("out"), file("err"));
        fs::write(&input, payload.to_string()).expect("a file");
        writeln!(self.orders, "{}", self.scratch.join(self.calls.to_string()).display()).expect("a reader");
        let mut code = String::new();
        self.codes.read_line(&mut code).expect("an exit code");
        let text = |path: &Path| fs::read_to_string(path).expect("text");
        Answer { code: code.trim().parse().expect("a number"), stdout: text(&out), stderr: text(&err) }
    }

    /// Calls the hook for an event with these fields beside those every event has.
    pub fn event(&mut self, name: &str, fields: &Value) -> Answer {
        let mut payload = json!({
            "session_id": self.session,
            "transcript_path": "/nowhere/transcript.jsonl",
            "cwd": self.root,
            "hook_event_name": name,
        });
        let extra = fields.as_object().cloned().unwrap_or_default();
        payload.as_object_mut().expect("an object").extend(extra);
        self.call(&payload)
    }

    /// Is about to edit a file.
    pub fn before_edit(&mut self, file: &str) -> Answer {
        let path = self.root.join(file);
        let id = format!("toolu_{}_{}", self.session, self.calls);
        self.event(
            "PreToolUse",
            &json!({"tool_name": "Edit", "tool_use_id": id, "tool_input": {"file_path": path, "old_string": "a", "new_string": "b"}}),
        )
    }

    /// Has edited a file.
    pub fn after_edit(&mut self, file: &str) -> Answer {
        let input = json!({"file_path": self.root.join(file), "old_string": "a", "new_string": "b"});
        self.event("PostToolUse", &json!({"tool_name": "Edit", "tool_input": input, "tool_response": {}}))
    }

    /// Dies.
    ///
    /// # Panics
    /// If it cannot be killed.
    pub fn die(mut self) {
        self.child.kill().expect("a process to kill");
        self.child.wait().expect("it ends");
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Killing what is dead already is no error worth telling.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    /// Whether it has no opinion.
    pub fn is_silent(&self) -> bool {
        self.code == 0 && self.stdout.is_empty() && self.stderr.is_empty()
    }

    /// Expects no opinion.
    ///
    /// # Panics
    /// If there is one.
    #[track_caller]
    pub fn silent(&self) {
        assert!(self.is_silent(), "{self:#?}");
    }

    /// Expects a denial: the reason, which is said in every way.
    ///
    /// # Panics
    /// If it is none.
    #[track_caller]
    pub fn denied(&self) -> String {
        assert_eq!(self.code, 2, "{self:#?}");
        let document: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"));
        let output = &document["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], "deny", "{self:#?}");
        let reason = output["permissionDecisionReason"].as_str().expect("a reason").to_owned();
        assert_eq!(self.stderr.trim_end(), reason, "both say the same");
        reason
    }

    /// Expects that it passes and the model is told something: what.
    ///
    /// # Panics
    /// If it does not, or is told nothing.
    #[track_caller]
    pub fn told(&self) -> String {
        assert_eq!(self.code, 0, "{self:#?}");
        let document: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:#?}"));
        let context = document["hookSpecificOutput"]["additionalContext"].as_str();
        context.unwrap_or_else(|| panic!("nothing is told: {self:#?}")).to_owned()
    }
}
