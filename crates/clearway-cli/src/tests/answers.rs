//! What programs read: one document, the schema it promises, the exit code of the contract.

use super::schema::mismatch;
use super::stage::{Ran, Stage};
use clearway_wire::json::schemas;
use serde_json::{Value, json};
use std::ffi::OsString;

#[track_caller]
fn fits(name: &str, document: &Value) {
    let (_, schema) = schemas().into_iter().find(|(known, _)| *known == name).unwrap();
    assert_eq!(mismatch(&schema, document), None, "{name}: {document:#}");
}

/// Runs a line with `--json` and holds the answer against its schema.
#[track_caller]
fn check(stage: &mut Stage, line: &str, schema: &str, code: u8) -> Value {
    let ran = stage.run(&format!("{line} --json")).expect(code);
    let document = ran.json();
    fits(schema, &document);
    assert_eq!(document["ok"], json!(schema != "error"), "{line}");
    document
}

fn held() -> Stage {
    let mut stage = Stage::default();
    stage.run("--agent ada reserve src/a.rs --reason refactoring").expect(0);
    stage
}

#[test]
fn every_answer_is_one_document_that_fits_its_schema() {
    let mut stage = held();
    stage.seat_person();
    for (line, schema, code) in [
        ("--agent ada reserve src/b.rs docs/", "reserve", 0),
        ("--agent bob reserve src/a.rs README.md --best-effort", "reserve", 0),
        ("--agent bob reserve src/a.rs", "error", 1),
        ("--agent bob check src/a.rs", "check", 1),
        ("--agent bob check lib.rs", "check", 0),
        ("--agent ada renew --ttl 1h", "renew", 0),
        ("who src/a.rs", "who", 0),
        ("leases", "leases", 0),
        ("agents", "agents", 0),
        ("status", "status", 0),
        ("--agent ada release docs/", "release", 0),
        ("leases --history", "leases", 0),
        ("sweep --dry-run", "sweep", 0),
        ("--agent ada sweep", "sweep", 0),
        ("audit verify", "audit-verify", 0),
        ("audit anchor", "audit-anchor", 0),
        ("doctor", "doctor", 0),
        ("doctor --repair", "doctor", 0),
        ("scope list", "scope-list", 0),
        ("scope adopt", "scope-adopt", 0),
        ("scope adopt nowhere", "error", 5),
        ("config show", "config-show", 0),
        ("config path", "config-path", 0),
        ("config classes", "config-classes", 0),
        ("explain usage", "explain", 0),
        ("explain", "explain-all", 0),
        ("explain nonsense", "error", 5),
        ("completions bash", "completions", 0),
        ("man", "man", 0),
        ("help reserve", "help", 0),
        ("--version", "help", 0),
        ("reserve --help", "help", 0),
        ("frobnicate", "error", 2),
        ("reserve", "error", 2),
        ("--agent ada release zzzzzzzz", "error", 5),
        ("--agent ada reserve a[", "error", 2),
    ] {
        check(&mut stage, line, schema, code);
    }
}

#[test]
fn a_refusal_names_every_blocker_and_when_to_try_again() {
    let document = check(&mut held(), "--agent bob reserve src/a.rs", "error", 1);
    let error = &document["error"];
    assert_eq!((&error["slug"], &error["kind"]), (&json!("reservation-held"), &json!("negative")));
    assert_eq!(error["retry"], json!({ "when": "after", "ms": 1_800_000 }));
    let blocker = &error["details"]["blockers"][0];
    assert_eq!((&blocker["agent"], &blocker["reason"]), (&json!("ada"), &json!("refactoring")));
    assert_eq!((&blocker["liveness"], &blocker["waiters"]), (&json!("active"), &json!(0)));
}

#[test]
fn whoever_waits_at_a_place_that_was_given_up_in_between_does_not_join_again() {
    let mut stage = held();
    let queued = check(&mut stage, "--agent bob reserve src/a.rs --queue", "reserve", 0);
    let id = queued["queued"]["id"].as_str().unwrap().to_owned();
    stage.empties_queue.set(true);
    let document = check(&mut stage, &format!("--agent bob wait {id} --for 5m"), "error", 1);
    assert_eq!(document["error"]["slug"], "reservation-held");
    assert_eq!(check(&mut stage, "waits", "waits", 0)["waits"], json!([]));
}

#[test]
fn best_effort_succeeds_with_anything_and_lists_the_rest() {
    let document = check(&mut held(), "--agent bob reserve src/a.rs b.rs --best-effort", "reserve", 0);
    assert_eq!(document["leases"][0]["pattern"], "b.rs");
    assert_eq!(document["refused"][0]["pattern"], "src/a.rs");
    check(&mut held(), "--agent bob reserve src/a.rs --best-effort", "error", 1);
}

#[test]
fn releasing_what_is_gone_or_was_never_held_is_no_error() {
    let mut stage = held();
    let id = stage.run("leases --json").json()["leases"][0]["id"].as_str().unwrap().to_owned();
    let first = check(&mut stage, &format!("--agent ada release {id}"), "release", 0);
    assert_eq!((&first["released"], &first["already_released"]), (&json!([id]), &json!([])));
    let again = check(&mut stage, &format!("--agent ada release {id}"), "release", 0);
    assert_eq!((&again["released"], &again["already_released"]), (&json!([]), &json!([id])));
    let none = check(&mut stage, "--agent ada release other.rs", "release", 0);
    assert_eq!((&none["released"], &none["remaining"]), (&json!([]), &json!([])));
}

#[test]
fn a_lease_of_somebody_else_or_of_the_past_is_told_apart_by_exit_code() {
    let mut stage = held();
    let id = stage.run("leases --json").json()["leases"][0]["id"].as_str().unwrap().to_owned();
    stage.run("--agent bob reserve other.rs").expect(0);
    check(&mut stage, &format!("--agent bob release {id}"), "error", 3);
    check(&mut stage, &format!("--agent ada renew {id}@1"), "error", 4);
    stage.pass_ms(31 * 60 * 1_000);
    let expired = check(&mut stage, &format!("--agent ada renew {id}"), "error", 4);
    assert_eq!(expired["error"]["slug"], "lease-expired");
}

#[test]
fn a_repeated_request_says_that_it_was_one() {
    let mut stage = Stage::default();
    let line = "--agent ada reserve a.rs --idempotency-key k";
    let first = check(&mut stage, line, "reserve", 0);
    let again = check(&mut stage, line, "reserve", 0);
    assert_eq!((&first["replayed"], &again["replayed"]), (&json!(false), &json!(true)));
    assert_eq!(first["leases"][0]["id"], again["leases"][0]["id"]);
}

#[test]
fn events_are_lines_that_fit_their_schema_and_chain_up() {
    let mut stage = held();
    stage.run("--agent bob reserve src/a.rs").expect(1);
    let lines =
        |ran: Ran| ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>();
    let events = lines(stage.run("events --json").expect(0));
    events.iter().for_each(|event| fits("events", event));
    let kinds: Vec<&str> = events.iter().filter_map(|event| event["kind"].as_str()).collect();
    assert_eq!(
        kinds,
        [
            "scope.opened",
            "epoch.began",
            "agent.registered",
            "lease.granted",
            "agent.registered",
            "reservation.refused"
        ]
    );
    let exported = lines(stage.run("audit export").expect(0));
    exported.iter().for_each(|event| fits("audit-export", event));
    let hashes = |list: &[Value]| list.iter().map(|event| event["hash"].clone()).collect::<Vec<_>>();
    assert_eq!(hashes(&events), hashes(&exported));
    let cursor = format!("events --json --from 4@{}", events[3]["hash"].as_str().unwrap());
    assert_eq!(lines(stage.run(&cursor).expect(0)), events[4..]);
    assert_eq!(lines(stage.run("events --json --from 2 --limit 2").expect(0)), events[1..3]);
    assert_eq!(stage.run("events --json --limit 0").expect(0).stdout, "");
}

#[test]
fn an_argument_that_is_not_utf8_is_an_invalid_path() {
    use std::os::unix::ffi::OsStringExt as _;
    let words = vec![OsString::from("reserve"), OsString::from_vec(vec![0xff]), OsString::from("--json")];
    let document = Stage::default().run_words(words).expect(2).json();
    assert_eq!(document["error"]["slug"], "invalid-path");
}

#[test]
fn commands_that_only_read_leave_no_trace() {
    let mut stage = Stage::default();
    for line in [
        "status",
        "leases",
        "agents",
        "who a.rs",
        "--agent ada check a.rs",
        "events",
        "audit verify",
        "doctor",
    ] {
        stage.run(line).expect(0);
    }
    assert_eq!(stage.run("status --json").json()["rev"], 0);
    assert!(stage.files.is_empty());
}

#[test]
fn an_anchor_vouches_for_the_head_that_was_verified_and_not_for_a_later_one() {
    let mut stage = held();
    stage.seat_person();
    let verified = check(&mut stage, "audit verify", "audit-verify", 0);
    stage.is_busy = true;
    let anchored = check(&mut stage, "audit anchor", "audit-anchor", 0);
    assert_eq!((&anchored["rev"], &anchored["head"]), (&verified["rev"], &verified["head"]));
}

#[test]
fn what_is_shown_of_one_scope_is_of_one_moment() {
    let mut stage = held();
    for line in ["status", "leases"] {
        stage.looks.set(0);
        stage.run(line).expect(0);
        assert_eq!(stage.looks.get(), 1, "{line}");
    }
}

#[test]
fn a_defect_of_ours_lets_an_edit_pass_with_a_word_and_leaves_the_streams_clean() {
    let mut stage = Stage::default();
    stage.run("--agent otter reserve a.rs").expect(0);
    stage.breaks = true;
    stage.input = r#"{"session_id":"s","cwd":"/app","hook_event_name":"PreToolUse","tool_name":"Edit","tool_input":{"file_path":"a.rs"}}"#.to_owned();
    let ran = stage.run("hook claude").expect(0);
    let said = ran.json();
    let told = said["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned();
    assert!(told.contains("clearway failed inside"), "{said}");
    assert_eq!(stage.run("hook claude").expect(0).stdout, "");
}
