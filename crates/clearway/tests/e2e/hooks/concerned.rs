//! A command reaches other checkouts than the one its agent stands in: the settings and the store of the checkout
//! concerned decide, and none of the others.

use super::gate::invited;
use crate::{app, home, open_store};
use clearway_testkit::{Answer, Client, Home, Repository};
use serde_json::json;
use std::fs;
use std::path::PathBuf;

fn runs(client: &mut Client, command: &str) -> Answer {
    client.event("PreToolUse", &json!({"tool_name": "Bash", "tool_input": {"command": command}}))
}

fn ran(client: &mut Client, command: &str) -> Answer {
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": command}, "tool_response": {}});
    client.event("PostToolUse", &fields)
}

/// A repository beside the one that is worked in, with an uncommitted change, and its store.
fn other<'h>(home: &'h Home, config: &str) -> (Repository<'h>, PathBuf) {
    let other = home.repository("other", &[("x.rs", "x\n"), (".clearway.toml", config)]);
    invited(&other);
    other.write("x.rs", "changed\n");
    let store = home.only_store();
    (other, store)
}

fn corrupt(store: &PathBuf) {
    fs::write(store, "no database at all".repeat(1_000)).expect("a file");
}

#[test]
fn a_command_of_git_is_refused_by_the_mode_of_the_checkout_that_it_is_about() {
    let home = home();
    home.user_config("mode = \"observe\"\n");
    let (other, _) = other(&home, "mode = \"enforce\"\n");
    let app = app(&home);
    invited(&app);
    let mut owner = Client::claude(&home, &other, "owner");
    owner.before_edit("x.rs").silent();
    other.write("x.rs", "changed by its owner\n");
    let nobodys = home.repository("nobodys", &[("y.rs", "y\n")]);
    for place in [&app, &nobodys] {
        let mut one = Client::claude(&home, place, "one");
        let reason = runs(&mut one, "git -C ../other switch -q -c new main").denied();
        assert!(reason.starts_with("Clearway: not run: "), "{reason}");
    }
    let mut two = Client::claude(&home, &app, "two");
    two.before_edit("src/a.rs").silent();
    app.write("src/a.rs", "changed\n");
    let mut inside = Client::claude(&home, &other, "inside");
    runs(&mut inside, "git -C ../app switch -q -c new main").silent();
}

#[test]
fn a_store_that_fails_elsewhere_lets_no_command_pass_without_a_word_or_at_all() {
    for (config, is_refused) in [("", false), ("posture = \"unattended\"\n", true)] {
        for command in ["rm -f ../other/x.rs", "git -C ../other reset -q --hard"] {
            let home = home();
            let (_other, store) = other(&home, config);
            corrupt(&store);
            let app = app(&home);
            invited(&app);
            app.write("src/a.rs", "mine\n");
            let mut one = Client::claude(&home, &app, "one");
            runs(&mut one, "ls ../other").silent();
            let answer = runs(&mut one, command);
            if is_refused {
                let reason = answer.denied();
                assert!(reason.starts_with("Not run: Clearway cannot keep what it destroys: "), "{reason}");
                runs(&mut one, command).denied();
            } else {
                let told = answer.told();
                assert!(told.contains("what a command destroys is not kept: "), "{told}");
                assert!(answer.stdout.contains("systemMessage"), "the person sees it too: {answer:?}");
                ran(&mut one, command).silent();
                runs(&mut one, command).silent();
            }
            let kept = runs(&mut one, "rm -f src/a.rs").told();
            assert!(kept.contains("kept as s"), "what works here is kept here: {kept}");
        }
    }
}

#[test]
fn a_store_that_is_locked_elsewhere_is_asked_once() {
    let home = home();
    let (_other, _) = other(&home, "posture = \"unattended\"\n");
    let lock = open_store(&home);
    lock.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    let app = app(&home);
    invited(&app);
    let mut one = Client::claude(&home, &app, "one");
    let reason = runs(&mut one, "rm -f ../other/x.rs").denied();
    assert!(reason.contains("Trying again does not help"), "{reason}");
    let again = runs(&mut one, "rm -f ../other/x.rs").denied();
    assert!(again.contains("(so it was a moment ago)"), "{again}");
}

#[test]
fn a_store_that_fails_where_the_agent_stands_says_nothing_of_what_is_kept_elsewhere() {
    let home = home();
    home.user_config("posture = \"unattended\"\n");
    let (other, store) = other(&home, "");
    corrupt(&store);
    let app = app(&home);
    invited(&app);
    app.write("src/a.rs", "mine\n");
    let mut one = Client::claude(&home, &other, "one");
    let kept = runs(&mut one, "rm -f ../app/src/a.rs").told();
    assert!(kept.contains("kept as s") && !kept.contains("not kept"), "{kept}");
    ran(&mut one, "rm -f ../app/src/a.rs").silent();
    let reason = runs(&mut one, "rm -f ../app/src/a.rs x.rs").denied();
    assert!(reason.starts_with("Not run: Clearway cannot keep what it destroys: "), "{reason}");
    one.before_edit("../app/src/b.rs").silent();
}
