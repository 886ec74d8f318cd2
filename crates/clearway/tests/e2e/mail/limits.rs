//! What is too much or makes no sense: a slug, a hint, nothing half done.

use super::{bodies, company};
use crate::{app, home, list};
use clearway_core::mail::{BODY_BYTES_MAX, SUBJECT_CHARS_MAX};

#[test]
fn bad_input_has_a_slug_and_sends_nothing() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    let events = app.events().len();
    let many: Vec<String> = (0..1_000).map(|number| format!("agent-{number}")).collect();
    let (many, subject) = (many.join(","), "x".repeat(SUBJECT_CHARS_MAX + 1));
    let too_long = "x".repeat(BODY_BYTES_MAX + 1);
    for (slug, code, words) in [
        ("too-large", 2, &["send", &many, "x"][..]),
        ("too-large", 2, &["send", "bob", &too_long]),
        ("too-large", 2, &["broadcast", "--topic", "build", &too_long]),
        ("too-large", 2, &["send", "bob", "x", "--subject", &subject]),
        ("unknown-recipient", 5, &["send", "bob,nobody", "x"]),
        ("unknown-recipient", 5, &["send", "bob", "x", "--bcc", "nobody"]),
        ("unknown-thread", 5, &["send", "bob", "x", "--thread", "no-such-message"]),
        ("invalid-id", 2, &["send", "bob", "x", "--id", "no id"]),
        ("invalid-id", 2, &["read", "no id"]),
        ("invalid-name", 2, &["send", "bob", "x", "--topic", "two words"]),
        ("invalid-agent-name", 2, &["send", "b ob", "x"]),
        ("usage", 2, &["send", "ada", "to myself"]),
        ("usage", 2, &["send", "bob", " \n"]),
        ("usage", 2, &["send", "bob"]),
        ("usage", 2, &["inbox", "--skip", "3"]),
        ("not-found", 5, &["read", "no-such-message"]),
        ("not-found", 5, &["ack", "no-such-message"]),
        ("unknown-thread", 5, &["thread", "no-such-message"]),
        ("unknown-recipient", 5, &["contacts", "--add", "nobody"]),
        ("invalid-duration", 2, &["stale-acks", "--older-than", "soon"]),
    ] {
        let failure = app.agent("ada").fails(slug, code, words);
        assert!(!list(&failure, "hints").is_empty(), "{slug}: {failure}");
    }
    app.agent("ada")
        .run_with(&vec![b'x'; BODY_BYTES_MAX + 1], &["--json", "send", "bob", "-"])
        .slug("too-large");
    app.agent("ada")
        .run_with(&vec![b'x'; BODY_BYTES_MAX + 1], &["--json", "broadcast", "--topic", "build", "-"])
        .slug("too-large");
    app.agent("ada").run_with(b"\xff\xfe", &["--json", "send", "bob", "-"]).slug("usage");
    assert_eq!(app.events().len(), events);
    for agent in ["ada", "bob"] {
        let page = app.agent(agent).ok(&["inbox", "--all"]);
        assert!(bodies(&page).is_empty(), "nothing is kept for anybody: {page}");
    }
    let largest = "x".repeat(BODY_BYTES_MAX);
    app.agent("ada").run_with(largest.as_bytes(), &["--json", "send", "bob", "-"]).expect(0);
}

#[test]
fn a_name_that_is_nearly_right_is_suggested() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "otter"]);
    let failure = app.agent("ada").fails("unknown-recipient", 5, &["send", "oter", "hello"]);
    assert!(failure["hints"].to_string().contains("did you mean otter?"), "{failure}");
}

#[test]
fn looking_where_nobody_is_finds_nothing_and_makes_nothing() {
    let home = home();
    let app = app(&home);
    for words in [&["inbox"][..], &["inbox", "--all"], &["threads"], &["search", "x"], &["stale-acks"]] {
        app.agent("ada").ok(words);
    }
    assert!(!home.state().exists());
}
