use super::*;
use clearway_core::agent::{AgentName, Liveness};
use clearway_core::decide::Notice;
use clearway_core::failure::{Circle, CircleStep, Details, Failure, LeaseView, Retry};
use clearway_core::ids::{AgentId, Epoch, Fence, LeaseId, Seq};
use clearway_core::lease::{End, Ended, ExpiryCause, Grade, Lease, Mode};
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slug::Slug;
use clearway_core::target::{Target, Worktree};
use clearway_core::time::{BootKey, Mono, Now, Wall};
use serde_json::{Value, json};

fn now() -> Now {
    Now { boot: BootKey("boot".to_owned()), mono: Mono(100_000), wall: Wall(1_785_361_705_123) }
}

fn view() -> LeaseView {
    let lease = Lease {
        id: LeaseId::parse("lease000").unwrap(),
        target: Target::Path(Pattern::parse("src/**", Fold::Exact).unwrap()),
        set: None,
        mode: Mode::Exclusive,
        grade: Grade::Claimed,
        holder: AgentId::parse("agent000").unwrap(),
        fence: Fence { epoch: Epoch(1), seq: Seq(4) },
        reason: Some("split".to_owned()),
        worktree: Worktree("/app".to_owned()),
        slot: None,
        bound: None,
        handed_by: None,
        makes_way: false,
        ceded: Vec::new(),
        ttl_ms: 60_000,
        granted: Mono(90_000),
        deadline: Mono(150_000),
        end_max: None,
        created_at: Wall(1_785_361_695_123),
        ended: None,
    };
    let agent = AgentName::parse("ada").unwrap();
    LeaseView {
        deadline: lease.deadline,
        lease,
        agent,
        liveness: Liveness::Idle,
        is_halted: false,
        waiters: 0,
        in_hand: false,
    }
}

fn value(of: &impl serde::Serialize) -> Value {
    serde_json::to_value(of).unwrap()
}

#[test]
fn a_blocker_is_a_lease_with_liveness_and_waiters_beside_its_fields() {
    assert_eq!(
        value(&Blocker::new(&view(), &now())),
        json!({
            "id": "lease000", "kind": "path", "pattern": "src/**", "mode": "exclusive", "grade": "claimed",
            "agent": "ada", "agent_id": "agent000", "fence": 1_099_511_627_780_u64, "reason": "split",
            "created_at": "2026-07-29T21:48:15.123Z", "expires_at": "2026-07-29T21:49:15.123Z",
            "expires_in_ms": 50_000, "state": "active", "worktree": "/app", "ttl_ms": 60_000, "set_id": null,
            "slot": null, "number": null, "pid": null, "ended_at": null, "ended_how": null, "liveness": "idle", "holder_halted": false,
            "ceded": [], "makes_way": false,
            "waiters": 0,
        })
    );
}

#[test]
fn an_ended_lease_has_no_time_left_and_says_how_it_ended() {
    let mut view = view();
    view.lease.ended = Some(Ended { how: End::Expired(ExpiryCause::Silence), at: Wall(0) });
    let lease = LeaseJson::new(&view, &now());
    assert_eq!((lease.state.as_str(), lease.expires_in_ms), ("expired", 0));
    assert_eq!(lease.ended_how.as_deref(), Some("silence"));
    assert_eq!(lease.ended_at.as_deref(), Some("1970-01-01T00:00:00.000Z"));
}

#[track_caller]
fn check_details(details: Details, pointer: &str, expect: Value) {
    let failure = Failure::new(Slug::StoreBusy, "busy").details(details);
    let failed = value(&Failed::new(&failure, &now()));
    assert_eq!(failed.pointer(&format!("/error/details{pointer}")), Some(&expect), "{failed}");
}

#[test]
fn details_have_one_shape_for_each_sort() {
    check_details(Details::None, "", json!({}));
    check_details(Details::FirstBadSeq(Seq(7)), "/first_bad_seq", json!(7));
    check_details(
        Details::Blockers { leases: vec![view()], ahead: Box::default() },
        "/blockers/0/agent",
        json!("ada"),
    );
    check_details(Details::Blockers { leases: Vec::new(), ahead: Box::default() }, "/blockers", json!([]));
    let lease = || Details::Lease { lease: Box::new(view()), held_now: Vec::new() };
    check_details(lease(), "/lease/id", json!("lease000"));
    check_details(lease(), "/held_now", json!([]));
    check_details(Details::field("agent", "ada".to_owned()), "/agent", json!("ada"));
    check_details(Details::field("pid", 17_u32), "/pid", json!(17));
    let step = |kept_by| CircleStep {
        agent: view().agent,
        waits_for: "build".to_owned(),
        of: view().agent,
        lease: None,
        kept_by,
    };
    let steps = vec![step(Some(17)), step(None)];
    let circle = || Details::Circle(Box::new(Circle { steps: steps.clone(), yielder: None }));
    check_details(circle(), "/cycle/0/kept_by", json!(17));
    check_details(circle(), "/cycle/1/kept_by", json!(null));
    for holders in [&["a"][..], &["a", "b"]] {
        let texts: Vec<String> = holders.iter().map(ToString::to_string).collect();
        check_details(Details::field("holders", texts), "/holders", json!(holders));
    }
}

#[test]
fn retry_says_when_and_only_then_how_long() {
    for (retry, expect) in [
        (Retry::Never, json!({ "when": "never" })),
        (Retry::Now, json!({ "when": "now" })),
        (Retry::AfterMs(5), json!({ "when": "after", "ms": 5 })),
        (Retry::AfterMs(u64::MAX), json!({ "when": "after", "ms": INTEGER_MAX })),
    ] {
        let failure = Failure::new(Slug::StoreBusy, "busy").retry(retry);
        assert_eq!(value(&Failed::new(&failure, &now()))["error"]["retry"], expect);
    }
}

#[test]
fn notices_name_what_and_whom_they_are_about() {
    let (target, name) = ("src/a.rs".to_owned(), AgentName::parse("bob").unwrap());
    for (notice, code) in [
        (Notice::TookOver { target: target.clone(), from: name.clone(), is_gone: true }, "took-over"),
        (Notice::Yielded { target: target.clone(), from: name.clone() }, "yielded"),
        (Notice::ChangedHands { target, by: name }, "changed-hands"),
    ] {
        let json = NoticeJson::new(&notice, |hint| hint);
        assert_eq!((json.code.as_str(), json.target.as_deref()), (code, Some("src/a.rs")));
        assert!(json.message.contains("bob") && json.agent.as_deref() == Some("bob"));
    }
}

#[test]
fn every_schema_describes_an_object_and_says_what_is_required() {
    for (name, schema) in schemas() {
        assert_eq!(schema["type"], "object", "{name}");
        assert!(schema["required"].as_array().is_some_and(|required| !required.is_empty()), "{name}");
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema", "{name}");
    }
}

/// The words of an interface are listed where programs read about them.
#[test]
fn published_lists_of_words_are_whole() {
    use clearway_core::agent::Client;
    let published = |name: &str| {
        let found = schemas().into_iter().find(|(schema, _)| *schema == name);
        found.map(|(_, schema)| schema.to_string()).unwrap_or_else(|| panic!("no schema {name}"))
    };
    let clients = Client::ALL.map(Client::word);
    let causes = ExpiryCause::ALL.map(ExpiryCause::word);
    for (schema, words) in [("agents", clients.as_slice()), ("events", causes.as_slice())] {
        let text = published(schema);
        let missing: Vec<&&str> = words.iter().filter(|word| !text.contains(&format!("`{word}`"))).collect();
        assert!(missing.is_empty(), "{schema}: {missing:?}");
    }
    let states = [End::Released, End::Expired(ExpiryCause::Silence)].map(End::state_word);
    let leases = published("leases");
    assert!(states.iter().all(|state| leases.contains(&format!("`{state}`"))), "{leases}");
    assert!(!leases.contains("`transferred`"), "no lease is ever called that");
}
