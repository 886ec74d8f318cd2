//! Readable names for agents that did not choose one.

use crate::agent::{AgentName, Client};
use crate::ids::AgentId;

/// A name made of the client and the agent's own id, so that it is unique wherever the id is and the same
/// whenever it is made again: `claude-brisk-otter-7f`.
pub(super) fn name_for(client: Client, id: AgentId) -> AgentName {
    let digits: Vec<usize> = id.as_str().bytes().map(usize::from).collect();
    let number = digits.iter().fold(0_usize, |sum, digit| sum.wrapping_mul(131).wrapping_add(*digit));
    let (quality, animal) = (QUALITIES[number % QUALITIES.len()], ANIMALS[number / 64 % ANIMALS.len()]);
    let text = format!("{}-{quality}-{animal}-{}", client.name_stem(), &id.as_str()[..3]);
    AgentName::made(text)
}

const QUALITIES: [&str; 32] = [
    "amber", "brisk", "calm", "clear", "coral", "crisp", "dapper", "deft", "eager", "early", "fair", "fleet",
    "gentle", "glad", "keen", "kind", "lively", "lucid", "mellow", "merry", "neat", "noble", "plain",
    "prime", "quick", "quiet", "ready", "sharp", "solid", "steady", "sunny", "swift",
];

const ANIMALS: [&str; 32] = [
    "badger", "beaver", "bison", "crane", "dingo", "falcon", "ferret", "finch", "gecko", "heron", "ibex",
    "jackal", "kestrel", "koala", "lark", "lemur", "lynx", "magpie", "marten", "mole", "newt", "otter",
    "owl", "panda", "puffin", "raven", "robin", "stoat", "swan", "tapir", "walrus", "wren",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_name_is_readable_valid_and_stable() {
        let id = AgentId::parse("k3f9a0zz").unwrap();
        let name = name_for(Client::ClaudeCode, id);
        assert!(name.as_str().starts_with("claude-") && name.as_str().ends_with("-k3f"));
        assert_eq!(name, name_for(Client::ClaudeCode, id));
        assert_eq!(AgentName::parse(name.as_str()), Some(name));
    }
}
