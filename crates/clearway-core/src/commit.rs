//! What of a change a commit may take along: what is the caller's own or nobody's, and never what is with somebody else.
//!
//! The one rule of `clearway commit` and of the check that git's hooks make. A family is one agent here.

use crate::git_line::{after_globals, is_flag};
use crate::ids::AgentId;
use crate::lease::{Lease, Mode};
use crate::target::Target;

/// Whose the uncommitted change of a path is, as far as leases and told lines say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The caller's family holds the path or wrote all of it that anybody is known to have written.
    Mine,
    /// Nobody holds it and nobody is known to have written it.
    Nobodys,
    /// Somebody else holds it.
    Held(Vec<Lease>),
    /// Nobody holds it, and these others wrote lines of it.
    Written(Vec<AgentId>),
}

impl Whose {
    /// Whether a commit of the caller may take it along if it is asked to.
    pub fn may_go(&self) -> bool {
        matches!(self, Self::Mine | Self::Nobodys)
    }
}

/// Judges a path by the live leases of its checkout and the authors of its uncommitted lines.
///
/// Who holds a path answers for what is in it: the lines of somebody who gave it away go with it. A shared lease of
/// somebody else is in the way of whoever has none.
pub fn whose<'l>(
    path: &Target,
    leases: impl IntoIterator<Item = &'l Lease>,
    authors: &[AgentId],
    is_family: impl Fn(AgentId) -> bool,
) -> Whose {
    let on_it = leases.into_iter().filter(|lease| lease.is_on(path));
    let (own, others): (Vec<&Lease>, Vec<&Lease>) = on_it.partition(|lease| is_family(lease.holder));
    let is_in_way = |lease: &&Lease| own.is_empty() || lease.mode == Mode::Exclusive;
    let held: Vec<Lease> = others.into_iter().filter(is_in_way).cloned().collect();
    if !held.is_empty() {
        return Whose::Held(held);
    }
    if !own.is_empty() {
        return Whose::Mine;
    }
    let mut foreign: Vec<AgentId> = authors.iter().copied().filter(|author| !is_family(*author)).collect();
    foreign.sort_unstable();
    foreign.dedup();
    match (foreign.is_empty(), authors.is_empty()) {
        (false, _) => Whose::Written(foreign),
        (true, true) => Whose::Nobodys,
        (true, false) => Whose::Mine,
    }
}

/// Paths that a record names; of more it tells how many.
const PATHS_RECORDED: usize = 32;

/// What a record says a commit was about.
pub fn recorded<'t>(paths: impl Iterator<Item = &'t Target>) -> Vec<String> {
    let mut paths: Vec<String> = paths.map(Target::display).collect();
    paths.sort();
    paths.dedup();
    let more = paths.len().saturating_sub(PATHS_RECORDED);
    paths.truncate(PATHS_RECORDED);
    if more > 0 {
        paths.push(format!("and {more} more"));
    }
    paths
}

/// Flags of `git commit` behind which a word of their own stands.
const LONG_WITH_VALUE: [&str; 12] = [
    "--message",
    "--file",
    "--reuse-message",
    "--reedit-message",
    "--author",
    "--date",
    "--template",
    "--cleanup",
    "--fixup",
    "--squash",
    "--trailer",
    "--pathspec-from-file",
];
const SHORT_WITH_VALUE: &str = "mFCct";
/// Those whose value stands in the same word or nowhere.
const SHORT_WITH_VALUE_BESIDE: &str = "uS";

/// The flags of one letter that a word of `git commit` holds; what stands behind one that has a value is that value.
pub(crate) fn short_flags(word: &str) -> &str {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-')).unwrap_or_default();
    let has_value =
        |letter: char| SHORT_WITH_VALUE.contains(letter) || SHORT_WITH_VALUE_BESIDE.contains(letter);
    letters.find(has_value).map_or(letters, |at| &letters[..=at])
}

/// Whether the word behind this one of `git commit` is its value.
fn has_value_next(word: &str) -> bool {
    let is_last = |flags: &str| {
        flags.len() + 1 == word.len() && flags.ends_with(|flag| SHORT_WITH_VALUE.contains(flag))
    };
    LONG_WITH_VALUE.contains(&word) || is_last(short_flags(word))
}

/// Whether the words behind `git` make a commit.
pub fn commits(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    matches!(after_globals("", &words), Some((_, ["commit", ..])))
}

/// Whether the words behind `git` make a commit that takes the place of the last one.
pub fn amends(words: &[String]) -> bool {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((_, ["commit", flags @ ..])) = after_globals("", &words) else { return false };
    let mut is_value = false;
    for word in flags.iter().take_while(|word| **word != "--") {
        let was_value = std::mem::replace(&mut is_value, false);
        if was_value {
            continue;
        }
        // Git knows a long flag by its first letters.
        if word.len() >= "--am".len() && "--amend".starts_with(word) {
            return true;
        }
        is_value = has_value_next(word);
    }
    false
}

/// Whether the words behind `git` make a commit of another author or another time than that of whoever types them.
pub fn names_author(words: &[String]) -> bool {
    const LONG: [&str; 4] = ["--author", "--date", "--reuse-message", "--reedit-message"];
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((_, ["commit", flags @ ..])) = after_globals("", &words) else { return false };
    let mut is_value = false;
    for word in flags.iter().take_while(|word| **word != "--") {
        let was_value = std::mem::replace(&mut is_value, false);
        if !was_value
            && (LONG.iter().any(|flag| is_flag(word, flag)) || short_flags(word).contains(['C', 'c']))
        {
            return true;
        }
        is_value = !was_value && has_value_next(word);
    }
    false
}

/// Which commit the message of another one says it undoes, in the words that git itself writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reverts {
    /// The commit, by as much of its id as the message has.
    pub commit: String,
    /// Of a merge, the side that is gone back to.
    pub back_to: Option<String>,
}

/// What a message says to be undone. That it says so proves nothing: whoever types a message may type this.
pub fn reverts(message: &str) -> Option<Reverts> {
    let mut lines = message.lines();
    let said = lines.find_map(|line| line.strip_prefix("This reverts commit "))?;
    let (commit, rest) = id_in(said)?;
    let back_to = match rest {
        "." => None,
        ", reversing" => Some(id_in(lines.next()?.strip_prefix("changes made to ")?)?.0),
        // With `--reference` the id is a short one, and what it names follows.
        _ if rest.starts_with(" (") && rest.ends_with(").") => None,
        _ => return None,
    };
    Some(Reverts { commit, back_to })
}

/// The digits of an id at the front of a text, and what follows them.
fn id_in(text: &str) -> Option<(String, &str)> {
    const DIGITS_MIN: usize = 4;
    let end = text.find(|letter: char| !letter.is_ascii_hexdigit()).unwrap_or(text.len());
    (end >= DIGITS_MIN).then(|| (text[..end].to_owned(), &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{Epoch, Fence, LeaseId, Seq};
    use crate::lease::Grade;
    use crate::pattern::{Fold, Pattern};
    use crate::target::Worktree;
    use crate::time::{Mono, Wall};

    fn path(text: &str) -> Target {
        Target::Path(Pattern::parse(text, Fold::Exact).unwrap())
    }

    fn agent(number: u8) -> AgentId {
        AgentId::parse(&format!("agent00{number}")).unwrap()
    }

    fn lease(holder: AgentId, on: &str, mode: Mode) -> Lease {
        Lease {
            id: LeaseId::parse("abcdefgh").unwrap(),
            target: path(on),
            set: None,
            mode,
            grade: Grade::Claimed,
            holder,
            fence: Fence { epoch: Epoch::default(), seq: Seq::default() },
            reason: None,
            worktree: Worktree::default(),
            slot: None,
            bound: None,
            handed_by: None,
            makes_way: false,
            ceded: Vec::new(),
            ttl_ms: 1,
            granted: Mono(0),
            deadline: Mono(1),
            end_max: None,
            created_at: Wall(0),
            ended: None,
        }
    }

    #[test]
    fn a_path_is_its_holders_then_its_writers_then_nobodys() {
        let (me, child, other) = (agent(1), agent(2), agent(3));
        let is_family = |id: AgentId| id == me || id == child;
        let (alone, shared) = (Mode::Exclusive, Mode::Shared);
        let held = |lease: Lease| Whose::Held(vec![lease]);
        for (leases, authors, expect) in [
            (vec![], vec![], Whose::Nobodys),
            (vec![], vec![me, child], Whose::Mine),
            (vec![], vec![me, other], Whose::Written(vec![other])),
            (vec![lease(child, "src/**", alone)], vec![other], Whose::Mine),
            (vec![lease(other, "src/a.rs", alone)], vec![me], held(lease(other, "src/a.rs", alone))),
            (vec![lease(other, "src/**", shared)], vec![], held(lease(other, "src/**", shared))),
            (vec![lease(other, "src/**", shared), lease(me, "src/a.rs", shared)], vec![], Whose::Mine),
            (vec![lease(other, "docs/**", alone)], vec![], Whose::Nobodys),
        ] {
            let found = whose(&path("src/a.rs"), &leases, &authors, is_family);
            assert_eq!(found, expect, "{leases:?} {authors:?}");
        }
    }

    #[test]
    fn an_amend_is_known_by_its_flag_and_not_by_a_message() {
        for (line, expect) in [
            ("commit --amend -m x", true),
            ("-C sub -c user.name=T commit -a --am", true),
            ("commit -am --amend", false),
            ("commit -amx --amend", true),
            ("commit -Sm --amend", true),
            ("commit -uno --amend", true),
            ("commit -m --amend -C HEAD", false),
            ("commit --message --amend --amend", true),
            ("commit -- --amend", false),
            ("commit -", false),
            ("cherry-pick --amend", false),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(amends(&words), expect, "{line}");
            assert_eq!(commits(&words), line != "cherry-pick --amend", "{line}");
        }
    }

    #[test]
    fn a_revert_is_known_by_the_line_that_git_writes() {
        let one = "1f".repeat(20);
        let two = "2e".repeat(20);
        let alone = |commit: &str| Some(Reverts { commit: commit.to_owned(), back_to: None });
        let of_merge = Some(Reverts { commit: one.clone(), back_to: Some(two.clone()) });
        for (message, expect) in [
            (format!("Revert \"x\"\n\nThis reverts commit {one}.\n"), alone(&one)),
            (format!("Reapply \"x\"\n\nThis reverts commit {one}.\n# more\n"), alone(&one)),
            (format!("x\n\nThis reverts commit {one}, reversing\nchanges made to {two}.\n"), of_merge),
            ("x\n\nThis reverts commit 1f1f1f1 (subject, 2026-11-18).\n".to_owned(), alone("1f1f1f1")),
            ("x\n\nThis reverts commit number five.\n".to_owned(), None),
            (format!("x\n\nThis reverts commit {one} in part.\n"), None),
            (format!("x\n\n> This reverts commit {one}.\n"), None),
            (format!("x\n\nThis reverts commit {one}, reversing\n"), None),
            ("x\n\nThis reverts commit .\n".to_owned(), None),
        ] {
            assert_eq!(reverts(&message), expect, "{message}");
        }
    }

    #[test]
    fn a_path_that_made_way_is_no_part_of_a_broad_claim() {
        let mut broad = lease(agent(3), "src/**", Mode::Exclusive);
        broad.ceded.push(path("src/a.rs"));
        assert_eq!(whose(&path("src/a.rs"), [&broad], &[], |_| false), Whose::Nobodys);
        assert!(matches!(whose(&path("src/b.rs"), [&broad], &[], |_| false), Whose::Held(_)));
    }
}
