//! The table of keys. It drives reading, checking, safety, `config show`, the environment and the documentation; a
//! new key is one row, one [`KeyId`] and one getter.

use clearway_core::agent::NOBODYS_NAMES;
use clearway_core::limits;
use clearway_core::mail::{MESSAGE_KEPT_MS, MESSAGES_PER_SCOPE_MAX};
use std::time::Duration;

use super::classes::Class;
use super::location;
use super::postures;
use super::value::Value;
use clearway_core::text::is_plain_name;

pub(super) const CLAIMED_TTL_DEFAULT: Duration = Duration::from_millis(limits::TTL_MS_CLAIMED);
pub(super) const BROAD_FILES_DEFAULT: u64 = limits::BROAD_FILES;
pub(super) const STORE_TIMEOUT_DEFAULT: Duration = Duration::from_secs(5);
/// The variable that names an agent.
pub const AGENT_VARIABLE: &str = "CLEARWAY_AGENT";
pub(super) const MODE_OBSERVE: &str = "observe";
pub(super) const MODE_WARN: &str = "warn";
pub(super) const MODE_ENFORCE: &str = "enforce";
static MODES: [&str; 3] = [MODE_OBSERVE, MODE_WARN, MODE_ENFORCE];
pub(super) const ON: &str = "true";
/// From the less to the more careful.
pub(super) static SWITCH: [&str; 2] = ["false", ON];
pub(super) const DURABILITY_NORMAL: &str = "normal";
pub(super) const DURABILITY_FULL: &str = "full";

/// What a layer that may not lower safety can shorten a claim to: below it a lease ends under a holder who only thinks.
const CLAIMED_TTL_SAFE_MIN: Duration = Duration::from_secs(15 * 60);
pub(super) const MAIL_KEPT_DEFAULT: Duration = Duration::from_millis(MESSAGE_KEPT_MS);
const MAIL_KEPT_MIN: Duration = Duration::from_secs(60 * 60);
const MAIL_KEPT_MAX: Duration = Duration::from_secs(366 * 24 * 60 * 60);
const TTL_MIN: Duration = Duration::from_secs(1);
const TTL_MAX: Duration = Duration::from_secs(24 * 60 * 60);
const STORE_TIMEOUT_MIN: Duration = Duration::from_millis(10);
const STORE_TIMEOUT_MAX: Duration = Duration::from_secs(10 * 60);
const BROAD_FILES_MAX: u64 = 1_000_000;

/// Names a key in code. The order is that of [`KEYS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyId {
    StoreUrl,
    Agent,
    Posture,
    Mode,
    ClaimedTtl,
    Durability,
    BroadFiles,
    StoreTimeout,
    GitStrict,
    NotifyCommand,
    MailKept,
    MailMessages,
    ClassesIgnored,
    ClassesCommon,
    ClassesHot,
    Resources,
    Tools,
}

impl KeyId {
    pub(super) const COUNT: usize = KeyId::Tools as usize + 1;

    /// The row of this key.
    pub fn key(self) -> &'static Key {
        &KEYS[self as usize]
    }
}

/// One row of the table.
#[derive(Debug)]
pub struct Key {
    pub id: KeyId,
    /// As written in a file, with dots between the tables.
    pub name: &'static str,
    pub kind: Kind,
    pub default: Value,
    pub variable: Option<&'static str>,
    pub places: Places,
    pub safety: Safety,
    pub doc: &'static str,
}

/// What values a key takes.
#[derive(Debug, Clone, Copy)]
pub enum Kind {
    Text {
        check: fn(&str) -> Result<(), &'static str>,
    },
    Choice(&'static [&'static str]),
    /// A choice between no and yes, which a file says without quotes.
    Switch,
    Integer {
        min: u64,
        max: u64,
    },
    Duration {
        min: Duration,
        max: Duration,
    },
    Patterns(Class),
    Resources,
    Tools,
}

/// Where a key may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Places {
    Everywhere,
    /// Not in the repository file, which is shared with people on other machines and can be edited by agents.
    NotInRepository,
    /// Environment and flags only.
    NotInFiles,
    /// Files only: the value has no form that fits a variable.
    OnlyInFiles,
    /// The user file only: whatever it adds takes protection away or runs something, and no agent is to say so.
    OnlyInUserFile,
}

/// Whether safety depends on a key, and in which direction its values are safer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safety {
    None,
    /// It matters where the value came from, but no value is safer than another.
    Recorded,
    /// Lower numbers are safer.
    LowerIsSafer,
    /// Later names of a [`Kind::Choice`] are safer.
    LaterIsSafer,
    /// A shorter [`Kind::Duration`] is safer, as far as `down_to`; going further down is less safe again.
    ShorterIsSafer {
        down_to: Duration,
    },
    /// A smaller capacity is safer, and so is sharing it with the whole machine.
    NarrowerIsSafer,
}

/// Every key the product reads.
pub static KEYS: [Key; KeyId::COUNT] = [
    Key {
        id: KeyId::StoreUrl,
        name: "store.url",
        kind: Kind::Text { check: location::check },
        default: Value::Unset,
        variable: Some("CLEARWAY_STORE"),
        places: Places::NotInRepository,
        safety: Safety::Recorded,
        doc: "Where the store is: a file, or the address of a server. A relative path lies beside the user file; the variable takes none. Unset: one file per repository.",
    },
    Key {
        id: KeyId::Agent,
        name: "agent",
        kind: Kind::Text { check: check_agent },
        default: Value::Unset,
        variable: Some(AGENT_VARIABLE),
        places: Places::NotInFiles,
        safety: Safety::None,
        doc: "The agent that a command acts for. Unset: found from the client session.",
    },
    Key {
        id: KeyId::Posture,
        name: "posture",
        kind: Kind::Choice(&postures::NAMES),
        default: Value::Choice(postures::DEFAULT),
        variable: Some("CLEARWAY_POSTURE"),
        places: Places::Everywhere,
        safety: Safety::LaterIsSafer,
        doc: "One name for several values: solo, team or unattended.",
    },
    Key {
        id: KeyId::Mode,
        name: "mode",
        kind: Kind::Choice(&MODES),
        default: Value::Choice(MODE_ENFORCE),
        variable: Some("CLEARWAY_MODE"),
        places: Places::Everywhere,
        safety: Safety::LaterIsSafer,
        doc: "What hooks do about a file that is with somebody else: record it, say it, or refuse the edit.",
    },
    Key {
        id: KeyId::ClaimedTtl,
        name: "leases.claimed_ttl",
        kind: Kind::Duration { min: TTL_MIN, max: TTL_MAX },
        default: Value::Duration(CLAIMED_TTL_DEFAULT),
        variable: Some("CLEARWAY_LEASES_CLAIMED_TTL"),
        places: Places::Everywhere,
        safety: Safety::ShorterIsSafer { down_to: CLAIMED_TTL_SAFE_MIN },
        doc: "How long the holder of a claimed lease may be silent before it ends.",
    },
    Key {
        id: KeyId::Durability,
        name: "leases.durability",
        kind: Kind::Choice(&[DURABILITY_NORMAL, DURABILITY_FULL]),
        default: Value::Choice(DURABILITY_NORMAL),
        variable: Some("CLEARWAY_LEASES_DURABILITY"),
        places: Places::Everywhere,
        safety: Safety::LaterIsSafer,
        doc: "Whether a lease is on disk before it is answered (full) or soon after (normal).",
    },
    Key {
        id: KeyId::BroadFiles,
        name: "leases.broad_files",
        kind: Kind::Integer { min: 1, max: BROAD_FILES_MAX },
        default: Value::Integer(BROAD_FILES_DEFAULT),
        variable: Some("CLEARWAY_LEASES_BROAD_FILES"),
        places: Places::Everywhere,
        safety: Safety::LowerIsSafer,
        doc: "A claim over more tracked files than this needs --broad.",
    },
    Key {
        id: KeyId::StoreTimeout,
        name: "timeouts.store",
        kind: Kind::Duration { min: STORE_TIMEOUT_MIN, max: STORE_TIMEOUT_MAX },
        default: Value::Duration(STORE_TIMEOUT_DEFAULT),
        variable: Some("CLEARWAY_TIMEOUTS_STORE"),
        places: Places::Everywhere,
        safety: Safety::None,
        doc: "How long a command waits for a busy store.",
    },
    Key {
        id: KeyId::GitStrict,
        name: "git.strict",
        kind: Kind::Switch,
        default: Value::Choice(SWITCH[0]),
        variable: Some("CLEARWAY_GIT_STRICT"),
        places: Places::Everywhere,
        safety: Safety::LaterIsSafer,
        doc: "Whether agents' commits that no other hook saw are refused when a branch is to lead to them.",
    },
    Key {
        id: KeyId::NotifyCommand,
        name: "notify.command",
        kind: Kind::Text { check: check_command },
        default: Value::Unset,
        variable: None,
        places: Places::OnlyInUserFile,
        safety: Safety::Recorded,
        doc: "A line of shell that is run for what a person who does not watch wants to know, with one JSON document on its standard input.",
    },
    Key {
        id: KeyId::MailKept,
        name: "mail.kept",
        kind: Kind::Duration { min: MAIL_KEPT_MIN, max: MAIL_KEPT_MAX },
        default: Value::Duration(MAIL_KEPT_DEFAULT),
        variable: None,
        places: Places::OnlyInUserFile,
        safety: Safety::Recorded,
        doc: "How long a message is kept, read or not.",
    },
    Key {
        id: KeyId::MailMessages,
        name: "mail.messages",
        kind: Kind::Integer { min: 1, max: MESSAGES_PER_SCOPE_MAX },
        default: Value::Integer(MESSAGES_PER_SCOPE_MAX),
        variable: None,
        places: Places::OnlyInUserFile,
        safety: Safety::Recorded,
        doc: "How many messages a scope keeps; beyond that the oldest are forgotten, read or not.",
    },
    Key {
        id: KeyId::ClassesIgnored,
        name: "classes.ignored",
        kind: Kind::Patterns(Class::Ignored),
        default: Value::Unset,
        variable: None,
        places: Places::OnlyInUserFile,
        safety: Safety::Recorded,
        doc: "More patterns of files that get no automatic lease, report or check.",
    },
    Key {
        id: KeyId::ClassesCommon,
        name: "classes.common",
        kind: Kind::Patterns(Class::Common),
        default: Value::Unset,
        variable: None,
        places: Places::OnlyInFiles,
        safety: Safety::Recorded,
        doc: "More patterns of files that everybody writes, such as lock files and generated ones.",
    },
    Key {
        id: KeyId::ClassesHot,
        name: "classes.hot",
        kind: Kind::Patterns(Class::Hot),
        default: Value::Unset,
        variable: None,
        places: Places::OnlyInFiles,
        safety: Safety::None,
        doc: "More patterns of files that many edit briefly; their leases end with the tool call.",
    },
    Key {
        id: KeyId::Resources,
        name: "resources",
        kind: Kind::Resources,
        default: Value::Unset,
        variable: None,
        places: Places::OnlyInFiles,
        safety: Safety::NarrowerIsSafer,
        doc: "Named resources and their capacity: build = 2, or { capacity = 2, scope = \"machine\" }.",
    },
    Key {
        id: KeyId::Tools,
        name: "tools",
        kind: Kind::Tools,
        default: Value::Unset,
        variable: None,
        places: Places::OnlyInFiles,
        safety: Safety::None,
        doc: "More tools of MCP servers that write files, and which of their arguments name these.",
    },
];

pub(super) fn find(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Whether a name is a table that holds keys, such as `leases`.
pub(super) fn is_section(name: &str) -> bool {
    KEYS.iter().any(|key| key.name.strip_prefix(name).is_some_and(|rest| rest.starts_with('.')))
}

impl Key {
    /// Whether going from one value to the other lowers safety.
    pub(super) fn lowers_safety(&self, from: &Value, to: &Value) -> bool {
        match (self.safety, self.kind, from, to) {
            (Safety::LowerIsSafer, _, Value::Integer(from), Value::Integer(to)) => to > from,
            (Safety::LaterIsSafer, Kind::Choice(choices), Value::Choice(from), Value::Choice(to)) => {
                rank(choices, to) < rank(choices, from)
            }
            (Safety::LaterIsSafer, Kind::Switch, Value::Choice(from), Value::Choice(to)) => {
                rank(&SWITCH, to) < rank(&SWITCH, from)
            }
            (Safety::ShorterIsSafer { down_to }, _, Value::Duration(from), Value::Duration(to)) => {
                to > from || to < from.min(&down_to)
            }
            (Safety::NarrowerIsSafer, _, Value::Resource(from), Value::Resource(to)) => {
                to.capacity > from.capacity || (from.machine && !to.machine)
            }
            _ => false,
        }
    }
}

fn rank(choices: &[&str], choice: &str) -> Option<usize> {
    choices.iter().position(|known| *known == choice)
}

fn check_agent(text: &str) -> Result<(), &'static str> {
    let rule =
        "a name has 1 to 64 letters, digits, dots, underscores or hyphens and starts with a letter or digit";
    match () {
        () if !is_plain_name(text) => Err(rule),
        () if NOBODYS_NAMES.contains(&text) => Err("answers call by it what is nobody's, or everybody's"),
        () => Ok(()),
    }
}

fn check_command(text: &str) -> Result<(), &'static str> {
    match text.trim().is_empty() || text.contains('\0') {
        true => Err("it is a line of shell; leave the key out to be told of nothing"),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_stands_at_the_place_of_its_id() {
        for (at, key) in KEYS.iter().enumerate() {
            assert_eq!(key.id as usize, at, "{}", key.name);
            assert!(std::ptr::eq(key.id.key(), key));
        }
    }

    #[test]
    fn names_and_variables_are_unique_and_each_key_is_documented() {
        for (at, key) in KEYS.iter().enumerate() {
            for other in &KEYS[at + 1..] {
                assert_ne!(key.name, other.name);
                assert!(key.variable.is_none() || key.variable != other.variable, "{}", key.name);
            }
            assert!(key.doc.ends_with('.'), "{}", key.name);
            assert!(key.variable.is_none_or(|variable| variable.starts_with("CLEARWAY_")));
        }
    }

    #[test]
    fn a_key_without_a_variable_is_for_files_only() {
        for key in &KEYS {
            let files_only = matches!(key.places, Places::OnlyInFiles | Places::OnlyInUserFile);
            assert_eq!(key.variable.is_none(), files_only, "{}", key.name);
        }
    }

    #[test]
    fn safety_has_a_direction_only_where_values_are_ordered() {
        for key in &KEYS {
            match (key.safety, key.kind) {
                (Safety::None | Safety::Recorded, _)
                | (Safety::LowerIsSafer, Kind::Integer { .. })
                | (Safety::LaterIsSafer, Kind::Choice(_) | Kind::Switch)
                | (Safety::ShorterIsSafer { .. }, Kind::Duration { .. })
                | (Safety::NarrowerIsSafer, Kind::Resources) => {}
                other => panic!("{}: {other:?}", key.name),
            }
        }
    }
}
