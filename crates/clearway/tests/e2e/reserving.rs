//! Several processes reserve, and are refused with a useful answer.

use crate::home;

#[test]
fn a_second_agent_is_refused_and_told_who_holds_it() {
    let home = home();
    let repository = home.repository("app", &[("src/a.rs", "")]);
    repository.clearway().agent("alice").json(&["reserve", "src/a.rs", "--reason", "refactoring"]).expect(0);
    let ran = repository.clearway().agent("bob").json(&["reserve", "src/a.rs"]).expect(1);
    let error = ran.slug("reservation-held");
    let blocker = &error["details"]["blockers"][0];
    assert_eq!((&blocker["agent"], &blocker["reason"]), (&"alice".into(), &"refactoring".into()));
}
