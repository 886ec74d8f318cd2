//! A person stops an agent, and lets it go on.

use super::{failing_git, of_kind};
use crate::hooks::told::reads;
use crate::{app, each, home, list, text};
use clearway_testkit::{Client, eventually};
use serde_json::{Value, json};

#[test]
fn a_stopped_agent_is_refused_its_next_tool_call_and_its_turn_ends() {
    let home = home();
    let repository = app(&home);
    repository.grant("eve", &["docs/"]);
    let mut one = Client::claude(&home, &repository, "one");
    one.before_edit("src/a.rs").silent();
    repository.write("src/a.rs", "half done\n");
    one.after_edit("src/a.rs").silent();
    let name = repository.clearway().session("one").ok(&["renew"])["agent"].as_str().unwrap().to_owned();
    let halt = ["halt", &name, "--reason", "wrong module"];
    repository.agent("eve").fails("not-operator", 3, &halt);
    repository.clearway().session("one").fails("not-operator", 3, &halt);
    let reply = repository.agent("root").operator(&home).ok(&halt);
    assert_eq!((text(&reply, "halted"), list(&reply, "ended").len()), (&*name, 1));
    assert_eq!(of_kind(&repository, "snapshot.taken").len(), 1);
    assert_eq!(of_kind(&repository, "lease.orphaned").len(), 1);
    for answer in [reads(&mut one), one.before_edit("src/b.rs")] {
        let document: Value = serde_json::from_str(&answer.stdout).expect("JSON");
        assert_eq!(document["continue"], false, "{document}");
        assert!(text(&document, "stopReason").contains("wrong module"), "{document}");
        assert_eq!(document["hookSpecificOutput"]["permissionDecision"], "deny");
    }
    let status = repository.clearway().ok(&["status"]);
    let warned =
        list(&status, "warnings").iter().any(|warning| warning.as_str().unwrap().contains("is halted"));
    assert!(warned, "{status}");
    repository.agent("root").operator(&home).ok(&["resume", &name, "--reason", "told it"]);
    assert!(one.before_edit("src/b.rs").told().contains("lets you go on: \"told it\""));
    repository.agent("root").operator(&home).fails("not-found", 5, &["halt", "nobody", "--reason", "x"]);
}

/// Refused again and again: one line each, then a mark, and where nobody watches the end of the turn.
#[test]
fn an_agent_that_is_refused_again_and_again_is_said_to_loop_and_its_turn_ends_where_nobody_watches() {
    let home = home();
    home.user_config("posture = \"unattended\"\n");
    let repository = app(&home);
    repository.grant("otter", &["src/a.rs"]);
    let mut one = Client::claude(&home, &repository, "one");
    let looping = || {
        let status = repository.clearway().ok(&["status"]);
        list(&status, "agents").iter().any(|agent| agent["looping"] == true)
    };
    for time in 1..10 {
        let said = one.before_edit("src/a.rs").denied();
        assert_eq!(said.lines().count(), if time == 1 { 2 } else { 1 }, "{said}");
        assert_eq!(looping(), time >= 5, "{time}");
    }
    let last = one.before_edit("src/a.rs");
    let document: Value = serde_json::from_str(&last.stdout).expect("JSON");
    assert_eq!(document["continue"], false, "{document}");
}

#[test]
fn an_agent_that_tries_one_file_after_another_does_not_loop() {
    let home = home();
    home.user_config("posture = \"unattended\"\n");
    let repository = app(&home);
    let files: Vec<String> = (0..12).map(|number| format!("src/{number}.rs")).collect();
    repository.grant("otter", &files.iter().map(String::as_str).collect::<Vec<_>>());
    let mut one = Client::claude(&home, &repository, "one");
    for file in &files {
        one.before_edit(file).denied();
    }
    let status = repository.clearway().ok(&["status"]);
    assert!(list(&status, "agents").iter().all(|agent| agent["looping"] != true), "{status}");
    for _ in 0..4 {
        one.before_edit("src/0.rs").denied();
    }
    let status = repository.clearway().ok(&["status"]);
    assert!(list(&status, "agents").iter().any(|agent| agent["looping"] == true), "{status}");
    let said = "is looping: its edit of src/0.rs was refused 5 times lately";
    assert!(status["warnings"].to_string().contains(said), "{status}");
}

#[test]
fn whoever_ends_its_turn_is_reminded_once_of_who_waits_for_its_file() {
    let home = home();
    let repository = app(&home);
    repository.grant("eve", &["docs/"]);
    let mut one = Client::claude(&home, &repository, "one");
    let stop = |client: &mut Client, active: bool| client.event("Stop", &json!({"stop_hook_active": active}));
    one.before_edit("src/a.rs").silent();
    repository.write("src/a.rs", "changed\n");
    one.after_edit("src/a.rs").silent();
    stop(&mut one, false).silent();
    repository.agent("otter").ok(&["reserve", "src/a.rs", "--queue"]);
    stop(&mut one, true).silent();
    let held = stop(&mut one, false);
    let document: Value = serde_json::from_str(&held.stdout).expect("JSON");
    assert_eq!((held.code, text(&document, "decision")), (0, "block"));
    let said = text(&document, "reason");
    assert!(said.contains("otter waits for src/a.rs") && said.lines().count() == 1, "{said}");
    stop(&mut one, false).silent();
}

/// Whoever is stopped gets nothing more, by whatever way, and stands in nobody's way.
#[test]
fn a_stopped_agent_is_granted_offered_and_handed_nothing() {
    let home = home();
    let app = app(&home);
    app.grant("ada", &["src/a.rs", "src/b.rs"]);
    app.grant("cy", &["docs/"]);
    app.agent("bob").ok(&["ask", "src/a.rs", "why", "--then-reserve"]);
    app.agent("bob").ok(&["reserve", "src/b.rs", "--queue"]);
    app.agent("root").operator(&home).ok(&["halt", "bob", "--reason", "wrong module"]);
    assert!(list(&app.clearway().ok(&["waits"]), "waits").is_empty());
    assert!(list(&app.clearway().ok(&["negotiations"]), "negotiations").is_empty());
    app.agent("ada").ok(&["release", "src/a.rs", "src/b.rs"]);
    app.grant("cy", &["src/a.rs", "src/b.rs"]);
    let refused = app.agent("cy").fails("recipient-gone", 3, &["transfer", "--to", "bob", "src/b.rs"]);
    assert!(text(&refused, "message").contains("wrong module"), "{refused}");
}

/// What a command keeps is still held when its agent was stopped; whoever meets it is told that, not that its holder works.
#[test]
fn a_stopped_agent_whose_command_runs_on_is_called_halted_wherever_it_is_met() {
    let home = home();
    let app = app(&home);
    let mut command = app.agent("ada").spawn(&["with", "build", "--", "sleep", "600"]);
    eventually("it is held", || (list(&app.clearway().ok(&["leases"]), "leases").len() == 1).then_some(()));
    app.agent("root").operator(&home).ok(&["halt", "ada", "--reason", "wrong module"]);
    let seen =
        [
            app.clearway().ok(&["leases"])["leases"][0].clone(),
            app.clearway().ok(&["who", "--kind", "name", "build"])["holders"][0].clone(),
            app.agent("bob").fails("reservation-held", 1, &["reserve", "--kind", "name", "build"])["details"]
                ["blockers"][0]
                .clone(),
        ];
    for lease in &seen {
        assert_eq!((text(lease, "liveness"), &lease["holder_halted"]), ("active", &json!(true)), "{lease}");
    }
    let who = app.clearway().run(&["who", "--kind", "name", "build"]).stdout();
    let refused = app.agent("bob").run(&["reserve", "--kind", "name", "build"]).stderr();
    for said in [who, refused] {
        assert!(said.contains("ada (halted) holds build"), "{said}");
    }
    command.kill().expect("a process of ours");
    command.wait().expect("it ended");
}

/// What it left is told by what a person did, and not as if its session had ended.
#[test]
fn what_a_stopped_agent_left_is_told_as_left_by_the_halt() {
    let home = home();
    crate::notifying::listen(&home);
    let app = app(&home);
    app.grant("eve", &["docs/"]);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    for file in ["src/a.rs", "src/b.rs"] {
        one.before_edit(file).silent();
        app.write(file, "half done\n");
        one.after_edit(file).silent();
    }
    let lease = app.clearway().session("one").ok(&["renew"])["leases"][0].clone();
    let name = text(&lease, "agent").to_owned();
    app.agent("root").operator(&home).ok(&["halt", &name, "--reason", "wrong module"]);
    let told = two.before_edit("src/a.rs").told();
    assert!(told.contains(&format!("a person stopped {name}, which left changes in it")), "{told}");
    assert!(!told.contains("ended"), "{told}");
    let alert = crate::notifying::heard(&home, "orphaned");
    assert!(text(&alert, "text").contains("was stopped and left src/"), "{alert}");
    let snapshots = app.clearway().ok(&["snapshots"]);
    let causes = each(&snapshots, "snapshots", "cause");
    assert!(!causes.is_empty() && causes.iter().all(|cause| *cause == "halt"), "{snapshots}");
    app.agent("root").operator(&home).ok(&["resume", &name, "--reason", "told it"]);
    let error = app.clearway().session("one").fails("lease-expired", 4, &["renew", text(&lease, "id")]);
    assert!(!text(&error, "message").contains("session ended"), "{error}");
    let told = app.agent("eve").ok(&["reserve", "src/b.rs"]);
    let left =
        list(&told, "notices").iter().find(|notice| notice["code"] == "left-behind").expect("a notice");
    assert!(!text(left, "message").contains("session ended"), "{left}");
}

/// A stop is a stop, also where git fails; but nothing is called kept that is not.
#[test]
fn what_cannot_be_kept_of_a_stopped_agent_is_said_and_why_it_goes_on_reaches_it() {
    let home = home();
    let repository = app(&home);
    repository.grant("eve", &["docs/"]);
    let mut one = Client::claude(&home, &repository, "one");
    one.before_edit("src/a.rs").silent();
    repository.write("src/a.rs", "half done\n");
    one.after_edit("src/a.rs").silent();
    let name = text(&repository.clearway().session("one").ok(&["renew"]), "agent").to_owned();
    let person = || repository.agent("root").operator(&home);
    let empty = failing_git(&home);
    let halted = person().env("PATH", &empty).ok(&["halt", &name, "--reason", "wrong module"]);
    assert!(each(&halted, "notices", "code").contains(&"unkept"), "{halted}");
    assert!(!reads(&mut one).stdout.contains("are kept"));
    person().ok(&["resume", &name, "--reason", "mind the parser"]);
    let told = reads(&mut one).told();
    assert!(told.contains("A person lets you go on: \"mind the parser\""), "{told}");
    reads(&mut one).silent();
}
