//! `doctor --repair` under conditions it meets in practice: leases taken again and again, a store that another tool
//! has closed, and writers beside it.

use crate::arena::{Arena, home};
use crate::pauses::{StopAt, Stopped};

/// Deletes every live row, as a bad disk or a curious tool might.
fn lose_live_rows(arena: &Arena<'_>) {
    let connection = rusqlite::Connection::open(arena.store("")).expect("the database");
    connection.execute_batch("DELETE FROM leases").expect("rows of ours");
}

/// The tool that damaged the store closed it, so its log is folded in and gone: the same call that repairs it
/// must see what it wrote.
#[test]
fn a_repair_sees_its_own_work_and_answers_healthy() {
    let home = home();
    let arena = Arena::new(&home, "closed");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    lose_live_rows(&arena);
    assert!(!arena.store("-wal").exists());
    arena.run("ada", &["audit", "verify"]).refused(1, "audit-broken");
    let reply = arena.run("ada", &["doctor", "--repair"]).expect(0);
    assert_eq!(reply.value["healthy"], true);
    arena.audited().unwrap();
}

#[test]
fn a_repair_brings_back_leases_that_the_same_holder_took_and_gave_back_before() {
    let home = home();
    let arena = Arena::new(&home, "again");
    for _ in 0..8 {
        arena.run("ada", &["reserve", "a.rs", "b.rs", "c.rs"]).expect(0);
        arena.run("ada", &["release", "--all"]).expect(0);
    }
    arena.run("ada", &["reserve", "a.rs", "b.rs", "c.rs"]).expect(0);
    let before = arena.facts().unwrap();
    lose_live_rows(&arena);
    arena.run("ada", &["doctor", "--repair"]).expect(0);
    assert_eq!(arena.facts().unwrap(), before);
    arena.run("eve", &["reserve", "b.rs"]).refused(1, "reservation-held");
    arena.audited().unwrap();
}

/// The repair has read the log and stands still before its turn to write; meanwhile a lease is granted.
#[test]
fn a_repair_does_not_undo_what_was_granted_while_it_waited_for_its_turn() {
    let home = home();
    let arena = Arena::new(&home, "beside");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    lose_live_rows(&arena);
    let repair = Stopped::after(&arena, &["doctor", "--repair"], StopAt::First("openat"), "store.db-next");
    arena.run("bob", &["reserve", "b.rs"]).expect(0);
    repair.go_on().expect(0);
    arena.run("eve", &["reserve", "b.rs"]).refused(1, "reservation-held");
    arena.run("eve", &["reserve", "a.rs"]).refused(1, "reservation-held");
    arena.audited().unwrap();
}
