//! Another boot of the machine, and another clock on the same boot.

use crate::arena::{Arena, Reply, home};
use clearway_testkit::namespace::Namespace;

/// The fence's epoch.
fn epoch(fence: &serde_json::Value) -> u64 {
    fence.as_u64().unwrap() >> 40
}

#[test]
fn a_new_boot_frees_every_lease_at_once_records_each_once_and_keeps_fences_rising() {
    let home = home();
    let arena = Arena::new(&home, "reboot");
    let old = arena.run("ada", &["reserve", "a.rs", "b.rs", "c.rs"]).expect(0);
    let before = std::fs::read(arena.store("-wal")).unwrap();
    let boot = Namespace::of_boot(home.path(), "0b5e5a1e-0000-4000-8000-000000000001");
    let run = |agent: &str, arguments: &[&str]| Reply::of(boot.enter(arena.command(agent, arguments)));

    assert_eq!(run("eve", &["check", "a.rs"]).expect(0).value["clear"], true);
    assert_eq!(run("eve", &["who", "a.rs"]).expect(0).value["holders"], serde_json::json!([]));
    assert_eq!(std::fs::read(arena.store("-wal")).unwrap(), before, "looking writes nothing");

    let new = run("eve", &["reserve", "a.rs"]).expect(0);
    let (old_fence, new_fence) = (&old.value["leases"][2]["fence"], &new.value["leases"][0]["fence"]);
    assert!(new_fence.as_u64() > old_fence.as_u64());
    assert_eq!((epoch(old_fence), epoch(new_fence)), (1, 2));
    let stale = format!("{}@{old_fence}", old.value["leases"][0]["id"].as_str().unwrap());
    assert_eq!(run("ada", &["renew", &stale]).code, 4);
    let expired = run("eve", &["events", "--kind", "lease.expired"]).expect(0).stdout;
    assert_eq!(expired.lines().count(), 3);
    assert!(expired.lines().all(|line| line.contains("\"cause\":\"reboot\"")), "{expired}");
    run("auditor", &["audit", "verify"]).expect(0);
    run("auditor", &["doctor"]).expect(0);
    let history = arena.history().unwrap();
    assert_eq!((history.epoch, history.live.len(), history.count("epoch.began")), (2, 1, 2));
}

/// All who come first after a boot see the same change of epoch, and only one of them writes it.
#[test]
fn twelve_processes_after_a_new_boot_begin_one_epoch_and_have_one_winner() {
    let home = home();
    let arena = Arena::new(&home, "morning");
    arena.run("ada", &["reserve", "a.rs", "b.rs"]).expect(0);
    let boot = Namespace::of_boot(home.path(), "0b5e5a1e-0000-4000-8000-000000000002");
    let start = |number: usize| {
        crate::arena::started(boot.enter(arena.command(&format!("new-{number}"), &["reserve", "a.rs"])))
    };
    let children: Vec<_> = (0..12).map(start).collect();
    let won = children.into_iter().map(Reply::wait).filter(|reply| {
        assert!(matches!(reply.code, 0 | 1), "{reply:?}");
        reply.code == 0
    });
    assert_eq!(won.count(), 1);
    let history = arena.history().unwrap();
    assert_eq!((history.epoch, history.count("lease.expired")), (2, 2));
}

/// Deadlines of one time namespace mean nothing in another, so a change of namespace ends the epoch like a boot:
/// nobody keeps a lease for ever because his clock is ahead, and no fence is given out twice.
#[test]
fn another_time_namespace_is_another_clock_and_begins_an_epoch_of_its_own() {
    const DAY_S: u32 = 86_400;
    let home = home();
    let arena = Arena::new(&home, "ahead");
    arena.run("ada", &["reserve", "a.rs", "--ttl", "24h"]).expect(0);
    let ahead = Namespace::of_time(DAY_S);
    let run = |agent: &str, arguments: &[&str]| Reply::of(ahead.enter(arena.command(agent, arguments)));
    let there = run("bob", &["reserve", "b.rs", "--ttl", "24h"]).expect(0);
    assert_eq!(epoch(&there.value["leases"][0]["fence"]), 2);
    assert!(there.value["leases"][0]["expires_in_ms"].as_u64().unwrap() <= u64::from(DAY_S) * 1_000);
    run("bob", &["renew"]).expect(0);
    run("eve", &["reserve", "b.rs"]).refused(1, "reservation-held");
    assert_eq!(arena.run("eve", &["check", "b.rs"]).expect(0).value["clear"], true);
    let back = arena.run("eve", &["reserve", "b.rs"]).expect(0);
    assert_eq!(epoch(&back.value["leases"][0]["fence"]), 3);
    assert_eq!(run("bob", &["renew"]).expect(0).value["leases"], serde_json::json!([]));
    let history = arena.history().unwrap();
    assert_eq!(history.count("lease.expired"), 3);
}

/// The kernel gives the number of a namespace that is gone to the next one, so the number alone tells no clock.
#[test]
fn a_clock_with_the_number_of_an_earlier_one_is_another_clock_all_the_same() {
    const DAY_S: u32 = 86_400;
    let home = home();
    let arena = Arena::new(&home, "reused");
    for _ in 0..4 {
        for (agent, ahead_s) in [("ada", DAY_S), ("eve", 0)] {
            let clock = Namespace::of_time(ahead_s);
            Reply::of(clock.enter(arena.command(agent, &["reserve", "a.rs"]))).expect(0);
        }
    }
    assert_eq!(arena.history().unwrap().count("lease.expired"), 7);
}
