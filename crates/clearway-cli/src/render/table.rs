//! Tables whose columns line up and which fit a terminal.

use super::{Page, Tone};
use clearway_core::text::{columns, printable, truncate_columns};

/// What stands between two columns.
const GAP: &str = "  ";
/// Columns a shortened cell keeps at least, unless the page is still too narrow.
const KEPT_MIN: usize = 16;
/// Columns that tell that there is something at all.
const SQUEEZED_MIN: usize = 6;
/// Who gives way to which width, one after the other, until the page is wide enough.
const GIVING: [(Fit, usize); 5] = [
    (Fit::End, KEPT_MIN),
    (Fit::Start, KEPT_MIN),
    (Fit::End, SQUEEZED_MIN),
    (Fit::Last, KEPT_MIN),
    (Fit::Start, SQUEEZED_MIN),
];

/// Rows of cells.
#[derive(Debug)]
pub(crate) struct Table {
    fits: Vec<Fit>,
    rows: Vec<Vec<Cell>>,
}

/// How a column gives way when the page is too narrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// Not at all.
    Whole,
    /// It loses its end, before any other gives way.
    End,
    /// It loses its beginning: the end of a path tells more.
    Start,
    /// It loses its end, after the others: names are short, unless somebody chose a long one.
    Last,
}

/// One cell.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    text: String,
    tone: Tone,
}

impl Cell {
    /// A cell; its text may come from anywhere.
    pub(crate) fn new(text: impl AsRef<str>) -> Self {
        Self { text: printable(text.as_ref()).into_owned(), tone: Tone::Plain }
    }

    /// The same in another tone.
    pub(crate) fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }
}

impl Table {
    /// An empty table.
    pub(crate) fn new(fits: &[Fit]) -> Self {
        Self { fits: fits.to_vec(), rows: Vec::new() }
    }

    /// Adds the line that names the columns.
    pub(crate) fn head(&mut self, names: &[&str]) {
        self.rows.push(names.iter().map(|name| Cell::new(name).tone(Tone::Faint)).collect());
    }

    /// Adds a row.
    pub(crate) fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The lines, each with `indent` in front.
    pub(crate) fn render(&self, page: &Page, indent: &str) -> String {
        let widths = self.widths(page.room.saturating_sub(columns(indent)));
        let mut text = String::new();
        for row in &self.rows {
            let mut line = indent.to_owned();
            let last = row.iter().rposition(|cell| !cell.text.is_empty()).unwrap_or(0);
            for (at, (cell, width)) in row.iter().zip(&widths).enumerate().take(last + 1) {
                let shown = fit(&cell.text, *width, self.fits[at]);
                let padding = if at == last { 0 } else { width - columns(&shown).min(*width) };
                line.push_str(&page.paint(cell.tone, &shown));
                line.push_str(&" ".repeat(padding));
                line.push_str(if at == last { "" } else { GAP });
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    fn widths(&self, room: usize) -> Vec<usize> {
        let width = |at: usize| {
            self.rows.iter().filter_map(|row| row.get(at)).map(|cell| columns(&cell.text)).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.fits.len()).map(width).collect();
        let gaps = GAP.len() * self.fits.len().saturating_sub(1);
        for (giving, kept_min) in GIVING {
            for at in (0..self.fits.len()).rev().filter(|at| self.fits[*at] == giving) {
                let excess = (widths.iter().sum::<usize>() + gaps).saturating_sub(room);
                let least = widths[at].min(kept_min);
                widths[at] = widths[at].saturating_sub(excess).max(least);
            }
        }
        widths
    }
}

fn fit(text: &str, width: usize, fit: Fit) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    match fit {
        Fit::Whole => text.to_owned(),
        Fit::End | Fit::Last => truncate_columns(text, width).into_owned(),
        Fit::Start => keep_end(text, width),
    }
}

fn keep_end(text: &str, width: usize) -> String {
    let mut kept: Vec<char> = Vec::new();
    let mut used = 1;
    for c in text.chars().rev() {
        used += columns(c.encode_utf8(&mut [0; 4]));
        if used > width {
            break;
        }
        kept.push(c);
    }
    std::iter::once('…').chain(kept.into_iter().rev()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::given::Given;

    fn render(fits: &[Fit], rows: &[&[&str]], columns: usize) -> String {
        let mut table = Table::new(fits);
        rows.iter().for_each(|row| table.row(row.iter().map(Cell::new).collect()));
        table.render(
            &Page {
                columns,
                room: columns,
                colour: false,
                is_terminal: true,
                given: Given::NOTHING,
                here: None,
            },
            "",
        )
    }

    #[test]
    fn columns_line_up_whatever_the_script() {
        let text = render(&[Fit::Whole, Fit::Whole], &[&["日本", "x"], &["abc", "yz"], &["a", ""]], 80);
        assert_eq!(text, "日本  x\nabc   yz\na\n");
    }

    #[test]
    fn reasons_give_way_before_paths_and_paths_keep_their_end() {
        let rows: &[&[&str]] =
            &[&["k3j9x2ab", "src/very/deep/down/below/file.rs", "a reason that goes on and on"]];
        let text = render(&[Fit::Whole, Fit::Start, Fit::End], rows, 60);
        assert_eq!(text, "k3j9x2ab  src/very/deep/down/below/file.rs  a reason that g…\n");
        let text = render(&[Fit::Whole, Fit::Start, Fit::End], rows, 50);
        assert_eq!(text, "k3j9x2ab  …ep/down/below/file.rs  a reason that g…\n");
    }

    #[test]
    fn a_cell_from_outside_cannot_forge_a_line() {
        assert_eq!(render(&[Fit::Whole], &[&["a\nb\u{1b}[2J"]], 80), "a\\nb\\u{1b}[2J\n");
    }
}
