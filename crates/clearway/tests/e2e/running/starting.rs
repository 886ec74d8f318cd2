//! What can be run, how it is started, and what is said of what cannot be.

use super::ended;
use crate::{app, home, list, text};
use clearway_testkit::{Repository, eventually};
use serde_json::Value;

#[test]
fn the_exit_code_is_the_command_s() {
    let home = home();
    let repository = home.repository("app", &[]);
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
        let ran = repository.agent("ada").run(&["with", "build", "--", "sh", "-c", script]).expect(code);
        assert_eq!((ran.stdout(), ran.stderr()), (String::new(), String::new()), "{script}");
    }
    assert_eq!(repository.kinds().iter().filter(|kind| *kind == "lease.released").count(), 4);
}

#[test]
fn the_command_gets_its_streams_its_directory_its_arguments_and_nothing_else() {
    use std::os::unix::ffi::OsStrExt;
    let home = home();
    let repository = home.repository("app", &[("sub/x", "")]);
    let open = ["with", "build", "--", "ls", "/proc/self/fd"];
    let bare = home.shell(repository.path(), "exec ls /proc/self/fd").output().expect("a shell");
    let ran = repository.agent("ada").run(&open).expect(0);
    assert_eq!(ran.stdout(), String::from_utf8_lossy(&bare.stdout), "no file of ours is left open for it");
    let line = "printf hello | clearway --agent ada -C sub with build -- sh -c 'cat; pwd; echo oops >&2'";
    let output = home.shell(repository.path(), line).output().expect("a shell");
    let place = repository.path().join("sub");
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("hello{}\n", place.display()));
    assert_eq!(output.stderr, b"oops\n");
    let mut raw = repository.agent("ada").args(&["with", "build", "--", "printf", "%s|"]).into_command();
    raw.args([std::ffi::OsStr::from_bytes(b"\xff"), "--json".as_ref(), "--".as_ref(), "".as_ref()]);
    assert_eq!(raw.output().expect("it runs").stdout, b"\xff|--json|--||");
}

/// A file with the permission to be run.
fn executable(repository: &Repository<'_>, name: &str, bytes: &[u8]) {
    let path = repository.path().join(name);
    std::fs::write(&path, bytes).expect("a file");
    std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("permissions");
}

/// What is said, in both forms, of a file that `with` cannot run. Standard output is left to the command.
#[track_caller]
fn refused_beside_command(repository: &Repository<'_>, slug: &str, code: i32, file: &str) -> Value {
    let ran = repository.agent("ada").run(&["with", "build", "--", file]).expect(code);
    assert!(ran.stderr().starts_with(&format!("error[{slug}]")), "{}", ran.stderr());
    let ran = repository.agent("ada").run(&["--json", "with", "build", "--", file]).expect(code);
    assert_eq!(ran.stdout(), "");
    let said: Value = serde_json::from_str(&ran.stderr()).expect("JSON");
    assert_eq!(said["error"]["slug"], slug, "{said:#}");
    assert!(!list(&said["error"], "hints").is_empty(), "{said:#}");
    said["error"].clone()
}

#[test]
fn a_file_that_nothing_can_read_is_told_before_anything_is_held() {
    let home = home();
    let repository = app(&home);
    executable(&repository, "bare", b"echo hi\n");
    executable(&repository, "orphan", b"#!/nowhere/sh\necho hi\n");
    executable(&repository, "misread", b"#!/etc/passwd\n");
    for (slug, code, word, said) in [
        ("command-not-executable", 126, "./bare", "does not say what reads it"),
        ("command-not-executable", 126, "./src", "a directory"),
        ("command-not-found", 127, "./orphan", "\"/nowhere/sh\", which is nowhere"),
        ("command-not-executable", 126, "./misread", "\"/etc/passwd\", which cannot be run"),
    ] {
        let error = refused_beside_command(&repository, slug, code, word);
        assert!(text(&error, "message").contains(said), "{error:#}");
    }
    assert!(home.state_files().is_empty(), "nothing was reserved");
    let ran = repository.agent("ada").run(&["with", "build", "--", "sh", "./bare"]).expect(0);
    assert_eq!(ran.stdout(), "hi\n", "the hint works");
}

/// Only the kernel can tell that a program cannot be begun; its word is an error like any other, and the name is free.
#[test]
fn a_program_that_the_kernel_refuses_is_told_like_any_other_and_leaves_nothing_held() {
    let home = home();
    let repository = app(&home);
    let mut program = std::fs::read("/bin/true").expect("a program");
    let loader = program.windows(4).position(|four| four == b"/lib").expect("its loader");
    program[loader..loader + 4].copy_from_slice(b"/non");
    executable(&repository, "unloadable", &program);
    let error = refused_beside_command(&repository, "command-not-found", 127, "./unloadable");
    assert!(text(&error, "message").contains("\"./unloadable\" cannot be run"), "{error:#}");
    assert!(list(&repository.clearway().ok(&["leases"]), "leases").is_empty());
    let own = repository.agent("ada").run(&["with", "build", "--", "sh", "-c", "exit 127"]).expect(127);
    assert_eq!(own.stderr(), "", "a code of the command's own is no mishap");
}

/// Whether a command was begun is between us and our second start: no socket is there that others could talk to.
#[test]
fn nobody_else_can_say_that_a_command_was_not_begun() {
    let home = home();
    let repository = app(&home);
    let named_sockets_of_parent = r"for file in /proc/$PPID/fd/*; do
        inode=$(readlink $file | sed -n 's/^socket:\[\(.*\)\]$/\1/p')
        awk -v inode=${inode:-none} '$7 == inode && NF > 7' /proc/net/unix
    done; echo ran";
    let words = ["with", "build", "--", "sh", "-c", named_sockets_of_parent];
    assert_eq!(repository.agent("ada").run(&words).expect(0).stdout(), "ran\n");
}

/// A directory that went away while the turn was waited for is no missing command.
#[test]
fn what_keeps_a_command_from_being_started_is_not_blamed_on_the_command() {
    let home = home();
    let repository = home.repository("app", &[("sub/x", "")]);
    repository.grant("bob", &["--kind", "name", "build"]);
    let waiting = repository.agent("ada").args(&["-C", "sub"]);
    let waiting = waiting.spawn(&["with", "build", "--wait", "5m", "--", "true"]);
    eventually("a place in the queue", || {
        let queue = repository.clearway().ok(&["waits"]);
        (!list(&queue, "waits").is_empty()).then_some(())
    });
    std::fs::remove_dir_all(repository.path().join("sub")).expect("a directory");
    repository.agent("bob").ok(&["release", "--all"]);
    let said = ended(waiting, 126);
    assert!(said.starts_with("error[command-not-executable]: the command cannot be started"), "{said}");
    assert!(list(&repository.clearway().ok(&["leases"]), "leases").is_empty());
}

#[test]
fn what_cannot_be_run_is_told_before_anything_is_held() {
    let home = home();
    let repository = home.repository("app", &[("script", "echo\n")]);
    let fails = |slug: &str, code: i32, words: &[&str]| {
        let ran = repository.agent("ada").run(words).expect(code);
        assert!(ran.stderr().contains(&format!("error[{slug}]")), "{words:?}: {}", ran.stderr());
        assert_eq!(ran.stdout(), "", "{words:?}");
        ran.stderr()
    };
    fails("command-not-found", 127, &["with", "build", "--", "no-such-command"]);
    fails("command-not-found", 127, &["with", "build", "--", ""]);
    fails("command-not-executable", 126, &["with", "build", "--", "./script"]);
    fails("command-not-executable", 126, &["with", "build", "--", "./"]);
    let said = fails("usage", 2, &["with", "build"]);
    assert!(said.contains("clearway --agent ada with NAME -- CMD"), "{said}");
    fails("usage", 2, &["with", "--", "true"]);
    fails("usage", 2, &["with", "build", "true"]);
    fails("usage", 2, &["with", "a-b", "a_b", "--", "true"]);
    fails("usage", 2, &["--idempotency-key", "k", "with", "build", "--", "true"]);
    fails("invalid-name", 2, &["with", "", "--", "true"]);
    let soon = fails("invalid-duration", 2, &["with", "build", "--wait", "soon", "--", "true"]);
    assert!(soon.contains("clearway --agent ada with NAME --wait 5m -- CMD"), "{soon}");
    let never = fails("invalid-duration", 2, &["with", "build", "--wait", "0", "--", "true"]);
    assert!(never.contains("had at once or not at all") && !never.contains("--queue"), "{never}");
    let taken = fails("usage", 2, &["with", "--wait", "build", "--", "true"]);
    assert!(taken.contains("clearway --agent ada with build --wait 5m -- CMD"), "{taken}");
    fails("invalid-duration", 2, &["with", "build", "--ttl", "0", "--", "true"]);
    repository.write(".clearway.toml", "[resources]\n\"port:1-2\" = 2\n\"port:5-9\" = 2\n");
    let said = fails("usage", 2, &["with", "port", "--", "true"]);
    assert!(said.contains("port:1-2, port:5-9"), "{said}");
    repository.write(".clearway.toml", "[resources]\nbuild = 0\n");
    fails("config-bad-value", 78, &["with", "build", "--", "true"]);
    repository.write(".clearway.toml", "");
    assert_eq!(repository.clearway().ok(&["agents"])["agents"].as_array().map(Vec::len), Some(0));
}

#[test]
fn a_path_is_not_taken_for_a_name() {
    let home = home();
    let repository =
        home.repository("app", &[("src/main.rs", ""), ("build/x", ""), ("deploy", ""), ("a.sql", "")]);
    for path in ["src/main.rs", "./src/main.rs", "src/new.rs", "build/", "build/x", "a.sql"] {
        let ran = repository.agent("ada").run(&["with", path, "--", "echo", "ran"]).expect(2);
        assert!(ran.stderr().contains("error[invalid-name]") && ran.stdout().is_empty(), "{}", ran.stderr());
        assert!(ran.stderr().contains(&format!("clearway --agent ada reserve {path}")), "{}", ran.stderr());
    }
    for path in ["/etc/passwd", "../app", "."] {
        let ran = repository.agent("ada").run(&["with", path, "--", "echo", "ran"]).expect(2);
        assert!(ran.stderr().contains("choose a name such as build"), "{}", ran.stderr());
    }
    assert!(home.state_files().is_empty(), "nothing was reserved");
    for name in ["build", "deploy", "db:migrate", "team/build", "v1.2"] {
        repository.agent("ada").run(&["with", name, "--", "true"]).expect(0);
    }
    repository.write(".clearway.toml", "[resources]\n\"src/main.rs\" = 1\n");
    repository.agent("ada").run(&["with", "src/main.rs", "--", "true"]).expect(0);
}

#[test]
fn a_line_without_a_name_or_without_dashes_is_told_as_it_is_meant() {
    let home = home();
    let repository = app(&home);
    for (words, expected) in [
        (["with", "--", "echo", "it is -n"].as_slice(), "it is -n\n"),
        (&["with", "build", "echo", "built"], "built\n"),
    ] {
        let error = repository.agent("ada").run(words).expect(2).stderr();
        let commands: Vec<&str> =
            error.match_indices("clearway --agent").map(|(at, _)| &error[at..]).collect();
        let [command] = commands.as_slice() else { panic!("one command: {error}") };
        let output = home.shell(repository.path(), command.trim()).output().expect("a shell");
        assert_eq!(String::from_utf8_lossy(&output.stdout), expected, "{error}");
    }
}

#[test]
fn an_agent_whose_command_runs_loses_nothing_else_to_time() {
    let home = home();
    let repository = app(&home);
    repository.grant("ada", &["src/a.rs", "--ttl", "3s"]);
    repository.agent("ada").run(&["with", "build", "--ttl", "1m", "--", "sleep", "5"]).expect(0);
    assert!(!repository.kinds().contains(&"lease.expired".to_owned()), "its file is its own all the while");
}
