//! Every mistake is refused with its place and the next step.

use super::*;

#[track_caller]
fn check(user: &str, slug: &str, expect: &str) {
    let errors = World::default().user(user).errors();
    assert_eq!(shown(&errors), [format!("{USER}:{expect}")]);
    assert_eq!(errors[0].slug().as_str(), slug);
}

#[test]
fn unknown_keys_are_refused_with_the_nearest_one() {
    check("psoture = \"team\"", "config-unknown-key", "1: unknown key `psoture`; did you mean `posture`?");
    check(
        "\n[lease]\nclaimed_ttl = \"5m\"",
        "config-unknown-key",
        "3: unknown key `lease.claimed_ttl`; did you mean `leases.claimed_ttl`?",
    );
    check(
        "broad_files = 3",
        "config-unknown-key",
        "1: unknown key `broad_files`; did you mean `leases.broad_files`?",
    );
    check(
        "[leases]\nbroad_file = 3",
        "config-unknown-key",
        "2: unknown key `leases.broad_file`; did you mean `leases.broad_files`?",
    );
    check(
        "\n[resource]\nbuild = 2\ndeploy = 1",
        "config-unknown-key",
        "2: unknown key `resource`; did you mean `resources`?",
    );
    check("[lease]", "config-unknown-key", "1: unknown key `lease`; did you mean `leases`?");
    check("colour = 1", "config-unknown-key", "1: unknown key `colour`");
    check(
        "\"leases.claimed_ttl\" = \"5m\"",
        "config-unknown-key",
        "1: unknown key `\"leases.claimed_ttl\"`; did you mean `leases.claimed_ttl`?",
    );
    check(
        "resources.gpu = { capacty = 2 }",
        "config-unknown-key",
        "1: unknown key `resources.gpu.capacty`; did you mean `capacity`?",
    );
}

#[test]
fn wrong_types_say_what_was_expected_and_what_was_found() {
    check("posture = 3", "config-wrong-type", "1: `posture` must be a string, not an integer");
    check(
        "leases.claimed_ttl = 30",
        "config-wrong-type",
        "1: `leases.claimed_ttl` must be a duration in quotes, such as \"30m\", not an integer",
    );
    check(
        "leases.broad_files = \"3\"",
        "config-wrong-type",
        "1: `leases.broad_files` must be an integer, not a string",
    );
    check("leases = true", "config-wrong-type", "1: `leases` must be a table, not true or false");
    check(
        "classes.hot = \"x\"",
        "config-wrong-type",
        "1: `classes.hot` must be a list of patterns, not a string",
    );
    check(
        "classes.hot = [\n1.5]",
        "config-wrong-type",
        "2: `classes.hot` must be a list of strings, not a number with a fraction",
    );
    check(
        "resources = 2024-01-01",
        "config-wrong-type",
        "1: `resources` must be a table of resources, not a date",
    );
    check(
        "resources.gpu = \"2\"",
        "config-wrong-type",
        "1: `resources.gpu` must be an integer or { capacity = …, scope = … }, not a string",
    );
    check("tools = 3", "config-wrong-type", "1: `tools` must be a table of tools, not an integer");
    for value in ["[]", "[[\"path\"]]", "{ path = 1 }"] {
        let kind = if value.starts_with('[') { "a list" } else { "a table" };
        check(
            &format!("tools.save = {value}"),
            "config-wrong-type",
            &format!("1: `tools.save` must be the name of an argument, or a list of such, not {kind}"),
        );
    }
}

#[test]
fn bad_values_say_why() {
    check(
        "posture = \"unatended\"",
        "config-bad-value",
        "1: `posture` cannot be `unatended`: it must be one of solo, team, unattended; did you mean `unattended`?",
    );
    check(
        "leases.claimed_ttl = \"90\"",
        "config-bad-value",
        "1: `leases.claimed_ttl` cannot be `90`: a duration needs a unit; did you mean 90s?",
    );
    check(
        "leases.claimed_ttl = \"25h\"",
        "config-bad-value",
        "1: `leases.claimed_ttl` cannot be `25h`: it must be from 1s to 1d",
    );
    check(
        "[resources]\n\"p:5-3\" = 2",
        "config-bad-value",
        "2: `resources` cannot be `p:5-3`: its numbers end before they begin",
    );
    check(
        "leases.broad_files = 0",
        "config-bad-value",
        "1: `leases.broad_files` cannot be `0`: it must be from 1 to 1000000",
    );
    check(
        "leases.broad_files = -5",
        "config-bad-value",
        "1: `leases.broad_files` cannot be `-5`: it must be from 1 to 1000000",
    );
    check("store.url = \"\"", "config-bad-value", "1: `store.url` cannot be ``: it is empty");
    check(
        "resources.gpu = 1001",
        "config-bad-value",
        "1: `resources.gpu` cannot be `1001`: a capacity is from 1 to 1000",
    );
    check(
        "resources.\"port:3000-3009\" = 11",
        "config-bad-value",
        "1: `resources.\"port:3000-3009\"` cannot be `11`: its name stands for 10 numbers",
    );
    check(
        "tools.save = \"a\\tb\"",
        "config-bad-value",
        "1: `tools` cannot be `a\\tb`: it contains a control character",
    );
    check(
        "resources.\"\" = 1",
        "config-bad-value",
        "1: `resources` cannot be ``: a resource name cannot be empty",
    );
    check(
        "resources.gpu.scope = \"machin\"",
        "config-bad-value",
        "1: `resources.gpu.scope` cannot be `machin`: it must be one of machine, repository; did you mean `machine`?",
    );
    check(
        "classes.hot = [\"\"]",
        "config-bad-value",
        "1: `classes.hot` cannot be ``: the pattern names nothing; write `**` for the whole scope (at byte 0)",
    );
}

#[test]
fn broken_toml_names_line_and_column() {
    let errors = World::default().user("posture = \"solo\"\nleases = = 3\n").errors();
    assert_eq!(errors[0].slug().as_str(), "config-syntax");
    let first = errors[0].to_string();
    assert!(first.starts_with(&format!("{USER}:2: this is not valid TOML at column 10: ")), "{first}");
}

#[test]
fn a_key_given_twice_is_refused() {
    check(
        "posture = \"solo\"\nposture = \"team\"",
        "config-syntax",
        "2: this key is given twice; keep one of them",
    );
}

#[test]
fn keys_in_places_where_they_do_not_belong_are_refused() {
    check(
        "agent = \"fox\"",
        "config-unsafe",
        "1: `agent` cannot be set here; set it in the environment or by a flag",
    );
    let errors = World::default().repository("\nstore.url = \"/tmp/x.db\"").errors();
    assert_eq!(
        shown(&errors),
        [format!(
            "{REPOSITORY}:2: `store.url` cannot be set here; set it in the user file, the environment or by a flag"
        )]
    );
    let errors = World::default().repository("[classes]\nignored = [\"src/**\"]").errors();
    assert_eq!(
        shown(&errors),
        [format!("{REPOSITORY}:2: `classes.ignored` cannot be set here; set it in the user file")]
    );
    let errors = World::default().flag(KeyId::ClassesHot, "--hot", "x").errors();
    assert_eq!(
        shown(&errors),
        ["flag --hot: `classes.hot` cannot be set here; set it in a configuration file"]
    );
}

#[test]
fn bad_variables_and_flags_are_named() {
    let errors = World::default()
        .variable("CLEARWAY_AGENT", "rm -rf")
        .variable("CLEARWAY_LEASES_BROAD_FILES", "many")
        .flag(KeyId::StoreTimeout, "--timeout", "soon")
        .errors();
    assert_eq!(
        shown(&errors),
        [
            "variable CLEARWAY_AGENT: `agent` cannot be `rm -rf`: a name has 1 to 64 letters, digits, dots, underscores \
             or hyphens and starts with a letter or digit",
            "variable CLEARWAY_LEASES_BROAD_FILES: `leases.broad_files` cannot be `many`: it is not a whole number",
            "flag --timeout: `timeouts.store` cannot be `soon`: a duration is made of whole numbers with the units d, \
             h, m, s, ms, for example 1h30m",
        ]
    );
}

#[test]
fn all_mistakes_of_all_files_come_at_once_in_the_order_of_their_lines() {
    let errors = World::default()
        .user("zzz = 1\nposture = 4\nposture = 5\nleases.claimed_ttl = \"x\"\n[classes]\nhot = [1, 2]")
        .repository("agent = \"x\"\nstore.url = 3")
        .errors();
    let slugs: Vec<_> = errors.iter().map(|error| (error.line(), error.slug().as_str())).collect();
    assert_eq!(
        slugs,
        [
            (1, "config-unknown-key"),
            (2, "config-wrong-type"),
            (3, "config-syntax"),
            (4, "config-bad-value"),
            (6, "config-wrong-type"),
            (6, "config-wrong-type"),
            (1, "config-unsafe"),
            (2, "config-unsafe"),
        ]
    );
}

#[test]
fn unsafe_values_come_in_line_with_the_other_mistakes_of_their_file() {
    let errors = World::default().repository("leases.broad_files = 900\nzzz = 1").errors();
    let slugs: Vec<_> = errors.iter().map(|error| error.slug().as_str()).collect();
    assert_eq!(slugs, ["config-unsafe", "config-unknown-key"]);
}

#[test]
fn a_flood_of_mistakes_is_counted_instead_of_listed() {
    let errors =
        World::default().user(&(0..100).map(|n| format!("zzz{n} = 1\n")).collect::<String>()).errors();
    assert_eq!(errors.len(), 21);
    assert_eq!(errors[20].problem, Problem::TooMany { more: 80 });
}

#[test]
fn a_huge_file_is_refused_unread() {
    let errors = World::default().user(&"#".repeat(64 * 1024 + 1)).errors();
    assert_eq!(shown(&errors), [format!("{USER}:1: the file is larger than 65536 bytes")]);
}

#[test]
fn deep_nesting_is_refused_without_exhausting_the_stack() {
    let nested = [
        "a.".repeat(30_000) + "a = 1",
        format!("[{}a]", "a.".repeat(30_000)),
        "a = ".to_owned() + &"[".repeat(60_000),
    ];
    for text in nested {
        assert_eq!(World::default().user(&text).errors()[0].slug().as_str(), "config-syntax");
    }
}

#[test]
fn what_a_file_says_is_shown_without_secrets_and_terminal_tricks() {
    let errors = World::default()
        .user("\"\\u001b[31mghp_0123456789abcdefghijABCDEFGHIJ012345\" = 1\nposture = \"x\\u202E\"")
        .errors();
    let told = shown(&errors).join(" ");
    assert!(
        !told.contains("0123456789") && !told.chars().any(|c| c.is_control() || c == '\u{202e}'),
        "{told}"
    );
}
