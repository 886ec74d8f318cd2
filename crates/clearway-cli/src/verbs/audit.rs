//! `audit verify`, `audit anchor` and `audit export`.

use crate::console::{Answer, Console, Problem, document};
use crate::given::Given;
use crate::render::{Page, Tone, count, wrap, wrapped};
use clearway_core::hint::Hint;
use clearway_core::ids::Seq;
use clearway_core::text::printable;
use clearway_kernel::{AnchorOutcome, Session, Verified};
use clearway_wire::json::{AnchorReply, ExportedJson, Looked, VerifyReply, rfc3339};
use std::path::PathBuf;

/// Events read and written at a time.
const EVENTS_PER_BATCH: usize = 1_000;

pub(super) fn verify(session: &mut Session<'_>, anchors: &[PathBuf]) -> Result<Whole, Problem> {
    Ok(Whole(session.verify(anchors)?))
}

pub(super) fn anchor(session: &mut Session<'_>, export: Option<PathBuf>) -> Result<Anchored, Problem> {
    Ok(Anchored(session.anchor(export)?))
}

/// Writes JSON Lines whether or not `--json` is given: there is no other form of an export.
pub(super) fn export(
    session: &mut Session<'_>,
    from: u64,
    console: &mut Console<'_, '_>,
) -> Result<(), Problem> {
    let scope = session.site.key.clone();
    let mut after = Seq(from.saturating_sub(1));
    loop {
        let batch = session.export(after, EVENTS_PER_BATCH)?;
        let Some(last) = batch.last().map(|exported| exported.event.seq) else { return Ok(()) };
        let mut text = String::new();
        for exported in &batch {
            let line = ExportedJson::new(&scope, &exported.event, &exported.bytes, exported.hash);
            text.push_str(&document(&line));
            text.push('\n');
        }
        if !console.line(&text)? {
            return Ok(());
        }
        after = last;
    }
}

/// The answer of `audit verify`.
#[derive(Debug)]
pub(super) struct Whole(Verified);

impl Answer for Whole {
    fn json(&self, _: &Given) -> String {
        let Verified { events, head, anchored, unanchored, given_up, witnessed, lost_texts, .. } = &self.0;
        document(&Looked::new(
            head.rev,
            VerifyReply {
                events: *events,
                head: head.hash.to_string(),
                anchored_seq: anchored.map(|seq| seq.0),
                unanchored: *unanchored,
                given_up: *given_up,
                witnessed: *witnessed,
                lost_texts: lost_texts.clone(),
            },
        ))
    }

    fn text(&self, page: &Page) -> String {
        let Verified { events, head, anchored, unanchored, given_up, witnessed, lost_texts, .. } = &self.0;
        if *events == 0 {
            return "the log is empty\n".to_owned();
        }
        let anchors = match anchored {
            None => {
                let advice = "not anchored; a person at a terminal may vouch for it: clearway audit anchor";
                page.given.hint(Hint::for_operator(advice)).to_string()
            }
            Some(seq) => format!("anchored up to event {seq}, {unanchored} after it"),
        };
        let whole = page.paint(Tone::Good, "whole");
        let mut text = format!("the log is {whole}: {events} events\n  head {}\n", head.hash);
        text.push_str(&wrapped(&anchors, page, "  "));
        if *given_up > 0 {
            let anchors = count(*given_up, "anchor", "anchors");
            text.push_str(&format!("  {anchors} of lost events that an operator went on without\n"));
        }
        if !witnessed {
            let note = "note: the gate beside the store does not remember this log, so only an anchor could tell if \
                        its end were missing; see: clearway doctor";
            text.push_str(&wrapped(&page.given.advice(note), page, ""));
        }
        if !lost_texts.is_empty() {
            let note = format!("note: the texts of these messages are lost: {}", lost_texts.join(" "));
            text.push_str(&(wrap(&note, page.columns, "", "  ").join("\n") + "\n"));
        }
        text
    }
}

/// The answer of `audit anchor`.
#[derive(Debug)]
pub(super) struct Anchored(AnchorOutcome);

impl Answer for Anchored {
    fn json(&self, _: &Given) -> String {
        let AnchorOutcome { anchor, written, new_key } = &self.0;
        document(&Looked::new(
            anchor.head().rev,
            AnchorReply {
                head: anchor.head().hash.to_string(),
                signer: anchor.signer_text(),
                anchored_at: rfc3339(anchor.at()),
                written: written.iter().map(|path| path.display().to_string()).collect(),
                new_key: *new_key,
            },
        ))
    }

    fn text(&self, page: &Page) -> String {
        let AnchorOutcome { anchor, written, new_key } = &self.0;
        let mut text = format!(
            "anchored event {}, signed by\n  {}\nand written to\n",
            anchor.head().rev,
            anchor.signer_text()
        );
        for path in written {
            text.push_str(&format!("  {}\n", printable(&path.display().to_string())));
        }
        if *new_key {
            let note =
                "note: the operator's key was made; keep a copy of its public half where agents cannot write";
            text.push_str(&wrap(note, page.columns, "", "  ").join("\n"));
            text.push('\n');
        }
        text
    }
}
