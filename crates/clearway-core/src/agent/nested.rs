//! Which session is meant where the environment names several, as when one agent starts another.

use super::ClientSession;

/// A session that the environment names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSession {
    /// The variable that names it.
    pub variable: &'static str,
    /// The session.
    pub session: ClientSession,
}

/// The innermost of sessions that the environment names at once, as when one agent starts another. `above` tells for
/// the processes above, nearest first, which of the variables they were started with.
///
/// A client gives its variable to what it starts and was itself started without it, so the first process that lacks
/// one of them lacks the innermost. Where it lacks several, or none lacks any, nothing is told.
pub fn innermost<'a>(named: &'a [NamedSession], above: &[Vec<&'static str>]) -> Option<&'a NamedSession> {
    if let [only] = named {
        return Some(only);
    }
    let lacks = |started_with: &Vec<&str>, one: &NamedSession| !started_with.contains(&one.variable);
    let outer = above.iter().find(|started_with| named.iter().any(|one| lacks(started_with, one)))?;
    let mut missing = named.iter().filter(|one| lacks(outer, one));
    missing.next().filter(|_| missing.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::Client;

    fn named(variable: &'static str, client: Client) -> NamedSession {
        NamedSession {
            variable,
            session: ClientSession { client, session: "s".to_owned(), subagent: None, process: None },
        }
    }

    #[test]
    fn of_nested_sessions_the_one_that_outer_processes_lack_is_the_innermost() {
        let all = [named("A", Client::ClaudeCode), named("B", Client::Codex), named("C", Client::Gemini)];
        let check = |named: &[NamedSession], above: &[&[&'static str]], expect: Option<&str>| {
            let above: Vec<Vec<&'static str>> = above.iter().map(|names| names.to_vec()).collect();
            assert_eq!(innermost(named, &above).map(|one| one.variable), expect, "{above:?}");
        };
        check(&all[..1], &[], Some("A"));
        check(&all[..2], &[&["A", "B"], &["A"], &[]], Some("B"));
        check(&all[..2], &[&["B"], &[]], Some("A"));
        check(&all, &[&["A", "C"], &["C"], &[]], Some("B"));
        check(&all[..2], &[&["A", "B"], &[]], None);
        check(&all[..2], &[&["A", "B"]], None);
        check(&all[..2], &[], None);
        check(&[], &[&["A"]], None);
    }
}
