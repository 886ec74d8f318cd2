//! Leases and their holders in words.

use super::{Cell, Fit, Page, Table, Tone, wrap, wrap_hint};
use clearway_core::agent::Liveness;
use clearway_core::command::Want;
use clearway_core::decide::Notice;
use clearway_core::failure::{Ahead, LeaseView};
use clearway_core::lease::Mode;
use clearway_core::target::{Target, Worktree};
use clearway_core::text::printable;
use clearway_core::time::{Now, elapsed, rounded};
use clearway_core::unit;
use clearway_kernel::AgentSeen;

/// How long a lease still lasts, or the process with which it ends.
pub(crate) fn left(view: &LeaseView, now: &Now) -> String {
    match &view.lease.bound {
        Some(process) => format!("process {}", process.pid),
        None => rounded(view.deadline.since(now.mono)),
    }
}

/// What a lease is on, in a list: which checkout it is of, unless the reader acts there, or that it is a name.
pub(crate) fn placed_pattern(view: &LeaseView, page: &Page) -> String {
    match view.lease.worktree.0.is_empty() {
        true => format!("{} (name)", unit::shown(&view.lease)),
        false => own_pattern(view, page),
    }
}

/// The same for whoever knows which are names.
fn own_pattern(view: &LeaseView, page: &Page) -> String {
    from_root(&unit::shown(&view.lease), &view.lease.worktree.0, page)
}

/// What somebody waits for, in a list.
pub(crate) fn placed_wants(wants: &[Want], worktree: &Worktree, page: &Page) -> String {
    let targets: Vec<String> = wants.iter().map(|want| want.target.display()).collect();
    let has_path = wants.iter().any(|want| matches!(want.target, Target::Path(_)));
    let root = if has_path { worktree.0.as_str() } else { "" };
    from_root(&targets.join(" "), root, page)
}

fn from_root(what: &str, root: &str, page: &Page) -> String {
    if page.is_elsewhere(root) { format!("{root}: {what}") } else { what.to_owned() }
}

/// What a lease of the machine's scope is on, seen from another scope.
pub(crate) fn machine_wide_name(view: &LeaseView) -> String {
    format!("{} (machine-wide)", unit::shown(&view.lease))
}

/// How long ago something was.
pub(crate) fn ago(ms: u64) -> String {
    if ms < 1_000 { "now".to_owned() } else { format!("{} ago", elapsed(ms)) }
}

/// A number of things.
pub(crate) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// How many of a list are left when its first ones were shown; nothing if all were.
pub(crate) fn and_more(all: usize, shown: usize) -> Option<String> {
    let left = all.checked_sub(shown).filter(|left| *left > 0)?;
    Some(format!("and {left} more"))
}

/// What the colour of a liveness is. Whoever was stopped needs a person, as whoever is gone does.
pub(crate) fn seen_tone(seen: &AgentSeen) -> Tone {
    liveness_tone(seen.liveness, seen.is_halted())
}

/// The same of the holder of a lease.
pub(crate) fn holder_tone(view: &LeaseView) -> Tone {
    liveness_tone(view.liveness, view.is_halted)
}

fn liveness_tone(liveness: Liveness, is_halted: bool) -> Tone {
    match liveness {
        _ if is_halted => Tone::Bad,
        Liveness::Active => Tone::Good,
        Liveness::Idle => Tone::Care,
        Liveness::Gone => Tone::Bad,
    }
}

/// Own leases, one a line.
pub(crate) fn lease_table(views: &[LeaseView], now: &Now, page: &Page) -> String {
    let mut table = Table::new(&[Fit::Whole, Fit::Start, Fit::Whole, Fit::Whole, Fit::End]);
    for view in views {
        table.row(vec![
            Cell::new(view.lease.id.as_str()),
            Cell::new(own_pattern(view, page)).tone(Tone::Strong),
            Cell::new(view.lease.mode.word()),
            Cell::new(match &view.lease.bound {
                Some(process) => format!("while process {} runs", process.pid),
                None => format!("{} left", left(view, now)),
            }),
            Cell::new(view.lease.reason.as_deref().unwrap_or_default()),
        ]);
    }
    table.render(page, "  ")
}

/// Who holds it, doing what, since when, until when, alive or not.
pub(crate) fn holding(view: &LeaseView, now: &Now, page: &Page, indent: &str) -> String {
    let lease = &view.lease;
    let name = view.agent.to_string();
    let how = if lease.mode == Mode::Exclusive { "exclusively" } else { "shared" };
    let root = lease.worktree.0.as_str();
    let place = if page.is_elsewhere(root) { format!(" in {root}") } else { String::new() };
    let target = unit::shown(lease) + &place;
    let head =
        format!("{name} ({}) holds {} {how}, lease {}", view.holder_word(), printable(&target), lease.id);
    let since = match ago(now.mono.since(lease.granted)).as_str() {
        "now" => "since just now".to_owned(),
        ago => format!("since {ago}"),
    };
    let times = format!("{since}; {}", ending(view, now));
    let inner = format!("{indent}  ");
    let mut lines = wrap(&head, page.columns, indent, &inner);
    if let Some(first) = lines.first_mut() {
        let word = format!("({})", view.holder_word());
        let painted = page.paint(holder_tone(view), &word);
        *first = first.replacen(&word, &painted, 1).replacen(&name, &page.paint(Tone::Strong, &name), 1);
    }
    lines.extend(wrap(&times, page.columns, &inner, &inner));
    if view.waiters > 0 {
        let waiting = count(view.waiters, "agent waits", "agents wait");
        lines.extend(wrap(&format!("{waiting} for it"), page.columns, &inner, &inner));
    }
    if let Some(reason) = &lease.reason {
        lines.extend(wrap(&format!("why: {}", printable(reason)), page.columns, &inner, &inner));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn ending(view: &LeaseView, now: &Now) -> String {
    let left = left(view, now);
    if let Some(process) = &view.lease.bound {
        return format!("until its command ends, process {}", process.pid);
    }
    match view.liveness {
        Liveness::Gone => format!("ends in {left}; the next to reserve it takes it over"),
        _ if view.lease.end_max == Some(view.deadline) => format!("ends in {left} at the latest"),
        _ => format!("ends in {left} unless {} gives a sign of life", view.agent),
    }
}

/// How many of those who wait longer are named.
const AHEAD_SHOWN: usize = 3;

/// Who waits longer for the same.
pub(crate) fn before_you(ahead: &[Ahead], page: &Page) -> String {
    let one = |ahead: &Ahead| {
        let turn = if ahead.offered { "has the turn for" } else { "waits for" };
        let line = format!("{} {turn} {} before you", ahead.agent, printable(&ahead.target));
        wrapped(&line, page, "  ")
    };
    let shown: String = ahead.iter().take(AHEAD_SHOWN).map(one).collect();
    match and_more(ahead.len(), AHEAD_SHOWN) {
        None => shown,
        Some(more) => format!("{shown}  {more} before you\n"),
    }
}

/// A line as wide as the page at most, and what is left of it a little further in. A command at its end stays whole.
pub(crate) fn wrapped(line: &str, page: &Page, indent: &str) -> String {
    wrap_hint(line, page.columns, indent, &format!("{indent}  ")).join("\n") + "\n"
}

/// Things to know beside an answer.
pub(crate) fn notices<'a>(notices: impl IntoIterator<Item = &'a Notice>, page: &Page) -> String {
    let mut text = String::new();
    for notice in page.given.notices(notices) {
        let lines = wrap_hint(&format!("note: {}", printable(&notice.message)), page.columns, "", "  ");
        let painted = lines.join("\n").replacen("note:", &page.paint(Tone::Care, "note:"), 1);
        text.push_str(&painted);
        text.push('\n');
    }
    text
}
