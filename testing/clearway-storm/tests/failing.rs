//! A storm that fails says its seed, keeps what it left, and tells how to repeat it.

use std::path::Path;
use std::process::Command;

/// Every call of it fails, so no storm comes far.
const BROKEN: &str = "/bin/false";

#[test]
fn a_storm_that_fails_keeps_its_stage_and_tells_how_to_repeat_it() {
    for storm in ["histories", "fairness", "wakeups", "night", "day"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_clearway-storm"));
        let options = format!("--seed 7 --binary {BROKEN} --operations 20 --small 0 --twins 0");
        let output = command.arg(storm).args(options.split(' ')).output().expect("it runs");
        let (said, complained) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(1), "{storm}: {said}{complained}");
        assert_eq!(said, format!("{storm}: seed 7\n"));
        assert!(
            complained.ends_with(&format!("repeat it with: clearway-storm {storm} {options}\n")),
            "{complained}"
        );
        let kept = complained.lines().find_map(|line| line.strip_prefix("kept: ")).map(Path::new);
        let kept = kept.unwrap_or_else(|| panic!("{storm} keeps nothing: {complained}"));
        assert!(kept.is_dir(), "{storm}: {}", kept.display());
        std::fs::remove_dir_all(kept).expect("what was kept can go");
    }
}
