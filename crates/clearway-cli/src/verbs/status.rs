//! `status`: one look at everything, for people and, more tersely, for agents.

use super::looking_back::written_over_json;
use super::negotiation::{negotiation_table, next_of};
use super::queueing::wait_table;
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{
    Cell, Fit, Page, Table, Tone, ago, and_more, count, left, machine_wide_name, placed_pattern,
    placed_wants, seen_tone, wrap, wrap_hint,
};
use clearway_core::agent::AgentName;
use clearway_core::event::Body;
use clearway_core::failure::LeaseView;
use clearway_core::ids::AgentId;
use clearway_core::lease::Grade;
use clearway_core::negotiation::{NegotiationState, NegotiationView};
use clearway_core::text::{columns, printable, truncate_columns};
use clearway_core::time::{Now, rounded};
use clearway_core::wait::{Queued, waiters_for};
use clearway_kernel::{AgentSeen, OverwrittenFile, Session, Status, UncheckedCommit, Unread};
use clearway_wire::json::{
    Actor, AgentJson, Blocker, Looked, NegotiationJson, StatusReply, UncheckedJson, WaitJson, rfc3339,
};

/// What an agent reads costs it tokens, so its form is no longer than this.
const TERSE_BYTES_MAX: usize = 400;
/// Columns there of what the agent holds, of what others hold, and of each side of the queue.
const TERSE_OWN_COLUMNS_MAX: usize = 120;
const TERSE_OTHERS_COLUMNS_MAX: usize = 140;
const TERSE_QUEUE_COLUMNS_MAX: usize = 80;
const TERSE_PAST_COLUMNS_MAX: usize = 120;
/// Warnings shown to people before the rest is only counted; more would push ten agents off 24 lines.
const WARNINGS_SHOWN: usize = 3;
/// Waits shown to people before the rest is only counted.
const WAITS_SHOWN: usize = 3;
/// At a terminal a warning, or the reason of a freeze, takes two lines at most; an agent reads as much of it.
const WARNING_COLUMNS_MAX: usize = 140;
/// Of what a warning says, so much stays beside the longest command.
const SAID_COLUMNS_MIN: usize = 40;
/// Columns given to the paths of a commit that went past the check.
const PAST_PATHS_COLUMNS_MAX: usize = 40;
/// Columns given to what an agent holds.
const HOLDS_COLUMNS_MAX: usize = 200;

pub(super) fn status(session: &mut Session<'_>, stdout_is_terminal: bool) -> Result<Look, Problem> {
    let by_agent = session.caller.in_client_session() || session.caller.claim.is_some();
    let found = session.full_status()?;
    let unread = if found.me.is_some() { session.unread()? } else { None };
    Ok(Look {
        found,
        unread,
        scope: session.site.key.to_string(),
        place: session.site.place.clone(),
        terse: by_agent && !stdout_is_terminal,
    })
}

/// The answer of `status`.
#[derive(Debug)]
pub(crate) struct Look {
    pub(crate) found: Status,
    pub(crate) unread: Option<Unread>,
    pub(crate) scope: String,
    pub(crate) place: String,
    pub(crate) terse: bool,
}

impl Answer for Look {
    fn json(&self, given: &Given) -> String {
        let Status { rev, now, me, agents, leases, waits, machine_wide, frozen, .. } = &self.found;
        let negotiations = NegotiationJson::list(&self.found.negotiations, now);
        let leases_there = machine_wide.leases.iter().map(|view| view.lease.id.to_string());
        let queue_there = machine_wide.queue();
        let waits_there = queue_there.iter().map(|queued| queued.wait.id.to_string());
        let agent = |seen: &AgentSeen| {
            AgentJson::new(&seen.view, seen.liveness, seen.waiting, now).looping(seen.is_looping(now))
        };
        document(&Looked::new(
            *rev,
            StatusReply {
                scope: self.scope.clone(),
                place: self.place.clone(),
                actor: Actor::new(me.as_ref()),
                agents: agents.iter().map(agent).collect(),
                leases: Blocker::list(leases.iter().chain(&machine_wide.leases), now),
                waits: WaitJson::list(waits.iter().chain(&queue_there), now),
                negotiations,
                machine_wide: leases_there.chain(waits_there).collect(),
                frozen_until: frozen.as_ref().map(|freeze| rfc3339(now.wall_at(freeze.until))),
                unchecked: self.found.unchecked.iter().map(|past| self.unchecked_json(past)).collect(),
                unread: self.unread.as_ref().map_or(0, |unread| unread.count),
                written_over: self.found.overwritten.iter().map(written_over_json).collect(),
                warnings: self.all_warnings().iter().map(|warning| given.advice(warning)).collect(),
            },
        ))
    }

    fn text(&self, page: &Page) -> String {
        if self.terse { self.terse_form(page) } else { self.people_form(page) }
    }
}

impl Look {
    fn unchecked_json(&self, past: &UncheckedCommit) -> UncheckedJson {
        let is_live = |id| self.found.leases.iter().any(|view| view.lease.id == id);
        UncheckedJson {
            commit: past.commit.clone(),
            paths: past.paths.clone(),
            blockers: past.blockers.iter().map(ToString::to_string).collect(),
            held: past.blockers.iter().any(|id| is_live(*id)),
            agent: past.by.as_ref().map(ToString::to_string),
            found_at: rfc3339(past.at),
        }
    }

    /// What needs a person, commits past the check last: they do no more harm than they did.
    fn all_warnings(&self) -> Vec<String> {
        let past = past_the_check(&self.found.unchecked);
        let past = past.map(|past| format!("{past}: clearway events --kind {}", Body::COMMIT_UNCHECKED));
        let over = overwritten(&self.found.overwritten);
        let over = over.map(|over| format!("{over}: clearway events --kind {}", Body::LEASE_OVERWRITTEN));
        self.found.warnings.iter().cloned().chain(past).chain(over).collect()
    }

    /// What can be reserved here: where there are no paths, names.
    fn first_step(&self) -> &'static str {
        if self.found.here.0.is_empty() { "reserve --kind name NAME" } else { "reserve PATH" }
    }

    fn people_form(&self, page: &Page) -> String {
        let Status { me, agents, leases, waits, machine_wide, .. } = &self.found;
        let you = me.as_ref().map(|(_, name)| format!(", you are {name}")).unwrap_or_default();
        let warnings = self.warnings(page);
        let mut text = format!("{warnings}{}{you}\n", page.paint(Tone::Strong, &self.scope));
        text.extend(self.frozen().map(|frozen| short_lines(&frozen, page)));
        match agents.is_empty() {
            true => {
                let here = if machine_wide.others_hold > 0 { " here" } else { "" };
                let nobody = format!("  nobody holds anything{here}: clearway {}", self.first_step());
                text.push_str(&page.given.advice(&nobody));
                text.push('\n');
            }
            false => text.push_str(&self.agent_table(page).render(page, "  ")),
        }
        text.push_str(&self.waits(page));
        text.push_str(&self.negotiations(page));
        let held = leases.len() + machine_wide.leases.len();
        let waiting = waits.len() + machine_wide.waits.len() + machine_wide.rivals.len();
        let mut totals =
            vec![count(agents.len() as u64, "agent", "agents"), count(held as u64, "lease", "leases")];
        if waiting > 0 {
            totals.push(count(waiting as u64, "wait", "waits"));
        }
        totals.push(format!("revision {}", self.found.rev));
        text + &totals.join(", ") + "\n" + &self.machine_wide_of_others(page)
    }

    /// Whoever has nothing there sees nothing of it otherwise.
    fn machine_wide_of_others(&self, page: &Page) -> String {
        let there = &self.found.machine_wide;
        if !there.is_empty() || there.others_hold + there.others_wait == 0 {
            return String::new();
        }
        let leases = count(there.others_hold, "lease", "leases");
        let waits = count(there.others_wait, "wait", "waits");
        let said = format!("machine-wide {leases}, {waits}: clearway --scope machine status");
        page.given.advice(&said) + "\n"
    }

    fn frozen(&self) -> Option<String> {
        let freeze = self.found.frozen.as_ref()?;
        let left = rounded(freeze.until.since(self.found.now.mono));
        Some(format!("frozen for another {left}: {}", printable(&freeze.reason)))
    }

    fn warnings(&self, page: &Page) -> String {
        let warnings = self.all_warnings();
        if warnings.is_empty() {
            return String::new();
        }
        let mut text = page.paint(Tone::Bad, "needs you") + "\n";
        for warning in warnings.iter().take(WARNINGS_SHOWN) {
            text.push_str(&warning_lines(&page.given.advice(&printable(warning)), page));
        }
        if let Some(more) = and_more(warnings.len(), WARNINGS_SHOWN) {
            text.push_str(&page.given.advice(&format!("  {more}: clearway status --json")));
            text.push('\n');
        }
        text + "\n"
    }

    /// The first places in the queue, and how many more there are.
    fn waits(&self, page: &Page) -> String {
        let (here, there) = (&self.found.waits, &self.found.machine_wide.queue());
        let shown_there = there.get(..WAITS_SHOWN).unwrap_or(there);
        let shown_here = here.get(..WAITS_SHOWN - shown_there.len()).unwrap_or(here);
        let shown = shown_here.len() + shown_there.len();
        if shown == 0 {
            return String::new();
        }
        let text = wait_table(shown_here, shown_there, &self.found.now, page).render(page, "  ");
        match and_more(here.len() + there.len(), shown) {
            None => text,
            Some(more) => text + &page.given.advice(&format!("  {more}: clearway waits")) + "\n",
        }
    }

    fn negotiations(&self, page: &Page) -> String {
        let all = &self.found.negotiations;
        let shown = all.get(..WAITS_SHOWN).unwrap_or(all);
        if shown.is_empty() {
            return String::new();
        }
        let text = negotiation_table(shown, &self.found.now).render(page, "  ");
        match and_more(all.len(), shown.len()) {
            None => text,
            Some(more) => text + &page.given.advice(&format!("  {more}: clearway negotiations")) + "\n",
        }
    }

    fn agent_table(&self, page: &Page) -> Table {
        let Status { now, agents, .. } = &self.found;
        let mut table = Table::new(&[Fit::Last, Fit::Whole, Fit::Whole, Fit::End]);
        table.head(&["agent", "state", "seen", "holds"]);
        for seen in agents {
            let view = &seen.view;
            table.row(vec![
                Cell::new(view.agent.name.as_str()).tone(Tone::Strong),
                Cell::new(seen.word()).tone(seen_tone(seen)),
                Cell::new(view.last_seen().map_or("-".to_owned(), |seen| ago(now.mono.since(seen)))),
                Cell::new(self.holds(view.agent.id, page)),
            ]);
        }
        table
    }

    /// What an agent holds: as many patterns as have room, and how many more.
    fn holds(&self, agent: AgentId, page: &Page) -> String {
        let patterns = self.held_by(agent, page);
        let joined = some_of(&patterns, HOLDS_COLUMNS_MAX);
        let count = if patterns.len() > 1 { format!("{}: ", patterns.len()) } else { String::new() };
        count + &joined
    }

    /// What an agent holds here; of the caller also what it holds machine-wide.
    fn held_by(&self, agent: AgentId, page: &Page) -> Vec<String> {
        let own = self.found.leases.iter().filter(|view| view.lease.holder == agent);
        let here = own.map(|view| placed_pattern(view, page));
        let is_me = self.found.me.as_ref().is_some_and(|(id, _)| *id == agent);
        let there = self.found.machine_wide.leases.iter().filter(|_| is_me).map(machine_wide_name);
        here.chain(there).collect()
    }

    /// Everything an agent needs before its next edit, in few bytes.
    fn terse_form(&self, page: &Page) -> String {
        let lines = self.terse_holdings(page).into_iter().chain(self.terse_past());
        let lines = lines.chain(self.terse_queue(page)).chain(self.terse_mail(page));
        let lines = lines.chain(self.terse_warning(page));
        let text: String = lines.map(|line| line + "\n").collect();
        let next = page.given.advice(&format!("next: clearway {}", self.next()));
        let room = TERSE_BYTES_MAX.saturating_sub(next.len() + 2);
        format!("{}\n{next}\n", cut(printable_lines(&text).trim_end(), room).trim_end())
    }

    /// Who the caller is, and who holds what.
    fn terse_holdings(&self, page: &Page) -> Vec<String> {
        let Status { now, me, leases, .. } = &self.found;
        let is_mine = |view: &&LeaseView| me.as_ref().is_some_and(|(id, _)| view.lease.holder == *id);
        let mine = me.as_ref().map(|(id, _)| self.held_by(*id, page)).unwrap_or_default();
        let others = leases.iter().filter(|view| !is_mine(view));
        let others: Vec<String> = others
            .map(|view| format!("{} {} {}", placed_pattern(view, page), view.agent, left(view, now)))
            .collect();
        let name = me.as_ref().map_or("not registered yet", |(_, name)| name.as_str());
        let holds =
            if mine.is_empty() { "nothing".to_owned() } else { some_of(&mine, TERSE_OWN_COLUMNS_MAX) };
        let own = format!("you: {name}; you hold: {holds}");
        [own].into_iter().chain(listed("others hold", &others, TERSE_OTHERS_COLUMNS_MAX)).collect()
    }

    /// What was done to what others hold.
    fn terse_past(&self) -> impl Iterator<Item = String> {
        let past = past_the_check(&self.found.unchecked).into_iter();
        let past = past.chain(overwritten(&self.found.overwritten));
        past.map(|past| truncate_columns(&past, TERSE_PAST_COLUMNS_MAX).into_owned())
    }

    /// What keeps whom waiting, and who asks whom.
    fn terse_queue(&self, page: &Page) -> Vec<String> {
        let list = |about: &str, found: &[String]| listed(about, found, TERSE_QUEUE_COLUMNS_MAX);
        let awaited: Vec<String> = self.awaited().map(|queued| in_short(queued, page)).collect();
        let awaiting = self.awaiting();
        let awaiting: Vec<String> =
            awaiting.map(|queued| format!("{} ({})", queued.agent, first_wanted(queued, page))).collect();
        let lines = list("you wait for", &awaited).into_iter().chain(self.frozen());
        let lines = lines.chain(list("wait for you", &awaiting));
        let lines = lines.chain(list("asked of you", &self.asked_of_me()));
        lines.chain(list("you asked", &self.asked_by_me())).collect()
    }

    fn terse_mail(&self, page: &Page) -> Option<String> {
        let Unread { count, is_all, from, .. } = self.unread.as_ref()?;
        let least = if *is_all { "" } else { "at least " };
        Some(page.given.advice(&format!("unread: {least}{count}, the first from {from}: clearway inbox")))
    }

    fn terse_warning(&self, page: &Page) -> Option<String> {
        let warnings = &self.found.warnings;
        let first = shortened(&page.given.advice(warnings.first()?), WARNING_COLUMNS_MAX);
        let more = if warnings.len() > 1 { format!(" +{}", warnings.len() - 1) } else { String::new() };
        Some(format!("needs a person{more}: {first}"))
    }
}

impl Look {
    /// The caller's own waits.
    fn awaited(&self) -> impl Iterator<Item = &Queued> {
        let me = self.found.me.as_ref().map(|(id, _)| *id);
        let here = self.found.waits.iter().filter(move |queued| Some(queued.wait.agent) == me);
        here.chain(&self.found.machine_wide.waits)
    }

    /// Open requests for what the caller holds.
    fn requests_to_me(&self) -> impl Iterator<Item = &NegotiationView> {
        let me = self.found.me.as_ref().map(|(id, _)| *id);
        self.found.negotiations.iter().filter(move |view| Some(view.negotiation.holder) == me)
    }

    fn asked_of_me(&self) -> Vec<String> {
        let now = &self.found.now;
        self.requests_to_me().map(|view| request(view, &view.requester, now)).collect()
    }

    fn asked_by_me(&self) -> Vec<String> {
        let me = self.found.me.as_ref().map(|(id, _)| *id);
        let own = self.found.negotiations.iter().filter(|view| Some(view.negotiation.requester) == me);
        own.map(|view| request(view, &view.holder, &self.found.now)).collect()
    }

    /// Those who wait for what the caller holds.
    fn awaiting(&self) -> impl Iterator<Item = &Queued> {
        self.found.me.iter().flat_map(|(me, _)| awaiting(&self.found, *me))
    }

    /// The verb that is most likely of use: a turn that has come is kept only for a while, and what a running command
    /// keeps is nobody's to give back.
    fn next(&self) -> String {
        let turn = self.awaited().find(|queued| queued.wait.offered_until.is_some());
        let me = self.found.me.as_ref().map(|(id, _)| *id);
        let here = self.found.leases.iter().filter(|view| Some(view.lease.holder) == me);
        let own = here.chain(&self.found.machine_wide.leases).filter(|view| view.lease.bound.is_none());
        let asked = self.requests_to_me().find(|view| view.negotiation.state == NegotiationState::Requested);
        match (turn, own.map(|view| view.lease.grade).min()) {
            (Some(queued), _) => format!("wait {}", queued.wait.id),
            _ if asked.is_some() => asked.map(answered).unwrap_or_default(),
            // What a hook took is not committed yet, and would be anybody's.
            (None, Some(Grade::Auto)) => "mine --dirty".to_owned(),
            (None, Some(Grade::Claimed)) => "release --all".to_owned(),
            // What is refused during a pause is no next step; a place for when it is over is.
            (None, None) if self.found.frozen.is_some() && !self.found.here.0.is_empty() => {
                "reserve --queue PATH".to_owned()
            }
            (None, None) => self.first_step().to_owned(),
        }
    }
}

/// A line of an agent's form, if there is anything for it.
fn listed(about: &str, found: &[String], columns_max: usize) -> Option<String> {
    (!found.is_empty()).then(|| format!("{about}: {}", some_of(found, columns_max)))
}

/// The latest commit that went past the check, and how many did.
fn past_the_check(unchecked: &[UncheckedCommit]) -> Option<String> {
    let last = unchecked.last()?;
    let by = last.by.as_ref().map(|name| format!(" by {name}")).unwrap_or_default();
    let before = match unchecked.len() {
        1 => String::new(),
        count => format!("{count} commits of a day, the last: "),
    };
    let paths = some_of(&last.paths, PAST_PATHS_COLUMNS_MAX);
    Some(format!("{before}{}{by} went past the check with {paths}, held by others then", last.short()))
}

/// The latest file that was written while somebody else held it, and how many were.
fn overwritten(files: &[OverwrittenFile]) -> Option<String> {
    let OverwrittenFile { path, holder, by, .. } = files.last()?;
    let before = match files.len() {
        1 => String::new(),
        count => format!("{count} writes over what others hold, the last: "),
    };
    let by = by.as_deref().unwrap_or("nobody that is known");
    Some(format!("{before}{path} is with {holder} and was written by {by}"))
}

/// A request, with the other side of it.
fn request(view: &NegotiationView, other: &AgentName, now: &Now) -> String {
    format!("{other} ({}, {})", view.negotiation.target.display(), next_of(view, now))
}

fn answered(view: &NegotiationView) -> String {
    format!("answer {} release", view.negotiation.id)
}

/// Every wait of others that somebody's leases are in the way of, once.
pub(super) fn awaiting(status: &Status, me: AgentId) -> impl Iterator<Item = &Queued> {
    let held = move |view: &&LeaseView| view.lease.holder == me;
    let is_in_the_way = move |queued: &Queued| {
        let wait = || std::iter::once(&queued.wait);
        status.leases.iter().filter(held).any(|view| waiters_for(&view.lease, wait()) > 0)
    };
    let is_in_the_way_there = |queued: &&Queued| {
        let mut held = status.machine_wide.leases.iter();
        held.any(|view| waiters_for(&view.lease, std::iter::once(&queued.wait)) > 0)
    };
    let here = status.waits.iter().filter(move |queued| queued.wait.agent != me && is_in_the_way(queued));
    here.chain(status.machine_wide.rivals.iter().filter(is_in_the_way_there))
}

fn first_wanted(queued: &Queued, page: &Page) -> String {
    let wanted = &queued.wait.wanted;
    placed_wants(wanted.wants.get(..1).unwrap_or_default(), &wanted.worktree, page)
}

/// What somebody waits for, and whether its turn has come.
fn in_short(queued: &Queued, page: &Page) -> String {
    let target = first_wanted(queued, page);
    match queued.wait.offered_until {
        Some(_) => format!("{target} (your turn)"),
        None => format!("{target} (place {})", queued.position),
    }
}

/// A sentence of at most so many columns, whose command at its end stays whole: half of one cannot be pasted.
fn shortened(text: &str, columns_max: usize) -> String {
    let command = text.rsplit_once(": ").filter(|(_, command)| command.starts_with("clearway "));
    match command {
        Some((said, command)) => {
            let room = columns_max.saturating_sub(columns(command) + 2).max(SAID_COLUMNS_MIN);
            format!("{}: {command}", truncate_columns(said, room))
        }
        None => truncate_columns(text, columns_max).into_owned(),
    }
}

/// A warning in two lines of a terminal and one for its command.
fn warning_lines(warning: &str, page: &Page) -> String {
    let room = if page.is_terminal { WARNING_COLUMNS_MAX } else { page.room };
    wrap_hint(&shortened(warning, room), page.columns, "  ", "    ").join("\n") + "\n"
}

/// A sentence that takes two lines of a terminal at most.
fn short_lines(text: &str, page: &Page) -> String {
    let short = truncate_columns(text, if page.is_terminal { WARNING_COLUMNS_MAX } else { page.room });
    wrap(&short, page.columns, "  ", "    ").join("\n") + "\n"
}

/// Names joined while they have room, and how many were left out.
fn some_of(names: &[String], columns_max: usize) -> String {
    let mut text = String::new();
    for (at, name) in names.iter().enumerate() {
        let more = format!(" +{}", names.len() - at);
        if at > 0 && columns(&text) + columns(name) + 2 + more.len() > columns_max {
            return text + &more;
        }
        if at > 0 {
            text.push_str(", ");
        }
        text.push_str(&truncate_columns(&printable(name), columns_max.saturating_sub(6)));
    }
    text
}

fn printable_lines(text: &str) -> String {
    text.lines().map(|line| printable(line).into_owned()).collect::<Vec<_>>().join("\n")
}

/// At most so many bytes, never half a character, and never half a command: one that was cut means something else.
fn cut(text: &str, bytes_max: usize) -> &str {
    let end = text.floor_char_boundary(bytes_max);
    let kept = &text[..end];
    let begun = kept.rfind(": clearway ").filter(|at| end < text.len() && !kept[*at..].contains('\n'));
    begun.map_or(kept, |at| &kept[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_ends_with_no_half_of_a_character_or_command() {
        assert_eq!(cut("aä", 2), "a");
        let text = "you: ada\nneeds a person: give yours back: clearway release abcdefgh";
        assert_eq!(cut(text, 60), "you: ada\nneeds a person: give yours back");
        assert_eq!(cut(text, text.len()), text);
        assert_eq!(cut("a: clearway agents\nbcd", 20), "a: clearway agents\nb");
    }
}
