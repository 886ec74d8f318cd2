//! One session of a client, from its start to its end.

use crate::endpoint::Endpoint;
use crate::{Hooks, Installed, PROMPT, RealClient, Script, Start, install, shown};
use clearway_testkit::{Home, Repository, process, within};
use serde_json::Value;
use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// How long a session may take. On a machine with nothing else to do it is two seconds.
const PATIENCE: Duration = Duration::from_secs(120);
/// Nobody listens there: what a client sends elsewhere than to its model goes nowhere.
const NOWHERE: &str = "http://127.0.0.1:9";

/// What came of a session.
#[derive(Clone, Debug)]
pub struct Played {
    /// What the model was shown as the result of each call.
    pub results: Vec<String>,
    /// Every text the model was shown at each of its turns, results included.
    turns: Vec<String>,
}

/// Lets a client work in a repository, as its model says, until it ends.
///
/// # Panics
/// If the client cannot be had, does not end by itself, fails, or did not play the whole script.
#[track_caller]
pub fn play(
    client: &'static RealClient,
    home: &Home,
    repository: &Repository<'_>,
    script: Script<'_>,
) -> Played {
    Stage { client, home, root: repository.path(), start: Start::Anew }.play_all(script)
}

/// Lets a client go on with its last session in a repository. The script is that of both, from the beginning.
///
/// # Panics
/// As [`play`] does.
#[track_caller]
pub fn resume(
    client: &'static RealClient,
    home: &Home,
    repository: &Repository<'_>,
    script: Script<'_>,
) -> Played {
    Stage { client, home, root: repository.path(), start: Start::Resumed }.play_all(script)
}

/// Lets a client work in a repository until the script has it killed.
///
/// # Panics
/// If the client cannot be had, or ends otherwise.
#[track_caller]
pub fn play_to_death(
    client: &'static RealClient,
    home: &Home,
    repository: &Repository<'_>,
    script: Script<'_>,
) {
    let stage = Stage { client, home, root: repository.path(), start: Start::Anew };
    let (status, _) = stage.play(script);
    assert!(!status.success(), "it ended by itself\n{}", stage.said());
}

/// A request's texts, without the tools it offers.
fn conversation(turn: &Value) -> String {
    let mut turn = turn.clone();
    turn["tools"] = Value::Null;
    shown::text(&turn)
}

impl Played {
    /// The number of the first turn at which the model was shown this text: how many calls it had made by then.
    pub fn turn_of(&self, text: &str) -> Option<usize> {
        self.turns.iter().position(|turn| turn.contains(text))
    }
}

/// Where a client is started.
struct Stage<'t> {
    client: &'static RealClient,
    home: &'t Home,
    root: &'t Path,
    start: Start,
}

impl Stage<'_> {
    #[track_caller]
    fn play_all(&self, script: Script<'_>) -> Played {
        let calls = script.len();
        let (status, turns) = self.play(script);
        assert!(status.success(), "{status}\n{}", self.said());
        let last = turns.last().unwrap_or_else(|| panic!("the model was never asked\n{}", self.said()));
        let results = (self.client.results)(last);
        assert_eq!(results.len(), calls, "the whole script was played: {results:#?}\n{}", self.said());
        Played { results, turns: turns.iter().map(conversation).collect() }
    }

    /// How the client ended, and every request for a turn of its model.
    fn play(&self, script: Script<'_>) -> (ExitStatus, Vec<Value>) {
        let installed = install::ready().unwrap_or_else(|why| panic!("{why}"));
        let endpoint = Endpoint::open(self.client, script, self.root).expect("a port on loopback");
        let status = std::thread::scope(|scope| {
            let _closing = Closing(&endpoint);
            scope.spawn(|| endpoint.serve(scope));
            let mut session = self.start(&installed, &endpoint.url());
            within(PATIENCE, "the client ends its session", || {
                let ended = session.child.try_wait().expect("a child");
                endpoint.broken().map(|why| resume_unwind(why)).or(ended)
            })
        });
        (status, endpoint.finish())
    }

    fn start(&self, installed: &Installed, url: &str) -> Session {
        let program = [installed.module(self.client.program)];
        let mut command = self.home.program(self.root, installed.node(), &program);
        command.args((self.client.words)(self.start)).arg(PROMPT);
        let hooks = Hooks { client: self.client.client, binary: self.home.path().join("bin/clearway") };
        (self.client.configure)(&self.home.path().join("home"), &hooks, url);
        command.envs((self.client.variables)(url));
        command.envs([("HTTP_PROXY", NOWHERE), ("HTTPS_PROXY", NOWHERE), ("NO_PROXY", "127.0.0.1")]);
        // Most of a client's time is spent on reading its own code.
        command.env("NODE_COMPILE_CACHE", installed.directory().join("compiled"));
        command.stdout(self.file("stdout")).stderr(self.file("stderr"));
        Session::start(command)
    }

    fn file(&self, name: &str) -> File {
        File::create(self.log(name)).expect("a file")
    }

    fn log(&self, name: &str) -> PathBuf {
        self.home.path().join("tmp").join(format!("{}.{name}", self.client.name()))
    }

    /// What the client told its person.
    fn said(&self) -> String {
        let text = |name: &str| fs::read_to_string(self.log(name)).unwrap_or_default();
        format!("--- stdout\n{}\n--- stderr\n{}", text("stdout"), text("stderr"))
    }
}

/// A client that runs. Dropped before its end, it and everything it started is killed.
struct Session {
    child: Child,
}

impl Session {
    fn start(mut command: Command) -> Self {
        Self { child: command.process_group(0).spawn().expect("the client starts") }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            process::kill_group(self.child.id());
            // It was killed; how it ended is no news.
            let _ = self.child.wait();
        }
    }
}

/// Closes the endpoint however a session ends, or its server would be waited for without end.
struct Closing<'e, 't>(&'e Endpoint<'t>);

impl Drop for Closing<'_, '_> {
    fn drop(&mut self) {
        self.0.close();
    }
}
