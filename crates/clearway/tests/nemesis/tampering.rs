//! Stores that were changed behind the product's back.

use crate::arena::{Arena, home};

/// The database is gone or empty, the gate beside it is not: going on would give out the same fences again.
#[test]
fn a_store_that_was_emptied_or_removed_is_missed_as_long_as_the_gate_remembers_it() {
    let home = home();
    let arena = Arena::new(&home, "emptied");
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    for how in ["emptied", "removed"] {
        let arena = arena.copy(how);
        for suffix in ["-wal", "-shm"] {
            std::fs::remove_file(arena.store(suffix)).unwrap();
        }
        match how {
            "emptied" => std::fs::write(arena.store(""), "").unwrap(),
            _ => std::fs::remove_file(arena.store("")).unwrap(),
        }
        arena.run("ada", &["audit", "verify"]).refused(1, "audit-broken");
        let refused = arena.run("ada", &["reserve", "b.rs"]).refused(69, "store-corrupt");
        assert!(refused.stdout.contains("gate"), "{refused:?}");
        std::fs::remove_file(arena.store("-gate")).unwrap();
        arena.run("ada", &["reserve", "b.rs"]).expect(0);
        arena.audited().unwrap();
    }
}
