//! `scope list` and `scope adopt`.

use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{Cell, Fit, Page, Table, Tone, count, wrap, wrap_hint};
use clearway_core::text::printable;
use clearway_kernel::{Adoption, ScopeSeen, Session};
use clearway_wire::json::{AdoptReply, ScopeReply, ScopesReply, Told, rfc3339};

pub(super) fn list(session: &mut Session<'_>) -> Result<Scopes, Problem> {
    let scopes = session.scopes()?.iter().map(one).collect();
    Ok(Scopes(ScopesReply { scopes }))
}

pub(super) fn adopt(session: &mut Session<'_>, key: Option<&str>) -> Result<Adopted, Problem> {
    let Adoption { scope, place, changed, put_aside, left_behind } = session.adopt(key)?;
    let scope = scope.to_string();
    Ok(Adopted(AdoptReply { scope, place, changed, put_aside, left_behind }))
}

fn one(seen: &ScopeSeen) -> ScopeReply {
    ScopeReply {
        scope: seen.key.to_string(),
        place: seen.place.clone(),
        leases: seen.leases,
        rev: seen.rev.0,
        last_event_at: seen.last_event.map(rfc3339),
        here: seen.is_here,
        trouble: seen.trouble.clone(),
    }
}

/// The answer of `scope list`.
#[derive(Debug)]
pub(super) struct Scopes(ScopesReply);

impl Answer for Scopes {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(&self.0))
    }

    fn text(&self, page: &Page) -> String {
        if self.0.scopes.is_empty() {
            return "no scopes yet: the first reservation makes one\n".to_owned();
        }
        let mut table = Table::new(&[Fit::Whole, Fit::Whole, Fit::Whole, Fit::Start]);
        table.head(&["scope", "holds", "last event", "place"]);
        for scope in &self.0.scopes {
            let here = if scope.here { " (here)" } else { "" };
            let holds = match scope.trouble {
                None => Cell::new(count(scope.leases, "lease", "leases")),
                Some(_) => Cell::new("unreadable").tone(Tone::Bad),
            };
            table.row(vec![
                Cell::new(&scope.scope).tone(Tone::Strong),
                holds,
                Cell::new(scope.last_event_at.as_deref().unwrap_or("-")),
                Cell::new(format!("{}{here}", scope.place)),
            ]);
        }
        let troubles = self.0.scopes.iter().filter_map(|scope| trouble_lines(scope, page));
        table.render(page, "") + &troubles.collect::<String>()
    }
}

/// What is wrong with a scope, and the command that looks into that one.
fn trouble_lines(scope: &ScopeReply, page: &Page) -> Option<String> {
    let trouble = printable(scope.trouble.as_deref()?);
    let mut lines = wrap(&format!("note: {}: {trouble}", scope.scope), page.columns, "", "  ");
    let hint = page
        .given
        .advice(&format!("hint: see what is wrong with it: clearway --scope {} doctor", scope.scope));
    lines.extend(wrap_hint(&hint, page.columns, "  ", "    "));
    Some(lines.join("\n") + "\n")
}

/// The answer of `scope adopt`.
#[derive(Debug)]
pub(super) struct Adopted(AdoptReply);

impl Answer for Adopted {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(&self.0))
    }

    fn text(&self, page: &Page) -> String {
        let AdoptReply { scope, place, changed, put_aside, left_behind } = &self.0;
        if !changed {
            return format!("nothing to adopt: {} uses {scope} already\n", printable(place));
        }
        let adopted = page.paint(Tone::Good, "adopted");
        let mut notes = Vec::new();
        if let Some(aside) = put_aside {
            notes.push(format!(
                "what was begun here meanwhile is kept in {aside}; take again what you held in it"
            ));
        }
        if *left_behind > 0 {
            let leases = count(*left_behind, "lease is", "leases are");
            notes.push(format!(
                "{leases} on paths of where it was; what you still need has to be taken again"
            ));
        }
        let notes =
            notes.iter().flat_map(|note| wrap(&format!("note: {}", printable(note)), page.columns, "", "  "));
        let lines = notes.map(|line| line + "\n").collect::<String>();
        format!("{adopted} {scope} for {}\n{lines}", printable(place))
    }
}
