//! Every verb's words: stdout, stderr and exit code of a success and of a failure, as text and as JSON.
//!
//! The transcripts lie in `tests/snapshots`. `CLEARWAY_UPDATE_SNAPSHOTS=1` writes them anew; read the difference
//! before committing it.

mod story;

use crate::init::found_by_name;
use crate::{app, each, home, list, text};
use serde_json::{Value, json};
use std::path::PathBuf;
use story::Story;

/// Long enough to be shown as two hours however slow the machine is.
const TWO_HOURS: &str = "2h30s";

#[test]
fn reserve() {
    let home = home();
    let mut story = Story::begin("reserve", &home);
    story
        .one("alice", &["reserve", "src/a.rs", "--ttl", TWO_HOURS, "--reason", "split the lexer"])
        .one("alice", &["reserve", "docs/", "--shared", "--ttl", TWO_HOURS, "--json"])
        .both("bob", &["reserve", "src/", "docs/x.md"])
        .one("bob", &["reserve", "main.rs", "src/a.rs", "--best-effort", "--ttl", TWO_HOURS])
        .one("bob", &["reserve", "--kind", "name", "build", "--ttl", TWO_HOURS])
        .one("bob", &["reserve", "--kind", "write-set", "x.rs", "y/*.rs", "--ttl", TWO_HOURS])
        .both("bob", &["reserve", "src/[a-"])
        .both("bob", &["reserve", "**"])
        .both("bob", &["reserve", "z.rs", "--ttl", "0"])
        .both("bob", &["reserve", "--tll", "5m", "z.rs"]);
    story.end();
}

#[test]
fn with() {
    let home = home();
    let mut story = Story::begin("with", &home);
    story.repository.write(".clearway.toml", "[resources]\n\"port:3000-3009\" = 10\n");
    story.repository.grant("alice", &["--kind", "name", "build", "--ttl", TWO_HOURS, "--reason", "nightly"]);
    story
        .one("bob", &["with", "port", "--", "sh", "-c", "echo $CLEARWAY_NUMBER_PORT; exit 7"])
        .one("bob", &["with", "build", "--", "true"])
        .one("bob", &["--json", "with", "build", "--", "true"])
        .one("bob", &["with", "build", "--wait", "100ms", "--", "true"])
        .one("bob", &["with", "test", "--", "no-such-command"])
        .one("bob", &["with", "test", "--", "./src"])
        .one("bob", &["with", "test", "cargo", "build"]);
    story.end();
}

#[test]
fn check() {
    let home = home();
    let mut story = Story::begin("check", &home);
    story.repository.grant("alice", &["src/", "--ttl", TWO_HOURS, "--reason", "split the lexer"]);
    story
        .both("bob", &["check", "main.rs"])
        .both("bob", &["check", "src/a.rs"])
        .both("bob", &["check", "../x"]);
    story.end();
}

#[test]
fn who() {
    let home = home();
    let mut story = Story::begin("who", &home);
    story.repository.grant("alice", &["src/", "--shared", "--ttl", TWO_HOURS, "--reason", "read it"]);
    story
        .both("bob", &["who", "src/a.rs"])
        .both("bob", &["who", "main.rs"])
        .both("bob", &["who", ".git/config"]);
    story.end();
}

#[test]
fn renew() {
    let home = home();
    let mut story = Story::begin("renew", &home);
    let lease = story.repository.grant("alice", &["src/a.rs", "--ttl", TWO_HOURS]);
    let id = text(&lease, "id").to_owned();
    story
        .both("alice", &["renew"])
        .one("alice", &["renew", &id, "--note", "nearly done"])
        .both("bob", &["renew"])
        .both("bob", &["renew", &id])
        .both("alice", &["renew", &format!("{id}@7")]);
    story.repository.agent("alice").ok(&["release", "--all"]);
    story.both("alice", &["renew", &id]);
    story.end();
}

#[test]
fn release() {
    let home = home();
    let mut story = Story::begin("release", &home);
    let lease = story.repository.grant("alice", &["src/a.rs", "--ttl", TWO_HOURS]);
    let id = text(&lease, "id").to_owned();
    story.repository.grant("alice", &["*/x.md", "--ttl", TWO_HOURS]);
    story
        .both("bob", &["release", &id])
        .both("bob", &["release", &id, "--reason", "it is mine"])
        .one("alice", &["release", "docs/"])
        .one("alice", &["release", &id])
        .both("alice", &["release", &id])
        .one("alice", &["release", "--all", "--json"])
        .both("alice", &["release", "zzzzzzzz"])
        .both("alice", &["release"]);
    story.end();
}

/// The shortest wait there is: somebody holds what is wanted for much longer.
const A_MOMENT: &str = "100ms";

#[test]
fn wait() {
    let home = home();
    let mut story = Story::begin("wait", &home);
    story.repository.grant("alice", &["src/a.rs", "--ttl", TWO_HOURS, "--reason", "split the lexer"]);
    story.repository.grant("bob", &["main.rs", "--ttl", TWO_HOURS]);
    story
        .both("bob", &["waits"])
        .both("bob", &["reserve", "src/", "--queue"])
        .one("carol", &["reserve", "src/b.rs", "--wait", A_MOMENT])
        .both("carol", &["wait", "--for", A_MOMENT])
        .both("alice", &["reserve", "main.rs", "--queue"])
        .both("bob", &["waits"])
        .one("dave", &["reserve", "src/b.rs"])
        .both("dave", &["check", "src/b.rs"])
        .both("bob", &["who", "src/b.rs"])
        .both("bob", &["leases"])
        .one("bob", &["agents"])
        .one("bob", &["status"])
        .one("alice", &["release", "--all"])
        .one("bob", &["status"])
        .one("bob", &["wait"])
        .one("carol", &["wait", "--cancel"])
        .one("carol", &["wait", "--cancel", "--json"])
        .both("dave", &["wait"])
        .both("dave", &["wait", "zzz"])
        .both("dave", &["reserve", "src/b.rs", "--wait", "0"])
        .both("dave", &["reserve", "--wait", "src/b.rs"])
        .one("bob", &["events", "--from", "5"]);
    story.end();
}

#[test]
fn transfer() {
    let home = home();
    let mut story = Story::begin("transfer", &home);
    let lease = story.repository.grant("alice", &["src/a.rs", "--ttl", TWO_HOURS]);
    story.repository.grant("alice", &["docs/", "--ttl", TWO_HOURS]);
    story.repository.grant("bob", &["main.rs", "--ttl", TWO_HOURS]);
    story
        .one("alice", &["transfer", "--to", "bob", "docs/"])
        .one("alice", &["transfer", "--to", "bob", "--all", "--json"])
        .one("alice", &["transfer", "--to", "bob", "--all"])
        .both("alice", &["transfer", "--to", "bob", text(&lease, "id")])
        .both("bob", &["transfer", "--to", "nobody", "--all"])
        .both("bob", &["transfer", "--to", "alice"])
        .one("bob", &["events", "--kind", "lease.transferred"]);
    story.end();
}

#[test]
fn freeze() {
    let home = home();
    let mut story = Story::begin("freeze", &home);
    story.repository.grant("alice", &["src/a.rs", "--ttl", TWO_HOURS]);
    story.both("alice", &["freeze", "--reason", "cutting the release"]);
    let key = home.operator_key();
    let root =
        || home.clearway(&home.path().join("home/app")).agent("root").env("CLEARWAY_OPERATOR_KEY", &key);
    story
        .run(root(), "--agent root ", &["freeze", "--for", TWO_HOURS, "--reason", "cutting the release"])
        .one("alice", &["reserve", "main.rs"])
        .one("alice", &["reserve", "main.rs", "--queue"])
        .one("alice", &["status"])
        .run(root(), "--agent root ", &["status"])
        .run(root(), "--agent root ", &["freeze", "--for", "0", "--reason", "x"])
        .run(root(), "--agent root ", &["thaw", "--reason", "the release is out"])
        .run(root(), "--agent root ", &["thaw", "--reason", "again", "--json"])
        .run(root(), "--agent root ", &["events", "--from", "5"]);
    story.end();
}

#[test]
fn leases_and_agents() {
    let home = home();
    let mut story = Story::begin("leases-and-agents", &home);
    story.both("bob", &["leases"]).both("bob", &["agents"]);
    story.repository.grant("alice", &["src/a.rs", "--ttl", TWO_HOURS, "--reason", "split the lexer"]);
    story.repository.grant("bob", &["--kind", "name", "build", "--ttl", TWO_HOURS]);
    story.repository.grant("bob", &["over.rs", "--ttl", TWO_HOURS]);
    story.repository.agent("bob").ok(&["release", "over.rs"]);
    story
        .both("bob", &["leases"])
        .both("bob", &["leases", "--history", "--agent-name", "bob"])
        .both("bob", &["leases", "--pattern", "["])
        .both("bob", &["agents"]);
    story.end();
}

#[test]
fn status() {
    let home = home();
    let mut story = Story::begin("status", &home);
    let nobody = story.repository.clearway();
    story.both("bob", &["status"]).run(nobody, "", &["status"]);
    story.repository.grant("alice", &["src/", "--ttl", TWO_HOURS, "--reason", "split the lexer"]);
    story.repository.grant("bob", &["docs/", "--ttl", TWO_HOURS]);
    let nobody = story.repository.clearway();
    story.both("bob", &["status"]).run(nobody, "", &["status"]);
    let elsewhere = story.repository.clearway().args(&["-C", "/nowhere"]);
    story.run(elsewhere, "-C /nowhere ", &["status"]);
    story.both("bob", &["status", "--cost"]);
    story.both("bob", &["where", "alice"]).both("bob", &["where", "alicia"]);
    story.both("bob", &["digest"]).both("bob", &["digest", "--since", "noon"]);
    story.end();
}

#[test]
fn sweep() {
    let home = home();
    let mut story = Story::begin("sweep", &home);
    story.both("bob", &["sweep"]);
    story.repository.grant("alice", &["src/a.rs", "--ttl", "1s"]);
    clearway_testkit::eventually("it runs out", || {
        story.repository.is_clear("bob", "src/a.rs").then_some(())
    });
    story.both("bob", &["sweep", "--dry-run"]).one("bob", &["sweep"]).both("bob", &["sweep"]);
    story.both("bob", &["sweep", "--now"]);
    story.end();
}

#[test]
fn events() {
    let home = home();
    let mut story = Story::begin("events", &home);
    story.both("bob", &["events"]);
    story.repository.grant("alice", &["src/a.rs", "--ttl", TWO_HOURS, "--reason", "split the lexer"]);
    story.repository.blockers("bob", &["src/"]);
    story.repository.agent("alice").ok(&["release", "--all"]);
    story
        .both("bob", &["events"])
        .both("bob", &["events", "--kind", "lease.granted", "--limit", "1"])
        .both("bob", &["events", "--from", &format!("2@{}", "0".repeat(64))])
        .both("bob", &["events", "--kind", "lease.graned"]);
    story.end();
}

#[test]
fn audit() {
    let home = home();
    let mut story = Story::begin("audit", &home);
    story.both("bob", &["audit", "verify"]).both("bob", &["audit", "anchor"]);
    story.repository.grant("alice", &["src/a.rs", "--ttl", TWO_HOURS]);
    story.both("bob", &["audit", "anchor"]);
    let terminal = clearway_testkit::Terminal::open();
    for words in [["audit", "anchor"].as_slice(), &["audit", "anchor", "--json"]] {
        let person = story.repository.agent("bob").at(&terminal);
        story.run(person, "--agent bob ", words);
    }
    story.both("bob", &["audit", "verify"]);
    let exported = story.repository.clearway().json(&["audit", "export"]).expect(0).lines();
    assert_eq!(exported.len(), story.repository.events().len(), "its bytes are no two runs' alike");
    let connection = crate::open_store(&home);
    connection.execute_batch("UPDATE events SET bytes = x'00' WHERE seq = 4").expect("a change");
    story.both("bob", &["audit", "verify"]);
    story.end();
}

#[test]
fn doctor() {
    let home = home();
    let mut story = Story::begin("doctor", &home);
    story.repository.grant("alice", &["src/a.rs", "--ttl", TWO_HOURS]);
    story.both("alice", &["doctor"]);
    let connection = crate::open_store(&home);
    connection.execute_batch("DROP INDEX leases_by_holder").expect("a change");
    story.both("alice", &["doctor"]);
    let reply = story.repository.agent("alice").json(&["doctor"]).value();
    let build = list(&reply["error"]["details"], "checks")[0].clone();
    story.told = without_build(&story.told, &build);
    story.end();
}

/// Which build runs the tests is no part of the story.
fn without_build(told: &str, build: &Value) -> String {
    let mut out = Vec::new();
    let mut inside = false;
    for line in told.lines() {
        let starts = line.contains("  build  ");
        inside = (inside && line.starts_with("      ") && !line.contains('"')) || starts;
        if starts {
            out.push("…  build  …".to_owned());
        } else if !inside {
            let mut line = line.to_owned();
            for field in ["text", "hint", "status"] {
                let value = build[field].to_string();
                if line.contains(&value)
                    && (field != "status" || out.last().is_some_and(|last| last.contains("\"hint\": …")))
                {
                    line = line.replace(&value, "…");
                }
            }
            out.push(line);
        }
    }
    out.join("\n") + "\n"
}

#[test]
fn config() {
    let home = home();
    let mut story = Story::begin("config", &home);
    home.user_config("[leases]\nbroad_files = 150\n");
    story.repository.write(
        ".clearway.toml",
        "posture = \"team\"\n\n[resources]\nbuild = 2\n\n[classes]\nhot = [\"src/routes.rs\"]\n",
    );
    story
        .both("alice", &["config", "show"])
        .both("alice", &["config", "path"])
        .both("alice", &["config", "classes"]);
    story.repository.write(".clearway.toml", "leases.brod_files = 3\nposture = \"tem\"\n");
    story.both("alice", &["config", "show"]);
    story.repository.write(".clearway.toml", "[leases]\nbroad_files = 5000\n");
    story.both("alice", &["config", "show"]);
    story.end();
}

#[test]
fn scope() {
    let home = home();
    let mut story = Story::begin("scope", &home);
    story.both("alice", &["scope", "list"]).one("alice", &["reserve", "src/a.rs"]);
    let git = story.repository.path().join(".git");
    let kept = home.path().join("kept");
    std::fs::rename(&git, &kept).expect("a move");
    let copied = std::process::Command::new("cp").arg("-a").args([&kept, &git]).status();
    assert!(copied.is_ok_and(|status| status.success()));
    story
        .one("alice", &["reserve", "src/b.rs", "--json"])
        .both("alice", &["scope", "list"])
        .one("alice", &["scope", "adopt"])
        .both("alice", &["scope", "adopt"])
        .both("alice", &["scope", "adopt", "nowhere"]);
    story.end();
}

#[test]
fn explain_and_help() {
    let home = home();
    let mut story = Story::begin("explain-and-help", &home);
    story
        .both("alice", &["explain"])
        .both("alice", &["explain", "reservation-held"])
        .both("alice", &["explain", "reservation-hold"])
        .one("alice", &["help"])
        .one("alice", &["help", "--all"])
        .both("alice", &["help", "resrve"])
        .both("alice", &["resrve", "x"])
        .both("alice", &["completions", "tcsh"])
        .both("alice", &["man", "/proc/nowhere"]);
    let without_git = story.repository.clearway().env("PATH", "/nowhere");
    story.run(without_git, "", &["demo"]);
    story.end();
}

#[test]
fn hooks() {
    let home = home();
    let mut story = Story::begin("hooks", &home);
    let edit = |root: &std::path::Path, file: &str| json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Edit", "cwd": root, "tool_input": {"file_path": file}});
    let root = story.repository.path().to_owned();
    story.one("otter", &["reserve", "src/a.rs", "--reason", "split the session store"]);
    story.hook("claude", &edit(&root, "src/a.rs"));
    story.hook("claude", &edit(&root, "src/a.rs"));
    story.hook("claude", &edit(&root, "src/b.rs"));
    story.both("otter", &["mine"]);
    story.both("otter", &["diff", "--stat"]);
    story.both("otter", &["statusline"]);
    story.hook("claude", &json!([]));
    story.hook("clod", &edit(&root, "src/b.rs"));
    story.end();
}

#[test]
fn mail() {
    let home = home();
    let mut story = Story::begin("mail", &home);
    for (agent, file) in [("otter", "src/a.rs"), ("heron", "src/b.rs"), ("lynx", "main.rs")] {
        story.repository.grant(agent, &[file]);
    }
    let words = ["send", "heron", "It is split.\nRebase when you commit.", "--subject", "parser", "--ack"];
    story
        .one("otter", &[&words[..], &["--id", "split", "--cc", "lynx", "--topic", "build"]].concat())
        .one("otter", &["send", "heron", "fire", "--urgent", "--id", "fire", "--json"])
        .one("heron", &["inbox", "--peek", "--limit", "1"])
        .both("heron", &["inbox"])
        .one("heron", &["ack", "split"])
        .both("heron", &["ack", "split", "nothing"])
        .one("heron", &["send", "otter", "Thanks.", "--thread", "split", "--id", "thanks"])
        .one("otter", &["thread", "split"])
        .both("otter", &["threads"])
        .both("otter", &["search", "rebase"])
        .one("otter", &["stale-acks", "--older-than", "1ms"])
        .one("lynx", &["broadcast", "--topic", "build", "main is red", "--id", "red"])
        .both("lynx", &["broadcast", "main is red"])
        .one("lynx", &["policy", "contacts"])
        .one("lynx", &["contacts", "--add", "heron"])
        .both("otter", &["send", "lynx", "hello"])
        .both("otter", &["send", "linx", "hello"])
        .one("heron", &["read", "split"])
        .both("lynx", &["ack", "fire"]);
    story.end();
}

#[test]
fn commits() {
    let home = home();
    let mut story = Story::begin("commits", &home);
    story.one("otter", &["reserve", "src/a.rs", "new.rs"]).one("bison", &["reserve", "src/b.rs"]);
    for file in ["src/a.rs", "src/b.rs", "new.rs"] {
        story.repository.write(file, "changed\n");
    }
    story
        .both("bison", &["commit", "-m", "all of it", "src", "new.rs"])
        .one("otter", &["commit", "-m", "split the lexer"])
        .one("bison", &["commit", "-m", "rename", "--json"])
        .both("bison", &["commit", "-m", "once more"])
        .both("bison", &["radar"])
        .one("bison", &["radar", "no-such-branch"]);
    for file in ["src/a.rs", "docs/x.md"] {
        story.repository.write(file, "changed again\n");
    }
    story.repository.git(&["add", "--all"]);
    story
        .one("bison", &["reserve", "docs/x.md"])
        .one("otter", &["git-hook", "pre-rebase", "main"])
        .one("otter", &["git-hook", "prepare-commit-msg", ".git/COMMIT_EDITMSG"])
        .one("otter", &["git-hook", "post-commit"]);
    let person = story.repository.clearway();
    story.run(person, "", &["git-hook", "prepare-commit-msg", ".git/COMMIT_EDITMSG"]);
    story.end();
}

#[test]
fn keeping() {
    let home = home();
    let mut story = Story::begin("keeping", &home);
    story.both("ada", &["snapshot"]);
    story.one("ada", &["reserve", "src/a.rs"]);
    story.repository.write("src/a.rs", "changed\n");
    story.repository.write("notes.md", "new\n");
    story.one("ada", &["snapshot", "--reason", "before the rename"]);
    story.one("ada", &["snapshot", "src/", "--json"]);
    story.both("ada", &["snapshots"]);
    story.both("bob", &["show", "s5"]);
    story.repository.write("src/a.rs", "a\n");
    story.repository.write("notes.md", "changed since\n");
    story.both("ada", &["undo", "s5"]);
    story.one("ada", &["undo", "s5", "-y"]);
    story.one("ada", &["restore", "s5", "--json"]);
    story.one("ada", &["restore", "s5", "src/"]);
    story.both("ada", &["undo", "s99"]);
    story.end();
}

#[test]
fn init() {
    let home = home();
    let mut story = Story::begin("init", &home);
    let clearway = |story: &Story<'_>| found_by_name(&home, &story.repository);
    home.directory(".cursor");
    for words in [
        ["init", "--dry-run"].as_slice(),
        &["init"],
        &["init", "-y"],
        &["init"],
        &["init", "--json"],
        &["init", "--uninstall", "-y"],
    ] {
        let named = clearway(&story);
        story.run(named, "", words);
    }
    std::fs::write(home.directory(".claude").join("settings.json"), "{\"hooks\" []}").expect("a file");
    for words in [
        ["init", "-y", "--client", "codex", "--unattended", "--json"].as_slice(),
        &["init", "--client", "codex"],
        &["init", "--client", "claude"],
        &["doctor"],
        &["init", "-y", "--uninstall"],
        &["init", "--client", "vim"],
    ] {
        let named = clearway(&story);
        story.run(named, "", words);
    }
    story.end();
}

#[test]
fn negotiation() {
    let home = home();
    let mut story = Story::begin("negotiation", &home);
    story.repository.grant("alice", &["src/*.rs", "--ttl", TWO_HOURS, "--reason", "split the lexer"]);
    story.repository.grant("root", &["docs/", "--ttl", TWO_HOURS]);
    let asked = story.repository.agent("bob").ok(&["ask", "src/a.rs", "add logout"]);
    let id = text(&asked["negotiations"][0], "id").to_owned();
    story
        .both("bob", &["ask", "main.rs", "is it free"])
        .both("alice", &["ask", "src/b.rs", "mine"])
        .both("alice", &["answer", &id, "later", "500"])
        .both("eve", &["answer", &id, "release"])
        .both("alice", &["answer", &id, "release"])
        .one("bob", &["withdraw", &id])
        .both("bob", &["force", &id, "--reason", "the release is due"])
        .one("bob", &["negotiations"])
        .one("bob", &["halt", "alice", "--reason", "x"]);
    let person = story.repository.agent("root").operator(&home);
    story.run(person, "--agent root ", &["halt", "alice", "--reason", "wrong module"]);
    story.both("alice", &["reserve", "main.rs"]);
    let person = story.repository.agent("root").operator(&home);
    story.run(person, "--agent root ", &["resume", "alice", "--reason", "told it"]);
    story.end();
}

#[test]
fn every_verb_has_a_transcript() {
    let home = home();
    let repository = app(&home);
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let all: String = std::fs::read_dir(directory)
        .expect("tests/snapshots")
        .map(|entry| std::fs::read_to_string(entry.expect("an entry").path()).expect("a snapshot"))
        .collect();
    let help = repository.clearway().text(&["help", "--all"]);
    let verbs = help.lines().skip_while(|line| !line.starts_with("Verbs")).skip(1);
    let verbs: Vec<&str> =
        verbs.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next()).collect();
    assert!(verbs.len() >= 17, "{verbs:?}");
    for verb in verbs {
        assert!(
            all.lines().any(|line| line.starts_with("$ clearway ") && line.contains(&format!(" {verb}"))),
            "{verb}"
        );
    }
    let slugs = repository.clearway().ok(&["explain"]);
    let shown =
        each(&slugs, "slugs", "slug").iter().filter(|slug| all.contains(&format!("error[{slug}]"))).count();
    assert!(shown >= 18, "{shown} slugs are shown as people see them");
}
