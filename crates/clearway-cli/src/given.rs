//! The flags a caller gave that a suggested command has to repeat, so that it means the same caller, scope and store.

use clearway_core::decide::Notice;
use clearway_core::failure::Failure;
use clearway_core::hint::Hint;
use clearway_kernel::Globals;
use clearway_wire::json::NoticeJson;

/// Verbs that ask nothing of a caller, a scope or a store.
const ASK_NOTHING: [&str; 3] = ["explain", "help", "man"];

/// Verbs of people, which are suggested to others than them, and not in the name of who is told.
const OF_PEOPLE: [&str; 1] = ["resume"];

/// The flag that says in whose name a command acts.
const AGENT: &str = "--agent";

/// Such flags with their values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Given(Vec<(&'static str, String)>);

impl Given {
    /// None at all.
    pub(crate) const NOTHING: Self = Self(Vec::new());

    /// Those of a command line.
    pub(crate) fn of(globals: &Globals) -> Self {
        let directory = globals.directory.as_ref().map(|directory| directory.display().to_string());
        let given = [
            ("-C", directory),
            ("--store", globals.store.clone()),
            ("--scope", globals.scope.clone()),
            (AGENT, globals.agent.clone()),
        ];
        Self(given.into_iter().filter_map(|(flag, value)| Some((flag, value?))).collect())
    }

    /// A piece of advice whose command means what the caller means.
    pub(crate) fn hint(&self, mut hint: Hint) -> Hint {
        if !is_about(&hint, &ASK_NOTHING) {
            let is_for_caller = hint.is_for_caller() && !is_about(&hint, &OF_PEOPLE);
            let given = self.0.iter().filter(|(flag, _)| is_for_caller || *flag != AGENT);
            given.for_each(|(flag, value)| hint.run_with(flag, value));
        }
        hint
    }

    /// A failure whose hints do the same.
    pub(crate) fn failure(&self, failure: &Failure) -> Failure {
        let hints = failure.hints.iter().map(|hint| self.hint(hint.clone())).collect();
        Failure { hints, ..failure.clone() }
    }

    /// Things to know beside an answer, whose commands do the same.
    pub(crate) fn notices<'n>(&self, notices: impl IntoIterator<Item = &'n Notice>) -> Vec<NoticeJson> {
        notices.into_iter().map(|notice| NoticeJson::new(notice, |hint| self.hint(hint))).collect()
    }

    /// The same for a sentence that ends with a command.
    pub(crate) fn advice(&self, text: &str) -> String {
        self.hint(Hint::from(text)).to_string()
    }
}

/// Whether a hint has one of these verbs, or no command at all.
fn is_about(hint: &Hint, verbs: &[&str]) -> bool {
    let Hint::Command { words, .. } = hint else { return true };
    words.split(' ').next().is_some_and(|verb| verbs.contains(&verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given() -> Given {
        Given::of(&Globals {
            directory: Some("/a b".into()),
            agent: Some("ada".to_owned()),
            ..Globals::default()
        })
    }

    #[test]
    fn a_command_means_the_caller_the_scope_and_the_store() {
        assert_eq!(
            given().advice("your turn: clearway wait abcdefgh"),
            "your turn: clearway -C '/a b' --agent ada wait abcdefgh"
        );
        assert_eq!(given().advice("make room on that disk"), "make room on that disk");
    }

    #[test]
    fn an_operator_is_told_no_name() {
        let hint = Hint::for_operator("a person may end it: clearway wait --cancel ID --reason TEXT");
        assert_eq!(
            given().hint(hint).to_string(),
            "a person may end it: clearway -C '/a b' wait --cancel ID --reason TEXT"
        );
    }

    #[test]
    fn a_verb_that_asks_nothing_is_told_nothing() {
        assert_eq!(
            given().advice("the rules: clearway explain invalid-path"),
            "the rules: clearway explain invalid-path"
        );
    }
}
