//! What each client sends and is answered: one file for each event we register and each tool that writes.
//!
//! `payload` is what the client sends, with `$ROOT` for the repository; `writes` the files it is about to write;
//! `denial` the document that keeps it from doing so. `overwrite` is the document that keeps it from writing
//! `CHANGELOG.md` without the lines that somebody else, `$OTTER`, has in it. `arguments` are those of the hook where
//! the payload does not name its event. `failed` is whether the client says of a call that is over that it came to nothing.

use crate::{app, home};
use clearway_testkit::Home;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The names in a directory, in order.
fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    let name = |entry: std::io::Result<fs::DirEntry>| entry.expect("an entry").file_name();
    let mut names: Vec<String> = entries.map(|entry| name(entry).into_string().expect("text")).collect();
    names.sort();
    names
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hooks")
}

struct Fixture {
    path: PathBuf,
    client: String,
    text: Value,
}

impl Fixture {
    fn all() -> Vec<Self> {
        let of_client = |client: String| {
            let folder = folder().join(&client);
            names_in(&folder).into_iter().map(move |name| {
                let path = folder.join(name);
                let text = fs::read_to_string(&path).expect("a file");
                let text =
                    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                Self { path, client: client.clone(), text }
            })
        };
        names_in(&folder()).into_iter().flat_map(of_client).collect()
    }

    fn arguments(&self) -> Vec<String> {
        let more = self.text["arguments"].as_array().cloned().unwrap_or_default();
        let more = more.iter().map(|word| word.as_str().expect("a word").to_owned());
        ["hook".to_owned(), self.client.clone()].into_iter().chain(more).collect()
    }

    fn payload(&self, root: &Path) -> String {
        self.text["payload"].to_string().replace("$ROOT", &root.display().to_string())
    }

    fn writes(&self) -> Vec<&str> {
        self.text["writes"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|file| file.as_str().expect("a file"))
            .collect()
    }
}

fn invited(home: &Home) -> clearway_testkit::Repository<'_> {
    let app = app(home);
    app.grant("ada", &["docs/x.md"]);
    app.agent("ada").ok(&["release", "--all"]);
    app
}

#[test]
fn every_client_has_a_folder() {
    let home = home();
    let said = app(&home).clearway().run_with(b"{}", &["hook", "nobody"]).expect(1).stderr();
    let (_, known) = said.trim_end().split_once("CLIENT is one of ").expect("the clients");
    let mut known: Vec<&str> = known.split(", ").collect();
    known.sort_unstable();
    assert_eq!(names_in(&folder()), known);
}

#[test]
fn what_is_free_is_leased_without_a_word_and_nothing_else_is() {
    for fixture in Fixture::all() {
        let home = home();
        let app = invited(&home);
        let ran =
            app.clearway().run_with(fixture.payload(app.path()).as_bytes(), &fixture.arguments()).expect(0);
        assert_eq!((ran.stdout(), ran.stderr()), Default::default(), "{}", fixture.path.display());
        let leases = app.clearway().ok(&["leases"]);
        assert_eq!(crate::each(&leases, "leases", "pattern"), fixture.writes(), "{}", fixture.path.display());
    }
}

#[test]
fn what_is_held_is_denied_in_the_form_of_the_client() {
    for fixture in Fixture::all() {
        let home = home();
        let app = invited(&home);
        let Some(last) = fixture.writes().last().copied() else { continue };
        app.grant("otter", &[last, "--reason", "split it"]);
        let ran =
            app.clearway().run_with(fixture.payload(app.path()).as_bytes(), &fixture.arguments()).expect(2);
        let document: Value = serde_json::from_str(&ran.stdout())
            .unwrap_or_else(|error| panic!("{}: {error}: {}", fixture.path.display(), ran.stdout()));
        assert_eq!(document, fixture.text["denial"], "{}\n{document:#}", fixture.path.display());
        let held = crate::each(&app.clearway().ok(&["leases"]), "leases", "agent").join(" ");
        assert_eq!(held, "otter", "{}: all of it or nothing", fixture.path.display());
        assert!(ran.stderr().starts_with("Not edited: "), "{}", ran.stderr());
    }
}

#[test]
fn a_whole_file_without_the_lines_of_somebody_else_is_denied_in_the_form_of_the_client() {
    let mut clients = std::collections::BTreeSet::new();
    for fixture in Fixture::all() {
        let Some(expect) = fixture.text.get("overwrite") else { continue };
        let home = home();
        let app = invited(&home);
        let otter = super::hot::has_lines_in_the_changelog(&home, &app);
        let ran =
            app.clearway().run_with(fixture.payload(app.path()).as_bytes(), &fixture.arguments()).expect(2);
        let document: Value = serde_json::from_str(&ran.stdout().replace(&otter.name, "$OTTER"))
            .unwrap_or_else(|error| panic!("{}: {error}: {}", fixture.path.display(), ran.stdout()));
        assert_eq!(document, *expect, "{}\n{document:#}", fixture.path.display());
        let leases = app.clearway().ok(&["leases"]);
        assert!(crate::list(&leases, "leases").is_empty(), "{}: {leases}", fixture.path.display());
        clients.insert(fixture.client);
    }
    assert_eq!(clients.into_iter().collect::<Vec<_>>(), names_in(&folder()), "each client");
}

#[test]
fn what_a_client_says_came_to_nothing_was_written_by_nobody() {
    let mut told = std::collections::BTreeSet::new();
    for fixture in Fixture::all() {
        let Some(failed) = fixture.text["failed"].as_bool() else { continue };
        let home = home();
        home.user_config("mode = \"observe\"\n");
        let app = invited(&home);
        app.grant("otter", &["src/a.rs"]);
        app.write("src/a.rs", "over\n");
        let called = |fixture: &Fixture| {
            let payload = fixture.payload(app.path());
            app.clearway().run_with(payload.as_bytes(), &fixture.arguments()).expect(0);
        };
        let is_start =
            |other: &Fixture| other.client == fixture.client && other.path.ends_with("session-start.json");
        Fixture::all().iter().filter(|other| is_start(other)).for_each(called);
        called(&fixture);
        let is_told = app.kinds().contains(&"lease.overwritten".to_owned());
        assert_eq!(is_told, !failed, "{}", fixture.path.display());
        let written = app.clearway().ok(&["diff", "src/a.rs"]);
        let has_author = written["files"][0]["lines"].to_string().contains(&fixture.client);
        assert_eq!(has_author, !failed, "{}: {written:#}", fixture.path.display());
        told.insert((fixture.client, failed));
    }
    let clients = |failed: bool| -> Vec<&str> {
        told.iter().filter(|(_, own)| *own == failed).map(|(client, _)| client.as_str()).collect()
    };
    assert_eq!(clients(false), names_in(&folder()), "each client");
    assert_eq!(clients(true), ["claude", "copilot", "gemini"], "those that tell: docs/hooks.md");
}

/// Where a client also runs the hooks of another, both see one agent, so neither refuses the other.
#[test]
fn a_payload_of_another_client_is_known_and_a_hook_that_runs_twice_is_one_call() {
    for fixture in Fixture::all() {
        let home = home();
        let app = invited(&home);
        let Some(first) = fixture.writes().first().copied() else { continue };
        for client in [&fixture.client, "claude", &fixture.client] {
            let mut words = fixture.arguments();
            client.clone_into(&mut words[1]);
            let ran = app.clearway().run_with(fixture.payload(app.path()).as_bytes(), &words).expect(0);
            assert_eq!(ran.stdout(), "", "{} as {client}", fixture.path.display());
            app.write(first, "changed\n");
        }
        let agents = app.clearway().ok(&["agents"]);
        let clients = crate::each(&agents, "agents", "client");
        assert_eq!(
            clients.iter().filter(|client| **client != "manual").count(),
            1,
            "{}",
            fixture.path.display()
        );
    }
}

/// Whatever hook a payload is sent to, what it writes is looked at, also if its calls are numbered by the models of somebody
/// else.
#[test]
fn what_is_held_is_denied_whichever_clients_hook_is_asked() {
    let mut pairs = std::collections::BTreeSet::new();
    for fixture in Fixture::all() {
        let Some(last) = fixture.writes().last().copied() else { continue };
        let home = home();
        let app = invited(&home);
        app.grant("otter", &[last, "--reason", "split it"]);
        let payload = fixture.payload(app.path());
        for client in names_in(&folder()) {
            let mut words = fixture.arguments();
            if client != fixture.client {
                words = vec!["hook".to_owned(), client.clone()];
            }
            for payload in [payload.clone(), payload.replace("toolu_", "call_")] {
                let ran = app.clearway().run_with(payload.as_bytes(), &words);
                assert_eq!(ran.code(), 2, "{} as {client}: {ran:?}", fixture.path.display());
                assert!(ran.stderr().starts_with("Not edited: "), "{} as {client}", fixture.path.display());
            }
            pairs.insert((fixture.client.clone(), client));
        }
    }
    assert_eq!(pairs.len(), names_in(&folder()).len().pow(2), "every payload in every hook");
}
