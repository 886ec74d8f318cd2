//! Setting up agents' clients, and giving everything back.

use crate::{app, home, list, text};
use clearway_testkit::{Clearway, Files, Home, Repository};
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

const CLIENTS: [(&str, &str); 5] = [
    ("claude", ".claude/settings.json"),
    ("codex", ".codex/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("cursor", ".cursor/hooks.json"),
    ("copilot", ".copilot/hooks/clearway.json"),
];

/// A file of the user's.
fn file(home: &Home, name: &str) -> PathBuf {
    home.path().join("home").join(name)
}

#[track_caller]
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    std::fs::write(path, text).expect("a file");
}

#[track_caller]
fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Everything of the user's but what is ours.
fn users_files(home: &Home) -> Files {
    Files::below(&home.path().join("home"))
}

/// The binary as it is found by its name.
pub(crate) fn found_by_name(home: &Home, repository: &Repository<'_>) -> Clearway {
    let bin = home.path().join("bin");
    if !bin.exists() {
        std::fs::create_dir_all(&bin).expect("a directory");
        symlink(home.binary(), bin.join("clearway")).expect("a link");
    }
    repository.clearway().env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
}

/// Makes Claude Code active wherever it is set up.
pub(crate) fn trust(home: &Home, repository: &Repository<'_>) {
    let root = repository.path().display().to_string();
    let state = json!({"projects": {root: {"hasTrustDialogAccepted": true}}});
    write(&file(home, ".claude.json"), &state.to_string());
}

const SETTINGS: &str = "{\r\n\t\"model\": \"opus\",\r\n\t\"hooks\": {\r\n\t\t\"PreToolUse\": [\r\n\t\t\t{\"matcher\": \"*\", \"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]}\r\n\t\t]\r\n\t}\r\n}";
const COMMENTED: &str = "{\r\n\t// mine\r\n\t\"hooks\": {\r\n\t\t\"BeforeTool\": [\r\n\t\t\t{\"matcher\": \".*\", \"hooks\": [{\"type\": \"command\", \"command\": \"other\"}]} // theirs\r\n\t\t]\r\n\t}\r\n}";

#[test]
fn clients_that_are_found_are_set_up_once_and_given_back_to_the_byte() {
    let home = home();
    let repository = app(&home);
    for client in ["claude", "codex", "gemini", "cursor", "copilot"] {
        home.directory(&format!(".{client}"));
    }
    write(&file(&home, ".claude/settings.json"), SETTINGS);
    write(&file(&home, ".gemini/settings.json"), COMMENTED);
    trust(&home, &repository);
    let before = users_files(&home);

    let error = repository.clearway().fails("client-not-active", 1, &["init", "-y"]);
    let standings: Vec<(&str, &str)> = list(&error["details"], "clients")
        .iter()
        .map(|client| (text(client, "client"), text(client, "standing")))
        .collect();
    let expected = ["active", "one-step-left", "active", "active", "active"];
    assert_eq!(standings, CLIENTS.map(|(client, _)| client).into_iter().zip(expected).collect::<Vec<_>>());
    for (client, name) in CLIENTS {
        let text = read(&file(&home, name));
        assert!(text.contains(&home.binary().display().to_string()) && text.contains(client), "{text}");
    }
    let gemini = read(&file(&home, ".gemini/settings.json"));
    assert!(gemini.contains("// theirs\r\n") && !gemini.replace("\r\n", "").contains('\n'), "{gemini}");

    let set_up = users_files(&home);
    let again = repository.clearway().run(&["init", "-y"]).expect(1);
    assert!(again.stdout().contains("nothing to change"), "{}", again.stdout());
    set_up.assert_same(&users_files(&home), "a second time");

    let told = repository.clearway().ok(&["init", "-y", "--uninstall"]);
    assert_eq!(list(&told, "files").len(), 5, "{told:#}");
    before.assert_same(&users_files(&home), "after all");
    assert!(!file(&home, ".copilot/hooks").exists() && file(&home, ".copilot").exists());
    assert!(repository.clearway().text(&["init", "-y", "--uninstall"]).contains("nothing of ours"));
}

#[test]
fn what_others_change_in_between_stays() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    write(&settings, SETTINGS);
    repository.clearway().run(&["init", "-y", "--client", "claude"]).expect(1);
    let edited = read(&settings).replacen("\"opus\"", "\"sonnet\", \"since\": 1", 1);
    write(&settings, &edited);
    let told = repository.clearway().run(&["init", "-y", "--uninstall", "--client", "claude"]).expect(0);
    assert!(told.stdout().contains("the rest is kept"), "{}", told.stdout());
    assert_eq!(read(&settings), SETTINGS.replacen("\"opus\"", "\"sonnet\", \"since\": 1", 1));
}

#[test]
fn directories_that_were_made_go_with_what_was_made_in_them() {
    let home = home();
    let repository = app(&home);
    let before = users_files(&home);
    repository.clearway().ok(&["init", "-y", "--client", "copilot", "--client", "cursor"]);
    let hooks = file(&home, ".cursor/hooks.json");
    write(&file(&home, ".cursor/theirs"), "x");
    repository.clearway().ok(&["init", "-y", "--uninstall", "--client", "copilot", "--client", "cursor"]);
    assert!(!hooks.exists() && file(&home, ".cursor/theirs").exists());
    std::fs::remove_dir_all(file(&home, ".cursor")).expect("a directory");
    assert!(!file(&home, ".copilot").exists());
    before.assert_same(&users_files(&home), "after all");
}

#[test]
fn a_client_whose_file_is_broken_is_refused_and_the_others_go_on() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    for broken in [
        "{\"hooks\": {",
        "[]",
        "{\"hooks\": {\"PreToolUse\": \"x\"}}",
        "{\n  // mine\n}",
        "{\"model\": \"opus\",}",
        "{\"permissions\": {\"allow\": \"x\"}}",
        &format!("{{\"x\": \"{}\"}}", "x".repeat(2 << 20)),
    ] {
        write(&settings, broken);
        let words = ["init", "-y", "--client", "claude", "--client", "cursor"];
        let error = repository.clearway().fails("client-not-active", 1, &words);
        let files = list(&error["details"], "files");
        assert_eq!(files[0]["problem"]["slug"], "client-config", "{error:#}");
        assert!(text(&files[0]["problem"], "message").contains("settings.json"));
        assert!(!list(&files[0]["problem"], "hints").is_empty());
        assert_eq!(error["details"]["clients"][1]["standing"], "active", "{error:#}");
        assert_eq!(read(&settings), broken);
    }
    std::fs::write(&settings, b"{\"a\": \"\xff\"}").expect("a file");
    let error = repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "claude"]);
    assert_eq!(error["details"]["files"][0]["problem"]["slug"], "client-config");
    let error = repository.clearway().fails(
        "client-config",
        78,
        &["init", "-y", "--uninstall", "--client", "claude"],
    );
    assert!(text(&error, "message").contains("settings.json"));
}

#[test]
fn a_file_that_gemini_does_not_load_is_not_edited_and_comments_are_no_reason() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".gemini/settings.json");
    for broken in ["{\"a\": 1,}", "\u{feff}{}"] {
        write(&settings, broken);
        let error =
            repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "gemini"]);
        assert_eq!(error["details"]["files"][0]["problem"]["slug"], "client-config", "{error:#}");
        assert_eq!(read(&settings), broken);
    }
    write(&settings, "{\n  // mine\n}");
    repository.clearway().ok(&["init", "-y", "--client", "gemini"]);
}

#[test]
fn a_file_that_its_client_stopped_loading_is_not_called_active() {
    let home = home();
    let repository = app(&home);
    trust(&home, &repository);
    let settings = file(&home, ".claude/settings.json");
    repository.clearway().ok(&["init", "-y", "--client", "claude"]);
    for (own, why) in
        [("// mine\n", "plain JSON"), ("\"permissions\": {\"allow\": \"x\"},", "permissions.allow")]
    {
        let whole = read(&settings);
        write(&settings, &whole.replacen('{', &format!("{{{own}"), 1));
        let error =
            repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "claude"]);
        let client = &list(&error["details"], "clients")[0];
        assert_eq!(text(client, "standing"), "one-step-left", "{error:#}");
        assert!(error.to_string().contains(why), "{error:#}");
        write(&settings, &whole);
    }
}

#[test]
fn hooks_of_another_type_are_for_a_person_to_mend() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    for wrong in ["{\"hooks\": \"str\"}", "{\"hooks\": {\"PreToolUse\": \"x\"}}"] {
        write(&settings, wrong);
        let error =
            repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "claude"]);
        let client = &error["details"]["clients"][0];
        assert!(text(client, "why").contains("settings.json cannot be edited: `hooks"), "{error:#}");
        for advice in [text(client, "step"), error["hints"][0].as_str().unwrap_or_default()] {
            assert!(advice.starts_with("mend") && advice.contains("by hand"), "{advice}");
        }
        let told = repository.clearway().ok(&["doctor"]).to_string();
        assert!(told.contains("mend that file by hand"), "{told}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_a_clear_error() {
    let home = home();
    let repository = app(&home);
    write(&file(&home, ".cursor"), "in the way");
    let error = repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "cursor"]);
    let problem = &error["details"]["files"][0]["problem"];
    assert_eq!(problem["slug"], "client-config", "what cannot be looked into is not written: {error:#}");
    let loop_ = file(&home, ".gemini/settings.json");
    std::fs::create_dir_all(loop_.parent().expect("a parent")).expect("a directory");
    symlink("nowhere/there", &loop_).expect("a link");
    write(&file(&home, ".gemini/nowhere"), "in the way");
    let error = repository.clearway().fails("client-not-active", 1, &["init", "-y", "--client", "gemini"]);
    assert!(error["details"]["files"][0]["problem"]["slug"].is_string(), "{error:#}");
    assert_eq!(read(&file(&home, ".gemini/nowhere")), "in the way");
}

#[test]
fn links_are_written_through_and_modes_kept() {
    let home = home();
    let repository = app(&home);
    let (real, link) = (file(&home, "dotfiles/claude.json"), file(&home, ".claude/settings.json"));
    write(&real, "{}\n");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).expect("a mode");
    std::fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
    symlink("../dotfiles/claude.json", &link).expect("a link");
    repository.clearway().run(&["init", "-y", "--client", "claude"]).expect(1);
    assert!(std::fs::symlink_metadata(&link).expect("a link").is_symlink());
    assert!(read(&real).contains("PreToolUse"));
    assert_eq!(std::fs::metadata(&real).expect("a file").mode() & 0o777, 0o640);
    repository.clearway().ok(&["init", "-y", "--uninstall"]);
    assert_eq!(read(&real), "{}\n");
    assert_eq!(std::fs::metadata(&real).expect("a file").mode() & 0o777, 0o640);
}

#[test]
fn a_link_that_leads_nowhere_is_filled_and_leads_nowhere_again() {
    let home = home();
    let repository = app(&home);
    let (target, link) = (file(&home, "dotfiles/gemini/settings.json"), file(&home, ".gemini/settings.json"));
    std::fs::create_dir_all(link.parent().expect("a parent")).expect("a directory");
    symlink("../dotfiles/gemini/settings.json", &link).expect("a link");
    let before = users_files(&home);
    repository.clearway().ok(&["init", "-y", "--client", "gemini"]);
    assert!(read(&target).contains("BeforeTool"));
    repository.clearway().ok(&["init", "-y", "--uninstall", "--client", "gemini"]);
    assert!(std::fs::symlink_metadata(&link).is_ok_and(|link| link.is_symlink()), "the link stays");
    assert!(!target.exists() && !file(&home, "dotfiles").exists());
    before.assert_same(&users_files(&home), "after all");
}

#[test]
fn many_that_set_up_at_once_do_what_one_does() {
    let home = home();
    let repository = app(&home);
    let settings = file(&home, ".claude/settings.json");
    write(&settings, SETTINGS);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| repository.clearway().run(&["init", "-y", "--client", "claude"]).expect(1));
        }
    });
    let document = read(&settings);
    assert_eq!(document.matches("\"claude\"").count(), 7, "{document}");
    repository.clearway().ok(&["init", "-y", "--uninstall", "--client", "claude"]);
    assert_eq!(read(&settings), SETTINGS);
}

#[test]
fn a_dry_run_writes_nothing_and_invites_nobody() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let before = Files::below(home.path());
    let told = repository.clearway().run(&["init", "--dry-run", "--agents-md"]).expect(0);
    assert!(told.stdout().contains("+   \"version\": 1,"), "{}", told.stdout());
    before.assert_same(&Files::below(home.path()), "a dry run");
}

#[test]
fn without_a_terminal_nothing_is_written_before_it_was_said_on_the_line() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let hooks = file(&home, ".cursor/hooks.json");
    let before = Files::below(home.path());
    for answer in ["n", "y"] {
        let ran = repository.clearway().run_with(answer.as_bytes(), &["init"]).expect(2);
        assert!(ran.stdout().contains("planned: ") && ran.stdout().contains("+   \"version\": 1,"));
        assert!(ran.stdout().ends_with("nothing was written\n"), "{}", ran.stdout());
        assert!(ran.stderr().contains("there is no terminal to ask at"), "{}", ran.stderr());
        assert!(ran.stderr().contains("clearway init -y\n"), "{}", ran.stderr());
        before.assert_same(&Files::below(home.path()), "a pipe is nobody to ask");
    }
    let error =
        repository.clearway().fails("not-confirmed", 2, &["init", "--client", "cursor", "--agents-md"]);
    assert_eq!(error["details"]["files"][0]["change"], "planned", "{error:#}");
    assert!(text(&error, "message").starts_with("with --json nobody is asked"), "{error:#}");
    let hint = error["hints"][0].as_str().unwrap_or_default();
    let (_, command) = hint.split_once(": ").expect("a command");
    assert_eq!(command, "clearway init --client cursor --agents-md -y");
    assert!(home.shell(repository.path(), command).status().is_ok_and(|status| status.success()));
    assert!(hooks.exists());
    found_by_name(&home, &repository).ok(&["init"]);
    repository.clearway().fails("not-confirmed", 2, &["init", "--uninstall"]);
    assert!(hooks.exists());
}

#[test]
fn an_invitation_alone_has_to_be_said_on_the_line_too() {
    let home = home();
    let repository = app(&home);
    repository.clearway().fails("not-confirmed", 2, &["init"]);
    assert!(!home.state().join("scopes").exists());
    repository.clearway().ok(&["init", "--yes"]);
    repository.clearway().ok(&["init"]);
}

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
fn the_page_for_agents_gets_three_lines_once_and_loses_them_again() {
    let home = home();
    let repository = app(&home);
    let (agents, claude) = (repository.path().join("AGENTS.md"), repository.path().join("CLAUDE.md"));
    repository.clearway().ok(&["init", "-y", "--agents-md"]);
    assert_eq!(read(&agents).lines().count(), 5);
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

#[test]
fn a_person_is_asked_before_anything_is_written() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let hooks = file(&home, ".cursor/hooks.json");
    let shown = home.terminal(repository.path(), "clearway init");
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("Write 1 file? [Y/n]") && shown.contains("nothing was written"), "{shown}");
    assert!(!hooks.exists());
}

#[test]
fn what_was_changed_after_it_was_shown_is_not_written() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let hooks = file(&home, ".cursor/hooks.json");
    // The answer is typed only after the question was read and the file was changed.
    let script = format!(
        "mkfifo typed; script -qfec 'clearway init' shown <typed >/dev/null & exec 3>typed; \
         until grep -q 'Y/n' shown; do sleep 0.02; done; echo '{{\"version\": 1}}' >'{}'; echo y >&3; wait; cat shown",
        hooks.display()
    );
    let output = home.shell(repository.path(), &script).env("SHELL", "/bin/sh").output().expect("a shell");
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(shown.contains("changed by somebody else meanwhile"), "{shown}");
    assert_eq!(read(&hooks), "{\"version\": 1}\n");
}

#[test]
fn what_is_remembered_of_files_is_not_written_over() {
    let home = home();
    let repository = app(&home);
    home.directory(".cursor");
    let journal = home.state().join("init.json");
    repository.clearway().ok(&["init", "-y", "--client", "cursor"]);
    write(&journal, "half a jour");
    for words in [&["init", "-y", "--client", "cursor"][..], &["init", "-y", "--uninstall"]] {
        let error = repository.clearway().fails("client-config", 78, words);
        assert!(text(&error, "message").contains("init.json cannot be read"), "{error}");
        assert_eq!(read(&journal), "half a jour");
    }
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
