//! The published schemas: what programs are written against.

use crate::{app, home};
use clearway_testkit::schema;
use clearway_wire::json;
use serde_json::Value;
use std::collections::BTreeSet;

#[test]
fn the_published_schemas_are_those_of_the_program() {
    let published: BTreeSet<String> = std::fs::read_dir(schema::directory())
        .expect("docs/schemas")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    let own: BTreeSet<String> = json::schemas().iter().map(|(name, _)| format!("{name}.json")).collect();
    assert_eq!(published, own);
    for (name, schema) in json::schemas() {
        let text =
            std::fs::read_to_string(schema::directory().join(format!("{name}.json"))).expect("a schema");
        let published: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(published, schema, "docs/schemas/{name}.json is out of date");
    }
}

#[test]
fn every_verb_answers_as_its_schema_says() {
    let home = home();
    let repository = app(&home);
    let directory = home.directory("man").display().to_string();
    let verbs: [&[&str]; 37] = [
        &["reserve", "src/a.rs", "--reason", "x"],
        &["reserve", "--kind", "name", "build"],
        &["reserve", "--kind", "write-set", "docs/"],
        &["check", "src/a.rs"],
        &["who", "src/a.rs"],
        &["renew"],
        &["leases"],
        &["agents"],
        &["mine"],
        &["diff"],
        &["radar"],
        &["snapshots"],
        &["statusline"],
        &["status"],
        &["status", "--cost"],
        &["where", "bob"],
        &["digest"],
        &["waits"],
        &["wait", "--cancel"],
        &["transfer", "--to", "bob", "docs/", "--kind", "write-set"],
        &["commit", "-m", "x", "main.rs"],
        &["release", "--all"],
        &["leases", "--history"],
        &["sweep"],
        &["audit", "verify"],
        &["audit", "anchor"],
        &["init", "-y"],
        &["doctor"],
        &["demo"],
        &["scope", "list"],
        &["scope", "adopt"],
        &["config", "show"],
        &["config", "path"],
        &["config", "classes"],
        &["explain"],
        &["explain", "usage"],
        &["man", &directory],
    ];
    let mut seen = BTreeSet::new();
    repository.grant("bob", &["z.rs"]);
    repository.write("main.rs", "changed\n");
    for words in verbs {
        repository.agent("alice").operator(&home).ok(words);
        let arguments: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        seen.insert(schema::name_for(&arguments, true));
    }
    for (words, name) in [(["events"].as_slice(), "events"), (&["audit", "export"], "audit-export")] {
        assert!(!repository.clearway().json(words).expect(0).lines().is_empty(), "{name}");
        seen.insert(name.to_owned());
    }
    repository.agent("alice").ok(&["reserve", "z.rs", "--queue"]);
    repository.agent("alice").ok(&["wait", "--for", "100ms"]);
    let operator =
        || repository.agent("root").env("CLEARWAY_OPERATOR_KEY", home.state().join("operator.key"));
    operator().ok(&["freeze", "--reason", "x"]);
    operator().ok(&["thaw", "--reason", "x"]);
    seen.extend(["wait", "freeze", "thaw"].map(str::to_owned));
    repository.write("z.rs", "changed\n");
    let taken = repository.agent("alice").ok(&["snapshot"])["snapshot"].to_string();
    for verb in ["show", "restore"] {
        repository.agent("alice").ok(&[verb, &taken]);
    }
    repository.agent("alice").ok(&["undo", &taken, "--dry-run"]);
    seen.extend(["snapshot", "show", "restore", "undo"].map(str::to_owned));
    let sent = repository.agent("bob").ok(&["send", "alice", "hello", "--ack"])["id"].clone();
    let sent = sent.as_str().expect("an id");
    let mail: [&[&str]; 10] = [
        &["inbox"],
        &["read", sent],
        &["thread", sent],
        &["threads"],
        &["search", "hello"],
        &["stale-acks", "--older-than", "1ms"],
        &["ack", sent],
        &["policy", "auto"],
        &["contacts", "--add", "bob"],
        &["broadcast", "--topic", "x", "hello"],
    ];
    for words in mail {
        repository.agent("alice").ok(words);
        seen.insert(words[0].to_owned());
    }
    seen.insert("send".to_owned());
    let asked = repository.agent("alice").ok(&["ask", "z.rs", "x"]);
    let id = asked["negotiations"][0]["id"].as_str().expect("an id").to_owned();
    repository.agent("alice").ok(&["negotiations"]);
    repository.agent("bob").ok(&["answer", &id, "release"]);
    repository.agent("alice").ok(&["force", &id, "--reason", "x"]);
    repository.agent("alice").ok(&["withdraw", &id]);
    operator().ok(&["halt", "bob", "--reason", "x"]);
    operator().ok(&["resume", "bob", "--reason", "x"]);
    let verbs = ["ask", "negotiations", "answer", "force", "withdraw", "halt", "resume"];
    seen.extend(verbs.map(str::to_owned));
    repository.clearway().ok(&["completions", "bash"]);
    repository.clearway().ok(&["help", "reserve"]);
    repository.clearway().fails("usage", 2, &["frobnicate"]);
    seen.extend(["completions", "help", "error"].map(str::to_owned));
    // What a person's command reads is checked where it is run.
    let verbs = json::schemas().into_iter().map(|(name, _)| name.to_owned()).filter(|name| name != "notify");
    let all: BTreeSet<String> = verbs.collect();
    assert_eq!(seen, all, "every schema has an answer");
}

#[test]
fn a_schema_refuses_what_it_does_not_describe() {
    let wrong = serde_json::json!({"ok": true, "rev": "four", "leases": null});
    let caught = std::panic::catch_unwind(|| schema::check("leases", &wrong));
    assert!(caught.is_err());
}
