//! How wide a page is and what colours mean.

use crate::given::Given;
use clearway_kernel::Surroundings;

/// The width of text that is not shown on a terminal.
const COLUMNS: usize = 80;
/// A terminal narrower than this is written to as if it had this width.
const COLUMNS_MIN: usize = 40;
/// Sentences on longer lines than this cannot be read at a glance.
const COLUMNS_MAX: usize = 200;

/// What text is written for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Page {
    /// How wide sentences run before they are broken.
    pub(crate) columns: usize,
    /// How wide a line may be before something in it is cut. Only a terminal has an edge: what a program reads
    /// through a pipe stays whole.
    pub(crate) room: usize,
    /// Whether colours are shown.
    pub(crate) colour: bool,
    /// Whether a person watches it.
    pub(crate) is_terminal: bool,
    /// What commands in the text repeat of the line that was typed.
    pub(crate) given: Given,
    /// The checkout that the reader acts in, if it acts in one.
    pub(crate) here: Option<String>,
}

/// What a colour means. Every text says the same without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing in particular.
    Plain,
    /// As it should be.
    Good,
    /// Worth a look.
    Care,
    /// Not as it should be.
    Bad,
    /// What the eye should find first.
    Strong,
    /// What it may skip.
    Faint,
}

impl Page {
    /// The page of standard output.
    pub(crate) fn stdout(surroundings: &Surroundings) -> Self {
        Self::new(surroundings, surroundings.stdout_is_terminal)
    }

    /// The page of standard error.
    pub(crate) fn stderr(surroundings: &Surroundings) -> Self {
        Self::new(surroundings, surroundings.stderr_is_terminal)
    }

    fn new(surroundings: &Surroundings, is_terminal: bool) -> Self {
        let variable = |name: &str| surroundings.variables.get(name).map(String::as_str).unwrap_or_default();
        let plain = !variable("NO_COLOR").is_empty() || variable("TERM") == "dumb";
        // What a person set counts before what the terminal says of itself.
        let stated = variable("COLUMNS").parse::<u16>().ok().filter(|columns| *columns > 0);
        let columns = stated.or(surroundings.terminal_columns).filter(|_| is_terminal);
        let width = columns.map_or(COLUMNS, |columns| usize::from(columns).max(COLUMNS_MIN));
        let room = if is_terminal { width } else { usize::MAX };
        Self {
            columns: width.min(COLUMNS_MAX),
            room,
            colour: is_terminal && !plain,
            is_terminal,
            given: Given::NOTHING,
            here: None,
        }
    }

    /// Whether paths that start at this root are of another checkout than the one the reader acts in: they mean other
    /// files than the same words do here. What has no root is no path.
    pub(crate) fn is_elsewhere(&self, root: &str) -> bool {
        !root.is_empty() && self.here.as_deref().is_some_and(|here| here != root)
    }

    /// Paints a text that is printable already.
    pub(crate) fn paint(&self, tone: Tone, text: &str) -> String {
        let code = match tone {
            Tone::Plain => return text.to_owned(),
            Tone::Good => "32",
            Tone::Care => "33",
            Tone::Bad => "31",
            Tone::Strong => "1",
            Tone::Faint => "2",
        };
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(terminal: bool, columns: u16, variable: Option<(&str, &str)>) -> Page {
        let variables =
            variable.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Page::stdout(&Surroundings {
            variables,
            stdout_is_terminal: terminal,
            terminal_columns: Some(columns),
            ..Surroundings::default()
        })
    }

    #[test]
    fn colour_needs_a_terminal_that_nobody_asked_to_be_plain() {
        for (page, colour) in [
            (page(true, 80, None), true),
            (page(true, 80, Some(("NO_COLOR", ""))), true),
            (page(true, 80, Some(("NO_COLOR", "1"))), false),
            (page(true, 80, Some(("TERM", "dumb"))), false),
            (page(false, 80, None), false),
        ] {
            assert_eq!(page.colour, colour);
        }
    }

    #[test]
    fn only_a_terminal_has_a_width_of_its_own() {
        assert_eq!(page(true, 120, None).columns, 120);
        assert_eq!(page(false, 120, None).columns, 80);
        assert_eq!(page(true, 5, None).columns, 40);
        assert_eq!(page(true, 120, Some(("COLUMNS", "90"))).columns, 90);
        assert_eq!(page(true, 120, Some(("COLUMNS", "wide"))).columns, 120);
        assert_eq!(page(true, 300, None).room, 300);
        assert_eq!(page(false, 120, Some(("COLUMNS", "90"))).room, usize::MAX);
    }

    #[test]
    fn paint_marks_only_where_colour_is_shown() {
        assert_eq!(page(true, 80, None).paint(Tone::Bad, "gone"), "\u{1b}[31mgone\u{1b}[0m");
        assert_eq!(page(false, 80, None).paint(Tone::Bad, "gone"), "gone");
    }
}
