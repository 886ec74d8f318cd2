//! Bad input: a specific slug, a hint, the documented exit code, and nothing written.

use crate::{app, home, list, text};
use clearway_testkit::{Files, Home, Ran, Repository};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// The exit code that belongs to a slug, as the program itself documents it.
fn documented_code(repository: &Repository<'_>, slug: &str) -> i32 {
    let page = repository.clearway().ok(&["explain", slug]);
    page["exit_code"].as_i64().and_then(|code| i32::try_from(code).ok()).expect("a code")
}

/// Everything below the state and the repository.
fn everything(home: &Home) -> Files {
    Files::below(home.path()).without("-shm")
}

#[track_caller]
fn check(home: &Home, repository: &Repository<'_>, slug: &str, act: impl Fn(&Repository<'_>) -> Ran) {
    let before = everything(home);
    let ran = act(repository);
    before.assert_same(&everything(home), &format!("bad input ({slug})"));
    let error = ran.slug(slug);
    assert_eq!(ran.code(), documented_code(repository, slug), "{error}");
    assert!(!list(&error, "hints").is_empty(), "no hint: {error:#}");
    assert!(!text(&error, "message").chars().any(char::is_control), "{error:#}");
}

/// The same before there is a store and after.
#[track_caller]
fn check_words(slug: &str, words: &[&str]) {
    let home = home();
    let repository = app(&home);
    check(&home, &repository, slug, |repository| repository.agent("alice").json(words));
    repository.grant("alice", &["held.rs"]);
    check(&home, &repository, slug, |repository| repository.agent("alice").json(words));
}

#[test]
fn words_that_are_no_words_of_the_command_line() {
    for words in [
        ["reserve", "a.rs", "--tll=5"].as_slice(),
        &["reserve", "a.rs", "--frobnicate"],
        &["frobnicate"],
        &["reserve"],
        &["who"],
        &["who", "a", "b"],
        &["release"],
        &["release", "--all", "a.rs"],
        &["audit"],
        &["audit", "frobnicate"],
        &["config", "frobnicate"],
        &["reserve", "a.rs", "--kind", "frob"],
        &["events", "--limit", "many"],
        &["events", "--limit", "-1"],
        &["events", "--from", "x"],
        &["events", "--kind", "frob"],
        &["leases", "--frob"],
        &["help", "frobnicate"],
        &["completions", "frob"],
    ] {
        check_words("usage", words);
    }
}

#[test]
fn spans_that_are_none_or_out_of_range() {
    let home = home();
    let repository = app(&home);
    for span in [
        "0",
        "0s",
        "-5",
        "-5m",
        "1e9y",
        "abc",
        "25h",
        "500ms",
        "",
        "60",
        "1h1h",
        "99999999999999999999s",
        "1.5h",
        "∞",
    ] {
        for flag in ["--ttl", "--max"] {
            let word = format!("{flag}={span}");
            check(&home, &repository, "invalid-duration", |repository| {
                repository.agent("alice").json(&["reserve", "a.rs", &word])
            });
        }
        let word = format!("--ttl={span}");
        check(&home, &repository, "invalid-duration", |repository| {
            repository.agent("alice").json(&["renew", &word])
        });
    }
    for span in ["0", "soon", "1ms", "1d"] {
        check_words("invalid-duration", &["--timeout", span, "reserve", "a.rs"]);
    }
}

#[test]
fn patterns_that_cannot_be_read() {
    let home = home();
    let repository = app(&home);
    let many = "?/".repeat(40);
    let deep = "{{{{{a,b},c},d},e},f}";
    let wide = format!("{{{}}}", (0..65).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    let long = format!("*{}", "x".repeat(1_100));
    for pattern in [
        "a[",
        "[z-a]",
        "a\\",
        "{a,b",
        "[",
        "src/[",
        "[]",
        "a/*/../b",
        &many,
        deep,
        &wide,
        &long,
        "*/.git/config",
        "x*\u{7}y",
        "*\u{202e}",
    ] {
        for verb in ["reserve", "check", "who", "release"] {
            check(&home, &repository, "invalid-pattern", |repository| {
                repository.agent("alice").json(&[verb, "--", pattern])
            });
        }
        check(&home, &repository, "invalid-pattern", |repository| {
            repository.agent("alice").json(&["leases", &format!("--pattern={pattern}")])
        });
    }
}

#[test]
fn paths_outside_the_scope() {
    let home = home();
    let repository = app(&home);
    home.directory("elsewhere");
    for path in
        ["../x", "/etc/passwd", "src/../../x", "/", "..", "../elsewhere", "../*.rs", "/etc/*", "../app2/a.rs"]
    {
        for verb in ["reserve", "check", "who"] {
            check(&home, &repository, "outside-scope", |repository| {
                repository.agent("alice").json(&[verb, path])
            });
        }
    }
}

#[test]
fn paths_that_cannot_be_reserved() {
    let home = home();
    let repository = app(&home);
    let long = format!("{}x", "d/".repeat(2_100));
    for path in [
        ".git/config",
        ".git",
        ".git/",
        "./.git/hooks/pre-commit",
        "src/.git/x",
        ".GIT/config",
        "a\nb",
        "a\u{1b}b",
        "a\u{202e}b",
        "",
        &long,
    ] {
        for verb in ["reserve", "check"] {
            check(&home, &repository, "invalid-path", |repository| {
                repository.agent("alice").json(&[verb, "--", path])
            });
        }
    }
}

#[test]
fn names_that_cannot_be_shown() {
    let home = home();
    let repository = app(&home);
    for name in ["a\nb", "a\tb", "\u{1b}[31m", "", " x", "x ", "a\u{202e}b", "a\u{7f}", &"n".repeat(129)] {
        check(&home, &repository, "invalid-name", |repository| {
            repository.agent("alice").json(&["reserve", "--kind", "name", "--", name])
        });
    }
    for name in ["a b", "a\nb", "", "-x", "a/b", "a\u{1b}", "é", "a\"},\"ok\":true", &"x".repeat(65)] {
        check(&home, &repository, "invalid-agent-name", |repository| {
            repository.clearway().json(&[format!("--agent={name}").as_str(), "reserve", "a.rs"])
        });
    }
}

#[test]
fn things_larger_than_their_limit() {
    let home = home();
    let repository = app(&home);
    let reason = "x".repeat(2_001);
    let key = "k".repeat(129);
    let many: Vec<String> = (0..257).map(|n| format!("f{n}")).collect();
    let many = |verb: &'static str| -> Vec<&str> {
        std::iter::once(verb).chain(many.iter().map(String::as_str)).collect()
    };
    for words in [
        ["reserve", "a.rs", "--reason", &reason].as_slice(),
        &["renew", "--note", &reason],
        &["--idempotency-key", &key, "reserve", "a.rs"],
        &many("reserve"),
        &many("check"),
        &many("release"),
    ] {
        check(&home, &repository, "too-large", |repository| repository.agent("alice").json(words));
    }
    repository.grant("alice", &["a.rs", "--reason", &"x".repeat(2_000)]);
}

#[test]
fn ids_that_are_none_or_nobodys() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let other = home.repository("other", &[]).grant("alice", &["a.rs"]);
    let foreign = text(&other, "id");
    for verb in ["release", "renew"] {
        check(&home, &repository, "not-found", |repository| repository.agent("alice").json(&[verb, foreign]));
        check(&home, &repository, "not-found", |repository| {
            repository.agent("alice").json(&[verb, "zzzzzzzz@5"])
        });
        check(&home, &repository, "invalid-id", |repository| {
            repository.agent("alice").json(&[verb, "zzzzzzzz@x"])
        });
        check(&home, &repository, "invalid-id", |repository| {
            repository.agent("alice").json(&[verb, "zzzzzzzz@"])
        });
    }
    for word in ["x", "ZZZZZZZZ", "zzzzzzzzz", "zzzz zzz", "'; DROP TABLE leases; --"] {
        let reply = repository.agent("alice").ok(&["release", "--", word]);
        assert_eq!(reply["notices"][0]["code"], "nothing-held", "{word}: {reply}");
        repository.agent("alice").fails("not-found", 5, &["renew", "--", word]);
    }
}

#[test]
fn a_store_on_another_engine_or_on_no_file() {
    let home = home();
    let repository = app(&home);
    let directory = home.directory("a-directory").display().to_string();
    for url in ["postgres://db.example/x", "mysql://x", &directory, "/"] {
        for verb in [["reserve", "a.rs"].as_slice(), &["leases"], &["events"]] {
            check(&home, &repository, "store-unavailable", |repository| {
                repository.agent("alice").args(&["--store", url]).json(verb)
            });
        }
    }
}

#[test]
fn a_store_in_a_directory_that_is_not_there_is_refused_and_not_made() {
    let home = home();
    let repository = app(&home);
    let directory = home.path().join("stroes");
    let path = directory.join("team.db").display().to_string();
    for verb in [["reserve", "a.rs"].as_slice(), &["leases"], &["status"]] {
        let error = repository.agent("alice").args(&["--store", &path]).fails("store-unavailable", 69, verb);
        assert!(text(&error, "message").contains("no directory"), "{error}");
        assert!(!directory.exists());
    }
    let error =
        repository.agent("alice").args(&["--store", &path]).fails("store-unavailable", 69, &["leases"]);
    let make = list(&error, "hints").iter().find_map(|hint| hint.as_str()?.split_once("make it first: "));
    let make = make.expect("a command").1;
    assert!(home.shell(repository.path(), make).status().is_ok_and(|status| status.success()), "{make}");
    repository.agent("alice").args(&["--store", &path]).ok(&["reserve", "a.rs"]);
}

#[test]
fn a_store_that_is_no_store() {
    let home = home();
    let repository = app(&home);
    let file = home.path().join("garbage.db");
    std::fs::write(&file, "this is not a database. ".repeat(100)).expect("a file");
    private(&file);
    let path = file.display().to_string();
    for verb in [["reserve", "a.rs"].as_slice(), &["leases"], &["check", "a.rs"], &["sweep"]] {
        check(&home, &repository, "store-corrupt", |repository| {
            repository.agent("alice").args(&["--store", &path]).json(verb)
        });
    }
}

#[test]
fn the_hints_of_a_damaged_store_end_in_one_that_works_again() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let store = home.only_store();
    std::fs::write(&store, "this is not a database. ".repeat(100)).expect("a file");
    std::fs::remove_file(format!("{}-wal", store.display())).expect("a file");
    let error = repository.agent("bob").fails("store-corrupt", 69, &["reserve", "b.rs"]);
    let hint = list(&error, "hints").last().and_then(|hint| hint.as_str()).unwrap_or_default();
    let (_, command) = hint.split_once(": ").expect("a command");
    let output = home.shell(repository.path(), command).output().expect("a shell");
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    repository.grant("bob", &["b.rs"]);
    repository.clearway().ok(&["audit", "verify"]);
}

#[test]
fn a_store_of_a_newer_clearway() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["a.rs"]);
    let connection = crate::open_store(&home);
    connection.pragma_update(None, "user_version", 99).expect("a newer version");
    drop(connection);
    for verb in [["reserve", "b.rs"].as_slice(), &["leases"], &["release", "--all"]] {
        check(&home, &repository, "store-newer", |repository| repository.agent("alice").json(verb));
    }
}

#[test]
fn a_very_long_argument_is_shown_by_both_its_ends() {
    let home = home();
    let repository = app(&home);
    let long = format!("begin-{}-end", "x".repeat(60_000));
    let flag = format!("--{long}");
    for words in [
        ["reserve", &long].as_slice(),
        &["renew", &long],
        &[&long],
        &["reserve", "a.rs", "--ttl", &long],
        &["reserve", &flag],
        &["explain", &long],
        &["help", &long],
        &["-C", &long, "leases"],
        &["--agent", &long, "leases"],
        &["events", "--kind", &long],
        &["events", "--from", &long],
        &["--scope", &long, "leases"],
    ] {
        let ran = repository.agent("alice").json(words);
        let error = ran.value()["error"].clone();
        let message = text(&error, "message");
        assert!(message.len() < 700, "{}: {} bytes: {:.300}", words[0], message.len(), message);
        for hint in list(&error, "hints") {
            assert!(hint.as_str().is_some_and(|hint| hint.len() < 700), "{}: {:.300}", words[0], hint);
        }
    }
}

#[test]
fn an_argument_that_is_not_utf8() {
    let home = home();
    let repository = app(&home);
    let raw = OsStr::from_bytes(b"src/\xff\xfe.rs");
    for verb in ["reserve", "check", "who", "release"] {
        check(&home, &repository, "invalid-path", |repository| {
            repository.agent("alice").json(&[OsStr::new(verb), raw])
        });
    }
    repository.agent("alice").env("CLEARWAY_NOISE", raw).ok(&["check", "a.rs"]);
}

#[test]
fn a_name_or_a_variable_that_is_not_utf8_is_called_that() {
    use std::os::unix::ffi::OsStrExt;
    let home = home();
    let repository = app(&home);
    let odd = std::ffi::OsStr::from_bytes(b"b\xff");
    let word = std::ffi::OsStr::new;
    for words in [
        [word("reserve"), word("--kind"), word("name"), odd].as_slice(),
        &[word("release"), word("--kind=name"), odd],
    ] {
        let error = repository.agent("alice").fails("invalid-name", 2, words);
        assert!(text(&error, "message").contains("not UTF-8"), "{error}");
    }
    let with = repository.agent("alice").run(&[word("with"), odd, word("--"), word("true")]);
    assert!(with.stderr().contains("invalid-name"), "{}", with.stderr());
    for variable in ["CLEARWAY_AGENT", "CLEARWAY_STORE"] {
        let error =
            repository.clearway().env(variable, odd).fails("config-bad-value", 78, &["reserve", "a.rs"]);
        let said = text(&error, "message");
        assert!(said.contains(variable) && said.contains("not UTF-8"), "{error}");
    }
    assert!(home.state_files().is_empty());
}

#[test]
fn a_flag_whose_text_is_not_utf8_is_named() {
    let home = home();
    let repository = app(&home);
    let (apart, joined) = (OsStr::from_bytes(b"\xff why"), OsStr::from_bytes(b"--reason=\xff"));
    let lines: [&[&OsStr]; 3] = [
        &["reserve".as_ref(), "a.rs".as_ref(), "--reason".as_ref(), apart],
        &["reserve".as_ref(), "a.rs".as_ref(), joined],
        &["renew".as_ref(), "--note".as_ref(), apart],
    ];
    for line in lines {
        let error = repository.agent("alice").fails("usage", 2, line);
        let flag = if line[0] == "renew" { "--note" } else { "--reason" };
        assert!(text(&error, "message").contains(flag), "{error}");
    }
    let kept: [&OsStr; 4] = ["release".as_ref(), "src/".as_ref(), "--keep".as_ref(), apart];
    repository.agent("alice").fails("invalid-path", 2, &kept);
}

#[test]
fn no_home_to_keep_anything_in() {
    let home = home();
    let repository = app(&home);
    let homeless = |repository: &Repository<'_>, words: &[&str]| {
        let clearway = repository.agent("alice").without_env("HOME").without_env("XDG_STATE_HOME");
        clearway.without_env("XDG_CONFIG_HOME").without_env("XDG_RUNTIME_DIR").json(words)
    };
    for words in [["reserve", "a.rs"].as_slice(), &["leases"], &["status"]] {
        check(&home, &repository, "store-unavailable", |repository| homeless(repository, words));
    }
    homeless(&repository, &["explain", "usage"]).expect(0);
    homeless(&repository, &["help"]).expect(0);
}

#[test]
fn a_working_directory_that_is_gone() {
    let home = home();
    let repository = app(&home);
    home.directory("gone");
    for words in ["reserve a.rs", "leases", "status"] {
        let script = format!("cd ../gone && rmdir ../gone && clearway --json --agent alice {words}");
        let output = home.shell(repository.path(), &script).output().expect("a shell");
        let answer: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(
            (&answer["error"]["slug"], output.status.code()),
            (&"no-scope".into(), Some(2)),
            "{answer}"
        );
        assert!(!list(&answer["error"], "hints").is_empty());
        home.directory("gone");
    }
    let script = format!(
        "cd ../gone && rmdir ../gone && clearway --agent alice -C {} check a.rs",
        repository.path().display()
    );
    assert!(home.shell(repository.path(), &script).status().expect("a shell").success());
    for place in ["/nowhere", "src/a.rs"] {
        check(&home, &repository, "no-scope", |repository| {
            repository.clearway().json(&["-C", place, "leases"])
        });
    }
    assert!(home.state_files().is_empty());
}

#[test]
fn a_broken_repository_is_named() {
    let home = home();
    let directory = home.directory("broken");
    std::fs::write(directory.join(".git"), "gitdir: /nowhere/at/all\n").expect("a file");
    let before = everything(&home);
    let error = home.clearway(&directory).agent("alice").fails("no-scope", 2, &["reserve", "a.rs"]);
    assert!(text(&error, "message").contains(".git"), "{error}");
    before.assert_same(&everything(&home), "a broken repository");
}

fn private(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).expect("a mode");
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let home = home();
    let repository = app(&home);
    let file = home.path().join("theirs.db");
    let theirs = rusqlite::Connection::open(&file).expect("a database");
    theirs.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1)").expect("a table");
    drop(theirs);
    private(&file);
    let before = std::fs::read(&file).expect("bytes");
    let path = file.display().to_string();
    for verb in [["reserve", "a.rs"].as_slice(), &["check", "a.rs"]] {
        let ran = repository.clearway().agent("alice").args(&["--store", &path]).json(verb).expect(69);
        ran.slug("store-unavailable");
    }
    assert_eq!(std::fs::read(&file).expect("bytes"), before);
}

#[test]
fn a_store_that_others_can_write_is_not_used() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let repository = app(&home);
    repository.clearway().agent("alice").json(&["reserve", "a.rs"]).expect(0);
    let store = home.only_store();
    let mode = |path: &std::path::Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    let exposed = [(0o666, 0o600), (0o777, 0o700), (0o770, 0o700), (0o1777, 0o700)];
    for (place, (open, closed)) in store.ancestors().take(4).zip(exposed) {
        mode(place, open);
        for verb in [["reserve", "b.rs"].as_slice(), &["release", "--all"], &["leases"], &["check", "b.rs"]] {
            let ran = repository.clearway().agent("alice").json(verb).expect(69);
            ran.slug("store-not-private");
            assert!(ran.stdout().contains(&format!("{}", place.display())), "{}", ran.stdout());
            let advice = if open & 0o1000 == 0 { "chmod go-rwx" } else { "mkdir -m 700" };
            assert!(ran.stdout().contains(advice), "{}", ran.stdout());
        }
        let found = repository.clearway().json(&["doctor"]).expect(1);
        found.slug("unhealthy");
        mode(place, closed);
    }
    mode(store.parent().expect("a directory"), 0o755);
    repository.clearway().agent("alice").json(&["reserve", "b.rs"]).expect(0);
}

#[test]
fn what_is_no_regular_file_is_no_store() {
    let home = home();
    let repository = app(&home);
    let pipe = home.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()));
    for store in [pipe.as_path(), std::path::Path::new("/dev/null")] {
        let store = store.display().to_string();
        let alice = || repository.clearway().agent("alice").args(&["--store", &store]);
        for verb in [["leases"].as_slice(), &["reserve", "a.rs"]] {
            let ran = alice().json(verb).expect(69);
            ran.slug("store-unavailable");
            assert!(ran.stdout().contains("no regular file"), "{}", ran.stdout());
        }
        alice().json(&["doctor"]).expect(1).slug("unhealthy");
    }
}

#[test]
fn a_store_that_is_gone_is_not_an_empty_one() {
    let home = home();
    let repository = app(&home);
    repository.clearway().agent("alice").json(&["reserve", "a.rs"]).expect(0);
    let store = home.only_store();
    for suffix in ["", "-wal", "-shm"] {
        std::fs::remove_file(format!("{}{suffix}", store.display())).expect("a file");
    }
    for verb in [["check", "a.rs"].as_slice(), &["leases"], &["status"], &["reserve", "a.rs"]] {
        repository.clearway().agent("bob").json(verb).expect(69).slug("store-lost");
    }
}

#[test]
fn a_configuration_that_never_ends_is_not_waited_for() {
    let home = home();
    let repository = app(&home);
    let made = std::process::Command::new("mkfifo").arg(repository.path().join(".clearway.toml")).status();
    assert!(made.expect("mkfifo runs").success());
    repository.clearway().agent("alice").json(&["check", "a.rs"]).expect(78).slug("config-syntax");
}

#[test]
fn a_configuration_that_is_no_text_is_a_mistake_in_the_configuration() {
    let home = home();
    let repository = app(&home);
    home.user_config("");
    let user = text(&repository.clearway().ok(&["config", "path"])["files"][0], "path").to_owned();
    for file in [repository.path().join(".clearway.toml"), user.into()] {
        std::fs::write(&file, b"agent = \xff").expect("a file");
        let error = repository.agent("alice").fails("config-syntax", 78, &["check", "a.rs"]);
        assert!(text(&error, "message").contains(&file.display().to_string()), "{error}");
        repository.clearway().ok(&["config", "path"]);
        std::fs::remove_file(&file).expect("removed");
        std::fs::create_dir(&file).expect("a directory");
        repository.agent("alice").fails("config-syntax", 78, &["check", "a.rs"]);
        std::fs::remove_dir(&file).expect("removed");
    }
    repository.agent("alice").ok(&["check", "a.rs"]);
}

#[test]
fn a_user_file_that_everybody_can_write_is_not_obeyed() {
    use std::os::unix::fs::PermissionsExt;
    let home = home();
    let repository = app(&home);
    home.user_config("posture = \"solo\"\n");
    let path = text(&repository.clearway().ok(&["config", "path"])["files"][0], "path").to_owned();
    for (mode, refused) in [(0o666, true), (0o602, true), (0o644, false), (0o664, false)] {
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).expect("a mode");
        if refused {
            let error = repository.agent("alice").fails("config-unsafe", 78, &["check", "a.rs"]);
            assert!(text(&error, "message").contains(&path), "{error}");
        } else {
            repository.agent("alice").ok(&["check", "a.rs"]);
        }
    }
}

#[test]
fn what_a_repository_may_not_hold_is_sent_to_the_user_file_where_it_really_is() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[leases]\nbroad_files = 100000\n");
    let elsewhere = home.directory("elsewhere");
    let alice = repository.agent("alice").env("XDG_CONFIG_HOME", &elsewhere);
    let error = alice.fails("config-unsafe", 78, &["check", "a.rs"]);
    let expected = elsewhere.join("clearway/config.toml").display().to_string();
    assert!(text(&error, "message").contains(&expected), "{error}");
}

#[test]
fn every_spelling_of_the_whole_tree_is_a_broad_claim() {
    let home = home();
    let repository = app(&home);
    for pattern in ["**", "**/*", "{**,a}", "."] {
        for verb in ["reserve", "check"] {
            repository.agent("alice").fails("claim-too-broad", 3, &[verb, pattern]);
        }
    }
    assert_eq!(repository.agent("alice").ok(&["check", "--broad", "**"])["clear"], true);
}

#[test]
fn a_key_that_is_no_key_is_a_slip_on_the_line() {
    let home = home();
    let repository = app(&home);
    for key in ["a b", ""] {
        let ran = repository.clearway().agent("alice").json(&["--idempotency-key", key, "reserve", "a.rs"]);
        ran.expect(2).slug("usage");
    }
}
