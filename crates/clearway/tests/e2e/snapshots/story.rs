//! One story told by commands, written down as it goes and compared with what is recorded.

use crate::{app, text};
use clearway_testkit::{Clearway, Home, Ran, Repository};
use serde_json::Value;
use std::path::PathBuf;

/// One story told by commands, written down as it goes.
pub(super) struct Story<'h> {
    name: &'static str,
    home: &'h Home,
    pub(super) repository: Repository<'h>,
    pub(super) told: String,
}

impl<'h> Story<'h> {
    pub(super) fn begin(name: &'static str, home: &'h Home) -> Self {
        let repository = app(home);
        Self { name, home, repository, told: String::new() }
    }

    /// Runs a command as text and as JSON and writes both down. Only for verbs that may be repeated.
    pub(super) fn both(&mut self, agent: &str, words: &[&str]) -> &mut Self {
        self.one(agent, words);
        let json: Vec<&str> = words.iter().copied().chain(["--json"]).collect();
        self.one(agent, &json)
    }

    pub(super) fn one(&mut self, agent: &str, words: &[&str]) -> &mut Self {
        let clearway = self.repository.agent(agent);
        self.run(clearway, &format!("--agent {agent} "), words)
    }

    pub(super) fn run(&mut self, clearway: Clearway, before: &str, words: &[&str]) -> &mut Self {
        let ran = clearway.run(words);
        self.tell(&ran, before, words)
    }

    /// A client calls its hook. What a model reads of the answer has its length beside it.
    pub(super) fn hook(&mut self, client: &str, payload: &Value) -> &mut Self {
        let words = ["hook", client];
        let ran = self.repository.clearway().run_with(payload.to_string().as_bytes(), &words);
        self.tell(&ran, "", &words);
        if let Some(text) = read_by_model(&ran) {
            let masks = masks(self.home, &self.repository);
            let text = masks.iter().fold(text, |text, (from, to)| text.replace(from, to));
            self.told.push_str(&format!("--- {} bytes for the model\n\n", text.len()));
        }
        self
    }

    fn tell(&mut self, ran: &Ran, before: &str, words: &[&str]) -> &mut Self {
        let masks = masks(self.home, &self.repository);
        let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        let line = format!("$ clearway {before}{}", words.join(" "));
        let line = masks.iter().fold(line, |line, (from, to)| line.replace(from, to));
        let line = line.replace(&self.home.path().display().to_string(), "$HOME");
        self.told.push_str(&format!("{line}\n{}\n", ran.transcript(&masks)));
        self
    }

    /// Compares the story with the one on record.
    #[track_caller]
    pub(super) fn end(&self) {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
            .join("tests/snapshots")
            .join(format!("{}.txt", self.name));
        if std::env::var_os("CLEARWAY_UPDATE_SNAPSHOTS").is_some() {
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
            std::fs::write(&path, &self.told).expect("a snapshot");
            return;
        }
        let recorded = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(recorded == self.told, "{} differs:\n{}", path.display(), difference(&recorded, &self.told));
    }
}

/// The text in a hook's answer that a client hands to its model.
fn read_by_model(ran: &Ran) -> Option<String> {
    let answer: Value = serde_json::from_str(&ran.stdout()).ok()?;
    let said = &answer["hookSpecificOutput"];
    let texts = [&said["permissionDecisionReason"], &said["additionalContext"], &answer["reason"]];
    texts.into_iter().find_map(Value::as_str).map(str::to_owned)
}

fn shell_word(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./@:=".contains(c));
    if plain { word.to_owned() } else { format!("'{word}'") }
}

/// Ids and keys of this run, and what the story calls them.
fn masks(home: &Home, repository: &Repository<'_>) -> Vec<(String, String)> {
    let mut masks = Vec::new();
    if let Ok(scopes) = std::fs::read_dir(home.state().join("scopes")) {
        let names = scopes.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
        masks.extend(
            names.filter_map(|name| Some((name.clone(), format!("{}-scopekey", name.rsplit_once('-')?.0)))),
        );
    } else {
        let status = repository.clearway().run(&["status", "--json"]);
        if let Ok(status) = serde_json::from_str::<Value>(&status.stdout()) {
            masks.extend(status["scope"].as_str().map(|key| (key.to_owned(), "app-scopekey".to_owned())));
        }
    }
    let events = repository.clearway().run(&["events", "--json"]);
    let events = events.stdout();
    let events = events.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let (mut agents, mut leases, mut sets, mut waits, mut requests) = (0, 0, 0, 0, 0);
    for event in events {
        let data = &event["data"];
        if event["kind"] == "agent.registered" {
            agents += 1;
            masks.push((text(data, "registered_id").to_owned(), format!("agent{agents:03}")));
        }
        if event["kind"] == "wait.began" {
            waits += 1;
            masks.push((text(data, "wait").to_owned(), format!("place{waits:03}")));
        }
        if event["kind"] == "negotiation.asked" {
            requests += 1;
            masks.push((text(data, "negotiation").to_owned(), format!("asked{requests:03}")));
        }
        if event["kind"] == "lease.granted" {
            leases += 1;
            masks.push((text(data, "lease").to_owned(), format!("lease{leases:03}")));
            if let Some(set) =
                data["set_id"].as_str().filter(|set| !masks.iter().any(|(from, _)| from == set))
            {
                sets += 1;
                masks.push((set.to_owned(), format!("group{sets:03}")));
            }
        }
    }
    masks
}

/// The first lines that differ, with a little of what is around them.
fn difference(recorded: &str, told: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (recorded.lines().collect(), told.lines().collect());
    let same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(3);
    let show = |mark: &str, lines: &[&str]| -> String {
        lines.iter().skip(same).take(12).map(|line| format!("{mark}{line}\n")).collect()
    };
    let around: String = old[from..same].iter().map(|line| format!("  {line}\n")).collect();
    format!("line {}\n{around}{}{}", same + 1, show("- ", &old), show("+ ", &new))
}
