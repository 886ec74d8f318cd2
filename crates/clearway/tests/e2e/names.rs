//! Named resources: literal, their own space, with room for as many as the configuration says.

use crate::{app, home, list, number, text};

#[test]
fn names_and_paths_never_meet() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--kind", "name", "build"]);
    repository.grant("bob", &["build"]);
    repository.grant("bob", &["*"]);
    let blockers = repository.blockers("bob", &["--kind", "name", "build"]);
    assert_eq!((text(&blockers[0], "agent"), text(&blockers[0], "kind")), ("alice", "name"));
    repository.agent("bob").json(&["check", "--kind", "name", "build"]).expect(1);
    repository.agent("alice").json(&["check", "--kind", "name", "build"]).expect(0);
}

#[test]
fn a_name_is_taken_as_it_is_written() {
    let home = home();
    let repository = app(&home);
    for name in
        ["a[*", "*", "{x,y}", "db:migrate", "a/../b", "..", "port:3000", "Größe", "123", ":x", "a:b:c"]
    {
        let lease = repository.grant("alice", &["--kind", "name", "--", name]);
        assert_eq!(lease["pattern"], name);
        repository.blockers("bob", &["--kind", "name", "--", name]);
    }
    for name in ["ab", "x", "b", "anything"] {
        repository.grant("bob", &["--kind", "name", name]);
    }
}

#[test]
fn a_resource_has_room_for_as_many_as_the_configuration_says() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[resources]\nbuild = 2\n");
    let one = repository.grant("alice", &["--kind", "name", "build"]);
    let two = repository.grant("bob", &["--kind", "name", "build"]);
    assert_eq!((number(&one, "slot"), number(&two, "slot")), (0, 1));
    assert_eq!(repository.blockers("carol", &["--kind", "name", "build"]).len(), 2);
    repository.agent("alice").ok(&["release", "--kind", "name", "build"]);
    assert_eq!(number(&repository.grant("carol", &["--kind", "name", "build"]), "slot"), 0);
}

#[test]
fn a_resource_of_the_machine_is_one_for_all_repositories() {
    let home = home();
    let (one, two) = (home.repository("one", &[]), home.repository("two", &[]));
    home.user_config("[resources]\n\"port:3000\" = { capacity = 1, scope = \"machine\" }\n");
    one.grant("alice", &["--kind", "name", "port:3000"]);
    two.blockers("bob", &["--kind", "name", "port:3000"]);
    two.grant("bob", &["--kind", "name", "build"]);
    let machine = two.clearway().args(&["--scope", "machine"]).ok(&["leases"]);
    assert_eq!(machine["leases"][0]["pattern"], "port:3000");
    one.agent("alice").args(&["--scope", "machine"]).ok(&["release", "--all"]);
    two.grant("bob", &["--kind", "name", "port:3000"]);
    one.agent("alice").fails("usage", 2, &["reserve", "--kind", "name", "port:3000", "build"]);
}

#[test]
fn who_holds_a_name_is_told_when_asked_for_the_name() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["--kind", "name", "build"]);
    let holders = repository.clearway().ok(&["who", "--kind", "name", "build"]);
    assert_eq!((&holders["holders"][0]["id"], text(&holders, "path")), (&lease["id"], "build"));
    let missed = repository.clearway().ok(&["who", "build"]);
    assert_eq!((list(&missed, "holders").len(), text(&missed["notices"][0], "code")), (0, "is-name"));
    let asked = repository.clearway().run(&["who", "build"]).expect(0);
    assert!(asked.stderr().contains("build is held as a name: add --kind name"), "{}", asked.stderr());
    let free = repository.clearway().run(&["who", "src/a.rs"]).expect(0);
    assert_eq!(free.stderr(), "", "a free path is no slip");
}

#[test]
fn who_holds_a_resource_of_the_machine_is_told_in_any_repository() {
    let home = home();
    let (one, two) = (home.repository("one", &[]), home.repository("two", &[]));
    home.user_config("[resources]\n\"port:3000\" = { capacity = 1, scope = \"machine\" }\n");
    one.grant("alice", &["--kind", "name", "port:3000"]);
    let found = two.clearway().ok(&["who", "--kind", "name", "port:3000"]);
    assert_eq!(text(&found["holders"][0], "agent"), "alice");
}

#[test]
fn releasing_a_name_takes_the_kind_that_reserving_it_took() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["--kind", "name", "build"]);
    let missed = repository.agent("alice").ok(&["release", "build"]);
    assert_eq!(missed["released"].as_array().map(Vec::len), Some(0), "a path is no name");
    assert_eq!(text(&missed["notices"][0], "code"), "nothing-held");
    let said = repository.agent("alice").run(&["release", "build"]).expect(0).stderr();
    assert!(said.contains("that is a name: add --kind name"), "{said}");
    let reply = repository.agent("alice").ok(&["release", "--kind", "name", "build"]);
    assert_eq!(reply["released"][0], lease["id"]);
}
