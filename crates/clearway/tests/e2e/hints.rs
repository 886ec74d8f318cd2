//! Every suggested command works when it is pasted.

use crate::{app, home, list, number, text};
use clearway_testkit::{Home, Ran, Repository};
use serde_json::Value;

/// Failures of every sort, with what leads to them.
fn failures(home: &Home, repository: &Repository<'_>) -> Vec<Ran> {
    repository.write(".clearway.toml", "");
    let lease = repository.grant("alice", &["src/a.rs", "--shared"]);
    let old = number(&lease, "fence");
    repository.grant("alice", &["src/a.rs"]);
    repository.clearway().session("s-1").ok(&["reserve", "docs/"]);
    let session = repository.clearway().ok(&["leases", "--pattern", "docs/"])["leases"][0].clone();
    let id = text(&lease, "id");
    let stale = format!("{id}@{old}");
    let released = repository.grant("alice", &["over.rs"]);
    repository.agent("alice").ok(&["release", "over.rs"]);
    repository.grant("alice", &["--kind", "name", "build"]);
    let alice = || repository.agent("alice");
    let bob = || repository.agent("bob");
    let mut ran: Vec<Ran> = vec![
        bob().json(&["reserve", "src/a.rs"]),
        bob().json(&["reserve", "src/a.rs", "b.rs"]),
        bob().json(&["reserve", "src/**", "it's.rs"]),
        bob().json(&["-C", "docs", "reserve", "../src/a.rs"]),
        bob().json(&["reserve", "--kind", "name", "build"]),
        bob().json(&["release", id]),
        bob().json(&["renew", id]),
        bob().json(&["release", id, "--reason", "x"]),
        alice().json(&["renew", &stale]),
        alice().json(&["renew", text(&released, "id")]),
        alice().json(&["renew", "zzzzzzzz"]),
        alice().json(&["renew", "zzzzzzzz@x"]),
        alice().json(&["reserve", "a["]),
        alice().json(&["reserve", "../x"]),
        alice().json(&["reserve", ".git/config"]),
        alice().json(&["reserve", "--kind", "name", ""]),
        alice().json(&["reserve", "x", "--ttl", "0"]),
        alice().json(&["reserve", "**"]),
        alice().json(&["reserve", "x", "--reason", &"x".repeat(3_000)]),
        alice().json(&["frobnicate"]),
        alice().json(&["reserve", "--frob", "x"]),
        alice().json(&["release"]),
        alice().json(&["explain", "reservation-hold"]),
        alice().json(&["explain", "nothing-like-it"]),
        alice().json(&["events", "--kind", "x"]),
        alice().json(&["events", "--from", "x"]),
        alice().json(&["events", "--from", &format!("2@{}", "0".repeat(64))]),
        alice().json(&["audit", "verify", "--anchors", "/nowhere"]),
        alice().json(&["--scope", "nowhere-00000000", "leases"]),
        alice().json(&["--store", "postgres://x/y", "leases"]),
        alice().json(&["-C", "/nowhere", "leases"]),
        repository.agent(text(&session, "agent")).json(&["reserve", "x"]),
        repository.clearway().env("CLAUDE_CODE_SESSION_ID", "a b").json(&["reserve", "x"]),
        repository.clearway().env("CLEARWAY_TIMEOUTS_STORE", "soon").json(&["leases"]),
        home.clearway(&home.path().join("home")).json(&["reserve", "x"]),
        repository.clearway_in("docs").agent("bob").json(&["reserve", "../src/a.rs"]),
    ];
    ran.extend(in_the_queue(repository));
    ran.extend(of_hand_overs_and_freezes(home, repository, id));
    ran.extend(of_mail(repository));
    repository.write(".clearway.toml", "leases.brod_files = 1\n");
    ran.push(alice().json(&["leases"]));
    repository.write(".clearway.toml", "[leases]\nbroad_files = 999999\n");
    ran.push(alice().json(&["leases"]));
    repository.write(".clearway.toml", "");
    let connection = crate::open_store(home);
    connection.execute_batch("UPDATE leases SET ttl_ms = ttl_ms + 1").expect("a change");
    ran.push(alice().json(&["audit", "verify"]));
    ran.push(alice().json(&["doctor"]));
    ran
}

/// Failures of those who write to each other.
fn of_mail(repository: &Repository<'_>) -> Vec<Ran> {
    let (mia, noa) = (|| repository.agent("mia"), || repository.agent("noa"));
    mia().ok(&["reserve", "m1.rs"]);
    noa().ok(&["reserve", "m2.rs"]);
    noa().ok(&["policy", "contacts"]);
    vec![
        mia().json(&["send", "noa", "hello"]),
        mia().json(&["send", "nao", "hello"]),
        mia().json(&["send", "noa", "x", "--thread", "none"]),
        mia().json(&["ack", "none"]),
        mia().json(&["thread", "none"]),
        mia().json(&["contacts", "--add", "nobody"]),
    ]
}

/// Failures of those who wait and of those who cannot. What they waited for is free again in the end.
fn in_the_queue(repository: &Repository<'_>) -> Vec<Ran> {
    let (carol, dave) = (|| repository.agent("carol"), || repository.agent("dave"));
    let erin = || repository.agent("erin");
    dave().ok(&["reserve", "w1.rs"]);
    dave().ok(&["reserve", "w2.rs"]);
    let wait = carol().ok(&["reserve", "--queue", "w1.rs"])["queued"].clone();
    let mut ran = vec![carol().json(&["wait", "--for", "0"]), carol().json(&["wait", "nonsense"])];
    carol().ok(&["reserve", "--queue", "w2.rs"]);
    ran.push(carol().json(&["wait"]));
    ran.push(carol().json(&["wait", "zzzzzzzz"]));
    ran.push(carol().json(&["wait", text(&wait, "id"), "zzzzzzzz"]));
    ran.push(erin().json(&["wait"]));
    ran.push(erin().json(&["wait", text(&wait, "id")]));
    ran.push(erin().json(&["wait", "--cancel", text(&wait, "id")]));
    ran.push(erin().json(&["reserve", "--wait", "alone.rs"]));
    ran.push(erin().json(&["reserve", "x", "--wait", "0"]));
    ran.push(erin().json(&["waits", "--frob"]));
    ran.push(closing_a_circle(repository, "frank", "grace"));
    ran.push(closing_a_circle(repository, "ivan", "heidi"));
    dave().ok(&["release", "--all"]);
    ran
}

/// The one that comes first alphabetically takes its lease first; `closer` closes the circle.
fn closing_a_circle(repository: &Repository<'_>, other: &str, closer: &str) -> Ran {
    let path = |name: &str| format!("of-{name}.rs");
    let mut both = [other, closer];
    both.sort_unstable();
    both.iter().for_each(|name| drop(repository.grant(name, &[&path(name)])));
    repository.agent(other).ok(&["reserve", "--queue", &path(closer)]);
    let ran = repository.agent(closer).json(&["reserve", "--queue", &path(other)]);
    repository.agent(other).ok(&["wait", "--cancel"]);
    ran
}

/// Failures of those who hand over or run something, and of everybody during a freeze that is over in the end.
fn of_hand_overs_and_freezes(home: &Home, repository: &Repository<'_>, id: &str) -> Vec<Ran> {
    let (alice, bob) = (|| repository.agent("alice"), || repository.agent("bob"));
    let mut ran = vec![
        alice().json(&["transfer", "--to", "bob"]),
        alice().json(&["transfer", "--to", "alice", "--all"]),
        alice().json(&["transfer", "--to", "nobody", "--all"]),
        alice().json(&["transfer", "--all"]),
        bob().json(&["transfer", "--to", "carol", id]),
        alice().json(&["freeze", "--reason", "x"]),
        alice().json(&["freeze"]),
        alice().json(&["thaw", "--reason", "x"]),
        bob().json(&["with", "build", "--", "true"]),
        bob().json(&["with", "build"]),
        bob().json(&["with", "build", "--wait", "0", "--", "true"]),
        bob().json(&["with", "other", "--", "no-such-command"]),
    ];
    let person = || alice().operator(home);
    ran.push(person().json(&["freeze", "--reason", "x", "--for", "0"]));
    person().ok(&["freeze", "--reason", "cutting the release"]);
    ran.push(bob().json(&["reserve", "frozen.rs"]));
    ran.push(bob().json(&["thaw", "--reason", "x"]));
    person().ok(&["thaw", "--reason", "it is out"]);
    ran
}

/// The error of a failure, wherever it was printed.
fn error(ran: &Ran) -> Value {
    let told = format!("{}{}", ran.stdout(), ran.stderr());
    serde_json::from_str::<Value>(&told).expect("one JSON document")["error"].clone()
}

/// Its hints, and those of what a doctor found.
fn hints(error: &Value) -> Vec<String> {
    let found = error["details"]["checks"].as_array().into_iter().flatten().map(|check| &check["hint"]);
    let all = list(error, "hints").iter().chain(found);
    all.filter_map(|hint| hint.as_str().map(str::to_owned)).collect()
}

/// The command a hint ends with, if it has one.
fn command(hint: &str) -> Option<&str> {
    hint.find("clearway ").map(|at| hint[at..].trim())
}

/// Words a reader replaces, such as `ID`, `FILE` or `…`.
fn has_placeholder(command: &str) -> bool {
    let word = |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase());
    command.contains('…') || command.contains("...") || command.split([' ', '/', '=', '@']).any(word)
}

#[test]
fn every_suggested_command_works_when_pasted() {
    let home = home();
    let repository = app(&home);
    let mut pasted = 0;
    for ran in failures(&home, &repository) {
        let error = error(&ran);
        let hints = hints(&error);
        assert!(!hints.is_empty(), "{error:#}");
        for command in hints.iter().filter_map(|hint| command(hint)).filter(|words| !has_placeholder(words)) {
            let output = ran.shell(&home, command).output().expect("a shell");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            // What the caller may not do or what is not there is no advice.
            let wrong = ["usage", "internal", "invalid-", "not-holder", "not-operator", "not-found"]
                .iter()
                .any(|slug| said.contains(&format!("error[{slug}")));
            assert!(
                !wrong && ![Some(2), Some(70), Some(127), Some(126)].contains(&output.status.code()),
                "{command}\n{said}\nfrom {error:#}"
            );
            pasted += 1;
        }
    }
    assert!(pasted >= 40, "{pasted} commands");
}

/// However a circle of waiting would be closed: by waiting, by handing over, by taking.
#[test]
fn a_circle_of_waiting_is_told_with_one_command() {
    let home = home();
    let repository = app(&home);
    let agent = |name: &str| repository.agent(name);
    let queue = |name: &str, words: &[&str]| agent(name).ok(&[&["reserve", "--queue"], words].concat());
    let waiting =
        [closing_a_circle(&repository, "frank", "grace"), closing_a_circle(&repository, "ivan", "heidi")];
    for (name, path) in [("alice", "x"), ("bob", "y"), ("carol", "z")] {
        repository.grant(name, &[path]);
    }
    queue("bob", &["z"]);
    queue("carol", &["x"]);
    let handing = agent("alice").json(&["transfer", "--to", "bob", "--all"]);
    repository.grant("ann", &["read", "--shared"]);
    repository.grant("will", &["will"]);
    repository.grant("ben", &["ben"]);
    queue("will", &["read", "ben", "--shared"]);
    queue("ann", &["will"]);
    let taking = agent("ann").json(&["reserve", "read"]);
    for ran in waiting.iter().chain([&handing, &taking]) {
        let error = error(ran);
        assert_eq!(error["slug"], "would-deadlock", "{error:#}");
        let hints = hints(&error);
        let commands: Vec<&str> = hints.iter().filter_map(|hint| command(hint)).collect();
        assert_eq!(commands.len(), 1, "{error:#}");
        let output = ran.shell(&home, commands[0]).output().expect("a shell");
        assert!(output.status.success(), "{}: {output:?}", commands[0]);
    }
}

#[test]
fn a_suggested_command_acts_as_the_agent_that_failed() {
    let home = home();
    let repository = app(&home);
    for path in ["w1.rs", "w2.rs"] {
        repository.agent("dave").ok(&["reserve", path]);
        repository.agent("ada").ok(&["reserve", "--queue", path]);
    }
    let ran = repository.agent("ada").json(&["wait"]);
    repository.agent("dave").ok(&["release", "--all"]);
    for hint in hints(&error(&ran)) {
        let took = ran.shell(&home, command(&hint).expect("a command")).output().expect("a shell");
        let said = String::from_utf8_lossy(&took.stdout).into_owned();
        assert!(said.starts_with("reserved as ada\n"), "{hint}: {said}");
    }
    assert_eq!(list(&repository.clearway().ok(&["leases", "--agent-name", "ada"]), "leases").len(), 2);
}

#[test]
fn a_command_in_a_good_answer_works_when_pasted_too() {
    let home = home();
    let repository = app(&home);
    repository.agent("dave").ok(&["reserve", "w1.rs"]);
    let queued = repository.agent("ada").run(&["reserve", "--queue", "w1.rs"]);
    repository.agent("dave").ok(&["release", "--all"]);
    let status = repository.agent("ada").run(&["status"]);
    for (ran, answer) in [(&queued, "reserved as ada\n"), (&status, "reserved as ada\n")] {
        let told = ran.stdout();
        let last = told.lines().last().and_then(command).expect("a command");
        let output = ran.shell(&home, last).output().expect("a shell");
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(said.starts_with(answer), "{last}: {said}");
    }
}

#[test]
fn a_suggestion_with_a_placeholder_works_once_it_is_filled_in() {
    let home = home();
    let repository = app(&home);
    for (number, ran) in failures(&home, &repository).iter().enumerate() {
        let free = format!("free-{number}.rs");
        let hints = hints(&error(ran));
        for command in hints.iter().filter_map(|hint| command(hint)).filter(|words| has_placeholder(words)) {
            let filled = command
                .replace("ID…", "zzzzzzzz")
                .replace("PATTERN…", &free)
                .replace("-- CMD…", "-- true")
                .replace('…', "leases")
                .replace("DIR/", "src/")
                .replace("DIR", "src")
                .replace("ID", "zzzzzzzz")
                .replace("NAME", "carol")
                .replace("TEXT", "because")
                .replace("PATH", "src/b.rs")
                .replace("PATTERN", &free)
                .replace("FILE", "/nowhere/file");
            let output = ran.shell(&home, &filled).output().expect("a shell");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!said.contains("error[usage]"), "{filled}: {said}");
        }
    }
}

/// A line that is broken in the middle of a command is two commands when it is pasted.
#[test]
fn a_command_that_is_too_long_for_a_line_is_a_line_of_its_own() {
    let home = home();
    let repository = app(&home);
    let directory = home.path().join("a directory that has a long name").join("and one more below it");
    let store = directory.join("team.db").display().to_string();
    let told = repository.agent("ada").run(&["--store", &store, "reserve", "x"]).expect(69).stderr();
    let make = told.lines().map(str::trim).find(|line| line.starts_with("mkdir ")).expect("a command");
    let made = home.shell(repository.path(), make).status().expect("a shell");
    assert!(made.success() && directory.is_dir(), "{told}");
}

#[test]
fn a_command_in_the_name_of_a_file_is_no_command_of_the_hint() {
    let home = home();
    let repository = app(&home);
    let name = "clearway who x.rs";
    repository.write(&format!("src/{name}"), "");
    repository.grant("alice", &[&format!("src/{name}")]);
    let error = repository.clearway_in("src").agent("bob").fails("reservation-held", 1, &["reserve", name]);
    let root = repository.path().display().to_string();
    let expected =
        format!("see who holds it and until when: clearway -C {root} --agent bob who 'src/{name}'");
    assert_eq!(list(&error, "hints")[0], expected);
}

#[test]
fn a_suggested_command_means_the_store_of_the_one_that_failed() {
    let home = home();
    let repository = app(&home);
    let store = home.path().join("other place/team.db");
    std::fs::create_dir(home.path().join("other place")).expect("a directory");
    std::fs::set_permissions(
        home.path().join("other place"),
        std::os::unix::fs::PermissionsExt::from_mode(0o700),
    )
    .expect("a private directory");
    let store = store.to_str().expect("a name");
    repository.agent("alice").ok(&["--store", store, "reserve", "src/a.rs"]);
    let error =
        repository.agent("bob").fails("reservation-held", 1, &["--store", store, "reserve", "src/a.rs"]);
    let hint = error["hints"][0].as_str().unwrap_or_default();
    let command = hint.split_once(": ").map_or("", |(_, command)| command);
    let output = home.shell(repository.path(), &format!("{command} --json")).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("\"agent\":\"alice\""), "{hint}: {said}");
}

/// Whatever the store is called and however it is reached, it is moved, and nothing else.
#[test]
fn a_damaged_store_is_set_aside_by_the_suggested_command_even_if_nothing_lies_beside_it() {
    let home = home();
    let repository = app(&home);
    let (place, link) = (home.directory("stores"), home.path().join("link"));
    std::fs::set_permissions(&place, std::os::unix::fs::PermissionsExt::from_mode(0o700)).expect("private");
    std::os::unix::fs::symlink(&place, &link).expect("a link");
    std::fs::write(place.join("x1.db"), "a neighbour").expect("a file");
    for name in ["u.db", "x[1].db", "x*.db", "-x.db", r"x\1.db", "it's.db"] {
        let store = link.join(name);
        std::fs::write(&store, "no database").expect("a file");
        std::fs::set_permissions(&store, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("private");
        let path = store.to_str().expect("a name").to_owned();
        let error = repository.clearway().fails("store-corrupt", 69, &["--store", &path, "leases"]);
        let hints: Vec<&str> = list(&error, "hints").iter().filter_map(Value::as_str).collect();
        let aside = hints.iter().find_map(|hint| hint.split_once(": aside=")).expect("a way to begin anew");
        let ran = home.shell(repository.path(), &format!("aside={}", aside.1)).status().expect("a shell");
        assert!(ran.success() && !store.exists(), "{name}: {hints:?}");
        repository.agent("alice").ok(&["--store", &path, "reserve", "x"]);
    }
    assert!(place.join("x1.db").exists(), "a neighbour stays");
}
