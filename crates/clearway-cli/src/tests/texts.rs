//! What people read.

use super::stage::Stage;
use clearway_core::text::columns;

/// Runs a line and compares what a person sees. Ids are drawn, so they are compared as `ID`.
#[track_caller]
fn check(stage: &mut Stage, line: &str, code: u8, expect: &str) {
    let ran = stage.run(line).expect(code);
    let shown = if code == 0 || ran.stderr.is_empty() { ran.stdout } else { ran.stderr };
    let known = stage.run("leases --history --json").json();
    let ids = known["leases"].as_array().into_iter().flatten().filter_map(|lease| lease["id"].as_str());
    assert_eq!(ids.fold(shown, |text, id| text.replace(id, "ID")), expect, "{line}");
}

fn held() -> Stage {
    let mut stage = Stage::default();
    stage
        .run_words(
            ["--agent", "ada", "reserve", "src/parser.rs", "--reason", "split the lexer"]
                .map(Into::into)
                .to_vec(),
        )
        .expect(0);
    stage
}

#[test]
fn a_reservation_says_as_whom_and_for_how_long() {
    check(
        &mut Stage::default(),
        "--agent ada reserve src/ --shared --ttl 90s",
        0,
        "reserved as ada\n  ID  src/**  shared  1m 30s left\n",
    );
}

#[test]
fn a_conflict_says_who_why_since_when_until_when_and_what_to_do() {
    let mut stage = held();
    stage.pass_ms(4 * 60 * 1_000);
    check(
        &mut stage,
        "--agent bob reserve src/parser.rs docs/a.md",
        1,
        "error[reservation-held]: src/parser.rs is held by ada\n  \
         ada (active) holds src/parser.rs exclusively, lease ID\n    \
         since 4m ago; ends in 26m unless ada gives a sign of life\n    \
         why: split the lexer\n  \
         hint: see who holds it and until when: clearway --agent bob who src/parser.rs\n  \
         hint: wait for your turn: add --wait 5m; keep a place and go on: add --queue\n  \
         hint: take what is free and skip the rest: add --best-effort\n",
    );
}

#[test]
fn a_hint_works_where_the_caller_stands() {
    let mut stage = held();
    stage.surroundings.cwd = Some("/app/src".into());
    let told = stage.run("--agent bob reserve src/parser.rs").expect(1).stderr;
    assert!(told.contains("clearway -C /app --agent bob who src/parser.rs\n"), "{told}");
    stage.surroundings.cwd = Some("/app".into());
    let told = stage.run("--agent bob -C src reserve src/parser.rs").expect(1).stderr;
    assert!(told.contains("clearway -C /app --agent bob who src/parser.rs\n"), "{told}");
}

#[test]
fn commands_in_every_answer_mean_the_caller() {
    let mut stage = held();
    let queued = stage.run("--agent bob reserve src/parser.rs --queue").expect(0).stdout;
    assert!(queued.contains("take your turn with: clearway --agent bob wait "), "{queued}");
    let queued = stage.run("--agent ada --json renew --ttl 1s").expect(0).stdout;
    assert!(queued.contains("give it back with: clearway --agent ada release "), "{queued}");
    let note = stage.run("--agent ada renew --ttl 1s").expect(0);
    let note = format!("{}{}", note.stdout, note.stderr).replace("\n  ", " ");
    assert!(note.contains("give it back with: clearway --agent ada release "), "{note}");
    let whole = stage.run("--agent ada audit verify").expect(0).stdout;
    assert!(whole.contains("a person at a terminal may vouch for it: clearway audit anchor\n"), "{whole}");
    let slip = stage.run("--agent ada reserve --wait a.rs").expect(2).stderr.replace("\n   ", "");
    assert!(slip.contains("clearway --agent ada reserve --wait 5m a.rs"), "{slip}");
    stage.seat_person();
    let frozen = stage.run("--agent ada freeze --reason x").expect(0).stdout;
    assert!(frozen.contains("clearway --agent ada thaw --reason TEXT\n"), "{frozen}");
}

#[test]
fn who_names_the_holders_or_nobody() {
    check(&mut held(), "who lib.rs", 0, "nobody holds lib.rs\n");
    check(
        &mut held(),
        "who src/",
        0,
        "ada (active) holds src/parser.rs exclusively, lease ID\n  \
         since just now; ends in 30m unless ada gives a sign of life\n  \
         why: split the lexer\n",
    );
}

#[test]
fn tables_line_up() {
    let mut stage = held();
    stage.run("--agent bob reserve b.rs --max 5m").expect(0);
    check(
        &mut stage,
        "leases",
        0,
        "id        pattern        holder  mode       left  why\n\
         ID  src/parser.rs  ada     exclusive  30m   split the lexer\n\
         ID  b.rs           bob     exclusive  5m\n",
    );
    check(
        &mut held(),
        "--agent ada agents",
        0,
        "agent      client  state   seen  holds\n\
         ada (you)  manual  active  now   1 lease\n",
    );
}

#[test]
fn releasing_tells_what_is_over_and_what_is_left() {
    let mut stage = held();
    check(&mut stage, "--agent ada release other.rs", 0, "nothing to release as ada\n");
    check(&mut stage, "--agent ada release src/parser.rs", 0, "released 1 lease as ada: ID\n");
    stage.run("--agent ada reserve src/").expect(0);
    check(
        &mut stage,
        "--agent ada release src/ --keep src/lib.rs",
        0,
        "released 1 lease as ada: ID\nstill held:\n  ID  src/lib.rs  exclusive  30m left\n",
    );
}

#[test]
fn status_for_people_fits_24_lines_with_ten_agents() {
    let mut stage = Stage::default();
    for agent in 0..10 {
        let files: Vec<String> =
            (0..20).map(|file| format!("crates/some-crate-{agent}/src/module-{file}.rs")).collect();
        stage.run(&format!("--agent agent-number-{agent} reserve {}", files.join(" "))).expect(0);
    }
    stage.surroundings.stdout_is_terminal = true;
    stage.set("NO_COLOR", "1");
    let text = stage.run("status").expect(0).stdout;
    assert!(text.lines().count() <= 24 && text.lines().all(|line| columns(line) <= 80), "{text}");
    assert!(text.ends_with("10 agents, 200 leases, revision 212\n"), "{text}");
}

#[test]
fn status_for_an_agent_is_short_and_ends_in_a_command() {
    let mut stage = Stage::default();
    check(
        &mut stage,
        "--agent ada status",
        0,
        "you: not registered yet; you hold: nothing\nnext: clearway --agent ada reserve PATH\n",
    );
    for agent in ["ada", "bob"] {
        let files: Vec<String> =
            (0..100).map(|file| format!("{agent}/größe/日本/module-{file}.rs")).collect();
        stage.run(&format!("--agent {agent} reserve {}", files.join(" "))).expect(0);
    }
    let text = stage.run("--agent ada status").expect(0).stdout;
    assert!(
        text.len() <= 400 && text.ends_with("\nnext: clearway --agent ada release --all\n"),
        "{} bytes: {text}",
        text.len()
    );
    stage.surroundings.stdout_is_terminal = true;
    assert!(stage.run("--agent ada status").expect(0).stdout.contains("2 agents"));
}

#[test]
fn nothing_from_outside_reaches_the_terminal_raw() {
    let mut stage = Stage::default();
    let words =
        ["--agent", "ada", "reserve", "a.rs", "--reason", "x\n\u{1b}[2Jerror[internal]: forged \u{202e}"];
    stage.run_words(words.map(Into::into).to_vec()).expect(0);
    for line in
        ["leases", "who a.rs", "status", "events", "--agent bob check a.rs", "--agent bob reserve a.rs"]
    {
        let ran = stage.run(line);
        let shown = ran.stdout + &ran.stderr;
        assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{line}: {shown}");
        assert!(!shown.lines().any(|line| line.starts_with("error[internal]")), "{line}: {shown}");
    }
}

#[test]
fn colour_is_for_terminals_and_says_nothing_the_words_do_not() {
    let mut stage = held();
    let plain = stage.run("who src/parser.rs").stdout;
    stage.surroundings.stdout_is_terminal = true;
    let coloured = stage.run("who src/parser.rs").stdout;
    assert!(coloured.contains("\u{1b}[32m(active)\u{1b}[0m"));
    let stripped =
        ["\u{1b}[32m", "\u{1b}[1m", "\u{1b}[0m"].iter().fold(coloured, |text, code| text.replace(code, ""));
    assert_eq!(stripped, plain);
    stage.set("NO_COLOR", "1");
    assert_eq!(stage.run("who src/parser.rs").stdout, plain);
}

#[test]
fn help_lists_what_people_type_and_all_lists_the_rest() {
    let mut stage = Stage::default();
    let help = stage.run("help").expect(0).stdout;
    for verb in crate::arguments::EVERYDAY {
        assert!(help.contains(&format!("\n  {verb} ")), "{verb}");
    }
    for verb in ["check", "renew", "sweep", "completions", "man", "transfer", "agents", "audit", "config"] {
        assert!(!help.contains(&format!("\n  {verb} ")), "{verb}");
        assert!(stage.run("help --all").stdout.contains(&format!("\n  {verb} ")), "{verb}");
    }
    assert_eq!(stage.run_words(Vec::new()).expect(0).stdout, help);
    assert_eq!(stage.run("-h").expect(0).stdout, help);
    let every_flag = ["--kind <KIND>", "--broad", "-C <DIR>", "--idempotency-key <KEY>"];
    for line in ["help reserve", "reserve -h", "reserve --help"] {
        let help = stage.run(line).expect(0).stdout;
        assert!(every_flag.iter().all(|flag| help.contains(flag)), "{line}: {help}");
    }
}

#[test]
fn the_manual_explains_every_flag() {
    let page = Stage::default().run("man").expect(0).stdout;
    for (flag, help) in [("-C", "Act as if started in DIR"), ("--scope", "Act in the scope with this key")] {
        let flag = flag.replace('-', "\\-");
        let (_, after) = page.split_once(&format!("\\fB{flag}\\fR \\fI<")).unwrap_or_default();
        assert!(after.lines().nth(1).is_some_and(|line| line.starts_with(help)), "{flag}: {page}");
    }
    let (_, synopsis) = page.split_once(".SH SYNOPSIS\n").unwrap_or_default();
    let synopsis = synopsis.lines().next().unwrap_or_default();
    for part in ["[\\-C DIR]", "[\\-\\-store URL]", "[\\-\\-json]", "VERB"] {
        assert!(synopsis.contains(part), "{part}: {synopsis}");
    }
}

#[test]
fn settings_say_where_they_come_from() {
    let mut stage = Stage::default();
    stage.files.insert("/home/you/.config/clearway/config.toml".into(), "posture = \"team\"\n".to_owned());
    stage.set("CLEARWAY_LEASES_CLAIMED_TTL", "1h");
    stage.set("CLEARWAY_LEASES_BROAD_FLIES", "1");
    let text = stage.run("config show").expect(0).stdout;
    assert!(
        text.contains(
            "leases.claimed_ttl  1h\n                      from variable CLEARWAY_LEASES_CLAIMED_TTL\n"
        ),
        "{text}"
    );
    assert!(text.contains("overrode 30m from posture team\n                      (/home/you"), "{text}");
    assert!(text.contains("did you mean\n  CLEARWAY_LEASES_BROAD_FILES?"), "{text}");
    let paths = stage.run("config path").expect(0).stdout;
    assert_eq!(
        paths,
        "user        present  /home/you/.config/clearway/config.toml\nrepository  absent   /app/.clearway.toml\n"
    );
}

#[test]
fn a_broken_configuration_is_a_finding_for_the_doctor_and_an_error_for_the_rest() {
    let mut stage = Stage::default();
    stage.files.insert("/app/.clearway.toml".into(), "posture =\n".to_owned());
    stage.run("leases").expect(78);
    let ran = stage.run("doctor").expect(1);
    assert!(ran.stdout.starts_with("wrong  config    /app/.clearway.toml:1: "), "{ran:#?}");
    assert!(ran.stderr.starts_with("error[unhealthy]: 1 thing is wrong: config\n"), "{ran:#?}");
    stage.run("config path").expect(0);
}
