//! Every way to commit, against whoever may hold what is in it: the designed answer, and a printed command that works.

use super::stage::{Stage, Who, hinted, said};
use crate::home;

/// Who holds a file, and who commits it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Holder {
    /// Another agent reserved it.
    Other,
    /// The one who commits.
    Own,
    /// A subagent of the session that commits.
    Family,
    /// Another agent, and a person commits.
    Person,
    /// Another agent's hook took it, and the agent changed nothing.
    CleanAuto,
}

use Holder::{CleanAuto, Family, Other, Own, Person};

const HOLDERS: [Holder; 5] = [Other, Own, Family, Person, CleanAuto];

impl Holder {
    fn takes(self, stage: &Stage<'_>, file: &str) {
        match self {
            Other | Person => drop(stage.grant("bob", &["--", file])),
            Own => drop(stage.grant("ada", &["--", file])),
            Family => stage.edits("one", Some("x"), file, None),
            CleanAuto => stage.edits("two", None, file, None),
        }
    }

    fn committer(self) -> Who {
        match self {
            Other | Own | CleanAuto => Who::Agent("ada"),
            Family => Who::Session("one"),
            Person => Who::Person,
        }
    }
}

/// A way to commit.
struct Act {
    name: &'static str,
    /// The file that is held.
    file: &'static str,
    /// What is so before anybody takes it.
    before: &'static str,
    /// What is typed.
    typed: &'static str,
    /// Whose lease is in the way of an agent.
    in_the_way: &'static [Holder],
}

/// A change by a shell, of which no hook tells: whose it is nobody knows, so it is the holder's.
const CHANGED: &[Holder] = &[Other, CleanAuto];
/// What git itself brought along is not the change of whoever has an automatic lease there.
const BROUGHT: &[Holder] = &[Other];

const ACTS: [Act; 15] = [
    Act {
        name: "commit",
        file: "held.txt",
        before: "",
        typed: "echo 2 > held.txt; echo 2 > own.txt; git add -A && git commit -q -m part",
        in_the_way: CHANGED,
    },
    Act {
        name: "commit -a",
        file: "held.txt",
        before: "",
        typed: "echo 2 > held.txt; echo 2 > own.txt; git commit -q -a -m part",
        in_the_way: CHANGED,
    },
    Act {
        name: "commit --only",
        file: "held.txt",
        before: "",
        typed: "echo 2 > held.txt; echo 2 > own.txt; git commit -q -m part --only held.txt own.txt",
        in_the_way: CHANGED,
    },
    Act {
        name: "--no-verify",
        file: "held.txt",
        before: "",
        typed: "echo 2 > held.txt; echo 2 > own.txt; git commit -q --no-verify -a -m part",
        in_the_way: CHANGED,
    },
    Act {
        name: "amend",
        file: "held.txt",
        before: "echo 0 > own.txt && git commit -q -a -m zero",
        typed: "echo 2 > held.txt; echo 2 > own.txt; git commit -q -a --amend -m part",
        in_the_way: CHANGED,
    },
    Act {
        name: "amend of the message",
        file: "held.txt",
        before: "echo 0 > held.txt && git commit -q -a -m zero",
        typed: "git commit -q --amend -m part",
        in_the_way: &[],
    },
    Act {
        name: "deletion",
        file: "held.txt",
        before: "",
        typed: "rm held.txt; echo 2 > own.txt; git commit -q -a -m part",
        in_the_way: CHANGED,
    },
    Act {
        name: "non-ASCII and rename",
        file: "größe [1].txt",
        before: "",
        typed: "git mv 'größe [1].txt' 'neu [2].txt' && echo 2 > own.txt; git commit -q -a -m part",
        in_the_way: CHANGED,
    },
    Act {
        name: "detached HEAD",
        file: "held.txt",
        before: "git checkout -q --detach",
        typed: "echo 2 > held.txt; echo 2 > own.txt; git commit -q -a -m part",
        in_the_way: CHANGED,
    },
    Act {
        name: "submodule",
        file: "sub",
        before: "git init -q sub && git -C sub -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m a && git add sub 2> /dev/null && git commit -q -m sub",
        typed: "git -C sub -c user.name=T -c user.email=t@example.org commit -q --allow-empty -m b; echo 2 > own.txt; git commit -q -a -m part",
        in_the_way: &[Other],
    },
    Act {
        name: "merge of both sides",
        file: "held.txt",
        before: "seq 9 > held.txt; git commit -q -a -m base; git checkout -q -b topic; sed -i s/1/one/ held.txt; git commit -q -a -m t; git checkout -q main; sed -i s/9/nine/ held.txt; git commit -q -a -m m",
        typed: "git merge -q -m part topic",
        in_the_way: BROUGHT,
    },
    Act {
        name: "merge of one side",
        file: "held.txt",
        before: "git checkout -q -b topic; echo 2 > held.txt; git commit -q -a -m t; git checkout -q main; echo 2 > own.txt; git commit -q -a -m m",
        typed: "git merge -q -m part topic",
        in_the_way: &[],
    },
    Act {
        name: "cherry-pick",
        file: "held.txt",
        before: "git checkout -q -b topic; echo 2 > held.txt; git commit -q -a -m t; git checkout -q main",
        typed: "git cherry-pick topic > /dev/null",
        in_the_way: BROUGHT,
    },
    Act {
        name: "revert",
        file: "held.txt",
        before: "echo 2 > held.txt; git commit -q -a -m two",
        typed: "git revert --no-edit HEAD > /dev/null",
        in_the_way: BROUGHT,
    },
    Act {
        name: "rebase",
        file: "held.txt",
        before: "git checkout -q -b topic; echo 2 > held.txt; git commit -q -a -m t; git checkout -q main; echo 2 > own.txt; git commit -q -a -m m; git checkout -q topic",
        typed: "git rebase -q main",
        in_the_way: &[],
    },
];

fn files() -> [(&'static str, &'static str); 3] {
    [("held.txt", "1\n"), ("own.txt", "1\n"), ("größe [1].txt", "a file with a name, and enough in it\n")]
}

/// Plays one act and checks its answer.
#[track_caller]
fn play(act: &Act, holder: Holder, stage: &Stage<'_>) {
    let at = format!("{} / {holder:?}", act.name);
    holder.takes(stage, act.file);
    let before = stage.head();
    let output = stage.types(holder.committer(), act.typed);
    let told = said(&output);
    let is_refused = act.in_the_way.contains(&holder);
    assert_eq!(output.status.success(), !is_refused, "{at}: {told}");
    assert_eq!(stage.head() != before, !is_refused, "{at}: {told}");
    if !is_refused {
        let is_warned = holder == Person && act.in_the_way.contains(&Other);
        assert_eq!(told.contains("is with bob"), is_warned, "{at}: {told}");
        assert!(is_warned || told.is_empty(), "{at}: {told}");
        return;
    }
    assert!(told.contains("error[commit-refused]: "), "{at}: {told}");
    let command = hinted(&told);
    let pasted = stage.types(holder.committer(), &command);
    assert!(pasted.status.success(), "{at}: {command}: {}", said(&pasted));
    match command.starts_with("git ") && !command.starts_with("git commit --amend ") {
        true => {
            assert_eq!(stage.head(), before, "{at}");
            assert_eq!(stage.git("git status --porcelain"), "", "{at}: {command}");
        }
        false => {
            let paths = stage.paths_in("HEAD");
            assert!(paths.contains(&"own.txt".to_owned()), "{at}: {paths:?}");
            assert!(!paths.contains(&act.file.to_owned()), "{at}: {paths:?}");
        }
    }
}

#[test]
fn every_way_to_commit_gets_the_designed_answer() {
    for act in &ACTS {
        for holder in HOLDERS {
            if act.name == "submodule" && matches!(holder, Family | CleanAuto) {
                // No tool writes a directory, so no hook takes one.
                continue;
            }
            let home = home();
            let stage = Stage::new(&home, &files());
            stage.git(&format!("true; {}", act.before));
            play(act, holder, &stage);
        }
    }
}

/// The hook on references has nothing to add to what the check answered.
#[test]
fn where_settings_are_strict_every_answer_is_the_same() {
    for act in &ACTS {
        for holder in [Other, CleanAuto, Own] {
            if act.name == "submodule" && holder == CleanAuto {
                continue;
            }
            let home = home();
            let stage = Stage::new(&home, &files());
            stage.git(&format!("true; {}", act.before));
            stage.strict();
            play(act, holder, &stage);
        }
    }
}

#[test]
fn a_linked_worktree_has_leases_and_an_index_of_its_own() {
    let act = &ACTS[1];
    for holder in HOLDERS {
        let home = home();
        let stage = Stage::new(&home, &files());
        let linked = home.path().join("home/linked");
        stage.git(&format!("git worktree add -q -b topic {}", linked.display()));
        let linked = stage.at(&linked);
        play(act, holder, &linked);
        // Who holds the path in another checkout is in nobody's way here.
        let passed = stage.types(Who::Agent("ada"), "echo 3 > held.txt; git commit -q -a -m here");
        assert!(passed.status.success(), "{holder:?}: {}", said(&passed));
    }
}

#[test]
fn the_initial_commit_is_checked_like_any_other() {
    for holder in HOLDERS {
        let home = home();
        let young = home.directory("young");
        let stage = Stage { home: &home, root: young };
        stage.git("git init -q -b main . && git config user.name T && git config user.email t@example.org");
        stage.call_hooks(&stage.root.join(".git/hooks"));
        stage.grant("eve", &["--kind", "name", "build"]);
        let act = Act {
            name: "initial commit",
            file: "held.txt",
            before: "",
            typed: ACTS[0].typed,
            in_the_way: CHANGED,
        };
        play(&act, holder, &stage);
    }
}

#[test]
fn a_repository_that_is_named_by_variables_is_checked_in_its_worktree() {
    let home = home();
    let tree = home.directory("tree");
    let stage = Stage { home: &home, root: tree };
    let dir = home.path().join("home/elsewhere.git");
    let git = format!("git --git-dir={} --work-tree=.", dir.display());
    stage.git(&format!(
        "{git} init -q -b main && {git} config user.name T && {git} config user.email t@example.org"
    ));
    stage.call_hooks(&dir.join("hooks"));
    stage.grant("bob", &["held.txt"]);
    let line =
        format!("echo 2 > held.txt; echo 2 > own.txt; {git} add held.txt own.txt && {git} commit -q -m part");
    let refused = stage.types(Who::Agent("ada"), &line);
    assert!(
        !refused.status.success() && said(&refused).contains("held.txt is with bob"),
        "{}",
        said(&refused)
    );
    assert!(stage.types(Who::Person, &format!("{git} commit -q -m part")).status.success());
}

#[test]
fn what_brings_no_work_of_its_own_is_never_refused() {
    let home = home();
    let stage = Stage::new(&home, &files());
    let other = home.path().join("home/other");
    let remote = home.directory("remote.git");
    stage.git(&format!(
        "git init -q --bare -b main {0} && git remote add origin {0} && git push -q -u origin main",
        remote.display()
    ));
    stage.git(&format!("git clone -q {} {}", remote.display(), other.display()));
    stage.at(&other).git("git config user.name T && git config user.email t@example.org && echo 2 > held.txt && git commit -q -a -m theirs && git push -q");
    stage.grant("bob", &["held.txt"]);
    for line in [
        "git fetch -q",
        "git pull -q --ff-only",
        "git branch topic",
        "git tag -a -m x v1",
        "git gc -q",
        "git pack-refs --all",
        "git stash list",
        "git clone -q . ../copy",
        "git switch -q topic",
    ] {
        let passed = stage.types(Who::Agent("ada"), line);
        assert_eq!((passed.status.success(), said(&passed)), (true, String::new()), "{line}");
    }
}
