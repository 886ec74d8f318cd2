//! What other ways of asking cost on this machine, for comparison.

use crate::figures::{Samples, Table, ms, ratio};
use crate::repository::Repository;
use crate::{Effort, Outcome};
use std::path::{Path, PathBuf};

/// What an agent's hook does that asks a server: read the call, take the path out of it, ask. Nobody listens at that
/// port, so this is the least that one can take.
const HOOK: &str = r#"path=$(printf '{"tool_input":{"file_path":"src/a.rs"}}' | jq -r .tool_input.file_path)
curl --silent --max-time 1 "http://127.0.0.1:1/check?path=$path""#;

pub(crate) fn measure(binary: &Path, effort: Effort) -> Outcome<Table> {
    let repository = Repository::new()?;
    let lock = repository.file("lock").display().to_string();
    let directory = repository.file("made").display().to_string();
    let floor = "/bin/true";
    let programs: [(&str, &str, Vec<&str>, usize); 10] = [
        ("/bin/true", floor, vec![], effort.calls),
        ("our own binary, doing nothing", "clearway", vec!["--version"], effort.calls),
        ("mkdir", "mkdir", vec!["-p", &directory], effort.calls),
        ("flock FILE true", "flock", vec![&lock, floor], effort.calls),
        ("bash -c :", "bash", vec!["-c", ":"], effort.calls),
        ("python3 -c pass", "python3", vec!["-c", "pass"], effort.slow_starts),
        ("node -e 0", "node", vec!["-e", "0"], effort.slow_starts),
        ("redis-cli, its start alone", "redis-cli", vec!["--version"], effort.calls),
        ("psql, its start alone", "psql", vec!["--version"], effort.calls),
        ("a hook of bash, jq and curl that nobody answers", "bash", vec!["-c", HOOK], effort.slow_starts),
    ];
    let mut table = Table::new(&["program", "p50", "p99", "x `/bin/true`"]);
    let mut base = f64::NAN;
    for (name, program, arguments, starts) in programs {
        let needs: &[&str] = if arguments.contains(&HOOK) { &["jq", "curl"] } else { &[] };
        let is_there = needs.iter().all(|needed| find(binary, needed).is_some());
        let Some(path) = find(binary, program).filter(|_| is_there) else {
            let absent = ["not installed", "", ""].map(str::to_owned);
            table.row(&[[format!("`{name}`")].as_slice(), &absent].concat());
            continue;
        };
        let mut samples = Samples::default();
        for _ in 0..starts {
            samples.add(repository.time(&path, &arguments)?.0);
        }
        if base.is_nan() {
            base = samples.median();
        }
        let (p50, p99) = (ms(samples.median()), ms(samples.percentile(99)));
        table.row(&[format!("`{name}`"), p50, p99, ratio(samples.median() / base)]);
    }
    Ok(table)
}

/// Where a program is; system places first, so that no wrapper script is measured in its stead.
pub(crate) fn find(binary: &Path, program: &str) -> Option<PathBuf> {
    if program == "clearway" {
        return Some(binary.to_owned());
    }
    let places = ["/usr/bin", "/bin", "/usr/local/bin"];
    let here = Path::new(program).is_absolute().then(|| PathBuf::from(program));
    here.into_iter()
        .chain(places.iter().map(|place| Path::new(place).join(program)))
        .find(|path| path.exists())
}
