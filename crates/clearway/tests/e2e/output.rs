//! Everything around the answers: help, pages, completions, manuals, colours, closed pipes.

use crate::{app, each, home, list, text};
use std::process::{Command, Stdio};

#[test]
fn every_slug_has_a_page_with_an_example() {
    let home = home();
    let repository = app(&home);
    let all = repository.clearway().ok(&["explain"]);
    let slugs = each(&all, "slugs", "slug");
    assert!(slugs.len() > 30 && slugs.contains(&"reservation-held"), "{slugs:?}");
    for entry in list(&all, "slugs") {
        let slug = text(entry, "slug");
        let page = repository.clearway().text(&["explain", slug]);
        assert!(page.contains(slug) && page.contains("clearway"), "{slug}: {page}");
        let reply = repository.clearway().ok(&["explain", slug]);
        assert_eq!((&reply["exit_code"], &reply["summary"]), (&entry["exit_code"], &entry["summary"]));
        assert!(page.lines().all(|line| line.chars().count() <= 100), "{slug}");
    }
    assert!(home.state_files().is_empty());
}

#[test]
fn exit_codes_have_one_meaning_each() {
    let home = home();
    let repository = app(&home);
    let all = repository.clearway().ok(&["explain"]);
    let kinds: std::collections::BTreeMap<u64, &str> = list(&all, "slugs")
        .iter()
        .filter_map(|slug| Some((slug["exit_code"].as_u64()?, slug["kind"].as_str()?)))
        .collect();
    let expected = [
        (1, "negative"),
        (2, "usage"),
        (3, "refused"),
        (4, "stale"),
        (5, "not-found"),
        (69, "unavailable"),
        (70, "internal"),
        (74, "output"),
        (75, "busy"),
        (78, "configuration"),
        (124, "lost"),
        (126, "unrunnable"),
        (127, "no-command"),
    ];
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn an_unknown_slug_is_answered_with_the_nearest() {
    let home = home();
    let repository = app(&home);
    let error = repository.clearway().fails("unknown-slug", 5, &["explain", "reservation-hold"]);
    assert!(
        error["hints"][0].as_str().is_some_and(|hint| hint.ends_with("clearway explain reservation-held")),
        "{error}"
    );
}

#[test]
fn completions_are_valid_scripts() {
    let home = home();
    let repository = app(&home);
    let script = |shell: &str| repository.clearway().text(&["completions", shell]);
    let bash = home.path().join("clearway.bash");
    std::fs::write(&bash, script("bash")).expect("a file");
    let parsed = Command::new("bash").arg("-n").arg(&bash).output().expect("bash runs");
    assert!(
        parsed.status.success() && parsed.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&parsed.stderr)
    );
    assert!(script("zsh").starts_with("#compdef clearway"));
    assert!(script("fish").contains("complete -c clearway"));
    for (shell, flag) in [("zsh", "-n"), ("fish", "--no-execute")] {
        let file = home.path().join(format!("clearway.{shell}"));
        std::fs::write(&file, script(shell)).expect("a file");
        // These shells are not everywhere; where they are, they must agree.
        if let Ok(parsed) = Command::new(shell).arg(flag).arg(&file).output() {
            assert!(parsed.status.success(), "{shell}: {}", String::from_utf8_lossy(&parsed.stderr));
        }
    }
    for verb in ["reserve", "check", "release", "audit", "doctor"] {
        assert!(script("bash").contains(verb), "{verb}");
    }
    repository.clearway().fails("usage", 2, &["completions", "tcsh"]);
}

#[test]
fn a_shell_completes_verbs_after_those_that_take_one() {
    let home = home();
    let repository = app(&home);
    let file = home.path().join("clearway.bash");
    std::fs::write(&file, repository.clearway().text(&["completions", "bash"])).expect("a file");
    for verb in ["help", "man"] {
        let script = "source \"$1\"; COMP_WORDS=(clearway \"$2\" res); COMP_CWORD=2; \
                      _clearway clearway res \"$2\"; printf '%s\\n' \"${COMPREPLY[@]}\"";
        let offered = Command::new("bash")
            .args(["-c", script, "bash"])
            .arg(&file)
            .arg(verb)
            .output()
            .expect("bash runs");
        let offered = String::from_utf8_lossy(&offered.stdout).into_owned();
        assert!(offered.lines().any(|word| word == "reserve"), "{verb}: {offered}");
        for shell in ["zsh", "fish"] {
            let script = repository.clearway().text(&["completions", shell]);
            assert!(script.matches("reserve").count() > 2, "{shell}");
        }
    }
}

#[test]
fn a_shell_completes_the_names_of_errors() {
    let home = home();
    let repository = app(&home);
    let file = home.path().join("clearway.bash");
    std::fs::write(&file, repository.clearway().text(&["completions", "bash"])).expect("a file");
    let script = "source \"$1\"; COMP_WORDS=(clearway explain store-); COMP_CWORD=2; \
                  _clearway clearway store- explain; printf '%s\\n' \"${COMPREPLY[@]}\"";
    let output = Command::new("bash").args(["-c", script, "bash"]).arg(&file).output().expect("bash runs");
    let offered = String::from_utf8_lossy(&output.stdout).into_owned();
    for slug in ["store-busy", "store-corrupt", "store-full"] {
        assert!(offered.lines().any(|line| line == slug), "{slug}: {offered}");
    }
    assert!(!offered.contains("usage"), "{offered}");
    for shell in ["zsh", "fish"] {
        assert!(repository.clearway().text(&["completions", shell]).contains("store-corrupt"), "{shell}");
    }
    repository.clearway().fails("unknown-slug", 5, &["explain", "store-cor"]);
}

#[test]
fn manual_pages_are_written_and_render_without_complaint() {
    let home = home();
    let repository = app(&home);
    let directory = home.directory("man");
    let reply = repository.clearway().ok(&["man", &directory.display().to_string()]);
    let pages = list(&reply, "written");
    assert!(pages.len() > 15, "one for each verb: {pages:?}");
    for page in pages.iter().filter_map(|page| page.as_str()) {
        let roff = std::fs::read_to_string(page).expect("a page");
        assert!(roff.contains(".TH ") && roff.contains(".SH NAME"), "{page}");
        let Ok(child) = Command::new("groff")
            .args(["-man", "-Tutf8", "-ww", page])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
        else {
            continue;
        };
        let rendered = child.wait_with_output().expect("groff ends");
        assert!(rendered.status.success() && !rendered.stdout.is_empty(), "{page}");
        assert_eq!(String::from_utf8_lossy(&rendered.stderr), "", "{page}");
    }
    assert!(repository.clearway().text(&["man"]).contains(".TH "));
}

#[test]
fn help_shows_what_people_type_and_all_of_it_on_request() {
    let home = home();
    let repository = app(&home);
    let help = repository.clearway().text(&["help"]);
    let everyday =
        ["init", "reserve", "who", "release", "wait", "with", "status", "events", "doctor", "demo"];
    assert_eq!(verbs(&help), everyday, "{help}");
    let all = verbs(&repository.clearway().text(&["help", "--all"]));
    assert!(everyday.iter().all(|verb| all.iter().any(|other| other == verb)), "{all:?}");
    for verb in ["check", "renew", "sweep", "completions", "man", "transfer", "freeze", "audit", "config"] {
        assert!(all.iter().any(|other| other == verb), "{verb}: {all:?}");
    }
    for verb in &all {
        let page = repository.clearway().text(&["help", verb]);
        assert!(page.contains("Examples:") && page.contains(&format!("clearway {verb}")), "{verb}: {page}");
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{verb}");
    }
    assert_eq!(
        repository.clearway().text(&["reserve", "-h"]),
        repository.clearway().text(&["help", "reserve"])
    );
    let version = repository.clearway().text(&["--version"]);
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
}

/// The verbs that a help lists.
fn verbs(help: &str) -> Vec<String> {
    let listed = help.lines().skip_while(|line| !line.starts_with("Verbs:")).skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    listed
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().map(str::to_owned))
        .filter(|verb| !verb.is_empty())
        .collect()
}

#[test]
fn the_examples_of_the_help_can_be_typed() {
    let home = home();
    let repository = app(&home);
    let all = repository.clearway().text(&["help", "--all"]);
    let verbs = verbs(&all);
    let pages = verbs.iter().map(|verb| repository.clearway().text(&["help", verb]));
    let mut typed = 0;
    for page in pages.chain([all]) {
        let examples = page.split("Examples:").nth(1).unwrap_or_default();
        for line in examples.lines().filter_map(|line| line.strip_prefix("  clearway ")) {
            let follows = line.split(' ').any(|word| word == "-f");
            let leads_elsewhere = line.contains('>') || line.contains('|') || line.starts_with("man ");
            // The demonstration has tests of its own, and one of the two takes its time.
            if follows || leads_elsewhere || line.starts_with("demo") {
                continue;
            }
            repository.grant("ada", &["src/"]);
            let output =
                home.shell(repository.path(), &format!("clearway --json --agent ada {line}")).output();
            let output = output.expect("a shell");
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(!said.contains("\"error\":{\"slug\":\"usage\""), "{line}: {said}");
            typed += 1;
        }
    }
    assert!(typed > 40, "{typed}");
}

#[test]
fn colours_are_for_terminals_that_want_them() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    assert!(!repository.clearway().text(&["leases"]).contains('\u{1b}'));
    assert!(!repository.agent("bob").run(&["reserve", "src/a.rs"]).stderr().contains('\u{1b}'));
    let coloured = |script: &str| {
        String::from_utf8_lossy(&home.terminal(repository.path(), script).stdout).contains('\u{1b}')
    };
    assert!(coloured("clearway --agent bob reserve src/a.rs"));
    assert!(!coloured("NO_COLOR=1 clearway --agent bob reserve src/a.rs"));
    assert!(!coloured("TERM=dumb clearway --agent bob reserve src/a.rs"));
}

#[test]
fn nobody_listening_is_no_failure_and_no_panic() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["src/a.rs"]);
    for words in ["leases", "events", "status", "help", "explain", "--json leases", "doctor", "audit export"]
    {
        let script = format!("clearway {words} 2>err | true; cat err");
        let output = home.shell(repository.path(), &script).output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "{words}");
        let closed =
            home.shell(repository.path(), &format!("clearway {words} >&-")).output().expect("a shell");
        let said = String::from_utf8_lossy(&closed.stderr).into_owned();
        assert!(!said.contains("panicked") && closed.status.code() != Some(101), "{words}: {said}");
    }
    let output = home.shell(repository.path(), "clearway --agent bob reserve b.rs >&- 2>&-").status();
    assert_eq!(output.expect("a shell").code(), Some(0));
    assert!(!repository.is_clear("carol", "b.rs"), "what was done is done");
}

#[test]
fn an_answer_that_cannot_be_written_is_told_on_stderr_with_a_code_of_its_own() {
    let home = home();
    let repository = app(&home);
    for words in [
        "leases",
        "--json leases",
        "events",
        "--json events",
        "audit export",
        "help",
        "--json frobnicate",
        "--json --agent ada reserve a.rs",
    ] {
        repository.grant("bob", &["b.rs"]);
        let script = format!("clearway {words} >/dev/full");
        let output = home.shell(repository.path(), &script).output().expect("a shell");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("error[output-unwritable]: "), "{words}: {said}");
        assert_eq!(output.status.code(), Some(74), "{words}: {said}");
    }
    assert!(!repository.is_clear("carol", "a.rs"), "what was done is done");
}

#[test]
fn json_stands_alone_on_stdout_for_success_and_failure() {
    let home = home();
    let repository = app(&home);
    for words in [
        ["reserve", "a.rs"].as_slice(),
        &["reserve", "a["],
        &["frobnicate"],
        &["reserve"],
        &["--version"],
        &["help"],
        &["leases", "--pattern", "["],
    ] {
        let ran = repository.agent("alice").json(words);
        let value = ran.value();
        assert_eq!(value["ok"] == true, ran.code() == 0, "{words:?}");
    }
}

#[test]
fn json_asked_for_twice_is_json() {
    let home = home();
    let repository = app(&home);
    for words in
        [["--json", "--json", "leases"], ["--json", "leases", "--json"], ["leases", "--json", "--json"]]
    {
        assert_eq!(repository.clearway().run(&words).expect(0).value()["ok"], true, "{words:?}");
    }
    let ran = repository.agent("alice").run(&["--json", "reserve", "--json", "a.rs"]).expect(0);
    assert_eq!(ran.value()["ok"], true);
}

#[test]
fn the_manual_of_one_verb_is_had_by_its_name_unless_that_is_a_directory() {
    let home = home();
    let repository = app(&home);
    let page = repository.clearway().text(&["man", "reserve"]);
    assert!(page.contains("clearway\\-reserve"), "{page}");
    assert!(!repository.path().join("reserve").exists());
    let error = repository.clearway().fails("not-found", 5, &["man", "nowhere"]);
    assert_eq!(crate::text(&error, "message"), "\"nowhere\" is neither a verb nor a directory");
    assert!(repository.clearway().text(&["man", "audit", "verify"]).contains("clearway\\-audit\\-verify"));
    std::fs::create_dir(repository.path().join("reserve")).expect("a directory");
    let written = repository.clearway().ok(&["man", "reserve"]);
    assert!(!crate::list(&written, "written").is_empty(), "{written:#}");
}
