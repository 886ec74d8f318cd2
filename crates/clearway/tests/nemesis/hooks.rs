//! Hooks over a store that cannot be written, or in a kernel that fails inside: the policy's answer in each client's
//! own words, one notice for the whole outage, and one when it is over.

use crate::arena::{Reply, home};
use crate::disks::Mounted;
use clearway_testkit::Home;
use clearway_testkit::faults::{Fault, Point, struck};
use serde_json::Value;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Every client, with what it sends before an edit and after it.
const CLIENTS: [(&str, &str, &str); 5] = [
    ("claude", "edit", "post-edit"),
    ("codex", "apply-patch-update", "post-patch"),
    ("gemini", "replace", "after-tool"),
    ("cursor", "write", "post-write"),
    ("copilot", "edit", "post-edit"),
];

/// How often an agent edits in each part of a story.
const EDITS: usize = 3;

/// The words and the payload of a call.
fn fixture(client: &str, name: &str, root: &Path) -> (Vec<String>, String) {
    let path = format!("{}/tests/fixtures/hooks/{client}/{name}.json", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let fixture: Value = serde_json::from_str(&text).expect("JSON");
    let more = fixture["arguments"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let words = ["hook", client].into_iter().chain(more).map(str::to_owned).collect();
    (words, fixture["payload"].to_string().replace("$ROOT", &root.display().to_string()))
}

fn answered(mut command: Command, payload: &str) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    child.stdin.take().expect("a pipe").write_all(payload.as_bytes()).expect("a reader");
    child.wait_with_output().expect("it ends")
}

/// What was said, if it was one document.
fn document(output: &Output) -> Option<String> {
    let text = String::from_utf8(output.stdout.clone()).expect("text");
    if text.is_empty() {
        return None;
    }
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {output:?}"));
    assert!(value.is_object(), "{output:?}");
    Some(text)
}

/// Lets what is remembered of outages grow old.
fn grow_old(home: &Home) {
    for entry in std::fs::read_dir(home.path().join("run/clearway")).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("outage-")) {
            let text = std::fs::read_to_string(&path).expect("text");
            let (mark, rest) = text.split_once('\n').expect("lines");
            let (boot, _) = mark.rsplit_once(' ').expect("a boot and an instant");
            std::fs::write(&path, format!("{boot} 0\n{rest}")).expect("a file");
        }
    }
}

impl Mounted<'_> {
    fn hook(&self, client: &str, name: &str) -> Output {
        let (words, payload) = fixture(client, name, self.arena.directory());
        answered(self.namespace.enter(self.arena.bare(&words)), &payload)
    }

    /// The same without the random bytes that the kernel asks for. The first are asked for by the allocator, which can
    /// do without.
    fn failing_inside(&self, client: &str, name: &str) -> Output {
        let (words, payload) = fixture(client, name, self.arena.directory());
        let point = Point { call: "getrandom".to_owned(), nth: 2, shown: String::new() };
        let command = struck(self.arena.bare(&words), &point, Fault::Error("ENOSYS"));
        answered(self.namespace.enter(command), &payload)
    }

    /// Everything a client is told while its agent edits; nothing of it keeps the agent from that.
    fn told(&self, (client, before, after): (&str, &str, &str)) -> Vec<String> {
        let calls = [before, after].repeat(EDITS);
        let outputs = calls.iter().map(|name| self.hook(client, name));
        let heard = outputs.filter_map(|output| {
            assert!(output.status.success() && output.stderr.is_empty(), "{client}: {output:?}");
            document(&output)
        });
        heard.collect()
    }

    /// No room for anything more.
    fn overflow(&self) {
        self.run("ada", &["reserve", "a.rs"]).expect(0);
        self.fill();
        let is_full = (0..crate::disks::ATTEMPTS_MAX).any(|number| {
            let Reply { code, .. } = self.run("ada", &["reserve", &format!("more-{number}.rs")]);
            code == 69
        });
        assert!(is_full, "the disk never became full");
    }
}

#[test]
fn on_a_full_disk_edits_pass_with_one_word_and_one_more_when_there_is_room_again() {
    let home = home();
    for client in CLIENTS {
        let disk = Mounted::new(&home, client.0, "1m");
        disk.overflow();
        let mut said = disk.told(client);
        grow_old(&home);
        said.extend(disk.told(client));
        let [notice] = said.as_slice() else { panic!("not one notice for {}: {said:?}", client.0) };
        assert!(notice.contains("Edits are not checked by Clearway for now"), "{notice}");
        disk.script("rm filler");
        grow_old(&home);
        let said = disk.told(client);
        let [notice] = said.as_slice() else { panic!("not one notice for {}: {said:?}", client.0) };
        assert!(notice.contains("Clearway works again"), "{notice}");
    }
}

#[test]
fn on_a_full_disk_nothing_is_edited_where_nobody_watches() {
    let home = home();
    home.user_config("posture = \"unattended\"\n");
    for (client, before, after) in CLIENTS {
        let disk = Mounted::new(&home, client, "1m");
        disk.overflow();
        for _ in 0..EDITS {
            let output = disk.hook(client, before);
            let said = document(&output).unwrap_or_default();
            assert_eq!(output.status.code(), Some(2), "{client}: {output:?}");
            assert!(said.contains("deny") && said.contains("Trying again does not help"), "{client}: {said}");
            assert_eq!(document(&disk.hook(client, after)), None, "{client}");
        }
    }
}

/// A kernel without random bytes panics: nothing it could do would be right.
#[test]
fn a_kernel_that_fails_inside_lets_edits_pass_with_one_word() {
    let home = home();
    for (client, before, after) in CLIENTS {
        let disk = Mounted::new(&home, client, "2m");
        disk.run("ada", &["reserve", "a.rs"]).expect(0);
        let edits = (0..EDITS).flat_map(|_| [disk.failing_inside(client, before), disk.hook(client, after)]);
        let said: Vec<String> = edits
            .filter_map(|output| {
                assert!(output.status.success() && output.stderr.is_empty(), "{client}: {output:?}");
                document(&output)
            })
            .collect();
        let [notice] = said.as_slice() else { panic!("not one notice for {client}: {said:?}") };
        assert!(notice.contains("clearway failed inside"), "{notice}");
    }
}
