//! An independent reading of a log: state folded anew from the JSON of `audit export`, with none of the product's
//! code, so that a mistake of the product cannot hide in it.
//!
//! It knows literal paths and whole trees (`dir/**`); any other pattern is an error of the test.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Epochs are counted above this many bits of a fence.
const FENCE_SEQ_BITS: u32 = 40;

/// What a log says, having broken no rule.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// How often each kind of event came.
    pub kinds: BTreeMap<String, usize>,
    /// Leases that nobody ended, by id.
    pub live: BTreeMap<String, Held>,
    /// How each ended lease ended, by id.
    pub ended: BTreeMap<String, String>,
    /// Places in the queue that nobody ended.
    pub waits: BTreeSet<String>,
    /// The last event.
    pub rev: u64,
    /// The epoch of the last event.
    pub epoch: u64,
    last_fence: u64,
}

/// A lease as its grant stated it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// Its holder.
    pub holder: String,
    /// What it is on.
    pub pattern: String,
    /// The checkout, empty for names.
    pub worktree: String,
    /// Whether nobody else may hold it.
    pub exclusive: bool,
    /// Paths that are no part of it any more.
    pub ceded: Vec<String>,
}

impl History {
    /// Folds the lines of `audit export`, or says which rule the log breaks and where.
    pub fn fold(lines: &str) -> Result<Self, String> {
        let mut history = Self::default();
        for line in lines.lines() {
            let event: Value = serde_json::from_str(line).map_err(|error| format!("{error}: {line}"))?;
            history.step(&event).map_err(|broken| format!("{broken}: {line}"))?;
        }
        Ok(history)
    }

    /// How often this kind of event came.
    pub fn count(&self, kind: &str) -> usize {
        self.kinds.get(kind).copied().unwrap_or(0)
    }

    fn step(&mut self, event: &Value) -> Result<(), String> {
        let seq = event["seq"].as_u64().ok_or("no seq")?;
        if seq != self.rev + 1 {
            return Err(format!("event {seq} follows {}", self.rev));
        }
        self.rev = seq;
        let kind = event["kind"].as_str().ok_or("no kind")?;
        *self.kinds.entry(kind.to_owned()).or_default() += 1;
        let data = &event["data"];
        match kind {
            "epoch.began" => self.begin_epoch(data),
            "lease.granted" => self.grant(seq, data),
            "lease.upgraded" => self.upgrade(seq, data),
            "lease.renewed" => self.live(data).map(|_| ()),
            "lease.split" => self.split(data),
            "lease.transferred" => self.transfer(seq, data),
            "lease.downgraded" => self.live(data).map(|lease| lease.exclusive = false),
            "wait.began" => self.begin_wait(data),
            "wait.attached" | "wait.offered" | "wait.passed" | "wait.withdrawn" => {
                self.waiting(data).map(|_| ())
            }
            "wait.ended" => self.end_wait(data),
            "lease.released" | "lease.expired" | "lease.yielded" | "lease.taken-over" => self.end(kind, data),
            _ => Ok(()),
        }
    }

    fn begin_epoch(&mut self, data: &Value) -> Result<(), String> {
        let epoch = data["epoch"].as_u64().ok_or("no epoch")?;
        if epoch <= self.epoch {
            return Err(format!("epoch {epoch} follows {}", self.epoch));
        }
        self.epoch = epoch;
        Ok(())
    }

    fn grant(&mut self, seq: u64, data: &Value) -> Result<(), String> {
        let text = |name: &str| data[name].as_str().map(str::to_owned).ok_or(format!("no {name}"));
        let held = Held {
            holder: text("holder_id")?,
            pattern: text("pattern")?,
            worktree: text("worktree")?,
            exclusive: text("mode")? == "exclusive",
            ceded: Vec::new(),
        };
        let id = text("lease")?;
        if self.live.contains_key(&id) || self.ended.contains_key(&id) {
            return Err(format!("lease {id} is granted a second time"));
        }
        self.move_fence(seq, data["fence"].as_u64().ok_or("no fence")?)?;
        self.refuse_overlap(&id, &held)?;
        self.live.insert(id, held);
        Ok(())
    }

    fn upgrade(&mut self, seq: u64, data: &Value) -> Result<(), String> {
        let lease = self.live(data)?;
        lease.exclusive = true;
        let held = lease.clone();
        self.move_fence(seq, (self.epoch << FENCE_SEQ_BITS) + seq)?;
        self.refuse_overlap(data["lease"].as_str().unwrap_or_default(), &held)
    }

    fn split(&mut self, data: &Value) -> Result<(), String> {
        let path = data["path"].as_str().ok_or("no path")?.to_owned();
        self.live(data).map(|lease| lease.ceded.push(path))
    }

    fn transfer(&mut self, seq: u64, data: &Value) -> Result<(), String> {
        let (from, to) =
            (data["from_id"].as_str().ok_or("no from_id")?, data["to_id"].as_str().ok_or("no to_id")?);
        let lease = self.live(data)?;
        if lease.holder != from {
            return Err(format!("{from} hands over what {} holds", lease.holder));
        }
        lease.holder = to.to_owned();
        let held = lease.clone();
        self.move_fence(seq, (self.epoch << FENCE_SEQ_BITS) + seq)?;
        self.refuse_overlap(data["lease"].as_str().unwrap_or_default(), &held)
    }

    fn begin_wait(&mut self, data: &Value) -> Result<(), String> {
        let id = data["wait"].as_str().ok_or("no wait")?;
        match self.waits.insert(id.to_owned()) {
            true => Ok(()),
            false => Err(format!("wait {id} begins a second time")),
        }
    }

    fn waiting(&self, data: &Value) -> Result<String, String> {
        let id = data["wait"].as_str().ok_or("no wait")?;
        self.waits.get(id).cloned().ok_or(format!("wait {id} is not in the queue"))
    }

    fn end_wait(&mut self, data: &Value) -> Result<(), String> {
        let id = self.waiting(data)?;
        self.waits.remove(&id);
        Ok(())
    }

    fn end(&mut self, kind: &str, data: &Value) -> Result<(), String> {
        self.live(data)?;
        let id = data["lease"].as_str().unwrap_or_default();
        self.live.remove(id);
        self.ended.insert(id.to_owned(), kind.to_owned());
        Ok(())
    }

    fn live(&mut self, data: &Value) -> Result<&mut Held, String> {
        let id = data["lease"].as_str().ok_or("no lease")?;
        self.live.get_mut(id).ok_or(format!("lease {id} is not live"))
    }

    fn move_fence(&mut self, seq: u64, fence: u64) -> Result<(), String> {
        if fence != (self.epoch << FENCE_SEQ_BITS) + seq {
            return Err(format!("fence {fence} is not of epoch {} and event {seq}", self.epoch));
        }
        if fence <= self.last_fence {
            return Err(format!("fence {fence} follows {}", self.last_fence));
        }
        self.last_fence = fence;
        Ok(())
    }

    fn refuse_overlap(&self, id: &str, held: &Held) -> Result<(), String> {
        for (other_id, other) in self.live.iter().filter(|(other, _)| *other != id) {
            let conflict = (held.exclusive || other.exclusive) && held.holder != other.holder;
            let apart = other.ceded.contains(&held.pattern) || held.ceded.contains(&other.pattern);
            let conflict = conflict && !apart;
            if conflict && held.worktree == other.worktree && overlap(&held.pattern, &other.pattern)? {
                return Err(format!("leases {id} and {other_id} of two holders live at once"));
            }
        }
        Ok(())
    }
}

/// Whether two patterns name a common file.
fn overlap(one: &str, other: &str) -> Result<bool, String> {
    let (one, other) = (tree(one)?, tree(other)?);
    Ok(match (one, other) {
        ((a, false), (b, false)) => a == b,
        ((tree, true), (path, false)) | ((path, false), (tree, true)) => below(path, tree),
        ((a, true), (b, true)) => below(a, b) || below(b, a),
    })
}

/// A pattern's path, and whether it stands for everything below too.
fn tree(pattern: &str) -> Result<(&str, bool), String> {
    let (path, whole) = match pattern.strip_suffix("/**") {
        Some(path) => (path, true),
        None => (pattern, false),
    };
    let plain = !path.contains(['*', '?', '[', '{', '\\']);
    if plain { Ok((path, whole)) } else { Err(format!("the checker cannot read {pattern}")) }
}

fn below(path: &str, tree: &str) -> bool {
    path == tree || path.strip_prefix(tree).is_some_and(|rest| rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn granted(seq: u64, lease: &str, holder: &str, pattern: &str, mode: &str) -> Value {
        let fence = (1_u64 << FENCE_SEQ_BITS) + seq;
        json!({"seq": seq, "kind": "lease.granted", "data": {"lease": lease, "holder_id": holder,
            "pattern": pattern, "worktree": "/w", "mode": mode, "fence": fence}})
    }

    fn about(seq: u64, kind: &str, lease: &str) -> Value {
        json!({"seq": seq, "kind": kind, "data": {"lease": lease}})
    }

    fn handed(seq: u64, lease: &str, from: &str, to: &str) -> Value {
        json!({"seq": seq, "kind": "lease.transferred", "data": {"lease": lease, "from_id": from, "to_id": to}})
    }

    fn wait(seq: u64, kind: &str, wait: &str) -> Value {
        json!({"seq": seq, "kind": kind, "data": {"wait": wait}})
    }

    fn epoch(seq: u64, epoch: u64) -> Value {
        json!({"seq": seq, "kind": "epoch.began", "data": {"epoch": epoch}})
    }

    fn check(events: &[Value], complaint: &str) {
        let lines: Vec<String> = events.iter().map(ToString::to_string).collect();
        match History::fold(&lines.join("\n")) {
            Ok(_) => assert_eq!(complaint, "", "nothing was found in {lines:#?}"),
            Err(broken) => assert!(!complaint.is_empty() && broken.contains(complaint), "{broken}"),
        }
    }

    #[test]
    fn a_lawful_log_is_folded() {
        check(
            &[
                epoch(1, 1),
                granted(2, "a", "x", "src/**", "exclusive"),
                granted(3, "b", "y", "srcx/a.rs", "exclusive"),
                granted(4, "c", "x", "src/a.rs", "exclusive"),
                about(5, "lease.released", "a"),
                about(6, "lease.expired", "c"),
                granted(7, "d", "y", "src/a.rs", "shared"),
                granted(8, "e", "z", "src/a.rs", "shared"),
                about(9, "lease.released", "d"),
                about(10, "lease.upgraded", "e"),
                handed(11, "e", "z", "x"),
                wait(12, "wait.began", "w"),
                wait(13, "wait.offered", "w"),
                wait(14, "wait.ended", "w"),
            ],
            "",
        );
    }

    #[test]
    fn every_broken_rule_is_named() {
        let one = || granted(2, "a", "x", "src/**", "exclusive");
        check(&[epoch(1, 1), granted(3, "a", "x", "f", "shared")], "event 3 follows 1");
        check(&[epoch(1, 1), epoch(2, 1)], "epoch 1 follows 1");
        check(&[epoch(1, 1), one(), granted(3, "b", "y", "src/a", "exclusive")], "live at once");
        check(&[epoch(1, 1), one(), granted(3, "b", "y", "src/a", "shared")], "live at once");
        check(&[epoch(1, 1), one(), granted(3, "b", "y", "src/d/**", "exclusive")], "live at once");
        check(&[epoch(1, 1), one(), granted(3, "a", "x", "f", "shared")], "a second time");
        check(&[epoch(1, 2), one()], "is not of epoch");
        check(&[epoch(1, 1), one(), about(3, "lease.expired", "b")], "is not live");
        let twice = [epoch(1, 1), one(), about(3, "lease.expired", "a"), about(4, "lease.expired", "a")];
        check(&twice, "is not live");
        check(&[epoch(1, 1), one(), handed(3, "a", "y", "z")], "y hands over what x holds");
        check(&[epoch(1, 1), wait(2, "wait.began", "w"), wait(3, "wait.began", "w")], "a second time");
        check(&[epoch(1, 1), wait(2, "wait.offered", "w")], "is not in the queue");
        let tree = [epoch(1, 1), one(), granted(3, "b", "x", "src/a", "exclusive")];
        check(&[tree.as_slice(), &[handed(4, "a", "x", "y")]].concat(), "live at once");
        check(&[tree.as_slice(), &[handed(4, "a", "x", "x")]].concat(), "");
        check(&[epoch(1, 1), granted(2, "a", "x", "*.rs", "shared")], "");
        let wild =
            [epoch(1, 1), granted(2, "a", "x", "*.rs", "shared"), granted(3, "b", "y", "f", "exclusive")];
        check(&wild, "cannot read");
        let shared = |seq, lease, holder| granted(seq, lease, holder, "f", "shared");
        check(
            &[epoch(1, 1), shared(2, "a", "x"), shared(3, "b", "y"), about(4, "lease.upgraded", "a")],
            "live at once",
        );
    }
}
