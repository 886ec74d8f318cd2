//! What is worth saying beside an answer, as data and in words.

use clearway_core::agent::AgentName;
use clearway_core::decide::{Left, Notice, Said, Yielder, held_as_name};
use clearway_core::hint::{self, Hint};
use clearway_core::lease::Mode;
use clearway_core::limits::WAIT_MS_MAX;
use clearway_core::shell;
use clearway_core::time::rounded;
use schemars::JsonSchema;
use serde::Serialize;
use std::cmp::Ordering;

/// Something worth saying beside an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NoticeJson {
    /// `took-over`, `kept`, `yielded`, `changed-hands`, `left-behind`, `waited-for`, `your-turn`, `place-over`, `mail`,
    /// `passed-on`, `written-over`, `wrote-over`, `committed-unchecked`, `asked`, `answered`, `overdue`, `forced`,
    /// `granted`, `taken`, `unkept`, `continued`, `forgot-mail`, `circle`, `halted`, `looping`, `with-subagent`, `still-waited-for`, `lapsed`, `moved-on`, `wait-over`,
    /// `frozen`, `freeze-changed`, `broad`, `needs-broad`, `setting-ignored`, `not-shortened`, `nothing-held`,
    /// `kept-by-command`, `others-by-id`, `unknown-agent`, `is-name`, `taken-as-path`, `held-machine-wide`,
    /// `unreadable-rows`, `ends-at-scope`, `scope-moved`, `scope-replaced`, `scope-inside-another`, `store-nowhere` or
    /// `tail-lost`.
    pub code: String,
    /// The same in words.
    pub message: String,
    /// What it is about.
    pub target: Option<String>,
    /// Whom it is about.
    pub agent: Option<String>,
    /// Which lease it is about.
    pub lease: Option<String>,
    /// How that lease ended: `released` or `expired`.
    pub state: Option<String>,
}

impl NoticeJson {
    /// A notice in words. What it suggests is passed through `meant`, which makes a command mean what the caller means.
    pub fn new(notice: &Notice, meant: impl Fn(Hint) -> Hint) -> Self {
        let suggest = |advice: &str| meant(Hint::from(advice)).to_string();
        let about = |code: &str, target: &str, agent: &AgentName, message: String| Self {
            target: Some(target.to_owned()),
            agent: Some(agent.to_string()),
            ..Self::saying(code, message)
        };
        match notice {
            Notice::TookOver { target, from, is_gone } => {
                let message = match is_gone {
                    true => format!("took over {target} from {from}, which is gone"),
                    false => format!(
                        "{target} was taken from {from}; changes of {from} that are not committed may be in it"
                    ),
                };
                about("took-over", target, from, message)
            }
            Notice::Unkept { target, from, why } => {
                let message = format!(
                    "what {from} has not committed of {target} stays in the file, but could not be kept: {why}"
                );
                about("unkept", target, from, message)
            }
            Notice::Yielded { target, from } => about(
                "yielded",
                target,
                from,
                format!("{from} had no uncommitted change in {target} and made room"),
            ),
            Notice::ChangedHands { target, by } => about(
                "changed-hands",
                target,
                by,
                format!("{by} held {target} since you last did: read it again before you edit it"),
            ),
            Notice::LeftBehind { target, from, left } => {
                let when = match left {
                    Left::Ended => " when its session ended",
                    Left::Halted => " when a person stopped it",
                    Left::Earlier => "",
                };
                let message = format!("changes of {from} in {target} were not committed{when}");
                about("left-behind", target, from, message)
            }
            Notice::WaitedFor { target, by, reason, .. } => {
                let reason = reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
                about("waited-for", target, by, format!("{by} waits for {target}{reason}"))
            }
            Notice::YourTurn { target, left_ms, .. } => {
                let target = target.display();
                let message = format!("{target} is kept for you for another {}", rounded(*left_ms));
                Self { target: Some(target), ..Self::saying("your-turn", message) }
            }
            Notice::PlaceOver { target } => {
                let message =
                    format!("your turn at {target} came and was not taken; you wait for it no more");
                Self { target: Some(target.clone()), ..Self::saying("place-over", message) }
            }
            Notice::Mail(announced) => {
                let more = match announced.count {
                    1 => String::new(),
                    count => format!(" and {} more", count - 1),
                };
                let message = format!("{} wrote to you{more}: {}", announced.from, announced.about);
                Self { agent: Some(announced.from.to_string()), ..Self::saying("mail", message) }
            }
            Notice::PassedOn { target, to, kept } => {
                let kept = kept.map(|number| format!("; what you left there is kept as s{}", number.0));
                let message = format!("{target} made way for {to}{}", kept.unwrap_or_default());
                about("passed-on", target, to, message)
            }
            Notice::Asked { target, by, why, left_ms, .. } => {
                let message = format!("{by} asks for {target} within {}: {why}", rounded(*left_ms));
                about("asked", target, by, message)
            }
            Notice::Answered { target, holder, says } => {
                let said = match says {
                    Said::AfterCommit => "lets go of it with its next commit".to_owned(),
                    Said::Later { left_ms } => format!("needs it for another {}", rounded(*left_ms)),
                    Said::No(reason) => format!("does not let go of it: {reason}"),
                    Said::HandedTo(to) => format!("handed it to {to}, who is asked now"),
                    Said::Outlasted => {
                        format!("did not let go of it in {}; you wait for it no more", rounded(WAIT_MS_MAX))
                    }
                };
                about("answered", target, holder, format!("{target}: {holder} {said}"))
            }
            Notice::Overdue { target, other, is_mine: true, said: Some(said), .. } => {
                let by = match said {
                    Said::Later { .. } => "the time that it said",
                    _ => "its deadline, with a commit",
                };
                about("overdue", target, other, format!("{other} did not let go of {target} by {by}"))
            }
            Notice::Overdue { target, other, is_mine, .. } => {
                let message = match is_mine {
                    true => format!("{other} did not settle your request for {target} in time"),
                    false => format!("the request of {other} for {target} was not settled in time"),
                };
                about("overdue", target, other, message)
            }
            Notice::Forced { target, by, to, reason, kept } => {
                let kept = kept.map(|number| format!("; what you left there is kept as s{}", number.0));
                let whom = if by == to { String::new() } else { format!(" for {to}") };
                let message =
                    format!("{by} took {target} from you{whom}: {reason}{}", kept.unwrap_or_default());
                about("forced", target, by, message)
            }
            Notice::Taken { target, from, kept, is_held } => {
                let how = if *is_held { "is yours" } else { "is kept for you" };
                let kept = kept.map(|number| format!(", also kept as s{}", number.0)).unwrap_or_default();
                let message = format!(
                    "{target} {how}: it was taken from {from}, whose uncommitted changes may be in it{kept}"
                );
                about("taken", target, from, message)
            }
            Notice::ForgotMail { messages } => Self::saying(
                "forgot-mail",
                format!("old messages that are kept no longer, read or not: {messages}"),
            ),
            Notice::Continued { reason } => {
                Self::saying("continued", format!("a person lets you go on: {reason}"))
            }
            Notice::Granted { target, from } => {
                about("granted", target, from, format!("{target} is yours since {from} let go of it"))
            }
            Notice::Circle { target, by, yielder, .. } => {
                let way_out = yielder.as_ref().map(|yielder| match yielder {
                    Yielder::You { held, .. } => {
                        format!("; the least work is lost if you give back {}", held.display())
                    }
                    Yielder::Other { agent, target } => {
                        format!("; the least work is lost if {agent} gives back {target}")
                    }
                });
                let message = format!(
                    "{by} wants {target} while your turn hangs on {by}{}",
                    way_out.unwrap_or_default()
                );
                about("circle", target, by, message)
            }
            Notice::WithSubagent { held, by, .. } => {
                let target = held.display();
                about("with-subagent", &target, by, format!("{by}, which has {target}, is your own subagent"))
            }
            Notice::Halted { reason } => Self::saying("halted", format!("a person stopped you: {reason}")),
            Notice::Looping { times } => {
                Self::saying("looping", format!("the same edit of yours was refused {times} times lately"))
            }
            Notice::StillWaitedFor { target, by, .. } => {
                about("still-waited-for", target, by, format!("{by} waits for {target}"))
            }
            Notice::Kept { target, from, number, .. } => {
                let message = format!("{target} as {from} left it is also kept as s{}", number.0);
                about("kept", target, from, message)
            }
            Notice::WrittenOver { target, by } => {
                let who = by.as_ref().map_or_else(
                    || "by something that no tool call explains".to_owned(),
                    |by| format!("in a tool call of {by}"),
                );
                let message = format!("{target}, which you hold, was written {who}");
                let agent = by.as_ref().map(ToString::to_string);
                Self { target: Some(target.clone()), agent, ..Self::saying("written-over", message) }
            }
            Notice::CommittedUnchecked { target, commit, by } => {
                let by = by.as_ref().map(ToString::to_string);
                let who = by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
                let message =
                    format!("{target}, which you hold, was committed{who} past the check as {commit}");
                Self {
                    target: Some(target.clone()),
                    agent: by,
                    ..Self::saying("committed-unchecked", message)
                }
            }
            Notice::WroteOver { target, holder } => {
                let message = format!("{target}, which {holder} holds, was written while your command ran");
                about("wrote-over", target, holder, message)
            }
            Notice::Lapsed { lease, target, how, held_by } => {
                let state = how.state_word();
                let now = held_by.as_ref().map(|name| format!("; {name} holds it now")).unwrap_or_default();
                let message = format!("lease {lease} on {target} is over by now ({state}){now}");
                Self {
                    target: Some(target.clone()),
                    agent: held_by.as_ref().map(ToString::to_string),
                    lease: Some(lease.to_string()),
                    state: Some(state.to_owned()),
                    ..Self::saying("lapsed", message)
                }
            }
            Notice::MovedOn { lease, target, to } => Self {
                lease: Some(lease.to_string()),
                ..about("moved-on", target, to, format!("{to} holds lease {lease} on {target} by now"))
            },
            Notice::WaitOver { wait } => {
                let message = format!("nobody waits at {wait} any more; see what you hold: clearway leases");
                Self::saying("wait-over", suggest(&message))
            }
            Notice::Frozen { left_ms, reason } => {
                let left = rounded(*left_ms);
                Self::saying("frozen", format!("new edits are stopped for another {left}: {reason}"))
            }
            Notice::FreezeChanged { was_left_ms, left_ms, was_for } => {
                let (was, left) = (rounded(*was_left_ms), rounded(*left_ms));
                let how = match left_ms.cmp(was_left_ms) {
                    Ordering::Less => "shortened",
                    Ordering::Equal => "kept",
                    Ordering::Greater => "lengthened",
                };
                let message =
                    format!("the freeze there was (\"{was_for}\") is {how} from another {was} to {left}");
                Self::saying("freeze-changed", message)
            }
            Notice::Broad { max_ms, makes_way } => {
                let most = rounded(*max_ms);
                let way = match makes_way {
                    true => {
                        "; files in it that you do not change make way for others, unless --strict is added"
                    }
                    false => "",
                };
                Self::saying(
                    "broad",
                    format!("a claim this broad ends {most} after it is granted at the latest{way}"),
                )
            }
            Notice::NeedsBroad { targets, mode, max_ms } => {
                let words: Vec<String> = targets.iter().map(|target| shell::word(target)).collect();
                let shared = if *mode == Mode::Shared { "--shared " } else { "" };
                let claim = suggest(&format!(
                    "a claim of all that lasts {} at most: clearway reserve --broad {shared}{}",
                    rounded(*max_ms),
                    words.join(" ")
                ));
                Self { target: Some(targets.join(" ")), ..Self::saying("needs-broad", claim) }
            }
            Notice::SettingIgnored { key, value, source, kept } => {
                let message = format!(
                    "{key} = {value} from {source} is less safe than {kept} and does not count in an agent's session"
                );
                Self { target: Some((*key).to_owned()), ..Self::saying("setting-ignored", message) }
            }
            Notice::NotShortened { lease, target, left_ms } => {
                let message = format!(
                    "lease {lease} on {target} still ends in {}: a shorter --ttl brings no end nearer; {}",
                    rounded(*left_ms),
                    suggest(&format!("give it back with: clearway release {lease}"))
                );
                let (target, lease) = (Some(target.clone()), Some(lease.to_string()));
                Self { target, lease, ..Self::saying("not-shortened", message) }
            }
            Notice::NothingHeld { target, meant } => {
                let instead = match meant {
                    Some(near) => format!("; did you mean {}?", near.canonical()),
                    None => format!("; {}", suggest("see what you hold: clearway leases")),
                };
                let message = format!("you hold nothing on {target}{instead}");
                Self { target: Some(target.clone()), ..Self::saying("nothing-held", message) }
            }
            Notice::KeptByCommand { lease, target, pid } => {
                let end = pid.map(|pid| format!("; to end it: kill {pid}")).unwrap_or_default();
                let message =
                    format!("lease {lease} on {target} stays: it is given back when its command ends{end}");
                let (target, lease) = (Some(target.clone()), Some(lease.to_string()));
                Self { target, lease, ..Self::saying("kept-by-command", message) }
            }
            Notice::OthersById { target, verb } => {
                let by_id = suggest(&format!(
                    "a lease of somebody else is named by its id, which `leases` lists: clearway {verb} ID --reason TEXT"
                ));
                let message = format!("you hold nothing on {target}; {by_id}");
                Self { target: Some(target.clone()), ..Self::saying("others-by-id", message) }
            }
            Notice::UnknownAgent { name, near } => {
                let meant = match near {
                    Some(near) => format!("; did you mean {near}?"),
                    None => format!("; {}", suggest(hint::AGENTS)),
                };
                Self {
                    agent: Some(name.clone()),
                    ..Self::saying("unknown-agent", format!("no agent here is called {name}{meant}"))
                }
            }
            Notice::IsName(name) => {
                Self { target: Some(name.to_string()), ..Self::saying("is-name", held_as_name(name)) }
            }
            Notice::TakenAsPath { name, is_held } => {
                let named = match is_held {
                    true => "somebody holds the name",
                    false => "it is also the name of a resource",
                };
                let message = format!("{name} was taken for a path; {named}: add --kind name");
                Self { target: Some(name.to_string()), ..Self::saying("taken-as-path", message) }
            }
            Notice::HeldMachineWide(name) => {
                let there = Hint::about_name("see by whom", "--scope machine who", name.as_str()).to_string();
                let message = format!(
                    "{name} is no resource of the machine here, but somebody holds the one that is; {}",
                    suggest(&there)
                );
                Self { target: Some(name.to_string()), ..Self::saying("held-machine-wide", message) }
            }
            Notice::UnreadableRows(rows) => {
                let rows = rows.join(", ");
                let look = suggest("see: clearway doctor");
                Self::saying("unreadable-rows", format!("stored rows cannot be read: {rows}; {look}"))
            }
            Notice::EndsAtScope { target, inner } => {
                let there = suggest(&format!("a scope of its own: clearway -C {} …", shell::word(inner)));
                let message = format!("{target} covers nothing in {inner}, {there}");
                Self { target: Some(target.clone()), ..Self::saying("ends-at-scope", message) }
            }
            Notice::ScopeMoved { from: place, .. }
            | Notice::ScopeReplaced { place }
            | Notice::ScopeInsideAnother { inner: place, .. }
            | Notice::StoreNowhere { directory: place } => {
                let (text, way_out) = notice.about_place().unwrap_or_default();
                let code = match notice {
                    Notice::ScopeMoved { .. } => "scope-moved",
                    Notice::ScopeInsideAnother { .. } => "scope-inside-another",
                    Notice::StoreNowhere { .. } => "store-nowhere",
                    _ => "scope-replaced",
                };
                let message = format!("{text}; {}", suggest(&way_out));
                Self { target: Some(place.clone()), ..Self::saying(code, message) }
            }
            Notice::TailLost { text } => Self::saying("tail-lost", suggest(text)),
        }
    }

    fn saying(code: &str, message: String) -> Self {
        Self { code: code.to_owned(), message, target: None, agent: None, lease: None, state: None }
    }
}
