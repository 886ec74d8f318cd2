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
        let text = app.agent("bob").run(&["inbox", "--peek"]).expect(0).stdout();
        assert!(text.len() <= ANSWER_BYTES_MAX, "{} bytes", text.len());
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
        assert_eq!(seen.len(), 60, "no page repeats anything of another: {look:?}");
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 60, "nothing is left out: {look:?}");
    }
    assert_eq!(app.events().len(), events);
}

/// Pages of two, of five messages: what one ends with, the next does not begin with.
#[test]
fn a_limited_look_goes_on_behind_what_it_showed() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    fill(&home, &app, 5, "clearway --agent ada send bob \"message $n\" --topic BUILD >/dev/null");
    for (look, on, oldest_first) in [
        (&["inbox", "--peek"][..], "--skip", true),
        (&["inbox", "--all"], "--before", false),
        (&["inbox", "--peek", "--topic", "build"], "--skip", true),
    ] {
        let (mut pages, mut words) = (Vec::new(), vec!["--limit".to_owned(), "2".to_owned()]);
        loop {
            let words_now: Vec<&str> = words.iter().map(String::as_str).collect();
            let page = app.agent("bob").ok(&[look, &words_now].concat());
            pages.push(bodies(&page).into_iter().map(str::to_owned).collect::<Vec<_>>());
            let Some(next) = page["next"].as_u64() else { break };
            words.truncate(2);
            words.extend([on.to_owned(), next.to_string()]);
        }
        assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1], "{look:?}");
        let mut all = pages.concat();
        if !oldest_first {
            all.reverse();
        }
        assert_eq!(all, (1..=5).map(|number| format!("message {number}")).collect::<Vec<_>>(), "{look:?}");
    }
}

/// The budget is that of the form that is asked for, and none of it lies idle while messages wait.
#[test]
fn a_page_is_filled_in_either_form() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    fill(
        &home,
        &app,
        230,
        "clearway --agent ada send bob \"message $n, a line as agents write them\" >/dev/null",
    );
    for look in [&["inbox", "--peek"][..], &["inbox", "--all"], &["search", "message"]] {
        for said in
            [app.agent("bob").run(look).expect(0).stdout(), app.agent("bob").json(look).expect(0).stdout()]
        {
            let bytes = said.len();
            assert!(bytes <= ANSWER_BYTES_MAX && bytes > ANSWER_BYTES_MAX * 7 / 8, "{look:?}: {bytes} bytes");
        }
    }
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
        let sending = senders.iter().map(|sender| {
            let (home, app) = (&home, &app);
            scope.spawn(move || {
                let send =
                    format!("clearway --timeout 60s --agent {sender} send bob \"{sender} $n\" >/dev/null");
                fill(home, app, 100, &send);
            })
        });
        let sending: Vec<_> = sending.collect();
        // Whoever reads meanwhile is never turned away.
        while sending.iter().any(|sender| !sender.is_finished()) {
            app.agent("bob").ok(&["inbox", "--peek", "--limit", "1"]);
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

/// However it is made, a message is shown with what fits of it, and nothing behind it is out of reach.
#[test]
fn no_message_is_too_much_for_an_inbox() {
    let home = home();
    let app = app(&home);
    let long = "claude-brisk-marten-with-a-name-as-long-as-one-may-be-20x-abcdef";
    let names: Vec<String> = (0..60).map(|number| format!("{:b<60}{number}", "a")).collect();
    company(&app, &["rx", long]);
    for name in &names {
        app.grant(name, &[&format!("{name}.rs")]);
    }
    let all = names.join(",");
    let subject = "\u{9b}".repeat(200);
    let bodies =
        ["1\n".repeat(500), "{\n}\n".repeat(500), "\u{1b}".repeat(3_000), "\u{202e}\n".repeat(9_000)];
    for body in &bodies {
        let words = ["--json", "send", "rx", "-", "--cc", &all, "--subject", &subject];
        app.agent(long).run_with(body.as_bytes(), &words).expect(0);
    }
    app.agent(long).ok(&["send", "rx", "plain later"]);
    let texts = app.agent("rx").run(&["inbox", "--all"]).expect(0).stdout();
    assert!(texts.contains("plain later") && texts.len() <= ANSWER_BYTES_MAX, "{}", texts.len());
    let mut seen = 0;
    while seen < bodies.len() + 1 {
        let text = app.agent("rx").run(&["inbox", "--peek"]).expect(0).stdout();
        assert!(text.len() <= ANSWER_BYTES_MAX, "{}", text.len());
        let ran = app.agent("rx").json(&["inbox"]).expect(0);
        assert!(ran.stdout().len() <= ANSWER_BYTES_MAX, "{}", ran.stdout().len());
        let page = ran.value();
        assert!(!list(&page, "messages").is_empty(), "after {seen}: {page}");
        seen += list(&page, "messages").len();
    }
}

/// Lists of threads and of what was not acknowledged have the same room, however much there is of either.
#[test]
fn no_list_of_mail_is_over_its_budget() {
    let home = home();
    let app = app(&home);
    let names: Vec<String> = (0..60).map(|number| format!("{:b<60}{number}", "a")).collect();
    company(&app, &["ada", "bob"]);
    for name in &names {
        app.grant(name, &[&format!("{name}.rs")]);
    }
    let all = names.join(",");
    let subject = "\u{9b}\u{202e}x".repeat(60);
    for body in ["one", "two", "three"] {
        app.agent("ada").ok(&["send", &all, body, "--subject", &subject, "--ack"]);
    }
    let script = format!(
        "for n in $(seq 40); do clearway --agent ada send bob hi --subject {} >/dev/null || exit 1; done",
        clearway_core::shell::word(&subject)
    );
    assert!(home.shell(app.path(), &script).output().expect("a shell").status.success());
    let fits = |words: &[&str]| {
        let ran = app.agent("ada").json(words).expect(0);
        for said in [ran.stdout(), app.agent("ada").run(words).expect(0).stdout()] {
            assert!(said.len() <= ANSWER_BYTES_MAX, "{words:?}: {} bytes", said.len());
        }
        ran.value()
    };
    let stale = fits(&["stale-acks", "--older-than", "1ms"]);
    let shown = list(&stale, "stale").len() as u64;
    // Two more messages, of which none is shown.
    assert!(shown > 5 && number(&stale, "more") == 60 - shown + 2, "{shown}: {}", stale["more"]);
    let (mut threads, mut before) = (0, u64::MAX.to_string());
    loop {
        let page = fits(&["threads", "--before", &before]);
        threads += list(&page, "threads").len();
        let Some(next) = page["next"].as_u64() else { break };
        before = next.to_string();
    }
    assert_eq!(threads, 43);
}

/// Several looks of one agent at once: what one shows as unread, none other does.
#[test]
fn looks_at_once_show_each_message_once() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    fill(&home, &app, 24, "clearway --agent ada send bob \"message $n\" >/dev/null");
    let looks: Vec<_> =
        (0..6).map(|_| app.agent("bob").spawn(&["--json", "inbox", "--limit", "4"])).collect();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for look in looks {
        let output = look.wait_with_output().expect("it ends");
        let page: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        bodies(&page).into_iter().for_each(|body| *seen.entry(body.to_owned()).or_default() += 1);
    }
    assert_eq!(seen.values().copied().max(), Some(1), "{seen:?}");
    let rest = app.agent("bob").ok(&["inbox"]);
    assert_eq!(seen.len() + list(&rest, "messages").len(), 24);
}

#[test]
fn what_goes_on_with_a_narrowed_inbox_is_narrowed_too() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "cy"]);
    for number in 0..3 {
        for from in ["ada", "cy"] {
            app.agent(from).ok(&["send", "bob", &format!("{from} {number}"), "--topic", "plan"]);
        }
    }
    for look in [&["inbox", "--peek"][..], &["inbox", "--all"], &["inbox"]] {
        let words = [look, &["--from", "cy", "--topic", "plan", "--limit", "1"]].concat();
        let (mut said, mut seen) = (app.agent("bob").run(&words).expect(0).stdout(), 0);
        loop {
            assert!(!said.contains("ada "), "{said}");
            seen += said.lines().filter(|line| line.contains("| cy ")).count();
            let Some((_, line)) = said.split_once(" more: ") else { break };
            let output = home.shell(app.path(), line.trim_end()).output().expect("a shell");
            said = String::from_utf8_lossy(&output.stdout).into_owned();
        }
        assert_eq!(seen, 3, "{look:?}");
    }
}

#[test]
fn beyond_the_last_message_it_is_not_said_that_nothing_is_unread() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    app.agent("ada").ok(&["send", "bob", "hello"]);
    let told = app.agent("bob").run(&["inbox", "--peek", "--skip", "5"]).expect(0).stdout();
    assert_eq!(told, "nothing more that is unread for bob\n");
}
