//! A command inside a command.

use super::{Diary, WAITS_FOR_GO};
use crate::{home, text};
use clearway_testkit::{Home, Repository};
use serde_json::Value;
use std::process::{Child, Stdio};

#[test]
fn a_command_inside_a_command_takes_more_but_never_waits_for_itself() {
    let home = home();
    let repository = home.repository("app", &[]);
    let line = |inner: &str| {
        let line = format!("export CLEARWAY_AGENT=ada; clearway with build -- clearway with {inner}");
        home.shell(repository.path(), &line).output().expect("a shell")
    };
    let ran = line("test --wait 5m -- echo ran");
    assert_eq!((ran.status.code(), ran.stdout), (Some(0), b"ran\n".to_vec()));
    let refused = line("build --wait 5m -- echo ran");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!((refused.status.code(), refused.stdout), (Some(125), Vec::new()), "{said}");
    assert!(said.contains("error[would-deadlock]"), "{said}");
}

#[test]
fn inside_a_command_nobody_waits_for_what_it_holds() {
    let home = home();
    let repository = home.repository("app", &[]);
    let inside = |inner: &str| {
        let line = format!("export CLEARWAY_AGENT=ada; clearway with build -- clearway {inner}");
        home.shell(repository.path(), &line).output().expect("a shell")
    };
    for (inner, code) in [
        ("reserve --kind name build", 1),
        ("reserve --wait 5m --kind name build", 1),
        ("reserve --queue --kind name build", 1),
        ("reserve --queue --kind name build other", 1),
        ("--agent bob reserve --queue --kind name build", 1),
        ("with build -- true", 125),
    ] {
        let refused = inside(inner);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(code), "{inner}: {said}");
        assert!(
            said.contains("error[would-deadlock]") && said.contains("run it as it is"),
            "{inner}: {said}"
        );
        assert!(!said.contains("--wait"), "{inner}: {said}");
        repository.agent("bob").run(&["with", "build", "--", "true"]).expect(0);
    }
    repository.write(".clearway.toml", "[resources]\nbuild = 2\n");
    assert_eq!(
        inside("reserve --queue --kind name build").status.code(),
        Some(0),
        "there is room for another"
    );
}

/// A command that can call the binary itself.
fn outer(home: &Home, repository: &Repository<'_>, diary: &Diary, words: &[&str]) -> Child {
    let mut command = home.program(repository.path(), home.binary(), words);
    command.env("LOG", &diary.log).env("GO", &diary.go).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("it starts")
}

/// Nobody is told to give back what cannot be given back.
#[test]
fn who_would_wait_for_ever_is_told_what_can_be_done_about_it() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    repository.grant("bob", &["docs/"]);
    let inside = format!("{WAITS_FOR_GO}\nclearway --agent ada reserve docs/ --wait 5m --json");
    let holder =
        outer(&home, &repository, &diary, &["--agent", "ada", "with", "build", "--", "sh", "-c", &inside]);
    diary.expect("begin", 1);
    repository.agent("bob").ok(&["reserve", "--queue", "--kind", "name", "build"]);
    repository.agent("ada").ok(&["reserve", "--queue", "docs/"]);
    repository.agent("ada").ok(&["wait", "--cancel"]);
    diary.let_go();
    let output = holder.wait_with_output().expect("it ends");
    let error: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let (error, hints) = (&error["error"], error["error"]["hints"].to_string());
    assert_eq!((output.status.code(), text(error, "slug")), (Some(1), "would-deadlock"), "{error:#}");
    assert!(hints.contains("if bob gives back docs/") && !hints.contains("release"), "{error:#}");
}

#[test]
fn commands_that_wait_inside_for_what_the_other_runs_under_are_refused() {
    let home = home();
    let (repository, diary) = (home.repository("app", &[]), Diary::new(&home));
    let nested = |name: &str, holds: &str, inner: &str| {
        let inside = format!("{WAITS_FOR_GO}\nexec clearway --agent {name} with {inner} --wait 5m -- true");
        outer(&home, &repository, &diary, &["--agent", name, "with", holds, "--", "sh", "-c", &inside])
    };
    let (one, two) = (nested("ada", "build", "test"), nested("bob", "test", "build"));
    diary.expect("begin", 2);
    diary.let_go();
    let ended = [one, two].map(|child| child.wait_with_output().expect("it ends"));
    let mut codes = ended.iter().map(|output| output.status.code()).collect::<Vec<_>>();
    codes.sort_unstable();
    assert_eq!(codes, [Some(0), Some(125)], "{ended:?}");
    let said = ended.iter().map(|output| String::from_utf8_lossy(&output.stderr)).collect::<String>();
    assert!(said.contains("error[would-deadlock]"), "{said}");
}
