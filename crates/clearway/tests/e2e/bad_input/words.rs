//! Words, names and numbers on the command line.

use super::{check, check_words};
use crate::{app, home, list, text};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

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
fn names_that_are_taken_by_ourselves() {
    let home = home();
    let repository = app(&home);
    let index = format!("git-index:{}", repository.path().display());
    for name in ["git-stash", &index] {
        for words in [
            ["reserve", "--kind", "name", name].as_slice(),
            &["reserve", "--queue", "--kind", "name", name],
            &["check", "--kind", "name", name],
            &["ask", "--kind", "name", name, "the release waits for it"],
            &["ask", "--then-reserve", "--kind", "name", name, "the release waits for it"],
        ] {
            check(&home, &repository, "invalid-name", |repository| repository.agent("alice").json(words));
        }
        let ran = repository.agent("alice").run(&["with", name, "--", "true"]).expect(2);
        assert!(ran.stderr().contains("error[invalid-name]"), "{}", ran.stderr());
        repository.agent("alice").ok(&["who", "--kind", "name", name]);
        repository.write(".clearway.toml", &format!("[resources]\n\"{name}\" = 2\n"));
        repository.agent("alice").fails("config-bad-value", 78, &["reserve", "a.rs"]);
        repository.write(".clearway.toml", "");
    }
    for name in ["unattributed", "machine"] {
        check(&home, &repository, "invalid-agent-name", |repository| {
            repository.clearway().json(&["--agent", name, "reserve", "a.rs"])
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
fn a_key_that_is_no_key_is_a_slip_on_the_line() {
    let home = home();
    let repository = app(&home);
    for key in ["a b", ""] {
        let ran = repository.clearway().agent("alice").json(&["--idempotency-key", key, "reserve", "a.rs"]);
        ran.expect(2).slug("usage");
    }
}

#[test]
fn a_word_of_nothing_but_spaces_is_a_slip_and_a_file_of_that_name_is_had_by_its_path() {
    let home = home();
    let repository = app(&home);
    let error = repository.agent("ada").fails("invalid-path", 2, &["reserve", "  "]);
    assert!(text(&error, "message").contains("names no path"), "{error:#}");
    repository.grant("ada", &["./  "]);
}
