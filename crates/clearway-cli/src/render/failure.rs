//! A failure for people: what happened, who stands in the way, what to do now.

use super::{Page, Tone, and_more, before_you, holding, wrap, wrap_hint};
use clearway_core::failure::{Details, Failure, LeaseView};
use clearway_core::slug::Slug;
use clearway_core::text::printable;
use clearway_core::time::Now;

/// Leases in the way that are shown before the rest is only counted. Programs are told all of them.
const HOLDERS_SHOWN: usize = 8;

/// The lines for standard error.
pub(crate) fn failure(failure: &Failure, now: &Now, page: &Page) -> String {
    let mark = format!("error[{}]", failure.slug);
    let head = format!("{mark}: {}", printable(&message(failure)));
    let mut text = wrap(&head, page.columns, "", "  ").join("\n");
    text = text.replacen(&mark, &page.paint(Tone::Bad, &mark), 1);
    text.push('\n');
    let in_the_way = in_the_way(&failure.details);
    for view in in_the_way.iter().take(HOLDERS_SHOWN) {
        text.push_str(&holding(view, now, page, "  "));
    }
    if let Some(more) = and_more(in_the_way.len(), HOLDERS_SHOWN) {
        text.push_str(&page.given.advice(&format!("  {more}: clearway leases")));
        text.push('\n');
    }
    if let Details::Blockers { ahead, .. } = &failure.details {
        text.push_str(&before_you(ahead, page));
    }
    for hint in &failure.hints {
        text.push_str(&hint_lines(&printable(&hint.to_string()), page));
    }
    text
}

/// With the holders listed below it, the message of a conflict need not say it all.
fn message(failure: &Failure) -> String {
    let (Slug::ReservationHeld, Details::Blockers { leases, ahead }) = (failure.slug, &failure.details)
    else {
        return failure.message.clone();
    };
    match leases.as_slice() {
        [] if !ahead.is_empty() => "others wait for it already".to_owned(),
        [] => failure.message.clone(),
        [one] => format!("{} is held by {}", one.lease.target.display(), one.agent),
        many => {
            let mut names: Vec<&str> = many.iter().map(|view| view.agent.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            format!("{} leases of {} stand in the way", many.len(), names.join(", "))
        }
    }
}

fn in_the_way(details: &Details) -> &[LeaseView] {
    match details {
        Details::Blockers { leases, .. } => leases,
        Details::Lease { held_now, .. } => held_now,
        Details::None
        | Details::Circle(_)
        | Details::FirstBadSeq(_)
        | Details::Elsewhere(_)
        | Details::Fields(_) => &[],
    }
}

fn hint_lines(hint: &str, page: &Page) -> String {
    let mark = "hint:";
    let lines = wrap_hint(&format!("{mark} {hint}"), page.columns, "  ", "    ");
    lines.join("\n").replacen(mark, &page.paint(Tone::Good, mark), 1) + "\n"
}
