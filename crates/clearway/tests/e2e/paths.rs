//! Patterns and paths: two requests meet exactly when some path belongs to both.

use crate::{app, each, home, list, text};
use clearway_testkit::Repository;
use serde_json::Value;

/// Alice holds one thing; whether Bob could have another.
#[track_caller]
fn check(repository: &Repository<'_>, held: &str, wanted: &str, meets: bool) {
    repository.grant("alice", &["--broad", "--", held]);
    assert_eq!(repository.is_clear("bob", wanted), !meets, "{held} held, {wanted} wanted");
    repository.agent("alice").ok(&["release", "--all"]);
}

#[test]
fn whether_case_matters_is_settled_when_the_scope_begins() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["main.rs"]);
    // As if the scope had begun on a file system that folds case, before what is remembered beside it was lost.
    crate::open_store(&home).execute_batch("UPDATE scopes SET folds = 1").expect("a change");
    let record = home.only_store().with_file_name("store.db-place");
    assert!(std::fs::read_to_string(&record).expect("a record").contains("folds 0"));
    std::fs::remove_file(&record).expect("a record");
    assert_eq!(repository.blockers("bob", &["MAIN.rs"]).len(), 1);
    assert!(std::fs::read_to_string(&record).expect("it is remembered again").contains("folds 1"));
    assert_eq!(repository.grant("bob", &["src/A.rs"])["pattern"], "src/a.rs");
    assert_eq!(repository.blockers("alice", &["SRC/"]).len(), 1);
    let seen = repository.clearway().ok(&["who", "SRC/A.RS"]);
    assert_eq!(seen["holders"][0]["agent"], "bob");
}

#[test]
fn patterns_meet_exactly_when_a_path_matches_both() {
    let home = home();
    let repository = home.repository("app", &[]);
    for (held, wanted, meets) in [
        ("src/**", "src/a/b.go", true),
        ("src/**", "src/a.go", true),
        ("src/**", "srcx/a.go", false),
        ("**/*.go", "main.go", true),
        ("**/*.go", "x/main.go", true),
        ("**/*.go", "x/y/main.go", true),
        ("**/*.go", "main.rs", false),
        ("docs/**/*.md", "docs/x.md", true),
        ("docs/**/*.md", "docs/a/b/x.md", true),
        ("*.go", "*.go", true),
        ("*.go", "*.rs", false),
        ("foo.go", "foo.go", true),
        ("foo.go", "bar.go", false),
        ("*.go", "main.go", true),
        ("internal/*.go", "internal/http.go", true),
        ("internal/*.go", "pkg/*.go", false),
        ("src/[a-z]*.go", "src/main.go", true),
        ("src/[A-Z]*.go", "src/main.go", false),
        ("*", "anything", true),
        ("src/a.go", "src/b.go", false),
        ("pkg/*.go", "pkg/events/*.go", false),
        ("pkg/e/r.go", "pkg/e/*.go", true),
        ("a*/b", "ab/*", true),
        ("*a*", "*b*", true),
        ("**", "a/b", true),
    ] {
        check(&repository, held, wanted, meets);
    }
}

#[test]
fn every_form_of_the_pattern_language_means_what_is_documented() {
    let home = home();
    let repository = home.repository("app", &[]);
    for (held, wanted, meets) in [
        ("[!a]x", "bx", true),
        ("[!a]x", "ax", false),
        ("[^a]x", "bx", true),
        ("[^a]x", "ax", false),
        ("{a,b}.go", "a.go", true),
        ("{a,b}.go", "c.go", false),
        ("\\*.go", "x.go", false),
        ("\\*.go", "\\*.go", true),
        ("[]a]", "]", true),
        ("[a-]", "-", true),
        ("a?c", "abc", true),
        ("a?c", "ac", false),
        ("a?c", "a/c", false),
        ("*.go", ".go", true),
        ("*", ".hidden", true),
        ("[a-z][a-z][a-z][a-z][a-z][a-z][a-z][a-z][a-z][a-z][a-z][a-z]", "abcdefghijkl", true),
        ("{src,lib}/**/{a,b}.rs", "lib/deep/down/b.rs", true),
        ("d/**", "d", true),
    ] {
        check(&repository, held, wanted, meets);
    }
}

#[test]
fn a_trailing_slash_or_an_existing_directory_means_everything_below() {
    let home = home();
    let repository = app(&home);
    for held in ["src/", "src", "./src", "new/"] {
        let below = if held == "new/" { "new/a/b/c.rs" } else { "src/a/b/c.rs" };
        check(&repository, held, below, true);
        check(&repository, held, "main.rs", false);
    }
}

#[test]
fn every_spelling_of_a_path_is_the_same_path() {
    let home = home();
    let repository = app(&home);
    let absolute = repository.path().join("src/a.rs").display().to_string();
    let lease = repository.grant("alice", &["src/a.rs"]);
    assert_eq!(lease["pattern"], "src/a.rs");
    for spelling in
        ["./src/a.rs", "src//a.rs", "src/../src/a.rs", "src/./a.rs", "docs/../src/a.rs", &absolute]
    {
        let blockers = repository.blockers("bob", &[spelling]);
        assert_eq!(blockers[0]["id"], lease["id"], "{spelling}");
    }
    let absolute_pattern = repository.path().join("src/*.rs").display().to_string();
    assert!(!repository.is_clear("bob", &absolute_pattern));
}

#[test]
fn paths_and_patterns_are_relative_to_where_the_caller_stands() {
    let home = home();
    let repository = app(&home);
    let lease = repository.clearway_in("src").agent("alice").ok(&["reserve", "a.rs"])["leases"][0].clone();
    assert_eq!(lease["pattern"], "src/a.rs");
    assert!(!repository.is_clear("bob", "src/a.rs"));
    for (directory, pattern, code) in
        [("src", "*.rs", 1), ("docs", "*.rs", 0), ("docs", "../src/*.rs", 1), ("docs", "../src/a.rs", 1)]
    {
        repository.clearway_in(directory).agent("bob").run(&["check", pattern]).expect(code);
    }
}

#[test]
fn an_existing_file_is_that_file_whatever_its_name_looks_like() {
    let home = home();
    let repository = home.repository("app", &[("app/[id]/page.tsx", ""), ("a*b.rs", ""), ("{x,y}.rs", "")]);
    let lease = repository.grant("alice", &["app/[id]/page.tsx"]);
    assert_eq!(lease["pattern"], "app/[id]/page.tsx");
    assert!(!repository.is_clear("bob", "app/[id]/page.tsx"));
    assert!(!repository.is_clear("bob", "app/**"));
    assert!(repository.is_clear("bob", "app/i/page.tsx"));
    repository.grant("alice", &["a*b.rs", "{x,y}.rs"]);
    assert!(repository.is_clear("bob", "axb.rs") && repository.is_clear("bob", "x.rs"));
    assert!(!repository.is_clear("bob", "a*b.rs") && !repository.is_clear("bob", "{x,y}.rs"));
}

#[test]
fn what_a_hint_names_is_meant_when_it_is_pasted_whether_or_not_it_is_there() {
    let home = home();
    let repository = home.repository("app", &[("app/[id]/page.tsx", "")]);
    repository.grant("alice", &["app/[id]/page.tsx"]);
    std::fs::remove_file(repository.path().join("app/[id]/page.tsx")).expect("it was there");
    std::fs::remove_dir(repository.path().join("app/[id]")).expect("it is empty");
    let error = repository.agent("bob").fails("reservation-held", 1, &["reserve", "app/\\[id\\]/page.tsx"]);
    assert!(error["hints"].to_string().contains(r"who 'app/\\[id\\]/page.tsx'"), "{error:#}");
    let holders = repository.clearway().ok(&["who", "app/\\[id\\]/page.tsx"]);
    assert_eq!(holders["holders"][0]["agent"], "alice");
    let told = repository.agent("alice").run(&["release", "app/\\[id\\]/pgae.tsx"]).expect(0).stderr();
    assert!(told.contains("did you mean app/\\[id\\]/page.tsx?"), "{told}");
}

#[test]
fn a_pattern_typed_below_a_directory_with_brackets_stays_in_it() {
    let home = home();
    let repository = home.repository("app", &[("app/[id]/page.tsx", ""), ("app/i/page.tsx", "")]);
    repository.clearway_in("app/[id]").agent("alice").ok(&["reserve", "*.tsx"]);
    assert!(!repository.is_clear("bob", "app/[id]/page.tsx"));
    assert!(repository.is_clear("bob", "app/i/page.tsx"));
}

#[test]
fn the_length_of_a_literal_path_is_no_complexity() {
    let home = home();
    let repository = home.repository("app", &[]);
    for length in [51, 120, 200, 300, 900] {
        let path = format!("src/{}/{}.rs", "d".repeat(length / 3), "f".repeat(length - length / 3 - 8));
        assert_eq!(path.len(), length);
        repository.grant("alice", &[&path]);
        assert!(!repository.is_clear("bob", &path), "{length} bytes");
    }
}

#[test]
fn composed_and_decomposed_letters_are_one_path() {
    let home = home();
    let repository = home.repository("app", &[]);
    repository.grant("alice", &["src/\u{e9}t\u{e9}.rs"]);
    assert!(!repository.is_clear("bob", "src/e\u{301}te\u{301}.rs"));
    assert!(!repository.is_clear("bob", "src/\u{e9}?\u{e9}.rs"));
    assert!(repository.is_clear("bob", "src/ete.rs"));
}

#[test]
fn a_linked_directory_is_the_directory_it_links_to() {
    let home = home();
    let repository = app(&home);
    std::os::unix::fs::symlink("src", repository.path().join("link")).expect("a link");
    let lease = repository.grant("alice", &["link/a.rs"]);
    assert_eq!(lease["pattern"], "src/a.rs");
    assert!(!repository.is_clear("bob", "src/a.rs"));
    assert!(!repository.is_clear("bob", "link/*.rs"));
    for spelling in ["link", "link/", "docs/../link"] {
        assert_eq!(repository.grant("alice", &[spelling])["pattern"], "src/**", "{spelling}");
    }
    std::os::unix::fs::symlink(home.directory("elsewhere"), repository.path().join("out")).expect("a link");
    std::os::unix::fs::symlink("src/a.rs", repository.path().join("file")).expect("a link");
    repository.agent("bob").fails("outside-scope", 2, &["reserve", "out"]);
    assert_eq!(
        repository.grant("bob", &["file"])["pattern"],
        "file",
        "a link to a file is a path of its own"
    );
}

#[test]
fn a_pattern_does_not_go_up_behind_a_wildcard_wherever_that_would_lead() {
    let home = home();
    let repository = home.repository("app", &[("src/api/a.rs", "")]);
    for pattern in ["src/api/*/..", "src/*/../api/a.rs", "*/.."] {
        let error = repository.agent("alice").fails("invalid-pattern", 2, &["reserve", pattern]);
        assert!(text(&error, "message").contains(".."), "{error}");
    }
}

#[test]
fn a_name_too_long_for_the_file_system_is_one_that_is_not_there() {
    let home = home();
    let repository = app(&home);
    let name = "n".repeat(300);
    repository.grant("alice", &[&format!("src/{name}")]);
    assert!(!repository.is_clear("bob", &format!("src/{name}")));
    assert!(!repository.is_clear("bob", &format!("src/{name}*")));
}

#[test]
fn patterns_over_the_limits_are_refused_and_those_at_the_limit_granted() {
    let home = home();
    let repository = home.repository("app", &[]);
    repository.grant("alice", &[&"?".repeat(32)]);
    repository.grant("alice", &[&format!("x/{}y", "**/".repeat(31))]);
    let thirty_three = "?/".repeat(32) + "?";
    for verb in ["reserve", "check"] {
        let error = repository.agent("bob").fails("invalid-pattern", 2, &[verb, &thirty_three]);
        assert!(text(&error, "message").contains("32 wildcards"), "{error}");
    }
}

#[test]
fn a_claim_over_the_whole_tree_is_taken_on_purpose_and_briefly() {
    let home = home();
    let repository = home.repository("app", &[("a", "")]);
    let error = repository.agent("alice").fails("claim-too-broad", 3, &["reserve", "**"]);
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.contains("--broad '**'")), "{error}");
    for spelling in [".", "./", "**"] {
        let lease = repository.grant("alice", &["--broad", "--ttl", "2h", spelling]);
        let left_ms = lease["expires_in_ms"].as_u64().unwrap_or(u64::MAX);
        assert!(left_ms <= 600_000, "{spelling}: {lease}");
        assert!(!repository.is_clear("bob", "a"), "{spelling}");
    }
}

#[test]
fn whoever_claims_the_whole_tree_is_told_when_that_ends_and_what_makes_way() {
    let home = home();
    let repository = home.repository("app", &[("a", "")]);
    let check = |words: &[&str], ends: &str, way: bool| {
        let words = [&["reserve", "--broad", "."], words].concat();
        let reply = repository.agent("alice").ok(&words);
        assert_eq!(each(&reply, "notices", "code"), ["broad"], "{reply}");
        let said = text(&reply["notices"][0], "message").to_owned();
        assert!(said.contains(&format!("ends {ends} after it is granted")), "{said}");
        assert_eq!(said.contains("make way for others"), way, "{said}");
        repository.agent("alice").ok(&["release", "--all"]);
        let shown = repository.agent("alice").text(&words);
        assert!(shown.contains("note: a claim this broad ends"), "{shown}");
        repository.agent("alice").ok(&["release", "--all"]);
    };
    check(&[], "10m", true);
    check(&["--max", "2h"], "10m", true);
    check(&["--max", "5m"], "5m", true);
    check(&["--strict"], "10m", false);
    repository.grant("bob", &["a"]);
    let queued = repository.agent("alice").ok(&["reserve", "--broad", ".", "--queue"]);
    assert_eq!(each(&queued, "notices", "code"), ["broad"], "{queued}");
    let narrow = repository.agent("bob").ok(&["reserve", "--broad", "b"]);
    assert!(list(&narrow, "notices").is_empty(), "what is not broad is a claim like others: {narrow}");
}

#[test]
fn asking_about_the_whole_tree_is_answered_and_says_what_a_claim_of_it_takes() {
    let home = home();
    let repository = home.repository("app", &[("a", "")]);
    let bob = || repository.agent("bob");
    let claim = |asked: &Value| {
        let said = text(&asked["notices"][0], "message");
        said.split_once(": ").map(|(_, command)| command.to_owned()).unwrap_or_default()
    };
    let free = bob().ok(&["check", "."]);
    assert_eq!((&free["clear"], each(&free, "notices", "code")), (&true.into(), vec!["needs-broad"]));
    assert_eq!(claim(&free), "clearway --agent bob reserve --broad .");
    assert_eq!(
        claim(&bob().ok(&["check", "--shared", "."])),
        "clearway --agent bob reserve --broad --shared ."
    );
    repository.grant("alice", &["a"]);
    let held = bob().json(&["check", "."]).expect(1).value();
    assert_eq!(each(&held, "blockers", "agent"), ["alice"], "{held}");
    assert_eq!(each(&held, "notices", "code"), ["needs-broad"], "{held}");
    let meant = bob().json(&["check", "--broad", "**"]).expect(1).value();
    assert!(list(&meant, "notices").is_empty(), "whoever says so knows: {meant}");
    repository.agent("alice").ok(&["release", "--all"]);
    let output = home.shell(repository.path(), &claim(&free)).output().expect("a shell");
    assert!(output.status.success(), "{output:?}");
    assert!(!repository.is_clear("alice", "a"));
}

#[test]
fn a_claim_over_many_tracked_files_counts_as_broad() {
    let home = home();
    let files: Vec<String> = (0..202).map(|n| format!("many/{n}.txt")).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|file| (file.as_str(), "")).collect();
    let repository = home.repository("app", &files);
    repository.agent("alice").fails("claim-too-broad", 3, &["reserve", "many/"]);
    repository.agent("alice").fails("claim-too-broad", 3, &["reserve", "many/1*", "many/2*", "many/[03-9]*"]);
    repository.grant("alice", &["many/1.txt", "many/2*.txt"]);
    repository.grant("alice", &["--broad", "many/"]);
}

#[test]
fn a_file_with_a_star_in_its_name_reads_differently_from_a_wildcard() {
    let home = home();
    let repository = app(&home);
    repository.write("m*x", "");
    repository.grant("alice", &["m*x"]);
    let file = repository.clearway().text(&["leases"]);
    assert!(file.contains(r"m\*x"), "{file}");
    repository.agent("alice").ok(&["release", "--all"]);
    repository.grant("alice", &["src/m*x"]);
    let wildcard = repository.clearway().text(&["leases"]);
    assert!(wildcard.contains("src/m*x"), "{wildcard}");
    let error = repository.agent("bob").fails("reservation-held", 1, &["reserve", "src/m*x"]);
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.ends_with("who 'src/m*x'")), "{error:#}");
    repository.grant("alice", &["m*x"]);
    let error = repository.agent("bob").fails("reservation-held", 1, &["reserve", "m*x"]);
    let hint = error["hints"][0].as_str().unwrap_or_default();
    let pasted = format!("{} --json", hint.split_once(": ").map_or("", |(_, command)| command));
    let output = home.shell(repository.path(), &pasted).output().expect("a shell");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("\"agent\":\"alice\""), "{hint}: {said}");
}

#[test]
fn a_path_cannot_be_a_file_for_one_and_a_directory_for_another() {
    let home = home();
    let repository = app(&home);
    repository.grant("alice", &["newdir"]);
    for below in ["newdir/x", "newdir/deep/y", "newdir/*.rs", "newdir/"] {
        assert!(!repository.is_clear("bob", below), "{below}");
    }
    repository.grant("bob", &["newdirs", "other/x", "**/z.rs"]);
    for above in ["other", "other/x/y"] {
        assert!(!repository.is_clear("alice", above), "{above}");
    }
    repository.grant("alice", &["newdir/x"]);
}

/// What another system writes between directories would silently name another file.
#[test]
fn a_backslash_that_escapes_nothing_is_no_pattern() {
    let home = home();
    let repository = app(&home);
    let error = repository.agent("alice").fails("invalid-pattern", 2, &["reserve", r"src\a.rs"]);
    assert!(crate::text(&error, "message").contains("escapes nothing"), "{error:#}");
    assert!(home.state_files().is_empty());
    for pattern in [r"src/\[a\].rs", r"src/\*.rs", r"src/a\-b.rs", r"src/a\\b.rs"] {
        repository.agent("alice").ok(&["check", pattern]);
    }
}

/// A file that is yet to be made in a directory called `[id]` is the same from wherever it is named.
#[test]
fn a_directory_that_exists_means_itself_in_whatever_is_named_below_it() {
    let home = home();
    let repository = home.repository("app", &[("app/[id]/page.tsx", ""), ("app/d/new.tsx", "")]);
    let lease = repository.clearway_in("app/[id]").agent("alice").ok(&["reserve", "new.tsx"]);
    assert_eq!(lease["leases"][0]["pattern"], "app/[id]/new.tsx");
    assert!(!repository.is_clear("bob", "app/[id]/new.tsx"));
    assert!(!repository.is_clear("bob", "app/[id]/*.tsx"));
    assert!(repository.is_clear("bob", "app/d/new.tsx"));
    repository.agent("alice").ok(&["release", "app/[id]/new.tsx"]);
    repository.grant("alice", &["app/[id]/"]);
    repository.agent("alice").ok(&["release", "app/[id]/**"]);
    assert!(repository.is_clear("bob", "app/[id]/"));
}
