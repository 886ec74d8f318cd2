//! Commands that want the same take turns, and never more of them run than may.

use super::{Diary, WAITS_FOR_GO, ended, under_build};
use crate::{home, list, text};
use clearway_testkit::eventually;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;

#[test]
fn never_more_than_the_capacity_of_a_machine_wide_resource_run_at_once() {
    let home = home();
    home.user_config("[resources]\nbuild = { capacity = 2, scope = \"machine\" }\n");
    let repositories = ["one", "two", "three"].map(|name| home.repository(name, &[]));
    let diary = Diary::new(&home);
    let script = r#"echo "begin $$ $CLEARWAY_SLOT_BUILD" >> "$LOG"
until [ -e "$GO.$$" ] || [ -e "$GO" ]; do sleep 0.01; done
echo "end $$" >> "$LOG"; exit $CODE"#;
    let contenders: Vec<(i32, Child)> = (0..20)
        .map(|at| {
            let code = at % 3;
            let clearway = repositories[at as usize % 3].agent(&format!("agent-{}", at % 5));
            let clearway = diary.told(clearway).env("CODE", code.to_string());
            (code, clearway.spawn(&["with", "build", "--wait", "5m", "--", "sh", "-c", script]))
        })
        .collect();
    for done in 0..contenders.len() {
        let begun = diary.expect("begin", contenders.len().min(done + 2));
        let (pid, _) = begun[done].split_once(' ').expect("a process and its slot");
        std::fs::write(format!("{}.{pid}", diary.go.display()), "").expect("a file");
        diary.expect("end", done + 1);
    }
    for (code, child) in contenders {
        assert_eq!(ended(child, code), "", "nothing is said where nobody looks");
    }
    let mut running = BTreeMap::new();
    for line in diary.text().lines() {
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["begin", pid, slot] => drop(running.insert((*pid).to_owned(), (*slot).to_owned())),
            ["end", pid] => drop(running.remove(*pid).expect("it began")),
            other => panic!("{other:?}"),
        }
        let slots: BTreeSet<&String> = running.values().collect();
        assert!(running.len() <= 2 && slots.len() == running.len(), "{}", diary.text());
    }
    assert_eq!((diary.lines("begin").len(), diary.lines("end").len()), (20, 20));
    let left = repositories[0].clearway().args(&["--scope", "machine"]).ok(&["leases"]);
    assert_eq!(left["leases"].as_array().map(Vec::len), Some(0), "{left}");
}

#[test]
fn a_held_name_is_refused_in_a_way_that_no_command_answers() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let holder = under_build(&repository, &diary, &["--reason", "the nightly one"]);
    diary.expect("begin", 1);
    for flags in [&[][..], &["--wait", "200ms"]] {
        let words = [&["with", "build"], flags, &["--", "echo", "ran"]].concat();
        let ran = repository.agent("bob").json(&words).expect(125);
        assert_eq!(ran.stdout(), "", "standard output is the command's");
        let said: serde_json::Value = serde_json::from_str(&ran.stderr()).expect("one JSON document");
        assert_eq!(text(&said["error"], "slug"), "reservation-held");
        assert!(said["error"]["hints"].to_string().contains("--wait"), "{said}");
        assert_eq!(repository.clearway().ok(&["waits"])["waits"].as_array().map(Vec::len), Some(0));
    }
    let told = repository.agent("bob").run(&["with", "build", "--", "echo", "ran"]).expect(125).stderr();
    assert!(
        told.contains("the nightly one") && told.contains("clearway --agent bob who --kind name build"),
        "{told}"
    );
    diary.let_go();
    ended(holder, 0);
}

#[test]
fn holders_of_a_range_are_told_different_numbers() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    repository.write(".clearway.toml", "[resources]\n\"port:3000-3002\" = 3\nbuild = 2\n");
    let script = r#"echo "number $CLEARWAY_NUMBER_PORT $CLEARWAY_SLOT_PORT $CLEARWAY_SLOT_BUILD $CLEARWAY_LEASES" >> "$LOG"
until [ -e "$GO" ]; do sleep 0.01; done"#;
    let start = |words: &[&str]| {
        let words = [&["with"], words, &["--", "sh", "-c", script]].concat();
        diary.told(repository.agent("ada")).spawn(&words)
    };
    let mut holders = vec![start(&["port"]), start(&["port:3000-3002", "build"]), start(&["port"])];
    diary.expect("number", 3);
    let mut told: Vec<Vec<String>> =
        diary.lines("number").iter().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
    told.sort();
    let numbers: Vec<(&str, &str)> = told.iter().map(|told| (&*told[0], &*told[1])).collect();
    assert_eq!(numbers, [("3000", "0"), ("3001", "1"), ("3002", "2")]);
    repository.agent("bob").run(&["with", "port", "--", "true"]).expect(125);
    diary.let_go();
    holders.drain(..).for_each(|holder| drop(ended(holder, 0)));
    let leases = repository.clearway().ok(&["leases", "--history"]);
    let mut known: Vec<String> = leases["leases"].as_array().expect("a list").iter().map(as_named).collect();
    let mut named: Vec<String> = told.iter().flatten().filter(|word| word.contains('@')).cloned().collect();
    known.sort();
    named.sort();
    assert_eq!(named, known, "CLEARWAY_LEASES names exactly what was held");
}

fn as_named(lease: &serde_json::Value) -> String {
    format!("{}@{}", text(lease, "id"), lease["fence"])
}

#[test]
fn a_command_takes_the_turn_that_is_kept_for_its_agent() {
    let home = home();
    let repository = home.repository("app", &[]);
    repository.grant("alice", &["--kind", "name", "build"]);
    for agent in ["ada", "bob"] {
        repository.agent(agent).ok(&["reserve", "--queue", "--kind", "name", "build"]);
    }
    repository.agent("alice").ok(&["release", "--all"]);
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(125);
    repository.agent("ada").run(&["with", "build", "--", "true"]).expect(0);
    repository.agent("bob").run(&["with", "build", "--wait", "5m", "--", "true"]).expect(0);
    assert!(list(&repository.clearway().ok(&["waits"]), "waits").is_empty());
}

#[test]
fn commands_of_one_agent_take_turns() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    diary.let_go();
    let commands: Vec<Child> = (0..4).map(|_| under_build(&repository, &diary, &["--wait", "5m"])).collect();
    commands.into_iter().for_each(|command| drop(ended(command, 0)));
    let words: Vec<String> =
        diary.text().lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect();
    assert_eq!(words, ["begin", "end"].repeat(4));
}

#[test]
fn what_the_agent_holds_itself_lets_one_command_in_and_stays_its_own() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let own = repository.grant("ada", &["--kind", "name", "build"]);
    let holder = under_build(&repository, &diary, &[]);
    diary.expect("begin", 1);
    for agent in ["ada", "bob"] {
        repository.agent(agent).run(&["with", "build", "--", "true"]).expect(125);
    }
    let given = repository.agent("ada").ok(&["release", "--all"]);
    assert_eq!(given["released"], serde_json::json!([own["id"]]));
    assert_eq!(given["notices"][0]["code"], "kept-by-command", "{given:#}");
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(125);
    diary.let_go();
    ended(holder, 0);
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(0);
}

/// What a command runs under is free when it ends, whatever its agent waits for meanwhile.
#[test]
fn commands_of_two_agents_take_turns_and_all_of_them_run() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let names = ["ada", "bob", "ada", "bob", "ada", "bob", "ada", "bob"];
    let words = ["with", "build", "--wait", "5m", "--", "sh", "-c", WAITS_FOR_GO];
    let start = |name: &str| diary.told(repository.agent(name)).spawn(&words);
    let mut running = vec![start(names[0])];
    diary.expect("begin", 1);
    for (count, name) in names.iter().enumerate().skip(1) {
        running.push(start(name));
        eventually("one more in line", || {
            Some(repository.clearway().ok(&["waits"])).filter(|waits| list(waits, "waits").len() == count)
        });
    }
    diary.let_go();
    running.into_iter().for_each(|child| drop(ended(child, 0)));
    assert_eq!((diary.lines("begin").len(), diary.lines("end").len()), (8, 8));
}

#[test]
fn shared_holders_run_together_and_keep_an_exclusive_one_out() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let holders = [0, 1].map(|_| under_build(&repository, &diary, &["--shared"]));
    diary.expect("begin", 2);
    repository.agent("bob").run(&["with", "build", "--", "true"]).expect(125);
    repository.agent("bob").run(&["with", "build", "--shared", "--", "true"]).expect(0);
    diary.let_go();
    holders.into_iter().for_each(|holder| drop(ended(holder, 0)));
}

#[test]
fn with_a_bare_wait_a_command_waits_as_long_as_its_client_allows() {
    let home = home();
    let repository = home.repository("app", &[]);
    repository.grant("alice", &["--kind", "name", "build"]);
    let words = ["with", "build", "--wait", "--", "sh", "-c", "echo ran"];
    let waiting = repository.agent("bob").spawn(&words);
    eventually("it waits", || repository.clearway().ok(&["waits"])["waits"].get(0).cloned());
    repository.agent("alice").ok(&["release", "--all"]);
    let output = waiting.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stdout).trim()), (Some(0), "ran"));
}
