//! Which process is a client's, by what processes are called.

use super::Client;
use crate::facts::Process;

/// A process above the caller, and what it is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Above {
    /// The process.
    pub process: Process,
    /// The short name of its command.
    pub command: String,
}

/// The process of the client that started a hook, among those above it, nearest first. `told_pid` is what the client
/// itself says its number is.
///
/// The death of this process ends what its agent holds, so a wrong one is worse than none: only shells may stand
/// between it and the hook, and it has to be called like the client or like what runs it.
pub fn client_process(client: Client, above: &[Above], told_pid: Option<u32>) -> Option<&Process> {
    if let Some(told) = above.iter().find(|above| Some(above.process.pid) == told_pid) {
        return Some(&told.process);
    }
    let nearest = above.iter().find(|above| !SHELLS.contains(&above.command.as_str()))?;
    let mut names = client.commands().iter().chain(&RUNTIMES);
    names.any(|name| *name == nearest.command).then_some(&nearest.process)
}

/// Whether looking at processes further above a hook can change which one its client is.
pub fn needs_more_above(above: &[Above], told_pid: Option<u32>) -> bool {
    let Some(last) = above.last() else { return true };
    match told_pid {
        Some(told) => last.process.pid != told,
        None => SHELLS.contains(&last.command.as_str()),
    }
}

impl Client {
    /// The client that a process is, by the short name of its command and, for what runs scripts, that of its script.
    pub fn running_as(command: &str, script: Option<&str>) -> Option<Self> {
        let name = if RUNTIMES.contains(&command) { script? } else { command };
        // Anything may be called an agent.
        Self::ALL.into_iter().find(|client| name != "agent" && client.commands().contains(&name))
    }
}

/// Shells that a client starts a hook through.
const SHELLS: [&str; 8] = ["sh", "bash", "dash", "zsh", "ash", "ksh", "fish", "busybox"];
/// What clients without a binary of their own are run by.
const RUNTIMES: [&str; 5] = ["node", "node-MainThread", "MainThread", "bun", "deno"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_known_by_its_command_or_by_the_script_that_is_run() {
        for (command, script, expect) in [
            ("claude", None, Some(Client::ClaudeCode)),
            ("node", Some("gemini"), Some(Client::Gemini)),
            ("node", Some("server.js"), None),
            ("node", None, None),
            ("agent", None, None),
            ("vim", Some("claude"), None),
        ] {
            assert_eq!(Client::running_as(command, script), expect, "{command} {script:?}");
        }
    }

    fn above(pid: u32, command: &str) -> Above {
        let text = |text: &str| text.to_owned();
        let process = Process {
            host: text("h"),
            boot: text("b"),
            pid_namespace: text("n"),
            pid,
            start: u64::from(pid),
        };
        Above { process, command: text(command) }
    }

    #[test]
    fn a_clients_process_is_the_first_above_the_shells_if_it_is_called_like_one() {
        let check = |client, names: &[&str], told: Option<u32>, expect: Option<u32>| {
            let above: Vec<Above> = names.iter().zip(1..).map(|(name, pid)| above(pid, name)).collect();
            let found = client_process(client, &above, told).map(|process| process.pid);
            assert_eq!(found, expect, "{client:?} {names:?} {told:?}");
        };
        check(Client::ClaudeCode, &["claude", "zsh"], None, Some(1));
        check(Client::Codex, &["sh", "codex", "node"], None, Some(2));
        check(Client::Gemini, &["bash", "sh", "node-MainThread"], None, Some(3));
        check(Client::Codex, &["timeout", "codex"], None, None);
        check(Client::Codex, &["claude"], None, None);
        check(Client::ClaudeCode, &["wrapper", "anything"], Some(2), Some(2));
        check(Client::ClaudeCode, &["wrapper", "anything"], Some(9), None);
        check(Client::Cursor, &[], None, None);
    }

    #[test]
    fn nobody_looks_further_up_than_the_client() {
        let more = |names: &[&str], told: Option<u32>| {
            let above: Vec<Above> = names.iter().zip(1..).map(|(name, pid)| above(pid, name)).collect();
            needs_more_above(&above, told)
        };
        assert!(more(&[], None) && more(&["sh", "bash"], None) && more(&["claude"], Some(2)));
        assert!(!more(&["sh", "codex"], None) && !more(&["timeout"], None) && !more(&["x", "y"], Some(2)));
    }
}
