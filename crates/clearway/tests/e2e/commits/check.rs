//! The check of a commit that git makes: what passes, what is refused, what is recorded, what is given back.

use super::stage::{Stage, Who, hinted, said};
use crate::{home, list, text};
use clearway_testkit::{Home, Terminal};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

const ADA: Who = Who::Agent("ada");

fn files() -> [(&'static str, &'static str); 3] {
    [("held.txt", "1\n"), ("own.txt", "1\n"), ("Cargo.lock", "1\n")]
}

#[test]
fn an_agents_commit_of_what_another_holds_is_refused_with_the_command_that_commits_the_rest() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt", "--reason", "mine"]);
    stage.write("held.txt", "2\n");
    stage.write("own.txt", "2\n");
    stage.write("new file.txt", "2\n");
    let before = stage.head();
    let refused = stage.types(ADA, "git add -A && git commit -q -m \"it's split\" -m body");
    let told = said(&refused);
    assert!(!refused.status.success(), "{told}");
    assert!(told.starts_with("error[commit-refused]: held.txt is with bob\n"), "{told}");
    assert_eq!(stage.head(), before);
    let command = hinted(&told);
    assert_eq!(command, "clearway commit -m 'it'\\''s split' -m body 'new file.txt' own.txt");
    let pasted = stage.types(ADA, &command);
    assert!(pasted.status.success(), "{}", said(&pasted));
    assert_eq!(stage.paths_in("HEAD"), ["new file.txt", "own.txt"]);
    assert_eq!(stage.git("git status --porcelain"), "M  held.txt\n");
    let denied = stage.events("action.denied");
    assert_eq!(denied.len(), 1);
    assert_eq!(
        (&denied[0]["data"]["action"], &denied[0]["data"]["subject"]),
        (&json!("commit"), &json!("held.txt"))
    );
    assert_eq!(text(&denied[0], "agent"), "ada");
}

#[test]
fn the_command_that_commits_the_rest_has_the_whole_message() {
    const BODY: &str = "it's \"split\", 100%\\n\n - for $HOME and `date`\n   and -x\n\n#12 is over\n\nCo-authored-by: Bob <b@x>\nAcked-by: C";
    for given in ["git commit -q -a -m 'a subject' -m \"$BODY\"", "git commit -q -a -F ../message"] {
        let home = home();
        let stage = Stage::new(&home, &files());
        stage.grant("bob", &["held.txt"]);
        stage.write("held.txt", "2\n");
        stage.write("own.txt", "2\n");
        stage.write("../message", &format!("\na subject\n\n\n{BODY}\n\n"));
        let refused = stage.types(ADA, &format!("BODY=$(tail -n +5 ../message); {given}"));
        let pasted = stage.types(ADA, &hinted(&said(&refused)));
        assert!(pasted.status.success(), "{}\n{}", said(&refused), said(&pasted));
        assert_eq!(stage.git("git show -s --format=%B"), format!("a subject\n\n{BODY}\n\n"), "{given}");
        assert_eq!(stage.paths_in("HEAD"), ["own.txt"]);
    }
}

#[test]
fn of_a_message_that_is_very_long_the_command_has_the_beginning_and_says_so() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt"]);
    stage.write("held.txt", "2\n");
    stage.write("own.txt", "2\n");
    stage.write("../message", &format!("subject\n\nfirst\n\n{}\n", "long ".repeat(1_000)));
    let told = said(&stage.types(ADA, "git commit -q -a -F ../message"));
    assert!(told.contains("commit the rest, with the beginning of its message:"), "{told}");
    assert_eq!(hinted(&told), "clearway commit -m subject -m first own.txt");
}

#[test]
fn a_hook_that_is_not_known_is_named_with_those_that_are_and_keeps_nobody_from_git() {
    let home = home();
    let stage = Stage::new(&home, &files());
    let known = "prepare-commit-msg, post-commit, pre-rebase, pre-push and reference-transaction";
    let told = |name: &str| {
        format!(
            "clearway: nothing is known of a hook \"{name}\", and nothing was checked; known are {known}\n"
        )
    };
    stage.call_hook(&stage.root.join(".git/hooks"), "pre-commit");
    for who in [Who::Person, ADA] {
        let passed = stage.types(who, "git commit -q --allow-empty -m x");
        assert_eq!((passed.status.success(), said(&passed)), (true, told("pre-commit")));
    }
    for name in known.split(", ").flat_map(|names| names.split(" and ")) {
        let ran = stage.home.clearway(&stage.root).run(&["git-hook", name]).expect(0);
        assert_eq!(ran.stderr(), "", "{name}");
    }
    for words in [["git-hook", "prepare-comit-msg"].as_slice(), &["-C", ".", "git-hook", "prepare-comit-msg"]]
    {
        let ran = stage.home.clearway(&stage.root).run(words).expect(0);
        assert_eq!((ran.stdout(), ran.stderr()), (String::new(), told("prepare-comit-msg")));
    }
}

#[test]
fn a_person_passes_with_a_word_and_the_silent_case_is_silent() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt"]);
    stage.write("own.txt", "2\n");
    for who in [Who::Person, ADA] {
        let passed =
            stage.types(who, "git commit -q --allow-empty -m x -- && git commit -q --only -m x own.txt");
        assert_eq!((passed.status.success(), said(&passed)), (true, String::new()));
        stage.write("own.txt", "3\n");
    }
    stage.write("held.txt", "2\n");
    let passed = stage.types(Who::Person, "git commit -q -a -m x");
    assert_eq!(
        (passed.status.success(), said(&passed)),
        (true, "clearway: held.txt is with bob\n".to_owned())
    );
    assert_eq!(stage.paths_in("HEAD"), ["held.txt"]);
}

#[test]
fn at_a_terminal_a_person_passes_with_a_word() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt"]);
    stage.write("held.txt", "2\n");
    let terminal = Terminal::open();
    let mut window = home.session_shell(&terminal, &stage.root, "git commit -q -a -m x 2> said");
    assert!(window.status().expect("a shell").success());
    let said = std::fs::read_to_string(stage.root.join("said")).expect("text");
    assert_eq!(said, "clearway: held.txt is with bob\n");
}

#[test]
fn at_a_terminal_an_operators_override_is_recorded_though_git_gives_its_hooks_no_input() {
    for line in ["git commit -q -a -m x", "CLEARWAY_AGENT=bot git commit -q -a -m x"] {
        let home = home();
        let stage = Stage::new(&home, &files());
        stage.grant("bob", &["held.txt"]);
        stage.write("held.txt", "2\n");
        let line = format!("CLEARWAY_COMMIT_REASON='bob is on holiday' {line}");
        let output = home.terminal(&stage.root, &line);
        assert!(output.status.success(), "{line}: {}", said(&output));
        let allowed = stage.events("commit.allowed");
        assert_eq!(allowed.len(), 1, "{line}: {}", String::from_utf8_lossy(&output.stdout));
        assert_eq!(allowed[0]["data"]["operator_reason"], json!("bob is on holiday"), "{line}");
    }
}

#[test]
fn an_operators_override_is_recorded_and_an_agents_is_refused() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt"]);
    stage.write("held.txt", "2\n");
    let line = "CLEARWAY_COMMIT_REASON='bob is on holiday' git commit -q -a -m x";
    let refused = stage.types(Who::Session("s1"), line);
    assert!(
        !refused.status.success() && said(&refused).contains("error[not-operator]"),
        "{}",
        said(&refused)
    );
    let key = format!("CLEARWAY_OPERATOR_KEY={} {line}", home.operator_key().display());
    let passed = stage.types(ADA, &key);
    assert_eq!((passed.status.success(), said(&passed)), (true, String::new()));
    let allowed = stage.events("commit.allowed");
    let data = &allowed[0]["data"];
    assert_eq!(
        (&data["paths"], &data["operator_reason"]),
        (&json!(["held.txt"]), &json!("bob is on holiday"))
    );
    assert_eq!(list(data, "blockers").len(), 1);
    home.clearway(&stage.root).ok(&["audit", "verify"]);
}

#[test]
fn lines_that_another_wrote_are_not_taken_along_though_nobody_holds_the_file() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.edits("bob", None, "held.txt", Some("1\nbob\n"));
    home.clearway(&stage.root).session("bob").ok(&["release", "--all"]);
    let refused = stage.types(ADA, "git commit -q -a -m x");
    let told = said(&refused);
    let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("held.txt has uncommitted lines of claude-"), "{told}");
    assert!(stage.types(ADA, &hinted(&told)).status.success(), "{told}");
    // Whoever takes the file answers for what is in it.
    stage.grant("ada", &["held.txt"]);
    let passed = stage.types(ADA, "git commit -q -a -m x");
    assert!(passed.status.success(), "{}", said(&passed));
    stage.write("held.txt", "1\nbob\nada\n");
    home.clearway(&stage.root).agent("ada").ok(&["release", "--all"]);
    assert!(stage.types(ADA, "git commit -q -a -m y").status.success(), "what is committed is nobody's");
}

#[test]
fn a_part_of_a_file_that_was_staged_by_itself_is_judged_by_itself() {
    let home = home();
    let stage = Stage::new(&home, &[("held.txt", "1\n2\n3\n")]);
    stage.edits("bob", None, "held.txt", Some("1\n2\n3\nbob\n"));
    home.clearway(&stage.root).session("bob").ok(&["release", "--all"]);
    stage.write("held.txt", "ada\n2\n3\n");
    stage.git("git add held.txt");
    stage.write("held.txt", "ada\n2\n3\nbob\n");
    let passed = stage.types(ADA, "git commit -q -m x");
    assert!(passed.status.success(), "{}", said(&passed));
    assert!(!stage.types(ADA, "git commit -q -a -m x").status.success());
}

#[test]
fn lines_that_a_commit_leaves_out_of_a_file_stay_their_authors_however_late_it_is() {
    let home = home();
    let stage = Stage::new(&home, &[("held.txt", "1\n2\n3\n")]);
    stage.edits("bob", None, "held.txt", Some("1\n2\n3\nbob\n"));
    home.clearway(&stage.root).session("bob").ok(&["release", "--all"]);
    for (staged, year) in [("ada\n2\n3\n", 2090), ("ada\nada\n3\n", 2091)] {
        stage.write("held.txt", staged);
        stage.git("git add held.txt");
        stage.write("held.txt", &format!("{staged}bob\n"));
        let later = format!("GIT_COMMITTER_DATE={year}-01-01T00:00:00Z git commit -q -m x");
        let passed = stage.types(ADA, &later);
        assert!(passed.status.success(), "{}", said(&passed));
        let refused = stage.types(ADA, "git commit -q -a -m x");
        let refused = said(&refused);
        assert!(refused.contains("commit-refused") && refused.contains("uncommitted lines of"), "{refused}");
    }
    let own = "GIT_COMMITTER_DATE=2092-01-01T00:00:00Z git commit -q -a -m mine";
    assert!(stage.types(Who::Session("bob"), own).status.success());
    stage.write("held.txt", "ada\nada\n3\nbob\nbob\n");
    let passed = stage.types(ADA, "git commit -q -a -m x");
    assert!(passed.status.success(), "what was committed is nobody's any more: {}", said(&passed));
}

#[test]
fn what_everybody_writes_and_what_made_way_is_in_nobodys_way() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["Cargo.lock", "held.txt"]);
    stage.write("Cargo.lock", "2\n");
    assert!(stage.types(ADA, "git commit -q -a -m x").status.success());
    stage.edits("gone", None, "own.txt", Some("2\n"));
    let end =
        json!({"session_id": "gone", "cwd": stage.root, "hook_event_name": "SessionEnd", "reason": "other"});
    stage.hook(&end).expect(0);
    let passed = stage.types(ADA, "git commit -q -a -m x");
    assert!(passed.status.success(), "{}", said(&passed));
}

#[test]
fn a_commit_gives_back_what_hooks_took_and_tells_who_waits() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.edits("one", None, "own.txt", Some("2\n"));
    stage.edits("one", None, "other.txt", Some("2\n"));
    stage.edits("one", Some("x"), "held.txt", Some("2\n"));
    home.clearway(&stage.root).session("one").ok(&["reserve", "claimed.txt"]);
    stage.write("claimed.txt", "1\n");
    home.clearway(&stage.root).agent("bob").ok(&["reserve", "own.txt", "--queue"]);
    let passed =
        stage.types(Who::Session("one"), "git add own.txt held.txt claimed.txt && git commit -q -m x");
    assert_eq!((passed.status.success(), said(&passed)), (true, String::new()));
    let mut left = stage.leases();
    left.sort();
    assert_eq!(left, ["build", "claimed.txt", "other.txt"]);
    let offered = stage.events("wait.offered");
    assert_eq!(offered.len(), 1, "bob's turn has come");
    // What is changed again, or never was in the commit, stays.
    stage.edits("one", None, "held.txt", Some("3\n"));
    stage.git("git add held.txt");
    stage.write("held.txt", "4\n");
    assert!(stage.types(Who::Session("one"), "git commit -q -m x").status.success());
    assert!(stage.leases().contains(&"held.txt".to_owned()));
}

#[test]
fn what_was_taken_while_a_commit_was_made_is_kept() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.edits("one", None, "own.txt", Some("2\n"));
    stage.edits("one", None, "held.txt", Some("2\n"));
    // An edit of the session between the beginning and the end of its own commit, of which nothing is changed yet.
    let edit = json!({"session_id": "one", "cwd": stage.root, "hook_event_name": "PreToolUse",
        "tool_name": "Edit", "tool_input": {"file_path": stage.root.join("held.txt")}});
    stage.write("edit.json", &edit.to_string());
    let commit_msg = stage.root.join(".git/hooks/commit-msg");
    std::fs::write(&commit_msg, "#!/bin/sh\nclearway hook claude < edit.json\n").expect("a file");
    std::fs::set_permissions(&commit_msg, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("a mode");
    let passed = stage.types(Who::Session("one"), "git commit -q -m x own.txt held.txt");
    assert!(passed.status.success(), "{}", said(&passed));
    let mut left = stage.leases();
    left.sort();
    assert_eq!(left, ["build", "held.txt"]);
}

/// Makes the store something that nobody can read.
fn spoil(home: &Home) {
    let rubbish = "rubbish that is no database, and longer than its head".repeat(9);
    for end in ["", "-wal", "-shm"] {
        std::fs::write(format!("{}{end}", home.only_store().display()), &rubbish).expect("a file");
    }
}

#[test]
fn where_nobody_invited_us_nothing_is_said_or_made_and_a_lost_store_locks_nobody_out() {
    let home = home();
    let repository = home.repository("quiet", &files());
    let stage = Stage { home: &home, root: repository.path().to_owned() };
    stage.call_hooks(&stage.root.join(".git/hooks"));
    stage.write("own.txt", "2\n");
    let passed = stage.types(ADA, "git commit -q -a -m x");
    assert_eq!((passed.status.success(), said(&passed)), (true, String::new()));
    assert!(!home.state().join("scopes").exists());

    stage.grant("bob", &["held.txt"]);
    stage.write("held.txt", "2\n");
    spoil(&home);
    for who in [Who::Person, ADA] {
        let passed = stage.types(who, "git commit -q -a -m x --allow-empty");
        assert!(
            passed.status.success() && said(&passed).matches("; nothing was checked").count() == 1,
            "it is said once: {}",
            said(&passed)
        );
    }
    home.user_config("posture = \"unattended\"\n");
    stage.write("held.txt", "3\n");
    assert!(!stage.types(ADA, "git commit -q -a -m x").status.success(), "nobody watches");
    assert!(stage.types(Who::Person, "git commit -q -a -m x").status.success());
}

#[test]
fn what_fails_after_a_commit_that_was_checked_is_said_in_a_line() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt"]);
    let store = home.only_store().display().to_string();
    let hook = stage.root.join(".git/hooks/commit-msg");
    let script = format!("#!/bin/sh\nfor end in '' -wal -shm; do echo no database > '{store}'$end; done\n");
    std::fs::write(&hook, script).expect("a file");
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("a mode");
    stage.write("own.txt", "2\n");
    let made = stage.types(ADA, "git commit -q -a -m x");
    let told = said(&made);
    assert!(made.status.success() && told.lines().count() == 1, "{told}");
    assert!(told.ends_with("; the leases of what was committed stay: clearway release PATH\n"), "{told}");
    stage.write("own.txt", "3\n");
    let told = said(&stage.types(ADA, "git commit -q -a -m y"));
    assert!(told.ends_with("; nothing was checked\n") && told.lines().count() == 1, "once: {told}");
}

#[test]
fn a_client_above_is_an_agent_though_no_store_can_say_so() {
    let home = home();
    let stage = Stage::new(&home, &files());
    spoil(&home);
    home.user_config("posture = \"unattended\"\n");
    let client = home.directory("bin").join("claude");
    std::fs::copy("/bin/sh", &client).expect("a copy of a shell");
    stage.write("own.txt", "2\n");
    let below =
        |shell: &str| stage.types(Who::Person, &format!("{shell} -c 'git commit -q -a -m x; exit $?'"));
    let refused = below(&client.display().to_string());
    assert!(!refused.status.success(), "{}", said(&refused));
    let passed = below("sh");
    assert!(passed.status.success() && said(&passed).contains("; nothing was checked"), "{}", said(&passed));
}

#[test]
fn only_what_takes_back_a_commit_is_a_revert_whatever_a_message_says() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.git("echo 2 > own.txt; git commit -q -a -m own; echo 2 > held.txt; git commit -q -a -m held");
    let (held, own) = (stage.head(), stage.git("git rev-parse HEAD~1"));
    // A lease of a hook on a clean file, which is in the way of a plain commit and not of a revert.
    stage.edits("bob", None, "held.txt", None);
    let none = "1f".repeat(20);
    for commit in ["number five", none.as_str(), own.trim(), held.trim()] {
        let line = format!("echo 9 > held.txt; git commit -q -a -m x -m 'This reverts commit {commit}.'");
        let refused = stage.types(ADA, &line);
        assert!(!refused.status.success() && said(&refused).contains("held.txt is with claude-"), "{line}");
        stage.git("git reset -q --hard");
    }
    // Beside what it takes back it takes nothing else along.
    let beside = format!(
        "echo 1 > held.txt; echo 9 > own.txt; git commit -q -a -m x -m 'This reverts commit {}.'",
        held.trim()
    );
    assert!(!stage.types(ADA, &beside).status.success());
    stage.git("git reset -q --hard");
    for line in
        ["git revert --no-edit HEAD", "git revert --no-edit HEAD", "git revert --no-edit --reference HEAD"]
    {
        let passed = stage.types(ADA, &format!("{line} > /dev/null"));
        assert!(passed.status.success(), "{line}: {}", said(&passed));
    }
    // The side of a merge that is taken back.
    stage.git(
        "git checkout -q -b side HEAD~1; echo 5 > held.txt; git commit -q -a -m side; git checkout -q main",
    );
    stage.git("git merge -q --no-ff -X theirs -m merged side; git reset -q --hard");
    let passed = stage.types(ADA, "git revert --no-edit -m 1 HEAD > /dev/null");
    assert!(passed.status.success(), "{}", said(&passed));
}

#[test]
fn of_several_reverts_git_is_told_to_leave_the_rest() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.git("echo 2 > held.txt; git commit -q -a -m two; echo 3 > own.txt; git commit -q -a -m three");
    let before = stage.head();
    stage.grant("bob", &["held.txt"]);
    let refused = stage.types(ADA, "git revert --no-edit HEAD~2..HEAD > /dev/null");
    let told = said(&refused);
    assert!(!refused.status.success(), "{told}");
    assert_eq!(hinted(&told), "git revert --abort", "{told}");
    assert!(stage.types(ADA, "git revert --abort").status.success());
    assert_eq!((stage.head(), stage.git("git status --porcelain")), (before, String::new()));
}

#[test]
fn an_author_that_was_named_is_not_lost_without_a_word() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt"]);
    for flags in ["-m x --author 'A <a@e>'", "-m x --date=2020-01-01T00:00:00", "-C HEAD"] {
        stage.write("held.txt", "2\n");
        stage.write("own.txt", "2\n");
        let told = said(&stage.types(ADA, &format!("git commit -q -a {flags}")));
        assert!(told.contains("commit the rest, as yours and of now"), "{flags}: {told}");
    }
    let told = said(&stage.types(ADA, "git commit -q -a -m x"));
    assert!(!told.contains("of now"), "{told}");
}

#[test]
fn naming_a_commit_whose_file_was_changed_since_makes_no_revert() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.git("echo 2 > held.txt; git commit -q -a -m two");
    let oldest = stage.head();
    stage.git("echo 3 > held.txt; git commit -q -a -m three; echo 4 > held.txt; git commit -q -a -m four");
    stage.edits("bob", None, "held.txt", None);
    for content in ["9", "1"] {
        stage.write("held.txt", &format!("{content}\n"));
        let line = format!("git commit -q -a -m x -m 'This reverts commit {}.'", oldest.trim());
        let refused = stage.types(ADA, &line);
        assert!(!refused.status.success(), "{line}");
        assert!(said(&refused).contains("held.txt is with claude-"), "{}", said(&refused));
        stage.git("git reset -q --hard");
    }
}

#[test]
fn modes_that_do_not_enforce_let_it_pass() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt"]);
    for (mode, expect) in [("observe", ""), ("warn", "clearway: held.txt is with bob\n")] {
        home.user_config(&format!("mode = \"{mode}\"\n"));
        stage.write("held.txt", mode);
        let passed = stage.types(ADA, "git commit -q -a -m x");
        assert_eq!((passed.status.success(), said(&passed)), (true, expect.to_owned()), "{mode}");
    }
}

#[test]
fn refs_of_ours_are_not_pushed_by_anybody_and_everything_else_is() {
    let home = home();
    let stage = Stage::new(&home, &files());
    let remote = home.directory("remote.git");
    stage.git(&format!("git init -q --bare {0} && git remote add origin {0}", remote.display()));
    stage.git("git push -q origin main && git push -q --tags origin");
    stage.git("git update-ref refs/clearway/snap/x HEAD");
    let refused = stage.types(Who::Person, "git push -q --mirror origin");
    assert!(!refused.status.success());
    assert!(said(&refused).contains("clearway: refs/clearway/snap/x is not pushed"), "{}", said(&refused));
    stage.git("git push -q --all origin");
}

#[test]
fn an_agents_rebase_is_refused_before_it_begins_while_another_has_changes_here() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.git("git checkout -q -b topic && echo 2 > own.txt && git commit -q -a -m topic");
    stage.git("git checkout -q main && echo 2 > more.txt && git add . && git commit -q -m main && git checkout -q topic");
    stage.grant("bob", &["held.txt", "new/"]);
    assert!(stage.types(ADA, "git rebase -q main").status.success(), "what is reserved and unchanged stays");
    stage.git("git reset -q --hard ORIG_HEAD");
    stage.write("new/file.txt", "bob\n");
    let refused = stage.types(ADA, "git rebase -q main");
    let told = said(&refused);
    assert!(
        !refused.status.success() && told.contains("error[others-at-work]: bob has uncommitted changes"),
        "{told}"
    );
    assert!(!stage.root.join(".git/rebase-merge").exists());
    let command = hinted(&told);
    let pasted = stage.types(ADA, &command);
    assert!(pasted.status.success(), "{command}: {}", said(&pasted));
    let passed = stage.types(Who::Person, "git rebase -q main");
    assert!(passed.status.success(), "{}", said(&passed));
}

#[test]
fn a_refused_amend_is_offered_as_one() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt"]);
    stage.write("held.txt", "2\n");
    stage.write("own.txt", "2\n");
    let before = stage.git("git rev-list --count HEAD");
    let refused = stage.types(ADA, "git commit -q --amend -a --no-edit");
    let command = hinted(&said(&refused));
    assert_eq!(command, "git commit --amend --no-edit --only -- own.txt");
    assert!(stage.types(ADA, &command).status.success());
    assert_eq!(
        (stage.git("git rev-list --count HEAD"), stage.git("git show HEAD:own.txt")),
        (before, "2\n".into())
    );
    assert_eq!(stage.git("git show HEAD:held.txt"), "1\n");
}

#[test]
fn a_rebase_that_would_put_the_work_of_others_aside_is_refused_before_it_does() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.git("git checkout -q -b side; echo s > own.txt; git commit -q -a -m s; git checkout -q main");
    stage.git("echo m > own.txt; git commit -q -a -m m");
    stage.edits("bob", None, "held.txt", Some("bob's\n"));
    for line in ["git rebase --autostash side", "git -c rebase.autoStash=true rebase side"] {
        let refused = stage.types(ADA, line);
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && told.contains("others-at-work"), "{line}: {told}");
        assert_eq!(stage.git("cat held.txt; git status --porcelain"), "bob's\n M held.txt\n", "{line}");
    }
    let passed = stage.types(Who::Person, "git rebase -q --autostash -X theirs side");
    assert!(passed.status.success(), "a person is kept from nothing");
}

#[test]
fn in_the_middle_of_a_merge_the_answer_is_git_commit_straight_away() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.git("git checkout -q -b side; echo s > own.txt; git commit -q -a -m s; git checkout -q main");
    stage.git("echo m > own.txt; git commit -q -a -m m; git merge -q side > /dev/null || true");
    stage.git("echo both > own.txt; git add own.txt");
    let error = home.clearway(&stage.root).agent("ada").fails("git-failed", 69, &["commit", "-m", "x"]);
    assert!(
        error.to_string().contains("a merge is under way") && error.to_string().contains("git commit"),
        "{error}"
    );
    assert!(stage.types(ADA, "git commit -q --no-edit").status.success());
}

#[test]
fn whoever_a_person_stopped_commits_nothing() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.edits("ada", None, "own.txt", Some("ada\n"));
    let ada = Who::Session("ada");
    let leases = home.clearway(&stage.root).ok(&["leases"]);
    let own = crate::list(&leases, "leases")
        .iter()
        .find(|lease| lease["pattern"] == "own.txt")
        .expect("a lease")
        .clone();
    let halt = format!("clearway --agent root halt {} --reason 'wait for me'", crate::text(&own, "agent"));
    let key = format!("CLEARWAY_OPERATOR_KEY={} {halt}", home.operator_key().display());
    let halted = stage.types(Who::Person, &key);
    assert!(halted.status.success(), "{}", String::from_utf8_lossy(&halted.stderr));
    let before = stage.head();
    let refused = stage.types(ada, "git commit -q -a -m x");
    let told = said(&refused);
    assert!(
        !refused.status.success() && told.contains("error[halted]") && told.contains("wait for me"),
        "{told}"
    );
    assert_eq!(stage.head(), before);
    assert!(
        stage.types(Who::Person, "git commit -q -a -m x").status.success(),
        "a person is kept from nothing"
    );
}

#[test]
fn a_git_that_a_file_in_the_making_ends_is_asked_again() {
    for ends in ["kill -BUS $$", "echo 'error: short read while indexing own.txt' >&2; exit 128"] {
        let home = home();
        let stage = Stage::new(&home, &[("own.txt", "1\n"), ("held.txt", "1\n")]);
        let bin = home.directory("bin");
        // The first of each of these commands ends as git does whose file is cut short.
        let script = format!(
            "#!/bin/sh\nfor word; do case $word in diff|status|ls-files)\n\
             if test ! -e {bin}/$word; then : > {bin}/$word; {ends}; fi ;; esac; done\n\
             PATH=/usr/local/bin:/usr/bin:/bin exec git \"$@\"\n",
            bin = bin.display()
        );
        std::fs::write(bin.join("git"), script).expect("a file");
        std::fs::set_permissions(bin.join("git"), std::fs::Permissions::from_mode(0o755)).expect("a mode");
        stage.edits("s-ada", None, "own.txt", Some("ada's\n"));
        stage.edits("s-bob", None, "held.txt", Some("bob's\n"));
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
        let beside = home.clearway(&stage.root).env("PATH", path).session("s-ada");
        let made = beside.ok(&["commit", "-m", "mine"]);
        assert_eq!(stage.paths_in(text(&made, "commit")), ["own.txt"], "{ends}");
        assert!(bin.join("diff").exists() && bin.join("status").exists(), "{ends}");
    }
}
