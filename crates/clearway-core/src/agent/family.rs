//! Families of agents: who stands in whose way.

use crate::ids::AgentId;

/// Whether a lease of `holder` can stand in the way of `requester`.
///
/// An ancestor's lease never does. A sibling's, a child's and a stranger's do. `parent_of` answers from the
/// agents at hand; an unknown parent ends the walk, which errs on the side of blocking.
pub fn can_block(
    holder: AgentId,
    requester: AgentId,
    parent_of: impl Fn(AgentId) -> Option<AgentId>,
) -> bool {
    let mut current = Some(requester);
    for _ in 0..FAMILY_DEPTH_MAX {
        match current {
            Some(agent) if agent == holder => return false,
            Some(agent) => current = parent_of(agent),
            None => return true,
        }
    }
    true
}

/// Deepest chain of subagents that is followed.
pub const FAMILY_DEPTH_MAX: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> AgentId {
        AgentId::parse(text).unwrap()
    }

    #[test]
    fn an_ancestor_never_blocks_and_everyone_else_does() {
        let (root, child, sibling, grandchild, other) =
            (id("root0000"), id("child000"), id("child001"), id("grand000"), id("other000"));
        let parent_of = |agent: AgentId| match agent {
            a if a == child || a == sibling => Some(root),
            a if a == grandchild => Some(child),
            _ => None,
        };
        for (holder, requester, blocks) in [
            (root, root, false),
            (root, child, false),
            (root, grandchild, false),
            (child, grandchild, false),
            (child, root, true),
            (sibling, child, true),
            (sibling, grandchild, true),
            (other, root, true),
            (root, other, true),
        ] {
            assert_eq!(can_block(holder, requester, parent_of), blocks, "{holder} blocks {requester}");
        }
    }

    #[test]
    fn a_family_that_loops_still_gets_an_answer() {
        let (a, b) = (id("aaaaaaaa"), id("bbbbbbbb"));
        let parent_of = |agent: AgentId| if agent == a { Some(b) } else { Some(a) };
        assert!(can_block(id("cccccccc"), a, parent_of));
    }
}
