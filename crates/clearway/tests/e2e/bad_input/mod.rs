//! Bad input: a specific slug, a hint, the documented exit code, and nothing written.

mod configuration;
mod paths;
mod stores;
mod words;

use crate::{app, home, list, text};
use clearway_testkit::{Files, Home, Ran, Repository};

/// The exit code that belongs to a slug, as the program itself documents it.
fn documented_code(repository: &Repository<'_>, slug: &str) -> i32 {
    let page = repository.clearway().ok(&["explain", slug]);
    page["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()).expect("a code")
}

/// Everything below the state and the repository.
fn everything(home: &Home) -> Files {
    Files::below(home.path()).without("-shm")
}

#[track_caller]
fn check(home: &Home, repository: &Repository<'_>, slug: &str, act: impl Fn(&Repository<'_>) -> Ran) {
    let before = everything(home);
    let ran = act(repository);
    before.assert_same(&everything(home), &format!("bad input ({slug})"));
    let error = ran.slug(slug);
    assert_eq!(ran.code(), documented_code(repository, slug), "{error}");
    assert!(!list(&error, "hints").is_empty(), "no hint: {error:#}");
    assert!(!text(&error, "message").chars().any(char::is_control), "{error:#}");
}

/// The same before there is a store and after.
#[track_caller]
fn check_words(slug: &str, words: &[&str]) {
    let home = home();
    let repository = app(&home);
    check(&home, &repository, slug, |repository| repository.agent("alice").json(words));
    repository.grant("alice", &["held.rs"]);
    check(&home, &repository, slug, |repository| repository.agent("alice").json(words));
}
