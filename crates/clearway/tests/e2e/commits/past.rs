//! Commits that went past the check: found afterwards, recorded, told to whoever holds what is in them, and not pushed by
//! agents while they do.

use super::stage::{Stage, Who, said};
use crate::{home, list, text};
use serde_json::{Value, json};

const ADA: Who = Who::Session("ada");
/// Ways past every hook that git 2.47 has.
const PAST: [&str; 2] = [
    "git -c core.hooksPath=/dev/null commit -q -a -m past",
    "git add -A && git update-ref refs/heads/main $(git commit-tree -p HEAD -m past $(git write-tree))",
];

fn files() -> [(&'static str, &'static str); 2] {
    [("held.txt", "1\n"), ("own.txt", "1\n")]
}

/// What the hooks of a client tell of a command, and what the agent heard after it.
fn runs(stage: &Stage<'_>, session: &str, line: &str) -> (String, String) {
    let payload = |event: &str| {
        json!({"session_id": session, "cwd": stage.root, "hook_event_name": event, "tool_name": "Bash",
            "tool_input": {"command": line}})
    };
    let before = stage.hook(&payload("PreToolUse")).expect(0).stdout();
    let output = stage.types(ADA, line);
    assert!(output.status.success(), "{line}: {}", said(&output));
    (before, stage.hook(&payload("PostToolUse")).expect(0).stdout())
}

fn unchecked(stage: &Stage<'_>) -> Vec<Value> {
    stage.events("commit.unchecked")
}

#[test]
fn a_commit_past_the_check_is_recorded_once_and_the_holder_is_told() {
    for past in PAST {
        let home = home();
        let stage = Stage::new(&home, &files());
        stage.edits("bob", None, "held.txt", Some("2\n"));
        stage.edits("ada", None, "own.txt", Some("2\n"));
        let holder = home.clearway(&stage.root).session("bob").ok(&["mine"]);
        runs(&stage, "ada", &format!("echo 3 > own.txt; {past}"));
        let events = unchecked(&stage);
        assert_eq!(events.len(), 1, "{past}");
        let data = &events[0]["data"];
        assert_eq!(
            (&data["paths"], &data["commit"]),
            (&json!(["held.txt"]), &json!(stage.head().trim())),
            "{past}"
        );
        assert_eq!(list(data, "blockers").len(), 1, "{holder}");
        assert!(text(&events[0], "agent").starts_with("claude-"), "{past}");
        let (told, _) = runs(&stage, "bob", "true");
        assert!(told.contains("held.txt is yours and was committed by claude-"), "{past}: {told}");
        assert!(told.contains(&stage.head()[..12]), "{past}: {told}");
        let healthy = home.clearway(&stage.root).run(&["doctor"]).stdout();
        assert!(healthy.contains("went past the check"), "{healthy}");
        runs(&stage, "ada", "true");
        assert_eq!(unchecked(&stage).len(), 1, "once");
        home.clearway(&stage.root).ok(&["audit", "verify"]);
    }
}

#[test]
fn what_the_check_saw_and_what_was_committed_before_is_not_reported() {
    let home = home();
    let stage = Stage::new(&home, &files());
    runs(&stage, "ada", "true");
    stage.grant("bob", &["held.txt"]);
    // What changes a whole checkout an agent types only where nobody else is at work; git knows no such rule.
    let types = |line: &str| {
        let output = stage.types(ADA, line);
        assert!(output.status.success(), "{line}: {}", said(&output));
    };
    for line in [
        "echo 2 > own.txt; git commit -q -a -m checked",
        "git commit -q --amend -m again",
        "git checkout -q -b topic; echo 3 > own.txt; git commit -q -a -m topic; git checkout -q main; git merge -q topic",
        "git reset -q --hard HEAD~1",
        "git merge -q --ff-only topic",
        "echo 4 > own.txt; git -c core.hooksPath=/dev/null commit -q -a -m own",
        "git switch -q --detach HEAD~1; git switch -q main",
    ] {
        types(line);
        runs(&stage, "ada", "true");
    }
    let person = stage.types(Who::Person, "echo 2 > held.txt; git commit -q -a -m person");
    assert!(person.status.success());
    runs(&stage, "ada", "true");
    assert_eq!(unchecked(&stage), Vec::<Value>::new());
}

#[test]
fn git_itself_finds_it_too_and_an_agent_does_not_push_it_while_it_is_with_somebody() {
    let home = home();
    let stage = Stage::new(&home, &files());
    let remote = home.directory("remote.git");
    stage.git(&format!("git init -q --bare -b main {0} && git remote add origin {0}", remote.display()));
    stage.git("git push -q origin main");
    stage.grant("bob", &["held.txt"]);
    stage.git(&format!("echo 2 > held.txt; {}", PAST[0]));
    let refused = stage.types(Who::Agent("ada"), "git push -q origin main");
    let told = said(&refused);
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        !refused.status.success()
            && words.contains("went past the check and holds what is with somebody else: held.txt"),
        "{told}"
    );
    let events = unchecked(&stage);
    assert_eq!((events.len(), &events[0]["agent"]), (1, &Value::Null), "nobody is blamed");
    // What is pushed without it, by its holder, by a person, or when nobody holds it any more, passes.
    for (who, line) in [
        (Who::Agent("ada"), "git push -q origin HEAD~1:refs/heads/older"),
        (Who::Agent("bob"), "git push -q origin main:bobs"),
        (Who::Person, "git push -q origin main:persons"),
    ] {
        let passed = stage.types(who, line);
        assert!(passed.status.success(), "{line}: {}", said(&passed));
    }
    home.clearway(&stage.root).agent("bob").ok(&["release", "--all"]);
    assert!(stage.types(Who::Agent("ada"), "git push -q origin main").status.success());
}

#[test]
fn status_shows_what_went_past_the_check_to_people_agents_and_programs() {
    let home = home();
    let stage = Stage::new(&home, &files());
    let looks = |who: &str| match who {
        "person" => home.clearway(&stage.root).text(&["status"]),
        session => home.clearway(&stage.root).session(session).text(&["status"]),
    };
    stage.edits("bob", None, "held.txt", Some("2\n"));
    stage.edits("ada", None, "own.txt", Some("2\n"));
    assert_eq!(home.clearway(&stage.root).ok(&["status"])["unchecked"], json!([]));
    assert!(!looks("person").contains("past the check") && !looks("bob").contains("past the check"));
    runs(&stage, "ada", PAST[0]);
    let first = stage.head().trim().to_owned();
    let seen = home.clearway(&stage.root).ok(&["status"]);
    let past = &list(&seen, "unchecked")[0];
    assert_eq!((&past["commit"], &past["paths"]), (&json!(first), &json!(["held.txt"])));
    assert_eq!((&past["held"], list(past, "blockers").len()), (&json!(true), 1), "{past}");
    assert!(text(past, "agent").starts_with("claude-"), "{past}");
    assert!(list(&seen, "warnings").iter().any(|line| line.to_string().contains("past the check")), "{seen}");
    let told = looks("person").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.starts_with(&format!("needs you {} by claude-", &first[..12])), "{told}");
    assert!(
        told.contains(
            "went past the check with held.txt, held by others then: clearway events --kind commit.unchecked"
        ),
        "{told}"
    );
    let told = looks("bob");
    assert!(told.len() <= 400 && told.matches("went past the check with held.txt").count() == 1, "{told}");
    // Once nobody holds it any more that is said, and a second one does not hide the first from programs.
    stage.write("held.txt", "3\n");
    runs(&stage, "ada", PAST[1]);
    home.clearway(&stage.root).session("bob").ok(&["release", "--all"]);
    let seen = home.clearway(&stage.root).ok(&["status"]);
    let past = list(&seen, "unchecked");
    assert_eq!(past.iter().map(|past| &past["held"]).collect::<Vec<_>>(), [&json!(false), &json!(false)]);
    assert!(looks("person").contains("2 commits of a day, the last: "), "{}", looks("person"));
}
