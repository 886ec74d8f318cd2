//! One look at everything, for people and for agents.

use crate::{app, home, text};
use clearway_testkit::{Home, Repository, Terminal};

/// Ten agents with reasons and long paths.
fn crowd<'h>(home: &'h Home) -> Repository<'h> {
    let repository = app(home);
    for number in 0..10 {
        let agent = format!("agent-with-a-long-name-{number}");
        let path = format!("src/a/rather/long/path/to/some/module/number/{number}/implementation.rs");
        repository
            .grant(&agent, &[&path, "--reason", "a reason that takes some room in any table of leases"]);
        repository.grant(&agent, &["--kind", "name", &format!("resource-{number}")]);
    }
    repository
}

#[test]
fn an_agent_reads_at_most_four_hundred_bytes() {
    let home = home();
    let repository = crowd(&home);
    let forms = [
        repository.clearway().session("s-1").text(&["status"]),
        repository.agent("agent-with-a-long-name-3").text(&["status"]),
    ];
    for form in &forms {
        assert!(form.len() <= 400, "{} bytes: {form}", form.len());
        assert!(
            form.lines().any(|line| line.starts_with("next: clearway ")),
            "one command to go on with: {form}"
        );
    }
    assert!(forms[1].contains("you: agent-with-a-long-name-3"), "{}", forms[1]);
    let alone = home.repository("other", &[]).agent("ada").text(&["status"]);
    assert!(alone.len() <= 400 && alone.contains("nothing"), "{alone}");
}

#[test]
fn ten_agents_fit_one_screen() {
    let home = home();
    let repository = crowd(&home);
    for number in 1..10 {
        let path = "src/a/rather/long/path/to/some/module/number/0/implementation.rs";
        repository.agent(&format!("agent-with-a-long-name-{number}")).ok(&["reserve", path, "--queue"]);
    }
    let reason = "cutting the release and everything that belongs to it, which takes a while ".repeat(6);
    repository.agent("agent-with-a-long-name-0").operator(&home).ok(&["freeze", "--reason", &reason]);
    let shown = home.terminal(repository.path(), "clearway status");
    let shown = String::from_utf8(shown.stdout).expect("text");
    let plain = without_colours(&shown.replace('\r', ""));
    assert!(plain.lines().count() <= 24, "{} lines: {plain}", plain.lines().count());
    for line in plain.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    assert!((0..10).all(|n| plain.contains(&format!("name-{n}"))), "{plain}");
    assert!(plain.contains("frozen for another") && plain.contains("and 6 more: clearway waits"), "{plain}");
}

/// The text without the sequences a terminal turns into colours.
fn without_colours(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        if c == '\u{1b}' {
            rest.by_ref().find(|c| c.is_ascii_alphabetic());
        } else {
            out.push(c);
        }
    }
    out
}

#[test]
fn what_needs_a_person_comes_first() {
    let home = home();
    let repository = app(&home);
    let script = "clearway reserve src/a.rs";
    assert!(
        home.session_shell(&Terminal::open(), repository.path(), script).status().expect("a shell").success()
    );
    let shown = home.terminal(repository.path(), "clearway status");
    let shown = without_colours(&String::from_utf8_lossy(&shown.stdout));
    assert!(shown.trim_start().starts_with("needs you"), "{shown}");
    assert!(shown.contains("src/a.rs"), "{shown}");
}

#[test]
fn the_json_form_has_agents_leases_and_warnings() {
    let home = home();
    let repository = crowd(&home);
    let reply = repository.agent("agent-with-a-long-name-0").ok(&["status"]);
    assert_eq!(text(&reply, "agent"), "agent-with-a-long-name-0");
    assert_eq!(reply["agents"].as_array().map(Vec::len), Some(10));
    assert_eq!(reply["leases"].as_array().map(Vec::len), Some(20));
    assert_eq!(reply["warnings"].as_array().map(Vec::len), Some(0));
    assert!(text(&reply, "place").ends_with("/app/.git"));
}

#[test]
fn tables_fit_a_terminal_of_eighty_columns_whatever_they_hold() {
    let home = home();
    let repository = crowd(&home);
    repository.grant(
        "wide",
        &[
            "src/日本語のとても長いファイル名がここにあります/さらに長い名前のファイル.rs",
            "--reason",
            "日本語の理由",
        ],
    );
    for words in [
        ["leases"].as_slice(),
        &["leases", "--history"],
        &["agents"],
        &["status"],
        &["who", "src/"],
        &["doctor"],
        &["explain"],
    ] {
        let shown = home.terminal(repository.path(), &format!("clearway {}", words.join(" ")));
        let shown = without_colours(&String::from_utf8_lossy(&shown.stdout).replace('\r', ""));
        for line in shown.lines().filter(|line| !line.contains("store.db") && !line.contains("/app/.git")) {
            let columns: usize = line.chars().map(|c| if c > '\u{2e80}' { 2 } else { 1 }).sum();
            assert!(columns <= 80, "{words:?} {columns} columns: {line}");
        }
    }
    let refused = repository.agent("x").run(&["reserve", "src/"]).expect(1).stderr();
    for line in refused.lines() {
        let columns: usize = line.chars().map(|c| if c > '\u{2e80}' { 2 } else { 1 }).sum();
        assert!(columns <= 80, "{columns} columns: {line}");
    }
}

#[test]
fn what_is_piped_is_never_cut_and_a_terminal_is_as_wide_as_it_says() {
    let home = home();
    let repository = app(&home);
    let path = format!("src/{}/last.rs", "directory/".repeat(6).trim_end_matches('/'));
    let reason = format!("why it takes {}long", "very ".repeat(12));
    repository.grant("alice", &[&path, "--reason", &reason]);
    let piped = repository.clearway().env("COLUMNS", "60").text(&["leases"]);
    assert!(piped.contains(&path) && piped.contains(&reason), "{piped}");
    let events = repository.clearway().text(&["events"]);
    assert!(events.contains(&path) && !events.contains('…'), "{events}");
    let at_width = |columns: &str| {
        let script = format!("COLUMNS={columns} NO_COLOR=1 clearway leases");
        let shown = home.terminal(repository.path(), &script);
        String::from_utf8_lossy(&shown.stdout).replace('\r', "")
    };
    let narrow = at_width("60");
    assert!(narrow.lines().all(|line| line.chars().count() <= 60) && narrow.contains('…'), "{narrow}");
    let wide = at_width("250");
    assert!(wide.contains(&path) && wide.contains(&reason), "{wide}");
}

#[test]
fn answers_fit_a_terminal_of_eighty_columns() {
    let home = home();
    let repository = app(&home);
    let deep = format!("{}/x.rs", "directory/".repeat(6));
    repository.grant("a-rather-long-name", &[&deep]);
    repository.agent("another-long-name").ok(&["reserve", "--queue", &deep]);
    let names: Vec<String> = (0..5).map(|number| format!("{number}.rs")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    repository.agent("a-rather-long-name").ok(&[&["reserve"], names.as_slice()].concat());
    for line in [
        &format!("--agent x check {deep}"),
        "--agent a-rather-long-name release --all",
        &format!("--agent x check {deep}"),
        "config classes",
        "freeze --reason release",
    ] {
        let shown = home.terminal(repository.path(), &format!("clearway {line}"));
        let shown = without_colours(&String::from_utf8_lossy(&shown.stdout).replace('\r', ""));
        assert!(!shown.is_empty(), "{line}");
        for row in shown.lines() {
            assert!(row.chars().count() <= 80, "{line}: {} columns: {row}", row.chars().count());
        }
    }
}

#[test]
fn what_an_agent_reads_ends_with_no_half_of_a_command() {
    let home = home();
    let repository = app(&home);
    repository.git(&["worktree", "add", "-q", "../tree"]);
    let tree = repository.path().with_file_name("tree");
    let paths: Vec<String> = (0..40).map(|number| format!("path-{number}.rs")).collect();
    let words: Vec<&str> = std::iter::once("reserve").chain(paths.iter().map(String::as_str)).collect();
    home.clearway(&tree).agent("ada").ok(&words);
    std::fs::remove_dir_all(&tree).expect("a checkout goes");
    let told = repository.agent("ada").text(&["status"]);
    assert!(told.contains("40 leases are on paths of ") && told.len() <= 400, "{told}");
    assert!(!told.contains("clearway release"), "forty ids have no room: {told}");
    assert!(told.ends_with("next: clearway --agent ada release --all\n"), "{told}");
}
