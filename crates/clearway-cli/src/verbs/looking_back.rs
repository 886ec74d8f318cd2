//! `digest` and `status --cost`: what was, in few lines.

use crate::Host;
use crate::arguments::DigestFlags;
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{Cell, Fit, Page, Table, Tone, and_more, count, wrap};
use clearway_core::duration;
use clearway_core::failure::Failure;
use clearway_core::ids::Seq;
use clearway_core::slug::Slug;
use clearway_core::text::{printable, quoted};
use clearway_core::time::{Wall, rounded};
use clearway_kernel::{AgentCost, Cost, Deeds, Digest, Globals, HookNote, OverwrittenFile, Passed, Session};
use clearway_wire::json::{
    AgentCostJson, CommitsJson, CostReply, DeedsJson, DigestReply, LongestWaitJson, Looked, OperatorActJson,
    PassedJson, SlowCallJson, WrittenOverJson, Zone, instant, rfc3339,
};

/// How far `digest` looks back unless it is told.
const NIGHT: &str = "12h";
/// Slow calls that programs are told of one by one.
const SLOWEST_TOLD: usize = 10;
/// Things of one kind that are named before the rest is only counted: everything together fits 40 lines.
const NAMED: usize = 4;
/// Agents that have a line of their own.
const AGENTS_SHOWN: usize = 12;

pub(super) fn digest(
    host: &mut dyn Host,
    globals: &Globals,
    flags: &DigestFlags,
) -> Result<LookBack, Problem> {
    let wall = host.now().map_err(|error| clearway_kernel::store_failure(&error))?.wall;
    let zone = host.zone();
    let words = flags.since.as_deref().unwrap_or(NIGHT);
    let since = instant_of(words, wall, &zone).ok_or_else(|| {
        Failure::new(Slug::Usage, format!("--since {} is no time", quoted(words))).hint(
            "a time of day, a span or an instant: --since 22:00, --since 8h, --since 2026-07-29T22:00:00Z",
        )
    })?;
    let mut session = Session::open(host, globals)?;
    let scope = session.site.key.to_string();
    Ok(LookBack { found: session.digest(since)?, scope })
}

/// The instant that is meant: a time of day, a span back, or an instant.
fn instant_of(words: &str, now: Wall, zone: &Zone) -> Option<Wall> {
    if let Some((hour, minute)) = words.split_once(':').filter(|(hour, _)| hour.len() <= 2) {
        return zone.last(now, hour.parse().ok()?, minute.parse().ok()?);
    }
    let span = duration::parse(words).ok().map(duration::milliseconds);
    let back = span.map(|ms| Wall(now.0.saturating_sub(i64::try_from(ms).unwrap_or(i64::MAX))));
    back.or_else(|| instant(words))
}

/// The answer of `digest`.
#[derive(Debug)]
pub(super) struct LookBack {
    found: Digest,
    scope: String,
}

impl Answer for LookBack {
    fn json(&self, given: &Given) -> String {
        let found = &self.found;
        let passed = |list: &[Passed]| list.iter().map(passed_json).collect();
        let commits = |list: &Vec<(String, u64)>| {
            list.iter().map(|(author, count)| CommitsJson { author: author.clone(), count: *count }).collect()
        };
        document(&Looked::new(
            found.rev,
            DigestReply {
                since: rfc3339(found.since),
                events: found.events,
                commits: found.commits.as_ref().map(commits),
                let_pass: let_pass(&found.cost),
                agents: found.agents.iter().map(deeds_json).collect(),
                longest_wait: found.longest_wait.as_ref().map(|wait| LongestWaitJson {
                    agent: wait.agent.clone(),
                    pattern: wait.target.clone(),
                    ms: wait.ms,
                    open: wait.is_open,
                }),
                taken_over: passed(&found.taken_over),
                left_behind: passed(&found.left_behind),
                written_over: found.overwritten.iter().map(written_over_json).collect(),
                operator_acts: found
                    .operator_acts
                    .iter()
                    .map(|(agent, kind)| OperatorActJson { agent: agent.clone(), kind: (*kind).to_owned() })
                    .collect(),
                denied: found.denied,
                tokens: tokens(&found.cost),
                slow_hooks: found.cost.slow.len() as u64,
                needs: found.needs.iter().map(|need| given.advice(need)).collect(),
            },
        ))
    }

    fn text(&self, page: &Page) -> String {
        let found = &self.found;
        let span = u64::try_from(found.now.wall.0 - found.since.0).unwrap_or(0);
        let events = count(found.events, "event", "events");
        let mut text =
            format!("{}, the last {}: {events}\n", page.paint(Tone::Strong, &self.scope), rounded(span));
        if !found.needs.is_empty() {
            text.push_str(&(page.paint(Tone::Bad, "needs you") + "\n"));
            let needs = found.needs.iter().map(|need| page.given.advice(need)).collect::<Vec<_>>();
            text.push_str(&named(&needs, page));
        }
        for (about, said) in self.lines() {
            text.push_str(&about_lines(about, &said, page));
        }
        text + &agent_table(&found.agents, page)
    }
}

impl LookBack {
    /// One thing each, and nothing of what did not happen.
    fn lines(&self) -> Vec<(&'static str, String)> {
        let found = &self.found;
        let mut lines = Vec::new();
        if let Some(commits) = found.commits.as_ref().filter(|commits| !commits.is_empty()) {
            let all = commits.iter().map(|(_, number)| number).sum::<u64>();
            let by: Vec<String> =
                commits.iter().map(|(author, number)| format!("{author} {number}")).collect();
            lines.push(("commits", format!("{all}: {}", some(&by))));
        }
        let refused = found.agents.iter().map(|(_, deeds)| deeds.refused).sum::<u64>();
        if refused > 0 {
            lines.push(("refusals", refused.to_string()));
        }
        if let_pass(&found.cost) > 0 {
            let edits = count(let_pass(&found.cost), "edit", "edits");
            lines.push(("let pass", format!("{edits} that would have been refused; nothing is enforced")));
        }
        let waits = found.agents.iter().map(|(_, deeds)| deeds.waits).sum::<u64>();
        if let Some(longest) = &found.longest_wait {
            let goes_on = if longest.is_open { ", and goes on" } else { "" };
            let (agent, target, ms) = (&longest.agent, &longest.target, rounded(longest.ms));
            lines.push(("waits", format!("{waits}; the longest {ms}: {agent} for {target}{goes_on}")));
        }
        let from = |passed: &Passed| match &passed.to {
            Some(to) => format!("{} from {} by {to}", passed.target, passed.from),
            None => format!("{} by {}", passed.target, passed.from),
        };
        for (about, list) in [("taken over", &found.taken_over), ("left behind", &found.left_behind)] {
            if !list.is_empty() {
                lines.push((about, some(&list.iter().map(from).collect::<Vec<_>>())));
            }
        }
        let by = |file: &OverwrittenFile| {
            format!("{} by {}", file.path, file.by.as_deref().unwrap_or("nobody that is known"))
        };
        if !found.overwritten.is_empty() {
            lines.push(("written over", some(&found.overwritten.iter().map(by).collect::<Vec<_>>())));
        }
        if !found.operator_acts.is_empty() {
            let acts: Vec<String> =
                found.operator_acts.iter().map(|(agent, kind)| format!("{kind} by {agent}")).collect();
            lines.push(("operator", some(&acts)));
        }
        if found.denied > 0 {
            lines.push(("denied", count(found.denied, "act", "acts")));
        }
        if tokens(&found.cost) > 0 {
            lines.push(("hooks told", format!("about {}", count(tokens(&found.cost), "token", "tokens"))));
        }
        if let Some(slowest) = found.cost.slow.first() {
            lines.push(("slow hooks", format!("{}; {}", found.cost.slow.len(), slowest_said(slowest))));
        }
        lines
    }
}

fn agent_table(agents: &[(String, Deeds)], page: &Page) -> String {
    if agents.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&[Fit::Last, Fit::Whole, Fit::Whole, Fit::Whole]);
    table.head(&["agent", "leases", "refused", "waited"]);
    for (name, deeds) in agents.iter().take(AGENTS_SHOWN) {
        let waited = match deeds.waits {
            0 => "-".to_owned(),
            waits => format!("{waits}, {}", rounded(deeds.waited_ms)),
        };
        table.row(vec![
            Cell::new(name).tone(Tone::Strong),
            Cell::new(deeds.leases.to_string()),
            Cell::new(deeds.refused.to_string()),
            Cell::new(waited),
        ]);
    }
    let more = and_more(agents.len(), AGENTS_SHOWN).map(|more| more + "\n");
    table.render(page, "") + &more.unwrap_or_default()
}

/// Lines of one thing that is told: what comes from outside has no say in how long this is.
const ITEM_LINES_MAX: usize = 2;

fn about_lines(about: &str, said: &str, page: &Page) -> String {
    let front = format!("{about:12} ");
    let next = " ".repeat(front.len());
    let lines = wrap(&printable(said), page.columns, &front, &next);
    lines.into_iter().take(ITEM_LINES_MAX).map(|line| line + "\n").collect()
}

fn named(list: &[String], page: &Page) -> String {
    let lines = list.iter().take(NAMED).flat_map(|item| {
        wrap(&printable(item), page.columns, "  ", "    ")
            .into_iter()
            .take(ITEM_LINES_MAX)
            .collect::<Vec<_>>()
    });
    let text: String = lines.map(|line| line + "\n").collect();
    match and_more(list.len(), NAMED) {
        None => text,
        Some(more) => text + &page.given.advice(&format!("  {more}: clearway status --json")) + "\n",
    }
}

fn some(list: &[String]) -> String {
    let named = list.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match and_more(list.len(), NAMED) {
        None => named,
        Some(more) => format!("{named} {more}"),
    }
}

fn let_pass(cost: &Cost) -> u64 {
    cost.agents.iter().map(|(_, agent)| agent.let_pass).sum()
}

fn tokens(cost: &Cost) -> u64 {
    cost.agents.iter().map(|(_, agent)| agent.tokens()).sum()
}

fn slowest_said(note: &HookNote) -> String {
    format!("the slowest {} ms: {}", note.ms, note.cause)
}

fn deeds_json((agent, deeds): &(String, Deeds)) -> DeedsJson {
    let Deeds { leases, refused, waits, waited_ms } = *deeds;
    DeedsJson { agent: agent.clone(), leases, refused, waits, waited_ms }
}

pub(super) fn written_over_json(file: &OverwrittenFile) -> WrittenOverJson {
    let OverwrittenFile { path, holder, by, .. } = file;
    WrittenOverJson { pattern: path.clone(), holder: holder.clone(), by: by.clone() }
}

fn passed_json(passed: &Passed) -> PassedJson {
    PassedJson { pattern: passed.target.clone(), from: passed.from.clone(), to: passed.to.clone() }
}

pub(super) fn cost(session: &mut Session<'_>) -> Result<Costs, Problem> {
    let rev = session.agents()?.rev;
    Ok(Costs { found: session.cost()?, rev })
}

/// The answer of `status --cost`.
#[derive(Debug)]
pub(super) struct Costs {
    found: Cost,
    rev: Seq,
}

impl Answer for Costs {
    fn json(&self, _: &Given) -> String {
        let agent = |(name, cost): &(String, AgentCost)| AgentCostJson {
            agent: name.clone(),
            told: cost.told,
            refused: cost.refused,
            let_pass: cost.let_pass,
            bytes: cost.bytes,
            tokens: cost.tokens(),
            slow: cost.slow,
        };
        let slow = |note: &HookNote| SlowCallJson {
            at: rfc3339(note.at),
            agent: note.agent.clone(),
            ms: note.ms,
            cause: note.cause.clone(),
        };
        document(&Looked::new(
            self.rev,
            CostReply {
                since: rfc3339(self.found.since),
                agents: self.found.agents.iter().map(agent).collect(),
                slowest: self.found.slow.iter().take(SLOWEST_TOLD).map(slow).collect(),
                slow: self.found.slow.len() as u64,
            },
        ))
    }

    fn text(&self, page: &Page) -> String {
        let Cost { agents, slow, .. } = &self.found;
        let mut text = match agents.is_empty() {
            true => "hooks told nobody anything in the last day\n".to_owned(),
            false => cost_table(agents).render(page, ""),
        };
        if let Some(slowest) = slow.first() {
            let calls = count(slow.len() as u64, "slow hook call", "slow hook calls");
            text.push_str(&printable(&format!("{calls}; {}", slowest_said(slowest))));
            text.push('\n');
        }
        text
    }
}

fn cost_table(agents: &[(String, AgentCost)]) -> Table {
    // Where refusals are enforced nothing is let pass, and there is nothing to say of it.
    let is_lenient = agents.iter().any(|(_, cost)| cost.let_pass > 0);
    let heads = ["agent", "told", "refused", "let pass", "bytes", "tokens", "slow"];
    let heads: Vec<&str> = heads.into_iter().filter(|head| is_lenient || *head != "let pass").collect();
    let fits: Vec<Fit> =
        heads.iter().enumerate().map(|(at, _)| if at == 0 { Fit::Last } else { Fit::Whole }).collect();
    let mut table = Table::new(&fits);
    table.head(&heads);
    for (name, cost) in agents {
        let let_pass = is_lenient.then_some(cost.let_pass);
        let numbers = [cost.told, cost.refused].into_iter().chain(let_pass);
        let numbers = numbers.chain([cost.bytes, cost.tokens(), cost.slow]);
        let numbers = numbers.map(|number| Cell::new(number.to_string()));
        table.row(std::iter::once(Cell::new(name).tone(Tone::Strong)).chain(numbers).collect());
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_night_begins_at_a_time_of_day_a_span_ago_or_at_an_instant() {
        let now = instant("2026-07-29T06:00:00Z").unwrap();
        let zone = Zone::read(None, None);
        for (words, expect) in [
            ("22:00", "2026-07-28T22:00:00.000Z"),
            ("5:30", "2026-07-29T05:30:00.000Z"),
            ("8h", "2026-07-28T22:00:00.000Z"),
            ("2026-07-28T21:00:00Z", "2026-07-28T21:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(instant_of(words, now, &zone).unwrap()), expect, "{words}");
        }
        for words in ["", "25:00", "10:99", "yesterday", "-3h"] {
            assert_eq!(instant_of(words, now, &zone), None, "{words}");
        }
    }
}
