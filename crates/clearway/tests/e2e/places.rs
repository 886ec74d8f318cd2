//! Scopes: where a command acts, from wherever it is called.

use crate::{app, home, text};
use std::path::Path;

#[track_caller]
fn scope_at(home: &clearway_testkit::Home, directory: &Path) -> String {
    text(&home.clearway(directory).ok(&["status"]), "scope").to_owned()
}

#[test]
fn every_way_to_reach_a_repository_leads_to_one_scope() {
    let home = home();
    let repository = app(&home);
    let link = home.path().join("home/link");
    std::os::unix::fs::symlink(repository.path(), &link).expect("a link");
    let lease = repository.grant("alice", &["src/a.rs"]);
    let expected = scope_at(&home, repository.path());
    let with_slash = format!("{}/", repository.path().display());
    for place in [link.as_path(), &link.join("src"), &repository.path().join("docs"), Path::new(&with_slash)]
    {
        assert_eq!(scope_at(&home, place), expected, "{}", place.display());
        let argument = link.join("src/a.rs").display().to_string();
        let error = home.clearway(place).agent("bob").fails("reservation-held", 1, &["reserve", &argument]);
        assert_eq!(error["details"]["blockers"][0]["id"], lease["id"]);
    }
    let elsewhere = home.directory("elsewhere");
    let named = home.clearway(&elsewhere).args(&["-C", &with_slash]).agent("bob");
    named.fails("reservation-held", 1, &["reserve", "src/a.rs"]);
    let again = || home.clearway(repository.path()).args(&["-C", &with_slash]).agent("bob");
    again().fails("reservation-held", 1, &["reserve", "src/a.rs"]);
    assert_eq!(text(&again().ok(&["status"]), "scope"), expected);
    let relative = home.clearway(&elsewhere).args(&["-C", "../app/src"]).agent("bob");
    relative.fails("reservation-held", 1, &["reserve", "a.rs"]);
}

/// A store that is there says that somebody coordinates here: a refusal must not say so.
#[test]
fn a_refused_first_command_makes_no_store() {
    let home = home();
    let repository = app(&home);
    repository.agent("alice").fails("not-operator", 3, &["freeze", "--reason", "x"]);
    repository.clearway().session("s-1").fails("not-operator", 3, &["freeze", "--reason", "x"]);
    for words in [["reserve", "a.rs"].as_slice(), &["reserve", "--queue", "a.rs"]] {
        repository.clearway().fails("no-identity", 2, words);
    }
    assert!(home.state_files().is_empty(), "{:?}", home.state_files().paths().collect::<Vec<_>>());
    assert!(!home.state().exists());
    repository.grant("alice", &["a.rs"]);
}

#[test]
fn variables_of_git_lead_nobody_astray() {
    let home = home();
    let (repository, other) = (app(&home), home.repository("other", &[]));
    repository.grant("alice", &["src/a.rs"]);
    let bob = repository.agent("bob").env("GIT_DIR", other.path().join(".git"));
    bob.env("GIT_WORK_TREE", other.path()).fails("reservation-held", 1, &["reserve", "src/a.rs"]);
}

#[test]
fn a_lease_that_is_over_is_reserved_anew_where_it_was() {
    let home = home();
    let repository = app(&home);
    let second = home.path().join("home/second");
    repository.git(&["worktree", "add", "-q", &second.display().to_string()]);
    let there = home.clearway(&second).agent("alice").ok(&["reserve", "src/a.rs"])["leases"][0].clone();
    home.clearway(&second).agent("alice").ok(&["release", "src/a.rs"]);
    for place in [repository.path().to_owned(), repository.path().join("src"), second.join("src")] {
        let error =
            home.clearway(&place).agent("alice").fails("lease-expired", 4, &["renew", text(&there, "id")]);
        let anew = format!("clearway -C {} --agent alice reserve src/a.rs", second.display());
        assert!(error["hints"].to_string().contains(&anew), "{error:#}");
    }
    let error =
        home.clearway(&second).agent("alice").fails("lease-expired", 4, &["renew", text(&there, "id")]);
    assert!(error["hints"].to_string().contains("clearway --agent alice reserve src/a.rs"), "{error:#}");
}

#[test]
fn worktrees_share_a_scope_and_its_names_but_not_their_paths() {
    let home = home();
    let repository = app(&home);
    let second = home.path().join("home/second");
    repository.git(&["worktree", "add", "-q", &second.display().to_string()]);
    assert_eq!(scope_at(&home, repository.path()), scope_at(&home, &second));
    let lease = repository.grant("alice", &["src/a.rs"]);
    let other = home.clearway(&second).agent("bob").ok(&["reserve", "src/a.rs"])["leases"][0].clone();
    assert_ne!(lease["worktree"], other["worktree"]);
    let elsewhere = format!("{}: src/a.rs", second.display());
    for seen in [repository.clearway(), repository.agent("alice")] {
        let status = seen.text(&["status"]).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(status.matches("src/a.rs").count(), 2, "{status}");
        assert_eq!(status.matches(&elsewhere).count(), 1, "{status}");
    }
    repository.grant("alice", &["--kind", "name", "build"]);
    home.clearway(&second).agent("bob").fails("reservation-held", 1, &["reserve", "--kind", "name", "build"]);
    assert_eq!(home.only_store().file_name().and_then(|name| name.to_str()), Some("store.db"));
    let fences = (lease["fence"].as_u64(), other["fence"].as_u64());
    assert!(fences.0 < fences.1, "one order for both worktrees");
}

#[test]
fn two_clones_of_one_name_do_not_meet() {
    let home = home();
    let (one, two) = (home.repository("one/app", &[]), home.repository("two/app", &[]));
    one.grant("alice", &["README.md"]);
    two.grant("bob", &["README.md"]);
    assert_eq!(one.blockers("carol", &["README.md"]).len(), 1);
    assert_ne!(scope_at(&home, one.path()), scope_at(&home, two.path()));
}

#[test]
fn a_directory_without_git_is_a_scope_of_its_own_for_everything_below() {
    let home = home();
    let directory = home.directory("plain");
    let below = home.directory("plain/a/b");
    home.clearway(&directory).agent("alice").ok(&["reserve", "a/b/c.txt"]);
    home.clearway(&below).agent("bob").fails("reservation-held", 1, &["reserve", "c.txt"]);
    assert_eq!(scope_at(&home, &directory), scope_at(&home, &below));
    home.clearway(&below).agent("bob").ok(&["reserve", "d.txt"]);
    assert!(home.only_store().exists());
}

#[test]
fn a_configuration_file_marks_the_root_of_a_directory_without_git() {
    let home = home();
    let directory = home.directory("plain");
    let below = home.directory("plain/a/b");
    std::fs::write(directory.join(".clearway.toml"), "").expect("a file");
    let lease = home.clearway(&below).agent("alice").ok(&["reserve", "c.txt"])["leases"][0].clone();
    assert_eq!(lease["pattern"], "a/b/c.txt");
}

#[test]
fn the_first_change_in_a_directory_inside_another_scope_says_that_they_do_not_meet() {
    let home = home();
    let (outer, inner) = (home.directory("plain"), home.directory("plain/inner"));
    std::fs::write(inner.join(".clearway.toml"), "").expect("a file");
    let first = home.clearway(&outer).agent("alice").ok(&["reserve", "a.txt"]);
    assert_eq!(first["notices"], serde_json::json!([]));
    assert_eq!(home.clearway(&inner).agent("bob").ok(&["check", "b.txt"])["notices"], serde_json::json!([]));
    let made = home.clearway(&inner).agent("bob").ok(&["reserve", "b.txt"]);
    assert_eq!(made["notices"][0]["code"], "scope-inside-another");
    let message = text(&made["notices"][0], "message");
    assert!(message.contains(&outer.display().to_string()), "{message}");
    let again = home.clearway(&inner).agent("bob").ok(&["reserve", "c.txt"]);
    assert_eq!(again["notices"], serde_json::json!([]));
}

#[test]
fn the_first_change_in_a_repository_made_inside_a_scope_says_what_is_held_there() {
    for (made_in, store) in [("plain", None), ("plain/inner", None), ("plain/inner", Some("all.db"))] {
        let home = home();
        let (outer, inner) = (home.directory("plain"), home.directory(made_in));
        home.directory("plain/inner");
        let file = store.map(|store| home.path().join(store));
        let here = |name: &str| match &file {
            Some(file) => home.clearway(&inner).agent(name).env("CLEARWAY_STORE", file),
            None => home.clearway(&inner).agent(name),
        };
        let before = here("alice").ok(&["reserve", "b.txt"]);
        assert!(home.shell(&inner, "git init --quiet").status().expect("git").success());
        let hears = |told: &serde_json::Value| told["notices"][0]["code"] == "scope-inside-another";
        assert!(hears(&here("bob").ok(&["check", "b.txt"])), "who looks");
        let made = here("bob").ok(&["reserve", "b.txt"]);
        assert_eq!(made["notices"][0]["code"], "scope-inside-another", "{made}");
        let message = text(&made["notices"][0], "message");
        let (_, command) = message.rsplit_once("clearway ").expect("a command");
        let words: Vec<&str> = command.split(' ').collect();
        let told = here("bob").ok(&words[words.len() - 3..]);
        assert_eq!(told["leases"][0]["id"], before["leases"][0]["id"], "{message}");
        assert!(message.contains(&outer.display().to_string()), "{message}");
        for words in [["reserve", "c.txt"].as_slice(), &["renew"], &["who", "b.txt"], &["release", "--all"]] {
            assert!(hears(&here("alice").ok(words)), "{words:?} while something is held there");
        }
        let status = here("bob").ok(&["status"]);
        assert!(status["warnings"].to_string().contains("is a scope of its own inside"), "{status}");
        let doctor = here("bob").ok(&["doctor"]);
        assert!(doctor["checks"].to_string().contains("is a scope of its own inside"), "{doctor}");
        let scope = words[words.len() - 2];
        here("alice").ok(&["--scope", scope, "release", "--all"]);
        assert!(!hears(&here("bob").ok(&["check", "b.txt"])), "nothing is held there any more");
    }
}

#[test]
fn a_directory_that_becomes_a_scope_around_another_leaves_it_what_it_has() {
    let home = home();
    let (outer, inner) = (home.directory("plain"), home.directory("plain/sub"));
    home.clearway(&inner).agent("alice").ok(&["reserve", "x"]);
    let before = home.state_files();
    for path in ["sub/x", "sub/new/y", "sub", "sub/", "sub/**", "sub/*.rs"] {
        let error = home.clearway(&outer).agent("bob").fails("outside-scope", 2, &["reserve", path]);
        let hint = error["hints"][0].as_str().unwrap_or_default();
        assert!(
            hint.contains(&format!("clearway -C {} --agent bob reserve ", inner.display())),
            "{path}: {error}"
        );
    }
    before.assert_same(&home.state_files(), "a refused path");
    home.clearway(&outer).agent("bob").ok(&["reserve", "subs/x"]);
    std::fs::write(outer.join(".clearway.toml"), "").expect("a file");
    home.clearway(&inner).agent("bob").fails("reservation-held", 1, &["reserve", "x"]);
    let back = inner.join("x").display().to_string();
    home.clearway(&outer).agent("bob").fails("outside-scope", 2, &["reserve", &back]);
}

#[test]
fn a_repository_inside_another_is_named_instead_of_reached_into() {
    let home = home();
    let outer = app(&home);
    let inner = home.repository("app/vendor/inner", &[("lib.rs", "")]);
    let before = home.state_files();
    for path in
        ["vendor/inner/lib.rs", "vendor/inner/src/", "vendor/inner/*.rs", "vendor/inner/", "vendor/inner/."]
    {
        let error = outer.agent("alice").fails("outside-scope", 2, &["reserve", path]);
        let hint = error["hints"][0].as_str().unwrap_or_default();
        assert!(hint.contains(&format!("clearway -C {} --agent alice", inner.path().display())), "{error}");
    }
    before.assert_same(&home.state_files(), "a refused path");
    outer.grant("alice", &["vendor/inner"]);
    inner.grant("bob", &["lib.rs"]);
}

#[test]
fn a_lease_that_seems_to_reach_into_a_scope_inside_says_that_it_does_not() {
    let home = home();
    let outer = home.repository("app", &[("src/a.rs", ""), ("vendor/own/b.rs", "")]);
    let inner = home.repository("app/vendor/inner", &[("lib.rs", "")]);
    for reaching in ["vendor/inner", "vendor", "vendor/inn*/lib.rs", "**/lib.rs", "*/inner"] {
        for verb in ["check", "reserve"] {
            let reply = outer.agent("alice").ok(&[verb, reaching]);
            assert_eq!(reply["notices"][0]["code"], "ends-at-scope", "{reaching}: {reply}");
            let message = text(&reply["notices"][0], "message");
            assert!(
                message.contains(&format!("clearway --agent alice -C {} …", inner.path().display())),
                "{message}"
            );
        }
    }
    for apart in ["src", "vendor/own/", "vendor/*.rs", "vendor/x*/lib.rs", "new/**"] {
        assert_eq!(outer.agent("alice").ok(&["reserve", apart])["notices"], serde_json::json!([]), "{apart}");
    }
    let (around, within) = (home.directory("plain"), home.directory("plain/sub"));
    home.clearway(&within).agent("bob").ok(&["reserve", "x"]);
    let reply = home.clearway(&around).agent("alice").ok(&["reserve", "s*/x"]);
    assert_eq!(reply["notices"][0]["code"], "ends-at-scope", "{reply}");
}

#[test]
fn a_scope_inside_is_looked_for_in_no_more_than_a_few_directories() {
    let home = home();
    let outer = home.repository("app", &[]);
    home.repository("app/z/inner", &[("lib.rs", "")]);
    let notices = |agent: &str| outer.agent(agent).ok(&["reserve", "**/lib.rs"])["notices"].clone();
    for directory in 0..40 {
        outer.write(&format!("d{directory}/a.rs"), "");
    }
    assert_eq!(notices("alice")[0]["code"], "ends-at-scope");
    for directory in 40..80 {
        outer.write(&format!("d{directory}/a.rs"), "");
    }
    assert_eq!(notices("alice"), serde_json::json!([]));
}

#[test]
fn a_submodule_is_a_scope_of_its_own() {
    let home = home();
    let library = home.repository("library", &[("lib.rs", "")]);
    let outer = app(&home);
    let source = library.path().display().to_string();
    outer.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &source, "sub"]);
    outer.agent("alice").fails("outside-scope", 2, &["reserve", "sub/lib.rs"]);
    outer.clearway_in("sub").agent("alice").ok(&["reserve", "lib.rs"]);
    assert_ne!(scope_at(&home, outer.path()), scope_at(&home, &outer.path().join("sub")));
}

#[test]
fn the_command_for_a_path_of_another_scope_reserves_that_path() {
    let home = home();
    let outer = app(&home);
    let other = home.repository("other dir", &[("src/x.rs", ""), ("src/y.rs", "")]);
    let inner = home.repository("app/vendor/inner", &[("lib.rs", "")]);
    let plain = home.directory("plain");
    home.clearway(&plain).agent("alice").ok(&["reserve", "anything"]);
    home.clearway(&plain).agent("alice").ok(&["release", "--all"]);
    let below = outer.path().join("src");
    for (at, path, owner, expect) in [
        (outer.path(), "../other dir/src/x.rs", other.path(), "src/x.rs"),
        (outer.path(), "../other dir/src/", other.path(), "src/**"),
        (outer.path(), "../other dir/src/*.rs", other.path(), "src/*.rs"),
        (outer.path(), "../other dir/new/deep.rs", other.path(), "new/deep.rs"),
        (outer.path(), "../other dir/new/", other.path(), "new/**"),
        (below.as_path(), "../vendor/inner/lib.rs", inner.path(), "lib.rs"),
        (outer.path(), "vendor/inner/**/*.rs", inner.path(), "**/*.rs"),
        (outer.path(), "../plain/notes.md", plain.as_path(), "notes.md"),
    ] {
        let words = ["reserve", "src/a.rs", path, "--shared", "--reason", "the whole of it"];
        let error = home.clearway(at).agent("alice").fails("outside-scope", 2, &words);
        let hint =
            error["hints"][0].as_str().and_then(|hint| hint.strip_prefix("act there: ")).expect("a command");
        let ran = home.shell(at, hint).output().expect("a shell");
        assert!(ran.status.success(), "{hint}: {}", String::from_utf8_lossy(&ran.stderr));
        let leases = home.clearway(owner).ok(&["leases"]);
        let lease = &leases["leases"][0];
        assert_eq!((text(lease, "pattern"), text(lease, "mode")), (expect, "shared"), "{hint}");
        assert_eq!(text(lease, "reason"), "the whole of it");
        home.clearway(owner).agent("alice").ok(&["release", "--all"]);
    }
    assert_eq!(outer.clearway().ok(&["leases"])["leases"], serde_json::json!([]));
}

#[test]
fn a_bare_repository_has_names_but_no_paths() {
    let home = home();
    let bare = home.directory("bare.git");
    let git = std::process::Command::new("git").args(["init", "-q", "--bare"]).current_dir(&bare).status();
    assert!(git.is_ok_and(|status| status.success()));
    let error = home.clearway(&bare).agent("alice").fails("outside-scope", 2, &["reserve", "a.rs"]);
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.contains("--kind name")), "{error}");
    for place in [home.clearway(&bare), home.clearway(&bare).args(&["--scope", "machine"])] {
        let status = place.text(&["status"]);
        assert!(status.contains("reserve --kind name NAME"), "{status}");
    }
    let terse = home.clearway(&bare).agent("alice").text(&["status"]);
    assert!(terse.ends_with("next: clearway --agent alice reserve --kind name NAME\n"), "{terse}");
    home.clearway(&bare).agent("alice").ok(&["reserve", "--kind", "name", "push"]);
    home.clearway(&bare).agent("bob").fails("reservation-held", 1, &["reserve", "--kind", "name", "push"]);
}

#[test]
fn home_and_root_become_a_scope_only_when_named() {
    let home = home();
    let directory = home.path().join("home");
    for place in [directory.as_path(), Path::new("/")] {
        let error = home.clearway(place).agent("alice").fails("no-scope", 2, &["reserve", "x"]);
        assert!(
            error["hints"][1].as_str().is_some_and(|hint| hint.contains("clearway --agent alice -C")),
            "{error}"
        );
    }
    assert!(home.state_files().is_empty());
    let named = directory.display().to_string();
    home.clearway(&directory).args(&["-C", &named]).agent("alice").ok(&["reserve", "x"]);
    home.clearway(&directory).agent("bob").fails("reservation-held", 1, &["reserve", "x"]);
}

#[test]
fn a_scope_can_be_named_by_its_key() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--kind", "name", "build"]);
    let key = scope_at(&home, repository.path());
    let elsewhere = home.directory("elsewhere");
    let seen = home.clearway(&elsewhere).args(&["--scope", &key]).ok(&["leases"]);
    assert_eq!(seen["leases"][0]["pattern"], "build");
    let alice = || home.clearway(&elsewhere).args(&["--scope", &key]).agent("alice");
    let error = alice().fails("outside-scope", 2, &["reserve", "src/a.rs"]);
    assert!(text(&error, "message").contains("through --scope"), "{error}");
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.contains("add -C DIR")), "{error}");
    let directory = repository.path().display().to_string();
    alice().args(&["-C", &directory]).ok(&["reserve", "src/a.rs"]);
    let error =
        home.clearway(&elsewhere).args(&["--scope", "nowhere-00000000"]).fails("not-found", 5, &["leases"]);
    assert!(error["hints"].as_array().is_some_and(|hints| !hints.is_empty()), "{error}");
}
