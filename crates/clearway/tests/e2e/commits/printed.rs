//! The command that a refused commit prints does what it says when it is pasted, wherever and however the commit was typed.

use super::stage::{Stage, Who, hinted, said};
use crate::home;

const ADA: Who = Who::Agent("ada");

fn files() -> [(&'static str, &'static str); 3] {
    [("held.txt", "1\n"), ("own.txt", "1\n"), ("src/m.rs", "a line of some length\n")]
}

/// A commit that is refused, and the command it prints.
#[track_caller]
fn refused(stage: &Stage<'_>, line: &str) -> (String, String) {
    let refused = stage.types(ADA, line);
    let told = said(&refused);
    assert!(!refused.status.success() && told.contains("error[commit-refused]"), "{line}: {told}");
    (hinted(&told), told)
}

#[track_caller]
fn pasted(stage: &Stage<'_>, line: &str) -> String {
    let pasted = stage.types(ADA, line);
    assert!(pasted.status.success(), "{line}: {}", said(&pasted));
    String::from_utf8_lossy(&pasted.stdout).into_owned()
}

#[test]
fn in_a_directory_below_the_root_it_names_the_root() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt", "src/m.rs"]);
    stage.git("echo 2 > own.txt; echo 2 > held.txt");
    let (command, _) = refused(&stage, "cd src && git commit -q -a -m part");
    pasted(&stage, &format!("cd src && {command}"));
    assert_eq!(stage.paths_in("HEAD"), ["own.txt"]);
    stage.git("git checkout -q held.txt; echo 2 > src/m.rs");
    let (command, _) = refused(&stage, "cd src && git commit -q -a -m part");
    assert!(pasted(&stage, &format!("cd src && {command}")).contains("bob"), "{command}");
    stage.git("echo 3 > own.txt");
    let (command, _) = refused(&stage, "cd src && git commit -q -a --amend --no-edit");
    pasted(&stage, &format!("cd src && {command}"));
    assert_eq!(stage.git("git show HEAD:own.txt; git rev-list --count HEAD"), "3\n2\n", "{command}");
}

#[test]
fn an_amend_is_offered_for_an_amend_and_for_nothing_else() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.git("echo 0 > own.txt; git commit -q -a -m theirs");
    stage.grant("bob", &["held.txt"]);
    let count = || stage.git("git rev-list --count HEAD").trim().to_owned();
    for (line, commits, subject) in [
        ("git commit -q -a --amend -m 'new words'", "2", "new words"),
        ("git commit -q -a -C HEAD", "3", "new words"),
        ("git -c x.y=z commit -q -a --reuse-message HEAD", "4", "new words"),
        ("git commit -q -a -m --amend", "5", "--amend"),
        ("git commit -q -a --no-edit --am", "5", "--amend"),
    ] {
        stage.git("echo more | tee -a own.txt >> held.txt");
        let (command, _) = refused(&stage, line);
        pasted(&stage, &command);
        assert_eq!(count(), commits, "{line}: {command}");
        assert_eq!(stage.git("git log -1 --format=%s").trim(), subject, "{line}: {command}");
        assert_eq!(stage.git("git show HEAD:held.txt"), "1\n", "{line}: {command}");
    }
}

#[test]
fn both_names_of_a_file_go_together_or_neither() {
    for held in ["src/m.rs", "src/mm.rs"] {
        let home = home();
        let stage = Stage::new(&home, &files());
        stage.grant("bob", &[held]);
        stage.git("git mv src/m.rs src/mm.rs; echo 2 > own.txt");
        let (command, _) = refused(&stage, "git commit -q -a -m part");
        pasted(&stage, &command);
        assert_eq!(stage.paths_in("HEAD"), ["own.txt"], "{command}");
        let (command, _) = refused(&stage, "git commit -q -a -m part");
        assert!(command.starts_with("clearway who "), "{command}");
        let named = stage.types(ADA, "clearway commit -m part src");
        let told = said(&named);
        assert!(told.contains("commit-refused") && hinted(&told).starts_with("clearway who "), "{told}");
    }
}

#[test]
fn a_name_that_no_terminal_shows_is_spelled_so_that_a_shell_reads_it() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.grant("bob", &["held.txt"]);
    let odd = "100% \\ it's\u{200f}";
    stage.write(odd, "2\n");
    stage.write("held.txt", "2\n");
    let (command, _) = refused(&stage, "git add -A; git commit -q -m part");
    pasted(&stage, &command);
    assert_eq!(stage.paths_in("HEAD"), [odd], "{command}");
}

#[test]
fn names_that_cannot_be_typed_are_said_to_be_left_out_and_what_everybody_writes_is_not() {
    for odd in ["not\\377utf", "tab\\011here", "line\\012feed", "right\\342\\200\\256left"] {
        let home = home();
        let stage = Stage::new(&home, &files());
        stage.grant("bob", &["held.txt"]);
        stage.git("echo 2 | tee held.txt own.txt > Cargo.lock");
        stage.git(&format!("echo 2 > \"$(printf '{odd}')\"; git add -A"));
        let (command, told) = refused(&stage, "git commit -q -m part");
        let words = told.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("commit the rest, but for names that cannot be typed: "), "{told}");
        pasted(&stage, &command);
        assert_eq!(stage.paths_in("HEAD"), ["Cargo.lock", "own.txt"], "{command}");
    }
}

#[test]
fn a_file_with_lines_of_two_agents_is_taken_and_then_committed() {
    let home = home();
    let stage = Stage::new(&home, &files());
    stage.edits("bob", None, "held.txt", Some("bob\n1\n"));
    home.clearway(&stage.root).session("bob").ok(&["release", "--all"]);
    stage.edits("ada", None, "held.txt", Some("bob\n1\nada\n"));
    home.clearway(&stage.root).session("ada").ok(&["release", "--all"]);
    let ada = Who::Session("ada");
    for line in ["git commit -q -a -m x", "clearway commit -m x", "clearway commit -m x held.txt"] {
        let refused = stage.types(ada, line);
        let told = said(&refused);
        assert!(!refused.status.success() && !told.contains("nothing of what is changed"), "{line}: {told}");
        assert_eq!(hinted(&told), "clearway reserve held.txt", "{line}: {told}");
    }
    let done = stage.types(ada, "clearway reserve held.txt && git commit -q -a -m x");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(stage.paths_in("HEAD"), ["held.txt"]);
}
