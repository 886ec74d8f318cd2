//! What git takes with our hooks, beside the same without them, each in turns with the other.

use crate::figures::{Goal, Samples, Table, ms, ratio};
use crate::repository::Repository;
use crate::{Effort, Outcome};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const COMMIT: Goal = Goal::times(1.2);
const REBASE: Goal = Goal::times(1.5);
const FETCH: Goal = Goal::times(1.05);

/// Commits that are moved at once.
const MOVED: usize = 20;
/// Turns for each of the calls that others are measured with.
const CALLS_PER_TURN: usize = 4;

/// What is measured, in a shell at the root of a repository, and what is done before it and not measured.
struct Act {
    name: &'static str,
    before: &'static str,
    typed: &'static [&'static str],
    hooks: Hooks,
    /// None of what shows only what others take for the same.
    goal: Option<Goal>,
    /// Whether somebody else holds a file meanwhile that has nothing to do with it.
    others: bool,
    /// Whether settings ask for the hook on references too.
    strict: bool,
    /// Files there are beside those that it is about.
    files: usize,
}

/// What git calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hooks {
    Ours,
    /// As many shells as ours take for a commit, which do nothing.
    Empty,
}

/// The hooks that git calls for a commit, of those that are ours.
const OF_A_COMMIT: [&str; 2] = ["prepare-commit-msg", "post-commit"];

/// As many as a repository that several agents work in may well have.
const MANY_FILES: usize = 20_000;

const ACTS: [Act; 7] = [
    Act {
        name: "commit of a file",
        before: "echo $$ >> own.txt",
        typed: &["commit", "--quiet", "--all", "--message", "x"],
        hooks: Hooks::Ours,
        goal: Some(COMMIT),
        others: false,
        strict: false,
        files: 0,
    },
    Act {
        name: "the same with two hooks of `sh` that do nothing",
        before: "echo $$ >> own.txt",
        typed: &["commit", "--quiet", "--all", "--message", "x"],
        hooks: Hooks::Empty,
        goal: None,
        others: false,
        strict: false,
        files: 0,
    },
    Act {
        name: "commit of a file, others hold another",
        before: "echo $$ >> own.txt",
        typed: &["commit", "--quiet", "--all", "--message", "x"],
        hooks: Hooks::Ours,
        goal: Some(COMMIT),
        others: true,
        strict: false,
        files: 0,
    },
    Act {
        name: "the same among 20,000 files",
        before: "echo $$ >> own.txt",
        typed: &["commit", "--quiet", "--all", "--message", "x"],
        hooks: Hooks::Ours,
        goal: Some(COMMIT),
        others: true,
        strict: false,
        files: MANY_FILES,
    },
    Act {
        name: "rebase of 20 commits",
        before: "true",
        typed: &["rebase", "--quiet", "--no-ff", "base"],
        hooks: Hooks::Ours,
        goal: Some(REBASE),
        others: true,
        strict: false,
        files: 0,
    },
    Act {
        name: "fetch",
        before: "true",
        typed: &["fetch", "--quiet", "origin"],
        hooks: Hooks::Ours,
        goal: Some(FETCH),
        others: true,
        strict: false,
        files: 0,
    },
    Act {
        name: "fetch of a commit, strict",
        before: "git update-ref -d refs/remotes/origin/base",
        typed: &["fetch", "--quiet", "origin"],
        hooks: Hooks::Ours,
        goal: Some(FETCH),
        others: true,
        strict: true,
        files: 0,
    },
];

pub(crate) fn measure(binary: &Path, effort: Effort) -> Outcome<Table> {
    let mut table = Table::new(&["git", "with hooks p50", "p99", "without p50", "x without", "goal"]);
    for act in &ACTS {
        eprintln!("measuring git: {}", act.name);
        let (with, without) = (prepared(Some(binary), act)?, prepared(None, act)?);
        let (mut hooked, mut plain) = (Samples::default(), Samples::default());
        for _ in 0..effort.calls.div_ceil(CALLS_PER_TURN) {
            for (repository, samples) in [(&with, &mut hooked), (&without, &mut plain)] {
                samples.add(once(repository, act)?);
            }
        }
        let times = hooked.median() / plain.median();
        table.row(&[
            act.name.to_owned(),
            ms(hooked.median()),
            ms(hooked.percentile(99)),
            ms(plain.median()),
            ratio(times),
            act.goal.map(|goal| goal.said_of(times)).unwrap_or_default(),
        ]);
    }
    Ok(table)
}

/// One act, after what comes before it.
fn once(repository: &Repository, act: &Act) -> Outcome<std::time::Duration> {
    std::env::set_current_dir(repository.root())?;
    shell(repository, act.before)?;
    let measured = repository.time(Path::new("git"), act.typed);
    std::env::set_current_dir("/")?;
    match measured? {
        (time, status) if status.success() => Ok(time),
        (_, status) => Err(format!("git {}: {status}", act.typed.join(" ")).into()),
    }
}

/// A repository with something to commit, to move and to fetch from, and with hooks if a binary is given.
fn prepared(binary: Option<&Path>, act: &Act) -> Outcome<Repository> {
    let repository = Repository::new()?;
    std::env::set_current_dir(repository.root())?;
    repository.write_files(act.files)?;
    shell(
        &repository,
        &format!(
            "git config user.name T && git config user.email t@example.org && git config gc.auto 0 \
             && echo 1 > own.txt && echo 1 > held.txt && git add . && git commit -q -m base && git branch base \
             && git clone -q --bare . ../remote && git remote add origin ../remote && git fetch -q origin \
             && for i in $(seq {MOVED}); do echo $i > $i.txt && git add . && git commit -q -m $i || exit 1; done"
        ),
    )?;
    if let Some(binary) = binary {
        match act.hooks {
            Hooks::Ours => install(&repository, binary, act)?,
            Hooks::Empty => OF_A_COMMIT.iter().try_for_each(|name| empty(&repository, name))?,
        }
    }
    std::env::set_current_dir("/")?;
    Ok(repository)
}

/// A hook that does nothing.
fn empty(repository: &Repository, name: &str) -> Outcome<()> {
    let path = repository.root().join(".git/hooks").join(name);
    std::fs::write(&path, "#!/bin/sh\nexit 0\n")?;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?)
}

/// Our hooks, beside somebody else who holds something.
fn install(repository: &Repository, binary: &Path, act: &Act) -> Outcome<()> {
    let binary = binary.display();
    if act.strict {
        std::fs::write(repository.root().join(".clearway.toml"), "[git]\nstrict = true\n")?;
    }
    let hold = if act.others { "held.txt" } else { "--kind name build" };
    shell(
        repository,
        &format!("{binary} init -y --git-hooks --client claude; {binary} --agent other reserve {hold}"),
    )?;
    let config = std::fs::read_to_string(repository.root().join(".git/config"))?;
    let is_installed = repository.root().join(".git/hooks/prepare-commit-msg").exists()
        || config.contains("clearway-prepare-commit-msg");
    if !is_installed {
        return Err("the hooks were not installed".into());
    }
    Ok(())
}

fn shell(repository: &Repository, script: &str) -> Outcome<()> {
    let (_, status) = repository.time(Path::new("sh"), &["-c", script])?;
    if status.success() { Ok(()) } else { Err(format!("{script}: {status}").into()) }
}
