//! Connections that end at a bad moment, and transactions that the server gives up.

use crate::proxy::{Lose, Proxy};
use crate::support::{Actor, granted, operator, server};
use clearway_store::contract::StoreError;
use clearway_store_postgres::Server;
use std::time::Duration;

/// Disturbs the server: `act` happens whenever a row of `table` is written.
fn disturb(server: &Server, table: &str, act: &str) {
    let text = format!(
        "CREATE FUNCTION disturb() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN {act}; RETURN NEW; END $$; \
         CREATE TRIGGER disturb BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION disturb()"
    );
    operator(server).batch(&text).unwrap();
}

fn calm(server: &Server) {
    operator(server).batch("DROP FUNCTION disturb() CASCADE").unwrap();
}

#[test]
fn a_connection_cut_in_the_middle_of_a_transaction_leaves_nothing_half_done() {
    let server = server();
    let (mut ada, mut eve) = (Actor::new(&server, "ada"), Actor::new(&server, "eve"));
    ada.grant("before");
    let before = ada.kinds();
    // The scope's row is written last: events and leases are there already.
    disturb(&server, "scopes", "PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(600)");
    let answer = eve.reserve("f", None);
    assert!(matches!(answer, Err(StoreError::Unavailable { .. })), "{answer:?}");
    calm(&server);
    assert_eq!(ada.kinds(), before);
    ada.grant("f");
    assert!(granted(eve.reserve("f", None).unwrap()).is_none(), "the cut caller connects again, and is told");
}

#[test]
fn a_transaction_the_server_gives_up_is_store_busy_and_can_be_repeated() {
    let server = server();
    let mut ada = Actor::new(&server, "ada");
    ada.grant("before");
    let before = ada.kinds();
    for code in ["40001", "40P01"] {
        disturb(&server, "leases", &format!("RAISE EXCEPTION 'given up' USING ERRCODE = '{code}'"));
        let answer = ada.reserve("f", None);
        assert!(matches!(answer, Err(StoreError::Busy { .. })), "{answer:?}");
        calm(&server);
        assert_eq!(ada.kinds(), before);
    }
    ada.grant("f");
}

#[test]
fn a_commit_whose_answer_was_lost_is_answered_by_its_key() {
    let server = server();
    let proxy = Proxy::before(server.directory());
    let mut ada = Actor::at(proxy.directory.path(), "ada", Duration::from_secs(60));
    ada.grant("before");
    for (number, (lose, replayed)) in
        [(Lose::ItsAnswer, true), (Lose::TheCommit, false)].into_iter().enumerate()
    {
        proxy.lose_next(lose);
        let reply = ada.reserve(&format!("f{number}"), Some(&format!("k{number}"))).unwrap();
        assert_eq!(reply.replayed, replayed, "{lose:?}");
        assert!(granted(reply).is_some());
        assert_eq!(ada.count("lease.granted"), number + 2, "made once");
    }
}

#[test]
fn without_a_key_a_lost_answer_is_said_to_be_lost() {
    let server = server();
    let proxy = Proxy::before(server.directory());
    let mut ada = Actor::at(proxy.directory.path(), "ada", Duration::from_secs(60));
    for (lose, grants) in [(Lose::ItsAnswer, 1), (Lose::TheCommit, 1)] {
        proxy.lose_next(lose);
        let answer = ada.reserve(&format!("{lose:?}"), None);
        assert!(matches!(answer, Err(StoreError::Unsure { .. })), "{answer:?}");
        assert_eq!(ada.count("lease.granted"), grants, "{lose:?}");
    }
}
