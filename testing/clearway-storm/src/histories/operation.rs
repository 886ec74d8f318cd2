//! One operation of a history: who asked for what, from when to when, and what came of it.

use crate::stage::Outcome;
use serde_json::{Value, json};

/// One call of the binary.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its number in the history; it marks what it writes, see [`Operation::mark`].
    pub number: u64,
    /// The name of the agent, which makes one operation after the other.
    pub agent: String,
    /// What was asked.
    pub ask: Ask,
    /// When it was started, on the monotonic clock.
    pub invoked_ns: u64,
    /// When its end was seen.
    pub completed_ns: u64,
    /// How it ended.
    pub ended: Ended,
}

/// How an operation ended.
#[derive(Clone, Debug)]
pub enum Ended {
    /// With an answer.
    Answered {
        /// The exit code.
        code: i32,
        /// The answer.
        reply: Value,
    },
    /// Somebody killed it; what it did is not known from it.
    Killed,
}

/// What can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// `reserve`
    Reserve {
        /// On what.
        patterns: Vec<String>,
        /// Whether others may have it too.
        shared: bool,
        /// What becomes of it if it is held.
        how: How,
        /// The silence it allows.
        ttl: String,
    },
    /// `release`
    Release(Which),
    /// `renew`
    Renew(Which),
    /// `transfer`
    Transfer {
        /// What.
        which: Which,
        /// To whom.
        to: String,
    },
    /// `check`
    Check {
        /// On what.
        pattern: String,
        /// Whether others may have it too.
        shared: bool,
    },
    /// `wait --cancel`
    Cancel,
    /// `sweep`
    Sweep,
}

/// What becomes of a reservation that is held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// It is refused.
    Now,
    /// It keeps a place.
    Queue,
    /// It waits so many milliseconds, then keeps the place.
    Wait(u64),
}

/// Which leases are meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// Every one of the caller's.
    All,
    /// One, by `ID@FENCE`.
    One {
        /// The id.
        id: String,
        /// The fence the caller believes in.
        fence: u64,
    },
    /// Those inside a pattern.
    Inside(String),
}

impl Which {
    fn words(&self) -> String {
        match self {
            Self::All => "--all".to_owned(),
            Self::One { id, fence } => format!("{id}@{fence}"),
            Self::Inside(pattern) => pattern.clone(),
        }
    }

    fn read(word: Option<&str>) -> Self {
        let named = word.and_then(|word| word.split_once('@'));
        match (word, named.and_then(|(id, fence)| Some((id, fence.parse().ok()?)))) {
            (None | Some("--all"), _) => Self::All,
            (_, Some((id, fence))) => Self::One { id: id.to_owned(), fence },
            (Some(pattern), None) => Self::Inside(pattern.to_owned()),
        }
    }
}

impl Operation {
    /// The text by which events of this operation are known in the log, where they carry a text at all.
    pub fn mark(&self) -> String {
        mark(self.number)
    }

    /// The answer of a success.
    pub fn success(&self) -> Option<&Value> {
        match &self.ended {
            Ended::Answered { reply, .. } if reply["ok"] == true => Some(reply),
            _ => None,
        }
    }

    /// The error of a failure.
    pub fn failure(&self) -> Option<&Value> {
        match &self.ended {
            Ended::Answered { reply, .. } if reply["ok"] != true => Some(&reply["error"]),
            _ => None,
        }
    }

    /// Whether it was told that the store is busy: on a machine without time for it that is fair, and did nothing.
    pub fn was_busy(&self) -> bool {
        self.failure().is_some_and(|error| error["slug"] == "store-busy")
    }

    /// The revision its answer belongs to.
    pub fn rev(&self) -> Option<u64> {
        self.success().and_then(|reply| reply["rev"].as_u64())
    }

    /// One line of a stored history.
    pub fn line(&self) -> String {
        let (code, reply) = match &self.ended {
            Ended::Answered { code, reply } => (json!(code), reply.clone()),
            Ended::Killed => (json!("killed"), Value::Null),
        };
        json!({
            "number": self.number, "agent": self.agent, "words": self.ask.words(self.number),
            "invoked_ns": self.invoked_ns, "completed_ns": self.completed_ns, "code": code, "reply": reply,
        })
        .to_string()
    }

    /// Reads one line of a stored history.
    pub fn read(line: &str) -> Outcome<Self> {
        let value: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
        let number = |name: &str| value[name].as_u64().ok_or(format!("no {name}: {line}"));
        let words: Vec<&str> =
            value["words"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let ended = match value["code"].as_i64() {
            Some(code) => Ended::Answered {
                code: i32::try_from(code).map_err(|error| error.to_string())?,
                reply: value["reply"].clone(),
            },
            None => Ended::Killed,
        };
        Ok(Self {
            number: number("number")?,
            agent: value["agent"].as_str().ok_or("no agent")?.to_owned(),
            ask: Ask::read(&words).ok_or(format!("cannot read {words:?}"))?,
            invoked_ns: number("invoked_ns")?,
            completed_ns: number("completed_ns")?,
            ended,
        })
    }
}

fn mark(number: u64) -> String {
    format!("op-{number}")
}

impl Ask {
    /// The words of the command line.
    pub fn words(&self, number: u64) -> Vec<String> {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        match self {
            Self::Reserve { patterns, shared, how, ttl } => {
                let mut words = own(&["reserve"]);
                words.extend(patterns.iter().cloned());
                words.extend(shared.then(|| "--shared".to_owned()));
                words.extend(match how {
                    How::Now => Vec::new(),
                    How::Queue => own(&["--queue"]),
                    How::Wait(ms) => vec!["--wait".to_owned(), format!("{ms}ms")],
                });
                words.extend(["--ttl".to_owned(), ttl.clone(), "--reason".to_owned(), mark(number)]);
                words
            }
            Self::Release(which) => own(&["release", &which.words()]),
            Self::Renew(Which::All) => own(&["renew", "--note", &mark(number)]),
            Self::Renew(which) => own(&["renew", &which.words(), "--note", &mark(number)]),
            Self::Transfer { which, to } => own(&["transfer", &which.words(), "--to", to]),
            Self::Check { pattern, shared: true } => own(&["check", pattern, "--shared"]),
            Self::Check { pattern, shared: false } => own(&["check", pattern]),
            Self::Cancel => own(&["wait", "--cancel"]),
            Self::Sweep => own(&["sweep"]),
        }
    }

    /// Reads words that [`Ask::words`] made.
    pub fn read(words: &[&str]) -> Option<Self> {
        let (verb, rest) = words.split_first()?;
        let after =
            |flag: &str| rest.iter().position(|word| *word == flag).and_then(|at| rest.get(at + 1)).copied();
        let plain = rest.iter().take_while(|word| !word.starts_with("--") || **word == "--all");
        let plain: Vec<String> = plain.map(|word| (*word).to_owned()).collect();
        let shared = rest.contains(&"--shared");
        let which = Which::read(plain.first().map(String::as_str));
        Some(match *verb {
            "reserve" => Self::Reserve {
                patterns: plain,
                shared,
                how: match after("--wait") {
                    Some(span) => How::Wait(span.strip_suffix("ms")?.parse().ok()?),
                    None if rest.contains(&"--queue") => How::Queue,
                    None => How::Now,
                },
                ttl: after("--ttl")?.to_owned(),
            },
            "release" => Self::Release(which),
            "renew" => Self::Renew(which),
            "transfer" => Self::Transfer { which, to: after("--to")?.to_owned() },
            "check" => Self::Check { pattern: plain.into_iter().next()?, shared },
            "wait" => Self::Cancel,
            "sweep" => Self::Sweep,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_is_read_back_from_its_words() {
        let one = Which::One { id: "abcdefgh".to_owned(), fence: 7 };
        let patterns = vec!["a".to_owned(), "b/**".to_owned()];
        let reserve =
            |shared, how| Ask::Reserve { patterns: patterns.clone(), shared, how, ttl: "1s".to_owned() };
        for ask in [
            reserve(false, How::Now),
            reserve(true, How::Queue),
            reserve(true, How::Wait(300)),
            Ask::Release(Which::All),
            Ask::Release(Which::Inside("a".to_owned())),
            Ask::Renew(one.clone()),
            Ask::Renew(Which::All),
            Ask::Transfer { which: one, to: "bob".to_owned() },
            Ask::Check { pattern: "a".to_owned(), shared: true },
            Ask::Cancel,
            Ask::Sweep,
        ] {
            let words = ask.words(3);
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            assert_eq!(Ask::read(&words), Some(ask));
        }
    }
}
