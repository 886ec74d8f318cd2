//! A repository that is made inside a scope in which something is held there already: the paths are the new one's from then
//! on, and what was taken of them before keeps nobody away.

use crate::{app, home, list, shared_store, text};
use clearway_testkit::{Clearway, Home, Repository, until};
use serde_json::{Value, json};

/// A repository with a directory in which alice holds these, and that became a repository of its own then.
fn made_inside<'h>(home: &'h Home, held: &[&str]) -> (Repository<'h>, std::path::PathBuf) {
    let outer = app(home);
    outer.write("sub/x.rs", "x\n");
    outer.write("sub/deep/y.rs", "y\n");
    for pattern in held {
        outer.grant("alice", &[pattern]);
    }
    outer.git(&["init", "-q", "sub"]);
    let inner = outer.path().join("sub");
    (outer, inner)
}

fn hears(told: &Value) -> bool {
    told["notices"].as_array().is_some_and(|notices| {
        let codes: Vec<&Value> = notices.iter().map(|notice| &notice["code"]).collect();
        codes.iter().filter(|code| **code == "scope-inside-another").count() == 1
    })
}

#[test]
fn whoever_looks_or_writes_in_it_is_told_what_is_held_around_it() {
    for store in [None, Some("one file")] {
        let home = home();
        let file = store.map(|_| shared_store(&home));
        let outer = app(&home);
        outer.write("sub/x.rs", "x\n");
        let with = |command: Clearway| match &file {
            Some(file) => command.env("CLEARWAY_STORE", file),
            None => command,
        };
        let before = with(outer.agent("alice")).ok(&["reserve", "sub/x.rs"]);
        outer.git(&["init", "-q", "sub"]);
        let inner = outer.path().join("sub");
        let there = |name: &str| with(home.clearway(&inner).agent(name));
        let looked = there("bob").ok(&["check", "x.rs"]);
        assert!(hears(&looked) && looked["clear"] == true, "{looked}");
        assert!(hears(&there("bob").ok(&["reserve", "x.rs"])), "the first that is taken");
        for words in [
            ["who", "x.rs"].as_slice(),
            &["leases"],
            &["reserve", "new.rs"],
            &["renew"],
            &["release", "new.rs"],
        ] {
            assert!(hears(&there("bob").ok(words)), "{words:?} while something is held there");
        }
        let status = there("bob").ok(&["status"]);
        assert!(status["warnings"].to_string().contains("is a scope of its own inside"), "{status}");
        let doctor = there("bob").ok(&["doctor"]);
        assert!(doctor["checks"].to_string().contains("is a scope of its own inside"), "{doctor}");
        let message = text(&looked["notices"][0], "message");
        assert!(message.contains(&format!("{} is a scope", inner.display())), "{message}");
        let (_, command) = message.rsplit_once("clearway ").expect("a command");
        let words: Vec<&str> = command.split(' ').collect();
        let told = there("bob").ok(&words[words.len() - 3..]);
        assert_eq!(told["leases"][0]["id"], before["leases"][0]["id"], "{message}");
        with(outer.agent("alice")).ok(&["release", "sub/x.rs"]);
        assert!(!hears(&there("bob").ok(&["check", "x.rs"])), "nothing is held there any more");
    }
}

#[test]
fn what_reaches_into_it_from_above_is_told_once() {
    for (held, at_first, later) in [
        (["src/a.rs"], false, false),
        (["sub"], false, false),
        (["s*/x.rs"], true, false),
        (["**/x.rs"], true, false),
        (["sub/"], true, true),
        (["sub/deep/*.rs"], true, true),
    ] {
        let home = home();
        let (_, inner) = match held {
            // A name that stands for the repository, and not for the directory that it was.
            ["sub"] => {
                let made = made_inside(&home, &[]);
                made.0.grant("alice", &["sub"]);
                made
            }
            _ => made_inside(&home, &held),
        };
        let bob = || home.clearway(&inner).agent("bob");
        assert_eq!(hears(&bob().ok(&["check", "x.rs"])), later, "{held:?}");
        assert_eq!(hears(&bob().ok(&["reserve", "x.rs"])), at_first, "{held:?}");
        assert_eq!(hears(&bob().ok(&["reserve", "y.rs"])), later, "{held:?}");
        assert_eq!(hears(&bob().ok(&["who", "x.rs"])), later, "{held:?}");
    }
}

#[test]
fn a_checkout_of_the_same_repository_inside_it_is_no_other_scope() {
    let home = home();
    let outer = app(&home);
    outer.grant("alice", &[".worktrees/x/src/a.rs"]);
    outer.git(&["worktree", "add", "-q", ".worktrees/x"]);
    let linked = outer.path().join(".worktrees/x");
    for words in [["reserve", "src/a.rs"], ["check", "src/b.rs"], ["who", "src/a.rs"]] {
        assert_eq!(home.clearway(&linked).agent("bob").ok(&words)["notices"], json!([]), "{words:?}");
    }
}

#[test]
fn a_directory_scope_around_a_repository_is_told_in_the_same_way() {
    let home = home();
    let (outer, inner) = (home.directory("plain"), home.directory("plain/sub"));
    home.clearway(&outer).agent("alice").ok(&["reserve", "sub/x.rs"]);
    assert!(home.shell(&inner, "git init --quiet").status().expect("git").success());
    let bob = || home.clearway(&inner).agent("bob");
    assert!(hears(&bob().ok(&["check", "x.rs"])));
    assert!(hears(&bob().ok(&["reserve", "x.rs"])));
    assert!(hears(&bob().ok(&["who", "x.rs"])));
    home.clearway(&outer).agent("alice").ok(&["release", "sub/x.rs"]);
    assert!(!hears(&bob().ok(&["who", "x.rs"])));
}

#[test]
fn what_ran_out_around_it_is_not_held_there_though_nobody_recorded_that() {
    for made_in in ["plain", "plain/sub"] {
        let home = home();
        let (outer, inner) = (home.directory("plain"), home.directory(made_in));
        let held = inner.join("x.rs").display().to_string();
        home.clearway(&outer).agent("alice").ok(&["reserve", "--ttl", "1s", &held]);
        assert!(home.shell(&inner, "git init --quiet").status().expect("git").success());
        until("nobody is told of it", || !hears(&home.clearway(&inner).agent("bob").ok(&["check", "x.rs"])));
    }
}

#[test]
fn what_is_held_there_is_renewed_handed_over_and_released_by_its_path() {
    for held in ["sub/x.rs", "sub/new.rs", "sub/", "sub/*.rs"] {
        let home = home();
        let (outer, inner) = made_inside(&home, &[held]);
        outer.grant("carol", &["main.rs"]);
        let id = outer.clearway().ok(&["who", held])["holders"][0]["id"].clone();
        assert!(id.is_string(), "{held}");
        let renewed = outer.agent("alice").ok(&["renew", held]);
        assert_eq!(renewed["leases"][0]["id"], id, "{held}");
        assert_eq!(renewed["notices"][0]["code"], "ends-at-scope", "{renewed}");
        let handed = outer.agent("alice").ok(&["transfer", "--to", "carol", held]);
        assert_eq!(handed["leases"][0]["id"], id, "{held}");
        let from_inside = || home.clearway(&inner).agent("carol");
        let directory = outer.path().display().to_string();
        let back = from_inside().args(&["-C", &directory]).ok(&["transfer", "--to", "alice", held]);
        assert_eq!(back["leases"][0]["id"], id, "{held}");
        let released = outer.agent("alice").ok(&["release", held]);
        assert_eq!((&released["released"], &released["notices"]), (&json!([id]), &json!([])), "{held}");
        for verb in ["release", "renew", "who"] {
            outer.agent("alice").fails("outside-scope", 2, &[verb, held]);
        }
    }
}

#[test]
fn from_inside_the_scope_around_is_named_by_its_key_with_paths() {
    let home = home();
    let (outer, inner) = made_inside(&home, &["sub/x.rs"]);
    let key = text(&outer.clearway().ok(&["status"]), "scope").to_owned();
    let around = |name: &str| home.clearway(&inner).agent(name).args(&["--scope", &key]);
    assert_eq!(around("bob").ok(&["who", "x.rs"])["holders"][0]["agent"], "alice");
    around("bob").fails("outside-scope", 2, &["reserve", "y.rs"]);
    assert_eq!(list(&around("alice").ok(&["renew", "x.rs"]), "leases").len(), 1);
    assert_eq!(list(&around("alice").ok(&["release", "x.rs"]), "released").len(), 1);
    assert_eq!(outer.clearway().ok(&["leases"])["leases"], json!([]));
}

#[test]
fn of_a_path_in_it_the_scope_around_tells_who_holds_it_and_grants_nothing() {
    let home = home();
    let (outer, inner) = made_inside(&home, &["sub/x.rs", "src/**", "**/y.rs"]);
    let who = outer.clearway().ok(&["who", "sub/x.rs"]);
    assert_eq!((&who["holders"][0]["agent"], &who["path"]), (&json!("alice"), &json!("sub/x.rs")));
    assert_eq!(who["notices"][0]["code"], "ends-at-scope", "{who}");
    assert!(text(&who["notices"][0], "message").contains(&inner.display().to_string()), "{who}");
    let leases = outer.clearway().ok(&["leases", "--pattern", "sub/"]);
    assert!(list(&leases, "leases").iter().any(|lease| lease["pattern"] == "sub/x.rs"), "{leases}");
    for (agent, words) in [
        ("bob", ["check", "sub/x.rs"].as_slice()),
        ("bob", &["reserve", "sub/x.rs"]),
        ("alice", &["reserve", "sub/x.rs"]),
        ("alice", &["release", "sub/", "--keep", "sub/x.rs"]),
    ] {
        let error = outer.agent(agent).fails("outside-scope", 2, words);
        let hints: Vec<&str> = list(&error, "hints").iter().filter_map(Value::as_str).collect();
        let who = format!("clearway --agent {agent} who sub/x.rs");
        assert!(hints.iter().any(|hint| hint.contains(&who)), "{words:?}: {hints:?}");
    }
    for words in [["who", "sub/deep/y.rs"], ["release", "sub/deep/y.rs"], ["renew", "sub/deep/"]] {
        let error = outer.agent("alice").fails("outside-scope", 2, &words);
        let there = format!("clearway -C {} --agent alice {} deep", inner.display(), words[0]);
        assert!(
            error["hints"][0].as_str().is_some_and(|hint| hint.contains(&there)),
            "only by a wider one: {error}"
        );
    }
}

#[test]
fn whoever_finds_nothing_there_by_path_or_id_is_told_where_to_look() {
    for made_in in ["plain", "plain/sub"] {
        let home = home();
        let (outer, inner) = (home.directory("plain"), home.directory(made_in));
        let held = inner.join("x.rs").display().to_string();
        let lease = home.clearway(&outer).agent("alice").ok(&["reserve", &held])["leases"][0].clone();
        let scope = text(&home.clearway(&outer).ok(&["status"]), "scope").to_owned();
        assert!(home.shell(&inner, "git init --quiet").status().expect("git").success());
        home.clearway(&inner).agent("alice").ok(&["reserve", "other.rs"]);
        let id = text(&lease, "id");
        for words in [
            ["renew", "x.rs"].as_slice(),
            &["renew", id],
            &["release", id],
            &["transfer", "--to", "bob", "x.rs"],
            &["transfer", "--to", "bob", id],
        ] {
            let error = home.clearway(&inner).agent("alice").fails("not-found", 5, words);
            let there = format!("clearway --agent alice --scope {scope} leases");
            assert!(list(&error, "hints").iter().any(|hint| hint.to_string().contains(&there)), "{error}");
        }
        home.clearway(&inner).agent("alice").args(&["--scope", &scope]).ok(&["release", id]);
        let error = home.clearway(&inner).agent("alice").fails("not-found", 5, &["renew", id]);
        assert!(!error["hints"].to_string().contains(&scope), "{error}");
    }
}
