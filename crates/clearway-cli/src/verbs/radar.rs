//! `radar`: which files of checkouts will not merge.

use crate::arguments::RadarFlags;
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{Page, Tone, and_more, count};
use clearway_core::text::shown;
use clearway_kernel::{Conflict, Radar, Session, Tip};
use clearway_wire::json::{ConflictJson, Looked, RadarReply, TipJson};

/// Paths of a pair that people are shown.
const PATHS_SHOWN: usize = 12;

pub(super) fn radar(session: &mut Session<'_>, flags: &RadarFlags) -> Result<Seen, Problem> {
    Ok(Seen(session.radar(&flags.branches)?))
}

/// The answer of `radar`.
#[derive(Debug)]
pub(super) struct Seen(Radar);

impl Answer for Seen {
    fn json(&self, _: &Given) -> String {
        let tips = self.0.tips.iter().map(tip).collect();
        let conflict = |found: &Conflict| ConflictJson {
            one: self.0.tips[found.one].name.clone(),
            other: self.0.tips[found.other].name.clone(),
            paths: found.paths.clone(),
        };
        let conflicts = self.0.conflicts.iter().map(conflict).collect();
        document(&Looked::new(self.0.rev, RadarReply { tips, conflicts }))
    }

    fn text(&self, page: &Page) -> String {
        let looked = count(self.0.tips.len() as u64, "line of work", "lines of work");
        if self.0.conflicts.is_empty() {
            return format!("{}: {looked}\n", page.paint(Tone::Good, "everything merges"));
        }
        let mut text = String::new();
        for found in &self.0.conflicts {
            let (one, other) = (place(&self.0.tips[found.one]), place(&self.0.tips[found.other]));
            let head = page.paint(Tone::Bad, "will not merge");
            text.push_str(&format!("{head}: {one} and {other}\n"));
            found
                .paths
                .iter()
                .take(PATHS_SHOWN)
                .for_each(|path| text.push_str(&format!("  {}\n", shown(path))));
            text.extend(and_more(found.paths.len(), PATHS_SHOWN).map(|more| format!("  {more}\n")));
        }
        text
    }
}

fn tip(tip: &Tip) -> TipJson {
    TipJson {
        name: tip.name.clone(),
        root: tip.root.as_ref().map(|root| root.display().to_string()),
        uncommitted: tip.is_dirty,
        agents: tip.agents.clone(),
    }
}

/// What it is, where, and whose.
fn place(tip: &Tip) -> String {
    let root = tip.root.as_ref().map(|root| format!(" in {}", shown(&root.display().to_string())));
    let agents = if tip.agents.is_empty() { String::new() } else { format!(" ({})", tip.agents.join(", ")) };
    format!("{}{agents}{}", shown(&tip.name), root.unwrap_or_default())
}
