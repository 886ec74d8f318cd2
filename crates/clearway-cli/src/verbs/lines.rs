//! `diff`: whose uncommitted lines these are.

use crate::arguments::DiffFlags;
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{Cell, Fit, Page, Table, Tone, count};
use clearway_core::text::{columns, printable};
use clearway_kernel::{Attributed, AttributedFile, Author, ChangedRun, Session};
use clearway_wire::json::{AuthorLinesJson, ChangedLineJson, DiffReply, FileLinesJson, Looked};

/// How whoever wrote a line that no hook told of is called.
const NOBODY: &str = "-";

pub(super) fn diff(session: &mut Session<'_>, flags: &DiffFlags) -> Result<Lines, Problem> {
    let only = flags.agent_name.as_deref();
    Ok(Lines {
        found: session.attributed(&flags.patterns, only)?,
        stat: flags.stat,
        asked: flags.patterns.clone(),
    })
}

/// The answer of `diff`.
#[derive(Debug)]
pub(super) struct Lines {
    found: Attributed,
    stat: bool,
    /// Where nothing was looked for but there.
    asked: Vec<String>,
}

impl Lines {
    fn shows(&self, author: Option<&Author>) -> bool {
        let only = self.found.only.as_ref();
        only.is_none_or(|only| author.is_some_and(|author| author.name == only.as_str()))
    }

    fn shown<'r>(
        &'r self,
        run: &'r ChangedRun,
        authors: &'r [Option<Author>],
    ) -> impl Iterator<Item = (u64, Option<&'r Author>, &'r String)> {
        let numbered = (run.first..).zip(&run.added).zip(authors);
        numbered
            .map(|((number, line), author)| (number, author.as_ref(), line))
            .filter(|(_, author, _)| self.shows(*author))
    }

    fn file_json(&self, file: &AttributedFile) -> FileLinesJson {
        let counts = file.counts();
        let by = counts.iter().filter_map(|(author, lines)| author.as_ref().map(|author| (author, *lines)));
        let by = by.filter(|(author, _)| self.shows(Some(author)));
        let runs = file.change.runs.iter().zip(&file.authors);
        let lines = runs.flat_map(|(run, authors)| self.shown(run, authors));
        FileLinesJson {
            path: file.change.path.clone(),
            binary: file.change.is_binary,
            added: total(file, |run| run.added.len()),
            removed: total(file, |run| run.removed.len()),
            by: by
                .map(|(author, lines)| AuthorLinesJson {
                    agent: author.name.clone(),
                    agent_id: author.id.to_string(),
                    lines,
                })
                .collect(),
            unattributed: counts.get(&None).copied().unwrap_or(0),
            lines: lines
                .map(|(number, author, text)| ChangedLineJson {
                    number,
                    agent: author.map(|author| author.name.clone()),
                    text: text.clone(),
                })
                .collect(),
        }
    }

    fn table(&self, page: &Page) -> String {
        let mut table = Table::new(&[Fit::Start, Fit::Whole, Fit::Whole, Fit::Last]);
        table.head(&["path", "added", "removed", "by"]);
        for file in &self.found.files {
            table.row(vec![
                Cell::new(&file.change.path),
                Cell::new(total(file, |run| run.added.len()).to_string()),
                Cell::new(total(file, |run| run.removed.len()).to_string()),
                Cell::new(self.by(file)),
            ]);
        }
        table.render(page, "")
    }

    /// Who wrote how much of a file.
    fn by(&self, file: &AttributedFile) -> String {
        if file.change.is_binary {
            return "no text".to_owned();
        }
        let counts = file.counts();
        let named = counts.iter().filter_map(|(author, lines)| author.as_ref().map(|author| (author, lines)));
        let mut said: Vec<String> = named
            .filter(|(author, _)| self.shows(Some(author)))
            .map(|(author, lines)| format!("{} {lines}", author.name))
            .collect();
        let nobodys = counts.get(&None).filter(|_| self.found.only.is_none());
        said.extend(nobodys.map(|lines| format!("unattributed {lines}")));
        said.join(", ")
    }

    fn page_of(&self, file: &AttributedFile, page: &Page) -> String {
        let head = format!("{}  {}", file.change.path, self.by(file));
        let mut text = format!("{}\n", page.paint(Tone::Strong, &printable(head.trim_end())));
        let names = file.authors.iter().flatten().flatten().map(|author| columns(&author.name));
        let width = names.max().unwrap_or(0).max(NOBODY.len());
        for (run, authors) in file.change.runs.iter().zip(&file.authors) {
            for (number, author, line) in self.shown(run, authors) {
                let name = author.map_or(NOBODY, |author| author.name.as_str());
                let blank = " ".repeat(width.saturating_sub(columns(name)));
                let line = format!("{number:>6}  {name}{blank}  + {}", printable(line));
                text.push_str(&page.paint(Tone::Good, line.trim_end()));
                text.push('\n');
            }
            for line in run.removed.iter().filter(|_| self.found.only.is_none()) {
                let line = format!("{:>6}  {}  - {}", "", " ".repeat(width), printable(line));
                text.push_str(&page.paint(Tone::Bad, line.trim_end()));
                text.push('\n');
            }
        }
        text
    }
}

fn total(file: &AttributedFile, lines: impl Fn(&ChangedRun) -> usize) -> u64 {
    file.change.runs.iter().map(|run| lines(run) as u64).sum()
}

impl Answer for Lines {
    fn json(&self, _: &Given) -> String {
        let files = self.found.files.iter().map(|file| self.file_json(file)).collect();
        document(&Looked::new(self.found.rev, DiffReply { files }))
    }

    fn text(&self, page: &Page) -> String {
        if self.found.files.is_empty() {
            return match &self.found.only {
                Some(name) => format!("nothing of {} is uncommitted here, as far as hooks told\n", name),
                None if self.asked.is_empty() => "nothing is uncommitted here\n".to_owned(),
                None => format!("nothing is uncommitted at {}\n", printable(&self.asked.join(", "))),
            };
        }
        if self.stat {
            return self.table(page);
        }
        let pages: Vec<String> = self.found.files.iter().map(|file| self.page_of(file, page)).collect();
        let files = count(pages.len() as u64, "file", "files");
        format!("{}\n{files} with uncommitted changes\n", pages.join("\n"))
    }
}
