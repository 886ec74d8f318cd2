//! What is said around a command of a shell: one of git that others in the checkout are in the way of is refused, and so is
//! one that destroys what cannot be kept; what a command would destroy is kept first. Every checkout that a command
//! reaches is asked for itself, and its settings say what becomes of the command there.

use super::reply::{Told, Verdict};
use super::{Judged, Passage, Unchecked, keep_unannounced, stopped, texts};
use crate::Host;
use crate::clients::Dialect;
use crate::hook::event::Event;
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_kernel::config::Enforcement;
use clearway_kernel::{
    Answers, Doing, Failing, HookCall, Unkept, abandon_turns, attend, before_git, before_shell, unkept_by,
};

/// A call about a command, and who hears what is said of it.
pub(super) struct Shell<'a> {
    pub(super) dialect: &'a Dialect,
    pub(super) event: &'a Event,
    pub(super) call: &'a HookCall,
    pub(super) command: &'a str,
}

/// What is said of a command that is refused because a store fails.
type Refuse = fn(&Failure) -> String;

impl Shell<'_> {
    pub(super) fn before(&self, host: &mut dyn Host) -> Judged {
        let Self { call, command, .. } = self;
        // What the agent did before is over, and only then it takes turns for what it is about to do.
        let (answers, failing) = self.attend(host, &Doing::Runs);
        let failed = slug_of(failing.as_ref());
        if let Some(verdict) = stopped(&answers) {
            return Judged { verdict, answers, lets_pass: false, failed };
        }
        let mut said = Said::default();
        let sharing = before_git(host, call, command, failing.as_ref());
        if let Some(refusal) = sharing.refused {
            said.refuse(texts::not_run(&refusal.failure, refusal.mode), refusal.mode);
        }
        said.beside.extend(sharing.unsure.iter().map(texts::unsure));
        if said.reason.is_none() {
            let shelter = before_shell(host, call, command, failing.as_ref());
            said.beside.extend(shelter.kept.iter().map(texts::sheltered));
            if let Some(refusal) = shelter.refused {
                said.refuse(texts::unsheltered(&refusal.failure, refusal.mode), refusal.mode);
            }
            let troubles = shelter.unkept.iter().map(|unkept| (unkept, texts::refused_unkept as Refuse));
            let unjudged =
                sharing.unjudged.iter().map(|unjudged| (unjudged, texts::refused_unjudged as Refuse));
            for (trouble, refuse) in troubles.chain(unjudged) {
                self.say_unkept(host, trouble, Some(refuse), &mut said);
            }
        }
        if said.reason.is_some() {
            // What does not run keeps no turn.
            abandon_turns(host, call);
        }
        let lets_pass = said.lets_pass;
        Judged { verdict: said.verdict(&answers), answers, lets_pass, failed }
    }

    pub(super) fn after(&self, host: &mut dyn Host) -> Judged {
        let Self { call, command, .. } = self;
        let (answers, failing) = self.attend(host, &Doing::Ran);
        let failed = slug_of(failing.as_ref());
        if failing.is_none() {
            keep_unannounced(self.event, call, host);
        }
        let mut said = Said::default();
        for unkept in unkept_by(host, call, command, failing.as_ref()) {
            self.say_unkept(host, &unkept, None, &mut said);
        }
        Judged { verdict: said.verdict(&answers), answers, lets_pass: false, failed }
    }

    fn attend(&self, host: &mut dyn Host, doing: &Doing) -> (Answers, Option<Failing>) {
        match attend(host, self.call, doing) {
            Ok(answers) => (answers, None),
            Err(failure) => (Answers::default(), Some(Failing::here(host, self.call, failure))),
        }
    }

    /// Where a store fails, what a command does to the work of others passes with a word, once, or is refused where nobody
    /// watches, which it is too late for after it. The word is said after it where nobody would hear it before.
    fn say_unkept(&self, host: &mut dyn Host, unkept: &Unkept, refuse: Option<Refuse>, said: &mut Said) {
        let Unkept { file, failure } = unkept;
        let Self { dialect, event, call, .. } = *self;
        let unchecked = Unchecked { dialect, event, call, is_before: refuse.is_some() };
        let files = std::slice::from_ref(file);
        match unchecked.passage(host, files, failure, texts::unkept(failure)) {
            Passage::Refused => {
                said.reason = said.reason.take().or_else(|| refuse.map(|refuse| refuse(failure)));
            }
            Passage::Told(text) => said.for_all.push(text),
            Passage::Silent => {}
        }
    }
}

fn slug_of(failing: Option<&Failing>) -> Option<Slug> {
    failing.map(|failing| failing.failure().slug)
}

/// What there is to say so far.
#[derive(Default)]
struct Said {
    /// Why the command does not run.
    reason: Option<String>,
    /// What the agent is told beside.
    beside: Vec<String>,
    /// What the person is told as well.
    for_all: Vec<String>,
    /// Whether it would have been refused, had refusals been enforced.
    lets_pass: bool,
}

impl Said {
    fn refuse(&mut self, text: String, mode: Enforcement) {
        match mode {
            Enforcement::Enforce => self.reason = Some(text),
            Enforcement::Warn => self.beside.push(text),
            Enforcement::Observe => {}
        }
        self.lets_pass |= mode != Enforcement::Enforce;
    }

    fn verdict(self, answers: &Answers) -> Verdict {
        let notices = texts::beside(answers);
        if let Some(reason) = self.reason {
            return Verdict::Deny([reason].into_iter().chain(notices).collect::<Vec<_>>().join("\n"));
        }
        let person = (!self.for_all.is_empty()).then(|| self.for_all.join("\n"));
        let model: Vec<String> = self.for_all.into_iter().chain(self.beside).chain(notices).collect();
        if model.is_empty() {
            return Verdict::Silent;
        }
        Verdict::Tell(Told { model: Some(model.join("\n")), person })
    }
}
