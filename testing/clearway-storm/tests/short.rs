//! The short tier: every storm once, small enough for every change; `cargo xtask test` plays some of them again, larger
//! and with the released binary. Figures go to standard output; those that hang on the machine are not judged.

use clearway_storm::{Goals, Outcome, Programs, day, fairness, histories, night, pauses, wakeups};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The binary under test lies beside this crate's own; it is built first, so that it is never an old one.
fn programs() -> Programs {
    let storm = PathBuf::from(env!("CARGO_BIN_EXE_clearway-storm"));
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--locked", "--package", "clearway"]);
    build.args((!cfg!(debug_assertions)).then_some("--release"));
    let status = build.current_dir(env!("CARGO_MANIFEST_DIR")).status().expect("cargo runs");
    assert!(status.success(), "building clearway: {status}");
    Programs { clearway: storm.with_file_name("clearway"), storm }
}

#[track_caller]
fn passes(storm: Outcome<String>) {
    match storm {
        Ok(said) => println!("{said}"),
        Err(why) => panic!("{why}"),
    }
}

#[test]
fn histories_of_sixteen_processes_with_deaths_and_pauses_are_linearizable() {
    let effort = histories::Effort {
        seed: 1,
        operations: 400,
        histories: 1,
        clients: 16,
        small: 0,
        twins: 0,
        started_percent: 100,
    };
    passes(histories::run(&programs(), effort, &mut |line| print!("{line}")));
}

#[test]
fn histories_of_processes_that_live_from_death_to_death_are_linearizable() {
    let effort = histories::Effort {
        seed: 3,
        operations: 600,
        histories: 1,
        clients: 16,
        small: 0,
        twins: 150,
        started_percent: 10,
    };
    passes(histories::run(&programs(), effort, &mut |line| print!("{line}")));
}

#[test]
fn witness_and_search_agree_on_small_histories() {
    let effort = histories::Effort {
        seed: 2,
        operations: 0,
        histories: 0,
        clients: 0,
        small: 25,
        twins: 0,
        started_percent: 100,
    };
    passes(histories::run(&programs(), effort, &mut |line| print!("{line}")));
}

#[test]
fn two_processes_of_one_agent_reserve_beside_a_release_by_pattern_and_are_told_the_truth() {
    let effort = histories::Effort {
        seed: 7,
        operations: 0,
        histories: 0,
        clients: 0,
        small: 0,
        twins: 600,
        started_percent: 100,
    };
    passes(histories::run(&programs(), effort, &mut |line| print!("{line}")));
}

#[test]
fn beside_sixty_four_loopers_every_newcomer_is_served_and_nobody_is_told_that_the_store_is_busy() {
    let (every, goals) = (Duration::from_millis(100), Goals::Shown);
    let effort = fairness::Effort { seed: 6, loopers: 64, newcomers: 12, every, goals };
    passes(fairness::run(&programs(), effort));
}

#[test]
fn whoever_waits_is_woken_and_a_release_at_its_deadline_is_never_lost() {
    let effort = wakeups::Effort { seed: 3, hand_overs: 50, races: 60, goals: Goals::Shown };
    passes(wakeups::run(&programs(), effort));
}

#[test]
fn who_stood_still_too_long_is_refused_and_who_stands_in_the_way_is_named() {
    passes(pauses::run(&programs(), pauses::Effort { seed: 4, holders: 3, writers: 40 }));
}

#[test]
fn after_a_bad_night_the_log_verifies_and_everyone_was_answered() {
    passes(night::run(&programs(), night::Effort { seed: 5, rounds: 4 }));
}

#[test]
fn on_a_day_on_which_nothing_is_refused_work_is_lost() {
    let effort = day::Effort { seed: 1, minutes: 45, mode: day::Mode::Observe, goals: Goals::Shares };
    passes(day::run(&programs(), effort));
}
