//! Pauses: processes that stand still past their deadlines or in the worst places. Whoever comes back late finds its
//! fence refused and who holds the path now; whoever is in the way meanwhile is named with pid and state.

use crate::random::Random;
use crate::stage::{Onlooker, Outcome, Programs, Reply, Stage, on_stage};
use clearway_testkit::eventually;
use clearway_testkit::process::{go_on, holds_lock, state, stop};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// How much is done.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Where moments come from.
    pub seed: u64,
    /// Holders that stand still past their deadline.
    pub holders: usize,
    /// Writers stopped at random moments.
    pub writers: usize,
}

/// Stops and looks; what was seen.
pub fn run(programs: &Programs, effort: Effort) -> Outcome<String> {
    on_stage(programs, |stage| play(stage, effort))
}

fn play(stage: &Stage, effort: Effort) -> Outcome<String> {
    for number in 0..effort.holders {
        holder_sleeps_past_its_deadline(stage, number)?;
    }
    let named = writers_stop(stage, effort)?;
    waiter_stands_still(stage)?;
    stage.audited()?;
    Ok(format!(
        "{} holders stopped past their deadline: the old fence was refused each time, and the new holder named\n\
         {} writers stopped at random moments (seed {}): {named} were in somebody's way and named with pid and state, \
         the others in nobody's\n\
         a stopped waiter kept its place while it could be heard of, and was answered when it went on\n",
        effort.holders, effort.writers, effort.seed
    ))
}

/// The holder is a real process: it reserves, stands still, and when it goes on uses the fence it remembers.
const HOLDER: &str = r#"
    set -e
    lease=$("$0" --json --agent "$1" reserve "$2" --ttl 1s | sed 's/.*"id":"\([a-z0-9]*\)".*"fence":\([0-9]*\).*/\1@\2/')
    kill -STOP $$
    "$0" --json --agent "$1" renew "$lease" || true
    "$0" --json --agent "$1" release "$lease" || true
"#;

fn holder_sleeps_past_its_deadline(stage: &Stage, number: usize) -> Outcome<()> {
    let (path, old, new) = (format!("slept-{number}"), format!("old-{number}"), format!("new-{number}"));
    let holder = holder(stage, &old, &path)?;
    eventually("the holder stands still", || (state(holder.id()) == Some('T')).then_some(()));
    let taken = eventually("the deadline passes", || stage.done(&new, &["reserve", &path]).ok());
    go_on(holder.id());
    let output = holder.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let replies: Vec<serde_json::Value> =
        said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let [renewed, released] = replies.as_slice() else { return Err(format!("the holder said {said:?}")) };
    let error = &renewed["error"];
    if error["slug"] != "lease-expired" || error["details"]["held_now"][0]["agent"] != new.as_str() {
        return Err(format!("the late renewal was answered {renewed}"));
    }
    if released["released"].as_array().is_none_or(|released| !released.is_empty()) {
        return Err(format!("the late release was answered {released}"));
    }
    let holders = stage.done("onlooker", &["who", &path])?.value["holders"].clone();
    match holders[0]["fence"] == taken.value["leases"][0]["fence"] {
        true => Ok(()),
        false => Err(format!("the new holder lost its lease: {holders}")),
    }
}

fn holder(stage: &Stage, agent: &str, path: &str) -> Outcome<Child> {
    let clearway = stage.command(agent, &[]);
    let mut command = Command::new("bash");
    command.args(["-c", HOLDER]).arg(clearway.get_program()).args([agent, path]).env_clear();
    command.envs(clearway.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(stage.directory()).stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().map_err(|error| format!("bash does not start: {error}"))
}

/// Stops a process where it is in nobody's way.
fn stop_outside_the_gate(stage: &Stage, pid: u32) -> Outcome<()> {
    let directory = stage.scope_directory()?;
    let locks = LOCKS.map(|name| directory.join(name));
    eventually("it stands still and holds no lock", || {
        stop(pid);
        eventually("it stands still", || matches!(state(pid), Some('T' | 'Z')).then_some(()));
        let holds = locks.iter().any(|lock| holds_lock(pid, lock));
        if holds {
            go_on(pid);
        }
        (!holds).then_some(())
    });
    Ok(())
}

/// The files by whose locks a process keeps others out. The last is SQLite's own: whoever is the first to open a store
/// reads its log anew behind such a lock, even if it only wants to read.
const LOCKS: [&str; 3] = ["store.db-gate", "store.db-next", "store.db-shm"];

/// Stops writers wherever they are; how many of them were in a rival's way.
fn writers_stop(stage: &Stage, effort: Effort) -> Outcome<usize> {
    const WRITER_US_MAX: usize = 5_000;
    let mut random = Random::new(effort.seed);
    stage.done("first", &["reserve", "first"])?;
    let directory = stage.scope_directory()?;
    let mut named = 0;
    for number in 0..effort.writers {
        let writer = stage.start("writer", &["reserve", &format!("w-{number}"), "--timeout", "60s"])?;
        std::thread::sleep(Duration::from_micros(random.below(WRITER_US_MAX) as u64));
        stop(writer.id());
        eventually("the writer stands still", || matches!(state(writer.id()), Some('T' | 'Z')).then_some(()));
        let in_the_way = LOCKS.iter().any(|lock| holds_lock(writer.id(), &directory.join(lock)));
        let rival = stage.run("rival", &["reserve", &format!("r-{number}"), "--timeout", "500ms"])?;
        let judged = blamed(&rival, writer.id(), in_the_way);
        go_on(writer.id());
        Reply::wait(writer)?.expect(0)?;
        named += usize::from(judged?);
    }
    Ok(named)
}

/// Whether the rival was kept waiting and told by whom. One whom nobody kept waiting must have succeeded.
fn blamed(rival: &Reply, writer: u32, in_the_way: bool) -> Outcome<bool> {
    let message = rival.value["error"]["message"].as_str().unwrap_or_default();
    match (rival.code, in_the_way) {
        (Some(0), _) => Ok(false),
        (Some(75), true) if message.contains(&format!("pid {writer}")) && message.contains("stopped") => {
            Ok(true)
        }
        _ => Err(format!(
            "pid {writer} stands still, in the way: {in_the_way}, and the rival is told {rival:?}"
        )),
    }
}

/// A waiter that stands still for a moment is neither forgotten nor overtaken.
fn waiter_stands_still(stage: &Stage) -> Outcome<()> {
    stage.done("holder", &["reserve", "waited-for"])?;
    let mut onlooker = Onlooker::new(stage)?;
    let waiter = stage.start("waiter", &["reserve", "waited-for", "--wait", "60s"])?;
    onlooker.until("it waits", |waits| !waits.is_empty())?;
    stop_outside_the_gate(stage, waiter.id())?;
    stage.done("holder", &["release", "waited-for"])?;
    stage.run("late", &["reserve", "waited-for"])?.refused(1, "reservation-held")?;
    go_on(waiter.id());
    Reply::wait(waiter)?.expect(0)?;
    let holders = stage.done("onlooker", &["who", "waited-for"])?.value["holders"].clone();
    match holders[0]["agent"] == "waiter" {
        true => Ok(()),
        false => Err(format!("the waiter went on and {holders} hold it")),
    }
}
