//! Named resources: literal, their own space, with room for as many as the configuration says.

use crate::{app, each, home, list, number, text};
use clearway_testkit::{Home, Repository};
use serde_json::{Value, json};

const GPU: [&str; 3] = ["--kind", "name", "gpu"];

/// Two repositories on a machine that has one gpu.
fn sharing_a_gpu(home: &Home) -> (Repository<'_>, Repository<'_>) {
    home.user_config("[resources]\ngpu = { capacity = 1, scope = \"machine\" }\n");
    (home.repository("one", &[]), home.repository("two", &[]))
}

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
    let (one, two) = sharing_a_gpu(&home);
    let lease = one.grant("alice", &GPU);
    two.blockers("bob", &GPU);
    two.grant("bob", &["--kind", "name", "build"]);
    let machine = two.clearway().args(&["--scope", "machine"]).ok(&["leases"]);
    assert_eq!((&machine["leases"][0]["id"], &machine["machine_wide"]), (&lease["id"], &json!([])));
    let place = &two.clearway().args(&["--scope", "machine"]).json(&["events"]).expect(0).lines()[0];
    assert_eq!(place["data"]["place"], "this machine", "{place}");
    let released = one.agent("alice").ok(&["release", "--kind", "name", "gpu"]);
    assert_eq!(released["released"], json!([lease["id"]]));
    let by_id = text(&two.grant("bob", &GPU), "id").to_owned();
    one.agent("bob").ok(&["release", &by_id]);
    one.grant("alice", &GPU);
    for verb in ["reserve", "release"] {
        one.agent("alice").fails("usage", 2, &[verb, "--kind", "name", "gpu", "build"]);
    }
}

#[test]
fn whoever_waits_for_a_resource_of_the_machine_waits_wherever_the_id_is_typed() {
    let home = home();
    let (one, two) = sharing_a_gpu(&home);
    one.grant("alice", &GPU);
    let queued = two.agent("bob").ok(&["reserve", "--queue", "--kind", "name", "gpu"]);
    let id = text(&queued["queued"], "id").to_owned();
    let seen = two.agent("bob").ok(&["waits"]);
    assert_eq!((each(&seen, "waits", "id"), &seen["machine_wide"]), (vec![id.as_str()], &json!([id])));
    assert_eq!(list(&two.agent("carol").ok(&["waits"]), "waits").len(), 0, "carol waits for nothing");
    two.agent("carol").fails("not-holder", 3, &["wait", &id]);
    two.agent("carol").fails("not-holder", 3, &["wait", "--cancel", &id]);
    one.agent("alice").ok(&["release", "--kind", "name", "gpu"]);
    let status = two.agent("bob").ok(&["status"]);
    assert_eq!((text(&status["waits"][0], "state"), text(&status, "agent")), ("offered", "bob"));
    let said = two.agent("bob").run(&["status"]).expect(0).stdout();
    assert!(
        said.contains("gpu (your turn)") && said.contains(&format!("clearway --agent bob wait {id}")),
        "{said}"
    );
    let granted = one.agent("bob").ok(&["wait", &id]);
    assert_eq!(text(&granted["leases"][0], "pattern"), "gpu");
}

#[test]
fn whoever_holds_or_awaits_a_resource_of_the_machine_sees_who_else_waits_for_it() {
    let home = home();
    let (one, two) = sharing_a_gpu(&home);
    one.grant("alice", &GPU);
    let queue = ["reserve", "--queue", "--kind", "name", "gpu"];
    let ids: Vec<String> = ["bob", "carol"]
        .iter()
        .map(|name| text(&two.agent(name).ok(&queue)["queued"], "id").to_owned())
        .collect();
    for name in ["alice", "bob", "carol"] {
        let seen = one.agent(name).ok(&["waits"]);
        assert_eq!(json!(each(&seen, "waits", "id")), json!(ids), "{name}");
        assert_eq!(seen["machine_wide"], json!(ids), "{name}");
    }
    let status = one.agent("alice").text(&["status"]);
    assert!(status.contains("wait for you: bob (gpu"), "{status}");
    let bar = one.agent("alice").text(&["statusline"]);
    assert!(bar.contains("2 wait for you"), "{bar}");
    let status = two.agent("bob").text(&["status"]);
    assert!(status.contains("you wait for: gpu") && !status.contains("carol"), "{status}");
}

#[test]
fn what_others_have_of_the_machine_is_not_told_to_be_nothing() {
    let home = home();
    let (one, two) = sharing_a_gpu(&home);
    assert_eq!(two.clearway().text(&["waits"]), "nobody waits\n");
    one.grant("alice", &GPU);
    two.agent("bob").ok(&["reserve", "--queue", "--kind", "name", "gpu"]);
    for (words, said) in [
        (["waits"], "nobody waits here; machine-wide 1 waits: clearway --scope machine waits"),
        (["leases"], "no leases here; machine-wide 1 lease: clearway --scope machine leases"),
        (["status"], "machine-wide 1 lease, 1 wait: clearway --scope machine status"),
    ] {
        let shown = two.clearway().text(&words);
        assert!(shown.contains(said), "{shown}");
    }
    let there = two.clearway().args(&["--scope", "machine"]).text(&["waits"]);
    assert!(there.contains("bob"), "{there}");
}

#[test]
fn what_belongs_to_the_machine_is_handed_to_whoever_is_known_there() {
    let home = home();
    let (one, two) = sharing_a_gpu(&home);
    let gpu = one.grant("alice", &GPU);
    let path = one.grant("alice", &["src/a.rs"]);
    one.grant("bob", &["src/b.rs"]);
    two.grant("bobo", &["--kind", "name", "build"]);
    let by_id = ["transfer", "--to", "bob", text(&gpu, "id")];
    for words in [by_id.as_slice(), &["transfer", "--to", "bob", "--kind", "name", "gpu"]] {
        let error = one.agent("alice").fails("not-found", 5, words);
        assert!(text(&error, "message").contains("not known machine-wide"), "{error}");
        let hints = error["hints"].to_string();
        assert!(hints.contains("--scope machine agents") && hints.contains("--queue"), "{error}");
        assert!(!hints.contains("did you mean"), "{error}");
    }
    let error = one.agent("alice").fails("not-found", 5, &["transfer", "--to", "bob", "--all"]);
    assert!(error["hints"].to_string().contains("by id"), "{error}");
    one.agent("alice").ok(&["transfer", "--to", "bob", text(&path, "id")]);
    two.agent("bob").ok(&["reserve", "--queue", "--kind", "name", "gpu"]);
    let known = one.clearway().args(&["--scope", "machine"]).text(&["agents"]);
    assert!(known.contains("bob"), "{known}");
    assert_eq!(one.agent("alice").ok(&by_id)["leases"][0]["agent"], "bob");
}

#[test]
fn without_an_id_the_only_wait_may_be_one_for_the_machine() {
    let home = home();
    let (one, two) = sharing_a_gpu(&home);
    one.grant("alice", &GPU);
    let queue = ["reserve", "--queue", "--kind", "name", "gpu"];
    let first = text(&two.agent("bob").ok(&queue)["queued"], "id").to_owned();
    assert_eq!(two.agent("bob").ok(&["wait", "--cancel", &first])["cancelled"], json!([first]));
    two.agent("bob").ok(&queue);
    let left = two.agent("bob").ok(&["wait", "--cancel"]);
    assert_eq!(list(&left, "cancelled").len(), 1);
    two.agent("bob").ok(&queue);
    one.agent("alice").ok(&["release", "--all"]);
    assert_eq!(text(&two.agent("bob").ok(&["wait"])["leases"][0], "pattern"), "gpu");
}

#[test]
fn everything_of_mine_is_also_what_i_hold_of_the_machine() {
    let home = home();
    let (one, two) = sharing_a_gpu(&home);
    let (gpu, path) = (one.grant("alice", &GPU), one.grant("alice", &["src/a.rs"]));
    two.grant("bob", &["src/a.rs"]);
    let both = json!([path["id"], gpu["id"]]);
    let ids = |value: &Value| json!(each(value, "leases", "id"));
    for verb in ["leases", "status", "renew"] {
        assert_eq!(ids(&one.agent("alice").ok(&[verb])), both, "{verb}");
    }
    let shown = one.agent("alice").run(&["leases"]).expect(0).stdout();
    assert!(shown.contains("gpu (machine-wide)"), "{shown}");
    let told = one.agent("alice").run(&["status"]).expect(0).stdout();
    assert!(told.contains("you hold: src/a.rs, gpu (machine-wide)"), "{told}");
    assert_eq!(ids(&two.agent("bob").ok(&["leases"])).as_array().map(Vec::len), Some(1));
    let renewed = two.agent("alice").ok(&["renew", text(&gpu, "id")]);
    assert_eq!(ids(&renewed), json!([gpu["id"]]));
    one.agent("alice").fails("usage", 2, &["renew", text(&gpu, "id"), text(&path, "id")]);
    one.grant("bob", &["src/b.rs"]);
    let refused = one.agent("alice").fails("not-found", 5, &["transfer", "--all", "--to", "bob"]);
    assert!(refused["hints"].to_string().contains("machine-wide"), "{refused}");
    let held = one.agent("alice").ok(&["leases", "--agent-name", "alice"]);
    assert_eq!(ids(&held), both, "all of it or none");
    let keyed = ["release", "--all", "--idempotency-key", "k"];
    for _ in 0..2 {
        assert_eq!(one.agent("alice").ok(&keyed)["released"], both);
    }
    two.grant("bob", &GPU);
}

#[test]
fn what_the_machine_shares_is_handed_over_with_the_rest() {
    let home = home();
    let (one, two) = sharing_a_gpu(&home);
    let gpu = one.grant("alice", &GPU);
    one.grant("alice", &["src/a.rs"]);
    one.grant("bob", &["src/b.rs"]);
    let wait = two.agent("bob").ok(&["reserve", "--queue", "--kind", "name", "gpu"]);
    two.agent("bob").ok(&["wait", "--cancel", text(&wait["queued"], "id")]);
    let handed = one.agent("alice").ok(&["transfer", "--all", "--to", "bob"]);
    assert_eq!(list(&handed, "leases").len(), 2);
    let back = two.agent("bob").ok(&["transfer", "--to", "alice", text(&gpu, "id")]);
    assert_eq!(each(&back, "leases", "agent"), ["alice"]);
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

/// A repository without the setting does not see what the machine shares, and says so.
#[test]
fn where_a_name_is_no_resource_of_the_machine_it_is_told_that_somewhere_it_is() {
    let home = home();
    let (one, two) = (home.repository("one", &[]), home.repository("two", &[]));
    one.write(".clearway.toml", "[resources]\ngpu = { capacity = 1, scope = \"machine\" }\n");
    one.grant("alice", &GPU);
    for words in [["who", "--kind", "name", "gpu"], ["check", "--kind", "name", "gpu"]] {
        let reply = two.agent("bob").ok(&words);
        assert_eq!(each(&reply, "notices", "code"), ["held-machine-wide"], "{words:?}");
        let message = text(&reply["notices"][0], "message").to_owned();
        let (_, command) = message.split_once(": clearway ").expect("a command");
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(two.clearway().ok(&words)["holders"][0]["agent"], "alice", "{message}");
    }
    assert_eq!(one.agent("bob").ok(&["who", "--kind", "name", "gpu"])["notices"], json!([]));
}

#[test]
fn a_path_that_is_also_the_name_of_a_resource_is_pointed_out() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[resources]\nbuild = 2\n");
    repository.grant("alice", &["--kind", "name", "deploy"]);
    for (word, why) in [("build", "it is also the name of a resource"), ("deploy", "somebody holds the name")]
    {
        let reply = repository.agent("bob").ok(&["reserve", word]);
        assert_eq!(each(&reply, "notices", "code"), ["taken-as-path"], "{word}");
        let said = text(&reply["notices"][0], "message");
        assert!(said.contains(why) && said.ends_with("add --kind name"), "{said}");
    }
    for words in
        [["reserve", "test"].as_slice(), &["reserve", "src"], &["reserve", "--kind", "name", "build"]]
    {
        assert_eq!(repository.agent("bob").ok(words)["notices"], json!([]), "{words:?}");
    }
}

#[test]
fn the_number_of_a_range_is_shown_wherever_the_lease_is() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[resources]\n\"port:3000-3009\" = 10\n");
    repository.grant("alice", &["--kind", "name", "port"]);
    let lease = repository.grant("bob", &["--kind", "name", "port"]);
    assert_eq!((number(&lease, "slot"), number(&lease, "number")), (1, 3001));
    let shown = "port:3001 of port:3000-3009";
    let said = |words: &[&str]| repository.agent("bob").text(words);
    for words in
        [["reserve", "--kind", "name", "port"].as_slice(), &["leases"], &["who", "--kind", "name", "port"]]
    {
        assert!(said(words).contains(shown), "{words:?}: {}", said(words));
    }
    assert_eq!(repository.grant("bob", &["--kind", "name", "build"])["number"], json!(null));
}

#[test]
fn a_hint_about_a_name_that_looks_like_a_flag_works() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["--kind", "name", "--", "-x"]);
    let error =
        repository.agent("bob").fails("reservation-held", 1, &["reserve", "--kind", "name", "--", "-x"]);
    let hint = error["hints"][0].as_str().unwrap_or_default();
    let (_, command) = hint.split_once(": clearway ").expect("a command");
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(repository.clearway().ok(&words)["holders"][0]["agent"], "alice", "{hint}");
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
    assert!(said.contains("build is held as a name: add --kind name"), "{said}");
    let reply = repository.agent("alice").ok(&["release", "--kind", "name", "build"]);
    assert_eq!(reply["released"][0], lease["id"]);
}

#[test]
fn a_name_taken_for_a_path_is_told_as_one_by_every_verb() {
    let home = home();
    let (one, two) = sharing_a_gpu(&home);
    one.grant("alice", &["--kind", "name", "db:migrate"]);
    one.grant("bob", &["b.rs"]);
    two.grant("alice", &GPU);
    for name in ["db:migrate", "gpu"] {
        let told = format!("{name} is held as a name: add --kind name");
        for verb in ["release", "check", "who"] {
            let reply = one.agent("alice").ok(&[verb, name]);
            let notices = list(&reply, "notices");
            let notice = notices.iter().find(|notice| notice["code"] == "is-name");
            let notice = notice.unwrap_or_else(|| panic!("{verb} {name}: {reply:#}"));
            assert_eq!((text(notice, "target"), text(notice, "message")), (name, told.as_str()));
            let said = one.agent("alice").run(&[verb, name]).expect(0).stderr();
            assert!(said.contains(&told), "{verb} {name}: {said}");
        }
        for words in [["renew", name].as_slice(), &["transfer", "--to", "bob", name]] {
            let error = one.agent("alice").fails("not-found", 5, words);
            assert_eq!(error["hints"][0], told, "{error:#}");
            assert!(!error["hints"].to_string().contains("did you mean"), "{error:#}");
        }
    }
    one.agent("alice").ok(&["release", "--kind", "name", "db:migrate"]);
    let free = one.agent("alice").run(&["check", "db:migrate"]).expect(0);
    assert_eq!(free.stderr(), "", "a name that nobody holds is no slip");
}

#[test]
fn a_word_before_numbers_means_the_same_resource_to_every_verb() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[resources]\n\"port:3000-3001\" = 2\n");
    let (reserve, name) = (["--kind", "name", "port"], "port:3000-3001");
    let lease = repository.grant("alice", &reserve);
    assert_eq!((text(&lease, "pattern"), number(&lease, "slot")), (name, 0));
    repository.grant("bob", &["--kind", "name", name]);
    assert_eq!(repository.blockers("carol", &reserve).len(), 2);
    repository.agent("carol").json(&["check", "--kind", "name", "port"]).expect(1);
    let held = repository.clearway().ok(&["who", "--kind", "name", "port"]);
    assert_eq!((text(&held, "path"), each(&held, "holders", "agent")), (name, vec!["alice", "bob"]));
    let handed = repository.agent("alice").ok(&["transfer", "--to", "bob", "--kind", "name", "port"]);
    assert_eq!(each(&handed, "leases", "agent"), ["bob"]);
    repository.agent("bob").ok(&["release", "--kind", "name", "port"]);
    assert_eq!(repository.clearway().ok(&["leases"])["leases"], json!([]));
    repository.write(".clearway.toml", "[resources]\n\"port:1-2\" = 2\n\"port:5-9\" = 2\n");
    repository.agent("bob").fails("usage", 2, &["reserve", "--kind", "name", "port"]);
}

#[test]
fn a_unit_of_a_range_has_no_name_of_its_own() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[resources]\n\"port:3000-3009\" = 10\n");
    let reserve = |name: &'static str| ["reserve", "--kind", "name", name];
    let error = repository.agent("alice").fails("invalid-name", 2, &reserve("port:3005"));
    assert!(error["hints"].to_string().contains("name the whole: port"), "{error}");
    repository.agent("alice").ok(&reserve("port:3010"));
}
