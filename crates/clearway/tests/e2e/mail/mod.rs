//! Agents write to each other: every verb of mail through the real binary.

mod hooked;
mod keeping;
mod limits;
mod paging;
mod texts;

use crate::{app, each, home, list, number, text};
use clearway_testkit::Repository;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;

/// Agents who are known in a repository.
pub(crate) fn company(repository: &Repository<'_>, names: &[&str]) {
    for name in names {
        repository.grant(name, &[&format!("{name}.rs")]);
    }
}

/// What an agent has not read, which stays unread.
fn unread(repository: &Repository<'_>, agent: &str) -> Value {
    repository.agent(agent).ok(&["inbox", "--peek"])
}

/// What the messages of an answer say.
fn bodies(page: &Value) -> Vec<&str> {
    each(page, "messages", "body")
}

#[test]
fn everybody_who_is_named_gets_it_and_blind_copies_stay_hidden() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "cy", "dan", "gil"]);
    let sent =
        app.agent("ada").ok(&["send", "bob", "hello", "--cc", "cy", "--bcc", "dan,gil", "--subject", "plan"]);
    assert_eq!(sent["bcc"], serde_json::json!(["dan", "gil"]));
    let none: &[&str] = &[];
    for (agent, kind, sees_bcc) in
        [("bob", "to", none), ("cy", "cc", none), ("dan", "bcc", &["dan"]), ("gil", "bcc", &["gil"])]
    {
        let page = app.agent(agent).ok(&["inbox"]);
        let message = &list(&page, "messages")[0];
        assert_eq!((bodies(&page), text(message, "kind")), (vec!["hello"], kind), "{agent}");
        assert_eq!(each_text(message, "bcc"), sees_bcc, "{agent}: {message}");
        assert_eq!((each_text(message, "to"), each_text(message, "cc")), (vec!["bob"], vec!["cy"]));
        assert!(list(&app.agent(agent).ok(&["inbox"]), "messages").is_empty(), "{agent} read it");
    }
    for (agent, hidden) in
        [("bob", &["dan", "gil"][..]), ("cy", &["dan", "gil"]), ("dan", &["gil"]), ("gil", &["dan"])]
    {
        for words in [&["inbox", "--all"][..], &["threads"], &["events"], &["thread", text(&sent, "id")]] {
            let told = app.agent(agent).run(words).expect(0).stdout()
                + &app.agent(agent).json(words).expect(0).stdout();
            for name in hidden {
                assert!(!told.lines().any(|line| line.contains("hello") && line.contains(name)), "{told}");
                if words[0] != "events" {
                    assert!(!told.contains(name), "{agent} {words:?}: {told}");
                }
            }
        }
    }
    let recipients: Vec<Value> =
        app.events().iter().map(|event| event["data"]["recipients"].clone()).collect();
    let dan = app.clearway().ok(&["agents"]);
    let dan = list(&dan, "agents").iter().find(|agent| text(agent, "name") == "dan").expect("dan").clone();
    assert!(!Value::from(recipients).to_string().contains(text(&dan, "id")), "the log tells nobody");
    assert_eq!(
        list(&app.agent("ada").ok(&["inbox", "--all"]), "messages")[0]["bcc"],
        serde_json::json!(["dan", "gil"])
    );
}

/// A list of texts.
fn each_text<'v>(value: &'v Value, field: &str) -> Vec<&'v str> {
    list(value, field).iter().filter_map(Value::as_str).collect()
}

#[test]
fn the_same_id_is_the_same_message_or_an_error() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "cy"]);
    let words = ["send", "bob", "main is red", "--id", "build-17"];
    let first = app.agent("ada").ok(&words);
    let again = app.agent("ada").ok(&words);
    assert_eq!(again["replayed"], true, "{again}");
    for field in ["id", "thread", "seq", "to", "cc", "bcc", "denied"] {
        assert_eq!(first[field], again[field], "{field}");
    }
    let events = app.events().len();
    for (agent, words) in [
        ("ada", ["send", "bob", "main is green", "--id", "build-17"]),
        ("cy", ["send", "bob", "main is red", "--id", "build-17"]),
        ("ada", ["send", "cy", "main is red", "--id", "build-17"]),
    ] {
        app.agent(agent).fails("message-exists", 2, &words);
    }
    assert_eq!(app.events().len(), events, "nothing is half done");
    assert_eq!(bodies(&unread(&app, "bob")), ["main is red"]);
    assert!(bodies(&unread(&app, "cy")).is_empty());
}

#[test]
fn only_who_got_a_message_acknowledges_it_and_what_is_owed_is_listed() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "cy"]);
    let id = app.agent("ada").ok(&["send", "bob,cy", "deploy at five", "--ack", "--subject", "deploy"]);
    let id = text(&id, "id");
    app.agent("ada").fails("not-recipient", 3, &["ack", id]);
    app.agent("eve").fails("not-recipient", 3, &["ack", id]);
    app.agent("bob").fails("not-found", 5, &["ack", id, "no-such-message"]);
    let owed = |agent: &str| {
        let page = app.agent(agent).ok(&["stale-acks", "--older-than", "1ms"]);
        each(&page, "stale", "agent").into_iter().map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let both = BTreeSet::from(["bob".to_owned(), "cy".to_owned()]);
    assert_eq!((owed("ada"), owed("bob")), (both, BTreeSet::from(["bob".to_owned()])));
    let page = app.agent("ada").ok(&["stale-acks", "--older-than", "1ms"]);
    assert_eq!((text(&list(&page, "stale")[0], "subject"), &page["more"]), ("deploy", &0.into()));
    assert!(list(&app.agent("ada").ok(&["stale-acks"]), "stale").is_empty(), "none is ten minutes old");
    let acked = app.agent("bob").ok(&["ack", id]);
    assert_eq!(each_text(&acked, "acknowledged"), [id]);
    assert_eq!(each_text(&app.agent("bob").ok(&["ack", id]), "already_acknowledged"), [id]);
    assert_eq!((owed("ada"), owed("bob")), (BTreeSet::from(["cy".to_owned()]), BTreeSet::new()));
    assert!(bodies(&unread(&app, "bob")).is_empty(), "what is acknowledged was read");
    app.agent("cy").ok(&["ack", id]);
    assert!(owed("ada").is_empty());
    let elsewhere = home.repository("other", &[("x.rs", "\n")]);
    company(&elsewhere, &["ada", "bob"]);
    elsewhere.agent("ada").ok(&["send", "bob", "deploy there", "--ack"]);
    let second = app.agent("ada").ok(&["send", "bob", "deploy at six", "--ack"]);
    let third = app.agent("ada").ok(&["send", "cy", "deploy at seven", "--cc", "bob", "--ack"]);
    app.agent("bob").ok(&["read", text(&second, "id")]);
    let page = app.agent("bob").ok(&["stale-acks", "--older-than", "1ms"]);
    let order: Vec<(&str, &str)> =
        list(&page, "stale").iter().map(|row| (text(row, "id"), text(row, "kind"))).collect();
    assert_eq!(order, [(text(&second, "id"), "to"), (text(&third, "id"), "cc")], "oldest first: {page}");
    let read: Vec<bool> = list(&page, "stale").iter().map(|row| row["read_at"].is_string()).collect();
    assert_eq!(read, [true, false], "one was read and is owed all the same: {page}");
    app.agent("bob").ok(&["ack", text(&second, "id")]);
    app.agent("cy").ok(&["ack", text(&third, "id")]);
    assert_eq!(app.kinds().iter().filter(|kind| *kind == "mail.acknowledged").count(), 4);
    app.clearway().ok(&["audit", "verify"]);
}

#[test]
fn a_thread_is_opened_by_any_of_its_messages_and_listed_newest_first() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "cy"]);
    let first = app.agent("ada").ok(&["send", "bob", "who owns db:migrate?", "--subject", "migration"]);
    let first = text(&first, "id");
    let other = app.agent("ada").ok(&["send", "cy", "lunch?"]);
    let second =
        app.agent("bob").ok(&["send", "ada", "I do", "--thread", first, "--importance", "high", "--ack"]);
    let third = app.agent("ada").ok(&["send", "bob", "thanks", "--thread", text(&second, "id")]);
    assert_eq!((text(&second, "thread"), text(&third, "thread")), (first, first));
    for id in [first, text(&second, "id"), text(&third, "id")] {
        let thread = app.agent("bob").ok(&["thread", id]);
        assert_eq!(
            (text(&thread, "thread"), bodies(&thread)),
            (first, vec!["who owns db:migrate?", "I do", "thanks"])
        );
        let heads: Vec<(Option<&str>, &str, bool)> = list(&thread, "messages")
            .iter()
            .map(|message| {
                let asks = message["ack_required"].as_bool().expect("a flag");
                (message["subject"].as_str(), text(message, "importance"), asks)
            })
            .collect();
        let plain = (None, "normal", false);
        assert_eq!(heads, [(Some("migration"), "normal", false), (None, "high", true), plain]);
    }
    let threads = app.agent("ada").ok(&["threads"]);
    assert_eq!(each(&threads, "threads", "thread"), [first, text(&other, "id")]);
    let newest = &list(&threads, "threads")[0];
    assert_eq!((number(newest, "messages"), number(newest, "unread")), (3, 1));
    assert_eq!((text(newest, "subject"), &newest["ack_owed"]), ("migration", &true.into()));
    app.agent("cy").fails("unknown-thread", 5, &["thread", first]);
    app.agent("cy").fails("unknown-thread", 5, &["send", "ada", "me too", "--thread", first]);
}

/// However many there are, the older ones are reached from the page before.
#[test]
fn older_threads_and_the_older_messages_of_one_are_in_reach() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    app.agent("ada").ok(&["send", "bob", "first", "--id", "long"]);
    let script = "for n in $(seq 1 120); do \
        clearway --agent ada send bob \"thread $n\" --id \"t-$n\" >/dev/null || exit 1; \
        clearway --agent ada send bob \"$n $(seq -s ' ' 1 100)\" --thread long >/dev/null || exit 1; done";
    assert!(home.shell(app.path(), script).output().expect("a shell").status.success());
    let (mut threads, mut words) = (Vec::new(), Vec::new());
    loop {
        let page =
            app.agent("bob")
                .ok(&[&["threads"], &words.iter().map(String::as_str).collect::<Vec<_>>()[..]].concat());
        threads.extend(each(&page, "threads", "thread").into_iter().map(str::to_owned));
        let Some(next) = page["next"].as_u64() else { break };
        words = vec!["--before".to_owned(), next.to_string()];
    }
    let newest_first = (1..=120).rev().map(|number| format!("t-{number}"));
    assert_eq!(threads, std::iter::once("long".to_owned()).chain(newest_first).collect::<Vec<_>>());
    let (mut seen, mut words): (Vec<u64>, Vec<String>) = (Vec::new(), Vec::new());
    loop {
        let page = app.agent("bob").ok(&[
            &["thread", "long"],
            &words.iter().map(String::as_str).collect::<Vec<_>>()[..],
        ]
        .concat());
        let mut here: Vec<u64> =
            list(&page, "messages").iter().map(|message| number(message, "seq")).collect();
        here.extend(std::mem::take(&mut seen));
        seen = here;
        let Some(next) = page["next"].as_u64() else { break };
        words = vec!["--before".to_owned(), next.to_string()];
    }
    assert_eq!(seen.len(), 121);
    assert!(
        seen.is_sorted() && seen.windows(2).all(|pair| pair[0] < pair[1]),
        "each once, in order: {seen:?}"
    );
}

#[test]
fn importance_orders_and_filters_narrow() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "cy"]);
    app.agent("ada").ok(&["send", "bob", "one", "--topic", "BUILD"]);
    app.agent("cy").ok(&["send", "bob", "whenever", "--importance", "low"]);
    app.agent("cy").ok(&["send", "ada", "for bob to know", "--cc", "bob", "--importance", "high"]);
    app.agent("ada").ok(&["send", "bob", "fire", "--urgent"]);
    assert_eq!(bodies(&unread(&app, "bob")), ["fire", "for bob to know", "one", "whenever"]);
    for (words, expect) in [
        (&["--topic", "build"][..], vec!["one"]),
        (&["--from", "cy"], vec!["for bob to know", "whenever"]),
        (&["--kind", "cc"], vec!["for bob to know"]),
        (&["--since", "1h", "--from", "ada"], vec!["fire", "one"]),
        (&["--limit", "1"], vec!["fire"]),
    ] {
        let page = app.agent("bob").ok(&[&["inbox", "--peek"], words].concat());
        assert_eq!(bodies(&page), expect, "{words:?}");
    }
    // Whoever looks for some of it is not told that there is none at all.
    for (words, said) in [
        (&["inbox", "--topic", "lunch"][..], "nothing unread like that for bob\n"),
        (&["inbox", "--all", "--topic", "lunch"], "no messages like that for bob\n"),
    ] {
        assert_eq!(app.agent("bob").run(words).expect(0).stdout(), said);
    }
    let all = app.agent("bob").ok(&["inbox", "--all", "--from", "ada"]);
    assert_eq!(bodies(&all), ["fire", "one"], "newest first");
    app.agent("bob").fails("unknown-recipient", 5, &["inbox", "--from", "nobody"]);
    app.agent("bob").fails("invalid-duration", 2, &["inbox", "--since", "soon"]);
}

#[test]
fn words_are_found_in_ones_own_mail_and_nowhere_else() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "cy"]);
    app.agent("ada").ok(&["send", "bob", "the Parser is split", "--subject", "news"]);
    app.agent("ada").ok(&["send", "cy", "the parser is slow"]);
    app.agent("bob").ok(&["send", "ada", "parser: thanks"]);
    let found = |agent: &str, words: &[&str]| {
        let page = app.agent(agent).ok(&[&["search"], words].concat());
        bodies(&page).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(found("bob", &["parser"]), ["parser: thanks", "the Parser is split"]);
    assert_eq!(found("bob", &["news", "SPLIT"]), ["the Parser is split"]);
    assert!(found("bob", &["slow"]).is_empty());
    assert_eq!(found("ada", &["parser"]).len(), 3);
    assert!(found("eve", &["parser"]).is_empty());
}

#[test]
fn a_broadcast_needs_a_topic_skips_the_dead_and_comes_only_so_often() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "cy", "dan", "gil"]);
    app.clearway().session("over").ok(&["reserve", "over.rs"]);
    let ended = serde_json::json!({"session_id": "over", "hook_event_name": "SessionEnd", "cwd": app.path(), "reason": "exit"});
    app.clearway().run_with(ended.to_string().as_bytes(), &["hook", "claude"]).expect(0);
    app.agent("dan").ok(&["policy", "block"]);
    app.agent("ada").fails("usage", 2, &["broadcast", "main is red"]);
    let sent = app.agent("ada").ok(&["broadcast", "--topic", "build", "main is red"]);
    assert_eq!(
        each_text(&sent, "to").into_iter().collect::<BTreeSet<_>>(),
        BTreeSet::from(["bob", "cy", "gil"])
    );
    assert_eq!(each_text(&sent, "denied"), ["dan"]);
    assert!(bodies(&unread(&app, "ada")).is_empty(), "nobody gets its own");
    assert_eq!(
        (bodies(&unread(&app, "cy")), bodies(&unread(&app, "gil"))),
        (vec!["main is red"], vec!["main is red"])
    );
    let got = unread(&app, "bob");
    assert_eq!((bodies(&got), text(&list(&got, "messages")[0], "kind")), (vec!["main is red"], "broadcast"));
    assert!(bodies(&unread(&app, "dan")).is_empty());
    for _ in 1..10 {
        app.agent("ada").ok(&["broadcast", "--topic", "build", "again"]);
    }
    let failure =
        app.agent("ada").fails("quota-exceeded", 3, &["broadcast", "--topic", "build", "once more"]);
    assert_eq!(text(&failure["retry"], "when"), "after");
    assert!((1..=60_000).contains(&number(&failure["retry"], "ms")), "{failure}");
    assert_eq!(bodies(&unread(&app, "bob")).len(), 10, "the one that was too much reached nobody");
    app.agent("bob").ok(&["broadcast", "--topic", "build", "mine"]);
}

#[test]
fn a_policy_keeps_mail_out_and_contacts_and_threads_get_through() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "cy"]);
    let thread = app.agent("bob").ok(&["send", "ada", "a question"]);
    let set = app.agent("bob").ok(&["policy", "contacts"]);
    assert_eq!(text(&set, "policy"), "contacts");
    let events = app.events().len();
    app.agent("ada").fails("not-accepted", 3, &["send", "cy,bob", "hello"]);
    assert_eq!(app.events().len(), events + 1, "the denial is on record, and nothing else");
    assert!(bodies(&unread(&app, "cy")).is_empty());
    app.agent("ada").ok(&["send", "bob", "an answer", "--thread", text(&thread, "id")]);
    assert_eq!(each_text(&app.agent("bob").ok(&["contacts", "--add", "cy"]), "contacts"), ["cy"]);
    app.agent("cy").ok(&["send", "bob", "a friend"]);
    assert!(list(&app.agent("bob").ok(&["contacts", "--remove", "cy"]), "contacts").is_empty());
    app.agent("bob").ok(&["policy", "auto"]);
    app.agent("ada").fails("not-accepted", 3, &["send", "bob", "hello"]);
    app.agent("ada").ok(&["reserve", "--queue", "bob.rs"]);
    app.agent("ada").ok(&["send", "bob", "I wait for bob.rs"]);
    app.agent("bob").ok(&["policy", "block"]);
    app.agent("ada").fails("not-accepted", 3, &["send", "bob", "hello", "--thread", text(&thread, "id")]);
    assert_eq!(text(&app.agent("bob").ok(&["policy"]), "policy"), "block");
    assert_eq!(bodies(&unread(&app, "bob")), ["an answer", "a friend", "I wait for bob.rs"]);
}

#[test]
fn mail_stays_inside_one_scope() {
    let home = home();
    let (app, other) = (app(&home), home.repository("other", &[("x.rs", "\n")]));
    company(&app, &["ada", "bob"]);
    company(&other, &["bob", "cy"]);
    app.agent("ada").ok(&["send", "bob", "here"]);
    app.agent("ada").fails("unknown-recipient", 5, &["send", "cy", "there"]);
    assert!(bodies(&unread(&other, "bob")).is_empty());
    assert_eq!(bodies(&unread(&app, "bob")), ["here"]);
}

#[test]
fn a_repair_keeps_the_texts_and_one_that_is_lost_is_named() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    app.agent("ada").ok(&["send", "bob", "kept", "--id", "kept"]);
    app.agent("ada").ok(&["send", "bob", "lost", "--id", "lost"]);
    let store = crate::open_store(&home);
    store
        .execute_batch("DELETE FROM mailbox; UPDATE messages SET text = 'forged' WHERE id = 'lost'")
        .expect("a change");
    let broken = app.clearway().fails("audit-broken", 1, &["audit", "verify"]);
    assert!(broken["message"].to_string().contains("mailbox"), "{broken}");
    let repaired = app.clearway().operator(&home).run(&["doctor", "--repair"]);
    assert!((repaired.stdout() + &repaired.stderr()).contains("lost"), "{}", repaired.stdout());
    let page = unread(&app, "bob");
    assert_eq!(
        list(&page, "messages").iter().map(|message| message["body"].clone()).collect::<Vec<_>>(),
        ["kept".into(), Value::Null]
    );
    let shown = app.agent("bob").run(&["inbox"]).expect(0).stdout();
    assert!(shown.contains("its text is lost") && !shown.contains("forged"), "{shown}");
    let doctor = app.clearway().run(&["doctor"]).stdout();
    assert!(doctor.contains("lost"), "{doctor}");
}

/// Nothing that is on record tells who got a message blindly: not that it was sent, refused, read or acknowledged.
#[test]
fn the_log_tells_nobody_who_got_it_blindly_whatever_that_agent_does() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob", "dee"]);
    let before = app.events().len();
    let sent = app.agent("ada").ok(&["send", "bob", "hello", "--bcc", "dee", "--ack"]);
    app.agent("dee").ok(&["inbox"]);
    app.agent("dee").ok(&["ack", text(&sent, "id")]);
    app.agent("bob").ok(&["inbox"]);
    app.agent("bob").ok(&["ack", text(&sent, "id")]);
    app.agent("dee").ok(&["policy", "block"]);
    app.agent("ada").fails("not-accepted", 3, &["send", "bob", "hello", "--bcc", "dee"]);
    let agents = app.clearway().ok(&["agents"]);
    let dee = list(&agents, "agents").iter().find(|agent| agent["name"] == "dee").expect("dee").clone();
    let dee = text(&dee, "id");
    let lines = app.agent("bob").run(&["events"]).expect(0).stdout();
    let told: Vec<&str> =
        lines.lines().skip(before).filter(|line| !line.contains("mail.rules-set")).collect();
    assert!(!told.is_empty() && !told.iter().any(|line| line.contains("dee")), "{told:#?}");
    let events: Vec<Value> = app.events().split_off(before);
    let told = events.iter().filter(|event| event["kind"] != "mail.rules-set");
    assert!(!told.clone().any(|event| event.to_string().contains(dee)), "{events:#?}");
    let kinds: Vec<&str> = told.map(|event| text(event, "kind")).collect();
    assert_eq!(kinds, ["mail.sent", "mail.read", "mail.acknowledged", "action.denied"]);
}

/// JSON holds what was sent, and no terminal obeys it.
#[test]
fn what_is_printed_as_json_steers_no_terminal() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    let body = "x \u{9b}2Jy \u{7f}\u{202e}\u{e0041} \u{1f980}";
    app.agent("ada").ok(&["send", "bob", body]);
    let ran = app.agent("bob").json(&["inbox"]).expect(0);
    assert!(
        !ran.stdout().trim_end().chars().any(|c| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c))
    );
    assert_eq!(bodies(&ran.value()), [body]);
}

/// A thread that somebody answers in was begun by what that one got, blindly maybe.
#[test]
fn an_answer_to_a_blind_copy_does_not_tell_of_it_by_its_thread() {
    let home = home();
    let app = app(&home);
    company(&app, &["ann", "bob", "dan"]);
    app.agent("ann").ok(&["send", "bob", "salaries", "--bcc", "dan", "--id", "m1"]);
    app.agent("dan").ok(&["send", "ann", "thanks", "--thread", "m1", "--id", "m2"]);
    let sent: Vec<Value> = app.events().into_iter().filter(|event| event["kind"] == "mail.sent").collect();
    assert_eq!(sent[0]["data"]["thread"], "m1", "{sent:?}");
    assert!(!sent[1].to_string().contains("m1"), "{sent:?}");
    let told = app.agent("bob").run(&["events"]).expect(0).stdout();
    assert!(!told.lines().any(|line| line.contains("dan") && line.contains("m1")), "{told}");
    assert_eq!(list(&app.agent("ann").ok(&["inbox", "--peek"]), "messages")[0]["thread"], "m1");
}

#[test]
fn who_takes_mail_from_nobody_is_not_said_to_take_answers() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    for (policy, takes_answers) in [("block", false), ("contacts", true)] {
        app.agent("bob").ok(&["policy", policy]);
        let error = app.agent("ada").fails("not-accepted", 3, &["send", "bob", "hello"]);
        assert_eq!(error["hints"].to_string().contains("in a thread"), takes_answers, "{error}");
    }
}

#[test]
fn a_text_that_is_not_utf8_is_called_a_text() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    let text: &OsStr = std::os::unix::ffi::OsStrExt::from_bytes(b"caf\xe9");
    for words in [["send", "bob"], ["ask", "bob.rs"]] {
        let words = [OsStr::new(words[0]), OsStr::new(words[1]), text];
        let error = app.agent("ada").json(&words).slug("usage");
        assert!(!error.to_string().contains("rename"), "{error}");
    }
}

#[test]
fn an_agent_that_looks_around_is_told_of_its_mail() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    app.agent("ada").ok(&["send", "bob", "main is red", "--urgent"]);
    let told = app.agent("bob").run(&["status"]).expect(0).stdout();
    assert!(told.contains("unread: 1, the first from ada: clearway --agent bob inbox"), "{told}");
    assert_eq!(number(&app.agent("bob").ok(&["status"]), "unread"), 1);
    app.agent("bob").ok(&["inbox"]);
    assert!(!app.agent("bob").run(&["status"]).expect(0).stdout().contains("unread"));
}
