//! The verbs that ask for what somebody holds, and say what becomes of it; and those that stop an agent.

use crate::failures::store_failure;
use crate::identity::{agent_name, operator_act};
use crate::mutations::usage;
use crate::queueing::with_queue;
use crate::session::Session;
use crate::targets::refuse_of_git;
use crate::{audit, identity};
use clearway_core::command::{Answer, Ask, Command, Force, Reserve, Says, Want};
use clearway_core::decide::{Notice, Success, standing_negotiations};
use clearway_core::failure::Failure;
use clearway_core::ids::{NegotiationId, Seq};
use clearway_core::input::{later_ms, wait_span_ms};
use clearway_core::lease::{Grade, Kind};
use clearway_core::limits::{TTL_MS_MAX, TTL_MS_MIN};
use clearway_core::negotiation::{Negotiated, NegotiationView, Status, Urgency};
use clearway_core::shell;
use clearway_core::slice::{ReadSet, Slice};
use clearway_core::slug::Slug;
use clearway_core::target::Target;
use clearway_core::text::quoted;
use clearway_core::time::Now;
use clearway_core::wait::Queued;
use clearway_store::{Lacking, Reply, with_facts};

/// How often to look whether something came of a request when nobody rings: a death rings nobody.
const LOOK_MS: u64 = 250;

/// `ask` as it was typed.
#[derive(Clone, Debug)]
pub struct AskWords {
    /// The path or name.
    pub what: String,
    /// Which of them.
    pub kind: Kind,
    /// Why.
    pub why: String,
    /// `--urgent`.
    pub urgent: bool,
    /// `--then-reserve`.
    pub then_reserve: bool,
    /// `--wait`, for how long; `None` for as long as the calling client allows.
    pub wait: Option<Option<String>>,
}

/// `answer` as it was typed.
#[derive(Clone, Debug)]
pub struct AnswerWords {
    /// To which request.
    pub id: String,
    /// `release`, `after-commit`, `later` or `no`.
    pub says: String,
    /// What follows: paths, minutes or a reason.
    pub rest: Vec<String>,
}

/// Requests found.
#[derive(Clone, Debug)]
pub struct Negotiations {
    /// The revision looked at.
    pub rev: Seq,
    /// The instant.
    pub now: Now,
    /// Those that are open, in the order they were made.
    pub negotiations: Vec<NegotiationView>,
}

impl Session<'_> {
    /// Asks whoever holds a path for it.
    pub fn ask(&mut self, words: &AskWords) -> Result<Reply, Failure> {
        let wait_ms = match &words.wait {
            None => None,
            Some(None) => Some(self.patience_ms(None, "--wait", "")?),
            Some(Some(text)) => {
                Some(wait_span_ms(text, "--wait", "your place is kept without waiting, too")?)
            }
        };
        let why = stated(&words.why, "say why: the holder reads it")?;
        let ask = Ask {
            reserve: self.wish(words, &why)?,
            why,
            urgency: if words.urgent { Urgency::Urgent } else { Urgency::Normal },
            then_reserve: words.then_reserve,
            tells_answer: false,
            tells_circle: false,
        };
        let command = Command::Ask(ask.clone());
        // Whoever waits reads how it stands at the end.
        let mut reply = match wait_ms {
            Some(_) => self.command(command)?,
            None => self.heard(|session| session.command(command))?,
        };
        if matches!(&reply.outcome, Ok(Success::Negotiated(outcome)) if outcome.status == Status::FreeNow) {
            let names = self.held_names(words.kind, std::slice::from_ref(&words.what))?;
            reply.notices.extend(names.into_iter().map(Notice::IsName));
        }
        match wait_ms {
            Some(wait_ms) => self.until_settled(&ask, reply, wait_ms),
            None => Ok(reply),
        }
    }

    /// What is asked for, as it is reserved when the turn comes: by who edits it as an edit would, and by anybody else as a
    /// claim.
    fn wish(&mut self, words: &AskWords, why: &str) -> Result<Reserve, Failure> {
        let target = self.target(words.kind, &words.what)?;
        refuse_of_git(&target)?;
        if self.scope_of(&target) != self.site.key {
            return Err(machine_wide(&target));
        }
        let capacity = match &target {
            Target::Name(name) => self.config.resource(name.as_str()).capacity,
            Target::Path(_) => 1,
        };
        let is_edit = self.caller.session.is_some() && !words.then_reserve && is_file(&target);
        let claimed = clearway_core::duration::milliseconds(self.config.claimed_ttl());
        let here = self.site.worktree();
        let wish = match is_edit {
            true => Reserve::edit([target.clone()], here),
            false => {
                let ttl_ms = claimed.clamp(TTL_MS_MIN, TTL_MS_MAX);
                Reserve::alone([target.clone()], here, Grade::Claimed, ttl_ms)
            }
        };
        Ok(Reserve { wants: vec![Want { target, capacity }], reason: Some(why.to_owned()), ..wish })
    }

    /// Waits until something came of what was asked, and looks once more when the time is up: what came in the last moment
    /// came. The place in the queue is kept by no process, so that whoever goes away loses nothing. A circle that it waits
    /// in ends it: whoever is told who had best give way can do so.
    fn until_settled(&mut self, ask: &Ask, first: Reply, wait_ms: u64) -> Result<Reply, Failure> {
        self.forget_idempotency_key();
        let Some(ids) = pending(&first).filter(|_| !tells_circle(&first)) else { return Ok(first) };
        // What was said before is known: only what is said from now on is an answer.
        let known = self.asked(&ids)?;
        let look = Ask { tells_circle: true, ..ask.clone() };
        let ends = first.now.mono.plus_ms(wait_ms);
        let mut seen = first.rev;
        loop {
            let left_ms = ends.since(self.now()?.mono);
            let scope = self.site.key.clone();
            let reply = self.preview_in(&scope, Command::Ask(look.clone()))?;
            if left_ms == 0
                || tells_circle(&reply)
                || pending(&reply).is_none()
                || self.is_answered(&known)?
            {
                return self.settled(&look, &known);
            }
            self.changed(&scope, seen, left_ms.min(LOOK_MS))?;
            seen = reply.rev;
        }
    }

    /// How what was asked stands at the end: as it was answered, or as asking once more finds it, which asks nobody anew who
    /// was asked.
    fn settled(&mut self, ask: &Ask, known: &[NegotiationView]) -> Result<Reply, Failure> {
        let is_answered = self.is_answered(known)?;
        let ids: Vec<NegotiationId> = known.iter().map(|view| view.negotiation.id).collect();
        let is_free = |asked: &[NegotiationView]| {
            asked.iter().any(|view| view.negotiation.settled().is_some_and(|over| over.how.is_free()))
        };
        let tells_answer = is_answered && !is_free(&self.asked(&ids)?);
        let last = Command::Ask(Ask { tells_answer, ..ask.clone() });
        let reply = self.heard(|session| session.command(last))?;
        let Ok(Success::Negotiated(mut outcome)) = reply.outcome.clone() else { return Ok(reply) };
        let asked = self.asked(&ids)?;
        // What was let go may be somebody else's by now, or somebody else's turn: then that is how it stands.
        if is_answered && (!is_free(&asked) || outcome.status == Status::FreeNow) {
            let settled = asked.iter().find_map(|view| view.negotiation.settled());
            outcome.status = settled.map_or(Status::Deferred, |over| over.how.into());
            outcome.queued = self.place_of(&asked)?;
            outcome.negotiations = asked;
        }
        Ok(Reply { outcome: Ok(Success::Negotiated(outcome)), ..reply })
    }

    /// The place in the queue that is kept for a request: its turn may have come, and is to be taken.
    fn place_of(&mut self, asked: &[NegotiationView]) -> Result<Option<Box<Queued>>, Failure> {
        let scope = self.site.key.clone();
        let waits = self.waits_in(&scope)?.waits;
        let is_its = |queued: &Queued| asked.iter().any(|view| view.negotiation.wait == queued.wait.id);
        Ok(waits.into_iter().find(is_its).map(Box::new))
    }

    /// Whether a holder said anything since, or a request is over.
    fn is_answered(&mut self, known: &[NegotiationView]) -> Result<bool, Failure> {
        let ids: Vec<NegotiationId> = known.iter().map(|view| view.negotiation.id).collect();
        let slice = self.with_negotiations(&ids)?;
        let stands = |view: &NegotiationView| {
            let found = slice.negotiation(view.negotiation.id);
            found.is_some_and(|found| found.state == view.negotiation.state)
        };
        Ok(!known.iter().all(stands))
    }

    /// The requests as they stand.
    fn asked(&mut self, ids: &[NegotiationId]) -> Result<Vec<NegotiationView>, Failure> {
        let slice = self.with_negotiations(ids)?;
        Ok(ids.iter().filter_map(|id| view(&slice, *id)).collect())
    }

    fn with_negotiations(&mut self, ids: &[NegotiationId]) -> Result<Slice, Failure> {
        let (now, read) = (self.now()?, ReadSet { negotiations: ids.to_vec(), ..ReadSet::default() });
        Ok(self.read(|snapshot| snapshot.load(&read, &now))?.unwrap_or_default())
    }

    /// Says to who asks what becomes of it.
    pub fn answer(&mut self, words: &AnswerWords) -> Result<Reply, Failure> {
        let negotiation = negotiation_id(&words.id)?;
        let says = match (words.says.as_str(), words.rest.as_slice()) {
            ("release", parts) => {
                let kind = self.kind_asked_for(negotiation, parts)?;
                let parts = parts.iter().map(|part| self.target(kind, part));
                Says::Release(parts.collect::<Result<_, _>>()?)
            }
            ("after-commit", []) => Says::AfterCommit,
            ("later", [minutes]) => Says::Later { for_ms: later_ms(minutes)? },
            ("no", [_, ..]) => Says::No(stated(&words.rest.join(" "), "say why not")?),
            ("later", []) => return Err(usage("say how many minutes", &later(&words.id))),
            ("no", []) => {
                let example = format!("clearway answer {} no \"half done\"", words.id);
                return Err(usage("say why not", &format!("such as: {example}")));
            }
            _ => {
                let answers = "release [PATH], after-commit, later MINUTES or no REASON";
                return Err(usage(
                    &format!("{} is no answer", quoted(&words.says)),
                    &format!("one of: {answers}"),
                ));
            }
        };
        self.heard(|session| session.command(Command::Answer(Answer { negotiation, says })))
    }

    /// What a part of what was asked for is: of a name, that name.
    fn kind_asked_for(&mut self, id: NegotiationId, parts: &[String]) -> Result<Kind, Failure> {
        if parts.is_empty() {
            return Ok(Kind::Path);
        }
        let slice = self.with_negotiations(&[id])?;
        let is_name = slice.negotiation(id).is_some_and(|asked| matches!(asked.target, Target::Name(_)));
        Ok(if is_name { Kind::Name } else { Kind::Path })
    }

    /// Takes a request back.
    pub fn withdraw(&mut self, id: &str) -> Result<Reply, Failure> {
        let id = negotiation_id(id)?;
        self.heard(|session| session.command(Command::Withdraw(id)))
    }

    /// Takes what was asked for. Whoever is not the one who asked may be an operator; the rules are the same. An operator
    /// alone takes what cannot be kept first.
    pub fn force(&mut self, id: &str, reason: &str, without_snapshot: bool) -> Result<Reply, Failure> {
        let (negotiation, reason) = (negotiation_id(id)?, stated(reason, "say why: it is recorded")?);
        let force = Command::Force(Force { negotiation, reason: reason.clone(), without_snapshot });
        if without_snapshot {
            self.act_as_operator(&reason)?;
        }
        let reply = self.preview_in(&self.site.key.clone(), force.clone())?;
        let is_stranger =
            !without_snapshot && matches!(&reply.outcome, Err(failure) if failure.slug == Slug::NotParty);
        if is_stranger {
            let holds_key = audit::presented_key(self.outside)?;
            let act = operator_act(self.outside.surroundings(), &reason, holds_key)?;
            if act.at_terminal || act.holds_key {
                self.act_as_operator(&reason)?;
            }
        }
        let reply = self.heard(|session| session.command(force))?;
        let Ok(Success::Negotiated(mut outcome)) = reply.outcome.clone() else { return Ok(reply) };
        let me = reply.agent.as_ref().map(|(id, _)| *id);
        if outcome.negotiations.iter().all(|view| Some(view.negotiation.requester) == me) {
            outcome.queued = self.place_of(&outcome.negotiations)?;
        }
        Ok(Reply { outcome: Ok(Success::Negotiated(outcome)), ..reply })
    }

    /// Lists who asks whom for what, as it stands whether or not anybody recorded that.
    pub fn negotiations(&mut self) -> Result<Negotiations, Failure> {
        let now = self.now()?;
        let read = ReadSet { waits: true, ..ReadSet::default() };
        let slice = self.read(|snapshot| with_queue(snapshot, &read, &now))?.unwrap_or_default();
        let negotiations = self.standing(&slice, &now)?;
        Ok(Negotiations { rev: slice.scope.rev, now, negotiations })
    }

    pub(crate) fn standing(&mut self, slice: &Slice, now: &Now) -> Result<Vec<NegotiationView>, Failure> {
        let standing = with_facts(self.outside, |_, facts| {
            Ok(standing_negotiations(slice, facts, now).map_err(|facts| Lacking { facts, at: now.mono }))
        });
        standing.map_err(|error| store_failure(&error))
    }

    /// Stops an agent.
    pub fn halt(&mut self, agent: &str, reason: &str) -> Result<Reply, Failure> {
        let agent = agent_name(agent)?;
        self.act_as_operator(reason)?;
        let reply = self.command(Command::Halt(agent.clone()))?;
        self.with_near_name(agent.as_str(), reply)
    }

    /// Lets it go on.
    pub fn resume(&mut self, agent: &str, reason: &str) -> Result<Reply, Failure> {
        let agent = agent_name(agent)?;
        self.act_as_operator(reason)?;
        let reply = self.command(Command::Continue(agent.clone()))?;
        self.with_near_name(agent.as_str(), reply)
    }
}

fn view(slice: &Slice, id: NegotiationId) -> Option<NegotiationView> {
    let negotiation = slice.negotiation(id)?.clone();
    let name = |agent| slice.agent(agent).map(|view| view.agent.name.clone());
    Some(NegotiationView {
        requester: name(negotiation.requester)?,
        holder: name(negotiation.holder)?,
        negotiation,
    })
}

/// Under which ids an answer asks somebody, if it does.
fn pending(reply: &Reply) -> Option<Vec<NegotiationId>> {
    let Ok(Success::Negotiated(outcome)) = &reply.outcome else { return None };
    let Negotiated { negotiations, .. } = &**outcome;
    let ids: Vec<NegotiationId> = negotiations.iter().map(|view| view.negotiation.id).collect();
    (!ids.is_empty() && negotiations.iter().any(|view| view.negotiation.is_open())).then_some(ids)
}

fn tells_circle(reply: &Reply) -> bool {
    reply.notices.iter().any(|notice| matches!(notice, Notice::Circle { .. }))
}

fn is_file(target: &Target) -> bool {
    matches!(target, Target::Path(pattern) if pattern.as_literal().is_some())
}

/// A text that somebody else is to read.
fn stated(text: &str, otherwise: &str) -> Result<String, Failure> {
    let text = identity::reason_text(text)?;
    match text.trim().is_empty() {
        true => Err(usage("there is no reason in it", otherwise)),
        false => Ok(text),
    }
}

fn later(id: &str) -> String {
    format!("such as: clearway answer {id} later 20")
}

/// Its holders are known in the scope of the machine, and hear of nothing here.
fn machine_wide(target: &Target) -> Failure {
    let name = target.display();
    Failure::new(Slug::Usage, format!("{name} is shared by the whole machine, and nobody is asked for it"))
        .hint(format!("wait for it: clearway reserve --kind name {} --wait", shell::word(&name)))
}

fn negotiation_id(text: &str) -> Result<NegotiationId, Failure> {
    NegotiationId::parse(text).ok_or_else(|| {
        Failure::new(Slug::InvalidId, format!("{} is no id of a request", quoted(text)))
            .hint("an id is eight of a-z and 0-9, as listed by: clearway negotiations")
    })
}
