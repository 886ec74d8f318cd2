//! `doctor`: what is wrong, and what to do about it.

use crate::Host;
use crate::arguments::DoctorFlags;
use crate::console::{Answer, Problem, document};
use crate::given::Given;
use crate::render::{Page, Tone, count, wrap, wrap_hint};
use crate::setup::standing::Standing;
use crate::setup::{self, ClientSeen};
use clearway_core::failure::Failure;
use clearway_core::slug::{FailureKind, Slug};
use clearway_core::text::printable;
use clearway_core::time::{BootKey, Mono, Now, Wall};
use clearway_kernel::{Check, CheckStatus, Diagnosis, Globals, Repaired, Session};
use clearway_wire::json::{CheckedThing, DoctorReply, Failed, RepairedJson, Told};

/// Columns of the longest `about`.
const ABOUT_COLUMNS: usize = 8;

/// Looks at everything. What keeps it from looking is itself the first finding.
pub(super) fn doctor(
    host: &mut dyn Host,
    globals: &Globals,
    flags: &DoctorFlags,
) -> Result<Finding, Problem> {
    let (mut root, mut strict) = (None, false);
    let opened = match flags.repair {
        true => Session::open(host, globals),
        false => Session::open_anywhere(host, globals),
    };
    let looked = opened.and_then(|mut session| {
        (root, strict) = (session.site.root.clone(), session.config.is_strict());
        let repaired = if flags.repair { Some(session.repair(flags.reason.as_deref())?) } else { None };
        Ok((repaired, session.diagnose()?))
    });
    let (repaired, mut diagnosis) = match looked {
        Ok(looked) => looked,
        Err(failure) if is_a_finding(&failure) => (None, obstacle(failure)),
        Err(failure) => return Err(failure.into()),
    };
    let clients = setup::detected(host);
    let seen = setup::look(host, root.as_deref(), &clients);
    diagnosis.checks.extend(seen.iter().flat_map(client_checks));
    diagnosis.checks.extend(root.iter().flat_map(|root| setup::githooks::checks(host, root, strict)));
    let inactive = seen.iter().filter(|seen| !matches!(seen.standing, Standing::Active));
    Ok(Finding::new(repaired, diagnosis, inactive.map(|seen| setup::name(seen.client)).collect()))
}

/// How a client stands, and what else was noticed about it. Only what was in order and is so no more is wrong.
fn client_checks(seen: &ClientSeen) -> Vec<Check> {
    let name = setup::name(seen.client);
    let check = |status, text, hint| Check { about: "client", status, text, hint };
    let standing = match &seen.standing {
        Standing::Active => check(CheckStatus::Good, format!("{name}: active"), None),
        Standing::StepLeft { why, step, is_damage } => {
            let status = if *is_damage { CheckStatus::Wrong } else { CheckStatus::Notable };
            check(status, format!("{name}: one step left: {why}"), Some(step.clone()))
        }
        Standing::NotEnforceable(why) => {
            check(CheckStatus::Notable, format!("{name}: not enforceable: {why}"), None)
        }
    };
    let notes = seen.notes.iter().map(|note| check(CheckStatus::Notable, format!("{name}: {note}"), None));
    let rivals = seen.rivals.iter().map(|rival| {
        let hint = "take them out; init --uninstall gives them back: clearway init --without-others";
        check(CheckStatus::Notable, format!("{name}: {rival}"), Some(hint.to_owned()))
    });
    std::iter::once(standing).chain(notes).chain(rivals).collect()
}

/// A store or configuration that cannot be used is what a doctor is called for; a slip on the line is not.
fn is_a_finding(failure: &Failure) -> bool {
    matches!(failure.slug.kind(), FailureKind::Unavailable | FailureKind::Configuration)
}

fn obstacle(failure: Failure) -> Diagnosis {
    let about = if failure.slug.kind() == FailureKind::Configuration { "config" } else { "store" };
    let own = "clearway doctor";
    let hint = failure.hints.iter().map(ToString::to_string).find(|hint| !hint.contains(own));
    let hint = hint.or_else(|| Some(format!("see: clearway explain {}", failure.slug)));
    Diagnosis { checks: vec![Check { about, status: CheckStatus::Wrong, text: failure.message, hint }] }
}

/// The answer of `doctor`.
#[derive(Debug)]
pub(super) struct Finding {
    repaired: Option<Repaired>,
    diagnosis: Diagnosis,
    unhealthy: Option<Failure>,
    /// Clients whose edits nothing checks. A person may have left it so, and nothing is wrong with that.
    inactive: Vec<&'static str>,
}

impl Finding {
    fn new(repaired: Option<Repaired>, diagnosis: Diagnosis, inactive: Vec<&'static str>) -> Self {
        let unhealthy = (!diagnosis.is_healthy()).then(|| unhealthy(&diagnosis));
        Self { repaired, diagnosis, unhealthy, inactive }
    }

    fn repaired(&self) -> Option<RepairedJson> {
        self.repaired.map(|done| RepairedJson {
            rows: done.rows,
            lost_events: done.lost_events,
            leftovers: done.leftovers,
        })
    }

    fn checks(&self, given: &Given) -> Vec<CheckedThing> {
        let one = |check: &Check| CheckedThing {
            about: check.about.to_owned(),
            status: check.status.word().to_owned(),
            text: check.text.clone(),
            hint: check.hint.as_ref().map(|hint| given.advice(hint)),
        };
        self.diagnosis.checks.iter().map(one).collect()
    }
}

fn unhealthy(diagnosis: &Diagnosis) -> Failure {
    let wrong = || diagnosis.checks.iter().filter(|check| check.status == CheckStatus::Wrong);
    let mut about: Vec<&str> = wrong().map(|check| check.about).collect();
    let things = count(about.len() as u64, "thing is", "things are");
    about.dedup();
    let failure = Failure::new(Slug::Unhealthy, format!("{things} wrong: {}", about.join(", ")));
    wrong().filter_map(|check| check.hint.clone()).take(1).fold(failure, Failure::hint)
}

impl Answer for Finding {
    fn json(&self, given: &Given) -> String {
        let checks = self.checks(given);
        let Some(failure) = &self.unhealthy else {
            return document(&Told::new(DoctorReply { healthy: true, repaired: self.repaired(), checks }));
        };
        let never = Now { boot: BootKey(String::new()), mono: Mono(0), wall: Wall(0) };
        let mut failed = Failed::new(&given.failure(failure), &never);
        let checks = serde_json::to_value(&checks).unwrap_or_default();
        failed.error.details.insert("checks".to_owned(), checks);
        let repaired = serde_json::to_value(self.repaired()).unwrap_or_default();
        failed.error.details.insert("repaired".to_owned(), repaired);
        document(&failed)
    }

    fn text(&self, page: &Page) -> String {
        let mut text = String::new();
        if let Some(Repaired { rows, lost_events, leftovers }) = self.repaired {
            if leftovers > 0 {
                text.push_str(&format!(
                    "removed {}\n",
                    count(leftovers, "temporary file", "temporary files")
                ));
            }
            text.push_str(&format!("rebuilt from the log: {}\n", count(rows, "row", "rows")));
            if lost_events > 0 {
                let events = count(lost_events, "event is", "events are");
                text.push_str(&format!("{events} lost for good; every lease ended with them\n"));
            }
        }
        for check in &self.diagnosis.checks {
            text.push_str(&check_lines(check, page));
        }
        if self.unhealthy.is_none() {
            let (tone, verdict) = match self.inactive.as_slice() {
                [] => (Tone::Good, "healthy".to_owned()),
                clients => (Tone::Care, format!("healthy, but not active: {}", clients.join(", "))),
            };
            text.push_str(&format!("{}\n", page.paint(tone, &verdict)));
        }
        text
    }

    fn exit_code(&self) -> u8 {
        self.unhealthy.as_ref().map_or(0, |failure| failure.slug.exit_code())
    }

    fn complaint(&self) -> Option<&Failure> {
        self.unhealthy.as_ref()
    }
}

fn check_lines(check: &Check, page: &Page) -> String {
    let tone = match check.status {
        CheckStatus::Good => Tone::Good,
        CheckStatus::Notable => Tone::Care,
        CheckStatus::Wrong => Tone::Bad,
    };
    let status = format!("{:5}", check.status.word());
    let front = format!("{status}  {:ABOUT_COLUMNS$}  ", check.about);
    let next = " ".repeat(front.len());
    let mut lines = wrap(&printable(&check.text), page.columns, &front, &next);
    if let Some(hint) = &check.hint {
        let hint = format!("hint: {}", page.given.advice(&printable(hint)));
        lines.extend(wrap_hint(&hint, page.columns, &next, &next));
    }
    let text = lines.join("\n").replacen(&status, &page.paint(tone, &status), 1);
    text + "\n"
}
