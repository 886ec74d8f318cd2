//! Mail: who may write to whom, what is sent once and no more, and who may say that it took note.

use super::draft::Draft;
use super::identity::Identified;
use super::{Step, Success};
use crate::agent::{AgentName, Client, Liveness};
use crate::event::{Actor, Body};
use crate::facts::FactQuery;
use crate::failure::{Details, Failure, Retry};
use crate::hint::{AGENTS, Hint};
use crate::ids::{AgentId, Entropy, Seq};
use crate::lease::Lease;
use crate::mail::{
    ANNOUNCED_CHARS_MAX, Act, Answer, BROADCAST_RECIPIENTS_MAX, BROADCASTS_MAX, BROADCASTS_MS, CONTACTS_MAX,
    Importance, Letter, MailEvent, Message, MessageId, Policy, Recipient, Role, RulesChange, Send, Sent,
    Standing, first_line, names_in,
};
use crate::slice::{AgentView, Announced, Note};
use crate::slug::Slug;
use crate::time::Mono;
use crate::wait::WaitView;
use std::collections::BTreeSet;

/// Does it.
pub(super) fn act(
    draft: &mut Draft<'_>,
    act: &Act,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Step {
    let outcome = match act {
        Act::Send(send) => return deliver(draft, send, identified, entropy),
        Act::Read(ids) => read(draft, ids, identified),
        Act::Acknowledge(ids) => acknowledge(draft, ids, identified, entropy),
        Act::SetRules(change) => set_rules(draft, change, identified, entropy),
        Act::Forget(up_to) => Ok(forget(draft, *up_to)),
    };
    Ok(outcome)
}

/// Old messages are forgotten, whoever happens to call.
pub(super) fn forget(draft: &mut Draft<'_>, up_to: Seq) -> Success {
    if up_to <= draft.slice.scope.rev && up_to.0 > 0 {
        draft.push(Actor::KERNEL, Body::Mail(MailEvent::Forgotten { up_to }));
    }
    Success::Mail(Answer::Forgotten)
}

/// Sends a message to all it names or to nobody; to everybody who is there, as far as they take it.
fn deliver(draft: &mut Draft<'_>, send: &Send, identified: &Identified, entropy: &mut Entropy<'_>) -> Step {
    let actor = draft.act_as(identified);
    let addressed = thread(draft, send, actor.agent).and_then(|_| addressees(draft, send, actor.agent));
    let addressed = match addressed {
        Ok(addressed) => addressed,
        Err(failure) => return Ok(Err(failure)),
    };
    if let Some(first) = send.id.as_ref().and_then(|id| draft.slice.mail.named(id)) {
        return Ok(once_more(draft, send, &first.message, actor.agent, addressed));
    }
    let unknown = if send.everyone { unknown_processes(draft, &addressed) } else { BTreeSet::new() };
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let (recipients, denied) = match admitted(draft, send, identified, addressed) {
        Ok(admitted) => admitted,
        Err(failure) if failure.slug != Slug::NotAccepted => return Ok(Err(failure)),
        Err(failure) => return Ok(Err(draft.denied(actor, send.addressed(), failure))),
    };
    if let Err(failure) = draft.counts_broadcast(send, actor.agent) {
        return Ok(Err(failure));
    }
    let (me, actor) = draft.register(identified, entropy);
    let id = send.id.clone().unwrap_or_else(|| MessageId::draw(entropy));
    let message = compose(draft, send, me, id, recipients);
    Ok(Ok(post(draft, actor, send, message, denied)))
}

/// Records a message, keeps its text and announces it.
fn post(
    draft: &mut Draft<'_>,
    actor: Actor,
    send: &Send,
    message: Message,
    denied: Vec<AgentName>,
) -> Success {
    if send.everyone {
        let now = draft.now.mono;
        draft.memo(message.from).broadcasts.push(now);
    }
    let announced = Announced {
        from: draft.name_of(message.from),
        about: first_line(send.subject.as_deref().unwrap_or(&send.text), ANNOUNCED_CHARS_MAX),
        importance: message.importance,
        wants_ack: message.wants_ack,
        count: 1,
    };
    for recipient in message.recipients.iter().filter(|one| is_announced(&message, one.role)) {
        draft.note(recipient.agent, Note::Mail(announced.clone()));
    }
    let sent = draft.sent(&message, denied, false);
    draft.keep_text(message.seq, &send.text);
    draft.push(actor, Body::Mail(MailEvent::Sent(Box::new(message))));
    Success::Mail(Answer::Sent(Box::new(sent)))
}

/// What is addressed to somebody interrupts it; what it is only to know waits until it looks, unless it is important.
fn is_announced(message: &Message, role: Role) -> bool {
    match message.importance {
        Importance::Urgent | Importance::High => true,
        Importance::Normal => role == Role::To && !message.broadcast,
        Importance::Low => false,
    }
}

/// The message as it would be recorded next.
fn compose(
    draft: &Draft<'_>,
    send: &Send,
    from: AgentId,
    id: MessageId,
    recipients: Vec<Recipient>,
) -> Message {
    let named = send.thread.as_ref().and_then(|named| draft.slice.mail.named(named));
    Message {
        seq: draft.next_seq(),
        thread: named.map_or_else(|| id.clone(), |letter| letter.message.thread.clone()),
        id,
        from,
        recipients,
        broadcast: send.everyone,
        subject: send.subject.clone(),
        topic: send.topic.clone(),
        importance: send.importance,
        wants_ack: send.wants_ack,
        digest: send.digest,
        bytes: send.text.len() as u64,
        at: draft.now.wall,
    }
}

/// The answer to an id that is taken: the first one if the same is said to the same, an error otherwise.
fn once_more(
    draft: &Draft<'_>,
    send: &Send,
    first: &Message,
    me: Option<AgentId>,
    addressed: Vec<Recipient>,
) -> Result<Success, Failure> {
    let again = me.map(|me| compose(draft, send, me, first.id.clone(), addressed));
    if again.is_some_and(|again| again.says_the_same_as(first)) {
        return Ok(Success::Mail(Answer::Sent(Box::new(draft.sent(first, Vec::new(), true)))));
    }
    let message = format!("the id {} is that of another message", first.id);
    Err(Failure::new(Slug::MessageExists, message).hint("leave out --id, or use a fresh one"))
}

/// The thread that a message belongs to has to be one that its writer is part of.
fn thread(draft: &Draft<'_>, send: &Send, me: Option<AgentId>) -> Result<(), Failure> {
    let Some(id) = &send.thread else { return Ok(()) };
    let is_part = |letter: &Letter| me.is_some_and(|me| letter.message.is_of(me));
    match draft.slice.mail.named(id).filter(|letter| is_part(letter)) {
        Some(_) => Ok(()),
        None => Err(Failure::new(Slug::UnknownThread, format!("no thread of yours has a message {id}"))
            .hint("see your threads: clearway threads")),
    }
}

/// Everybody who is named, each once and as the first of to, cc and bcc; or everybody who is there.
fn addressees(draft: &Draft<'_>, send: &Send, me: Option<AgentId>) -> Result<Vec<Recipient>, Failure> {
    if send.everyone {
        return everybody(draft, me);
    }
    let mut recipients: Vec<Recipient> = Vec::new();
    for (role, names) in [(Role::To, &send.to), (Role::Cc, &send.cc), (Role::Bcc, &send.bcc)] {
        for name in names {
            let agent = meant(draft, name)?.agent.id;
            if Some(agent) == me {
                return Err(Failure::new(Slug::Usage, format!("{name} is you")).hint(AGENTS));
            }
            if !recipients.iter().any(|known| known.agent == agent) {
                recipients.push(Recipient { agent, role });
            }
        }
    }
    Ok(recipients)
}

fn meant<'a>(draft: &Draft<'a>, name: &AgentName) -> Result<&'a AgentView, Failure> {
    draft.slice.agent_meant(name).ok_or_else(|| {
        Failure::new(Slug::UnknownRecipient, format!("nobody here is called {name}"))
            .hint(AGENTS)
            .details(Details::field("agent", name.to_string()))
    })
}

/// Whoever gave a sign of life since the machine started and is not known to be gone, by name.
fn everybody(draft: &Draft<'_>, me: Option<AgentId>) -> Result<Vec<Recipient>, Failure> {
    let view = draft.view();
    let is_there = |one: &&AgentView| {
        Some(one.agent.id) != me
            && view.last_seen(one.agent.id).is_some()
            && view.liveness(one) != Liveness::Gone
    };
    let mut there: Vec<&AgentView> = draft.slice.agents.iter().filter(is_there).collect();
    there.sort_by(|one, other| one.agent.name.cmp(&other.agent.name));
    let all: Vec<Recipient> =
        there.iter().map(|one| Recipient { agent: one.agent.id, role: Role::To }).collect();
    if all.len() <= BROADCAST_RECIPIENTS_MAX {
        return Ok(all);
    }
    let message =
        format!("a broadcast reaches at most {BROADCAST_RECIPIENTS_MAX} agents; {} are here", all.len());
    Err(Failure::new(Slug::TooLarge, message).hint("write to those it concerns: clearway send NAME TEXT"))
}

/// Processes of which it is not known whether they live.
fn unknown_processes(draft: &Draft<'_>, addressed: &[Recipient]) -> BTreeSet<FactQuery> {
    let processes = addressed.iter().filter_map(|one| draft.slice.agent(one.agent)?.agent.process.clone());
    let unknown = processes.filter(|process| draft.facts.process(process).is_none());
    unknown.map(FactQuery::Process).collect()
}

/// Those who take the message. One who does not, and was named, keeps all of it from being sent.
fn admitted(
    draft: &Draft<'_>,
    send: &Send,
    identified: &Identified,
    addressed: Vec<Recipient>,
) -> Result<(Vec<Recipient>, Vec<AgentName>), Failure> {
    let named = send.thread.as_ref().and_then(|id| draft.slice.mail.named(id));
    let takes = |one: &Recipient| draft.takes_mail(one.agent, identified, named);
    let (admitted, denied): (Vec<Recipient>, Vec<Recipient>) = addressed.into_iter().partition(takes);
    let rules = denied.first().and_then(|one| draft.slice.mail.rules.get(&one.agent));
    let hint = match rules.is_some_and(|rules| rules.policy == Policy::Block) {
        true => "leave it out: it takes mail from nobody",
        false => "leave it out, or answer in a thread it is part of: clearway threads",
    };
    let denied: Vec<AgentName> = denied.iter().map(|one| draft.name_of(one.agent)).collect();
    match denied.first() {
        _ if send.everyone && admitted.is_empty() => {
            Err(Failure::new(Slug::UnknownRecipient, "nobody is here who would get it").hint(AGENTS))
        }
        Some(name) if !send.everyone => {
            Err(Failure::new(Slug::NotAccepted, format!("{name} takes no mail from you")).hint(hint).details(
                Details::field("agents", denied.iter().map(ToString::to_string).collect::<Vec<_>>()),
            ))
        }
        _ => Ok((admitted, denied)),
    }
}

impl Draft<'_> {
    /// Whether an agent takes mail of the caller, in the thread of a message if it answers one.
    fn takes_mail(&self, to: AgentId, from: &Identified, named: Option<&Letter>) -> bool {
        let rules = self.slice.mail.rules.get(&to).cloned().unwrap_or_default();
        let known = from.known.as_ref().map(|view| view.agent.id);
        let is_person = from.newcomer.client == Client::Terminal;
        let is_contact = known.is_some_and(|me| rules.contacts.contains(&me));
        let shares_thread = named.is_some_and(|letter| letter.message.is_of(to));
        let has_to_do = || {
            known.is_some_and(|me| {
                self.root_of(me) == self.root_of(to) || self.waits_for(me, to) || self.waits_for(to, me)
            })
        };
        match rules.policy {
            Policy::Open => true,
            Policy::Block => false,
            Policy::Contacts => is_person || is_contact || shares_thread,
            Policy::Auto => is_person || is_contact || shares_thread || has_to_do(),
        }
    }

    fn waits_for(&self, one: AgentId, other: AgentId) -> bool {
        let stands_in_way = |view: &WaitView| {
            let is_in_way =
                |lease: &Lease| lease.holder == other && view.wait.wanted.conflicts_with_lease(lease);
            self.leases_now().any(is_in_way)
        };
        self.queue.iter().any(|view| view.wait.agent == one && stands_in_way(view))
    }

    /// Lets an agent write to everybody only so often, and forgets what is long ago.
    fn counts_broadcast(&mut self, send: &Send, me: Option<AgentId>) -> Result<(), Failure> {
        let (Some(me), now) = (me.filter(|_| send.everyone), self.now.mono) else { return Ok(()) };
        let memo = self.memo(me);
        memo.broadcasts.retain(|at| now.since(*at) < BROADCASTS_MS && *at <= now);
        let Some(oldest) = memo.broadcasts.first().filter(|_| memo.broadcasts.len() >= BROADCASTS_MAX) else {
            return Ok(());
        };
        let left_ms = Mono(oldest.0.saturating_add(BROADCASTS_MS)).since(now);
        let message = format!("you wrote to everybody {BROADCASTS_MAX} times within a minute");
        Err(Failure::new(Slug::QuotaExceeded, message)
            .retry(Retry::AfterMs(left_ms.max(1)))
            .hint("write to those it concerns: clearway send NAME TEXT"))
    }

    fn sent(&self, message: &Message, denied: Vec<AgentName>, again: bool) -> Sent {
        let in_role = |role| names_in(role, &message.recipients, |agent| self.name_of(agent));
        Sent {
            id: message.id.clone(),
            thread: message.thread.clone(),
            seq: message.seq,
            to: in_role(Role::To),
            cc: in_role(Role::Cc),
            bcc: in_role(Role::Bcc),
            denied,
            again,
        }
    }

    /// Whoever looked at its mail need not be told of it any more.
    fn has_looked(&mut self, me: AgentId) {
        if self.memo_of(me).is_some_and(|memo| memo.notes.iter().any(|note| matches!(note, Note::Mail(_)))) {
            self.memo(me).notes.retain(|note| !matches!(note, Note::Mail(_)));
        }
    }
}

/// The messages that ids name, all of them.
fn named<'a>(draft: &Draft<'a>, ids: &[MessageId]) -> Result<Vec<&'a Letter>, Failure> {
    let find = |id: &MessageId| {
        draft.slice.mail.named(id).ok_or_else(|| {
            Failure::new(Slug::NotFound, format!("no message has the id {id}"))
                .hint("see what you have: clearway inbox --all")
        })
    };
    ids.iter().collect::<BTreeSet<_>>().into_iter().map(find).collect()
}

/// Marks messages as read. What the caller wrote itself, or has read, stays as it is.
fn read(draft: &mut Draft<'_>, ids: &[MessageId], identified: &Identified) -> Result<Success, Failure> {
    let actor = draft.act_as(identified);
    let letters = named(draft, ids)?;
    let Some(me) = actor.agent.filter(|me| letters.iter().all(|letter| letter.message.is_of(*me))) else {
        return Err(not_yours(&letters, actor.agent));
    };
    let is_unread =
        |letter: &&&Letter| letter.entry_of(me).is_some_and(|entry| entry.standing == Standing::Unread);
    let marked: Vec<&Letter> = letters.iter().filter(is_unread).copied().collect();
    let messages: Vec<Seq> = marked.iter().map(|letter| letter.message.seq).collect();
    if !messages.is_empty() {
        draft.push(actor, Body::Mail(MailEvent::Read { agent: me, messages }));
    }
    draft.has_looked(me);
    Ok(Success::Mail(Answer::Read(marked.iter().map(|letter| letter.message.id.clone()).collect())))
}

fn not_yours(letters: &[&Letter], me: Option<AgentId>) -> Failure {
    let other = letters.iter().find(|letter| me.is_none_or(|me| !letter.message.is_of(me)));
    let id = other.map(|letter| letter.message.id.to_string()).unwrap_or_default();
    Failure::new(Slug::NotRecipient, format!("message {id} was not sent to you"))
        .hint(Hint::from("see what you have: clearway inbox --all"))
}

/// Says that the caller took note of messages; only who got one can.
fn acknowledge(
    draft: &mut Draft<'_>,
    ids: &[MessageId],
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Result<Success, Failure> {
    let actor = draft.act_as(identified);
    let letters = named(draft, ids)?;
    let is_recipient = |letter: &&Letter| actor.agent.is_some_and(|me| letter.message.role_of(me).is_some());
    if !letters.iter().all(is_recipient) {
        let others: Vec<&Letter> = letters.iter().filter(|letter| !is_recipient(letter)).copied().collect();
        let subject = others.iter().map(|letter| letter.message.id.to_string()).collect::<Vec<_>>().join(" ");
        return Err(draft.denied(actor, subject, not_yours(&others, None)));
    }
    let (me, actor) = draft.register(identified, entropy);
    let (mut now, mut already) = (Vec::new(), Vec::new());
    for letter in letters {
        let is_acked = letter.entry_of(me).is_some_and(|entry| entry.acked_at.is_some());
        if is_acked {
            already.push(letter.message.id.clone());
            continue;
        }
        let owes =
            |entry: &&crate::mail::Entry| entry.owes_ack && entry.agent != me && entry.acked_at.is_none();
        let settled = letter.message.wants_ack && !letter.entries.iter().any(|entry| owes(&entry));
        let (message, from) = (letter.message.seq, letter.message.from);
        draft.push(actor, Body::Mail(MailEvent::Acknowledged { agent: me, message, from, settled }));
        now.push(letter.message.id.clone());
    }
    draft.has_looked(me);
    Ok(Success::Mail(Answer::Acknowledged { now, already }))
}

/// Says from whom the caller takes mail.
fn set_rules(
    draft: &mut Draft<'_>,
    change: &RulesChange,
    identified: &Identified,
    entropy: &mut Entropy<'_>,
) -> Result<Success, Failure> {
    let me = draft.act_as(identified).agent;
    let before = me.and_then(|me| draft.slice.mail.rules.get(&me).cloned()).unwrap_or_default();
    let mut rules = before.clone();
    rules.policy = change.policy.unwrap_or(rules.policy);
    for name in &change.add {
        rules.contacts.insert(meant(draft, name)?.agent.id);
    }
    for name in &change.remove {
        rules.contacts.remove(&meant(draft, name)?.agent.id);
    }
    if rules.contacts.len() > CONTACTS_MAX {
        let message = format!("an agent has at most {CONTACTS_MAX} contacts");
        return Err(Failure::new(Slug::QuotaExceeded, message)
            .hint("take out one you do not need: clearway contacts --remove NAME"));
    }
    if rules != before {
        let (agent, actor) = draft.register(identified, entropy);
        draft.push(actor, Body::Mail(MailEvent::RulesSet { agent, rules: rules.clone() }));
    }
    let contacts = rules.contacts.iter().map(|agent| (*agent, draft.name_of(*agent))).collect();
    Ok(Success::Mail(Answer::Rules { rules, contacts }))
}
