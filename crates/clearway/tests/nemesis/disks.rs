//! Real disks that are full or cannot be written: small file systems mounted where only the test sees them.

use crate::arena::{Arena, Reply, home};
use clearway_testkit::Files;
use clearway_testkit::faults::{behind, on_network};
use clearway_testkit::namespace::Namespace;

/// An arena whose state lies on a file system of its own.
pub(crate) struct Mounted<'h> {
    pub(crate) arena: Arena<'h>,
    pub(crate) namespace: Namespace,
}

impl<'h> Mounted<'h> {
    pub(crate) fn new(home: &'h clearway_testkit::Home, name: &str, size: &str) -> Self {
        let arena = Arena::new(home, name);
        let namespace = Namespace::of_mounts();
        let state = arena.state().display().to_string();
        namespace.script(&format!("mount -t tmpfs -o size={size},mode=700 tmpfs '{state}'"));
        Self { arena, namespace }
    }

    pub(crate) fn run(&self, agent: &str, arguments: &[&str]) -> Reply {
        Reply::of(self.namespace.enter(self.arena.command(agent, arguments)))
    }

    pub(crate) fn script(&self, text: &str) -> String {
        self.namespace.script(&format!("cd '{}'; {text}", self.arena.state().display()))
    }

    pub(crate) fn fill(&self) {
        self.script(
            "dd if=/dev/zero of=filler bs=512 2>/dev/null || true; test -s filler; df . | grep -q 100%",
        );
    }

    fn is_whole(&self) {
        for arguments in [["audit", "verify"].as_slice(), &["doctor"]] {
            self.run("auditor", arguments).expect(0);
        }
    }
}

/// How often a full disk is written to: enough to come past what was still free inside the store's own files.
pub(crate) const ATTEMPTS_MAX: usize = 200;

#[test]
fn on_a_full_disk_writes_are_refused_by_name_reads_go_on_and_room_mends_everything() {
    let home = home();
    let disk = Mounted::new(&home, "full", "1m");
    disk.run("ada", &["reserve", "a.rs"]).expect(0);
    disk.fill();
    let granted = (0..ATTEMPTS_MAX).take_while(|number| {
        let reply = disk.run("ada", &["reserve", &format!("more-{number}.rs")]);
        assert!(reply.code == 0 || (reply.code, reply.slug()) == (69, "store-full"), "{reply:?}");
        reply.code == 0
    });
    let granted = granted.count();
    assert!(granted < ATTEMPTS_MAX, "the disk never became full");
    for arguments in [["check", "a.rs"].as_slice(), &["leases"], &["status"], &["events"], &["who", "a.rs"]] {
        let reply = disk.run("eve", arguments);
        assert!(matches!(reply.code, 0 | 1), "{arguments:?}: {reply:?}");
    }
    let held = disk.run("eve", &["leases"]).value["leases"].as_array().unwrap().len();
    assert_eq!(held, granted + 1);
    let refusal = disk.run("ada", &["reserve", "one-more.rs"]).refused(69, "store-full");
    assert!(refusal.stdout.contains("release --all"), "what is held can be given back: {refusal:?}");
    let stranger = disk.run("eve", &["reserve", "one-more.rs"]).refused(69, "store-full");
    assert!(!stranger.stdout.contains("release --all"), "{stranger:?}");
    let details = &refusal.value["error"]["details"];
    assert_eq!(details["disk"], disk.arena.state().display().to_string());
    let free_bytes = details["free_bytes"].as_u64().unwrap();
    let message = refusal.value["error"]["message"].as_str().unwrap();
    assert!(message.contains(&format!("{free_bytes} bytes are free")), "{message}");
    assert!(message.contains(", and at least 65536 are needed"), "{message}");
    assert_eq!(details["needed_bytes"], 65_536);
    let doctor = disk.run("eve", &["doctor"]).refused(1, "unhealthy");
    assert!(doctor.stdout.contains("bytes are free on"), "{doctor:?}");
    disk.run("ada", &["release", "a.rs"]).expect(0);
    let has_ballast = || disk.script("ls clearway/scopes/*/").lines().any(|name| name == "store.db-ballast");
    assert!(!has_ballast(), "giving back may use it");
    // Whether what was given back made room enough depends on how its files were filled.
    let again = disk.run("ada", &["reserve", "one-more.rs"]);
    assert!(again.code == 0 || (again.code, again.slug()) == (69, "store-full"), "{again:?}");
    assert_eq!(again.code == 0, has_ballast(), "nothing is taken without it");
    for arguments in [["status"].as_slice(), &["audit", "verify"]] {
        disk.run("eve", arguments).expect(0);
    }
    disk.script("rm filler");
    disk.run("ada", &["release", "--all"]).expect(0);
    disk.run("eve", &["reserve", "a.rs"]).expect(0);
    assert!(has_ballast());
    disk.is_whole();
}

#[test]
fn on_a_full_disk_whoever_is_asked_lets_go_as_whoever_releases_does() {
    let home = home();
    let disk = Mounted::new(&home, "asked", "1m");
    disk.run("ada", &["reserve", "a.rs"]).expect(0);
    let asked = disk.run("eve", &["ask", "a.rs", "the release waits for it"]).expect(0);
    let id = asked.value["negotiations"][0]["id"].as_str().expect("an id").to_owned();
    disk.fill();
    let is_granted = |number: &usize| disk.run("ada", &["reserve", &format!("more-{number}.rs")]).code == 0;
    assert!((0..ATTEMPTS_MAX).take_while(is_granted).count() < ATTEMPTS_MAX, "the disk never became full");
    disk.run("ada", &["answer", &id, "no", "busy"]).refused(69, "store-full");
    disk.run("ada", &["answer", &id, "release"]).expect(0);
    disk.script("rm filler");
    disk.is_whole();
}

#[test]
fn what_is_kept_for_giving_back_is_taken_by_nobody_who_takes() {
    let home = home();
    let disk = Mounted::new(&home, "kept", "1m");
    disk.run("ada", &["reserve", "a.rs", "b.rs", "d.rs", "e.rs"]).expect(0);
    disk.run("eve", &["reserve", "b.rs", "--queue"]).expect(0);
    let asked = disk.run("eve", &["ask", "e.rs", "the release waits for it"]).expect(0);
    let asked = asked.value["negotiations"][0]["id"].as_str().expect("a request").to_owned();
    // Whoever comes next takes over from a command that is gone: one lease ends, and one begins.
    disk.run("bob", &["with", "build", "--", "sh", "-c", "kill -9 $PPID"]);
    disk.fill();
    let grants = |number: &usize| disk.run("ada", &["reserve", &format!("more-{number}.rs")]).code == 0;
    assert!((0..ATTEMPTS_MAX).take_while(grants).count() < ATTEMPTS_MAX, "the disk never became full");
    disk.fill();
    disk.run("ada", &["release", "a.rs"]).expect(0);
    let has_ballast = || disk.script("ls clearway/scopes/*/").lines().any(|name| name == "store.db-ballast");
    assert!(!has_ballast(), "giving back may use it");
    let takers: [(&str, i32, &[&str]); 8] = [
        ("eve", 125, &["with", "build", "--", "true"]),
        ("eve", 125, &["with", "build", "--wait", "1s", "--", "true"]),
        ("eve", 69, &["reserve", "--kind", "name", "build"]),
        ("eve", 69, &["reserve", "c.rs", "--wait", "1s"]),
        ("eve", 69, &["reserve", "b.rs", "c.rs", "--queue"]),
        ("eve", 69, &["send", "ada", "hello"]),
        ("ada", 69, &["renew"]),
        ("ada", 69, &["transfer", "d.rs", "--to", "eve"]),
    ];
    for (agent, code, words) in takers {
        let reply = disk.run(agent, words);
        // What `with` says itself goes where its command's words do not.
        let said = format!("{}{}", reply.stdout, reply.stderr);
        let needed = "at least 327680 are needed, 262144 of them kept aside for giving leases back";
        let is_refused = said.contains("\"slug\":\"store-full\"") && said.contains(needed);
        assert!(reply.code == code && is_refused, "{words:?}: {reply:?}");
    }
    disk.run("eve", &["withdraw", &asked]).expect(0);
    let doctor = disk.run("eve", &["doctor"]).refused(1, "unhealthy");
    assert!(doctor.stdout.contains("at least 327680 are needed"), "{doctor:?}");
    assert_eq!(disk.run("eve", &["reserve", "b.rs"]).code, 1, "a refusal is told, and says who has it");
    disk.run("ada", &["release", "b.rs"]).expect(0);
    disk.run("eve", &["reserve", "b.rs"]).expect(0);
    assert!(!has_ballast(), "whoever waited gets its turn");
    disk.script("rm filler");
    disk.run("ada", &["release", "--all"]).expect(0);
    disk.run("eve", &["with", "build", "--", "true"]).expect(0);
    assert!(has_ballast());
    disk.is_whole();
}

#[test]
fn ballast_that_was_given_up_is_noted_and_taken_again_by_a_repair() {
    let home = home();
    let disk = Mounted::new(&home, "overboard", "2m");
    disk.run("ada", &["reserve", "a.rs"]).expect(0);
    disk.script("rm clearway/scopes/*/store.db-ballast");
    let doctor = disk.run("eve", &["doctor"]).expect(0);
    assert!(doctor.stdout.contains("room kept aside for a full disk, 262144 bytes"), "{doctor:?}");
    disk.run("eve", &["doctor", "--repair"]).expect(0);
    disk.script("test $(stat -c %s clearway/scopes/*/store.db-ballast) = 262144");
}

#[test]
fn a_disk_with_less_room_than_the_ballast_that_is_gone_is_wrong() {
    let home = home();
    let disk = Mounted::new(&home, "shallow", "1m");
    disk.run("ada", &["reserve", "a.rs"]).expect(0);
    disk.fill();
    disk.script("rm clearway/scopes/*/store.db-ballast && truncate -s +128K filler");
    disk.run("ada", &["reserve", "b.rs"]).refused(69, "store-full");
    let doctor = disk.run("eve", &["doctor"]).refused(1, "unhealthy");
    assert!(doctor.stdout.contains("bytes are free on"), "{doctor:?}");
    disk.script("rm filler");
    disk.run("ada", &["reserve", "b.rs"]).expect(0);
    disk.is_whole();
}

#[test]
fn the_first_reservation_on_a_full_disk_leaves_nothing_that_stands_in_the_way() {
    let home = home();
    for free_kb in [0, 4, 16, 32, 40, 300, 350] {
        let disk = Mounted::new(&home, &format!("tight-{free_kb}"), "1m");
        disk.fill();
        disk.script(&format!("truncate -s -{}K filler", free_kb));
        let refusal = disk.run("ada", &["reserve", "a.rs"]).refused(69, "store-full");
        assert_eq!(disk.script("find . -type f -o -type d | sort"), ".\n./filler\n", "nothing was made");
        assert!(!refusal.stdout.contains("release --all"), "there is nothing to give back: {refusal:?}");
        let needed = "at least 393216 are needed, 262144 of them kept aside for giving leases back";
        assert!(refusal.stdout.contains(needed), "{refusal:?}");
        let doctor = disk.run("ada", &["doctor"]).refused(1, "unhealthy");
        assert!(doctor.stdout.contains("bytes are free on") && doctor.stdout.contains(needed), "{doctor:?}");
        assert_eq!(disk.run("ada", &["check", "a.rs"]).expect(0).value["clear"], true);
        disk.script("rm filler");
        disk.run("ada", &["reserve", "a.rs"]).expect(0);
        disk.is_whole();
    }
}

/// A file system with room for bytes and for so many files, of which none is left.
fn without_files<'h>(
    home: &'h clearway_testkit::Home,
    name: &str,
    prepare: impl Fn(&Mounted<'h>),
) -> Mounted<'h> {
    let disk = Mounted::new(home, name, "8m,nr_inodes=60");
    prepare(&disk);
    disk.script("i=0; while touch filler-$i 2>/dev/null; do i=$((i + 1)); done; test -e filler-9");
    disk
}

#[track_caller]
fn lacks_files(reply: Reply, free: u64, needed: u64) {
    let reply = reply.refused(69, "store-full");
    let error = &reply.value["error"];
    let message = error["message"].as_str().unwrap_or_default();
    assert!(message.contains("no more files can be made for"), "{message}");
    assert!(message.contains(&format!("there is room for {free} on ")), "{message}");
    assert!(error["hints"][0].as_str().is_some_and(|hint| hint.starts_with("remove files on")), "{error}");
    let details = &error["details"];
    assert_eq!(
        (details["free_files"].as_u64(), details["needed_files"].as_u64()),
        (Some(free), Some(needed))
    );
    assert!(details.get("needed_bytes").is_none(), "{details}");
}

#[test]
fn where_no_more_files_can_be_made_a_first_reservation_leaves_nothing_and_says_so() {
    let home = home();
    let disk = without_files(&home, "fileless", |_| ());
    // Three directories and six files.
    for free in 0..9 {
        lacks_files(disk.run("ada", &["reserve", "a.rs"]), free, 9);
        assert_eq!(disk.script("ls | grep -v filler | wc -l").trim(), "0", "nothing was made");
        let doctor = disk.run("ada", &["doctor"]).refused(1, "unhealthy");
        assert!(doctor.stdout.contains("no more files can be made for"), "{doctor:?}");
        assert_eq!(disk.run("ada", &["check", "a.rs"]).expect(0).value["clear"], true);
        disk.script(&format!("rm filler-{free}"));
    }
    disk.run("ada", &["reserve", "a.rs"]).expect(0);
    disk.is_whole();
}

#[test]
fn a_store_needs_no_more_files_and_what_is_not_there_any_more_is_told_as_such() {
    let home = home();
    let disk = without_files(&home, "used", |disk| {
        disk.run("ada", &["reserve", "a.rs"]).expect(0);
    });
    disk.run("ada", &["reserve", "b.rs"]).expect(0);
    disk.run("ada", &["release", "b.rs"]).expect(0);
    disk.is_whole();
    disk.script("rm clearway/scopes/*/store.db-ballast && touch more-1");
    lacks_files(disk.run("ada", &["reserve", "b.rs"]), 0, 1);
    let doctor = disk.run("eve", &["doctor"]).refused(1, "unhealthy");
    assert!(doctor.stdout.contains("at least 1 is needed"), "{doctor:?}");
    disk.run("ada", &["renew"]).refused(69, "store-full");
    disk.run("ada", &["release", "a.rs"]).expect(0);
    disk.script("rm filler-1");
    disk.run("ada", &["reserve", "a.rs"]).expect(0);
    disk.script("sqlite3 clearway/scopes/*/store.db 'PRAGMA wal_checkpoint' && rm -f clearway/scopes/*/*-wal clearway/scopes/*/*-shm");
    disk.script("touch more-2 more-3");
    lacks_files(disk.run("ada", &["release", "a.rs"]), 0, 2);
    assert_eq!(disk.run("eve", &["check", "a.rs"]).expect(1).value["clear"], false);
    disk.script("rm more-2 more-3");
    disk.run("ada", &["release", "a.rs"]).expect(0);
    disk.is_whole();
}

#[test]
fn a_quota_that_is_used_up_is_called_that() {
    let home = home();
    let arena = Arena::new(&home, "quota");
    let over_quota = |arguments: &[&str]| {
        let calls = "pwrite64,fallocate";
        let (trace, inject) = (format!("trace={calls}"), format!("inject={calls}:error=EDQUOT"));
        let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject];
        let reply = Reply::of(behind(arena.command("ada", arguments), &strace)).refused(69, "store-full");
        let error = &reply.value["error"];
        assert!(
            error["message"].as_str().is_some_and(|text| text.contains("the quota of its user on")),
            "{error}"
        );
        assert!(
            error["hints"][0].as_str().is_some_and(|hint| hint.contains("have the quota raised")),
            "{error}"
        );
    };
    arena.run("ada", &["reserve", "a.rs"]).expect(0);
    for arguments in [["reserve", "b.rs"].as_slice(), &["renew"], &["release", "a.rs"]] {
        over_quota(arguments);
    }
    assert_eq!(
        Files::below(arena.state()).paths().filter(|path| path.ends_with("store.db-probe")).count(),
        0
    );
    arena.run("ada", &["release", "a.rs"]).expect(0);
    over_quota(&["reserve", "b.rs"]);
}

#[test]
fn on_a_read_only_file_system_reads_work_and_writes_are_refused_by_name() {
    let home = home();
    for leave in ["everything", "no -wal", "no -shm"] {
        let disk = Mounted::new(&home, &format!("fixed-{}", leave.replace(' ', "")), "2m");
        disk.run("ada", &["reserve", "a.rs"]).expect(0);
        disk.run("bob", &["reserve", "bob.rs"]).expect(0);
        disk.run("ada", &["reserve", "bob.rs", "--queue"]).expect(0);
        disk.script("printf '%064d\\n' 5 > clearway/operator.key && chmod 600 clearway/operator.key");
        match leave {
            "no -wal" => disk.script(
                "sqlite3 clearway/scopes/*/store.db 'PRAGMA wal_checkpoint' && rm -f clearway/scopes/*/*-wal",
            ),
            "no -shm" => disk.script("rm clearway/scopes/*/*-shm"),
            _ => String::new(),
        };
        disk.script("mount -o remount,ro .");
        assert_eq!(disk.run("eve", &["check", "a.rs"]).expect(1).value["clear"], false);
        assert_eq!(disk.run("eve", &["leases"]).expect(0).value["leases"].as_array().unwrap().len(), 2);
        assert_eq!(disk.run("eve", &["waits"]).expect(0).value["waits"].as_array().unwrap().len(), 1);
        disk.run("eve", &["status"]).expect(0);
        assert_eq!(disk.run("eve", &["events"]).expect(0).stdout.lines().count(), 7);
        disk.run("auditor", &["audit", "verify"]).expect(0);
        let doctor = disk.run("auditor", &["doctor"]).refused(1, "unhealthy");
        assert!(doctor.stdout.contains("cannot be written"), "{doctor:?}");
        assert!(!doctor.stdout.contains("make room"), "{doctor:?}");
        for arguments in [
            ["reserve", "b.rs"].as_slice(),
            &["release", "--all"],
            &["renew"],
            &["sweep"],
            &["audit", "anchor"],
            &["transfer", "--to", "bob", "--all"],
            &["reserve", "bob.rs", "--wait", "1s"],
            &["wait", "--for", "1s"],
            &["wait", "--cancel"],
        ] {
            disk.run("ada", arguments).refused(69, "store-read-only");
        }
        let mut freeze = disk.arena.command("ada", &["freeze", "--reason", "cutting the release"]);
        freeze.env("CLEARWAY_OPERATOR_KEY", disk.arena.operator_key());
        Reply::of(disk.namespace.enter(freeze)).refused(69, "store-read-only");
        let with = disk.run("ada", &["with", "build", "--", "true"]).expect(125);
        assert!(with.stderr.contains("store-read-only"), "{with:?}");
        disk.script("mount -o remount,rw .");
        disk.run("ada", &["reserve", "b.rs"]).expect(0);
        disk.is_whole();
    }
}

#[test]
fn a_first_reservation_on_a_read_only_file_system_is_refused_by_name_and_reads_find_nothing() {
    let home = home();
    let disk = Mounted::new(&home, "virgin", "1m");
    disk.script("mount -o remount,ro .");
    assert_eq!(disk.run("eve", &["check", "a.rs"]).expect(0).value["clear"], true);
    disk.run("ada", &["reserve", "a.rs"]).refused(69, "store-read-only");
    let doctor = disk.run("ada", &["doctor"]).refused(1, "unhealthy");
    assert!(doctor.stdout.contains("cannot be made"), "{doctor:?}");
}

#[test]
fn a_store_on_a_network_file_system_is_refused_by_name_and_nothing_is_made_there() {
    let home = home();
    let arena = Arena::new(&home, "network");
    for made in ["nothing is there yet", "somebody used it before"] {
        let before = Files::below(arena.state()).without("-shm");
        for arguments in [["reserve", "a.rs"].as_slice(), &["check", "a.rs"], &["leases"]] {
            let reply =
                Reply::of(on_network(arena.command("ada", arguments))).refused(69, "network-file-system");
            let error = &reply.value["error"];
            assert!(error["message"].as_str().unwrap().contains("(nfs)"), "{reply:?}");
            assert!(error["hints"][0].as_str().unwrap().contains("CLEARWAY_STORE="), "{reply:?}");
            assert_eq!(error["retry"]["when"], "never");
        }
        before.assert_same(&Files::below(arena.state()).without("-shm"), made);
        arena.run("ada", &["reserve", "a.rs"]).expect(0);
    }
}
