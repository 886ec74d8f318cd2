//! Verbs that look into no scope: `help`, `explain`, `completions` and `man`.

use super::{Outcome, answer};
use crate::arguments;
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::pages;
use crate::render::{Cell, Fit, Page, Table, Tone};
use crate::usage::quoted;
use clap::builder::StyledStr;
use clearway_core::failure::Failure;
use clearway_core::nearest::nearest;
use clearway_core::slug::Slug;
use clearway_core::text::printable;
use clearway_wire::json::{CompletionsReply, ExplainReply, ManReply, SlugReply, SlugsReply, TextReply, Told};
use std::io::ErrorKind;
use std::path::Path;

/// Text with and without colours.
#[derive(Debug)]
pub(super) struct Text {
    plain: String,
    coloured: String,
}

impl Text {
    /// What the parser made.
    pub(super) fn styled(text: &StyledStr) -> Self {
        Self { plain: text.to_string(), coloured: text.ansi().to_string() }
    }
}

impl Answer for Text {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(TextReply { text: self.plain.clone() }))
    }

    fn text(&self, page: &Page) -> String {
        let text = if page.colour { &self.coloured } else { &self.plain };
        format!("{}\n", text.trim_end())
    }
}

/// How much help shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// What people type every day.
    Brief,
    /// Every flag.
    Flags,
    /// Every flag and verb.
    All,
}

/// The help asked for with a flag somewhere on the line.
pub(super) fn help_on(arguments: &[String]) -> Text {
    let every_flag = prepared(Detail::Flags);
    let mut shown = &every_flag;
    for word in arguments.iter().skip(1) {
        shown = shown.find_subcommand(word).unwrap_or(shown);
    }
    let brief = std::ptr::eq(shown, &every_flag) && !arguments.iter().any(|word| word == "--help");
    let shown = if brief { prepared(Detail::Brief) } else { shown.clone() };
    Text::styled(&shown.clone().render_help())
}

fn prepared(detail: Detail) -> clap::Command {
    let mut command = match detail {
        Detail::Brief => arguments::command_for_people(),
        Detail::Flags => arguments::with_every_flag(arguments::command_for_people()),
        Detail::All => arguments::with_every_flag(arguments::command()),
    };
    command.build();
    command
}

/// The help of everything, or of one verb.
pub(super) fn help(verb: &[String], detail: Detail) -> Result<Text, Problem> {
    // Whoever asks about one verb wants all of it; only the overview leaves things out.
    let detail = if verb.is_empty() || detail == Detail::All { detail } else { Detail::Flags };
    let command = prepared(detail);
    let mut shown = &command;
    for word in verb {
        let known: Vec<String> = shown.get_subcommands().map(|verb| verb.get_name().to_owned()).collect();
        shown = shown.find_subcommand(word).ok_or_else(|| unknown_verb(word, &known))?;
    }
    Ok(Text::styled(&shown.clone().render_help()))
}

fn unknown_verb(word: &str, known: &[String]) -> Failure {
    let failure = Failure::new(Slug::Usage, format!("no verb is called {}", quoted(word)));
    match nearest(word, known.iter().map(String::as_str)) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("every verb: clearway help --all"),
    }
}

/// The page of a slug, or the list of all.
pub(super) fn explain(slug: Option<&str>) -> Outcome {
    let Some(text) = slug else { return answer(Slugs) };
    // As it stands at the head of a message.
    let pasted = text.trim_end_matches(':').strip_prefix("error[").and_then(|rest| rest.strip_suffix(']'));
    match Slug::parse(pasted.unwrap_or(text)) {
        Some(slug) => answer(Explained(slug)),
        None => Err(unknown_slug(text).into()),
    }
}

fn unknown_slug(text: &str) -> Failure {
    let message = format!("no error is called {}", quoted(text));
    let failure = Failure::new(Slug::UnknownSlug, message);
    let failure = match nearest(text, Slug::ALL.iter().map(|slug| slug.as_str())) {
        Some(near) => failure.hint(format!("did you mean: clearway explain {near}")),
        None => failure,
    };
    failure.hint("list them all: clearway explain")
}

#[derive(Debug)]
struct Explained(Slug);

impl Answer for Explained {
    fn json(&self, _: &Given) -> String {
        let page = pages::page(self.0).to_owned();
        document(&Told::new(ExplainReply { slug: described(self.0), page }))
    }

    fn text(&self, _: &Page) -> String {
        pages::page(self.0).to_owned()
    }
}

#[derive(Debug)]
struct Slugs;

impl Answer for Slugs {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(SlugsReply { slugs: Slug::ALL.iter().copied().map(described).collect() }))
    }

    fn text(&self, page: &Page) -> String {
        let mut table = Table::new(&[Fit::Whole, Fit::Whole, Fit::End]);
        table.head(&["error", "exit", "meaning"]);
        for slug in Slug::ALL {
            table.row(vec![
                Cell::new(slug.as_str()).tone(Tone::Strong),
                Cell::new(slug.exit_code().to_string()),
                Cell::new(pages::summary(*slug)),
            ]);
        }
        table.render(page, "")
    }
}

fn described(slug: Slug) -> SlugReply {
    SlugReply {
        slug: slug.as_str().to_owned(),
        kind: slug.kind().word().to_owned(),
        exit_code: slug.exit_code(),
        summary: pages::summary(slug).to_owned(),
    }
}

/// The completion script of a shell.
pub(super) fn completions(shell: clap_complete::Shell) -> Script {
    let mut command = arguments::command_for_completion();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "clearway", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if shell == clap_complete::Shell::Fish {
        script.push_str(&fish_words());
    }
    Script { shell: shell.to_string(), script }
}

/// The generator gives fish no values of plain arguments.
fn fish_words() -> String {
    let slugs: Vec<&str> = Slug::ALL.iter().map(|slug| slug.as_str()).collect();
    let command = arguments::command();
    let verbs: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let after = |verb: &str, flags: &str, words: &[&str]| {
        let after_it = format!("__fish_clearway_using_subcommand {verb}");
        format!("complete -c clearway -n \"{after_it}\"{flags} -a \"{}\"\n", words.join(" "))
    };
    // A page of the manual is of a verb or goes to a directory.
    [after("explain", " -f", &slugs), after("help", " -f", &verbs), after("man", "", &verbs)].concat()
}

/// The answer of `completions`.
#[derive(Debug)]
pub(super) struct Script {
    shell: String,
    script: String,
}

impl Answer for Script {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(CompletionsReply { shell: self.shell.clone(), script: self.script.clone() }))
    }

    fn text(&self, _: &Page) -> String {
        self.script.clone()
    }
}

/// The manual: one page, or all of them as files.
pub(super) fn man(directory: Option<&Path>) -> Result<Manual, Problem> {
    let command = arguments::with_whole_usage(prepared(Detail::All));
    let Some(directory) = directory else {
        return Ok(Manual(ManReply { written: Vec::new(), page: Some(manual_page(command)) }));
    };
    let mut written = Vec::new();
    write_pages(command, directory, &mut written)?;
    Ok(Manual(ManReply { written, page: None }))
}

/// Whether a word can be meant as a verb: a directory that is not there is written as one.
pub(super) fn is_verb_like(word: &str) -> bool {
    !word.contains(['/', '.'])
}

/// The page of one verb.
pub(super) fn man_of_verb(words: &[String]) -> Result<Manual, Problem> {
    let command = arguments::with_whole_usage(prepared(Detail::All));
    let found = words.iter().try_fold(&command, |command, word| command.find_subcommand(word));
    let page = found.cloned().map(manual_page).ok_or_else(|| {
        let message = format!("{} is neither a verb nor a directory", quoted(&words.join(" ")));
        Failure::new(Slug::NotFound, message).hint("see the verbs: clearway help --all")
    })?;
    Ok(Manual(ManReply { written: Vec::new(), page: Some(page) }))
}

fn manual_page(command: clap::Command) -> String {
    let mut page = Vec::new();
    // Writing to memory cannot fail.
    let _ = clap_mangen::Man::new(command).render(&mut page);
    String::from_utf8_lossy(&page).into_owned()
}

fn write_pages(command: clap::Command, directory: &Path, written: &mut Vec<String>) -> Result<(), Failure> {
    let verbs: Vec<clap::Command> = command.get_subcommands().cloned().collect();
    let path = clap_mangen::Man::new(command)
        .generate_to(directory)
        .map_err(|error| unwritten(directory, &error))?;
    written.push(path.display().to_string());
    verbs.into_iter().try_for_each(|verb| write_pages(verb, directory, written))
}

fn unwritten(directory: &Path, error: &std::io::Error) -> Failure {
    let message =
        format!("the manual cannot be written to {}: {error}", quoted(&directory.to_string_lossy()));
    let missing = matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory);
    let slug = if missing { Slug::NotFound } else { Slug::OutputUnwritable };
    Failure::new(slug, message).hint("name a directory that exists and is yours to write: clearway man DIR")
}

/// The answer of `man`.
#[derive(Debug)]
pub(super) struct Manual(ManReply);

impl Answer for Manual {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(&self.0))
    }

    fn text(&self, _: &Page) -> String {
        match &self.0.page {
            Some(page) => page.clone(),
            None => self.0.written.iter().map(|path| format!("{}\n", printable(path))).collect(),
        }
    }
}
