//! What git itself is asked, in real worktrees with misleading variables set.

mod support;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::process::Command;
use std::time::Duration;

use clearway_git::{Git, GitError};
use clearway_platform::environment::Environment;
use support::Sandbox;

#[test]
fn tracked_files_are_listed_under_their_own_names() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    let names = ["a b", "app/[id]/page.tsx", "new\nline", "quote\"", "ümlaut", "-dash"];
    for name in names {
        sandbox.write(&format!("repo/{name}"), "");
    }
    sandbox.write("repo/untracked-later", "");
    sandbox.git("repo", &["add", "."]);
    sandbox.git("repo", &["rm", "--quiet", "--cached", "untracked-later"]);
    let mut expect: Vec<&str> = names.into_iter().chain(["file"]).collect();
    expect.sort_unstable();
    assert_eq!(sandbox.locate().tracked_files(&root).unwrap(), expect);
}

#[test]
fn names_that_are_not_text_are_counted_and_left_out() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    fs::write(root.join(OsStr::from_bytes(b"\xff\xfe")), "").unwrap();
    sandbox.git("repo", &["add", "."]);
    let files = sandbox.locate().tracked_files(&root).unwrap();
    assert_eq!(files, ["file"]);
}

#[test]
fn an_unmerged_file_is_listed_once_and_dirty() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.git("repo", &["checkout", "--quiet", "-b", "other"]);
    sandbox.write("repo/file", "theirs\n");
    sandbox.git("repo", &["commit", "--quiet", "--all", "--message=theirs"]);
    sandbox.git("repo", &["checkout", "--quiet", "main"]);
    sandbox.write("repo/file", "ours\n");
    sandbox.git("repo", &["commit", "--quiet", "--all", "--message=ours"]);
    sandbox.git_refuses("repo", &["merge", "--quiet", "other"]);
    let git = sandbox.locate();
    assert_eq!(git.tracked_files(&root).unwrap(), ["file"]);
    assert!(git.are_dirty(&root, &["file"]).unwrap()[0]);
}

#[test]
fn a_file_is_dirty_when_changed_staged_deleted_or_untracked() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    for name in ["changed", "staged", "deleted", "clean"] {
        sandbox.write(&format!("repo/{name}"), "old\n");
    }
    sandbox.git("repo", &["add", "."]);
    sandbox.git("repo", &["commit", "--quiet", "--message=more"]);
    sandbox.write("repo/changed", "new text\n");
    sandbox.write("repo/staged", "new text\n");
    sandbox.git("repo", &["add", "staged"]);
    fs::remove_file(root.join("deleted")).unwrap();
    sandbox.write("repo/untracked", "");
    let git = sandbox.locate();
    let check = |path, expect| assert_eq!(git.are_dirty(&root, &[path]).unwrap()[0], expect, "{path}");
    check("changed", true);
    check("staged", true);
    check("deleted", true);
    check("untracked", true);
    check("clean", false);
    check("absent", false);
    let all = ["changed", "clean", "untracked", "absent"];
    let dirty: Vec<String> = git.dirty_paths(&root, &all).unwrap().into_iter().collect();
    assert_eq!(dirty, ["changed", "untracked"]);
}

#[test]
fn a_moved_file_is_dirty_under_both_names() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.git("repo", &["mv", "file", "moved"]);
    let git = sandbox.locate();
    assert!(git.are_dirty(&root, &["file"]).unwrap()[0]);
    assert!(git.are_dirty(&root, &["moved"]).unwrap()[0]);
}

#[test]
fn a_directory_is_dirty_through_what_is_below_it() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.write("repo/dir/deep/new", "");
    let git = sandbox.locate();
    let below: Vec<String> = git.dirty_paths(&root, &["dir"]).unwrap().into_iter().collect();
    assert_eq!(below, ["dir/deep/new"]);
    assert!(git.are_dirty(&root, &[""]).unwrap()[0]);
    assert!(!git.are_dirty(&root, &["file"]).unwrap()[0]);
}

#[test]
fn no_paths_means_no_question_and_not_the_whole_worktree() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.write("repo/new", "");
    assert!(sandbox.locate().dirty_paths(&root, &[]).unwrap().is_empty());
}

#[test]
fn paths_are_literal_whatever_they_look_like() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    let names = ["app/[id]/page.tsx", "*", ":(top)file", ":!file", "-v", "--help", "a\nb"];
    for name in names {
        sandbox.write(&format!("repo/{name}"), "");
    }
    let git = sandbox.locate();
    for name in names {
        let dirty: Vec<String> = git.dirty_paths(&root, &[name]).unwrap().into_iter().collect();
        assert_eq!(dirty, [name]);
    }
    assert!(!git.are_dirty(&root, &["app/?id]/page.tsx"]).unwrap()[0]);
}

#[test]
fn thousands_of_paths_are_asked_in_pieces() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.write("repo/new", "");
    let absent: Vec<String> =
        (0..3_000).map(|n| format!("{}/{n}", "long-directory-name".repeat(10))).collect();
    let paths: Vec<&str> = absent.iter().map(String::as_str).chain(["new"]).collect();
    let dirty: Vec<String> = sandbox.locate().dirty_paths(&root, &paths).unwrap().into_iter().collect();
    assert_eq!(dirty, ["new"]);
}

#[test]
fn what_happens_inside_a_submodule_does_not_make_the_outer_repository_dirty() {
    let sandbox = Sandbox::new();
    let library = sandbox.repository("library");
    let outer = sandbox.repository("outer");
    sandbox.git("outer", &["submodule", "--quiet", "add", library.to_str().unwrap(), "lib"]);
    sandbox.git("outer", &["commit", "--quiet", "--message=lib"]);
    let git = sandbox.locate();
    sandbox.write("outer/lib/file", "changed\n");
    sandbox.write("outer/lib/new", "");
    assert!(!git.are_dirty(&outer, &["lib"]).unwrap()[0]);
    sandbox.git("outer/lib", &["commit", "--quiet", "--all", "--message=on"]);
    assert!(git.are_dirty(&outer, &["lib"]).unwrap()[0]);
    assert_eq!(git.tracked_files(&outer).unwrap(), [".gitmodules", "file", "lib"]);
}

#[test]
fn an_untracked_repository_is_dirty_as_one_path() {
    let sandbox = Sandbox::new();
    let outer = sandbox.repository("outer");
    sandbox.repository("outer/inner");
    let dirty: Vec<String> = sandbox.locate().dirty_paths(&outer, &[""]).unwrap().into_iter().collect();
    assert_eq!(dirty, ["inner"]);
}

#[test]
fn asking_leaves_the_index_as_it_was() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    let later = std::time::SystemTime::now() + Duration::from_secs(5);
    fs::File::options().write(true).open(root.join("file")).unwrap().set_modified(later).unwrap();
    let index = fs::read(root.join(".git/index")).unwrap();
    assert!(!sandbox.locate().are_dirty(&root, &["file"]).unwrap()[0]);
    assert_eq!(fs::read(root.join(".git/index")).unwrap(), index);
}

#[test]
fn a_program_named_by_the_repository_is_not_run() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    let trace = sandbox.at("was-run");
    let hook = sandbox.write("hook", &format!("#!/bin/sh\ntouch '{}'\n", trace.display()));
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    sandbox.git("repo", &["config", "core.fsmonitor", hook.to_str().unwrap()]);
    sandbox.locate().are_dirty(&root, &["file"]).unwrap();
    assert!(!trace.exists());
}

#[test]
fn a_directory_without_a_repository_is_gits_own_refusal() {
    let sandbox = Sandbox::new();
    fs::create_dir(sandbox.at("plain")).unwrap();
    let error = sandbox.locate().tracked_files(&sandbox.at("plain")).unwrap_err();
    assert!(matches!(error, GitError::Failed { .. }), "{error:?}");
    assert!(error.to_string().contains("not a git repository"), "{error}");
    let error = sandbox.locate().tracked_files(&sandbox.at("absent")).unwrap_err();
    assert!(matches!(error, GitError::Run { .. }), "{error:?}");
}

#[test]
fn git_is_looked_for_in_absolute_directories_of_the_path_only() {
    let sandbox = Sandbox::new();
    sandbox.write("tools/git", "#!/bin/sh\n");
    let check = |path: String| {
        let vars = [("PATH".into(), path.clone().into())].into();
        let error = Git::locate(&Environment { vars, ..Environment::default() }).unwrap_err();
        assert!(matches!(error, GitError::Missing), "{path}: {error:?}");
    };
    check(String::new());
    check("/no/such/directory".to_owned());
    check(".:tools:".to_owned());
    check(sandbox.at("tools").display().to_string());
    assert!(Git::locate(&Environment::default()).is_err());
}

/// A program called git that does what the script says, for what the real one does only rarely.
fn strange_git(sandbox: &Sandbox, script: &str) -> Git {
    let written = sandbox.write("strange/script", &format!("#!/bin/sh\n{script}\n"));
    // Copied by another process: a file this one has had open for writing may still be open in a
    // child that a parallel test is starting, and then it cannot be run.
    let mut install = Command::new("install");
    assert!(
        install.args(["-m", "700"]).arg(&written).arg(sandbox.at("strange/git")).status().unwrap().success()
    );
    let mut environment = sandbox.environment();
    let mut path = sandbox.at("strange").into_os_string();
    path.push(":");
    path.push(environment.var("PATH").unwrap());
    environment.vars.insert("PATH".into(), path);
    Git::locate(&environment).unwrap()
}

/// The strange git wrote down which process it is before anything else.
fn must_be_ended(sandbox: &Sandbox) {
    let pid = fs::read_to_string(sandbox.at("strange/pid")).expect("it began");
    assert_eq!(clearway_platform::process::state_of(pid.trim().parse().expect("a number")), None);
}

#[test]
fn a_git_that_does_not_come_back_is_ended() {
    let sandbox = Sandbox::new();
    let git =
        strange_git(&sandbox, "echo $$ > pid; exec sleep 1000").with_timeout(Duration::from_millis(200));
    let error = git.tracked_files(&sandbox.at("strange")).unwrap_err();
    assert!(matches!(error, GitError::TimedOut { .. }), "{error:?}");
    must_be_ended(&sandbox);
}

#[test]
fn a_git_that_said_everything_and_does_not_end_is_ended() {
    let sandbox = Sandbox::new();
    let script = "echo $$ > pid; printf 'a\\0'; exec >&- 2>&-; exec sleep 1000";
    let git = strange_git(&sandbox, script).with_timeout(Duration::from_millis(500));
    let error = git.tracked_files(&sandbox.at("strange")).unwrap_err();
    assert!(matches!(error, GitError::TimedOut { .. }), "{error:?}");
    must_be_ended(&sandbox);
}

#[test]
fn a_git_that_warns_at_length_is_heard_to_the_end() {
    let sandbox = Sandbox::new();
    let git = strange_git(&sandbox, "yes warning | head -c 1000000 >&2; printf 'a\\0b\\0'");
    assert_eq!(git.tracked_files(&sandbox.at("strange")).unwrap(), ["a", "b"]);
}

#[test]
fn a_git_ended_by_a_signal_has_failed() {
    let sandbox = Sandbox::new();
    let git = strange_git(&sandbox, "kill -KILL $$");
    let error = git.are_dirty(&sandbox.at("strange"), &["x"]).unwrap_err();
    assert!(matches!(error, GitError::Failed { .. }), "{error:?}");
}

#[test]
fn several_paths_are_asked_about_at_once_and_told_apart() {
    let sandbox = Sandbox::new();
    let root = sandbox.repository("repo");
    sandbox.write("repo/file2", "new");
    sandbox.write("repo/src/c.rs", "new");
    let dirty = sandbox.locate().are_dirty(&root, &["file", "file2", "src", "fil"]).unwrap();
    assert_eq!(dirty, [false, true, true, false]);
}
