//! What hooks said and refused, and which of their calls were slow: notes beside the store, so that no hook pays a
//! transaction for them. Nothing is decided by them, and what cannot be noted is forgotten.

use crate::ground::{Ground, without_store};
use crate::hooking::{Answers, HookCall};
use crate::outside::{Outside, StoreAt};
use crate::session::Session;
use clearway_core::failure::Failure;
use clearway_core::ids::ScopeKey;
use clearway_core::time::Wall;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A hook call that takes longer is slow.
pub(crate) const SLOW_MS: u64 = 250;
/// The span that is looked back at.
pub(crate) const DAY_MS: i64 = 24 * 60 * 60 * 1_000;
/// Bytes of notes of one scope, of which a thousand calls take about fifty thousand.
const NOTES_BYTES_MAX: u64 = 512 * 1_024;
/// Bytes of English that models count as one token, roughly.
const BYTES_PER_TOKEN: u64 = 4;
const SUFFIX: &str = "-hooks";

/// What a call came to, before it is noted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallEnd {
    /// What it did.
    pub what: Noted,
    /// Bytes that the model was told.
    pub bytes: u64,
    /// How long it took.
    pub ms: u64,
    /// What it waited for longest, in a word.
    pub cause: &'static str,
}

impl CallEnd {
    /// Whether it is worth a line: whoever is alone and served at once leaves none.
    fn is_worth_it(&self) -> bool {
        self.what != Noted::Silent || self.ms >= SLOW_MS
    }
}

/// What is noted of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookNote {
    /// When, for people.
    pub at: Wall,
    /// For whom; `None` if that was not found out.
    pub agent: Option<String>,
    /// What happened.
    pub what: Noted,
    /// Bytes that the model was told.
    pub bytes: u64,
    /// How long it took.
    pub ms: u64,
    /// What it waited for longest; of what was written over, the path.
    pub cause: String,
}

/// What a hook did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noted {
    /// It had no opinion.
    Silent,
    /// It told the model something.
    Told,
    /// It refused a tool call.
    Refused,
    /// It would have refused one, had it been told to.
    LetPass,
}

impl Noted {
    const ALL: [Self; 4] = [Self::Silent, Self::Told, Self::Refused, Self::LetPass];

    fn word(self) -> &'static str {
        match self {
            Self::Silent => "silent",
            Self::Told => "told",
            Self::Refused => "refused",
            Self::LetPass => "let-pass",
        }
    }
}

impl HookNote {
    /// Whether the client waited for long.
    pub fn is_slow(&self) -> bool {
        self.ms >= SLOW_MS
    }

    fn line(&self) -> String {
        let agent = self.agent.as_deref().unwrap_or("-");
        let Self { at, what, bytes, ms, cause, .. } = self;
        format!("{}\t{agent}\t{}\t{bytes}\t{ms}\t{cause}", at.0, what.word())
    }

    /// What cannot be read is passed over: a later build may write other lines.
    fn read(line: &str) -> Option<Self> {
        let mut fields = line.split('\t');
        let at = Wall(fields.next()?.parse().ok()?);
        let agent = fields.next().filter(|agent| *agent != "-").map(str::to_owned);
        let word = fields.next()?;
        let what = Noted::ALL.into_iter().find(|what| what.word() == word)?;
        let (bytes, ms) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some(Self { at, agent, what, bytes, ms, cause: fields.next()?.to_owned() })
    }
}

/// Whose notes: the scope that answered.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    pub(crate) url: Option<String>,
    pub(crate) start: PathBuf,
    pub(crate) scope: ScopeKey,
}

impl Ledger {
    pub(crate) fn of(ground: &Ground) -> Self {
        let url = ground.config.store_url().map(str::to_owned);
        Self { url, start: ground.start.clone(), scope: ground.site.key.clone() }
    }

    /// A file of notes of the scope.
    pub(crate) fn beside(&self, outside: &mut dyn Outside, suffix: &str) -> Option<PathBuf> {
        let store = StoreAt { url: self.url.as_deref(), from: &self.start };
        outside.file_beside_store(store, &self.scope, suffix).ok()
    }

    fn add(&self, outside: &mut dyn Outside, note: &HookNote) {
        let Some(path) = self.beside(outside, SUFFIX) else { return };
        drop(outside.jot(&path, &note.line(), NOTES_BYTES_MAX));
    }
}

/// Notes what a call came to, where that is worth it. Without answers the store failed.
pub fn note_call(outside: &mut dyn Outside, call: &HookCall, answers: Option<&Answers>, end: &CallEnd) {
    if !end.is_worth_it() {
        return;
    }
    let ledger = match answers {
        Some(answers) => answers.ledger.clone(),
        None => unanswered(outside, call),
    };
    let (Some(ledger), Ok(now)) = (ledger, outside.now()) else { return };
    let agent = answers.and_then(Answers::agent).map(ToString::to_string);
    let CallEnd { what, bytes, ms, cause } = *end;
    ledger.add(outside, &HookNote { at: now.wall, agent, what, bytes, ms, cause: cause.to_owned() });
}

/// The notes of the scope that was to answer.
fn unanswered(outside: &mut dyn Outside, call: &HookCall) -> Option<Ledger> {
    let (config, site) = without_store(outside, &call.globals(), &call.cwd).ok()?;
    let url = config.store_url().map(str::to_owned);
    Some(Ledger { url, start: call.cwd.clone(), scope: site.key })
}

/// What hooks cost in a day.
#[derive(Clone, Debug, Default)]
pub struct Cost {
    /// From when on.
    pub since: Wall,
    /// For each agent, the dearest first.
    pub agents: Vec<(String, AgentCost)>,
    /// Every slow call, of whomever, the slowest first.
    pub slow: Vec<HookNote>,
}

/// What hooks cost one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AgentCost {
    /// How often its model was told something.
    pub told: u64,
    /// How many tool calls were refused.
    pub refused: u64,
    /// How many would have been, had anything been enforced.
    pub let_pass: u64,
    /// Bytes that its model was told, refusals included.
    pub bytes: u64,
    /// How many calls were slow.
    pub slow: u64,
}

impl AgentCost {
    /// About how many tokens the bytes are.
    pub fn tokens(self) -> u64 {
        self.bytes.div_ceil(BYTES_PER_TOKEN)
    }

    fn add(&mut self, note: &HookNote) {
        self.told += u64::from(note.what == Noted::Told);
        self.refused += u64::from(note.what == Noted::Refused);
        self.let_pass += u64::from(note.what == Noted::LetPass);
        self.bytes += note.bytes;
        self.slow += u64::from(note.is_slow());
    }
}

/// Adds up what is noted.
fn cost(since: Wall, notes: Vec<HookNote>) -> Cost {
    let mut agents: BTreeMap<String, AgentCost> = BTreeMap::new();
    for note in &notes {
        let Some(agent) = &note.agent else { continue };
        agents.entry(agent.clone()).or_default().add(note);
    }
    let mut agents: Vec<_> = agents.into_iter().collect();
    agents.sort_by_key(|(_, cost)| std::cmp::Reverse(cost.bytes));
    let mut slow: Vec<HookNote> = notes.into_iter().filter(HookNote::is_slow).collect();
    slow.sort_by_key(|note| std::cmp::Reverse(note.ms));
    Cost { since, agents, slow }
}

impl Session<'_> {
    /// What hooks cost since an instant of the wall clock, as far as it was noted.
    pub fn cost_since(&mut self, since: Wall) -> Result<Cost, Failure> {
        let path = self.file_beside_store(SUFFIX)?;
        let text = self.outside.read_text(&path)?.unwrap_or_default();
        let notes = text.lines().filter_map(HookNote::read).filter(|note| note.at >= since).collect();
        Ok(cost(since, notes))
    }

    /// The same for the day that ends now.
    pub fn cost(&mut self) -> Result<Cost, Failure> {
        let now = self.now()?;
        self.cost_since(Wall(now.wall.0.saturating_sub(DAY_MS)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn note(agent: Option<&str>, what: Noted, bytes: u64, ms: u64) -> HookNote {
        HookNote { at: Wall(7), agent: agent.map(str::to_owned), what, bytes, ms, cause: "store".to_owned() }
    }

    #[test]
    fn a_note_is_read_as_it_was_written_and_rubbish_is_passed_over() {
        for note in [note(Some("otter"), Noted::Refused, 312, 9), note(None, Noted::Silent, 0, 900)] {
            assert_eq!(HookNote::read(&note.line()), Some(note));
        }
        for rubbish in
            ["", "7", "7\totter\tsang\t1\t2\tstore", "x\totter\ttold\t1\t2\tstore", "7\totter\ttold\t1"]
        {
            assert_eq!(HookNote::read(rubbish), None, "{rubbish}");
        }
    }

    #[test]
    fn costs_are_those_of_each_agent_and_slow_calls_those_of_all() {
        let notes = vec![
            note(Some("heron"), Noted::Told, 100, 300),
            note(Some("otter"), Noted::Refused, 301, 3),
            note(None, Noted::Silent, 0, 700),
            note(Some("otter"), Noted::Told, 100, 4),
        ];
        let found = cost(Wall(1), notes);
        let names: Vec<&str> = found.agents.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["otter", "heron"]);
        assert_eq!(found.agents[0].1, AgentCost { told: 1, refused: 1, let_pass: 0, bytes: 401, slow: 0 });
        assert_eq!(found.agents[0].1.tokens(), 101);
        assert_eq!(found.slow.iter().map(|note| note.ms).collect::<Vec<_>>(), [700, 300]);
    }
}
