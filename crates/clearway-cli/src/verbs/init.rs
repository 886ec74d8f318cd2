//! `init`: a repository and the clients of its agents, set up and given back.

use super::{Outcome, answer};
use crate::Host;
use crate::arguments::InitFlags;
use crate::clients::named;
use crate::console::{Answer, Console, document};
use crate::given::Given;
use crate::render::{Page, Tone, count, wrap, wrap_hint};
use crate::setup::standing::Standing;
use crate::setup::{After, Change, ClientSeen, Wish, carry_out, detected, look, name, plan};
use clearway_core::agent::Client;
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_core::text::{printable, shown};
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_kernel::{Globals, Session};
use clearway_wire::json::{ClientFileJson, ClientJson, Failed, InitReply, ProblemJson, Told};
use std::path::{Path, PathBuf};

/// Columns of the longest name of a client.
const NAME_COLUMNS: usize = 11;

/// Plans, shows, asks, writes, and looks at what came of it.
pub(super) fn init(
    host: &mut dyn Host,
    globals: &Globals,
    flags: &InitFlags,
    console: &mut Console<'_, '_>,
) -> Outcome {
    let site = Site::of(host, globals)?;
    let wish = Wish { strict: site.is_strict, ..wish(flags) };
    let planned = plan(host, site.root(), &wish)?;
    let consent = consent(host, flags, &site, &planned, console)?;
    let (deed, changes) = match consent {
        Consent::Given => (Deed::Done, carried_out(host, globals, &site, &wish, None)?),
        Consent::Typed => (Deed::Done, carried_out(host, globals, &site, &wish, Some(&planned))?),
        Consent::NotAsked => (Deed::Planned, planned),
        Consent::Denied => (Deed::Declined, planned),
        Consent::NobodyToAsk => (Deed::Unconfirmed, planned),
    };
    let changes = if wish.unattended && !site.is_unattended { with_posture(changes) } else { changes };
    let clients = if wish.uninstall { Vec::new() } else { chosen(host, &wish) };
    let clients = look(host, site.root(), &clients);
    let (uninstall, was_shown) = (wish.uninstall, consent == Consent::Typed);
    answer(
        SetUp { site, deed, uninstall, was_shown, changes, clients, left: None }.judged(flags, console.json),
    )
}

/// What a client does when a hook fails says nothing of what a hook answers when the store does.
fn with_posture(changes: Vec<Change>) -> Vec<Change> {
    let with = |change: Change| {
        Change {
        note: change.note.map(|note| {
            format!("{note}; while the store cannot be asked edits pass, unless settings say posture = \"unattended\"")
        }),
        ..change
    }
    };
    changes.into_iter().map(with).collect()
}

/// Whether it may be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Consent {
    /// On the command line, or nothing needs any.
    Given,
    /// By a person who was shown what changes.
    Typed,
    Denied,
    /// Only a look was wanted.
    NotAsked,
    /// There is no terminal, or the answer is for a program.
    NobodyToAsk,
}

fn consent(
    host: &mut dyn Host,
    flags: &InitFlags,
    site: &Site,
    planned: &[Change],
    console: &mut Console<'_, '_>,
) -> Result<Consent, crate::console::Problem> {
    let is_due = planned.iter().any(Change::is_due);
    let begins = !flags.uninstall && !site.is_invited;
    let is_asked = host.surroundings().stdin_is_terminal && !console.json;
    Ok(match (flags.dry_run, flags.yes, is_asked) {
        (true, ..) => Consent::NotAsked,
        (false, true, _) => Consent::Given,
        (false, false, false) if is_due || begins => Consent::NobodyToAsk,
        (false, false, true) if is_due => match agreed(host, console, planned)? {
            true => Consent::Typed,
            false => Consent::Denied,
        },
        (false, false, _) => Consent::Given,
    })
}

fn wish(flags: &InitFlags) -> Wish {
    let client = |name: &String| named(name).map(|dialect| dialect.client);
    Wish {
        clients: flags.client.iter().filter_map(client).collect(),
        unattended: flags.unattended,
        agents_md: flags.agents_md,
        without_others: flags.without_others,
        git_hooks: flags.git_hooks,
        strict: false,
        uninstall: flags.uninstall,
    }
}

fn chosen(host: &dyn Host, wish: &Wish) -> Vec<Client> {
    if wish.clients.is_empty() { detected(host) } else { wish.clients.clone() }
}

/// Where we are.
#[derive(Debug)]
struct Site {
    scope: String,
    root: Option<PathBuf>,
    /// Whether hooks act here already.
    is_invited: bool,
    /// Whether they refuse what they cannot check.
    is_unattended: bool,
    /// Whether settings ask for the hook that sees every change of a branch.
    is_strict: bool,
}

impl Site {
    fn of(host: &mut dyn Host, globals: &Globals) -> Result<Self, Failure> {
        let mut session = Session::open(host, globals)?;
        let is_invited = session.is_invited()?;
        let is_unattended = session.config.is_unattended();
        let is_strict = session.config.is_strict();
        let (scope, root) = (session.site.key.to_string(), session.site.root.clone());
        Ok(Self { scope, root, is_invited, is_unattended, is_strict })
    }

    fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }
}

fn carried_out(
    host: &mut dyn Host,
    globals: &Globals,
    site: &Site,
    wish: &Wish,
    shown: Option<&[Change]>,
) -> Result<Vec<Change>, Failure> {
    if !wish.uninstall {
        Session::open(host, globals)?.invite()?.outcome?;
    }
    carry_out(host, site.root(), wish, shown)
}

/// Shows a person what is about to be written, and asks.
fn agreed(
    host: &mut dyn Host,
    console: &mut Console<'_, '_>,
    changes: &[Change],
) -> Result<bool, crate::console::Problem> {
    let page = console.page.clone();
    let due: Vec<&Change> = changes.iter().filter(|change| change.is_due()).collect();
    for change in &due {
        console.line(&diff_lines(change, &page))?;
    }
    console.agrees(&format!("Write {}?", count(due.len() as u64, "file", "files")), host)
}

/// How far it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Done,
    Planned,
    Declined,
    /// Nobody said that it may be done.
    Unconfirmed,
}

/// The answer of `init`.
#[derive(Debug)]
struct SetUp {
    site: Site,
    deed: Deed,
    uninstall: bool,
    /// What changes was shown before.
    was_shown: bool,
    changes: Vec<Change>,
    clients: Vec<ClientSeen>,
    left: Option<Failure>,
}

impl SetUp {
    /// With what is left to do. Whoever only looks is told what would be, and that is no failure.
    fn judged(self, flags: &InitFlags, json: bool) -> Self {
        let refused = self.changes.iter().find_map(|change| change.outcome.as_ref().err());
        let left = match self.deed {
            Deed::Done | Deed::Declined => left(&self.clients, refused),
            Deed::Unconfirmed => Some(unconfirmed(flags, json)),
            Deed::Planned => None,
        };
        let left = left.or_else(|| refused.cloned());
        Self { left, ..self }
    }

    fn reply(&self, given: &Given) -> InitReply {
        InitReply {
            scope: self.site.scope.clone(),
            clients: self.clients.iter().map(|seen| client_json(seen, given)).collect(),
            files: self.changes.iter().map(|change| self.file_json(change, given)).collect(),
        }
    }

    fn file_json(&self, change: &Change, given: &Given) -> ClientFileJson {
        let problem = change.outcome.as_ref().err().map(|failure| given.failure(failure));
        ClientFileJson {
            client: change.client.map(|client| client.name_stem().to_owned()),
            path: change.path.display().to_string(),
            change: self.change_word(change).to_owned(),
            diff: change.diff(),
            note: change.note.clone(),
            problem: problem.map(|failure| ProblemJson {
                slug: failure.slug.as_str().to_owned(),
                message: failure.message,
                hints: failure.hints.iter().map(ToString::to_string).collect(),
            }),
        }
    }

    fn change_word(&self, change: &Change) -> &'static str {
        match (&change.outcome, self.deed) {
            (Err(_), _) => "refused",
            (Ok(After::Unchanged), _) => "unchanged",
            (Ok(_), Deed::Planned | Deed::Declined | Deed::Unconfirmed) => "planned",
            (Ok(After::Absent), Deed::Done) => "removed",
            (Ok(After::Text(_)), Deed::Done) => "written",
        }
    }

    fn scope_line(&self) -> String {
        match (self.uninstall, self.deed) {
            (true, _) => String::new(),
            (false, Deed::Done) => format!("scope {}: hooks act here\n", self.site.scope),
            (false, _) => format!("scope {}\n", self.site.scope),
        }
    }

    fn change_lines(&self, change: &Change, page: &Page) -> String {
        let word = self.change_word(change);
        // Whoever takes something away knows what it was.
        let shows = !self.was_shown && (!self.uninstall || self.deed != Deed::Done);
        let mut text = if shows && change.is_due() { diff_lines(change, page) } else { String::new() };
        let mut line = format!("{word}: {}", shown(&change.path.display().to_string()));
        if let Some(note) = &change.note {
            line.push_str(&format!(" ({note})"));
        }
        text.push_str(&(wrap(&line, page.columns, "", "  ").join("\n") + "\n"));
        if let Err(failure) = &change.outcome {
            let why = format!("error[{}]: {}", failure.slug, printable(&failure.message));
            text.push_str(&(wrap(&why, page.columns, "  ", "  ").join("\n") + "\n"));
        }
        text
    }

    fn last_line(&self) -> &'static str {
        let is_due = self.changes.iter().any(Change::is_due);
        let is_same = self.changes.iter().all(|change| matches!(change.outcome, Ok(After::Unchanged)));
        match (self.deed, self.uninstall) {
            (Deed::Declined | Deed::Unconfirmed, _) => "nothing was written\n",
            (Deed::Planned, _) if is_due => "nothing was written: --dry-run\n",
            (_, true) if is_same => "nothing of ours was found\n",
            (_, false) if is_same && !self.clients.is_empty() => "nothing to change\n",
            _ => "",
        }
    }
}

fn is_worth_a_line(change: &Change) -> bool {
    change.note.is_some() || !matches!(change.outcome, Ok(After::Unchanged))
}

fn diff_lines(change: &Change, page: &Page) -> String {
    let mut text = format!("{}\n", page.paint(Tone::Strong, &shown(&change.path.display().to_string())));
    for line in change.diff().lines() {
        let tone = match line.chars().next() {
            Some('+') => Tone::Good,
            Some('-') => Tone::Bad,
            _ => Tone::Faint,
        };
        text.push_str(&format!("  {}\n", page.paint(tone, &printable(line))));
    }
    text
}

fn client_json(seen: &ClientSeen, given: &Given) -> ClientJson {
    let (why, step) = parts(&seen.standing);
    ClientJson {
        client: seen.client.name_stem().to_owned(),
        standing: seen.standing.word().to_owned(),
        why: why.map(str::to_owned),
        step: step.map(|step| given.advice(step)),
        notes: seen.remarks().cloned().collect(),
    }
}

fn parts(standing: &Standing) -> (Option<&str>, Option<&str>) {
    match standing {
        Standing::Active => (None, None),
        Standing::StepLeft { why, step, .. } => (Some(why), Some(step)),
        Standing::NotEnforceable(why) => (Some(why), None),
    }
}

fn client_lines(seen: &ClientSeen, page: &Page) -> String {
    let (why, step) = parts(&seen.standing);
    let (word, tone) = match &seen.standing {
        Standing::Active => ("active", Tone::Good),
        Standing::StepLeft { .. } => ("one step left", Tone::Care),
        Standing::NotEnforceable(_) => ("not enforceable", Tone::Bad),
    };
    let front = format!("{:NAME_COLUMNS$}  ", name(seen.client));
    let next = " ".repeat(front.len());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let mut lines = wrap(&printable(&format!("{word}{why}")), page.columns, &front, &next);
    let hint = step.map(|step| format!("hint: {}", page.given.advice(&printable(step))));
    lines.extend(hint.into_iter().flat_map(|hint| wrap_hint(&hint, page.columns, &next, &next)));
    let notes = seen.remarks().map(|note| format!("note: {}", printable(note)));
    lines.extend(notes.flat_map(|note| wrap(&note, page.columns, &next, &next)));
    lines.join("\n").replacen(word, &page.paint(tone, word), 1) + "\n"
}

/// Why nothing was written, and the line that would have written it.
fn unconfirmed(flags: &InitFlags, json: bool) -> Failure {
    let named = flags.client.iter().flat_map(|name| ["--client", name]);
    let switches = [
        ("--unattended", flags.unattended),
        ("--agents-md", flags.agents_md),
        ("--without-others", flags.without_others),
        ("--git-hooks", flags.git_hooks),
        ("--uninstall", flags.uninstall),
        ("-y", true),
    ];
    let switches = switches.into_iter().filter_map(|(flag, is_given)| is_given.then_some(flag));
    let words: Vec<&str> = ["init"].into_iter().chain(named).chain(switches).collect();
    let (why, shown) = match json {
        true => ("with --json nobody is asked, so nothing was written", "do what files tells"),
        false => ("there is no terminal to ask at, so nothing was written", "do what is shown above"),
    };
    Failure::new(Slug::NotConfirmed, why).hint(format!("{shown}: clearway {}", words.join(" ")))
}

/// Why the clients that were found are not all active.
fn left(clients: &[ClientSeen], refused: Option<&Failure>) -> Option<Failure> {
    let left: Vec<&ClientSeen> = clients.iter().filter(|seen| seen.standing != Standing::Active).collect();
    let names: Vec<&str> = left.iter().map(|seen| seen.client.name_stem()).collect();
    let first = left.first()?;
    let number = count(names.len() as u64, "client is", "clients are");
    let failure = Failure::new(Slug::ClientNotActive, format!("{number} not active: {}", names.join(", ")));
    let refusal = refused.and_then(|failure| failure.hints.first()).map(ToString::to_string);
    let step = refusal.or_else(|| parts(&first.standing).1.map(str::to_owned));
    Some(step.into_iter().fold(failure, Failure::hint))
}

impl Answer for SetUp {
    fn json(&self, given: &Given) -> String {
        let reply = self.reply(given);
        let Some(failure) = &self.left else { return document(&Told::new(reply)) };
        let never = Now { boot: BootKey(String::new()), mono: Mono(0), wall: Wall(0) };
        let mut failed = Failed::new(&given.failure(failure), &never);
        let details = serde_json::to_value(&reply).unwrap_or_default();
        failed.error.details.extend(details.as_object().cloned().into_iter().flatten());
        document(&failed)
    }

    fn text(&self, page: &Page) -> String {
        let mut text = self.scope_line();
        for change in self.changes.iter().filter(|change| is_worth_a_line(change)) {
            text.push_str(&self.change_lines(change, page));
        }
        if self.clients.is_empty() && !self.uninstall {
            text.push_str("no client of agents was found; name one: clearway init --client claude\n");
        }
        for seen in &self.clients {
            text.push_str(&client_lines(seen, page));
        }
        text + self.last_line()
    }

    fn exit_code(&self) -> u8 {
        self.left.as_ref().map_or(0, |failure| failure.slug.exit_code())
    }

    fn complaint(&self) -> Option<&Failure> {
        self.left.as_ref()
    }
}
