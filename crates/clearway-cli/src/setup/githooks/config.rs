//! Hooks in a repository's own configuration, which git has since 2.54: `core.hooksPath` does not lead it past them, and
//! whatever stands in a directory of hooks is left alone.
//!
//! What a text becomes is a pure function of it. Sections whose name begins with ours are ours, whoever added to them.

use super::super::text::Removed;
use super::script::Program;

/// What the name of every section of ours begins with.
const FRONT: &str = "clearway-";

/// The section of a hook.
pub(super) fn section(name: &str) -> String {
    format!("{FRONT}{name}")
}

/// The configuration with exactly these hooks of ours, at its end.
pub(super) fn install(text: &str, names: &[&str], program: Program<'_>) -> String {
    let wanted: String = names.iter().map(|name| written(name, program)).collect();
    let (own, mut bare) = parted(text);
    // What is as it should be stays where it is.
    if own == wanted {
        return text.to_owned();
    }
    if !bare.is_empty() && !bare.ends_with('\n') {
        bare.push('\n');
    }
    bare + &wanted
}

/// The configuration without ours.
pub(super) fn without(text: &str) -> Removed {
    let (_, text) = parted(text);
    Removed { is_hollow: text.is_empty(), text }
}

/// The hooks that a configuration has of ours.
pub(super) fn installed(text: &str) -> Vec<String> {
    text.lines().filter_map(own_section).collect()
}

/// Whether somebody switched one of them off.
pub(super) fn is_switched_off(text: &str) -> bool {
    let is_off = |line: &str| {
        let line = line.trim().to_ascii_lowercase().replace(' ', "");
        ["enabled=false", "enabled=no", "enabled=off", "enabled=0"].contains(&line.as_str())
    };
    parted(text).0.lines().any(is_off)
}

fn written(name: &str, program: Program<'_>) -> String {
    let command = program.command(name).replace('\\', "\\\\").replace('"', "\\\"");
    format!("[hook \"{}\"]\n\tevent = {name}\n\tcommand = \"{command}\"\n", section(name))
}

/// What is ours, and the rest.
fn parted(text: &str) -> (String, String) {
    let (mut is_ours, mut own, mut rest) = (false, String::new(), String::new());
    for line in text.split_inclusive('\n') {
        if line.trim_start().starts_with('[') {
            is_ours = own_section(line).is_some();
        }
        let part = if is_ours { &mut own } else { &mut rest };
        part.push_str(line);
    }
    (own, rest)
}

fn own_section(line: &str) -> Option<String> {
    let name = line.trim().strip_prefix("[hook \"")?.strip_suffix("\"]")?;
    name.strip_prefix(FRONT).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: Program<'static> = Program { binary: "/a\"b/clearway", unattended: false };

    #[test]
    fn sections_come_and_go_and_everything_else_stays() {
        for before in [
            "",
            "[core]\n\tbare = false\n",
            "[core]\n\tbare = false",
            "[hook \"lint\"]\n\tevent = pre-commit\n",
        ] {
            let with = install(before, &["post-commit", "pre-push"], PROGRAM);
            assert_eq!(installed(&with), ["post-commit", "pre-push"]);
            assert_eq!(install(&with, &["post-commit", "pre-push"], PROGRAM), with, "again");
            let newline = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
            assert_eq!(without(&with).text, format!("{before}{newline}"));
            let fewer = install(&with, &["pre-push"], PROGRAM);
            assert_eq!(installed(&fewer), ["pre-push"]);
        }
        let later = install("[core]\n", &["pre-push"], PROGRAM) + "\tenabled = false\n[user]\n\tname = T\n";
        assert_eq!(without(&later).text, "[core]\n[user]\n\tname = T\n");
        assert!(is_switched_off(&later));
        let mended = install(&later, &["pre-push"], PROGRAM);
        assert!(
            !is_switched_off(&mended) && !mended.contains("enabled") && mended.contains("name = T"),
            "{mended}"
        );
    }
}
