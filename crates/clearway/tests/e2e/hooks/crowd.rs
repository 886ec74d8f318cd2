//! Many clients at once.

use super::gate::invited;
use crate::{app, home};
use clearway_testkit::{Answer, Client};
use serde_json::Value;

/// Every answer is one of those a client understands, and none says that nothing was checked.
fn judge(answer: &Answer) -> bool {
    assert!([0, 2].contains(&answer.code), "{answer:#?}");
    assert!(!answer.stderr.starts_with("clearway:") && !answer.stdout.contains("not checked"), "{answer:#?}");
    if !answer.stdout.is_empty() {
        serde_json::from_str::<Value>(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {answer:#?}"));
    }
    answer.code == 0
}

#[test]
fn clients_that_edit_at_once_never_hold_the_same_changed_file() {
    let home = home();
    let app = app(&home);
    invited(&app);
    let passed: Vec<usize> = std::thread::scope(|scope| {
        let work = |number: usize| {
            let (home, app) = (&home, &app);
            move || {
                let mut client = Client::claude(home, app, &format!("c{number}"));
                let edits = (0..12).filter(|round| {
                    let file = format!("src/f{}.rs", (number + round) % 5);
                    let passes = judge(&client.before_edit(&file));
                    if passes {
                        app.write(&file, &format!("by c{number}\n"));
                        judge(&client.after_edit(&file));
                    }
                    passes
                });
                edits.count()
            }
        };
        let workers: Vec<_> = (0..5).map(|number| scope.spawn(work(number))).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker")).collect()
    });
    assert!(passed.iter().sum::<usize>() >= 5, "every file was somebody's: {passed:?}");
    assert_eq!(app.clearway().ok(&["audit", "verify"])["ok"], true);
}
