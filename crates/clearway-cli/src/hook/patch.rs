//! Which files a patch in the `apply_patch` format touches. The patch is not applied and not checked: whatever looks like
//! a header counts, so that a patch that the client would repair does not slip through.

use clearway_core::shell;
use std::path::PathBuf;

/// Every file that is added, updated, deleted or moved to, each once, in order.
pub(crate) fn files(patch: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let named = HEADERS.iter().find_map(|header| line.trim_start().strip_prefix(header));
        let Some(file) = named.map(str::trim).filter(|file| !file.is_empty()) else { continue };
        if !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    }
    files
}

/// The files of a patch that a command hands to `apply_patch`: Codex applies it without calling its own tool for that.
/// They are meant from where the command has gone by then.
pub(crate) fn typed(command: &str) -> Vec<String> {
    let Some((before, patch)) = command.split_once(BEGIN) else { return Vec::new() };
    if !PROGRAMS.iter().any(|program| before.contains(program)) {
        return Vec::new();
    }
    let steps = before.split(['&', ';', '\n']).map(|step| shell::read(step).words);
    let directory: PathBuf = steps.filter_map(gone_to).collect();
    files(patch).into_iter().map(|file| directory.join(file).to_string_lossy().into_owned()).collect()
}

/// Where a step of a command goes.
fn gone_to(step: Vec<String>) -> Option<String> {
    let mut words = step.into_iter();
    words.next().filter(|word| word == "cd")?;
    words.find(|word| !word.starts_with('-'))
}

const BEGIN: &str = "*** Begin Patch";
const PROGRAMS: [&str; 2] = ["apply_patch", "applypatch"];
const HEADERS: [&str; 4] = ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_is_named_once() {
        let patch = "*** Begin Patch\n*** Add File: new.rs\n+a\n*** Update File: src/old name.rs\n\
                     *** Move to: src/b.rs\n@@\n-x\n+y\n*** Delete File: gone.rs\n*** Update File: new.rs\n*** End Patch";
        assert_eq!(files(patch), ["new.rs", "src/old name.rs", "src/b.rs", "gone.rs"]);
    }

    #[test]
    fn a_patch_in_a_command_is_meant_from_where_the_command_has_gone() {
        let patch = "*** Begin Patch\n*** Add File: a.rs\n+a\n*** Delete File: /b.rs\n*** End Patch\nEOF";
        for (before, expect) in [
            ("apply_patch <<'EOF'\n", ["a.rs", "/b.rs"]),
            ("cd src && applypatch <<EOF\n", ["src/a.rs", "/b.rs"]),
            ("cd -- src 2>/dev/null && apply_patch <<EOF\n", ["src/a.rs", "/b.rs"]),
            ("cd src; cd 'in ner'\napply_patch <<\"EOF\"\n", ["src/in ner/a.rs", "/b.rs"]),
            ("cd /tmp && cd x && apply_patch '", ["/tmp/x/a.rs", "/b.rs"]),
        ] {
            assert_eq!(typed(&format!("{before}{patch}")), expect, "{before}");
        }
        for other in ["apply_patch", "apply_patch <<EOF\nEOF", &format!("cat > notes <<EOF\n{patch}")] {
            assert!(typed(other).is_empty(), "{other}");
        }
    }

    #[test]
    fn what_only_speaks_of_a_patch_touches_nothing() {
        for text in ["", "*** Begin Patch\n*** End Patch", "*** Add File:", "+*** Add File: a", "+++ b/a.rs"]
        {
            assert!(files(text).is_empty(), "{text}");
        }
    }
}
