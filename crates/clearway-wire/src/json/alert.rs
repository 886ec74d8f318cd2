//! What the command of `[notify]` reads on its standard input.

use super::document;
use super::integer;
use super::rfc3339;
use clearway_core::alert::Alert;
use clearway_core::limits::NOTIFY_BYTES_MAX;
use clearway_core::time::Wall;
use schemars::JsonSchema;
use serde::Serialize;

/// Characters that are left of each of two texts where all of it would be too much. One takes twelve bytes at most.
const CHARS_OF_TOO_MUCH: usize = NOTIFY_BYTES_MAX / 20;

/// One event, told once.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct AlertJson {
    /// `looping`, `waiting`, `orphaned`, `outage`, `forced` or `paused`.
    pub event: &'static str,
    /// The scope, by its key.
    pub scope: String,
    /// Where that is, for people.
    pub place: String,
    /// When it was found.
    pub at: String,
    /// The event in a line, whose control characters are escapes.
    pub text: String,
    /// Whom it is about: who loops, waits, left work behind or took something.
    pub agent: Option<String>,
    /// With whom it is, or whose it was.
    pub holder: Option<String>,
    /// The path or name.
    pub target: Option<String>,
    /// Why, in the words of who did it.
    pub reason: Option<String>,
    /// How long somebody waits.
    pub waited_ms: Option<u64>,
}

impl AlertJson {
    /// An alert of a scope.
    pub fn new(alert: &Alert, scope: String, place: String, at: Wall) -> Self {
        let text = clearway_core::text::printable(&alert.text()).into_owned();
        let mut told = Self {
            event: alert.kind(),
            scope,
            place,
            at: rfc3339(at),
            text,
            agent: None,
            holder: None,
            target: None,
            reason: None,
            waited_ms: None,
        };
        told.fill(alert);
        told
    }

    fn fill(&mut self, alert: &Alert) {
        match alert {
            Alert::Looping { agent, .. } => self.agent = Some(agent.to_string()),
            Alert::Waiting { agent, holder, target, waited_ms } => {
                (self.agent, self.holder) = (Some(agent.to_string()), Some(holder.to_string()));
                (self.target, self.waited_ms) = (Some(target.display()), Some(integer(*waited_ms)));
            }
            Alert::Orphaned { agent, target, .. } => {
                (self.agent, self.target) = (Some(agent.to_string()), Some(target.display()));
            }
            Alert::Outage { message } => self.reason = Some(message.clone()),
            Alert::Forced { by, holder, target, reason } => {
                (self.agent, self.holder) = (by.as_ref().map(ToString::to_string), Some(holder.to_string()));
                (self.target, self.reason) = (Some(target.display()), Some(reason.clone()));
            }
            Alert::Paused { reason } => self.reason = Some(reason.clone()),
        }
    }

    /// The document, on one line, never longer than a pipe takes at once: what people wrote is left out first.
    pub fn line(mut self) -> String {
        let whole = self.document();
        if whole.len() <= NOTIFY_BYTES_MAX {
            return whole;
        }
        self.reason = None;
        self.target = None;
        for text in [&mut self.text, &mut self.place] {
            *text = text.chars().take(CHARS_OF_TOO_MUCH).collect();
        }
        self.document()
    }

    fn document(&self) -> String {
        document(self) + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clearway_core::text::is_disturbing;

    #[test]
    fn a_document_is_one_line_that_a_pipe_takes_at_once_whatever_people_wrote() {
        for reason in ["due".to_owned(), "\u{1b}]0;x\u{7}\n".repeat(400), "\u{1f980}".repeat(4_000)] {
            let alert = Alert::Paused { reason };
            for place in ["/\u{1f980}", "/\u{202e}", "\u{e0041}"] {
                let told = AlertJson::new(&alert, "git-1".to_owned(), place.repeat(1_800), Wall(0));
                let line = told.line();
                assert!(line.len() <= NOTIFY_BYTES_MAX && line.lines().count() == 1, "{}", line.len());
                assert!(!line.trim_end().chars().any(is_disturbing), "{line}");
                let read: serde_json::Value = serde_json::from_str(&line).expect("JSON");
                assert_eq!(read["event"], "paused");
                assert!(!read["text"].as_str().expect("a text").contains('\u{1b}'));
            }
        }
    }
}
