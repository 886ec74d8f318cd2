//! The hook before an edit as a client calls it: payload on standard input, answer on standard output. Beside it the
//! same job done by scripts, as hooks usually are: read the payload, look in a database who holds the file, take it,
//! answer.

use crate::figures::{Goal, Samples, Table, ms, ratio};
use crate::floors::find;
use crate::repository::Repository;
use crate::{Effort, Outcome, seed};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Active leases in the stores.
const STORES: [usize; 3] = [0, 10_000, 100_000];
/// The floor of every goal here.
const FLOOR: &str = "/bin/true";

/// A hook on a file that is its agent's already.
const OWN: Goal = Goal::times(1.5);
const NEW: Goal = Goal::times(2.0);
/// On a new file in the largest store.
const NEW_LARGEST: Goal = Goal::times(2.3);
const UNINVITED: Goal = Goal::times(0.6);

const BASH: &str = r#"path=$(jq -r .tool_input.file_path)
held=$(curl --silent --max-time 1 "file://$1/$(printf %s "$path" | sed 's,/,%,g')")
if [ -n "$held" ] && [ "$held" != me ]; then
  jq -n --arg reason "$path is with $held" '{permissionDecision: "deny", permissionDecisionReason: $reason}'
else
  printf me > "$1/$(printf %s "$path" | sed 's,/,%,g')"
fi"#;

const PYTHON: &str = r#"
import json, sqlite3, sys
path = json.load(sys.stdin)["tool_input"]["file_path"]
store = sqlite3.connect(sys.argv[1], isolation_level=None)
store.execute("CREATE TABLE IF NOT EXISTS held (path TEXT PRIMARY KEY, agent TEXT)")
store.execute("BEGIN IMMEDIATE")
row = store.execute("SELECT agent FROM held WHERE path = ?", (path,)).fetchone()
if row and row[0] != "me":
    print(json.dumps({"permissionDecision": "deny", "permissionDecisionReason": path + " is with " + row[0]}))
else:
    store.execute("INSERT OR IGNORE INTO held VALUES (?, 'me')", (path,))
store.execute("COMMIT")
"#;

const NODE: &str = r#"
const fs = require("fs");
const path = JSON.parse(fs.readFileSync(0, "utf8")).tool_input.file_path;
const file = process.argv[1] + "/" + encodeURIComponent(path);
try {
  fs.writeFileSync(file, "me", { flag: "wx" });
} catch {
  const held = fs.readFileSync(file, "utf8");
  if (held !== "me") {
    const reason = path + " is with " + held;
    console.log(JSON.stringify({ permissionDecision: "deny", permissionDecisionReason: reason }));
  }
}
"#;

pub(crate) fn measure(binary: &Path, effort: Effort) -> Outcome<Table> {
    let mut table = Table::new(&["hook", "active leases", "p50", "p99", "x `/bin/true`", "goal"]);
    for leases in STORES {
        eprintln!("measuring hooks with {leases} active leases");
        let repository = Repository::new()?;
        seed::seed(&repository, &mut repository.engine(), leases.max(1))?;
        std::env::set_current_dir(repository.root())?;
        let rows = in_turns(&repository, binary, leases, effort);
        std::env::set_current_dir("/")?;
        rows?.iter().for_each(|row| table.row(row));
    }
    Ok(table)
}

/// One hook that is called again and again.
struct Hook {
    name: &'static str,
    program: PathBuf,
    arguments: Vec<String>,
    /// What becomes of the file that it is called for.
    about: About,
    goal: Option<Goal>,
    code: i32,
    calls: usize,
    samples: Samples,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    New,
    Own,
    Held,
    Elsewhere,
}

/// Every round calls everything once, the floor first; those that take long take part in the first rounds alone.
fn in_turns(
    repository: &Repository,
    binary: &Path,
    leases: usize,
    effort: Effort,
) -> Outcome<Vec<[String; 6]>> {
    let uninvited = Repository::new()?;
    let mut hooks = ours(binary, leases, effort);
    if leases == 0 {
        hooks.extend(scripts(repository, binary, effort)?);
    }
    for round in 0..=effort.calls {
        for hook in hooks.iter_mut().filter(|hook| round <= hook.calls) {
            let root = if hook.about == About::Elsewhere { uninvited.root() } else { repository.root() };
            let time = hook.call(repository, root, round, leases)?;
            // The first round fills caches and registers the agent.
            if round > 0 {
                hook.samples.add(time);
            }
        }
        // Not measured: the store stays as large as it says it is.
        repository.time(binary, &["wait", "--cancel"])?;
        repository.time(binary, &["release", "--all"])?;
    }
    let floor = hooks.first().map_or(f64::NAN, |hook| hook.samples.median());
    Ok(hooks.iter().map(|hook| hook.row(leases, floor)).collect())
}

fn ours(binary: &Path, leases: usize, effort: Effort) -> Vec<Hook> {
    let hook = |name, program: &Path, about, goal, code| Hook {
        name,
        program: program.to_owned(),
        arguments: if program == binary { vec!["hook".to_owned(), "claude".to_owned()] } else { Vec::new() },
        about,
        goal,
        code,
        calls: effort.calls,
        samples: Samples::default(),
    };
    let new = if leases < 100_000 { NEW } else { NEW_LARGEST };
    let mut hooks = vec![
        hook(FLOOR, Path::new(FLOOR), About::New, None, 0),
        hook("`clearway hook`, new file", binary, About::New, Some(new), 0),
        hook("`clearway hook`, the same file again", binary, About::Own, Some(OWN), 0),
        hook("`clearway hook`, nobody invited us", binary, About::Elsewhere, Some(UNINVITED), 0),
    ];
    if leases > 0 {
        hooks.push(hook("`clearway hook`, refused", binary, About::Held, Some(new), 2));
    }
    hooks
}

/// Hooks as scripts, those whose programs are installed. The one of node keeps files, for want of a database without
/// packages; so does the one of bash, which asks by `curl` as if a server answered at once.
fn scripts(repository: &Repository, binary: &Path, effort: Effort) -> Outcome<Vec<Hook>> {
    let place = |name: &str| -> Outcome<String> {
        let directory = repository.file(name);
        std::fs::create_dir(&directory)?;
        Ok(directory.display().to_string())
    };
    let python = format!("{}/held.db", place("python")?);
    let all: [(&str, &[&str], [String; 2], String); 3] = [
        ("bash, jq and curl", &["bash", "jq", "curl"], ["-c".into(), BASH.into()], place("bash")?),
        ("python with sqlite3", &["python3"], ["-c".into(), PYTHON.into()], python),
        ("node", &["node"], ["-e".into(), NODE.into()], place("node")?),
    ];
    let mut hooks = Vec::new();
    for (name, needs, script, place) in all {
        let found: Option<Vec<PathBuf>> = needs.iter().map(|needed| find(binary, needed)).collect();
        let Some(program) = found.and_then(|found| found.into_iter().next()) else { continue };
        let name_of_script = (name == "bash, jq and curl").then(|| "hook".to_owned());
        let arguments = script.into_iter().chain(name_of_script).chain([place]).collect();
        hooks.push(Hook {
            name,
            program,
            arguments,
            about: About::New,
            goal: None,
            code: 0,
            calls: effort.slow_starts,
            samples: Samples::default(),
        });
    }
    Ok(hooks)
}

impl Hook {
    fn call(&self, repository: &Repository, root: &Path, round: usize, leases: usize) -> Outcome<Duration> {
        let file = match self.about {
            About::New | About::Own | About::Elsewhere => format!("bench/file{round}.rs"),
            About::Held => seed::file(round * 37 % leases.max(1)),
        };
        let payload = format!(
            r#"{{"session_id":"measured-0000","transcript_path":"/nowhere","cwd":"{root}","hook_event_name":"PreToolUse","tool_name":"Edit","tool_use_id":"{}-{round}","tool_input":{{"file_path":"{root}/{file}","old_string":"a","new_string":"b"}}}}"#,
            self.name,
            root = root.display(),
        );
        let path = repository.file("payload.json");
        std::fs::write(&path, payload)?;
        let mut command = repository.command(&self.program);
        command.args(&self.arguments).stdin(File::open(path)?).stdout(Stdio::null());
        let started = Instant::now();
        let status = command.status().map_err(|error| format!("{}: {error}", self.name))?;
        let time = started.elapsed();
        if status.code() != Some(self.code) {
            return Err(format!("{} ended with {status}", self.name).into());
        }
        Ok(time)
    }

    fn row(&self, leases: usize, floor: f64) -> [String; 6] {
        let times = self.samples.median() / floor;
        let goal = self.goal.map(|goal| goal.said_of(times)).unwrap_or_default();
        let (p50, p99) = (ms(self.samples.median()), ms(self.samples.percentile(99)));
        [self.name.to_owned(), leases.to_string(), p50, p99, ratio(times), goal]
    }
}
