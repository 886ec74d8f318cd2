//! What else may be asked of it: the page for agents, hooks that block, no other tools for this.

use super::{CLIENTS, file, found_by_name, read, trust, write};
use crate::{app, home, list, text};
use serde_json::{Value, json};

#[test]
fn hooks_act_in_a_repository_once_it_is_set_up() {
    let home = home();
    let repository = app(&home);
    let payload = json!({
        "session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "t1",
        "cwd": repository.path(), "tool_input": {"file_path": repository.path().join("main.rs"), "content": "x"},
    });
    let edit =
        || repository.clearway().run_with(payload.to_string().as_bytes(), &["hook", "claude"]).expect(0);
    edit();
    assert!(!home.state().join("scopes").exists(), "nobody invited us");
    let told = repository.clearway().ok(&["init", "-y"]);
    assert_eq!(told["clients"], json!([]));
    assert_eq!(repository.kinds(), ["scope.opened", "epoch.began"]);
    repository.clearway().ok(&["init", "-y"]);
    assert_eq!(repository.events().len(), 2, "a second time changes nothing");
    edit();
    let leases = repository.clearway().ok(&["leases"]);
    assert_eq!(leases["leases"][0]["pattern"], "main.rs", "{leases:#}");
}

#[test]
fn the_page_for_agents_gets_a_few_lines_once_and_loses_them_again() {
    let home = home();
    let repository = app(&home);
    let (agents, claude) = (repository.path().join("AGENTS.md"), repository.path().join("CLAUDE.md"));
    repository.clearway().ok(&["init", "-y", "--agents-md"]);
    assert_eq!(read(&agents).lines().count(), 6);
    repository.clearway().ok(&["init", "-y", "--uninstall"]);
    assert!(!agents.exists());
    repository.write("CLAUDE.md", "# App");
    for _ in 0..2 {
        repository.clearway().ok(&["init", "-y", "--agents-md"]);
        assert_eq!(read(&claude).matches("clearway reserve").count(), 1);
    }
    assert!(!agents.exists());
    repository.clearway().ok(&["init", "-y", "--uninstall"]);
    assert_eq!(read(&claude), "# App");
}

#[test]
fn a_binary_is_called_by_the_name_it_is_found_by_and_missed_when_it_is_gone() {
    let home = home();
    let repository = app(&home);
    trust(&home, &repository);
    found_by_name(&home, &repository).ok(&["init", "-y", "--client", "claude"]);
    let by_name = home.path().join("bin/clearway");
    let settings: Value = serde_json::from_str(&read(&file(&home, ".claude/settings.json"))).expect("JSON");
    assert_eq!(settings["hooks"]["Stop"][0]["hooks"][0]["command"], by_name.display().to_string());
    repository.clearway().ok(&["doctor"]);
    std::fs::remove_file(&by_name).expect("a link");
    let error = repository.clearway().fails("unhealthy", 1, &["doctor"]);
    assert!(error.to_string().contains("which cannot be run"), "{error:#}");
    repository.clearway().ok(&["init", "-y", "--client", "claude"]);
    repository.clearway().ok(&["doctor"]);
}

const INTERLOCK: &str = r#"{
  "mine": 1,
  "enabledPlugins": {"interlock@interagency": true, "other@x": true},
  "hooks": {
    "PreToolUse": [
      {"matcher": "Edit", "hooks": [{"type": "command", "command": "/p/interlock/hooks/pre-edit.sh"}, {"type": "command", "command": "mine"}]}
    ],
    "Stop": [{"hooks": [{"type": "command", "command": "bash ~/.intermute/stop.sh"}]}]
  }
}
"#;

#[test]
fn hooks_of_tools_that_did_this_before_are_named_taken_out_and_given_back() {
    let home = home();
    let repository = app(&home);
    trust(&home, &repository);
    let settings = file(&home, ".claude/settings.json");
    write(&settings, INTERLOCK);
    let clearway = || found_by_name(&home, &repository);
    clearway().ok(&["init", "-y", "--client", "claude"]);
    assert!(read(&settings).contains("interlock"), "nothing of others is touched unasked");
    let checks = clearway().ok(&["doctor"]);
    let rivals: Vec<&Value> = list(&checks, "checks")
        .iter()
        .filter(|check| text(check, "text").contains("another tool for this is still installed"))
        .collect();
    assert_eq!(rivals.len(), 3, "{checks:#}");
    assert!(rivals.iter().all(|check| text(check, "hint").ends_with("clearway init --without-others")));
    clearway().ok(&["init", "-y", "--client", "claude", "--without-others"]);
    let cleared = read(&settings);
    assert!(!cleared.contains("inter"), "{cleared}");
    for kept in ["\"mine\": 1", "\"other@x\": true", "\"command\": \"mine\"", "hook"] {
        assert!(cleared.contains(kept), "{kept}: {cleared}");
    }
    clearway().ok(&["init", "-y", "--uninstall"]);
    assert_eq!(read(&settings), INTERLOCK);
}

#[test]
fn what_was_set_up_to_block_stays_so_and_init_says_so() {
    for (client, name) in CLIENTS {
        let home = home();
        let repository = app(&home);
        let run = |words: &[&str]| {
            let words = [&["init", "-y", "--client", client], words].concat();
            found_by_name(&home, &repository).run(&words).stdout().replace("\n  ", " ")
        };
        let path = file(&home, name);
        run(&[]);
        let lenient = read(&path);
        run(&["--unattended"]);
        let strict = read(&path);
        let said = run(&[]);
        assert_eq!(read(&path), strict, "{client}");
        if client == "codex" {
            assert_eq!(lenient, strict, "it cannot be told");
            assert!(!said.contains("unattended"), "{said}");
            continue;
        }
        assert_ne!(lenient, strict, "{client}");
        assert!(said.contains("unattended: ") && said.contains("kept as it was"), "{client}: {said}");
        assert!(said.contains("nothing to change"), "{client}: {said}");
        // The command that is suggested goes back.
        run(&["--uninstall"]);
        run(&[]);
        assert_eq!(read(&path), lenient, "{client}");
    }
}

#[test]
fn unattended_says_what_becomes_of_edits_while_the_store_cannot_be_asked() {
    let home = home();
    let repository = app(&home);
    let run = || {
        let words = ["init", "-y", "--client", "cursor", "--unattended"];
        repository.clearway().run(&words).stdout().replace("\n  ", " ")
    };
    let said = run();
    assert!(said.contains("edits pass, unless settings say posture = \"unattended\""), "{said}");
    home.user_config("posture = \"unattended\"\n");
    let said = run();
    assert!(said.contains("unattended: ") && !said.contains("edits pass"), "{said}");
}
