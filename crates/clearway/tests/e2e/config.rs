//! Every setting knows where it came from, and a mistake is named with its place.

use crate::{app, each, home, list, text};
use clearway_testkit::Repository;
use serde_json::Value;

#[track_caller]
fn setting(reply: &Value, key: &str) -> Value {
    let found = list(reply, "settings").iter().find(|setting| setting["key"] == key);
    found.unwrap_or_else(|| panic!("no {key} in {reply:#}")).clone()
}

/// Value, source, and everything it overrode, as one line each.
#[track_caller]
fn story(reply: &Value, key: &str) -> Vec<String> {
    let setting = setting(reply, key);
    let mut lines = vec![format!("{} from {}", text(&setting, "value"), text(&setting, "source"))];
    let old = |old: &Value| format!("over {} from {}", text(old, "value"), text(old, "source"));
    lines.extend(list(&setting, "overrode").iter().map(old));
    lines
}

#[test]
fn every_value_is_traced_to_file_and_line_variable_flag_posture_or_default() {
    let home = home();
    let repository = app(&home);
    let user = home.user_config("# mine\n[leases]\nbroad_files = 150\n\n[timeouts]\nstore = \"2s\"\n");
    repository.write(".clearway.toml", "posture = \"team\"\n[leases]\nclaimed_ttl = \"20m\"\n");
    let team = repository.path().join(".clearway.toml").display().to_string();
    let user = user.display().to_string();
    let clearway =
        repository.agent("ada").args(&["--timeout", "9s"]).env("CLEARWAY_LEASES_DURABILITY", "full");
    let reply = clearway.ok(&["config", "show"]);
    assert_eq!(
        story(&reply, "leases.broad_files"),
        [
            format!("100 from posture team ({team}:1)"),
            format!("over 150 from {user}:3"),
            "over 200 from default".to_owned()
        ]
    );
    assert_eq!(
        story(&reply, "leases.claimed_ttl"),
        [
            format!("20m from {team}:3"),
            format!("over 30m from posture team ({team}:1)"),
            "over 30m from default".to_owned()
        ]
    );
    assert_eq!(
        story(&reply, "leases.durability")[..2],
        [
            "full from variable CLEARWAY_LEASES_DURABILITY".to_owned(),
            format!("over normal from posture team ({team}:1)")
        ]
    );
    assert_eq!(
        story(&reply, "timeouts.store")[..3],
        [
            "9s from flag --timeout".to_owned(),
            format!("over 5s from posture team ({team}:1)"),
            format!("over 2s from {user}:6")
        ]
    );
    assert_eq!(story(&reply, "agent"), ["ada from flag --agent"]);
    assert_eq!(story(&reply, "posture")[0], format!("team from {team}:1"));
    assert_eq!(setting(&reply, "store.url")["value"], Value::Null);
}

#[test]
fn the_text_form_names_sources_whole_and_what_they_overrode() {
    let home = home();
    let repository = app(&home);
    let user = home.user_config("[leases]\nbroad_files = 150\n").display().to_string();
    let shown = repository.clearway().env("CLEARWAY_LEASES_BROAD_FILES", "120").text(&["config", "show"]);
    let joined = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "leases.broad_files 120".to_owned(),
        "from variable CLEARWAY_LEASES_BROAD_FILES".to_owned(),
        format!("overrode 150 from {user}:2"),
        "overrode 200 from default".to_owned(),
    ] {
        assert!(joined.contains(&words), "{words} in {shown}");
    }
}

#[track_caller]
fn check_refused(repository: &Repository<'_>, file: &str, slug: &str, words: &[&str]) {
    repository.write(".clearway.toml", file);
    let before = clearway_testkit::Files::below(repository.path());
    let error = repository.agent("alice").fails(slug, 78, &["reserve", "a.rs"]);
    for word in words {
        assert!(text(&error, "message").contains(word), "{word} in {error:#}");
    }
    assert!(!list(&error, "hints").is_empty(), "{error:#}");
    repository.agent("alice").fails(slug, 78, &["config", "show"]);
    repository.agent("alice").fails(slug, 78, &["status"]);
    repository.agent("alice").ok(&["config", "path"]);
    before.assert_same(&clearway_testkit::Files::below(repository.path()), "a refused configuration");
}

#[test]
fn a_mistake_in_a_file_is_named_with_its_line_and_the_nearest_right_word() {
    let home = home();
    let repository = app(&home);
    let here = repository.path().join(".clearway.toml").display().to_string();
    for (file, slug, words) in [
        ("\nleases.brod_files = 1\n", "config-unknown-key", ["brod_files", ":2", "leases.broad_files"]),
        ("colour = 1\n", "config-unknown-key", ["colour", ":1", ""]),
        ("[leases]\nbroad_files = \"many\"\n", "config-wrong-type", ["leases.broad_files", ":2", "integer"]),
        ("posture = 3\n", "config-wrong-type", ["posture", ":1", "string"]),
        ("posture = \"tem\"\n", "config-bad-value", ["tem", ":1", "team"]),
        ("[leases]\nclaimed_ttl = \"25h\"\n", "config-bad-value", ["claimed_ttl", ":2", "25h"]),
        ("[leases]\nclaimed_ttl = \"-5m\"\n", "config-bad-value", ["claimed_ttl", ":2", "-5m"]),
        ("[leases\n", "config-syntax", [":1", "TOML", ""]),
        ("posture = \"team\"\nposture = \"team\"\n", "config-syntax", [":2", "", ""]),
        ("agent = \"ada\"\n", "config-unsafe", ["agent", ":1", ""]),
        ("[store]\nurl = \"/tmp/x.db\"\n", "config-unsafe", ["store.url", ":2", ""]),
        ("[leases]\nbroad_files = 5000\n", "config-unsafe", ["5000", ":2", "config.toml"]),
        ("[classes]\nhot = [\"a[\"]\n", "config-bad-value", ["a[", ":2", ""]),
        ("[classes]\nignored = [\"src/**\"]\n", "config-unsafe", ["classes.ignored", ":2", "user file"]),
        ("[classes]\ncommon = [\"**\"]\n", "config-unsafe", ["classes.common", ":2", "user file"]),
        (
            "[classes]\nhot = [\"{docs,*}/**\"]\n",
            "config-unsafe",
            ["classes.hot", ":2", "such as docs/generated/**, or"],
        ),
        ("[leases]\nclaimed_ttl = \"2s\"\n", "config-unsafe", ["2s", ":2", "30m"]),
        ("[leases]\nclaimed_ttl = \"2h\"\n", "config-unsafe", ["2h", ":2", "30m"]),
        ("\n[resource]\nbuild = 2\n", "config-unknown-key", ["`resource`", ":2", "`resources`"]),
        ("[resources]\nbuild = 0\n", "config-bad-value", ["build", ":2", ""]),
    ] {
        let place = [here.as_str()];
        check_refused(&repository, file, slug, &[words.as_slice(), &place].concat());
    }
    assert!(home.state_files().is_empty());
}

#[test]
fn the_user_may_lower_safety_and_the_repository_may_raise_it() {
    let home = home();
    let repository = app(&home);
    home.user_config("[leases]\nbroad_files = 5000\n");
    repository.clearway().ok(&["config", "show"]);
    repository.write(".clearway.toml", "[leases]\nbroad_files = 10\n");
    let reply = repository.clearway().ok(&["config", "show"]);
    assert_eq!(setting(&reply, "leases.broad_files")["value"], "10");
    assert_eq!(setting(&reply, "leases.broad_files")["safety"], true);
}

#[test]
fn a_repository_can_neither_widen_a_resource_of_the_user_nor_take_it_off_the_machine() {
    let home = home();
    let repository = app(&home);
    home.user_config("[resources]\nbuild = 1\ngpu = { capacity = 2, scope = \"machine\" }\n");
    check_refused(&repository, "[resources]\nbuild = 5\n", "config-unsafe", &["resources.build = 5", ":2"]);
    let off = "[resources]\ngpu = { capacity = 2, scope = \"repository\" }\n";
    check_refused(&repository, off, "config-unsafe", &["resources.gpu = 2", ":2", "2 on this machine"]);
    repository.write(".clearway.toml", "[resources]\n\"port:3000-3009\" = 10\n");
    let reply = repository.clearway().ok(&["config", "show"]);
    for (key, value) in [("resources.build", "1"), ("resources.\"port:3000-3009\"", "10")] {
        assert_eq!(setting(&reply, key)["value"], value);
        assert_eq!(setting(&reply, key)["safety"], true, "{key}");
    }
    repository.agent("ada").ok(&["reserve", "--kind", "name", "build"]);
    repository.agent("bob").fails("reservation-held", 1, &["reserve", "--kind", "name", "build"]);
}

#[test]
fn inside_an_agent_session_a_variable_cannot_lower_safety_and_the_attempt_is_shown() {
    let home = home();
    let repository = app(&home);
    let ask = || repository.clearway().env("CLEARWAY_LEASES_BROAD_FILES", "9000");
    assert_eq!(setting(&ask().ok(&["config", "show"]), "leases.broad_files")["value"], "9000");
    let inside = setting(&ask().session("s-1").ok(&["config", "show"]), "leases.broad_files");
    assert_eq!(inside["value"], "200");
    let ignored = &inside["ignored"][0];
    assert_eq!((text(ignored, "value"), text(ignored, "kept")), ("9000", "200"));
    assert_eq!(text(ignored, "source"), "variable CLEARWAY_LEASES_BROAD_FILES");
}

#[test]
fn a_bad_variable_is_a_configuration_error_and_a_bad_flag_a_usage_error() {
    let home = home();
    let repository = app(&home);
    let error = repository.clearway().env("CLEARWAY_TIMEOUTS_STORE", "soon").fails(
        "config-bad-value",
        78,
        &["leases"],
    );
    assert!(text(&error, "message").contains("CLEARWAY_TIMEOUTS_STORE"), "{error}");
    repository.clearway().env("CLEARWAY_AGENT", "a b").fails("config-bad-value", 78, &["leases"]);
    repository.clearway().args(&["--timeout", "soon"]).fails("invalid-duration", 2, &["leases"]);
}

#[test]
fn a_variable_that_nothing_reads_is_pointed_out() {
    let home = home();
    let repository = app(&home);
    let reply = repository.clearway().env("CLEARWAY_AGNET", "ada").ok(&["config", "show"]);
    let unknown = &reply["unknown_variables"][0];
    assert_eq!((text(unknown, "name"), text(unknown, "nearest")), ("CLEARWAY_AGNET", "CLEARWAY_AGENT"));
    let quiet = repository.clearway().env("CLEARWAY_OPERATOR_KEY", "/x").ok(&["config", "show"]);
    assert_eq!(list(&quiet, "unknown_variables").len(), 0);
}

#[test]
fn the_files_are_named_with_whether_they_are_there() {
    let home = home();
    let repository = app(&home);
    let reply = repository.clearway_in("src").ok(&["config", "path"]);
    assert_eq!(each(&reply, "files", "layer"), ["user", "repository"]);
    assert_eq!(reply["files"][1]["path"], repository.path().join(".clearway.toml").display().to_string());
    assert_eq!(
        (&reply["files"][0]["present"], &reply["files"][1]["present"]),
        (&false.into(), &false.into())
    );
    home.user_config("");
    let reply = repository.clearway().ok(&["config", "path"]);
    assert_eq!(reply["files"][0]["present"], true);
}

#[test]
fn the_classes_of_paths_are_shown_with_what_the_repository_added() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[classes]\ncommon = [\"gen/**\"]\nhot = [\"src/routes.rs\"]\n");
    let reply = repository.clearway().ok(&["config", "classes"]);
    assert_eq!(each(&reply, "classes", "class"), ["ignored", "common", "hot"]);
    let added = |class: usize| {
        let patterns = list(&reply["classes"][class], "patterns");
        patterns
            .iter()
            .find(|pattern| pattern["source"] != "default")
            .map(|pattern| text(pattern, "pattern").to_owned())
    };
    assert_eq!(
        (added(0), added(1), added(2)),
        (None, Some("gen/**".to_owned()), Some("src/routes.rs".to_owned()))
    );
    assert!(
        list(&reply["classes"][1], "patterns")
            .iter()
            .any(|pattern| text(pattern, "pattern").contains("lock"))
    );
}

#[test]
fn whoever_changes_something_is_told_of_a_setting_that_does_not_count() {
    let home = home();
    let repository = app(&home);
    let ask = || repository.clearway().env("CLEARWAY_LEASES_BROAD_FILES", "9999");
    let told = |reply: &Value| each(reply, "notices", "code").contains(&"setting-ignored");
    let reply = ask().session("s-1").ok(&["reserve", "a.rs"]);
    assert_eq!(each(&reply, "notices", "target"), ["leases.broad_files"], "{reply}");
    assert!(told(&reply) && told(&ask().session("s-1").ok(&["release", "--all"])));
    assert!(!told(&ask().session("s-1").ok(&["check", "a.rs"])), "looking changes nothing");
    assert!(!told(&ask().agent("bob").ok(&["reserve", "b.rs"])), "outside a session it counts");
    let said = ask().session("s-1").run(&["reserve", "a.rs"]).expect(0).stdout().replace("\n  ", " ");
    assert!(said.contains("leases.broad_files = 9999 from variable CLEARWAY_LEASES_BROAD_FILES"), "{said}");
}

#[test]
fn a_command_under_leases_is_not_warned_of_what_it_is_told() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[resources]\n\"port:3000-3009\" = 10\n");
    let script = "clearway --agent ada with port -- clearway --json config show";
    let output = home.shell(repository.path(), script).output().expect("a shell");
    let shown: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(list(&shown, "unknown_variables").len(), 0, "{}", shown["unknown_variables"]);
}

#[test]
fn the_files_are_those_of_the_scope_that_is_named() {
    let home = home();
    let repository = app(&home);
    let layers = |words: &[&str]| {
        let reply = repository.clearway().ok(words);
        each(&reply, "files", "layer").iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(layers(&["config", "path"]), ["user", "repository"]);
    assert_eq!(layers(&["--scope", "machine", "config", "path"]), ["user"]);
    repository.clearway().fails("not-found", 5, &["--scope", "nowhere-00000000", "config", "path"]);
}

#[test]
fn a_password_in_the_address_of_a_store_is_never_shown() {
    let home = home();
    let repository = app(&home);
    home.user_config("[store]\nurl = \"postgres://ada:hunter2hunter2@db.example/clearway\"\n");
    for words in
        [["config", "show"].as_slice(), &["config", "show", "--json"], &["reserve", "a"], &["doctor"]]
    {
        let ran = repository.agent("alice").run(words);
        let said = ran.stdout() + &ran.stderr();
        assert!(!said.contains("hunter2"), "{said}");
    }
}

/// A list that adds nothing is still what somebody wrote: it is named where it stands.
#[test]
fn an_empty_list_of_a_class_is_traced_to_its_file() {
    let home = home();
    let repository = app(&home);
    repository.write(".clearway.toml", "[classes]\nhot = []\n");
    let shown = repository.clearway().ok(&["config", "show"]);
    let hot = list(&shown, "settings").iter().find(|setting| setting["key"] == "classes.hot").expect("a key");
    assert!(text(hot, "source").ends_with(".clearway.toml:2") && hot["layer"] == "repository", "{hot:#}");
    let classes = repository.clearway().ok(&["config", "classes"]);
    let hot = list(&classes, "classes").iter().find(|class| class["class"] == "hot").expect("a class");
    assert!(!list(hot, "patterns").is_empty(), "the built-in ones stay");
    assert!(
        hot["adds_nothing"][0].as_str().is_some_and(|place| place.ends_with(".clearway.toml:2")),
        "{hot:#}"
    );
    assert!(repository.clearway().text(&["config", "classes"]).contains("(nothing added)"));
}

#[test]
fn an_operator_key_that_is_not_there_is_named() {
    let home = home();
    let repository = app(&home);
    let freeze = ["freeze", "--reason", "a release"];
    let error = repository.agent("alice").env("CLEARWAY_OPERATOR_KEY", "/nowhere/key").fails(
        "config-bad-value",
        78,
        &freeze,
    );
    assert!(text(&error, "message").contains("there is no file /nowhere/key"), "{error:#}");
}
