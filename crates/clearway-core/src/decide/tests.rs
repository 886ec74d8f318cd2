//! Limits that no story reaches by taking so many: the counts are set in the slice.

use super::*;
use crate::agent::{Agent, Caller, Client, ClientSession, IdentityKey};
use crate::command::{Await, Reserve, ScopeBirth, Stay, Want};
use crate::facts::Process;
use crate::ids::{Epoch, Fence, Seq};
use crate::lease::{Grade, Lease, Mode};
use crate::limits::{LEASES_PER_SCOPE_MAX, ROOT_PATTERNS_PER_SCOPE_MAX, WAIT_MS_MAX, WAITS_PER_SCOPE_MAX};
use crate::pattern::{Fold, Pattern};
use crate::slice::{AgentLookup, ScopeState};
use crate::slug::Slug;
use crate::target::{Target, Worktree};
use crate::time::{BootKey, Mono, Wall};
use crate::wait::{Wait, WaitView};

fn process(pid: u32) -> Process {
    Process {
        host: "host".to_owned(),
        boot: "boot".to_owned(),
        pid_namespace: "pid".to_owned(),
        pid,
        start: 1,
    }
}

fn now() -> Now {
    Now { boot: BootKey("boot".to_owned()), mono: Mono(1_000), wall: Wall(1_000) }
}

fn scope() -> ScopeState {
    ScopeState { rev: Seq(1), epoch: Epoch(1), boot: Some(now().boot), ..ScopeState::default() }
}

fn on(pattern: &str) -> Reserve {
    let target = Target::Path(Pattern::parse(pattern, Fold::Exact).unwrap());
    Reserve {
        wants: vec![Want { target, capacity: 1 }],
        worktree: Worktree("/w".to_owned()),
        mode: Mode::Exclusive,
        grade: Grade::Claimed,
        as_set: false,
        ttl_ms: 60_000,
        max_ms: None,
        reason: None,
        best_effort: false,
        bound: None,
        makes_way: false,
    }
}

fn decided(slice: &Slice, command: Command) -> Result<Success, Failure> {
    let caller = Caller { claim: AgentName::parse("ada"), ..Caller::default() };
    let request = Request { caller, command, idempotency_key: None, birth: ScopeBirth::default() };
    let mut entropy = |bytes: &mut [u8]| bytes.fill(7);
    match decide(slice, &request, &Facts::default(), &now(), &mut entropy) {
        Decision::Ready(verdict) => verdict.outcome,
        Decision::NeedsFacts(queries) => panic!("{queries:?}"),
    }
}

fn slug(outcome: Result<Success, Failure>) -> Option<Slug> {
    outcome.err().map(|failure| failure.slug)
}

#[test]
fn a_scope_has_so_many_leases_and_so_many_of_them_without_a_leading_directory() {
    let held = |live_leases, root_patterns| {
        let scope = ScopeState { live_leases, root_patterns, ..scope() };
        Slice { scope, ..Slice::default() }
    };
    let full = Some(Slug::QuotaExceeded);
    for (slice, pattern, expected) in [
        (held(LEASES_PER_SCOPE_MAX - 1, 0), "src/a", None),
        (held(LEASES_PER_SCOPE_MAX, 0), "src/a", full),
        (held(5_000, ROOT_PATTERNS_PER_SCOPE_MAX - 1), "*.rs", None),
        (held(5_000, ROOT_PATTERNS_PER_SCOPE_MAX), "*.rs", full),
        (held(5_000, ROOT_PATTERNS_PER_SCOPE_MAX), "src/*.rs", None),
    ] {
        assert_eq!(slug(decided(&slice, Command::Reserve(on(pattern)))), expected, "{pattern}");
    }
}

fn id<T>(parse: fn(&str) -> Option<T>, number: u64) -> T {
    parse(&format!("{number:08}")).unwrap()
}

fn held_by_another(pattern: &str) -> Lease {
    let Reserve { mut wants, worktree, mode, grade, ttl_ms, .. } = on(pattern);
    Lease {
        id: id(LeaseId::parse, 1),
        target: wants.remove(0).target,
        set: None,
        mode,
        grade,
        holder: id(AgentId::parse, 1),
        fence: Fence { epoch: Epoch(1), seq: Seq(1) },
        reason: None,
        worktree,
        slot: None,
        bound: None,
        handed_by: None,
        makes_way: false,
        ceded: Vec::new(),
        ttl_ms,
        granted: now().mono,
        deadline: Mono(90_000),
        end_max: None,
        created_at: now().wall,
        ended: None,
    }
}

#[test]
fn whoever_has_a_path_to_itself_takes_nothing_so_its_past_need_not_be_read() {
    let (own, path) = (held_by_another("src/a"), Pattern::parse("src/a", Fold::Exact).unwrap());
    let with = |lease: &Lease, overdue: &[LeaseId]| {
        let slice = Slice { leases: vec![lease.clone()], ..Slice::default() };
        slice.is_with(own.holder, &own.worktree, &path, |lease| overdue.contains(&lease.id))
    };
    assert!(with(&own, &[]));
    assert!(!with(&own, &[own.id]), "it may be over, and taken anew");
    assert!(!with(&held_by_another("src/**"), &[]), "a path of it may have made way");
    assert!(!with(&Lease { mode: Mode::Shared, ..own.clone() }, &[]), "others may have shared it since");
    assert!(!with(&Lease { holder: id(AgentId::parse, 2), ..own.clone() }, &[]));
    assert!(!with(&Lease { worktree: Worktree("/v".to_owned()), ..own.clone() }, &[]));
}

#[test]
fn a_caller_is_settled_where_nothing_else_that_was_found_can_be_it() {
    let session = |session: &str| ClientSession {
        client: Client::ClaudeCode,
        session: session.to_owned(),
        subagent: None,
        process: None,
    };
    let agent = |number, name: &str, client, key| Agent {
        id: id(AgentId::parse, number),
        name: AgentName::parse(name).unwrap(),
        client,
        key,
        parent: None,
        root: id(AgentId::parse, number),
        process: None,
        registered_at: now().wall,
        ended_at: None,
        halted: None,
    };
    let (here, terminal) = (session("here"), process(7));
    let one = agent(1, "one", Client::ClaudeCode, here.root_key());
    let beside = agent(2, "beside", Client::ClaudeCode, session("beside").root_key());
    let ada = agent(3, "ada", Client::Manual, IdentityKey("manual:ada".to_owned()));
    let typist = agent(4, "typist", Client::Terminal, IdentityKey::terminal(&terminal));
    let of_session = Caller { session: Some(here), ..Caller::default() };
    let as_ada = Caller { claim: AgentName::parse("ada"), ..of_session.clone() };
    let typed = Caller { terminal: Some(terminal), ancestors: vec![process(8)], ..Caller::default() };
    for (caller, found, expected) in [
        (&of_session, vec![one.clone(), beside.clone()], Some(&one)),
        (&of_session, vec![beside.clone()], Some(&beside)),
        (&of_session, vec![beside.clone(), ada.clone()], None),
        (&as_ada, vec![one.clone(), ada.clone()], Some(&ada)),
        (&as_ada, vec![one.clone()], None),
        (&typed, vec![typist.clone()], Some(&typist)),
        (&typed, vec![typist.clone(), one.clone()], None),
        (&typed, Vec::new(), None),
    ] {
        let settled = AgentLookup::of(caller).settled(&found);
        assert_eq!(settled, expected.map(|agent| agent.id), "{caller:?} {found:?}");
    }
}

fn waiting(number: u64) -> WaitView {
    let wait = Wait {
        id: id(WaitId::parse, number),
        agent: id(AgentId::parse, 100 + number),
        wanted: on("elsewhere"),
        place: Seq(number),
        attached: None,
        until: Mono(90_000),
        kept_until: None,
        offered_until: None,
        offers: 0,
        since: now().mono,
        created_at: now().wall,
    };
    WaitView { wait, heard: None }
}

#[test]
fn a_scope_has_so_many_places_in_its_queue() {
    for (places, expected) in
        [(WAITS_PER_SCOPE_MAX - 1, None), (WAITS_PER_SCOPE_MAX, Some(Slug::QuotaExceeded))]
    {
        let waits = (1..=places).map(waiting).collect();
        let slice = Slice { scope: scope(), leases: vec![held_by_another("f")], waits, ..Slice::default() };
        let request = Await { reserve: on("f"), stay: Stay::Durable, wait_ms: WAIT_MS_MAX, wait: None };
        assert_eq!(slug(decided(&slice, Command::Await(request))), expected, "{places}");
    }
}
