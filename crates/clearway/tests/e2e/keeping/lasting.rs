//! How long snapshots last, and that they go nowhere.

use super::snapshot;
use crate::{app, home, list};
use clearway_testkit::{Files, Repository};
use std::path::Path;

fn has(app: &Repository<'_>, home: &clearway_testkit::Home, commit: &str) -> bool {
    home.shell(app.path(), &format!("git cat-file -e {commit} 2>/dev/null")).status().expect("git").success()
}

fn references(app: &Repository<'_>) -> Vec<String> {
    let listed = app.git(&["for-each-ref", "--format=%(refname)", "refs/clearway"]);
    listed.lines().map(str::to_owned).collect()
}

#[test]
fn while_it_is_kept_no_housekeeping_takes_it_and_when_it_is_old_it_goes() {
    let home = home();
    let app = app(&home);
    app.write(".gitignore", "/.env\n");
    app.write(".env", "secret\n");
    app.write("src/a.rs", "mine\n");
    let old = snapshot(&app, &[]);
    app.git(&["checkout", "--quiet", "--", "."]);
    app.git(&["gc", "--quiet", "--prune=now"]);
    app.agent("ada").ok(&["undo", &old, "-y"]);
    assert_eq!(std::fs::read(app.path().join("src/a.rs")).expect("bytes"), b"mine\n");
    // The same snapshot, taken long ago.
    let script = "ref=$(git for-each-ref --format='%(refname)' refs/clearway) && old=$(git cat-file commit $ref | \
                  sed 's/^at .*/at 1000/' | git hash-object -t commit -w --stdin) && git update-ref $ref $old && \
                  for pack in $(find \"$XDG_STATE_HOME\" -name '*-ignored-*'); do \
                  mv $pack ${pack%-ignored-*}-ignored-$old; done && echo $old";
    let output = home.shell(app.path(), script).output().expect("a shell");
    let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert!(has(&app, &home, &commit));
    let beside = |home: &clearway_testkit::Home| {
        let is_pack = |path: &&Path| path.display().to_string().contains("-ignored-");
        Files::below(&home.state()).paths().filter(is_pack).count()
    };
    assert_eq!((references(&app).len(), beside(&home)), (1, 1));
    // The newest stay however old they are.
    let newer = |count: u32| {
        app.write("src/a.rs", &format!("newer {count}\n"));
        snapshot(&app, &["src/a.rs"]);
    };
    (1..20).for_each(newer);
    app.clearway().ok(&["sweep"]);
    assert_eq!((references(&app).len(), beside(&home)), (20, 1));
    newer(20);
    app.clearway().ok(&["sweep"]);
    assert_eq!((references(&app).len(), beside(&home)), (20, 0));
    app.git(&["gc", "--quiet", "--prune=now"]);
    assert!(!has(&app, &home, &commit));
    app.agent("ada").fails("not-found", 5, &["show", &old]);
}

#[test]
fn beyond_so_many_the_oldest_go_with_the_next_one() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    let first = snapshot(&app, &[]);
    let commit = app.git(&["for-each-ref", "--format=%(objectname)", "refs/clearway"]).trim().to_owned();
    let letters: Vec<char> = ('a'..='z').collect();
    let create: String = (0..210)
        .map(|n| {
            format!("create refs/clearway/snap/aaaaaa{}{}/1 {commit}\n", letters[n / 26], letters[n % 26])
        })
        .collect();
    std::fs::write(home.path().join("create"), create).expect("a file");
    let made = home.shell(app.path(), &format!("git update-ref --stdin < {}/create", home.path().display()));
    assert!({ made }.status().is_ok_and(|status| status.success()));
    app.write("src/a.rs", "mine again\n");
    let second = snapshot(&app, &[]);
    let listed = app.clearway().ok(&["snapshots"]);
    assert_eq!(list(&listed, "snapshots").len(), 200);
    for kept in [first, second] {
        app.clearway().ok(&["show", &kept]);
    }
}

#[test]
fn no_ordinary_push_sends_it_and_no_fetch_or_clone_gets_it() {
    let home = home();
    let app = app(&home);
    app.write("src/a.rs", "mine\n");
    snapshot(&app, &[]);
    let remote = home.directory("remote.git");
    home.shell(&remote, "git init -q --bare -b main .").status().expect("git");
    app.git(&["remote", "add", "origin", &remote.display().to_string()]);
    app.git(&["push", "--quiet", "origin", "main"]);
    app.git(&["push", "--quiet", "--all", "origin"]);
    app.git(&["push", "--quiet", "--tags", "origin"]);
    app.git(&["push", "--quiet", "--follow-tags", "--set-upstream", "origin", "main"]);
    let sent = home.shell(&remote, "git for-each-ref --format='%(refname)'").output().expect("git").stdout;
    assert_eq!(String::from_utf8_lossy(&sent), "refs/heads/main\n");
    let clone = home.directory("clone");
    let cloned = format!("git clone -q '{}' . && git for-each-ref refs/clearway", app.path().display());
    let output = home.shell(&clone, &cloned).output().expect("git");
    assert!(output.status.success() && output.stdout.is_empty());
}
