//! Agents write to each other: who gets what, once, and who may say that it took note.

use super::Story;
use super::stage::*;
use crate::execute::Reply;
use clearway_core::agent::{AgentName, Caller, Client, ClientSession};
use clearway_core::command::{Attend, Await, Command, Stay};
use clearway_core::decide::{Notice, Success};
use clearway_core::event::{Body, Durability};
use clearway_core::facts::ProcessLife;
use clearway_core::failure::Retry;
use clearway_core::ids::Seq;
use clearway_core::limits::NOTES_MAX;
use clearway_core::mail::{
    Act, Answer, BROADCASTS_MAX, BROADCASTS_MS, Importance, Letter, MailEvent, MailRead, MailSlice, Mailbox,
    MessageId, Policy, Role, RulesChange, Send, Sent, Standing, Topic, Which,
};
use clearway_core::slice::{AgentLookup, ReadSet};
use clearway_core::slug::Slug;
use clearway_wire::chain;

pub(super) const STORIES: &[Story] = &[
    ("a message reaches everybody it names, and blind copies are seen by their writer alone", delivered),
    ("a message is read once, in the order of importance and time, and stays in the mailbox", read_once),
    ("the same message under the same id is the first one, and another is refused", same_id),
    ("only who got a message acknowledges it, and its writer knows when everybody did", acknowledged),
    ("unknown recipients, oneself, unknown threads and unknown messages change nothing", unknown),
    ("an answer stays in its thread, which only those who are part of it can go on with", threads),
    ("a broadcast reaches those who are there and take it, and only so often", broadcast),
    ("a policy keeps mail out, and contacts, threads and those one has to do with get through", policies),
    (
        "a message to an agent with hooks is told once at its next tool call, however many there are",
        announced,
    ),
    ("what is urgent is told beyond what an hour allows, and what is read is not told", pressing),
    ("old messages are forgotten with their texts, and the log stays whole", forgotten),
    ("projections made anew keep the texts, which no event has", rebuilt),
    ("a keyed message is sent once", keyed),
    ("mail survives a new boot", boots),
];

fn name_of(name: &str) -> AgentName {
    AgentName::parse(name).unwrap_or_else(|| panic!("{name} is a name"))
}

fn id(text: &str) -> MessageId {
    MessageId::parse(text).unwrap_or_else(|| panic!("{text} is an id"))
}

fn letter(to: &[&str], text: &str) -> Send {
    Send {
        id: None,
        to: to.iter().map(|name| name_of(name)).collect(),
        cc: Vec::new(),
        bcc: Vec::new(),
        everyone: false,
        subject: None,
        text: text.to_owned(),
        digest: chain::digest(text),
        topic: None,
        importance: Importance::Normal,
        wants_ack: false,
        thread: None,
    }
}

fn act(stage: &mut Stage, from: &str, act: Act) -> Reply {
    stage.command(from, Command::Mail(act))
}

fn send(stage: &mut Stage, from: &str, letter: Send) -> Reply {
    act(stage, from, Act::Send(Box::new(letter)))
}

fn sent(reply: Reply) -> Sent {
    match reply.outcome {
        Ok(Success::Mail(Answer::Sent(sent))) => *sent,
        other => panic!("not sent: {other:?}"),
    }
}

fn looked(stage: &mut Stage, of: &str, which: Which) -> Vec<Letter> {
    let now = stage.world.now.clone();
    let lookup = AgentLookup { names: vec![name_of(of)], ..AgentLookup::default() };
    let found = stage.snapshot(|snapshot| {
        let slice = snapshot.load(&ReadSet { agents: lookup, ..ReadSet::default() }, &now)?;
        let Some(view) = slice.agent_meant(&name_of(of)) else { return Ok(MailSlice::default()) };
        let mailbox = Some(Mailbox { of: view.agent.id, which, limit: 100 });
        let mail = MailRead { mailbox, texts: true, ..MailRead::default() };
        Ok(snapshot.load(&ReadSet { mail, ..ReadSet::default() }, &now)?.mail)
    });
    found.unwrap_or_default().letters
}

fn unread(stage: &mut Stage, of: &str) -> Vec<String> {
    looked(stage, of, Which::Unread).into_iter().map(|letter| letter.text.unwrap_or_default()).collect()
}

fn all(stage: &mut Stage, of: &str) -> Vec<Letter> {
    looked(stage, of, Which::Before(Seq(u64::MAX)))
}

/// Three agents who are there.
fn company(stage: &mut Stage) {
    for (agent, file) in [("ada", "a"), ("bob", "b"), ("cy", "c")] {
        stage.take(agent, file);
    }
}

fn delivered(stage: &mut Stage) {
    company(stage);
    stage.take("dan", "d");
    let message = Send {
        cc: vec![name_of("cy"), name_of("bob")],
        bcc: vec![name_of("dan")],
        subject: Some("plan".to_owned()),
        ..letter(&["bob"], "hello")
    };
    let done = sent(send(stage, "ada", message));
    assert_eq!(
        (done.to, done.cc, done.bcc),
        (vec![name_of("bob")], vec![name_of("cy")], vec![name_of("dan")])
    );
    for (agent, role) in [("bob", Role::To), ("cy", Role::Cc), ("dan", Role::Bcc)] {
        let found = looked(stage, agent, Which::Unread);
        assert_eq!(found.len(), 1, "{agent}");
        let (mine, message) = (&found[0].entries[0], &found[0].message);
        assert_eq!((mine.role, found[0].text.as_deref()), (role, Some("hello")));
        let seen = message.visible_to(mine.agent).filter(|one| one.role == Role::Bcc).count();
        assert_eq!(seen, usize::from(role == Role::Bcc), "{agent}");
        assert_eq!(message.visible_to(message.from).count(), 3);
    }
    let own = all(stage, "ada");
    assert_eq!((own.len(), own[0].entries[0].standing), (1, Standing::Kept));
    assert!(unread(stage, "ada").is_empty());
}

fn read_once(stage: &mut Stage) {
    company(stage);
    for (text, importance) in [
        ("one", Importance::Normal),
        ("later", Importance::Low),
        ("first", Importance::Urgent),
        ("two", Importance::Normal),
    ] {
        sent(send(stage, "ada", Send { importance, ..letter(&["bob"], text) }));
    }
    assert_eq!(unread(stage, "bob"), ["first", "one", "two", "later"]);
    let ids: Vec<MessageId> =
        looked(stage, "bob", Which::Unread)[..2].iter().map(|found| found.message.id.clone()).collect();
    let rev = act(stage, "bob", Act::Read(ids.clone())).rev;
    assert_eq!(unread(stage, "bob"), ["two", "later"]);
    assert_eq!(act(stage, "bob", Act::Read(ids)).rev, rev, "nothing is recorded twice");
    let texts: Vec<String> = all(stage, "bob").into_iter().filter_map(|letter| letter.text).collect();
    assert_eq!(texts, ["two", "first", "later", "one"], "newest first");
    let other = looked(stage, "bob", Which::Unread)[0].message.id.clone();
    refusal(act(stage, "cy", Act::Read(vec![other])), Slug::NotRecipient);
}

fn same_id(stage: &mut Stage) {
    company(stage);
    let message = Send { id: Some(id("build-17")), ..letter(&["bob"], "red") };
    let first = send(stage, "ada", message.clone());
    let rev = first.rev;
    let first = sent(first);
    let again = send(stage, "ada", message.clone());
    assert_eq!(again.rev, rev, "nothing is recorded");
    assert_eq!(sent(again), Sent { again: true, ..first });
    refusal(
        send(
            stage,
            "ada",
            Send { text: "green".to_owned(), digest: chain::digest("green"), ..message.clone() },
        ),
        Slug::MessageExists,
    );
    refusal(send(stage, "cy", message.clone()), Slug::MessageExists);
    refusal(send(stage, "ada", Send { to: vec![name_of("cy")], ..message }), Slug::MessageExists);
    assert_eq!(unread(stage, "bob"), ["red"]);
    assert!(unread(stage, "cy").is_empty());
}

fn acknowledged(stage: &mut Stage) {
    company(stage);
    let message = Send { id: Some(id("m")), wants_ack: true, ..letter(&["bob", "cy"], "deploy at five") };
    sent(send(stage, "ada", message));
    let ack = |stage: &mut Stage, who: &str| act(stage, who, Act::Acknowledge(vec![id("m")]));
    for who in ["ada", "eve"] {
        refusal(ack(stage, who), Slug::NotRecipient);
    }
    assert_eq!(looked(stage, "ada", Which::Unsettled).len(), 1);
    act(stage, "bob", Act::Read(vec![id("m")])).outcome.unwrap();
    assert_eq!(looked(stage, "bob", Which::Unsettled)[0].entries[0].standing, Standing::Owed);
    for (who, left) in [("bob", 1), ("cy", 0)] {
        assert_eq!(
            ack(stage, who).outcome,
            Ok(Success::Mail(Answer::Acknowledged { now: vec![id("m")], already: Vec::new() }))
        );
        assert!(looked(stage, who, Which::Unsettled).is_empty());
        assert_eq!(looked(stage, "ada", Which::Unsettled).len(), left, "{who}");
    }
    assert_eq!(
        ack(stage, "cy").outcome,
        Ok(Success::Mail(Answer::Acknowledged { now: Vec::new(), already: vec![id("m")] }))
    );
    assert!(unread(stage, "cy").is_empty(), "what is acknowledged was read");
    for event in stage.events() {
        if matches!(event.body, Body::Mail(_)) {
            assert_eq!(event.body.durability(), Durability::Full);
        }
    }
}

fn unknown(stage: &mut Stage) {
    company(stage);
    let rev = stage.events().len();
    for (message, slug) in [
        (letter(&["bob", "nobody"], "x"), Slug::UnknownRecipient),
        (letter(&["ada"], "x"), Slug::Usage),
        (Send { bcc: vec![name_of("nobody")], ..letter(&["bob"], "x") }, Slug::UnknownRecipient),
        (Send { thread: Some(id("none")), ..letter(&["bob"], "x") }, Slug::UnknownThread),
    ] {
        refusal(send(stage, "ada", message), slug);
    }
    refusal(act(stage, "ada", Act::Read(vec![id("none")])), Slug::NotFound);
    refusal(act(stage, "ada", Act::Acknowledge(vec![id("none")])), Slug::NotFound);
    assert_eq!(stage.events().len(), rev);
    assert!(unread(stage, "bob").is_empty());
}

fn threads(stage: &mut Stage) {
    company(stage);
    let first = sent(send(stage, "ada", letter(&["bob"], "question")));
    assert_eq!(first.thread, first.id);
    let answer = Send { thread: Some(first.id.clone()), ..letter(&["ada"], "answer") };
    let second = sent(send(stage, "bob", answer.clone()));
    assert_eq!(second.thread, first.id);
    let third = sent(send(stage, "ada", Send { thread: Some(second.id), ..letter(&["bob"], "thanks") }));
    assert_eq!(third.thread, first.id, "any message of a thread names it");
    refusal(
        send(stage, "cy", Send { thread: Some(first.id), ..letter(&["ada"], "me too") }),
        Slug::UnknownThread,
    );
}

fn broadcast(stage: &mut Stage) {
    company(stage);
    stage.take("dan", "d");
    stage.reserve(&at_terminal(9), &[path("t")], How::default()).outcome.unwrap();
    stage.world.processes.insert(9, ProcessLife::Dead);
    act(stage, "dan", Act::SetRules(RulesChange { policy: Some(Policy::Block), ..RulesChange::default() }))
        .outcome
        .unwrap();
    let all_hands = |text: &str| Send { everyone: true, topic: Topic::parse("BUILD"), ..letter(&[], text) };
    let done = sent(send(stage, "ada", all_hands("red")));
    let mut to = done.to.clone();
    to.sort();
    assert_eq!((to, done.denied), (vec![name_of("bob"), name_of("cy")], vec![name_of("dan")]));
    assert!(looked(stage, "bob", Which::Unread)[0].message.topic == Topic::parse("build"));
    assert!(unread(stage, "dan").is_empty());
    for _ in 1..BROADCASTS_MAX {
        sent(send(stage, "ada", all_hands("again")));
    }
    let failure = refusal(send(stage, "ada", all_hands("once more")), Slug::QuotaExceeded);
    assert_eq!(failure.retry, Retry::AfterMs(BROADCASTS_MS));
    sent(send(stage, "bob", all_hands("mine")));
    stage.pass(BROADCASTS_MS);
    sent(send(stage, "ada", all_hands("later")));
}

fn policies(stage: &mut Stage) {
    company(stage);
    let set = |stage: &mut Stage, policy: Policy| {
        let change = RulesChange { policy: Some(policy), ..RulesChange::default() };
        act(stage, "bob", Act::SetRules(change)).outcome.unwrap();
    };
    let first = sent(send(stage, "bob", letter(&["ada"], "hello")));
    set(stage, Policy::Contacts);
    refusal(send(stage, "ada", letter(&["cy", "bob"], "x")), Slug::NotAccepted);
    assert!(unread(stage, "cy").is_empty(), "all or nobody");
    sent(send(stage, "ada", Send { thread: Some(first.id.clone()), ..letter(&["bob"], "in the thread") }));
    let change = RulesChange { add: vec![name_of("cy")], ..RulesChange::default() };
    let reply = act(stage, "bob", Act::SetRules(change)).outcome;
    let Ok(Success::Mail(Answer::Rules { rules, contacts })) = reply else { panic!("{reply:?}") };
    assert_eq!((rules.policy, contacts[0].1.clone()), (Policy::Contacts, name_of("cy")));
    sent(send(stage, "cy", letter(&["bob"], "a contact")));
    set(stage, Policy::Auto);
    refusal(send(stage, "ada", letter(&["bob"], "x")), Slug::NotAccepted);
    let wait = Await {
        reserve: reservation(&[path("b")], &How::default()),
        stay: Stay::Durable,
        wait_ms: 600_000,
        wait: None,
    };
    stage.command("ada", Command::Await(wait)).outcome.unwrap();
    sent(send(stage, "ada", letter(&["bob"], "I wait for b")));
    set(stage, Policy::Block);
    refusal(send(stage, "cy", letter(&["bob"], "x")), Slug::NotAccepted);
    refusal(send(stage, "ada", Send { thread: Some(first.id), ..letter(&["bob"], "x") }), Slug::NotAccepted);
    let change = RulesChange { remove: vec![name_of("cy")], ..RulesChange::default() };
    act(stage, "bob", Act::SetRules(change)).outcome.unwrap();
    refusal(
        act(
            stage,
            "bob",
            Act::SetRules(RulesChange { add: vec![name_of("nobody")], ..RulesChange::default() }),
        ),
        Slug::UnknownRecipient,
    );
    assert_eq!(unread(stage, "bob"), ["in the thread", "a contact", "I wait for b"]);
}

/// An agent whose client runs hooks.
fn hook(session: &str) -> Caller {
    let session = ClientSession {
        client: Client::ClaudeCode,
        session: session.to_owned(),
        subagent: None,
        process: Some(process(7)),
    };
    Caller { session: Some(session), hook: true, hears: true, ..Caller::default() }
}

fn told(stage: &mut Stage, caller: &Caller) -> Vec<(String, u32)> {
    let notices = stage.execute(caller, Command::Attend(Attend::Call), None).notices;
    let of_mail = |notice: Notice| match notice {
        Notice::Mail(announced) => Some((announced.about, announced.count)),
        _ => None,
    };
    notices.into_iter().filter_map(of_mail).collect()
}

fn started(stage: &mut Stage) -> (Caller, String) {
    let caller = hook("one");
    let reply = stage.execute(&caller, Command::Attend(Attend::Start), None);
    (caller, reply.agent.unwrap_or_else(|| panic!("nobody")).1.to_string())
}

fn announced(stage: &mut Stage) {
    company(stage);
    let (caller, me) = started(stage);
    assert!(told(stage, &caller).is_empty());
    sent(send(stage, "ada", letter(&[&me], "first line\nmore")));
    sent(send(
        stage,
        "bob",
        Send { subject: Some("plan".to_owned()), importance: Importance::High, ..letter(&[&me], "x") },
    ));
    sent(send(stage, "cy", Send { importance: Importance::Low, ..letter(&[&me], "whisper") }));
    sent(send(stage, "cy", Send { cc: vec![name_of(&me)], ..letter(&["ada"], "for your information") }));
    assert_eq!(told(stage, &caller), [("plan".to_owned(), 2)]);
    assert!(told(stage, &caller).is_empty(), "once");
}

fn pressing(stage: &mut Stage) {
    company(stage);
    let (caller, me) = started(stage);
    for round in 0..NOTES_MAX {
        sent(send(stage, "ada", letter(&[&me], &format!("message {round}"))));
        assert_eq!(told(stage, &caller).len(), 1, "{round}");
    }
    sent(send(stage, "ada", letter(&[&me], "too much")));
    assert!(told(stage, &caller).is_empty());
    sent(send(stage, "ada", Send { importance: Importance::Urgent, ..letter(&[&me], "fire") }));
    assert_eq!(told(stage, &caller), [("fire".to_owned(), 2)]);
    sent(send(stage, "ada", Send { importance: Importance::Urgent, ..letter(&[&me], "fire again") }));
    let ids = looked(stage, &me, Which::Unread).into_iter().map(|found| found.message.id).collect();
    stage.execute(&caller, Command::Mail(Act::Read(ids)), None).outcome.unwrap();
    assert!(told(stage, &caller).is_empty(), "whoever looked knows");
}

fn forgotten(stage: &mut Stage) {
    company(stage);
    let first = sent(send(stage, "ada", letter(&["bob"], "old")));
    sent(send(stage, "ada", letter(&["bob"], "new")));
    act(stage, "bob", Act::Forget(first.seq)).outcome.unwrap();
    assert_eq!(unread(stage, "bob"), ["new"]);
    assert_eq!(all(stage, "ada").len(), 1);
    refusal(act(stage, "bob", Act::Read(vec![first.id])), Slug::NotFound);
    assert!(stage.events().iter().any(|event| matches!(event.body, Body::Mail(MailEvent::Forgotten { .. }))));
}

fn rebuilt(stage: &mut Stage) {
    company(stage);
    let first = sent(send(stage, "ada", Send { wants_ack: true, ..letter(&["bob", "cy"], "keep me") }));
    act(stage, "bob", Act::Acknowledge(vec![first.id])).outcome.unwrap();
    act(stage, "cy", Act::SetRules(RulesChange { policy: Some(Policy::Auto), ..RulesChange::default() }))
        .outcome
        .unwrap();
    let before = (all(stage, "ada"), all(stage, "bob"), all(stage, "cy"));
    stage.rebuild();
    assert_eq!((all(stage, "ada"), all(stage, "bob"), all(stage, "cy")), before);
}

fn keyed(stage: &mut Stage) {
    company(stage);
    let command = Command::Mail(Act::Send(Box::new(letter(&["bob"], "once"))));
    let first = stage.execute(&named("ada"), command.clone(), Some("k".to_owned()));
    let again = stage.execute(&named("ada"), command, Some("k".to_owned()));
    assert!(again.replayed);
    assert_eq!(sent(again), sent(first));
    assert_eq!(unread(stage, "bob"), ["once"]);
    let other = Command::Mail(Act::Send(Box::new(letter(&["bob"], "twice"))));
    refusal(stage.execute(&named("ada"), other, Some("k".to_owned())), Slug::IdempotencyMismatch);
}

fn boots(stage: &mut Stage) {
    company(stage);
    sent(send(stage, "ada", letter(&["bob"], "good night")));
    stage.reboot("boot-2");
    assert_eq!(unread(stage, "bob"), ["good night"]);
    sent(send(stage, "cy", letter(&["bob"], "good morning")));
    assert_eq!(unread(stage, "bob"), ["good night", "good morning"]);
    let everybody = Send { everyone: true, topic: Topic::parse("hello"), ..letter(&[], "who is there") };
    assert!(sent(send(stage, "bob", everybody)).to.contains(&name_of("cy")));
}
