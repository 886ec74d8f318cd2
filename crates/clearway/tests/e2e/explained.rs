//! The pages of `explain` tell the truth: every example is run where it is said to happen, and ends as it is shown.

use crate::{app, each, home, open_store, text};
use clearway_testkit::faults::{behind, on_network};
use clearway_testkit::namespace::Namespace;
use clearway_testkit::{Client, Home, Repository, Terminal};
use rusqlite::Connection;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// What no machine can be made to do on demand: a defect that is known is mended.
const CANNOT_BE_STAGED: [&str; 1] = ["internal"];
/// What is said to agents alone, by the hook of what they type.
const SAID_BY_HOOKS: [&str; 1] = ["removes-repository"];
/// How a hook begins that lets a command not run.
const NOT_RUN: &str = "Clearway: not run";

#[test]
fn every_example_of_a_page_ends_as_it_is_shown() {
    let slugs = home();
    let slugs = slugs.clearway(slugs.path()).ok(&["explain"]);
    let (mut seen, mut unsaid) = (0, Vec::new());
    for slug in each(&slugs, "slugs", "slug").into_iter().filter(|slug| !CANNOT_BE_STAGED.contains(slug)) {
        for (number, example) in examples(slug).iter().enumerate() {
            unsaid.extend(check(slug, number, example));
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
    assert!(unsaid.is_empty(), "shown and not said:\n{}", unsaid.join("\n"));
}

/// A line that a page types, and what it shows of the answer.
struct Example {
    typed: String,
    /// The first lines of the failure and of its hints.
    shown: Vec<String>,
}

fn examples(slug: &str) -> Vec<Example> {
    let path = format!("{}/../../docs/errors/{slug}.md", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(path).expect("a page");
    let mut examples: Vec<Example> = Vec::new();
    for line in page.lines() {
        if let Some(typed) = line.strip_prefix("$ ") {
            examples.push(Example { typed: typed.to_owned(), shown: Vec::new() });
        } else if ["error[", "  hint: ", NOT_RUN].iter().any(|start| line.starts_with(start)) {
            examples.last_mut().expect("a line was typed").shown.push(line.to_owned());
        }
    }
    assert!(examples.iter().all(|example| !example.shown.is_empty()) && !examples.is_empty(), "{slug}");
    examples
}

/// What an example shows and is not said.
#[track_caller]
fn check(slug: &str, number: usize, example: &Example) -> Vec<String> {
    let home = home();
    let repository = app(&home);
    if SAID_BY_HOOKS.contains(&slug) {
        return check_hook(&home, &repository, example);
    }
    let stage = Stage { home: &home, repository: &repository };
    let scene = stage.set(slug, number);
    let real = |line: &str| {
        scene.words.iter().fold(line.to_owned(), |line, (shown, real)| line.replace(shown, real))
    };
    let typed = real(&example.typed);
    for (shown, _) in &scene.words {
        assert!(example.typed.contains(shown), "{slug}: {shown} in {typed}");
    }
    let mut shell = home.shell(repository.path(), &typed);
    shell.envs(scene.caller.map(|name| ("CLEARWAY_AGENT", name)));
    let Output { status, stderr, .. } = (scene.place)(shell).output().expect("a shell");
    let told = String::from_utf8_lossy(&stderr);
    let code = exit_code(slug);
    assert!(told.contains(&format!("error[{slug}]:")), "{slug}: {typed}\n{told}");
    assert_eq!(status.code(), Some(code), "{slug}: {typed}\n{told}");
    let unsaid = example.shown.iter().map(|line| real(line)).filter(|line| !says(&told, line));
    unsaid.map(|line| format!("{slug}: {typed}\n{line}\n{told}")).collect()
}

fn check_hook(home: &Home, repository: &Repository<'_>, example: &Example) -> Vec<String> {
    repository.grant("bob", &["--kind", "name", "build"]);
    let fields = serde_json::json!({"tool_name": "Bash", "tool_input": {"command": example.typed}});
    let told = Client::claude(home, repository, "ada").event("PreToolUse", &fields).denied();
    let unsaid = example.shown.iter().filter(|line| !says(&told, line));
    unsaid.map(|line| format!("{}\n{line}\n{told}", example.typed)).collect()
}

/// Whether a text says what a line shows, word for word. What differs from one machine and moment to the next is not
/// compared: ids and what has their shape, words with digits, paths, and names of programs.
fn says(told: &str, shown: &str) -> bool {
    let (told, shown) = (fixed_words(told), fixed_words(shown));
    told.windows(shown.len()).any(|words| words == shown)
}

/// The words of a text, in which one stands for any number in a row that differ.
fn fixed_words(text: &str) -> Vec<&str> {
    let is_id = |word: &str| {
        let word = word.trim_matches(|c: char| c.is_ascii_punctuation());
        word.len() == 8 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
    };
    let differs =
        |word: &str| is_id(word) || word.contains(|c: char| c.is_ascii_digit() || "/…(".contains(c));
    let words = text.split_whitespace().map(|word| if differs(word) { "…" } else { word });
    let mut words: Vec<&str> = words.collect();
    words.dedup_by(|word, before| *word == "…" && *before == "…");
    words
}

/// The exit code that a page promises.
fn exit_code(slug: &str) -> i32 {
    let path = format!("{}/../../docs/errors/{slug}.md", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(path).expect("a page");
    let code = page.lines().find_map(|line| line.strip_prefix("Exit code: "));
    code.and_then(|code| code.parse().ok()).expect("an exit code")
}

/// How things stand when a line is typed.
struct Scene<'s> {
    /// What the page calls something, and what it is called here.
    words: Vec<(&'static str, String)>,
    /// In whose name it is typed.
    caller: Option<&'static str>,
    /// Where it is run.
    place: Box<dyn Fn(Command) -> Command + 's>,
}

impl Default for Scene<'_> {
    fn default() -> Self {
        Self { words: Vec::new(), caller: Some("ada"), place: Box::new(|command| command) }
    }
}

fn with_word<'s>(shown: &'static str, real: &str) -> Scene<'s> {
    Scene { words: vec![(shown, real.to_owned())], ..Scene::default() }
}

fn typed_by<'s>(caller: Option<&'static str>) -> Scene<'s> {
    Scene { caller, ..Scene::default() }
}

fn inside<'s>(namespace: Namespace) -> Scene<'s> {
    Scene { place: Box::new(move |command| namespace.enter(command)), ..Scene::default() }
}

/// While a command of the same agent runs: the line is that command's.
fn running<'s>(runner: &'static [&'static str]) -> Scene<'s> {
    Scene { place: Box::new(move |command| behind(command, runner)), ..Scene::default() }
}

/// The command told that a file may not be opened, which nobody can tell root otherwise.
fn unreadable(command: Command, file: &str) -> Command {
    let inject = "inject=openat:error=EACCES";
    behind(
        command,
        &["strace", "-f", "-qq", "-o", "/dev/null", "-P", file, "-e", "trace=openat", "-e", inject],
    )
}

/// Where examples are played.
struct Stage<'s> {
    home: &'s Home,
    repository: &'s Repository<'s>,
}

impl<'s> Stage<'s> {
    fn set(&self, slug: &str, number: usize) -> Scene<'s> {
        match (slug, number) {
            ("not-holder" | "not-operator" | "stale-fence" | "lease-expired", _) => self.of_a_lease(slug),
            ("message-exists" | "not-accepted" | "not-recipient", _) => {
                self.repository.grant("bob", &["b.rs"]);
                self.repository.grant("cy", &["c.rs"]);
                self.repository.agent("cy").ok(&["send", "bob", "main is red", "--id", "build-17"]);
                if slug == "not-accepted" {
                    self.repository.agent("bob").ok(&["policy", "contacts"]);
                }
                Scene::default()
            }
            ("unknown-recipient" | "unknown-thread", _) => {
                self.repository.grant("bob", &["b.rs"]);
                Scene::default()
            }
            ("held-by-command", _) => running(&["clearway", "with", "build", "--"]),
            ("reservation-held" | "would-deadlock" | "frozen" | "not-you" | "recipient-gone", _) => {
                self.of_others(slug)
            }
            ("commit-refused" | "nothing-to-commit" | "others-at-work", _) => {
                self.repository.grant("ada", &["src/parser.rs"]);
                self.repository.write("src/parser.rs", "changed\n");
                if slug == "commit-refused" {
                    self.repository.write("src/lexer.rs", "changed\n");
                }
                typed_by(Some("bob"))
            }
            ("audit-broken" | "unhealthy" | "unreadable-row" | "store-corrupt" | "store-newer", _) => {
                self.of_damage(slug)
            }
            ("store-lost" | "store-busy" | "store-not-private" | "store-full" | "store-read-only", _) => {
                self.of_stores(slug, number)
            }
            ("client-config" | "client-config-unwritable" | "client-not-active", _) => self.of_clients(slug),
            ("too-large" | "quota-exceeded" | "idempotency-mismatch" | "cursor-diverged", _) => {
                self.of_requests(slug)
            }
            ("snapshot-too-large" | "snapshot-unreadable" | "restore-failed", _) => self.of_snapshots(slug),
            (
                "force-too-early" | "asked-oneself" | "eta-out-of-range" | "not-party" | "already-answered"
                | "halted",
                _,
            ) => self.of_requests_to_holders(slug),
            (_, _) => self.of_files(slug),
        }
    }

    /// ada's lease, by the id that pages call it.
    fn of_a_lease(&self, slug: &str) -> Scene<'s> {
        let lease = self.repository.grant("ada", &["src/parser.rs"]);
        if slug == "lease-expired" {
            self.repository.agent("ada").ok(&["release", "--all"]);
            self.repository.grant("bob", &["src/parser.rs"]);
        }
        with_word("nntmoilz", text(&lease, "id"))
    }

    /// Who asks whom, by the id that pages call it.
    fn of_requests_to_holders(&self, slug: &str) -> Scene<'s> {
        let repository = self.repository;
        let asked = |holder: &str, by: &str| {
            repository.grant(holder, &["src/parser.rs"]);
            let reply = repository.agent(by).ok(&["ask", "src/parser.rs", "split the lexer"]);
            with_word("k3j9x2ab", text(&reply["negotiations"][0], "id"))
        };
        match slug {
            "asked-oneself" => {
                repository.grant("ada", &["src/parser.rs"]);
                Scene::default()
            }
            "halted" => {
                repository.grant("ada", &["src/lexer.rs"]);
                let person = repository.agent("root").operator(self.home);
                person.ok(&["halt", "ada", "--reason", "it rewrites the wrong module"]);
                Scene::default()
            }
            "force-too-early" => asked("bob", "ada"),
            "not-party" => asked("eve", "bob"),
            "already-answered" => {
                let scene = asked("ada", "bob");
                repository.agent("ada").ok(&["answer", &scene.words[0].1, "no", "half done"]);
                scene
            }
            _ => asked("ada", "bob"),
        }
    }

    fn of_snapshots(&self, slug: &str) -> Scene<'s> {
        let repository = self.repository;
        match slug {
            "snapshot-too-large" => {
                let file = std::fs::File::create(repository.path().join("data.bin")).expect("a file");
                file.set_len(250_000_000).expect("a size");
                Scene::default()
            }
            "snapshot-unreadable" => {
                repository.write("secret.pem", "secret\n");
                let file = repository.path().join("secret.pem").display().to_string();
                Scene { place: Box::new(move |command| unreadable(command, &file)), ..Scene::default() }
            }
            _ => {
                repository.write("src/a.rs", "mine\n");
                let taken = repository.agent("ada").ok(&["snapshot"])["snapshot"].to_string();
                repository.git(&["checkout", "--quiet", "--", "."]);
                let disk = Namespace::of_mounts();
                let source = repository.path().join("src").display().to_string();
                disk.script(&format!(
                    "mount --bind '{source}' '{source}' && mount -o remount,ro,bind '{source}'"
                ));
                Scene { words: vec![("s41", format!("s{taken}"))], ..inside(disk) }
            }
        }
    }

    fn of_others(&self, slug: &str) -> Scene<'s> {
        let repository = self.repository;
        match slug {
            "reservation-held" => {
                drop(repository.grant("ada", &["src/parser.rs", "--reason", "split the lexer"]))
            }
            "would-deadlock" => {
                repository.grant("ada", &["src/lexer.rs"]);
                repository.grant("bob", &["src/parser.rs"]);
                repository.agent("ada").ok(&["reserve", "src/parser.rs", "--queue"]);
            }
            "frozen" => {
                let person = repository.agent("ada").operator(self.home);
                person.ok(&["freeze", "--reason", "cutting the release"]);
            }
            "not-you" => {
                let session = repository.clearway().session("s-1").ok(&["reserve", "docs/"]);
                return with_word("claude-ready-bison-ndb", text(&session, "agent"));
            }
            _ => {
                let script = "clearway --json reserve t.rs";
                let terminal = Terminal::open();
                let mut window = self.home.session_shell(&terminal, repository.path(), script);
                let told = window.output().expect("a shell").stdout;
                let told: serde_json::Value = serde_json::from_slice(&told).expect("JSON");
                repository.grant("ada", &["src/parser.rs"]);
                return with_word("term-4k2p", text(&told, "agent"));
            }
        }
        typed_by(Some("bob"))
    }

    fn of_damage(&self, slug: &str) -> Scene<'s> {
        self.repository.grant("ada", &["src/a.rs"]);
        self.repository.grant("ada", &["src/b.rs"]);
        let act = |sql: &str| open_store(self.home).execute_batch(sql).expect("a change");
        let lost = "UPDATE events SET bytes = x'00' WHERE seq = 4";
        match slug {
            "audit-broken" => act(lost),
            "store-corrupt" => {
                act("PRAGMA wal_checkpoint(TRUNCATE)");
                let store = self.home.only_store();
                let mut bytes = std::fs::read(&store).expect("a file");
                bytes[100..].fill(0xff);
                std::fs::write(store, bytes).expect("a file");
            }
            "store-newer" => act("PRAGMA user_version = 1000"),
            _ => act(&format!("{lost}; UPDATE leases SET pattern = 'src/[' WHERE pattern = 'src/a.rs'")),
        }
        Scene::default()
    }

    fn of_stores(&self, slug: &str, number: usize) -> Scene<'s> {
        let state = self.home.state();
        match (slug, number) {
            ("store-full", _) => {
                std::fs::create_dir_all(&state).expect("a directory");
                let disk = Namespace::of_mounts();
                disk.script(&format!("mount -t tmpfs -o size=64k,mode=700 tmpfs '{}'", state.display()));
                return inside(disk);
            }
            ("store-read-only", _) => {
                let disk = Namespace::of_mounts();
                disk.script("mount -t tmpfs -o mode=700 tmpfs /mnt");
                let first = self
                    .home
                    .shell(self.repository.path(), "clearway --agent ada --store /mnt/s.db reserve x");
                assert!(disk.enter(first).status().is_ok_and(|status| status.success()));
                disk.script("mount -o remount,ro /mnt");
                return inside(disk);
            }
            ("store-lost", 1) => {
                self.lose_a_scope_of_a_team();
                return Scene::default();
            }
            _ => drop(self.repository.grant("ada", &["src/a.rs"])),
        }
        let store = self.home.only_store();
        match slug {
            "store-lost" => std::fs::remove_file(store).expect("a file"),
            "store-not-private" => {
                std::fs::set_permissions(store, std::fs::Permissions::from_mode(0o644)).expect("a mode");
            }
            _ => return self.beside_a_writer(),
        }
        Scene::default()
    }

    /// A copy of a store of several scopes from before one of them was made is put back.
    fn lose_a_scope_of_a_team(&self) {
        let store = self.repository.path().join("team.db");
        let named = store.display().to_string();
        let other = self.home.repository("other", &[]);
        other.agent("ada").args(&["--store", &named]).ok(&["reserve", "a.rs"]);
        let whole = |from: &Path, to: &Path| {
            Connection::open(from)
                .and_then(|store| store.execute("VACUUM INTO ?1", [to.to_str()]))
                .expect("a copy")
        };
        let copy = self.home.path().join("copy.db");
        whole(&store, &copy);
        self.repository.agent("ada").args(&["--store", &named]).ok(&["reserve", "src/a.rs"]);
        for suffix in ["-wal", "-shm"] {
            // Whoever copied the store may have taken them away already.
            let _ = std::fs::remove_file(format!("{named}{suffix}"));
        }
        let bytes = std::fs::read(copy).expect("the old one");
        std::fs::write(store, bytes).expect("the old one");
    }

    /// Somebody else is in the middle of a change for as long as the scene lasts.
    fn beside_a_writer(&self) -> Scene<'s> {
        let writer = open_store(self.home);
        writer.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
        Scene {
            place: Box::new(move |command| {
                assert!(!writer.is_autocommit());
                command
            }),
            ..Scene::default()
        }
    }

    fn of_clients(&self, slug: &str) -> Scene<'s> {
        match slug {
            "client-config" => {
                let settings = self.home.directory(".claude").join("settings.json");
                std::fs::write(settings, "{\"hooks\" [\"clearway hook claude\"]}").expect("a file");
            }
            "client-not-active" => drop(self.home.directory(".codex")),
            _ => {
                let codex = self.home.directory(".codex").display().to_string();
                self.repository.clearway().run(&["init", "-y", "--client", "codex"]).expect(1);
                let disk = Namespace::of_mounts();
                disk.script(&format!("mount --bind '{codex}' '{codex}'; mount -o remount,bind,ro '{codex}'"));
                return inside(disk);
            }
        }
        Scene::default()
    }

    fn of_requests(&self, slug: &str) -> Scene<'s> {
        let repository = self.repository;
        match slug {
            "too-large" => {
                (0..300).for_each(|file| repository.write(&format!("src/{file}.rs"), ""));
                repository.git(&["add", "src"]);
            }
            "quota-exceeded" => {
                for hundred in 0..5 {
                    let names: Vec<String> = (0..200).map(|unit| format!("n-{hundred}-{unit}")).collect();
                    let words = ["--kind", "name"].into_iter().chain(names.iter().map(String::as_str));
                    repository.agent("ada").args(&["reserve"]).ok(&words.collect::<Vec<_>>());
                }
            }
            "idempotency-mismatch" => {
                repository.agent("ada").ok(&["reserve", "other.rs", "--idempotency-key", "k1"]);
            }
            _ => {
                repository.grant("ada", &["src/a.rs"]);
                return with_word("00000000…", &"0".repeat(64));
            }
        }
        Scene::default()
    }

    /// What files and variables alone bring about, and what is wrong wherever it is typed.
    fn of_files(&self, slug: &str) -> Scene<'s> {
        let home = self.home;
        match slug {
            "config-syntax" => drop(home.user_config("posture = solo\n")),
            "config-unknown-key" => drop(home.user_config("leases.claimed_tll = \"30m\"\n")),
            "config-wrong-type" => drop(home.user_config("leases.claimed_ttl = 30\n")),
            "config-unsafe" => {
                home.user_config("posture = \"team\"\n");
                self.repository.write(".clearway.toml", "posture = \"solo\"\n");
            }
            "command-not-executable" => self.repository.write("build.sh", "make\n"),
            "lease-lost" => return self.with_a_script_that_loses_its_lease(),
            "git-missing" => return with_word("~/.cargo/bin/clearway", &home.binary().display().to_string()),
            "network-file-system" => {
                let real = home.path().join("store.db").display().to_string();
                let place = Box::new(on_network);
                return Scene { place, ..with_word("/nfs/home/you/store.db", &real) };
            }
            "no-identity" => return typed_by(None),
            "outside-scope" => drop(home.repository("other", &[])),
            _ => {}
        }
        Scene::default()
    }

    /// What keeps the lease stands still for longer than the lease allows, until somebody else has the name.
    fn with_a_script_that_loses_its_lease(&self) -> Scene<'s> {
        let taken = "CLEARWAY_AGENT=bob clearway reserve --kind name db:migrate";
        let script = format!(
            "#!/bin/sh\nkill -STOP $PPID\nuntil {taken} >/dev/null 2>&1; do sleep 0.05; done\n\
             kill -CONT $PPID\nexec sleep 600\n"
        );
        self.repository.write("migrate.sh", &script);
        let script = self.repository.path().join("migrate.sh");
        std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).expect("a mode");
        with_word("10s", "1s")
    }
}
