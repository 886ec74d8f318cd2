//! What the model does: tool calls one after the other, in words that every client has a tool for.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One tool call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Call {
    /// Reads a file.
    Read {
        /// Its path in the repository.
        file: String,
    },
    /// Replaces one line of a file that exists.
    Edit {
        /// Its path in the repository.
        file: String,
        /// The line.
        old: String,
        /// What takes its place.
        new: String,
    },
    /// Writes a file that does not exist.
    Create {
        /// Its path in the repository.
        file: String,
        /// Its one line.
        line: String,
    },
    /// Runs a command in the client's shell.
    Shell {
        /// The command.
        command: String,
    },
    /// Applies a patch in Codex's form, which no other client has a tool for.
    Patch {
        /// What stands between its beginning and its end.
        hunks: String,
    },
    /// Has a subagent do something, and waits for it.
    Delegate {
        /// What it is told, which no other subagent is.
        task: String,
        /// What it does.
        calls: Vec<Call>,
    },
}

/// Something a test does while the client waits for its model.
type Act<'t> = Box<dyn FnOnce() + Send + 't>;

/// The calls of a model, and what happens between them.
#[derive(Default)]
pub struct Script<'t> {
    calls: Vec<Call>,
    /// What happens before the call of this number, or at the end.
    acts: Mutex<BTreeMap<usize, Act<'t>>>,
}

impl fmt::Debug for Script<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.calls).finish()
    }
}

impl<'t> Script<'t> {
    /// Reads a file.
    #[must_use]
    pub fn read(self, file: &str) -> Self {
        self.then(Call::Read { file: file.to_owned() })
    }

    /// Replaces one line of a file that exists.
    #[must_use]
    pub fn edit(self, file: &str, old: &str, new: &str) -> Self {
        let [file, old, new] = [file, old, new].map(str::to_owned);
        self.then(Call::Edit { file, old, new })
    }

    /// Writes a file that does not exist.
    #[must_use]
    pub fn create(self, file: &str, line: &str) -> Self {
        self.then(Call::Create { file: file.to_owned(), line: line.to_owned() })
    }

    /// Runs a command in the client's shell.
    #[must_use]
    pub fn shell(self, command: &str) -> Self {
        self.then(Call::Shell { command: command.to_owned() })
    }

    /// Applies a patch in Codex's form: what stands between its beginning and its end.
    #[must_use]
    pub fn patch(self, hunks: &str) -> Self {
        self.then(Call::Patch { hunks: hunks.to_owned() })
    }

    /// Has a subagent do what this script does, and waits for it.
    #[must_use]
    pub fn delegate(self, task: &str, script: Script<'_>) -> Self {
        assert!(script.acts().is_empty(), "nothing happens between the calls of a subagent");
        self.then(Call::Delegate { task: task.to_owned(), calls: script.calls })
    }

    /// The test acts here, while the client waits for its model.
    #[must_use]
    pub fn meanwhile(self, act: impl FnOnce() + Send + 't) -> Self {
        let before = self.acts().insert(self.calls.len(), Box::new(act));
        assert!(before.is_none(), "one act between two calls");
        self
    }

    fn then(mut self, call: Call) -> Self {
        self.calls.push(call);
        self
    }

    /// How many calls there are.
    pub(crate) fn len(&self) -> usize {
        self.calls.len()
    }

    /// The calls of the subagent that was told this, if any was, and which of the script's calls had it told.
    pub(crate) fn subagent(&self, told: &str) -> Option<(usize, &[Call])> {
        self.calls.iter().enumerate().find_map(|(number, call)| match call {
            Call::Delegate { task, calls } if told.contains(task) => Some((number, calls.as_slice())),
            _ => None,
        })
    }

    /// The call of this number, after what happens before it; `None` when all are done. What happens does so once,
    /// however often the client asks.
    pub(crate) fn turn(&self, number: usize) -> Option<&Call> {
        let act = self.acts().remove(&number);
        if let Some(act) = act {
            act();
        }
        self.calls.get(number)
    }

    fn acts(&self) -> MutexGuard<'_, BTreeMap<usize, Act<'t>>> {
        self.acts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
