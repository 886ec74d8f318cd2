//! From whom an agent takes mail.

use crate::ids::AgentId;
use std::collections::BTreeSet;

/// From whom an agent takes mail. A person at a terminal reaches everybody but those who take none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Policy {
    /// From everybody.
    #[default]
    Open,
    /// From contacts, in threads it is part of, from its family, and from those who wait for what it holds or hold what
    /// it waits for.
    Auto,
    /// From contacts and in threads it is part of.
    Contacts,
    /// From nobody.
    Block,
}

impl Policy {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Open, Self::Auto, Self::Contacts, Self::Block];

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Auto => "auto",
            Self::Contacts => "contacts",
            Self::Block => "block",
        }
    }

    /// The one of that word.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|policy| policy.word() == word)
    }
}

/// What an agent said about its mail.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// From whom it takes any.
    pub policy: Policy,
    /// Whom it takes mail from under every policy but `block`.
    pub contacts: BTreeSet<AgentId>,
}
