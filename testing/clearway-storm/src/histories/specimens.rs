//! Histories made by hand, each with one thing wrong: the judges are judged by finding every one.

use super::operation::{Ask, Ended, How, Operation, Which};
use super::{Breach, Ledger, Rule, is_linearizable, judge};
use clearway_core::agent::{Agent, AgentName, Client, Established, IdentityKey};
use clearway_core::event::{Actor, Body, Event};
use clearway_core::ids::{AgentId, Epoch, Fence, Id, LeaseId, Seq, WaitId};
use clearway_core::lease::{ExpiryCause, Grade, Lease, Mode, Terms};
use clearway_core::target::Worktree;
use clearway_core::time::{BootKey, Mono, Wall};
use clearway_core::wait::Wait;
use serde_json::{Value, json};

/// A lease that outlives every specimen.
const LONG_MS: u64 = 600_000;

/// A history and its log, being made.
#[derive(Debug)]
struct Specimen {
    events: Vec<Event>,
    history: Vec<Operation>,
}

fn id(text: &str) -> Id {
    Id::parse(&format!("{text:0>8}")).expect("an id")
}

fn agent(name: &str) -> AgentId {
    AgentId(id(name))
}

fn words(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|text| id(text).to_string()).collect()
}

fn fence(seq: u64) -> u64 {
    (1 << 40) + seq
}

fn one(lease: &str, seq: u64) -> Which {
    Which::One { id: id(lease).to_string(), fence: fence(seq) }
}

fn reserve(patterns: &[&str], how: How) -> Ask {
    let patterns = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    Ask::Reserve { patterns, shared: false, how, ttl: "10m".to_owned() }
}

impl Specimen {
    /// Two agents, `x` and `y`, who are known from events 3 and 4.
    fn new() -> Self {
        let mut made = Self { events: Vec::new(), history: Vec::new() };
        made.kernel(Body::ScopeOpened { place: "/w".to_owned(), fold: Default::default() });
        made.kernel(Body::EpochBegan {
            epoch: Epoch(1),
            boot: BootKey("boot".to_owned()),
            lost_tail: 0,
            operator_reason: None,
        });
        for name in ["x", "y"] {
            made.by(name, Body::AgentRegistered(newcomer(name)));
            let number = made.history.len() as u64;
            made.operation(name, (number, number), reserve(&["zz"], How::Now), Ended::Killed);
        }
        made
    }

    fn push(&mut self, actor: Actor, body: Body) -> u64 {
        let seq = self.events.len() as u64 + 1;
        self.events.push(Event { seq: Seq(seq), at: Wall(0), actor, body });
        seq
    }

    fn kernel(&mut self, body: Body) -> u64 {
        self.push(Actor::KERNEL, body)
    }

    fn by(&mut self, name: &str, body: Body) -> u64 {
        self.push(Actor { agent: Some(agent(name)), how: Established::Claim }, body)
    }

    /// The number of the next operation, by which its events are known.
    fn next(&self) -> u64 {
        self.history.len() as u64
    }

    /// A grant that belongs to the operation with this number.
    fn grant(&mut self, name: &str, lease: &str, pattern: &str, number: u64) -> u64 {
        let seq = self.events.len() as u64 + 1;
        let granted = granted(name, lease, pattern, number, seq);
        self.by(name, Body::LeaseGranted(granted))
    }

    fn give_back(&mut self, name: &str, lease: &str) -> u64 {
        let body =
            Body::LeaseReleased { lease: LeaseId(id(lease)), holder: agent(name), operator_reason: None };
        self.by(name, body)
    }

    fn renew(&mut self, name: &str, lease: &str, number: u64) -> u64 {
        let terms = Terms {
            ttl_ms: LONG_MS,
            deadline: Mono(LONG_MS),
            end_max: None,
            reason: Some(format!("op-{number}")),
        };
        self.by(name, Body::LeaseRenewed { lease: LeaseId(id(lease)), terms, operator_reason: None })
    }

    fn queue(&mut self, name: &str, wait: &str, pattern: &str, number: u64) -> u64 {
        let seq = self.events.len() as u64 + 1;
        let mut wanted = wanted(pattern);
        wanted.reason = Some(format!("op-{number}"));
        self.by(
            name,
            Body::WaitBegan(Wait {
                id: WaitId(id(wait)),
                agent: agent(name),
                wanted,
                place: Seq(seq),
                attached: None,
                until: Mono(LONG_MS),
                kept_until: None,
                offered_until: None,
                offers: 0,
                since: Mono(0),
                created_at: Wall(0),
            }),
        )
    }

    /// An operation in these seconds.
    fn operation(&mut self, name: &str, (from, to): (u64, u64), ask: Ask, ended: Ended) {
        let second = 1_000_000_000;
        self.history.push(Operation {
            number: self.next(),
            agent: name.to_owned(),
            ask,
            invoked_ns: from * second,
            completed_ns: to * second + 1,
            ended,
        });
    }

    fn answered(&mut self, name: &str, times: (u64, u64), ask: Ask, code: i32, mut reply: Value) {
        if reply["error"].is_null() {
            reply["ok"] = json!(true);
        }
        self.operation(name, times, ask, Ended::Answered { code, reply });
    }

    /// A whole reservation of one file: event, operation and answer.
    fn reserved(&mut self, name: &str, times: (u64, u64), lease: &str, pattern: &str) -> u64 {
        let number = self.next();
        let seq = self.grant(name, lease, pattern, number);
        let reply = json!({"rev": seq, "leases": [shown(name, lease, pattern, seq)]});
        self.answered(name, times, reserve(&[pattern], How::Now), 0, reply);
        seq
    }

    /// A whole release of one lease.
    fn released(&mut self, name: &str, times: (u64, u64), lease: &str, granted: u64) -> u64 {
        let seq = self.give_back(name, lease);
        let reply = json!({"rev": seq, "released": words(&[lease]), "already_released": []});
        self.answered(name, times, Ask::Release(one(lease, granted)), 0, reply);
        seq
    }

    fn refused(&mut self, name: &str, times: (u64, u64), ask: Ask, slug: &str, details: Value) {
        self.answered(name, times, ask, 1, json!({"error": {"slug": slug, "details": details}}));
    }

    fn breaches(&self) -> Vec<Breach> {
        match Ledger::of(self.events.clone()) {
            Ok(ledger) => judge(&self.history, &ledger),
            Err(breach) => vec![breach],
        }
    }

    /// The search is given the bare events: what a fold of them would find must not help it.
    fn search_finds_an_order(&self) -> bool {
        let agents = ["x", "y"].map(|name| (name.to_owned(), agent(name))).into_iter().collect();
        let bare = Ledger { events: self.events.clone(), agents, ..Ledger::default() };
        is_linearizable(&self.history, &bare)
    }
}

fn newcomer(name: &str) -> Agent {
    let name = AgentName::parse(name).expect("a name");
    Agent {
        id: agent(name.as_str()),
        client: Client::Manual,
        key: IdentityKey::manual(&name),
        parent: None,
        root: agent(name.as_str()),
        process: None,
        registered_at: Wall(0),
        ended_at: None,
        halted: None,
        name,
    }
}

fn wanted(pattern: &str) -> clearway_core::command::Reserve {
    clearway_core::command::Reserve {
        wants: vec![clearway_core::command::Want {
            target: super::witness::target_of(pattern).expect("a pattern"),
            capacity: 1,
        }],
        worktree: Worktree("/w".to_owned()),
        mode: Mode::Exclusive,
        grade: Grade::Claimed,
        as_set: false,
        ttl_ms: LONG_MS,
        max_ms: None,
        reason: None,
        best_effort: false,
        bound: None,
        makes_way: false,
    }
}

fn granted(name: &str, lease: &str, pattern: &str, number: u64, seq: u64) -> Lease {
    Lease {
        id: LeaseId(id(lease)),
        target: super::witness::target_of(pattern).expect("a pattern"),
        set: None,
        mode: Mode::Exclusive,
        grade: Grade::Claimed,
        holder: agent(name),
        fence: Fence { epoch: Epoch(1), seq: Seq(seq) },
        reason: Some(format!("op-{number}")),
        worktree: Worktree("/w".to_owned()),
        slot: None,
        bound: None,
        handed_by: None,
        makes_way: false,
        ceded: Vec::new(),
        ttl_ms: LONG_MS,
        granted: Mono(0),
        deadline: Mono(LONG_MS),
        end_max: None,
        created_at: Wall(0),
        ended: None,
    }
}

fn shown(name: &str, lease: &str, pattern: &str, seq: u64) -> Value {
    json!({"id": id(lease).as_str(), "fence": fence(seq), "mode": "exclusive", "pattern": pattern,
        "agent": name, "agent_id": agent(name).as_str()})
}

#[track_caller]
fn found(specimen: &Specimen, rule: Rule) {
    let breaches = specimen.breaches();
    assert!(breaches.iter().any(|breach| breach.rule == rule), "{rule:?} is not among {breaches:?}");
}

/// The same, where the answers alone are enough to see it.
#[track_caller]
fn found_by_both(specimen: &Specimen, rule: Rule) {
    found(specimen, rule);
    assert!(!specimen.search_finds_an_order(), "the search finds an order");
}

#[test]
fn a_lawful_history_has_an_order_and_no_breach() {
    let mut made = Specimen::new();
    let granted = made.reserved("x", (10, 11), "a", "f");
    let blocker = json!({"blockers": [shown("x", "a", "f", granted)], "ahead": []});
    made.refused("y", (11, 13), reserve(&["f"], How::Now), "reservation-held", blocker);
    made.released("x", (12, 14), "a", granted);
    made.reserved("y", (13, 15), "b", "f");
    assert_eq!(made.breaches().len(), 0, "{:?}", made.breaches());
    assert!(made.search_finds_an_order());
}

#[test]
fn a_renewal_belongs_to_whoever_marked_it_and_not_to_a_refusal_of_that_time() {
    let mut made = Specimen::new();
    let tree = made.reserved("x", (10, 11), "a", "d/**");
    let other = made.reserved("y", (10, 11), "b", "g");
    let blocker = json!({"blockers": [shown("y", "b", "g", other)], "ahead": []});
    made.refused("x", (12, 13), reserve(&["d/f", "g"], How::Now), "reservation-held", blocker);
    let number = made.next();
    let seq = made.renew("x", "a", number);
    let reply = json!({"rev": seq, "leases": [shown("x", "a", "d/**", tree)]});
    made.answered("x", (14, 15), Ask::Renew(Which::All), 0, reply);
    assert_eq!(made.breaches().len(), 0, "{:?}", made.breaches());
}

#[test]
fn a_renewal_from_within_belongs_to_the_answer_that_shows_it() {
    let mut made = Specimen::new();
    let marked = made.next();
    let tree = made.reserved("x", (10, 11), "a", "d/**");
    let other = made.reserved("y", (10, 11), "b", "g");
    let blocker = json!({"blockers": [shown("y", "b", "g", other)], "ahead": []});
    made.refused("x", (12, 13), reserve(&["d/f", "g"], How::Now), "reservation-held", blocker);
    let seq = made.renew("x", "a", marked);
    let reply = json!({"rev": seq, "leases": [shown("x", "a", "d/**", tree)]});
    made.answered("x", (14, 15), reserve(&["d/f"], How::Now), 0, reply);
    assert_eq!(made.breaches().len(), 0, "{:?}", made.breaches());
}

#[test]
fn two_holders_at_once_are_found() {
    let mut made = Specimen::new();
    made.reserved("x", (10, 11), "a", "f");
    made.reserved("y", (10, 11), "b", "f");
    found_by_both(&made, Rule::OneHolder);
}

#[test]
fn a_grant_after_a_release_that_had_not_begun_is_found() {
    let mut made = Specimen::new();
    let granted = made.reserved("x", (10, 11), "a", "f");
    made.released("x", (30, 31), "a", granted);
    made.reserved("y", (20, 21), "b", "f");
    found_by_both(&made, Rule::RealTime);
}

#[test]
fn a_stale_read_is_found() {
    let mut made = Specimen::new();
    made.reserved("x", (10, 11), "a", "f");
    let ask = Ask::Check { pattern: "f".to_owned(), shared: false };
    made.answered("y", (20, 21), ask, 0, json!({"rev": 4, "clear": true, "blockers": [], "ahead": []}));
    found_by_both(&made, Rule::RealTime);
}

#[test]
fn a_path_called_clear_while_it_was_held_is_found() {
    let mut made = Specimen::new();
    let rev = made.reserved("x", (10, 11), "a", "f");
    let ask = Ask::Check { pattern: "f".to_owned(), shared: false };
    made.answered("y", (20, 21), ask, 0, json!({"rev": rev, "clear": true, "blockers": [], "ahead": []}));
    found_by_both(&made, Rule::AnswersAreTrue);
}

#[test]
fn an_acknowledged_lease_that_is_not_in_the_log_is_found() {
    let mut made = Specimen::new();
    let reply = json!({"rev": 4, "leases": [shown("x", "a", "f", 5)]});
    made.answered("x", (10, 11), reserve(&["f"], How::Now), 0, reply);
    found(&made, Rule::AnswersAreTrue);
}

#[test]
fn a_fence_given_out_twice_is_found() {
    let mut made = Specimen::new();
    made.reserved("x", (10, 11), "a", "f");
    let mut again = granted("y", "b", "g", made.next(), 5);
    again.fence = Fence { epoch: Epoch(1), seq: Seq(5) };
    let seq = made.by("y", Body::LeaseGranted(again));
    let reply = json!({"rev": seq, "leases": [shown("y", "b", "g", 5)]});
    made.answered("y", (12, 13), reserve(&["g"], How::Now), 0, reply);
    found_by_both(&made, Rule::FencesRise);
}

#[test]
fn a_stale_fence_that_was_accepted_is_found() {
    let mut made = Specimen::new();
    let granted = made.reserved("x", (10, 11), "a", "f");
    let number = made.next();
    let seq = made.renew("x", "a", number);
    let reply = json!({"rev": seq, "leases": [shown("x", "a", "f", granted)]});
    made.answered("x", (12, 13), Ask::Renew(one("a", granted - 1)), 0, reply);
    found_by_both(&made, Rule::FencesHold);
}

#[test]
fn somebody_elses_lease_that_was_released_by_name_is_found() {
    let mut made = Specimen::new();
    let granted = made.reserved("x", (10, 11), "a", "f");
    let body = Body::LeaseReleased { lease: LeaseId(id("a")), holder: agent("x"), operator_reason: None };
    let seq = made.by("y", body);
    let reply = json!({"rev": seq, "released": words(&["a"]), "already_released": []});
    made.answered("y", (12, 13), Ask::Release(one("a", granted)), 0, reply);
    found_by_both(&made, Rule::FencesHold);
}

#[test]
fn a_killed_reservation_that_took_one_of_two_is_found() {
    let mut made = Specimen::new();
    let number = made.next();
    made.grant("x", "a", "f", number);
    made.operation("x", (10, 11), reserve(&["f", "g"], How::Now), Ended::Killed);
    found(&made, Rule::KilledIsWhole);
}

#[test]
fn an_effect_that_comes_after_its_process_was_killed_is_found() {
    let mut made = Specimen::new();
    let number = made.next();
    made.operation("x", (10, 11), reserve(&["f"], How::Now), Ended::Killed);
    let rev = made.reserved("y", (20, 21), "b", "g");
    made.grant("x", "a", "f", number);
    assert_eq!(rev, 5);
    found(&made, Rule::RealTime);
}

#[test]
fn a_lease_that_nobody_asked_for_is_found() {
    let mut made = Specimen::new();
    made.grant("x", "a", "f", 77);
    found(&made, Rule::EveryEventHasACause);
}

#[test]
fn a_newcomer_that_overtakes_is_found() {
    let mut made = Specimen::new();
    let granted = made.reserved("x", (10, 11), "a", "f");
    let number = made.next();
    let seq = made.queue("y", "q", "f", number);
    let reply = json!({"rev": seq, "leases": [], "queued": {"id": id("q").as_str()}});
    made.answered("y", (12, 13), reserve(&["f"], How::Queue), 0, reply);
    made.released("x", (14, 15), "a", granted);
    made.reserved("x", (16, 17), "b", "f");
    found_by_both(&made, Rule::NobodyOvertakes);
}

#[test]
fn a_refusal_by_somebody_who_was_gone_already_is_found() {
    let mut made = Specimen::new();
    let granted = made.reserved("x", (10, 11), "a", "f");
    made.released("x", (12, 13), "a", granted);
    let blocker = json!({"blockers": [shown("x", "a", "f", granted)], "ahead": []});
    made.refused("y", (20, 21), reserve(&["f"], How::Now), "reservation-held", blocker);
    found_by_both(&made, Rule::RefusalsAreJust);
}

#[test]
fn a_refused_reservation_that_took_something_is_found() {
    let mut made = Specimen::new();
    let granted = made.reserved("x", (10, 11), "a", "f");
    let number = made.next();
    made.grant("y", "b", "g", number);
    let blocker = json!({"blockers": [shown("x", "a", "f", granted)], "ahead": []});
    made.refused("y", (12, 13), reserve(&["f", "g"], How::Now), "reservation-held", blocker);
    found(&made, Rule::RefusalsAreJust);
}

#[test]
fn a_lease_that_expired_before_its_time_is_found() {
    let mut made = Specimen::new();
    made.reserved("x", (10, 11), "a", "f");
    let (lease, holder) = (LeaseId(id("a")), agent("x"));
    made.kernel(Body::LeaseExpired { lease, holder, cause: ExpiryCause::Silence, last_seen: None });
    made.reserved("y", (12, 13), "b", "f");
    found(&made, Rule::NothingEndsEarly);
}

#[test]
fn a_renewal_after_the_deadline_is_found() {
    let mut made = Specimen::new();
    let granted = made.reserved("x", (10, 11), "a", "f");
    let number = made.next();
    let seq = made.renew("x", "a", number);
    let late_s = 2 * LONG_MS / 1_000;
    let reply = json!({"rev": seq, "leases": [shown("x", "a", "f", granted)]});
    made.answered("x", (late_s, late_s + 1), Ask::Renew(one("a", granted)), 0, reply);
    found(&made, Rule::FencesHold);
}

#[test]
fn a_failure_that_contention_does_not_explain_is_found() {
    let mut made = Specimen::new();
    made.refused("x", (10, 11), reserve(&["f"], How::Now), "store-corrupt", json!({}));
    found(&made, Rule::OnlyFairFailures);
}

#[test]
fn a_store_that_says_busy_is_fair_as_long_as_nothing_came_of_it() {
    let mut made = Specimen::new();
    made.refused("x", (10, 11), reserve(&["f"], How::Now), "store-busy", json!({}));
    assert!(made.breaches().is_empty() && made.search_finds_an_order(), "{:?}", made.breaches());
    let number = made.next();
    made.grant("x", "a", "f", number);
    made.refused("x", (12, 13), reserve(&["f"], How::Now), "store-busy", json!({}));
    found(&made, Rule::EveryEventHasACause);
}

#[test]
fn a_gap_in_the_log_is_found() {
    let mut made = Specimen::new();
    made.reserved("x", (10, 11), "a", "f");
    made.events.remove(3);
    found(&made, Rule::LogFolds);
}
