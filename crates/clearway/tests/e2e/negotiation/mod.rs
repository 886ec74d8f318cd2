//! Asking for what somebody holds: through the command line and the hooks, with real processes and a real store.

mod asking;
mod forcing;
mod fulfilling;
mod runbook;
mod stopping;
mod told;

use crate::{open_store, text};
use clearway_core::pattern::Fold;
use clearway_core::time::Mono;
use clearway_testkit::{Home, Repository};
use clearway_wire::negotiating;
use serde_json::Value;

/// Asks as somebody; the one request that comes of it.
#[track_caller]
fn ask(repository: &Repository<'_>, who: &str, words: &[&str]) -> Value {
    let reply = repository.agent(who).ok(&[&["ask"], words].concat());
    assert_eq!(reply["negotiations"].as_array().map(Vec::len), Some(1), "{reply}");
    reply["negotiations"][0].clone()
}

/// The same, and its id alone.
#[track_caller]
pub(crate) fn asked(repository: &Repository<'_>, who: &str, path: &str) -> String {
    text(&ask(repository, who, &[path, "the release waits for it"]), "id").to_owned()
}

/// Events of a kind.
fn of_kind(repository: &Repository<'_>, kind: &str) -> Vec<Value> {
    repository.events().into_iter().filter(|event| event["kind"] == kind).collect()
}

/// A PATH on which git fails, whatever it is asked.
fn failing_git(home: &Home) -> String {
    let directory = home.directory("failing-git");
    let git = directory.join("git");
    std::fs::write(&git, "#!/bin/sh\necho out of order >&2; exit 1\n").expect("a script");
    std::fs::set_permissions(&git, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("a mode");
    format!("{}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", directory.display())
}

/// Lets time pass for everything that the store remembers an instant of: no process has to be there meanwhile, and none
/// is. The instants lie on the clock of the boot that commands of this home see, which nothing moves.
pub(crate) fn pass(home: &Home, minutes: u64) {
    let ms = minutes * 60_000;
    let store = open_store(home);
    for (table, columns) in [
        ("presence", &["last_seen"][..]),
        ("leases", &["granted", "deadline", "check_at"]),
        ("waits", &["until", "since", "offered_until"]),
    ] {
        for column in columns {
            let early = format!("SELECT count(*) FROM {table} WHERE {column} < {ms}");
            let early: u64 = store.query_row(&early, [], |row| row.get(0)).expect("a count");
            assert_eq!(early, 0, "this needs a home long after boot");
            let change = format!("UPDATE {table} SET {column} = {column} - {ms} WHERE {column} IS NOT NULL");
            store.execute_batch(&change).expect("a change");
        }
    }
    let mut rows = store.prepare("SELECT id, body FROM negotiations").expect("a table");
    let rows: Vec<(String, Vec<u8>)> =
        rows.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).and_then(Iterator::collect).expect("rows");
    let earlier = |instant: Mono| Mono(instant.0.checked_sub(ms).expect("an instant after boot"));
    for (id, body) in rows {
        let mut negotiation = negotiating::decode(&body, Fold::Exact).expect("a negotiation");
        negotiation.deadline = earlier(negotiation.deadline);
        negotiation.since = earlier(negotiation.since);
        if let Some(until) = negotiation.later() {
            negotiation.state = clearway_core::negotiation::NegotiationState::Later(earlier(until));
        }
        let body = negotiating::encode(&negotiation);
        store
            .execute("UPDATE negotiations SET body = ? WHERE id = ?", rusqlite::params![body, id])
            .expect("a row");
    }
}
