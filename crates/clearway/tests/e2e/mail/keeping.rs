//! How long mail is kept: by age and by number, as the user's file says, read or not, and how it is pruned.

use super::{bodies, company, unread};
use crate::{app, home, list, open_store, text};
use clearway_core::mail::FORGET_EVERY;
use clearway_core::time::Wall;
use clearway_testkit::{Home, Repository};
use clearway_wire::mail::{decode_message, encode_message};

/// Lets every message that lies in the store be so much older. No test can move the clock on.
fn grow_older(home: &Home, hours: i64) {
    let store = open_store(home);
    let mut rows = store.prepare("SELECT seq, message FROM messages").expect("a table");
    let rows: Vec<(i64, Vec<u8>)> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).and_then(Iterator::collect).expect("rows");
    for (seq, bytes) in rows {
        let mut message = decode_message(&bytes).expect("a message");
        message.at = Wall(message.at.0 - hours * 60 * 60 * 1_000);
        let change = "UPDATE messages SET message = ? WHERE seq = ?";
        store.execute(change, rusqlite::params![encode_message(&message), seq]).expect("a row");
    }
}

fn send(app: &Repository<'_>, body: &str) {
    app.agent("ada").ok(&["send", "bob", body]);
}

fn kept(app: &Repository<'_>) -> Vec<String> {
    let page = app.agent("bob").ok(&["inbox", "--all"]);
    bodies(&page).into_iter().map(str::to_owned).collect()
}

#[test]
fn a_message_is_kept_as_long_as_the_user_says_and_no_repository_or_agent_says_otherwise() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    send(&app, "old");
    grow_older(&home, 3);
    send(&app, "new");
    app.clearway().ok(&["sweep"]);
    assert_eq!(kept(&app), ["new", "old"], "thirty days, where nothing is said");
    app.write(".clearway.toml", "[mail]\nkept = \"1h\"\n");
    app.clearway().fails("config-unsafe", 78, &["sweep"]);
    std::fs::remove_file(app.path().join(".clearway.toml")).expect("a file");
    home.user_config("[mail]\nkept = \"59m\"\n");
    app.clearway().fails("config-bad-value", 78, &["sweep"]);
    home.user_config("[mail]\nkept = \"2h\"\n");
    let shown = app.clearway().ok(&["config", "show"]);
    let row = list(&shown, "settings").iter().find(|row| row["key"] == "mail.kept").expect("a row");
    assert_eq!(text(row, "value"), "2h");
    let swept = app.clearway().ok(&["sweep"]);
    let notice = &list(&swept, "notices")[0];
    assert_eq!(text(notice, "message"), "old messages that are kept no longer, read or not: 1", "{swept}");
    assert_eq!((kept(&app), bodies(&unread(&app, "bob"))), (vec!["new".to_owned()], vec!["new"]));
    assert_eq!(app.kinds().iter().filter(|kind| *kind == "mail.forgotten").count(), 1);
    app.clearway().ok(&["sweep"]);
    assert_eq!(app.kinds().iter().filter(|kind| *kind == "mail.forgotten").count(), 1, "once");
}

/// How far from a multiple of revisions is near.
const NEAR: u64 = 24;

/// Lets a scope come near the next multiple of so many revisions, and not past it.
fn come_near(app: &Repository<'_>, every: u64) {
    loop {
        let rev = app.agent("ada").ok(&["status"])["rev"].as_u64().expect("a number");
        let left = (every - 1 - rev % every).saturating_sub(NEAR / 2);
        if left == 0 {
            return;
        }
        let names: Vec<String> = (0..left.min(100)).map(|number| format!("n{rev}.{number}")).collect();
        let names = names.iter().map(String::as_str);
        app.agent("ada").ok(&["reserve", "--kind", "name"].into_iter().chain(names).collect::<Vec<_>>());
    }
}

/// More than one look at the oldest takes in: pruning goes on until nothing is left to prune.
#[test]
fn of_more_messages_than_are_kept_the_newest_stay_however_many_there_are() {
    let home = home();
    let app = app(&home);
    company(&app, &["ada", "bob"]);
    let count = 1_100;
    let senders: Vec<_> = (0..4)
        .map(|_| {
            let script = format!(
                "for n in $(seq {}); do clearway --agent ada send bob old >/dev/null || exit 1; done",
                count / 4
            );
            home.shell(app.path(), &script).spawn().expect("a shell")
        })
        .collect();
    for mut sender in senders {
        assert!(sender.wait().expect("it ends").success());
    }
    home.user_config("[mail]\nmessages = 3\n");
    let forgotten = || app.kinds().iter().filter(|kind| *kind == "mail.forgotten").count();
    come_near(&app, FORGET_EVERY);
    for _ in 0..NEAR {
        if forgotten() == 0 {
            send(&app, "another");
        }
    }
    assert_eq!(forgotten(), 2, "whoever sends does a part of it");
    for body in ["one", "two", "three"] {
        send(&app, body);
    }
    app.clearway().ok(&["sweep"]);
    assert_eq!(kept(&app), ["three", "two", "one"]);
    assert!(forgotten() > 2, "a sweep does the rest");
    app.clearway().ok(&["audit", "verify"]);
}
