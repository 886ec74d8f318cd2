//! Telling a person who does not watch: `[notify] command` of the user's own file is run for what is worth it.
//!
//! What was decided says so itself. That somebody waits for long is nobody's act: it is looked for, now and then, by
//! whoever calls. Nothing waits for the command, and nothing depends on it.

use crate::config::{AGENT_VARIABLE, Config};
use crate::identity::session_variables;
use crate::outside::{Errand, Outside};
use crate::passing::Mark;
use crate::session::Session;
use crate::site::Site;
use clearway_core::agent::{Client, Liveness};
use clearway_core::alert::{Alert, stands_in_way, waits_long};
use clearway_core::failure::Failure;
use clearway_core::ids::ScopeKey;
use clearway_core::limits::{NOTIFY_MS_MAX, WAITING_LOOK_MS};
use clearway_core::time::{Now, Wall};
use clearway_core::wait::Queued;
use clearway_store::Reply;
use clearway_store::contract::LeaseListing;
use clearway_wire::json::AlertJson;
use std::path::PathBuf;

/// The file that says how the last command ended.
const NOTE: &str = "notified";

/// Tells a person, if that is wanted. What cannot be told is no reason to fail anything.
pub(crate) fn notify(outside: &mut dyn Outside, config: &Config, site: &Site, at: Wall, alert: &Alert) {
    let (Some(line), Some(note)) = (config.notify_command(), note(outside)) else { return };
    let place = site.root.as_ref().map_or_else(|| site.place.clone(), |root| root.display().to_string());
    let input = AlertJson::new(alert, site.key.to_string(), place, at).line();
    // The command is no agent.
    let without = session_variables().into_iter().chain([AGENT_VARIABLE]).collect();
    let errand = Errand { line: line.to_owned(), input, without, ms_max: NOTIFY_MS_MAX, note };
    drop(outside.run_aside(&errand));
}

/// How the last command ended, if not well.
pub(crate) fn last_failure(outside: &mut dyn Outside) -> Option<String> {
    let note = note(outside)?;
    let text = outside.read_text(&note).ok().flatten()?;
    Some(text.trim().to_owned()).filter(|text| !text.is_empty())
}

fn note(outside: &dyn Outside) -> Option<PathBuf> {
    outside.passing_file(NOTE).ok()
}

impl Session<'_> {
    /// Tells a person what came of a command, and who waits for long.
    pub(crate) fn notify_of(&mut self, scope: &ScopeKey, reply: &Reply) {
        if self.config.notify_command().is_none() || reply.rev.0 == 0 {
            return;
        }
        let waits = match *scope == self.site.key {
            true => self.long_waits(&reply.now).unwrap_or_default(),
            false => Vec::new(),
        };
        for alert in reply.alerts.iter().chain(&waits) {
            notify(self.outside, &self.config, &self.site, reply.now.wall, alert);
        }
    }

    /// Waits that nobody was told of yet.
    fn long_waits(&mut self, now: &Now) -> Result<Vec<Alert>, Failure> {
        if !self.is_time_to_look(now) {
            return Ok(Vec::new());
        }
        let key = self.site.key.clone();
        let survey = self.survey_in(&key, LeaseListing::Live)?;
        let (leases, agents) = (survey.leases(), survey.agents());
        let rests = |seen: &&crate::listings::AgentSeen| {
            seen.liveness == Liveness::Idle || seen.view.agent.client == Client::Terminal
        };
        let resting: Vec<_> = agents.iter().filter(rests).map(|seen| seen.view.agent.id).collect();
        let alert = |queued: &Queued| {
            let is_in_way = |lease: &_| stands_in_way(lease, &queued.wait) && resting.contains(&lease.holder);
            let view = leases.iter().find(|view| is_in_way(&view.lease))?;
            let (agent, holder) = (queued.agent.clone(), view.agent.clone());
            let waited_ms = now.mono.since(queued.wait.since);
            Some(Alert::Waiting { agent, holder, target: view.lease.target.clone(), waited_ms })
        };
        let long = survey.queue.iter().filter(|queued| waits_long(&queued.wait, now.mono));
        let found: Vec<(String, Alert)> = long
            .filter_map(|queued| Some((self.told_file(&queued.wait.id.to_string()), alert(queued)?)))
            .collect();
        self.forget_told(&survey.queue);
        Ok(found
            .into_iter()
            .filter(|(file, _)| self.is_first_to_tell(file))
            .map(|(_, alert)| alert)
            .collect())
    }

    /// Whoever calls looks, but not everybody at once.
    fn is_time_to_look(&mut self, now: &Now) -> bool {
        let Ok(path) = self.outside.passing_file(&format!("looked-{}", self.site.key)) else { return false };
        let text = self.outside.read_text(&path).ok().flatten().unwrap_or_default();
        let is_recent = Mark::parse(text.trim()).is_some_and(|mark| mark.is_recent(now, WAITING_LOOK_MS));
        !is_recent && self.outside.write_private(&path, &format!("{}\n", Mark::of(now))).is_ok()
    }

    fn told_file(&self, wait: &str) -> String {
        format!("waited-{}-{wait}", self.site.key)
    }

    /// Of several that find the same wait, one tells of it.
    fn is_first_to_tell(&mut self, file: &str) -> bool {
        let path = self.outside.passing_file(file);
        path.is_ok_and(|path| self.outside.create_private(&path, "").unwrap_or(false))
    }

    fn forget_told(&mut self, queue: &[Queued]) {
        let kept: Vec<String> =
            queue.iter().map(|queued| self.told_file(&queued.wait.id.to_string())).collect();
        for path in self.outside.passing_files(&self.told_file("")) {
            let is_kept = path.file_name().is_some_and(|name| kept.iter().any(|kept| name == kept.as_str()));
            if !is_kept {
                drop(self.outside.remove_file(&path));
            }
        }
    }
}
