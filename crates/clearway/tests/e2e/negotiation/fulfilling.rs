//! Requests that fulfil themselves: by a commit, a release or a revert of the path, with the hooks of git and of the
//! clients as `init` installs them.

use super::{asked, of_kind};
use crate::hooks::told::reads;
use crate::{each, home, list, text};
use clearway_testkit::{Client, Home, Repository};

/// A repository in which git calls our hooks, and where others are at work.
fn hooked(home: &Home) -> Repository<'_> {
    let app = home.repository("app", &[("src/a.rs", "a\n"), ("src/b.rs", "b\n"), ("docs/x.md", "x\n")]);
    app.clearway().run(&["init", "-y", "--git-hooks"]).expect(0);
    app.grant("eve", &["docs/"]);
    app
}

fn change(client: &mut Client, app: &Repository<'_>, file: &str) {
    client.before_edit(file).silent();
    app.write(file, "changed\n");
    client.after_edit(file).silent();
}

/// A line of shell as a session types it.
fn types(home: &Home, app: &Repository<'_>, session: &str, line: &str) {
    let output =
        home.shell(app.path(), line).env("CLAUDE_CODE_SESSION_ID", session).output().expect("a shell");
    assert!(output.status.success(), "{line}: {output:?}");
}

fn ask(app: &Repository<'_>, session: &str, file: &str) -> String {
    let reply = app.clearway().session(session).ok(&["ask", file, "the release waits"]);
    text(&reply["negotiations"][0], "id").to_owned()
}

/// How the one request ended.
fn ended(app: &Repository<'_>) -> String {
    let ended = of_kind(app, "negotiation.ended");
    assert_eq!(ended.len(), 1, "{ended:?}");
    text(&ended[0]["data"], "outcome").to_owned()
}

/// The asker hears of it at its next tool call, the place was kept, and the old holder does not barge in.
#[track_caller]
fn passed_on(app: &Repository<'_>, old: &mut Client, asker: &mut Client, file: &str) {
    let told = reads(asker).told();
    assert!(told.starts_with(&format!("{file} is free, and kept for you")), "{told}");
    old.before_edit(file).denied();
    asker.before_edit(file);
    assert_eq!(ended(app), "released");
    assert!(list(&app.clearway().ok(&["negotiations"]), "negotiations").is_empty());
    let who = app.clearway().ok(&["who", file]);
    assert_eq!(list(&who, "holders").len(), 1, "{who}");
}

#[test]
fn a_commit_answers_who_asked_and_its_place_is_kept() {
    let home = home();
    let app = hooked(&home);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    change(&mut one, &app, "src/a.rs");
    reads(&mut two).silent();
    let id = ask(&app, "two", "src/a.rs");
    app.clearway().session("one").ok(&["answer", &id, "after-commit"]);
    assert!(reads(&mut two).told().contains("with its next commit"));
    types(&home, &app, "one", "git commit -q -m done src/a.rs");
    passed_on(&app, &mut one, &mut two, "src/a.rs");
}

#[test]
fn a_commit_without_an_answer_answers_too_and_one_of_another_file_does_not() {
    let home = home();
    let app = hooked(&home);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    change(&mut one, &app, "src/a.rs");
    change(&mut one, &app, "src/b.rs");
    reads(&mut two).silent();
    ask(&app, "two", "src/a.rs");
    types(&home, &app, "one", "git commit -q -m other src/b.rs");
    assert!(of_kind(&app, "negotiation.ended").is_empty());
    types(&home, &app, "one", "clearway commit -m done");
    passed_on(&app, &mut one, &mut two, "src/a.rs");
}

/// Somebody asks for what another is changing, who then types this.
#[track_caller]
fn check_answered_by(line: &str) {
    let home = home();
    let app = hooked(&home);
    let (mut one, mut two) = (Client::claude(&home, &app, "one"), Client::claude(&home, &app, "two"));
    change(&mut one, &app, "src/a.rs");
    reads(&mut two).silent();
    ask(&app, "two", "src/a.rs");
    types(&home, &app, "one", line);
    passed_on(&app, &mut one, &mut two, "src/a.rs");
}

#[test]
fn a_release_answers_who_asked() {
    check_answered_by("clearway release src/a.rs");
}

/// Taking a change back is no command of ours: whoever comes by next finds that nothing of it is left.
#[test]
fn a_revert_answers_who_asked_at_the_next_call_of_anybody() {
    check_answered_by("git checkout -q -- src/a.rs");
}

/// A commit ends no claim, but for what its holder promised.
#[test]
fn what_was_claimed_passes_on_with_a_commit_if_its_holder_said_so() {
    let home = home();
    let app = hooked(&home);
    let mut two = Client::claude(&home, &app, "two");
    reads(&mut two).silent();
    app.grant("ada", &["src/*.rs", "--ttl", "3h"]);
    let commit = |file: &str, words: &str| {
        app.write(file, words);
        let line = format!("git commit -q -m {words} {file}");
        let output = home.shell(app.path(), &line).env("CLEARWAY_AGENT", "ada").output().expect("a shell");
        assert!(output.status.success(), "{output:?}");
    };
    let id = ask(&app, "two", "src/a.rs");
    commit("src/a.rs", "first");
    assert!(of_kind(&app, "negotiation.ended").is_empty(), "nothing was promised");
    app.write("src/a.rs", "a draft\n");
    app.agent("ada").ok(&["answer", &id, "after-commit"]);
    reads(&mut two).told();
    commit("src/b.rs", "second");
    assert!(of_kind(&app, "negotiation.ended").is_empty(), "that was another file");
    app.write("src/a.rs", "third and more\n");
    let line = "git add src/a.rs && echo rest >> src/a.rs && git commit -q -m third";
    home.shell(app.path(), line).env("CLEARWAY_AGENT", "ada").output().expect("a shell");
    assert!(of_kind(&app, "negotiation.ended").is_empty(), "there is more to commit");
    commit("src/a.rs", "fourth");
    assert_eq!(ended(&app), "released");
    assert!(reads(&mut two).told().contains("src/a.rs is free, and kept for you"));
    two.before_edit("src/a.rs").silent();
    two.before_edit("src/b.rs").denied();
    let reply = app.agent("bob").ok(&["ask", "src/", "all of it"]);
    let of_ada =
        list(&reply, "negotiations").iter().find(|asked| asked["holder"] == "ada").expect("a request");
    let refused = app.agent("ada").fails("usage", 2, &["answer", text(of_ada, "id"), "after-commit"]);
    assert!(refused["hints"].to_string().contains("later 10"), "{refused}");
}

/// Names are asked for as they are reserved.
#[test]
fn a_name_is_asked_for_too() {
    let home = home();
    home.user_config("[resources]\ngpu = { capacity = 1, scope = \"machine\" }\npool = 2\n");
    let app = hooked(&home);
    app.grant("ada", &["--kind", "name", "build"]);
    let reply = app.agent("bob").ok(&["ask", "--kind", "name", "build", "a release"]);
    let id = text(&reply["negotiations"][0], "id").to_owned();
    assert_eq!(text(&reply["negotiations"][0], "pattern"), "build", "{reply}");
    app.agent("ada").fails("usage", 2, &["answer", &id, "after-commit"]);
    app.agent("ada").ok(&["answer", &id, "release"]);
    app.agent("ada").fails("reservation-held", 1, &["reserve", "--kind", "name", "build"]);
    app.grant("bob", &["--kind", "name", "build"]);
    app.grant("ada", &["--kind", "name", "pool"]);
    let free = app.agent("bob").ok(&["ask", "--kind", "name", "pool", "one of two"]);
    assert_eq!(text(&free, "status"), "free-now", "{free}");
    app.grant("ada", &["--kind", "name", "gpu"]);
    let refused = app.agent("bob").fails("usage", 2, &["ask", "--kind", "name", "gpu", "why"]);
    assert!(refused["hints"].to_string().contains("reserve --kind name gpu --wait"), "{refused}");
}

/// What has nothing to commit passes on with the next commit of anything.
#[test]
fn what_is_clean_passes_on_with_the_next_commit_of_anything_if_its_holder_said_so() {
    let home = home();
    let app = hooked(&home);
    app.grant("ada", &["src/a.rs", "src/b.rs", "--ttl", "3h"]);
    let id = asked(&app, "bob", "src/a.rs");
    app.agent("ada").ok(&["answer", &id, "after-commit"]);
    app.write("src/b.rs", "work\n");
    app.git(&["add", "src/b.rs"]);
    app.agent("ada").ok(&["commit", "-m", "z"]);
    assert_eq!(ended(&app), "released");
    let held = app.clearway().ok(&["leases"]);
    assert_eq!(each(&held, "leases", "pattern"), ["docs/**", "src/b.rs"], "{held}");
}
