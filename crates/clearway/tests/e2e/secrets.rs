//! Free text: no secret is stored, no control character reaches a terminal.

use crate::{app, home, text};
use clearway_testkit::{Files, Repository};

const SECRETS: [(&str, &str); 10] = [
    ("deploy with AKIAIOSFODNN7EXAMPLE today", "AKIAIOSFODNN7EXAMPLE"),
    ("password=hunter2-and-more", "hunter2-and-more"),
    ("token ghp_0123456789abcdefghijABCDEFGHIJ012345", "ghp_0123456789abcdefghijABCDEFGHIJ012345"),
    ("postgres://ada:s3cr3t-pass@db.example/x", "s3cr3t-pass"),
    (
        "key sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
        "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789",
    ),
    ("DB_PASS=Winter-2031 make", "Winter-2031"),
    ("run with OPENAI_KEY=Zx81-spectrum", "Zx81-spectrum"),
    ("sent Basic YWRhOmh1bnRlcjI= to it", "YWRhOmh1bnRlcjI="),
    ("docker login -u ada -p Tr0ub4dor r.io", "Tr0ub4dor"),
    ("Authorization: Bearer abcdef0123456789abcdef0123456789", "abcdef0123456789abcdef0123456789"),
];

/// Everything the scope tells about itself.
fn told(repository: &Repository<'_>) -> String {
    let looks: [&[&str]; 8] = [
        &["leases", "--history"],
        &["leases", "--history", "--json"],
        &["who", "x"],
        &["who", "x", "--json"],
        &["events"],
        &["events", "--json"],
        &["audit", "export"],
        &["status"],
    ];
    looks.iter().map(|words| repository.clearway().run(words).expect(0).stdout()).collect()
}

#[test]
fn secrets_in_reasons_never_reach_a_disk_or_a_screen() {
    let home = home();
    let repository = app(&home);
    for (reason, secret) in SECRETS {
        let said = repository.agent("alice").json(&["reserve", "x", "--reason", reason]).expect(0);
        assert!(!said.stdout().contains(secret), "{}", said.stdout());
        let noted = repository.agent("alice").json(&["renew", "--note", reason]).expect(0);
        assert!(!noted.stdout().contains(secret), "{}", noted.stdout());
        let refused = repository.agent("bob").run(&["reserve", "x"]).expect(1);
        assert!(!refused.stderr().contains(secret), "{}", refused.stderr());
        assert!(refused.stderr().contains("redacted"), "{}", refused.stderr());
        assert!(!told(&repository).contains(secret), "{secret}");
        assert!(!Files::below(&home.state()).hold(secret.as_bytes()), "{secret} is on the disk");
        repository.agent("alice").ok(&["release", "--all"]);
    }
}

#[test]
fn secrets_in_an_operators_reason_are_taken_out_too() {
    let home = home();
    let repository = app(&home);
    let lease = repository.grant("alice", &["x"]);
    let (reason, secret) = SECRETS[1];
    let operator = repository.agent("bob").operator(&home);
    operator.ok(&["release", text(&lease, "id"), "--reason", reason]);
    assert!(!told(&repository).contains(secret));
    assert!(!Files::below(&home.state()).hold(secret.as_bytes()));
}

#[test]
fn an_error_does_not_echo_the_secret_it_was_given() {
    let home = home();
    let repository = app(&home);
    for (_, secret) in SECRETS {
        let url = format!("postgres://ada:{secret}@db.example/x");
        for words in
            [["--store", &url, "leases"].as_slice(), &["reserve", "x", "--reason", &secret.repeat(300)]]
        {
            let ran = repository.agent("alice").run(words);
            assert_ne!(ran.code(), 0);
            assert!(!ran.stderr().contains(secret) && !ran.stdout().contains(secret), "{}", ran.stderr());
        }
    }
}

#[test]
fn no_control_character_of_a_reason_reaches_a_text() {
    let home = home();
    let repository = app(&home);
    let reason = "red\u{1b}[31m\u{7}bell\nline\rback\ttab\u{9b}c1\u{202e}rtl\u{200b}zero";
    repository.grant("alice", &["x", "--reason", reason]);
    let refused = repository.agent("bob").run(&["reserve", "x"]).expect(1).stderr();
    let looks: [&[&str]; 5] = [&["leases"], &["who", "x"], &["events"], &["status"], &["agents"]];
    let texts = looks.iter().map(|words| repository.clearway().run(words).expect(0).stdout());
    for shown in texts.chain([refused]) {
        let bad = shown.chars().find(|c| (c.is_control() && *c != '\n') || "\u{202e}\u{200b}".contains(*c));
        assert_eq!(bad, None, "{shown:?}");
        assert!(!shown.lines().any(|line| line.starts_with("line") || line.starts_with("back")), "{shown}");
    }
    let exact = repository.clearway().ok(&["leases"])["leases"][0]["reason"].clone();
    assert_eq!(exact, reason, "programs get it as it was given");
}

#[test]
fn neither_blanks_nor_unseen_characters_save_a_part_of_a_secret() {
    let home = home();
    let repository = app(&home);
    let reasons = [
        ("passphrase: correct horse battery", "battery"),
        ("token ghp_0123456789\u{200b}abcdefghijABCDEFGHIJ012345", "abcdefghijABCDEFGHIJ012345"),
    ];
    for (reason, part) in reasons {
        repository.agent("alice").ok(&["reserve", "x", "--reason", reason]);
        assert!(!told(&repository).contains(part), "{part}");
    }
}
