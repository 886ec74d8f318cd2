//! Refused edits as they are counted: whoever is refused the same again and again goes round in circles. Whoever tries one
//! file after another does not, however many of them are with others.

use crate::ids::LeaseId;
use crate::limits::{LOOPING_MS, LOOPING_REFUSALS, REFUSED_BLOCKERS_MAX, REFUSED_EDITS_PER_AGENT_MAX};
use crate::slice::Memo;
use crate::time::Mono;

/// An edit that was refused, and how often the same was lately.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedEdit {
    /// The first of its files that cannot be had.
    pub target: String,
    /// What keeps it from that, in order; of many, some.
    pub blockers: Vec<LeaseId>,
    /// Since when it is counted.
    pub since: Mono,
    /// How often.
    pub times: u32,
}

impl RefusedEdit {
    fn counts(&self, now: Mono) -> bool {
        now.since(self.since) < LOOPING_MS
    }
}

impl Memo {
    /// Counts that an edit was refused; how often the same was lately.
    pub fn count_refusal(&mut self, target: String, mut blockers: Vec<LeaseId>, now: Mono) -> u32 {
        blockers.sort_unstable();
        blockers.truncate(REFUSED_BLOCKERS_MAX);
        self.refused.retain(|refused| refused.counts(now));
        let is_same = |own: &RefusedEdit| own.target == target && own.blockers == blockers;
        let known = self.refused.iter().position(is_same).map(|at| self.refused.remove(at));
        let mut refused = known.unwrap_or(RefusedEdit { target, blockers, since: now, times: 0 });
        refused.times = refused.times.saturating_add(1);
        let times = refused.times;
        self.refused.push(refused);
        let surplus = self.refused.len().saturating_sub(REFUSED_EDITS_PER_AGENT_MAX);
        self.refused.drain(..surplus);
        times
    }

    /// What the agent goes round in circles about: the edit that was refused most often of those that count.
    pub fn loops_at(&self, now: Mono) -> Option<&RefusedEdit> {
        let is_loop = |refused: &&RefusedEdit| refused.times >= LOOPING_REFUSALS && refused.counts(now);
        self.refused.iter().filter(is_loop).max_by_key(|refused| refused.times)
    }

    /// The edit that was refused just as often as counts as a circle, and was not before.
    pub(crate) fn begins_to_loop(&self, before: &Self) -> Option<&RefusedEdit> {
        let is_new = |refused: &&RefusedEdit| !before.refused.contains(refused);
        self.refused.iter().filter(is_new).find(|refused| refused.times == LOOPING_REFUSALS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_refusal_is_counted_and_others_beside_it() {
        let (mut memo, lease) = (Memo::default(), |id: &str| vec![LeaseId::parse(id).unwrap()]);
        for time in 1..=4 {
            assert_eq!(memo.count_refusal("a".into(), lease("abcdefgh"), Mono(1)), time);
            assert_eq!(memo.count_refusal(format!("b{time}"), lease("abcdefgh"), Mono(2)), 1);
            assert_eq!(memo.loops_at(Mono(2)), None);
        }
        assert_eq!(memo.count_refusal("a".into(), lease("bcdefghj"), Mono(3)), 1, "somebody else has it now");
        assert_eq!(memo.count_refusal("a".into(), lease("abcdefgh"), Mono(3)), 5);
        assert_eq!(memo.loops_at(Mono(3)).map(|refused| refused.target.as_str()), Some("a"));
        assert_eq!(memo.loops_at(Mono(1 + LOOPING_MS)), None);
        assert_eq!(memo.count_refusal("a".into(), lease("abcdefgh"), Mono(1 + LOOPING_MS)), 1);
    }

    fn lease(id: &str) -> Vec<LeaseId> {
        vec![LeaseId::parse(id).unwrap()]
    }

    #[test]
    fn what_is_too_old_to_count_hides_no_loop() {
        let (mut memo, later) = (Memo::default(), Mono(1 + LOOPING_MS));
        memo.refused = vec![
            RefusedEdit { target: "a".into(), blockers: lease("abcdefgh"), since: Mono(1), times: 9 },
            RefusedEdit { target: "b".into(), blockers: lease("abcdefgh"), since: Mono(9), times: 5 },
        ];
        assert_eq!(memo.loops_at(later).map(|refused| refused.target.as_str()), Some("b"));
    }

    #[test]
    fn every_edit_begins_to_loop_once_whatever_else_does() {
        let mut memo = Memo::default();
        for _ in 0..=LOOPING_REFUSALS {
            memo.count_refusal("a".into(), lease("abcdefgh"), Mono(1));
        }
        let mut began = Vec::new();
        for time in 1..=LOOPING_REFUSALS + 2 {
            let before = memo.clone();
            memo.count_refusal("b".into(), lease("abcdefgh"), Mono(2));
            began.extend(memo.begins_to_loop(&before).map(|refused| (time, refused.target.clone())));
        }
        assert_eq!(began, [(LOOPING_REFUSALS, "b".to_owned())]);
    }

    #[test]
    fn what_is_in_the_way_is_the_same_in_any_order_and_bounded() {
        let mut memo = Memo::default();
        let ids: Vec<LeaseId> = (0..2 * REFUSED_BLOCKERS_MAX)
            .map(|number| {
                LeaseId::parse(&format!("abcdef{}{}", letter(number / 16), letter(number % 16))).unwrap()
            })
            .collect();
        memo.count_refusal("a".into(), ids.clone(), Mono(1));
        assert_eq!(memo.count_refusal("a".into(), ids.iter().rev().copied().collect(), Mono(1)), 2);
        assert_eq!(memo.refused[0].blockers.len(), REFUSED_BLOCKERS_MAX);
    }

    fn letter(number: usize) -> char {
        "abcdefghjkmnpqrs".chars().nth(number).unwrap()
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut memo = Memo::default();
        for number in 0..100 {
            memo.count_refusal(number.to_string(), Vec::new(), Mono(1));
        }
        assert_eq!(memo.refused.len(), REFUSED_EDITS_PER_AGENT_MAX);
        assert_eq!(memo.count_refusal("99".into(), Vec::new(), Mono(1)), 2);
    }
}
