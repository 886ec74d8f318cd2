//! Projections are the fold of the log, and can be made from it.

use crate::support::{Actor, operator, scope, server};
use clearway_store::contract::{Engine, StoreError};
use clearway_store::verify;

#[test]
fn a_projection_that_lies_is_found_and_made_anew_from_the_log() {
    let server = server();
    let mut ada = Actor::new(&server, "ada");
    let (kept, given_back) = (ada.grant("f"), ada.grant("g"));
    ada.release(&given_back).unwrap();
    let whole = ada.kinds();
    let harm = format!(
        "UPDATE leases SET reason = 'forged' WHERE id = '{}'; DELETE FROM leases WHERE id = '{}'; \
         UPDATE scopes SET live_leases = 7",
        kept.lease.id, given_back.lease.id
    );
    operator(&server).batch(&harm).unwrap();
    let mut snapshot = ada.engine.snapshot(&scope()).unwrap().unwrap();
    let report = verify::verify(&mut *snapshot, &scope(), &[]).unwrap();
    drop(snapshot);
    assert_eq!((report.broken, report.stale_projections.len()), (None, 3), "{:?}", report.stale_projections);
    ada.engine.rebuild(&scope(), &report.state).unwrap();
    assert_eq!(ada.kinds(), whole);
    ada.grant("h");
    ada.kinds();
}

#[test]
fn a_changed_event_is_found() {
    let server = server();
    let mut ada = Actor::new(&server, "ada");
    ada.grant("f");
    operator(&server).batch("UPDATE events SET bytes = bytes || '\\x00' WHERE seq = 3").unwrap();
    let mut snapshot = ada.engine.snapshot(&scope()).unwrap().unwrap();
    let report = verify::verify(&mut *snapshot, &scope(), &[]).unwrap();
    assert_eq!(report.broken.unwrap().seq.0, 3);
}

#[test]
fn a_database_without_the_tables_is_unavailable_and_stays_as_it_is() {
    let server = server();
    operator(&server).batch("DROP TABLE store").unwrap();
    let settings = clearway_store_postgres::Settings {
        directory: server.directory().to_owned(),
        timeout: std::time::Duration::from_secs(5),
        clock: clearway_store_postgres::Clock::Server,
    };
    let refused = clearway_store_postgres::PostgresEngine::connect(settings);
    assert!(matches!(refused, Err(StoreError::Unavailable { .. })), "{refused:?}");
}
