//! `clearway hook CLIENT [EVENT]`: what a client's hook asks, decided once and answered in that client's dialect.
//!
//! Payload in, canonical event, one call of the kernel for each scope touched, verdict, dialect out. Every step but the
//! call is pure. Whatever goes wrong here is no reason to keep an agent from its work: it ends without an opinion and
//! with a line on standard error, and never with a panic or an exit code that a client takes for a denial.

mod command;
pub(crate) mod event;
mod patch;
pub(crate) mod payload;
pub(crate) mod reply;
mod surrogates;
mod texts;
mod tools;
mod typed;

use crate::clients::{self, Dialect, named};
use crate::setup::githooks::lapse;
use crate::{Host, OnBehalf, Spent, Streams};
use clearway_core::agent::ClientSession;
use clearway_core::failure::Failure;
use clearway_core::limits::HOOK_GIT_MS_MAX;
use clearway_core::slug::Slug;
use clearway_core::text::shown;
use clearway_kernel::config::Enforcement;
use clearway_kernel::{
    Answers, CallEnd, Doing, Hook, HookCall, Noted, Outage, Ruling, attend, before_edit, company,
    destroyed_by, fields_of_tool, foreseen_at_rest, keep_changed, keep_for_later, kept_for_now,
    may_be_invited, note_call, outage, told_before, was_told_before,
};
use command::Shell;
use event::{Act, Event, Moment};
use reply::{Reply, Told, Verdict};
use serde_json::Value;
use std::ffi::OsString;
use std::time::Duration;
use typed::Typed;

/// Bytes of a payload. A client sends the whole text of a file that is to be written.
const PAYLOAD_BYTES_MAX: usize = 32 * 1_024 * 1_024;
/// How long a client may take to send it.
const PAYLOAD_WAIT: Duration = Duration::from_secs(2);
/// What a client takes for a failed hook, and not for a denial.
pub(crate) const NOT_RUN: u8 = 1;

/// The verb.
pub(crate) const VERB: &str = "hook";

/// The words after the verb, if the line is a plain call of a hook; anything else is left to the whole parser.
pub(crate) fn plain(arguments: &[OsString]) -> Option<&[OsString]> {
    let words = arguments.get(2..)?;
    let is_plain = |word: &OsString| !word.as_encoded_bytes().starts_with(b"-");
    (arguments[1] == VERB && !words.is_empty() && words.iter().all(is_plain)).then_some(words)
}

/// Answers a call and returns the exit code.
pub(crate) fn run(words: &[OsString], host: &mut dyn Host, streams: &mut Streams<'_>) -> u8 {
    let reply = answer(words, host);
    // A client that went away while we decided has nobody left to be told.
    let _ = streams.stdout.write_all(reply.stdout.as_bytes()).and_then(|()| streams.stdout.flush());
    let _ = streams.stderr.write_all(reply.stderr.as_bytes());
    reply.code
}

fn answer(words: &[OsString], host: &mut dyn Host) -> Reply {
    let [client, rest @ ..] = words else { return not_run("name a client") };
    let Some(dialect) = client.to_str().and_then(named) else {
        return not_run(&format!("no client is called {}", shown(&client.to_string_lossy())));
    };
    if host.surroundings().stdin_is_terminal {
        return not_run("a client calls this, with its payload on standard input");
    }
    let event = rest.first().and_then(|word| word.to_str());
    match payload(host) {
        Ok(payload) => {
            let payload_ms = host.spent().total_ms;
            respond(dialect, &payload, event, host, payload_ms)
        }
        Err(why) => Reply::aside(&format!("nothing was checked: {why}")),
    }
}

fn not_run(why: &str) -> Reply {
    let clients = clients::names();
    let usage = format!("usage: clearway hook CLIENT [EVENT], where CLIENT is one of {}", clients.join(", "));
    Reply { code: NOT_RUN, ..Reply::aside(&format!("{why}; {usage}")) }
}

fn payload(host: &mut dyn Host) -> Result<Value, String> {
    let bytes = host.input(PAYLOAD_BYTES_MAX, PAYLOAD_WAIT).map_err(|failure| failure.message)?;
    let value = surrogates::read(&bytes).map_err(|error| format!("no JSON: {error}"))?;
    if value.is_object() { Ok(value) } else { Err("the payload is no JSON object".to_owned()) }
}

fn respond(
    dialect: &'static Dialect,
    payload: &Value,
    event: Option<&str>,
    host: &mut dyn Host,
    payload_ms: u64,
) -> Reply {
    let speaker = dialect.speaker(payload, &host.surroundings().variables);
    let event = payload::read(speaker.client, &speaker.words, payload, event);
    let Some(call) = call(dialect, &event, host) else { return Reply::default() };
    if let Some(rewritten) = carried_out(dialect, &event, &call, host) {
        return rewritten;
    }
    host.hurry(HOOK_GIT_MS_MAX);
    let event = contained(|| configured(&event, &call, host)).unwrap_or(event);
    // What there is to say beside can wait for the next call; that nothing is checked cannot.
    let has_room = has_room(&event, &call, host);
    let judged = contained(|| judge(dialect, &event, &HookCall { hears: has_room, ..call.clone() }, host));
    let verdict = match &judged {
        Ok(judged) => heard(dialect, &event, &call, host, judged.verdict.clone()),
        Err(failure) => unchecked(dialect, &event, &call, host, failure),
    };
    let reply = dialect.render(&event, &verdict);
    let (what, bytes) = said(&verdict, &reply);
    if let (Moment::BeforeTool(_), Noted::Told, Some(tool_use)) = (&event.moment, what, &event.tool_use) {
        told_before(host, &call, tool_use);
    }
    let what = if judged.as_ref().is_ok_and(|judged| judged.lets_pass) { Noted::LetPass } else { what };
    let spent = host.spent();
    let failed = judged.as_ref().map_or_else(|failure| Some(failure.slug), |judged| judged.failed);
    let failed = failed.map(Slug::as_str);
    let cause = failed.unwrap_or_else(|| longest(spent, payload_ms));
    let end = CallEnd { what, bytes, ms: spent.total_ms, cause };
    let answers = judged.as_ref().ok().map(|judged| &judged.answers);
    // Notes are no reason to keep anybody from an answer.
    let _ = contained(|| {
        note_call(host, &call, answers, &end);
        Ok(())
    });
    reply
}

/// Whether the model hears what is said now, and was told nothing yet of this very tool call.
fn has_room(event: &Event, call: &HookCall, host: &mut dyn Host) -> bool {
    let tool_use = event.tool_use.as_deref().filter(|_| matches!(event.moment, Moment::AfterTool(_)));
    call.hears && !tool_use.is_some_and(|tool_use| was_told_before(host, call, tool_use))
}

/// What there is to know of an edit, told when the model hears it: before the call, or else after it.
fn heard(
    dialect: &Dialect,
    event: &Event,
    call: &HookCall,
    host: &mut dyn Host,
    verdict: Verdict,
) -> Verdict {
    let (before, is_over) = match &event.moment {
        Moment::BeforeTool(Act::Edit(_)) => (event.clone(), false),
        Moment::AfterTool(act @ Act::Edit(_)) => {
            (Event { moment: Moment::BeforeTool(act.clone()), ..event.clone() }, true)
        }
        _ => return verdict,
    };
    if dialect.hears(&before) {
        return verdict;
    }
    match verdict {
        Verdict::Tell(Told { model: Some(text), .. }) if !is_over => {
            keep_for_later(host, call, &text);
            Verdict::Silent
        }
        verdict if is_over => match (kept_for_now(host, call), verdict) {
            (Some(kept), Verdict::Tell(Told { model: Some(text), person })) => {
                Verdict::Tell(Told { model: Some(format!("{kept}\n{text}")), person })
            }
            (Some(kept), Verdict::Silent) => tell(Some(kept)),
            (_, verdict) => verdict,
        },
        verdict => verdict,
    }
}

/// What was said, and how much of it the model has to read.
fn said(verdict: &Verdict, reply: &Reply) -> (Noted, u64) {
    let bytes = |text: &str| u64::try_from(text.len()).unwrap_or(u64::MAX);
    match verdict {
        Verdict::Deny(reason) | Verdict::Stop(reason) => (Noted::Refused, bytes(reason)),
        Verdict::Hold(text) => (Noted::Told, bytes(text)),
        Verdict::Tell(Told { model: Some(model), .. }) if !reply.stdout.is_empty() => {
            (Noted::Told, bytes(model))
        }
        Verdict::Tell(_) | Verdict::Silent => (Noted::Silent, 0),
    }
}

/// What a call waited for longest.
fn longest(spent: Spent, payload_ms: u64) -> &'static str {
    let asking_ms = spent.asking_ms;
    let store_ms = spent.total_ms.saturating_sub(payload_ms).saturating_sub(asking_ms);
    let spans = [(payload_ms, "payload"), (asking_ms, "git"), (store_ms, "store")];
    spans.into_iter().max_by_key(|(ms, _)| *ms).map_or("store", |(_, cause)| cause)
}

/// A command of ours in a shell that may have no way to the store, carried out here; the shell prints the answer. Where
/// nobody invited us nothing is done by a hook, and the command is the shell's as any other. No
/// payload tells of a sandbox: `permission_mode` is about who is asked, and bypasses questions in a sandbox too.
fn carried_out(dialect: &Dialect, event: &Event, call: &HookCall, host: &mut dyn Host) -> Option<Reply> {
    let (Moment::BeforeTool(Act::Shell(command)), Some(rewrite)) = (&event.moment, dialect.rewrite) else {
        return None;
    };
    let Typed { words, directory } = typed::read(command)?;
    let place = directory.map_or_else(|| call.cwd.clone(), |directory| call.cwd.join(directory));
    if !may_be_invited(host, call, &place) {
        return None;
    }
    let hook = Hook { session: call.session.clone(), hears: false, forks: false, earlier: Vec::new() };
    let agent = OnBehalf { hook, cwd: call.cwd.clone(), key: call.usable_key() };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let code = contained(|| {
        let mut streams = Streams { stdout: &mut stdout, stderr: &mut stderr };
        Ok(crate::run_for(Some(agent), words.into_iter().map(OsString::from).collect(), host, &mut streams))
    });
    // No argument of a program holds a zero byte: what prints one was only a look, and the shell looks itself.
    if stdout.contains(&0) {
        return None;
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let printing = typed::printing(&text(&stdout), &text(&stderr), code.ok()?);
    Some(Reply::document(&rewrite(event, &printing)))
}

/// A defect of ours is a failure like others: no client is to be left without an answer, and nothing but the answer is
/// to be on its streams.
fn contained<T>(act: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(act));
    std::panic::set_hook(hook);
    caught.unwrap_or_else(|_| Err(Failure::new(Slug::Internal, "clearway failed inside")))
}

/// What is answered where nothing could be checked: an edit, or a command that destroys what could not be kept for a defect
/// of ours, passes with a word, once, or is refused where nobody watches. The word is said after it where nobody would
/// hear it before. Whatever else the agent does passes.
fn unchecked(
    dialect: &Dialect,
    event: &Event,
    call: &HookCall,
    host: &mut dyn Host,
    failure: &Failure,
) -> Verdict {
    let (is_before, act) = match &event.moment {
        // Nothing is wrong with the store: the call is too much for one, and the next is none the worse.
        Moment::BeforeTool(Act::Edit(_)) if failure.slug == Slug::TooLarge => {
            return Verdict::Deny(texts::unfit(failure));
        }
        Moment::BeforeTool(act) => (true, act),
        Moment::AfterTool(act) => (false, act),
        _ => return Verdict::Silent,
    };
    let (files, text, refusal) = match act {
        Act::Edit(files) => (files.clone(), texts::unchecked(failure), texts::refused_unchecked(failure)),
        Act::Shell(command) => match destroyed_by(host, command) {
            Some(files) => (files, texts::unkept(failure), texts::refused_unkept(failure)),
            None => return Verdict::Silent,
        },
        _ => return Verdict::Silent,
    };
    match (Unchecked { dialect, event, call, is_before }).passage(host, &files, failure, text) {
        Passage::Refused => Verdict::Deny(refusal),
        Passage::Told(text) => Verdict::Tell(Told { model: Some(text.clone()), person: Some(text) }),
        Passage::Silent => Verdict::Silent,
    }
}

/// A call of which something should have been checked, and could not be.
struct Unchecked<'a> {
    dialect: &'a Dialect,
    event: &'a Event,
    call: &'a HookCall,
    /// Whether it can still be refused.
    is_before: bool,
}

/// What an outage means for a call.
enum Passage {
    /// It is refused, where nobody watches and it is not over yet.
    Refused,
    /// It passes with a word, the first of the outage.
    Told(String),
    /// It passes.
    Silent,
}

impl Unchecked<'_> {
    /// What becomes of it, with a word for the agent and the person.
    fn passage(&self, host: &mut dyn Host, files: &[String], failure: &Failure, text: String) -> Passage {
        let Self { dialect, event, call, is_before } = *self;
        let is_heard = dialect.hears(event);
        let known = contained(|| Ok(outage(host, call, files, failure, is_before, is_heard)));
        match known.unwrap_or(Outage { unattended: false, is_new: true }) {
            Outage { unattended: true, .. } if is_before => Passage::Refused,
            Outage { unattended: false, is_new: true } => Passage::Told(text),
            Outage { .. } => Passage::Silent,
        }
    }
}

/// A verdict, and what it rests on.
struct Judged {
    verdict: Verdict,
    answers: Answers,
    /// Whether it would have been a refusal, had refusals been enforced.
    lets_pass: bool,
    /// What the store of where the agent stands failed with.
    failed: Option<Slug>,
}

impl Judged {
    fn of(verdict: Verdict, answers: Answers) -> Self {
        Self { verdict, answers, lets_pass: false, failed: None }
    }

    fn silent() -> Self {
        Self::of(Verdict::Silent, Answers::default())
    }
}

/// The event with what the settings say of a tool that its client says nothing of.
fn configured(event: &Event, call: &HookCall, host: &mut dyn Host) -> Result<Event, Failure> {
    let (Moment::BeforeTool(Act::Server(tool)) | Moment::AfterTool(Act::Server(tool))) = &event.moment else {
        return Ok(event.clone());
    };
    let fields = fields_of_tool(host, call, &tool.name)?;
    let files: Vec<String> =
        fields.iter().filter_map(|field| tool.arguments.get(field)).flatten().cloned().collect();
    let moment = match &event.moment {
        moment if files.is_empty() => moment.clone(),
        Moment::BeforeTool(_) => Moment::BeforeTool(Act::Edit(files)),
        _ => Moment::AfterTool(Act::Edit(files)),
    };
    Ok(Event { moment, ..event.clone() })
}

fn judge(dialect: &Dialect, event: &Event, call: &HookCall, host: &mut dyn Host) -> Result<Judged, Failure> {
    let shell = |command| Shell { dialect, event, call, command };
    let doing = match &event.moment {
        Moment::BeforeTool(Act::Edit(files)) => {
            return before_edit(host, call, files, &event.whole).map(gated);
        }
        Moment::SessionStart => return start(call, host),
        Moment::BeforeTool(Act::Shell(command)) => return Ok(shell(command).before(host)),
        Moment::BeforeTool(Act::Server(_)) => Doing::Runs,
        Moment::BeforeTool(_) => Doing::Calls,
        Moment::AfterTool(Act::Shell(command)) => return Ok(shell(command).after(host)),
        Moment::AfterTool(Act::Server(_)) => Doing::Ran,
        Moment::AfterTool(Act::Edit(files)) => {
            Doing::Wrote { files: event.wrote(files), failed: event.failed }
        }
        Moment::AfterTool(_) => Doing::Wrote { files: Vec::new(), failed: event.failed },
        Moment::TurnEnd => Doing::Rests,
        Moment::SubagentEnd if event.subagent.is_none() => return Ok(Judged::silent()),
        Moment::SubagentEnd => Doing::Ends,
        Moment::SessionEnd if event.goes_on => return Ok(Judged::silent()),
        Moment::SessionEnd => Doing::Ends,
        Moment::Other => return Ok(Judged::silent()),
    };
    let answers = attend(host, call, &doing)?;
    keep_unannounced(event, call, host);
    let verdict = match event.moment {
        Moment::TurnEnd => at_rest(call, host, &answers).map_or(Verdict::Silent, Verdict::Hold),
        Moment::BeforeTool(_) => stopped(&answers).unwrap_or_else(|| tell(texts::beside(&answers))),
        _ => tell(texts::beside(&answers)),
    };
    Ok(Judged::of(verdict, answers))
}

/// Takes what a call changed without having named it before.
fn keep_unannounced(event: &Event, call: &HookCall, host: &mut dyn Host) {
    let unannounced = event.unannounced();
    if !unannounced.is_empty() {
        // What cannot be taken now is as it was before anybody said so.
        drop(keep_changed(host, call, &unannounced));
    }
}

/// The one thing that a turn is held for: somebody who waits, or else work that will not merge.
fn at_rest(call: &HookCall, host: &mut dyn Host, answers: &Answers) -> Option<String> {
    texts::still_waited_for(answers).or_else(|| {
        let foreseen = call.hears.then(|| foreseen_at_rest(host, call).ok().flatten()).flatten();
        foreseen.as_ref().map(texts::will_not_merge)
    })
}

/// Whoever a person stopped does nothing more.
fn stopped(answers: &Answers) -> Option<Verdict> {
    texts::halted(answers).map(Verdict::Stop)
}

/// What becomes of an edit, as the settings have it.
fn gated(ruling: Ruling) -> Judged {
    let verdict = match (texts::refusal(&ruling), ruling.mode) {
        (Some(reason), Enforcement::Enforce) if ruling.ends_turn => Verdict::Stop(reason),
        (Some(reason), Enforcement::Enforce) => Verdict::Deny(reason),
        (Some(reason), Enforcement::Warn) if !ruling.is_known => tell(Some(reason)),
        (Some(_), Enforcement::Warn | Enforcement::Observe) | (None, _) => {
            tell(texts::beside(&ruling.answers))
        }
    };
    let lets_pass = ruling.refused.is_some() && ruling.mode != Enforcement::Enforce;
    Judged { lets_pass, ..Judged::of(verdict, ruling.answers) }
}

/// Silent for whoever is alone and whom nothing waits for.
fn start(call: &HookCall, host: &mut dyn Host) -> Result<Judged, Failure> {
    let answers = attend(host, call, &Doing::Starts)?;
    let company = company(host, call)?;
    let welcome = company.as_ref().and_then(texts::welcome);
    let root = company.as_ref().and_then(|company| Some((company.root.as_deref()?, company.is_strict)));
    let lapse = root.and_then(|(root, is_strict)| lapse(host, root, is_strict)).map(texts::lapsed);
    let texts: Vec<String> = welcome.into_iter().chain(lapse).chain(texts::beside(&answers)).collect();
    let verdict = tell((!texts.is_empty()).then(|| texts.join("\n")));
    Ok(Judged::of(verdict, answers))
}

fn tell(model: Option<String>) -> Verdict {
    model.map_or(Verdict::Silent, |model| Verdict::Tell(Told { model: Some(model), person: None }))
}

/// Who calls from where; `None` without a session, which nobody could be told of later.
fn call(dialect: &Dialect, event: &Event, host: &dyn Host) -> Option<HookCall> {
    let session = event.session.clone()?;
    let cwd = event.cwd.clone().or_else(|| host.surroundings().cwd.clone()).unwrap_or_default();
    let session =
        ClientSession { client: event.client, session, subagent: event.subagent.clone(), process: None };
    Some(HookCall { session, cwd, key: event.key(), hears: dialect.hears(event), forks: event.forks })
}
