//! Whose an entry of what was put aside is, and who may take it.
//!
//! All checkouts of a repository share one list, and git takes its first entry whoever made it. What an agent takes is its
//! own; what is somebody else's it takes only by its number, and never while that somebody is there.

use crate::agent::AgentName;

/// Who put an entry aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Maker {
    /// The caller or somebody of its family, in this checkout.
    Own,
    /// The same in another checkout.
    OwnElsewhere,
    /// An agent that is still there.
    Other(AgentName),
    /// An agent that is gone.
    Gone(AgentName),
    /// A person, or somebody of whom nothing is known.
    Unknown,
}

impl Maker {
    /// Whether an agent may take its entry: `is_named` says that it named it.
    pub fn may_be_taken(&self, is_named: bool) -> bool {
        match self {
            Self::Own => true,
            Self::Other(_) => false,
            Self::OwnElsewhere | Self::Gone(_) | Self::Unknown => is_named,
        }
    }

    /// Whose it is, behind the name of the entry.
    pub fn whose(&self) -> String {
        match self {
            Self::Own => "is yours".to_owned(),
            Self::OwnElsewhere => "is yours, of another checkout".to_owned(),
            Self::Other(name) => format!("is {name}'s"),
            Self::Gone(name) => format!("was put aside by {name}, who is gone"),
            Self::Unknown => "was put aside by nobody who is known here".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_ones_own_is_taken_by_name_and_never_from_somebody_who_is_there() {
        let bob = AgentName::parse("bob").unwrap();
        for (maker, unnamed, named) in [
            (Maker::Own, true, true),
            (Maker::OwnElsewhere, false, true),
            (Maker::Unknown, false, true),
            (Maker::Gone(bob.clone()), false, true),
            (Maker::Other(bob), false, false),
        ] {
            assert_eq!((maker.may_be_taken(false), maker.may_be_taken(true)), (unnamed, named), "{maker:?}");
        }
    }
}
