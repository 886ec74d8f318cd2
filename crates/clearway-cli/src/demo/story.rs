//! The story that `clearway demo` plays. Reading the list is reading the story; nothing here acts.

use super::By;

/// What ada says she does. The flipped byte is one of the event that recorded it.
pub(super) const REASON: &str = "split the lexer";
/// In the words of a step: the lease that was remembered, with its fence of then.
pub(super) const REMEMBERED: &str = "LEASE@FENCE";

/// A few steps that show one thing.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) title: &'static str,
    /// What happens and why, for those who asked for it to be slow.
    pub(super) why: &'static str,
    /// Whether only they see it.
    pub(super) only_slow: bool,
    pub(super) steps: &'static [Step],
}

/// One thing that somebody does, and what has to come of it.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) by: By,
    pub(super) act: Act,
    pub(super) exit_code: i32,
    /// What the output has to say.
    pub(super) says: &'static [&'static str],
}

/// What somebody does.
#[derive(Debug)]
pub(super) enum Act {
    /// Types a command and reads its answer.
    Run(&'static [&'static str]),
    /// Types a command that waits, and goes on; the next step begins when it is seen to wait.
    Start(&'static [&'static str]),
    /// Reads the answer of the command that waited.
    Hear,
    /// Notes the lease on a pattern and its fence, unseen.
    Remember(&'static str),
    /// Kills the process behind a window, with the signal that cannot be caught.
    KillWindow,
    /// Flips a byte of the event that recorded a text, in the files of the store.
    Flip(&'static str),
}

const ADA: By = By::Agent("ada");
const BOB: By = By::Agent("bob");
const CY: By = By::Agent("cy");

const fn step(by: By, act: Act, exit_code: i32, says: &'static [&'static str]) -> Step {
    Step { by, act, exit_code, says }
}

/// Everything, in order.
pub(super) const STORY: &[Scene] = &[
    Scene {
        title: "ada reserves a file and says why",
        why: "An agent reserves what it is about to change. The lease ends after half an hour of \
              silence, so nobody has to clean up after an agent that forgot it.",
        only_slow: false,
        steps: &[step(
            ADA,
            Act::Run(&["reserve", "src/parser.rs", "--reason", REASON]),
            0,
            &["reserved as ada", "src/parser.rs"],
        )],
    },
    Scene {
        title: "bob asks for more than is free, and is told what to do",
        why: "Patterns are compared exactly: src/** meets src/parser.rs. The refusal names the holder, \
              the reason and the next step, which is what an agent without other context needs.",
        only_slow: false,
        steps: &[step(
            BOB,
            Act::Run(&["reserve", "src/**"]),
            1,
            &["error[reservation-held]", "ada (active) holds src/parser.rs", REASON, "--wait 5m"],
        )],
    },
    Scene {
        title: "bob waits, and nobody gets in before him",
        why: "The queue is first come, first served. Nobody holds src/lexer.rs, but cy was not here \
              first: a stream of small requests cannot starve a large one.",
        only_slow: false,
        steps: &[
            step(BOB, Act::Start(&["reserve", "src/**", "--wait", "1m"]), 0, &[]),
            step(
                CY,
                Act::Run(&["reserve", "src/lexer.rs"]),
                1,
                &["others wait for it already", "bob waits for src/** before you"],
            ),
            step(ADA, Act::Run(&["waits"]), 0, &["src/**", "bob"]),
        ],
    },
    Scene {
        title: "ada is done; bob's wait ends by itself",
        why: "A release rings a doorbell. The process that waits takes the lease in a transaction of \
              its own, so a waiter that died meanwhile holds nothing up.",
        only_slow: false,
        steps: &[
            step(ADA, Act::Run(&["release", "src/parser.rs"]), 0, &["released 1 lease as ada"]),
            step(BOB, Act::Hear, 0, &["reserved as bob", "src/**"]),
        ],
    },
    Scene {
        title: "bob hands his lease to ada",
        why: "A hand-over is one transaction: at no moment is the lease free. It keeps its id and gets \
              a new fence, a number that only rises.",
        only_slow: false,
        steps: &[
            step(BOB, Act::Run(&["transfer", "src/**", "--to", "ada"]), 0, &["handed 1 lease to ada as bob"]),
            step(BOB, Act::Run(&["who", "src/parser.rs"]), 0, &["ada"]),
        ],
    },
    Scene {
        title: "a number that is out of date is refused",
        why: "The lease goes to bob and back. A script of ada's that was paused meanwhile still has the \
              old fence: it is refused, because bob may have changed the files.",
        only_slow: true,
        steps: &[
            step(ADA, Act::Remember("src/**"), 0, &[]),
            step(ADA, Act::Run(&["transfer", "src/**", "--to", "bob"]), 0, &["handed 1 lease to bob as ada"]),
            step(BOB, Act::Run(&["transfer", "src/**", "--to", "ada"]), 0, &["handed 1 lease to ada as bob"]),
            step(ADA, Act::Run(&["renew", REMEMBERED]), 4, &["error[stale-fence]"]),
        ],
    },
    Scene {
        title: "a terminal window dies, and what it held is taken over",
        why: "The window is a real terminal with a real process behind it. When that process is killed, \
              its death is proven (same boot, pid and start time), and the next who asks gets the lease at once.",
        only_slow: false,
        steps: &[
            step(
                By::Window,
                Act::Run(&["reserve", "docs/guide.md"]),
                0,
                &["reserved as term", "docs/guide.md"],
            ),
            step(By::Nobody, Act::KillWindow, 0, &[]),
            step(
                BOB,
                Act::Run(&["reserve", "docs/guide.md"]),
                0,
                &["reserved as bob", "took over docs/guide.md"],
            ),
        ],
    },
    Scene {
        title: "everything that happened is in one log, chained by hash",
        why: "Each event carries the hash of the one before. Verifying reads the log from its first \
              event and compares every stored row with what the log says.",
        only_slow: false,
        steps: &[
            step(By::Nobody, Act::Run(&["status"]), 0, &["ada", "bob", "src/**", "docs/guide.md"]),
            step(By::Nobody, Act::Run(&["audit", "verify"]), 0, &["the log is whole"]),
        ],
    },
    Scene {
        title: "one flipped byte is found",
        why: "Somebody changes a single byte in the files of the store, behind clearway's back: one of \
              the event that recorded why ada wanted her file.",
        only_slow: true,
        steps: &[
            step(By::Nobody, Act::Flip(REASON), 0, &[]),
            step(By::Nobody, Act::Run(&["audit", "verify"]), 1, &["error[audit-broken]"]),
        ],
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::Cli;
    use clap::Parser;

    fn steps() -> impl Iterator<Item = &'static Step> {
        STORY.iter().flat_map(|scene| scene.steps)
    }

    #[test]
    fn every_command_of_the_story_can_be_typed() {
        let mut typed = 0;
        for step in steps() {
            if let Act::Run(words) | Act::Start(words) = step.act {
                let line = ["clearway"].iter().chain(words);
                assert!(Cli::try_parse_from(line).is_ok(), "{words:?}");
                typed += 1;
            }
        }
        assert!(typed > 10, "{typed}");
    }

    #[test]
    fn whoever_starts_something_is_heard_before_the_next_starts() {
        let mut waiting = None;
        for step in steps() {
            match step.act {
                Act::Start(_) => assert_eq!(waiting.replace(step.by), None),
                Act::Hear => assert_eq!(waiting.take(), Some(step.by)),
                _ => {}
            }
        }
        assert_eq!(waiting, None);
    }

    #[test]
    fn titles_fit_a_line_and_explanations_are_a_sentence_or_two() {
        for Scene { title, why, .. } in STORY {
            assert!(title.len() <= 72, "{title}");
            assert!(why.ends_with('.') && why.matches(". ").count() <= 2, "{why}");
        }
    }
}
