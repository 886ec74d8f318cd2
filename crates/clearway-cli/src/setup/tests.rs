//! Awkward files, and what holds for every file.

use super::entries::{Entry, Shape, entries, is_ours};
use super::found::{State, all, state};
use super::journal::{Journal, Restored};
use super::place::{self, Form};
use clearway_core::agent::Client;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::path::Path;

const BINARY: &str = "/opt/a b/clearway";

fn form(client: Client) -> Form {
    match client {
        Client::Cursor | Client::Copilot => Form::Json(Shape::Flat),
        _ => Form::Json(Shape::Grouped),
    }
}

fn wanted(client: Client) -> Vec<Entry> {
    entries(client, BINARY, false)
}

fn whole() -> State {
    State::Whole { binary: BINARY.to_owned(), unattended: false }
}

/// Installs and checks everything that has to hold whatever the text was.
#[track_caller]
fn check(form: Form, client: Client, text: &str) -> String {
    let with = form.install(text, &wanted(client)).unwrap_or_else(|unfit| panic!("{unfit:?}: {text}"));
    assert_eq!(form.install(&with, &wanted(client)).as_ref(), Ok(&with), "twice is once");
    let document = form.value(&with).unwrap();
    assert_eq!(state(client, &document, form.shape()), whole(), "{with}");
    let mut left = with.chars();
    assert!(text.chars().all(|letter| left.any(|kept| kept == letter)), "{text} is not whole in {with}");
    let others = |document: &Value| -> Vec<Value> {
        all(document, form.shape())
            .into_iter()
            .map(|found| found.handler)
            .filter(|one| !is_ours(one))
            .collect()
    };
    assert_eq!(others(&document), others(&form.value(text).unwrap()), "{with}");
    let without = form.remove(&with, Some(text)).unwrap().text;
    let (left, before) = (form.value(&without).unwrap(), form.value(text).unwrap());
    assert_eq!(left, before, "{without}");
    let mut journal = Journal::default();
    journal.note(Path::new("/f"), Some(text), Some(text.to_owned()), &with);
    let journal = Journal::read(Some(&journal.text())).unwrap();
    let removed = form.remove(&with, Some(text)).unwrap();
    assert_eq!(journal.restored(Path::new("/f"), &with, removed), Restored::Bytes(text.to_owned()));
    without
}

const AWKWARD: [&str; 16] = [
    "",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "\u{feff}{\r\n\t\"a\": 1\r\n}\r\n",
    "{\"a\":1}",
    "{\"a\":[1,2],\"b\":{\"c\":null}}\n",
    "// only a comment",
    "{\n  // a comment\n  \"a\": 1, // beside it\n  /* before the end */\n}\n",
    "{\n\t\"hooks\": {},\n\t\"z\": true\n}",
    "{\"hooks\": {\"PreToolUse\": []}}\n",
    "{\n    \"hooks\": {\n        \"PreToolUse\": [\n            {\n                \"matcher\": \"*\",\n                \"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]\n            }, // theirs\n        ],\n    },\n}\n",
    "{\n  \"hooks\": {\n    \"preToolUse\": [ {\"command\": \"other\", \"matcher\": \".*\"} ]\n  }\n}\n",
    "{\"hooks\":{\"Notification\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"beep 'a b'\"}]}]},\"model\":\"x\"}",
    "{\n  \"text\": \"// no comment, \\\"hooks\\\": { \\u0041\",\n\n\n  \"number\": 1e3\n\n}\n\n",
];

#[test]
fn awkward_files_keep_every_byte_that_is_not_ours() {
    for client in place::all() {
        for text in AWKWARD {
            check(form(client), client, text);
        }
    }
}

/// Where nothing was empty before, taking away alone gives the very bytes back.
#[test]
fn what_is_added_is_taken_away_to_the_byte() {
    for text in AWKWARD.iter().filter(|text| text.trim_start_matches('\u{feff}').len() > 8) {
        for client in [Client::ClaudeCode, Client::Gemini] {
            let is_comment_only = text.starts_with("//");
            let without = check(form(client), client, text);
            assert!(is_comment_only || without == **text, "{without:?} was {text:?}");
        }
    }
}

#[test]
fn a_new_file_is_written_as_its_client_would_write_it() {
    let text = form(Client::Cursor).install("", &wanted(Client::Cursor)[..2]).unwrap();
    let expected = r#"{
  "version": 1,
  "hooks": {
    "sessionStart": [
      {"command": "'/opt/a b/clearway' hook cursor", "timeout": 5}
    ],
    "preToolUse": [
      {"command": "'/opt/a b/clearway' hook cursor", "timeout": 5, "matcher": ".*"}
    ]
  }
}
"#;
    assert_eq!(text, expected);
}

#[test]
fn ours_follow_those_of_others_in_the_style_of_the_file() {
    let text = "{\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{\"hooks\": [{\"type\": \"command\", \"command\": \"x\"}]} // mine\n\t\t]\n\t}\n}\n";
    let stop: Vec<Entry> =
        wanted(Client::ClaudeCode).into_iter().filter(|entry| entry.event == "Stop").collect();
    let ours = r#"{"hooks": [{"type": "command", "command": "/opt/a b/clearway", "args": ["hook", "claude"], "timeout": 5}]}"#;
    let expected = text.replace("} // mine", &format!("}}, // mine\n\t\t\t{ours}"));
    assert_eq!(form(Client::ClaudeCode).install(text, &stop).unwrap(), expected);
}

#[test]
fn older_entries_of_ours_are_replaced_and_doubled_ones_removed() {
    let form = form(Client::ClaudeCode);
    let old = form.install("{\"a\": 1}", &entries(Client::ClaudeCode, "/old/clearway", true)).unwrap();
    let new = form.install(&old, &wanted(Client::ClaudeCode)).unwrap();
    assert!(!new.contains("/old/clearway"), "{new}");
    assert_eq!(state(Client::ClaudeCode, &form.value(&new).unwrap(), form.shape()), whole());
    let mut doubled = form.value(&new).unwrap();
    let stop = doubled["hooks"]["Stop"].as_array_mut().unwrap();
    stop.push(stop[0].clone());
    stop[0]["hooks"].as_array_mut().unwrap().push(json!({"type": "command", "command": "theirs"}));
    assert_eq!(state(Client::ClaudeCode, &doubled, form.shape()), State::Changed);
    let single = form.install(&doubled.to_string(), &wanted(Client::ClaudeCode)).unwrap();
    let document = form.value(&single).unwrap();
    assert_eq!(state(Client::ClaudeCode, &document, form.shape()), whole(), "{single}");
    assert!(single.contains("theirs"));
    let bare = form.remove(&single, None).unwrap();
    assert!(bare.text.contains("theirs") && !bare.text.contains("clearway"), "{}", bare.text);
}

#[test]
fn files_that_a_client_could_not_read_are_refused() {
    for text in [
        "{",
        "[]",
        "1",
        "{\"hooks\": []}",
        "{\"hooks\": {\"PreToolUse\": {}}}",
        "{\"hooks\": null}",
        "{'a': 1}",
        "{\"a\": 1 \"b\": 2}",
        "{\"hooks\": {}, \"hooks\": {}}",
        "{}}",
        "{\"a\": }",
    ] {
        let refused = form(Client::ClaudeCode).install(text, &wanted(Client::ClaudeCode));
        assert!(refused.is_err(), "{text}: {refused:?}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(
        form(Client::ClaudeCode).install(&format!("{{\"a\":{deep}}}"), &wanted(Client::ClaudeCode)).is_err()
    );
    for text in ["a = ", "hooks = 1", "hooks = {}", "[hooks]\nPreToolUse = 1", "[hooks]\r\na = 1\nb = 2\r\n"]
    {
        let refused = Form::Toml.install(text, &wanted(Client::Codex));
        assert!(refused.is_err(), "{text}: {refused:?}");
    }
}

const TABLES: [&str; 6] = [
    "",
    "model = \"x\" # a comment\n\n[features]\nhooks = true\n",
    "[[hooks.PreToolUse]]\nmatcher = \"Bash\"\n\n[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"other\"\n",
    "[hooks]\nStop = [{ hooks = [{ type = \"command\", command = \"other\" }] }] # inline\n\n[hooks.state.\"/x:stop:0:0\"]\ntrusted_hash = \"h\"\n",
    "\u{feff}a = 1\r\n[b]\r\nc = '''\r\nx\r\n'''\r\n[[hooks.Stop]]\r\n[[hooks.Stop.hooks]]\r\ntype = \"command\"\r\ncommand = \"x\"\r\n[z]\r\n",
    "[[hooks.Stop]]\n  [[hooks.Stop.hooks]]\n  type = \"command\"\n  command = \"x\"",
];

#[test]
fn tables_keep_every_byte_that_is_not_ours() {
    for text in TABLES {
        check(Form::Toml, Client::Codex, text);
    }
    assert_eq!(Form::Toml.remove(TABLES[5], None).unwrap().text, TABLES[5]);
    assert!(!super::toml::carries_hooks(TABLES[1]) && super::toml::carries_hooks(TABLES[2]));
    assert!(!super::toml::carries_hooks("[hooks.state.x]\ntrusted_hash = \"h\"\n"));
}

#[test]
fn what_others_change_meanwhile_stays() {
    let (form, path) = (form(Client::ClaudeCode), Path::new("/f"));
    let with = form.install("{}\n", &wanted(Client::ClaudeCode)).unwrap();
    let mut journal = Journal::default();
    journal.note(path, Some("{}\n"), Some("{}\n".to_owned()), &with);
    let edited = with.replacen('{', "{\n  \"model\": \"x\", // new", 1);
    let removed = form.remove(&edited, journal.original(path)).unwrap();
    let Restored::Less(less) = journal.restored(path, &edited, removed) else { panic!("{edited}") };
    assert_eq!(form.value(&less).unwrap(), json!({"model": "x"}));
    assert!(less.contains("// new"));
    let bare = form.remove("{}\n", None).unwrap();
    assert_eq!(journal.restored(path, "{}\n", bare), Restored::Untouched);
}

fn texts() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~é🦀\\n\"]{0,8}".prop_map(Value::from),
    ];
    let handler = prop_oneof![
        Just(json!({"type": "command", "command": "other --flag"})),
        Just(json!({"command": "/old/clearway hook claude", "type": "command"})),
        Just(json!({"command": "/old/clearway", "args": ["hook", "claude"], "type": "command"})),
        Just(json!({"type": "prompt", "prompt": "p"})),
    ];
    let group = (proptest::option::of("[A-Z*|]{1,4}"), proptest::collection::vec(handler, 0..3)).prop_map(
        |(matcher, hooks)| match matcher {
            Some(matcher) => json!({"matcher": matcher, "hooks": hooks}),
            None => json!({"hooks": hooks}),
        },
    );
    let events = proptest::sample::select(vec!["PreToolUse", "Stop", "SessionEnd", "Notification"]);
    let hooks = proptest::collection::btree_map(events, proptest::collection::vec(group, 0..3), 0..3);
    let others = proptest::collection::btree_map("[a-z]{1,4}", leaf, 0..4);
    (proptest::option::of(hooks), others, any::<bool>(), any::<bool>()).prop_map(
        |(hooks, others, pretty, crlf)| {
            let mut root: serde_json::Map<String, Value> = others.into_iter().collect();
            if let Some(hooks) = hooks {
                root.insert("hooks".to_owned(), json!(hooks));
            }
            let text =
                if pretty { serde_json::to_string_pretty(&root) } else { serde_json::to_string(&root) };
            let text = text.unwrap();
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

proptest! {
    #[test]
    fn whatever_is_in_a_file_stays_and_ours_come_and_go(text in texts()) {
        let form = Form::Json(Shape::Grouped);
        let before = form.remove(&text, None).unwrap();
        prop_assert_eq!(&form.remove(&before.text, None).unwrap().text, &before.text);
        prop_assert!(all(&form.value(&before.text).unwrap(), Shape::Grouped).iter().all(|one| !is_ours(&one.handler)));
        check(form, Client::ClaudeCode, &before.text);
        let with = form.install(&text, &wanted(Client::ClaudeCode)).unwrap();
        let document = form.value(&with).unwrap();
        prop_assert_eq!(state(Client::ClaudeCode, &document, Shape::Grouped), whole());
    }

    #[test]
    fn no_text_is_too_strange_to_be_refused(text in "[{}\\[\\]\",:a-c /*\\n#=']{0,40}") {
        for form in [Form::Json(Shape::Grouped), Form::Json(Shape::Flat), Form::Toml] {
            let _ = form.install(&text, &wanted(Client::Codex));
            let _ = form.remove(&text, None);
        }
    }
}
