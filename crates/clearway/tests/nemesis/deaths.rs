//! Holders that die without saying goodbye: proven death frees at once, and nothing less than proof does.

use crate::arena::{Arena, Reply, home, started};
use clearway_testkit::faults::behind;
use clearway_testkit::namespace::Namespace;
use clearway_testkit::process::{state, stop};
use clearway_testkit::{Terminal, until};
use std::process::Child;

/// The leader of a session at a terminal, which reserves `path` and then stays.
pub(crate) fn session(arena: &Arena<'_>, terminal: &Terminal, path: &str) -> Child {
    let script = r#""$0" "$@" && exec sleep 600"#;
    let runner = ["setsid", "--ctty", "bash", "-c", script];
    let child = started(terminal.seat(behind(arena.anonymous(&["reserve", path]), &runner)));
    until("the session holds its path", || arena.run("eve", &["check", path]).code == 1);
    child
}

#[test]
fn a_terminal_session_killed_without_warning_is_taken_over_by_the_next_reservation() {
    let home = home();
    let arena = Arena::new(&home, "session");
    let terminal = Terminal::open();
    let mut holder = session(&arena, &terminal, "a.rs");
    let held = arena.run("eve", &["reserve", "a.rs"]).refused(1, "reservation-held");
    assert_eq!(held.value["error"]["details"]["blockers"][0]["liveness"], "active");
    holder.kill().unwrap();
    until("the holder is dead, though nobody has asked for it yet", || state(holder.id()) == Some('Z'));
    let taken = arena.run("eve", &["reserve", "a.rs"]).expect(0);
    assert_eq!(taken.value["notices"][0]["code"], "took-over", "{taken:?}");
    holder.wait().unwrap();
    let history = arena.audited().unwrap();
    assert_eq!((history.count("lease.taken-over"), history.live.len()), (1, 1));
}

#[test]
fn a_session_that_stands_still_is_alive_and_keeps_what_it_holds() {
    let home = home();
    let arena = Arena::new(&home, "still");
    let terminal = Terminal::open();
    let mut holder = session(&arena, &terminal, "a.rs");
    stop(holder.id());
    arena.run("eve", &["reserve", "a.rs"]).refused(1, "reservation-held");
    holder.kill().unwrap();
    holder.wait().unwrap();
    arena.run("eve", &["reserve", "a.rs"]).expect(0);
    arena.audited().unwrap();
}

#[test]
fn eight_contenders_for_a_dead_holders_path_take_it_over_once() {
    let home = home();
    let arena = Arena::new(&home, "vultures");
    let terminal = Terminal::open();
    let mut holder = session(&arena, &terminal, "a.rs");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let children: Vec<Child> =
        (0..8).map(|number| arena.start(&format!("v-{number}"), &["reserve", "a.rs"])).collect();
    let won = children.into_iter().map(Reply::wait).filter(|reply| {
        assert!(matches!(reply.code, 0 | 1), "{reply:?}");
        reply.code == 0
    });
    assert_eq!(won.count(), 1);
    let history = arena.audited().unwrap();
    assert_eq!((history.count("lease.taken-over"), history.count("lease.granted")), (1, 2));
}

/// The kernel is made to hand out the dead holder's pid again: the newcomer's start time tells them apart.
#[test]
fn a_process_that_got_a_dead_holders_pid_is_not_taken_for_it() {
    let home = home();
    let arena = Arena::new(&home, "reused");
    let (namespace, terminal) = (Namespace::of_processes(), Terminal::open());
    let quoted = |command: std::process::Command| {
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let variables = command.get_envs().filter_map(|(name, value)| Some((name, value?)));
        let variables = variables.map(|(name, value)| format!("{}='{}'", name.display(), value.display()));
        let words = words.map(|word| format!("'{}'", word.display()));
        let all: Vec<String> =
            ["env".to_owned(), "-i".to_owned()].into_iter().chain(variables).chain(words).collect();
        all.join(" ")
    };
    let script = format!(
        r#"
        cd '{directory}'
        mkfifo '{state}/ready'
        setsid --ctty bash -c '"$@" >/dev/null && echo $$ >'"'{state}/ready'"' && exec sleep 600' - {reserve} <{device} &
        holder=$(cat '{state}/ready')
        kill -KILL "$holder"; wait || true
        echo $((holder - 1)) > /proc/sys/kernel/ns_last_pid
        setsid sleep 600 &
        reused=$!
        echo "holder $holder reused $reused"
        {rival} || true
        kill -KILL "$reused"; wait || true
        "#,
        directory = arena.directory().display(),
        state = arena.state().display(),
        device = terminal.device().display(),
        reserve = quoted(arena.anonymous(&["reserve", "a.rs"])),
        rival = quoted(arena.command("eve", &["reserve", "a.rs"])),
    );
    let said = namespace.script(&script);
    let words: Vec<&str> = said.split_ascii_whitespace().collect();
    assert_eq!(words.get(1), words.get(3), "the pid was not handed out again: {said}");
    assert!(said.contains("took-over"), "{said}");
    assert_eq!(arena.audited().unwrap().count("lease.taken-over"), 1);
}
