//! `[git] strict = true`: what no hook before it saw is refused when a branch is to lead to it, and nothing else is.

use super::stage::{Stage, Who, hinted, said};
use crate::home;
use clearway_testkit::Home;

const ADA: Who = Who::Agent("ada");
/// A commit of everything in the checkout that only plumbing makes.
const PLUMBING: &str =
    "git add -A && git update-ref refs/heads/main $(git commit-tree -p HEAD -m past $(git write-tree))";

fn strict<'h>(home: &'h Home) -> Stage<'h> {
    let files = [("held.txt", "1\n"), ("own.txt", "1\n"), (".clearway.toml", "[git]\nstrict = true\n")];
    let stage = Stage { home, root: home.repository("app", &files).path().to_owned() };
    stage.beside_git("2.53.0").run(&["init", "-y", "--git-hooks"]).expect(0);
    stage.grant("bob", &["held.txt"]);
    stage
}

#[test]
fn an_agents_plumbing_is_refused_where_it_takes_along_what_is_with_somebody_else() {
    let home = home();
    let stage = strict(&home);
    let before = stage.head();
    let refused = stage.types(ADA, &format!("echo 2 > held.txt; echo 2 > own.txt; {PLUMBING}"));
    let told = said(&refused);
    assert!(
        !refused.status.success() && told.contains("error[commit-refused]: held.txt is with bob"),
        "{told}"
    );
    assert_eq!(stage.head(), before);
    let pasted = stage.types(ADA, &hinted(&told));
    assert!(pasted.status.success(), "{}", said(&pasted));
    assert_eq!(stage.paths_in("HEAD"), ["own.txt"]);
    stage.git("git checkout -q HEAD -- held.txt");
    for (who, file) in [(ADA, "own.txt"), (Who::Person, "held.txt"), (Who::Agent("bob"), "held.txt")] {
        let before = stage.head();
        let passed = stage.types(who, &format!("echo $$ > {file}; {PLUMBING}"));
        assert!(passed.status.success() && said(&passed).is_empty(), "{who:?}: {}", said(&passed));
        assert_ne!(stage.head(), before, "{who:?}");
    }
    // A detached head is what somebody works on too; a branch that is not checked out here is nobody's work here.
    let detached = "git checkout -q --detach; echo 3 > held.txt; git add -A; git update-ref --no-deref HEAD $(git commit-tree -p HEAD -m past $(git write-tree))";
    let refused = stage.types(ADA, detached);
    assert!(said(&refused).contains("held.txt is with bob"), "{}", said(&refused));
    let elsewhere = "git update-ref refs/heads/other $(git commit-tree -p HEAD -m past $(git write-tree))";
    assert!(stage.types(ADA, elsewhere).status.success());
}

#[test]
fn what_brings_no_new_work_is_never_refused() {
    let home = home();
    let stage = strict(&home);
    let (remote, other) = (home.directory("remote.git"), home.path().join("home/other"));
    stage.git(&format!(
        "git init -q --bare -b main {0} && git remote add origin {0} && git push -q -u origin main",
        remote.display()
    ));
    stage.git(&format!("git clone -q {} {}", remote.display(), other.display()));
    let other = stage.at(&other);
    other.git("git config user.name T && git config user.email t@example.org");
    let theirs = |text: &str, push: &str| {
        other.git(&format!(
            "git pull -q --rebase; echo {text} > held.txt && git commit -q -a -m theirs && {push}"
        ));
    };
    theirs("2", "git push -q");
    let pass = |line: &str| {
        let passed = stage.types(ADA, line);
        assert_eq!((passed.status.success(), said(&passed)), (true, String::new()), "{line}");
    };
    for line in ["git fetch -q", "git pull -q --ff-only", "git branch topic", "git tag -a -m x v1"] {
        pass(line);
    }
    theirs("3", "true");
    pass("git pull -q --ff-only ../other main");
    theirs("4", "true");
    pass("git fetch -q ../other main:fetched");
    for line in [
        "git gc -q",
        "git pack-refs --all",
        "git clone -q . ../copy",
        "git switch -q topic",
        "git switch -q main",
        "git merge -q --ff-only fetched",
        "git commit -q --amend -m other",
        "git reset -q --hard HEAD@{1}",
        "git commit -q --allow-empty -m empty",
        "clearway snapshot > /dev/null || true",
        "git worktree add -q ../linked topic",
    ] {
        pass(line);
    }
    stage.write("own.txt", "5\n");
    pass("clearway snapshot > /dev/null && clearway commit -m own own.txt > /dev/null");
}

#[test]
fn a_rebase_is_refused_when_it_begins_and_never_stopped_in_the_middle() {
    let home = home();
    let stage = strict(&home);
    stage.git(
        "git checkout -q -b topic; echo 2 > held.txt; git commit -q -a -m t; echo 3 > held.txt; git commit -q -a -m u; \
         git checkout -q main; echo 2 > own.txt; git commit -q -a -m m; git checkout -q topic",
    );
    let passed = stage.types(ADA, "git rebase -q main");
    assert!(passed.status.success(), "what is reserved and unchanged stays: {}", said(&passed));
    assert_eq!(stage.git("git log --format=%s main..topic"), "u\nt\n");
    stage.git("git reset -q --hard ORIG_HEAD");
    stage.grant("bob", &["new/"]);
    stage.write("new/file.txt", "bob\n");
    let refused = stage.types(ADA, "git rebase -q main");
    assert!(said(&refused).contains("error[others-at-work]"), "{}", said(&refused));
    assert!(!stage.root.join(".git/rebase-merge").exists());
}

#[test]
fn it_is_off_unless_it_is_asked_for_and_says_where_it_is_missing() {
    let home = home();
    let stage = strict(&home);
    let hook = stage.root.join(".git/hooks/reference-transaction");
    assert!(hook.exists());
    let shown = home.clearway(&stage.root).run(&["config", "show"]).stdout();
    assert!(shown.contains("git.strict") && shown.contains(".clearway.toml:2"), "{shown}");
    stage.write(".clearway.toml", "");
    let passed = stage.types(ADA, &format!("echo 2 > held.txt; {PLUMBING}"));
    assert!(passed.status.success(), "{}", said(&passed));
    stage.beside_git("2.53.0").run(&["init", "-y", "--git-hooks"]).expect(0);
    assert!(!hook.exists());
    stage.write(".clearway.toml", "[git]\nstrict = true\n");
    let error = stage.beside_git("2.53.0").fails("unhealthy", 1, &["doctor"]);
    assert!(error.to_string().contains("reference-transaction is missing beside the others"), "{error}");
    // The repository may ask for more care than its user, and not for less.
    home.user_config("[git]\nstrict = true\n");
    stage.write(".clearway.toml", "[git]\nstrict = false\n");
    home.clearway(&stage.root).fails("config-unsafe", 78, &["status"]);
    stage.write(".clearway.toml", "[git]\nstrict = \"yes\"\n");
    home.clearway(&stage.root).fails("config-wrong-type", 78, &["status"]);
}
