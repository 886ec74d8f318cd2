//! A mailbox of any size: every message once, every answer within its budget, the newest in reach.

use super::{bodies, company};
use crate::{app, home, list, number};
use clearway_core::mail::{ANSWER_BYTES_MAX, SHOWN_BYTES_MAX};
use std::collections::BTreeMap;

const MESSAGES: usize = 250;

/// Sends so many messages from one shell, since a process for each would take the test's time for nothing.
fn fill(home: &clearway_testkit::Home, app: &clearway_testkit::Repository<'_>, count: usize, script: &str) {
    let script = format!("for n in $(seq {count}); do {script} || exit 1; done");
    let output = home.shell(app.path(), &script).output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn of_250_unread_messages_each_is_seen_once_within_the_budget_and_the_newest_is_in_reach() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    fill(&home, &app, MESSAGES, "clearway --agent ada send bob \"message $n\n$(seq 1 40)\" >/dev/null");
    let newest = app.agent("bob").ok(&["inbox", "--all", "--limit", "1"]);
    assert!(bodies(&newest)[0].starts_with("message 250\n"), "{newest}");
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut pages = 0;
    for round in 0..MESSAGES {
        let ran = app.agent("bob").json(&["inbox"]).expect(0);
        assert!(ran.stdout().len() <= ANSWER_BYTES_MAX, "{} bytes", ran.stdout().len());
        let page = ran.value();
        for body in bodies(&page) {
            *seen.entry(body.lines().next().unwrap_or_default().to_owned()).or_default() += 1;
        }
        assert_eq!(number(&page, "more") as usize, MESSAGES - seen.len(), "page {round}");
        pages += 1;
        if number(&page, "more") == 0 {
            break;
        }
    }
    assert_eq!((seen.len(), seen.values().copied().max()), (MESSAGES, Some(1)));
    assert!(pages > 3, "{pages}");
    assert!(list(&app.agent("bob").ok(&["inbox"]), "messages").is_empty());
}

#[test]
fn a_look_pages_through_everything_and_changes_nothing() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    fill(&home, &app, 60, "clearway --agent ada send bob \"message $n $(seq -s ' ' 1 200)\" >/dev/null");
    let events = app.events().len();
    for look in [&["inbox", "--peek"][..], &["inbox", "--all"]] {
        let (mut seen, mut words) = (Vec::new(), Vec::new());
        loop {
            let ran = app
                .agent("bob")
                .json(&[look, &words.iter().map(String::as_str).collect::<Vec<_>>()].concat());
            let text =
                app.agent("bob").run(&[look, &words.iter().map(String::as_str).collect::<Vec<_>>()].concat());
            assert!(ran.stdout().len() <= ANSWER_BYTES_MAX && text.stdout().len() <= ANSWER_BYTES_MAX);
            let page = ran.expect(0).value();
            seen.extend(list(&page, "messages").iter().map(|message| number(message, "seq")));
            let Some(next) = page["next"].as_u64() else { break };
            words = vec![if look[1] == "--all" { "--before" } else { "--skip" }.to_owned(), next.to_string()];
        }
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 60, "{look:?}");
    }
    assert_eq!(app.events().len(), events);
}

#[test]
fn a_long_message_is_cut_in_a_list_and_whole_when_it_is_read() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    let long = "line of text\n".repeat(2_000);
    app.agent("ada").run_with(long.as_bytes(), &["send", "bob", "-", "--id", "long"]).expect(0);
    let page = app.agent("bob").ok(&["inbox"]);
    let message = &list(&page, "messages")[0];
    assert_eq!(bodies(&page)[0].len() as u64 + number(message, "body_bytes_left"), long.len() as u64);
    assert!(bodies(&page)[0].len() <= SHOWN_BYTES_MAX);
    assert_eq!(bodies(&app.agent("bob").ok(&["read", "long"])), [long]);
}

#[test]
fn a_thousand_messages_of_ten_senders_at_once_are_delivered_exactly_once() {
    let home = home();
    let app = app(&home);
    let senders: Vec<String> = (0..10).map(|number| format!("sender-{number}")).collect();
    company(&app, &["bob"]);
    std::thread::scope(|scope| {
        for sender in &senders {
            let (home, app) = (&home, &app);
            scope.spawn(move || {
                let send =
                    format!("clearway --timeout 60s --agent {sender} send bob \"{sender} $n\" >/dev/null");
                fill(home, app, 100, &send);
            });
        }
    });
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    loop {
        let page = app.agent("bob").ok(&["inbox"]);
        for body in bodies(&page) {
            *seen.entry(body.to_owned()).or_default() += 1;
        }
        if number(&page, "more") == 0 {
            break;
        }
    }
    assert_eq!((seen.len(), seen.values().copied().max()), (1_000, Some(1)));
    app.clearway().ok(&["audit", "verify"]);
}
