//! An inbox in a store with a long past: a million messages that were read, and ten thousand agents that are gone.

use crate::figures::{Goal, Samples, Table, ms, ratio};
use crate::repository::Repository;
use crate::seed::{self, Machine};
use crate::{Effort, Outcome};
use clearway_core::agent::{Agent, AgentName, Client, Established, IdentityKey};
use clearway_core::command::Command;
use clearway_core::event::{Actor, Body, Durability, Event};
use clearway_core::ids::{AgentId, Seq};
use clearway_core::mail::{
    Importance, MESSAGES_PER_REQUEST_MAX, MailEvent, Message, MessageId, Recipient, Role,
};
use clearway_core::slice::Soft;
use clearway_core::time::Now;
use clearway_store::contract::{Engine, StoredEvent, Transaction};
use clearway_store::{Rules, World};
use clearway_wire::{canonical, chain};
use std::path::Path;

/// Messages and dead agents of the two stores, and how many of the messages are unread.
const STORES: [(usize, usize); 2] = [(100, 0), (1_000_000, 10_000)];
const UNREAD: usize = 20;
/// What is written in one transaction.
const BATCH: usize = 20_000;

const INBOX: Goal = Goal::times(1.5);

pub(crate) fn measure(binary: &Path, effort: Effort) -> Outcome<Table> {
    let mut table =
        Table::new(&["inbox of 20 unread", "dead agents", "p50", "p99", "x 100 messages", "goal"]);
    let mut few = f64::NAN;
    for (messages, dead) in STORES {
        eprintln!("measuring an inbox beside {messages} messages");
        let repository = Repository::new()?;
        fill(&repository, messages, dead)?;
        std::env::set_current_dir(repository.root())?;
        let samples = calls(&repository, binary, effort.calls);
        std::env::set_current_dir("/")?;
        let samples = samples?;
        few = if few.is_nan() { samples.median() } else { few };
        let times = samples.median() / few;
        let goal = if dead > 0 { INBOX.said_of(times) } else { String::new() };
        let (p50, p99) = (ms(samples.median()), ms(samples.percentile(99)));
        table.row(&[format!("{messages} messages"), dead.to_string(), p50, p99, ratio(times), goal]);
    }
    Ok(table)
}

fn calls(repository: &Repository, binary: &Path, count: usize) -> Outcome<Samples> {
    let mut samples = Samples::default();
    for _ in 0..count {
        let (time, status) = repository.time(binary, &["--agent", "reader", "inbox", "--peek"])?;
        if !status.success() {
            return Err(format!("inbox: {status}").into());
        }
        samples.add(time);
    }
    Ok(samples)
}

/// Writes the past into the log and its rows, as the executor would, many events in one transaction.
fn fill(repository: &Repository, messages: usize, dead: usize) -> Outcome<()> {
    let (mut engine, mut machine) = (repository.engine(), Machine::default());
    for (agent, file) in [("reader", "reader.rs"), ("writer", "writer.rs")] {
        let reserve = seed::reserve(&repository.worktree(), &[file.to_owned()])?;
        seed::run(repository, &mut engine, &mut machine, Rules::default(), agent, reserve)?;
    }
    let now = machine.now()?;
    let agents = engine.snapshot(&repository.scope())?.ok_or("no store")?.agents(&now)?;
    let id =
        |name: &str| agents.iter().find(|view| view.agent.name.as_str() == name).map(|view| view.agent.id);
    let (reader, writer) = (id("reader").ok_or("no reader")?, id("writer").ok_or("no writer")?);
    let gone = (0..dead).flat_map(|number| departed(number, &now));
    let written = (0..messages)
        .map(|number| Body::Mail(MailEvent::Sent(Box::new(message(number, writer, reader, &now)))));
    let mut bodies = gone.chain(written).peekable();
    while bodies.peek().is_some() {
        let batch: Vec<Body> = bodies.by_ref().take(BATCH).collect();
        write(repository, &mut engine, &now, batch)?;
    }
    mark_read(repository, &mut engine, &now, reader, messages.saturating_sub(UNREAD))?;
    seed::run(repository, &mut engine, &mut machine, Rules::default(), "reader", Command::Sweep)
}

fn departed(number: usize, now: &Now) -> Vec<Body> {
    let name = format!("gone{number:04}");
    let Some((id, name)) = AgentId::parse(&name).zip(AgentName::parse(&name)) else { return Vec::new() };
    let agent = Agent {
        id,
        key: IdentityKey::manual(&name),
        name,
        client: Client::Manual,
        parent: None,
        root: id,
        process: None,
        registered_at: now.wall,
        ended_at: None,
        halted: None,
    };
    vec![Body::AgentRegistered(agent), Body::AgentEnded { agent: id }]
}

fn message(number: usize, from: AgentId, to: AgentId, now: &Now) -> Message {
    let id = MessageId::parse(&format!("m{number}")).unwrap_or_else(|| panic!("an id"));
    Message {
        seq: Seq(0),
        thread: id.clone(),
        id,
        from,
        recipients: vec![Recipient { agent: to, role: Role::To }],
        broadcast: false,
        subject: None,
        topic: None,
        importance: Importance::Normal,
        wants_ack: false,
        digest: chain::digest(TEXT),
        bytes: TEXT.len() as u64,
        at: now.wall,
    }
}

const TEXT: &str =
    "The parser is split; rebase when you commit, and tell the others that the lexer stays as it is.";

fn mark_read(
    repository: &Repository,
    engine: &mut dyn Engine,
    now: &Now,
    agent: AgentId,
    count: usize,
) -> Outcome<()> {
    let last = engine.snapshot(&repository.scope())?.ok_or("no store")?.head()?.rev;
    let first = last.0.saturating_sub((count + UNREAD) as u64);
    let seqs: Vec<Seq> = (1..=count as u64).map(|offset| Seq(first + offset)).collect();
    // No call reads more at once, and one large event is slower to pass over than many small ones.
    let read = |chunk: &[Seq]| Body::Mail(MailEvent::Read { agent, messages: chunk.to_vec() });
    let mut bodies = seqs.chunks(MESSAGES_PER_REQUEST_MAX).map(read).peekable();
    while bodies.peek().is_some() {
        write(repository, engine, now, bodies.by_ref().take(BATCH / MESSAGES_PER_REQUEST_MAX).collect())?;
    }
    Ok(())
}

fn write(repository: &Repository, engine: &mut dyn Engine, now: &Now, bodies: Vec<Body>) -> Outcome<()> {
    let scope = repository.scope();
    let mut transaction: Box<dyn Transaction + '_> = engine.begin(&scope, false)?.ok_or("no store")?;
    let mut head = transaction.head()?;
    for mut body in bodies {
        let seq = head.rev.next();
        if let Body::Mail(MailEvent::Sent(message)) = &mut body {
            message.seq = seq;
        }
        let actor = Actor { agent: None, how: Established::Kernel };
        let event = Event { seq, at: now.wall, actor, body };
        let bytes = canonical::encode(&event);
        let hash = head.hash.next(&scope, seq, &bytes);
        (head.rev, head.hash) = (seq, hash);
        transaction.append(&StoredEvent { seq, bytes, hash })?;
        transaction.apply(&event)?;
        if let Body::Mail(MailEvent::Sent(_)) = &event.body {
            transaction.soften(&Soft::MailText { message: seq, text: TEXT.to_owned() }, now)?;
        }
    }
    Ok(transaction.commit(Durability::Normal)?)
}
