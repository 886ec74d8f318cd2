//! A repository whose git calls our hooks, and those who commit there.

use clearway_testkit::{Clearway, Home, Ran};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

const HOOKS: [&str; 4] = ["prepare-commit-msg", "post-commit", "pre-rebase", "pre-push"];

/// Who commits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// An agent of this name.
    Agent(&'static str),
    /// A client's session.
    Session(&'static str),
    /// Somebody of whom nothing says that it is an agent.
    Person,
}

/// A checkout in which git calls our hooks.
pub(super) struct Stage<'h> {
    pub(super) home: &'h Home,
    pub(super) root: PathBuf,
}

impl<'h> Stage<'h> {
    /// A repository with these files, in which somebody used Clearway before.
    pub(super) fn new(home: &'h Home, files: &[(&str, &str)]) -> Self {
        let repository = home.repository("app", files);
        let stage = Self { home, root: repository.path().to_owned() };
        stage.call_hooks(&stage.root.join(".git/hooks"));
        repository.grant("eve", &["--kind", "name", "build"]);
        stage
    }

    /// The same where what no other hook saw is refused too.
    pub(super) fn strict(&self) {
        self.home.user_config("[git]\nstrict = true\n");
        self.call_hook(&self.root.join(".git/hooks"), "reference-transaction");
    }

    /// Another checkout of the same repository, or another repository.
    pub(super) fn at(&self, root: &Path) -> Self {
        Self { home: self.home, root: root.to_owned() }
    }

    pub(super) fn call_hooks(&self, directory: &Path) {
        std::fs::create_dir_all(directory).expect("a directory");
        HOOKS.iter().for_each(|name| self.call_hook(directory, name));
    }

    pub(super) fn call_hook(&self, directory: &Path, name: &str) {
        let path = directory.join(name);
        let line = format!("#!/bin/sh\nexec {} git-hook {name} \"$@\"\n", self.home.binary().display());
        std::fs::write(&path, line).expect("a file");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    }

    pub(super) fn write(&self, file: &str, text: &str) {
        let path = self.root.join(file);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(path, text).expect("a file");
    }

    pub(super) fn git(&self, line: &str) -> String {
        let output = self.types(Who::Person, line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Somebody types a line of shell.
    pub(super) fn types(&self, who: Who, line: &str) -> Output {
        let mut shell = self.home.shell(&self.root, line);
        match who {
            Who::Agent(name) => drop(shell.env("CLEARWAY_AGENT", name)),
            Who::Session(id) => drop(shell.env("CLAUDE_CODE_SESSION_ID", id)),
            Who::Person => {}
        }
        shell.output().expect("a shell")
    }

    /// The binary, to which git says that it is of this version: hooks are installed otherwise for a newer one.
    pub(super) fn beside_git(&self, version: &str) -> Clearway {
        let directory = self.home.path().join(format!("git-{version}"));
        if !directory.exists() {
            std::fs::create_dir(&directory).expect("a directory");
            let script = format!(
                "#!/bin/sh\nfor word; do if test \"$word\" = version; then echo git version {version}; exit; fi; done\n\
                 PATH=/usr/local/bin:/usr/bin:/bin exec git \"$@\"\n"
            );
            std::fs::write(directory.join("git"), script).expect("a file");
            let mode = std::fs::Permissions::from_mode(0o755);
            std::fs::set_permissions(directory.join("git"), mode).expect("a mode");
        }
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", directory.display());
        self.home.clearway(&self.root).env("PATH", path)
    }

    pub(super) fn grant(&self, agent: &str, words: &[&str]) -> Value {
        self.home.clearway(&self.root).agent(agent).ok(&[&["reserve"], words].concat())
    }

    /// A client's hooks tell of an edit; the file is written in between, if a text is given.
    pub(super) fn edits(&self, session: &str, subagent: Option<&str>, file: &str, text: Option<&str>) {
        let path = self.root.join(file);
        let content = text.unwrap_or_default();
        for event in ["PreToolUse", "PostToolUse"] {
            let mut payload = json!({"session_id": session, "cwd": self.root, "hook_event_name": event,
                "tool_name": "Write", "tool_input": {"file_path": path, "content": content}});
            if let Some(subagent) = subagent {
                payload["agent_id"] = json!(subagent);
            }
            self.hook(&payload).expect(0);
            if let (Some(text), "PreToolUse") = (text, event) {
                self.write(file, text);
            }
        }
    }

    pub(super) fn hook(&self, payload: &Value) -> Ran {
        self.home.clearway(&self.root).run_with(payload.to_string().as_bytes(), &["hook", "claude"])
    }

    pub(super) fn head(&self) -> String {
        self.git("git rev-parse -q --verify HEAD || true")
    }

    pub(super) fn paths_in(&self, commit: &str) -> Vec<String> {
        let shown = self.git(&format!("git show --no-renames --name-only --format= -z {commit}"));
        shown.split('\0').filter(|path| !path.is_empty()).map(str::to_owned).collect()
    }

    pub(super) fn events(&self, kind: &str) -> Vec<Value> {
        let ran = self.home.clearway(&self.root).json(&["events", "--kind", kind]).expect(0);
        ran.lines()
    }

    pub(super) fn leases(&self) -> Vec<String> {
        let listed = self.home.clearway(&self.root).ok(&["leases"]);
        let leases = listed["leases"].as_array().expect("a list");
        leases.iter().map(|lease| lease["pattern"].as_str().expect("a pattern").to_owned()).collect()
    }
}

/// What was said to whoever typed it.
pub(super) fn said(output: &Output) -> String {
    assert!(output.stdout.is_empty() || !String::from_utf8_lossy(&output.stdout).contains("clearway"));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The command of the one hint in an answer.
#[track_caller]
pub(super) fn hinted(said: &str) -> String {
    let (_, hint) = said.split_once("  hint: ").unwrap_or_else(|| panic!("no hint in {said}"));
    assert!(!hint.contains("  hint: "), "one command leads on: {said}");
    let lines: Vec<&str> =
        hint.lines().take_while(|line| !line.starts_with("error: ")).map(str::trim).collect();
    let line = lines.iter().take_while(|line| !line.is_empty()).copied().collect::<Vec<_>>().join(" ");
    let begins = ["clearway ", "git "].iter().filter_map(|word| line.find(&format!(": {word}"))).min();
    let command = &line[begins.unwrap_or_else(|| panic!("no command in {line}")) + 2..];
    // What git itself says follows on a line of its own.
    ["fatal: ", "Not committing"]
        .iter()
        .fold(command, |line, end| line.split(end).next().unwrap_or(line))
        .trim()
        .to_owned()
}
