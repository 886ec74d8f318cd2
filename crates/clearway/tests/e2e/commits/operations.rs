//! Commits that finish a merge, a cherry-pick or a revert: what git brought along passes a lease of a hook, and what somebody
//! has not committed never goes with it.

use super::stage::{Stage, Who, hinted, said};
use crate::home;

const ADA: Who = Who::Agent("ada");

fn files() -> [(&'static str, &'static str); 4] {
    [
        ("held.txt", "1\n"),
        ("own.txt", "1\n"),
        ("both.txt", "1\n2\n3\n4\n5\n6\n7\n8\n9\n"),
        ("split.txt", "1\n"),
    ]
}

/// Something that git stopped in, with everything of it resolved and staged.
struct Stop {
    name: &'static str,
    /// What leads there.
    typed: &'static str,
    /// What git itself finishes it with.
    finish: &'static str,
}

/// Two branches that change the same line of one file, and different lines of another one.
const BRANCHES: &str = "git checkout -q -b side; echo s > split.txt; sed -i s/1/one/ both.txt; git commit -q -a -m side; \
     git checkout -q main; echo m > split.txt; sed -i s/9/nine/ both.txt; git commit -q -a -m main; ";

const STOPS: [Stop; 4] = [
    Stop {
        name: "merge",
        typed: "git merge side > /dev/null; echo both > split.txt; git add split.txt",
        finish: "git merge --continue",
    },
    Stop {
        name: "merge without a conflict",
        typed: "git merge -q --no-commit --no-ff -X theirs side > /dev/null; echo s > split.txt; git add split.txt",
        finish: "git merge --continue",
    },
    Stop {
        name: "cherry-pick",
        typed: "git cherry-pick side > /dev/null 2>&1; echo both > split.txt; git add split.txt",
        finish: "git cherry-pick --continue",
    },
    Stop {
        name: "revert",
        typed: "git cherry-pick -X theirs side > /dev/null && echo x > split.txt && git commit -q -a -m x; \
                git revert --no-edit HEAD~1 > /dev/null 2>&1; echo both > split.txt; git add split.txt",
        finish: "git revert --continue",
    },
];

/// A checkout that git stopped in.
fn stopped<'h>(home: &'h clearway_testkit::Home, stop: &Stop) -> Stage<'h> {
    let stage = Stage::new(home, &files());
    stage.git(&format!("{BRANCHES}{}", stop.typed));
    stage
}

#[test]
fn what_another_has_not_committed_goes_with_no_merge_pick_or_revert() {
    for stop in &STOPS {
        let finish = format!("git add -A && GIT_EDITOR=true {}", stop.finish);
        for typed in [
            "git add -A && git commit -q -m y",
            "git commit -q -a -m y",
            "git add held.txt && git commit -q --no-edit",
            finish.as_str(),
        ] {
            let at = format!("{}: {typed}", stop.name);
            let home = home();
            let stage = stopped(&home, stop);
            stage.edits("bob", None, "held.txt", Some("1\nbob\n"));
            stage.write("own.txt", "ada\n");
            let before = stage.head();
            let refused = stage.types(ADA, typed);
            let told = said(&refused);
            assert!(!refused.status.success(), "{at}: {told}");
            assert!(told.contains("error[commit-refused]: held.txt is with claude-"), "{at}: {told}");
            assert_eq!(stage.head(), before, "{at}");
            let command = hinted(&told);
            let pasted = stage.types(ADA, &command);
            assert!(pasted.status.success(), "{at}: {command}: {}", said(&pasted));
            assert_eq!(stage.git("git show HEAD:held.txt; cat held.txt"), "1\n1\nbob\n", "{at}: {command}");
            assert_eq!(stage.git("git rev-parse HEAD~1").trim(), before.trim(), "{at}: {command}");
            let parents = if stop.name.starts_with("merge") { 3 } else { 2 };
            let line = stage.git("git rev-list --parents -n 1 HEAD");
            assert_eq!(line.split_whitespace().count(), parents, "{at}: {command}");
            let takes_own = !typed.starts_with("git add held.txt");
            let own = if takes_own { "ada\n" } else { "1\n" };
            assert_eq!(stage.git("git show HEAD:own.txt"), own, "{at}: {command}");
        }
    }
}

#[test]
fn a_file_that_another_edited_over_what_a_merge_brings_is_committed_as_the_merge_has_it() {
    for stop in &STOPS {
        let home = home();
        let stage = stopped(&home, stop);
        let merged = stage.git("git show :both.txt");
        stage.edits("bob", None, "both.txt", Some(&format!("{merged}bob\n")));
        let refused = stage.types(ADA, "git add -A && git commit -q --no-edit");
        let told = said(&refused);
        assert!(
            !refused.status.success() && told.contains("both.txt is with claude-"),
            "{}: {told}",
            stop.name
        );
        let command = hinted(&told);
        let pasted = stage.types(ADA, &command);
        assert!(pasted.status.success(), "{}: {command}: {}", stop.name, said(&pasted));
        assert_eq!(stage.git("git show HEAD:both.txt"), merged, "{}: {command}", stop.name);
        assert_eq!(stage.git("git status --porcelain"), " M both.txt\n", "{}: {command}", stop.name);
    }
}

#[test]
fn what_a_merge_pick_or_revert_brings_passes_the_lease_of_a_hook() {
    for stop in &STOPS {
        let home = home();
        let stage = stopped(&home, stop);
        stage.edits("bob", None, "both.txt", None);
        stage.edits("bob", None, "held.txt", Some("1\nbob\n"));
        // What was changed after it was staged is not in the commit.
        stage.git("echo later >> both.txt");
        let passed = stage.types(ADA, "git commit -q --no-edit");
        assert!(passed.status.success(), "{}: {}", stop.name, said(&passed));
        assert_eq!(stage.git("git show HEAD:held.txt"), "1\n", "{}", stop.name);
    }
}

#[test]
fn giving_up_a_merge_that_brings_what_is_held_keeps_what_others_have_not_committed() {
    for stop in &STOPS {
        let home = home();
        let stage = stopped(&home, stop);
        stage.grant("eve", &["both.txt"]);
        stage.edits("bob", None, "held.txt", Some("1\nbob\n"));
        let before = stage.head();
        let refused = stage.types(ADA, "git add -A && git commit -q --no-edit");
        let command = hinted(&said(&refused));
        assert!(stage.types(ADA, &command).status.success(), "{}: {command}", stop.name);
        assert_eq!(stage.head(), before, "{}: {command}", stop.name);
        assert_eq!(
            stage.git("git status --porcelain; cat held.txt"),
            " M held.txt\n1\nbob\n",
            "{}: {command}",
            stop.name
        );
    }
}

#[test]
fn lines_of_another_in_a_file_that_nobody_holds_go_with_no_merge_either() {
    for stop in &STOPS {
        let home = home();
        let stage = stopped(&home, stop);
        stage.edits("bob", None, "held.txt", Some("1\nbob\n"));
        home.clearway(&stage.root).session("bob").ok(&["release", "--all"]);
        let refused = stage.types(ADA, "git add -A && git commit -q -m y");
        let told = said(&refused);
        assert!(!refused.status.success(), "{}: {told}", stop.name);
        let command = hinted(&told);
        assert!(stage.types(ADA, &command).status.success(), "{}: {command}", stop.name);
        assert_eq!(
            stage.git("git show HEAD:held.txt; cat held.txt"),
            "1\n1\nbob\n",
            "{}: {command}",
            stop.name
        );
    }
}
