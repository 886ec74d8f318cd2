//! A process that calls the whole command line again and again, from words to document: everything that the binary does
//! but its start, and with the store left open in between. It is this program in another role, so that a history can be
//! long; the binary itself is started for the share of calls that [`crate::histories`] says.

use crate::stage::{Outcome, Stage};
use clearway::Machine;
use clearway_cli::Streams;
use clearway_core::fold::State;
use clearway_core::ids::{ScopeKey, Seq};
use clearway_platform::environment::Environment;
use clearway_store::contract::{
    Capabilities, Engine, Examination, Head, Holder, Snapshot, StoreError, Transaction,
};
use clearway_store_sqlite::{Settings, SqliteEngine};
use serde_json::Value;
use std::cell::RefCell;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// Calls as it is told, a line of words each, until there are no more; answers with a line of exit code and document.
pub fn serve() -> Outcome<String> {
    for line in std::io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let words: Vec<String> = serde_json::from_str(&line).map_err(|error| format!("{line}: {error}"))?;
        let answer = call(words);
        std::io::stdout().lock().write_all(answer.as_bytes()).map_err(|error| error.to_string())?;
        std::io::stdout().lock().flush().map_err(|error| error.to_string())?;
    }
    Ok(String::new())
}

fn call(words: Vec<String>) -> String {
    let arguments: Vec<OsString> =
        std::iter::once("clearway".to_owned()).chain(words).map(OsString::from).collect();
    let mut machine = Machine::new(Environment::capture(), lend);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let code = {
        let mut streams = Streams { stdout: &mut stdout, stderr: &mut stderr };
        clearway_cli::run(arguments, &mut machine, &mut streams)
    };
    format!("{code} {}\n", String::from_utf8_lossy(&stdout).trim_end())
}

/// One of them, from outside.
#[derive(Debug)]
pub(crate) struct Resident {
    process: Child,
    orders: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Resident {
    pub(crate) fn start(stage: &Stage, storm: &Path) -> Outcome<Self> {
        let mut command = stage.in_its_place(storm);
        command.arg("resident").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().map_err(|error| format!("a resident does not start: {error}"))?;
        let orders = process.stdin.take().ok_or("a resident does not listen")?;
        let answers = process.stdout.take().map(BufReader::new).ok_or("a resident is not heard")?;
        Ok(Self { process, orders, answers })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Has it make a call.
    pub(crate) fn ask(&mut self, words: &[&str]) -> Outcome<()> {
        let line = serde_json::to_string(words).map_err(|error| error.to_string())? + "\n";
        self.orders.write_all(line.as_bytes()).map_err(|error| format!("a resident is gone: {error}"))
    }

    /// The exit code and the document; `None` if it died before it had said all of it.
    pub(crate) fn hear(&mut self) -> Outcome<Option<(i32, Value)>> {
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(|error| error.to_string())?;
        let Some((code, document)) = line.strip_suffix('\n').and_then(|line| line.split_once(' ')) else {
            return Ok(None);
        };
        let code = code.parse().map_err(|error| format!("a resident says {line:?}: {error}"))?;
        Ok(Some((code, serde_json::from_str(document).unwrap_or(Value::Null))))
    }
}

impl Drop for Resident {
    /// It may have been killed already.
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

thread_local! {
    /// The engine of the call before.
    static SHELF: RefCell<Option<SqliteEngine>> = const { RefCell::new(None) };
}

/// The engine of the call before, if it was set up alike; it is put back when the call is over.
fn lend(settings: Settings) -> Box<dyn Engine> {
    let kept = SHELF.take().filter(|engine| engine.settings().timeout == settings.timeout);
    Box::new(Lent(Some(kept.unwrap_or_else(|| SqliteEngine::new(settings)))))
}

#[derive(Debug)]
struct Lent(Option<SqliteEngine>);

impl Lent {
    fn own(&mut self) -> &mut SqliteEngine {
        self.0.as_mut().expect("it is there until it is put back")
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        SHELF.replace(self.0.take());
    }
}

impl Engine for Lent {
    fn capabilities(&self) -> Capabilities {
        self.0.as_ref().expect("it is there until it is put back").capabilities()
    }

    fn begin(
        &mut self,
        scope: &ScopeKey,
        create: bool,
    ) -> Result<Option<Box<dyn Transaction + '_>>, StoreError> {
        self.own().begin(scope, create)
    }

    fn snapshot(&mut self, scope: &ScopeKey) -> Result<Option<Box<dyn Snapshot + '_>>, StoreError> {
        self.own().snapshot(scope)
    }

    fn scopes(&mut self) -> Result<Vec<ScopeKey>, StoreError> {
        self.own().scopes()
    }

    fn has(&mut self, scope: &ScopeKey) -> Result<bool, StoreError> {
        self.own().has(scope)
    }

    fn alias(&mut self, key: &ScopeKey) -> Result<Option<ScopeKey>, StoreError> {
        self.own().alias(key)
    }

    fn adopt(&mut self, key: &ScopeKey, scope: &ScopeKey, rev: Seq) -> Result<Option<String>, StoreError> {
        self.own().adopt(key, scope, rev)
    }

    fn changed(&mut self, scope: &ScopeKey, after: Seq, wait_ms: u64) -> Result<bool, StoreError> {
        self.own().changed(scope, after, wait_ms)
    }

    fn examine(&mut self, scope: &ScopeKey) -> Result<Examination, StoreError> {
        self.own().examine(scope)
    }

    fn writers(&mut self, scope: &ScopeKey) -> Result<Vec<Holder>, StoreError> {
        self.own().writers(scope)
    }

    fn witness(&mut self, scope: &ScopeKey) -> Result<Option<Head>, StoreError> {
        self.own().witness(scope)
    }

    fn make_room(&mut self, scope: &ScopeKey) -> Result<bool, StoreError> {
        self.own().make_room(scope)
    }

    fn flush(&mut self, scope: &ScopeKey) -> Result<(), StoreError> {
        self.own().flush(scope)
    }

    fn rebuild(&mut self, scope: &ScopeKey, state: &State) -> Result<(), StoreError> {
        self.own().rebuild(scope, state)
    }
}
