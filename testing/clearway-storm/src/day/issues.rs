//! Issues that are given to two agents, by people who do not know of each other: how agents come to rewrite one file at
//! one time. Whoever meets by chance only, on files picked at random, hardly ever has anything to lose.

use super::agent::repository_of;

/// When the first issue is given twice, and how many seconds apart the others are.
const FIRST: u64 = 10 * 60;
const APART: u64 = 2 * 3_600;
/// How many seconds ago the other agent may have begun with it.
const AGO_MAX: u64 = 5 * 60;

/// What agents began with.
#[derive(Debug)]
pub(super) struct Issues {
    next: u64,
    begun: Vec<Begun>,
}

#[derive(Debug)]
struct Begun {
    number: usize,
    file: String,
    at: u64,
}

impl Issues {
    pub(super) fn new() -> Self {
        Self { next: FIRST, begun: Vec::new() }
    }

    /// Takes note of what an agent begins a turn with.
    pub(super) fn began(&mut self, number: usize, file: &str, at: u64) {
        self.begun.push(Begun { number, file: file.to_owned(), at });
    }

    /// The file of an issue that an agent of the same repository began with a moment ago, if this one is given it too.
    pub(super) fn given_to(&mut self, number: usize, now: u64) -> Option<String> {
        self.begun.retain(|begun| begun.at + AGO_MAX >= now);
        let is_near =
            |begun: &&Begun| begun.number != number && repository_of(begun.number) == repository_of(number);
        let other = self.begun.iter().rev().find(is_near).filter(|_| now >= self.next)?;
        self.next += APART;
        Some(other.file.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_issue_is_given_to_two_agents_of_one_repository_who_begin_at_one_time() {
        let mut issues = Issues::new();
        issues.began(1, "a.rs", FIRST);
        assert_eq!(issues.given_to(1, FIRST), None, "it has it already");
        assert_eq!(issues.given_to(9, FIRST), None, "another repository");
        assert_eq!(issues.given_to(2, FIRST + AGO_MAX), Some("a.rs".to_owned()));
        assert_eq!(issues.given_to(3, FIRST + AGO_MAX), None, "not so soon again");
        issues.began(1, "b.rs", FIRST + APART);
        assert_eq!(issues.given_to(3, FIRST + APART + AGO_MAX + 1), None, "too long ago");
    }
}
