//! The commands of the runbook work as they stand.

use crate::{app, home};

/// Every command line of the page that needs nothing but a repository with a lease in it, as a person at a terminal types
/// it.
#[test]
fn every_command_of_the_runbook_works_when_pasted() {
    let page = format!("{}/../../docs/runbook.md", env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(page).expect("the runbook");
    let mut ran = 0;
    for block in page.split("```sh\n").skip(1) {
        let script = block.split("```").next().unwrap_or_default();
        let home = home();
        let repository = app(&home);
        repository.grant("otter", &["src/a.rs"]);
        let negotiation = repository.agent("ada").ok(&["ask", "src/a.rs", "the release is due"]);
        let id = negotiation["negotiations"][0]["id"].as_str().expect("an id").to_owned();
        let key = home.operator_key();
        let script = script.replace("k3j9x2ab", &id);
        let output = home
            .shell(repository.path(), &format!("set -e\n{script}"))
            .env("CLEARWAY_AGENT", "ada")
            .env("CLEARWAY_OPERATOR_KEY", key)
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{script}\n{output:?}");
        ran += 1;
    }
    assert!(ran >= 6, "{ran}");
}
