//! The nearest known name to a mistyped one.

/// Longer names get no suggestion: nobody mistypes them, and the comparison costs the product of the lengths.
const NAME_CHARS_MAX: usize = 64;

/// So many letters tell which name was cut short.
const START_CHARS_MIN: usize = 3;

/// The candidate with the fewest edits, if those are few for the length of the name; otherwise the only one that begins so.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let letters: Vec<char> = name.chars().take(NAME_CHARS_MAX + 1).map(|c| c.to_ascii_lowercase()).collect();
    if letters.len() > NAME_CHARS_MAX {
        return None;
    }
    let candidates: Vec<&str> = candidates.collect();
    let allowed = (letters.len() / 3).max(1);
    let with_distance = candidates.iter().map(|candidate| (edits(&letters, candidate), *candidate));
    let near = with_distance.filter(|(edits, _)| *edits <= allowed).min_by_key(|(edits, _)| *edits);
    near.map(|(_, best)| best).or_else(|| only_one_that_begins(name, &candidates))
}

fn only_one_that_begins<'a>(name: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let mut found = candidates.iter().filter(|candidate| candidate.starts_with(name));
    let first = found.next().filter(|_| name.len() >= START_CHARS_MIN)?;
    found.next().is_none().then_some(*first)
}

/// Insertions, deletions, replacements and swaps of neighbours, each counted once.
fn edits(from: &[char], to: &str) -> usize {
    let to: Vec<char> = to.chars().map(|c| c.to_ascii_lowercase()).collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for (row, from_char) in from.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, to_char) in to.iter().enumerate() {
            let replaced = last[column] + usize::from(from_char != to_char);
            let mut fewest = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped = row > 0 && column > 0 && from[row - 1] == *to_char && from[row] == to[column - 1];
            if swapped {
                fewest = fewest.min(before_last[column - 1] + 1);
            }
            current.push(fewest);
        }
        before_last = std::mem::replace(&mut last, current);
    }
    last.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expect: Option<&str>) {
        let candidates = ["leases.claimed_ttl", "leases.durability", "posture", "solo", "team", "unattended"];
        assert_eq!(nearest(name, candidates.into_iter()), expect, "{name:?}");
    }

    #[test]
    fn small_slips_find_their_name() {
        check("lease.claimed_ttl", Some("leases.claimed_ttl"));
        check("leases.claimed-ttl", Some("leases.claimed_ttl"));
        check("psoture", Some("posture"));
        check("Unattended", Some("unattended"));
        check("tema", Some("team"));
        check("sol", Some("solo"));
        check("unatt", Some("unattended"));
        check("leases.d", Some("leases.durability"));
    }

    #[test]
    fn far_names_find_nothing() {
        check("", None);
        check("leases", None);
        check("un", None);
        check("colour", None);
        check("xy", None);
        check(&"leases.claimed_ttl".repeat(10), None);
    }

    #[test]
    fn a_swap_counts_once() {
        let swapped: Vec<char> = "ab".chars().collect();
        assert_eq!(edits(&swapped, "ba"), 1);
        assert_eq!(edits(&swapped, ""), 2);
        assert_eq!(edits(&[], "ab"), 2);
    }
}
