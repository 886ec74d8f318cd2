//! Which files a patch in the `apply_patch` format touches. The patch is not applied and not checked: whatever looks
//! like a header counts, so that a patch that the client would repair does not slip through.

use clearway_core::shell;
use clearway_kernel::WholeText;
use std::path::{Path, PathBuf};

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

/// The runs of lines that a patch adds, with the file that they are in once it was applied.
pub(crate) fn added(patch: &str) -> Vec<(String, String)> {
    let mut added: Vec<(String, String)> = Vec::new();
    let (mut file, mut is_run) = (String::new(), false);
    for line in patch.lines() {
        let named = HEADERS.iter().find_map(|header| line.trim_start().strip_prefix(header));
        if let Some(named) = named {
            file = named.trim().to_owned();
        }
        let line = line.strip_prefix('+').filter(|_| named.is_none() && !file.is_empty());
        match (line, added.last_mut()) {
            (Some(line), Some((_, run))) if is_run => {
                run.push('\n');
                run.push_str(line);
            }
            (Some(line), _) => added.push((file.clone(), line.to_owned())),
            (None, _) => {}
        }
        is_run = line.is_some();
    }
    added
}

/// The files that a patch adds or deletes, each with what it is to hold: what is there already counts for nothing. One
/// that is deleted and added is written anew.
pub(crate) fn whole(patch: &str) -> Vec<WholeText> {
    let mut whole: Vec<WholeText> = Vec::new();
    let mut is_added = false;
    for line in patch.lines() {
        let header = line.trim_start();
        let (added, deleted) = (header.strip_prefix(ADD), header.strip_prefix(DELETE));
        if let Some(file) = added.or(deleted).map(str::trim).filter(|file| !file.is_empty()) {
            whole.retain(|whole| whole.file != file);
            whole.push(WholeText { file: file.to_owned(), text: String::new() });
            is_added = added.is_some();
        } else if HEADERS.iter().any(|other| header.starts_with(other)) {
            is_added = false;
        } else if let (true, Some(line), Some(last)) = (is_added, line.strip_prefix('+'), whole.last_mut()) {
            last.text.push_str(line);
            last.text.push('\n');
        }
    }
    whole
}

/// The files of a patch that a command hands to `apply_patch`: Codex applies it without calling its own tool for that.
/// They are meant from where the command has gone by then.
pub(crate) fn typed(command: &str) -> Vec<String> {
    let Some((directory, patch)) = handed_over(command) else { return Vec::new() };
    files(patch).iter().map(|file| below(&directory, file)).collect()
}

/// Those of them that are written as a whole.
pub(crate) fn typed_whole(command: &str) -> Vec<WholeText> {
    let Some((directory, patch)) = handed_over(command) else { return Vec::new() };
    let meant = |whole: WholeText| WholeText { file: below(&directory, &whole.file), ..whole };
    self::whole(patch).into_iter().map(meant).collect()
}

/// Where a command has gone when it hands over a patch, and the patch.
fn handed_over(command: &str) -> Option<(PathBuf, &str)> {
    let (before, patch) = command.split_once(BEGIN)?;
    PROGRAMS.iter().any(|program| before.contains(program)).then_some(())?;
    let steps = before.split(['&', ';', '\n']).map(|step| shell::read(step).words);
    Some((steps.filter_map(gone_to).collect(), patch))
}

fn below(directory: &Path, file: &str) -> String {
    directory.join(file).to_string_lossy().into_owned()
}

/// Where a step of a command goes.
fn gone_to(step: Vec<String>) -> Option<String> {
    let mut words = step.into_iter();
    words.next().filter(|word| word == "cd")?;
    words.find(|word| !word.starts_with('-'))
}

const BEGIN: &str = "*** Begin Patch";
const PROGRAMS: [&str; 2] = ["apply_patch", "applypatch"];
const ADD: &str = "*** Add File:";
const DELETE: &str = "*** Delete File:";
const HEADERS: [&str; 4] = [ADD, "*** Update File:", DELETE, "*** Move to:"];

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
    fn added_lines_are_those_of_the_file_that_comes_of_it() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+y\n z\n\
                     *** Add File: c.rs\n+one\n+two\n*** End Patch";
        let owned = |(file, line): (&str, &str)| (file.to_owned(), line.to_owned());
        assert_eq!(added(patch), [("b.rs", "y"), ("c.rs", "one\ntwo")].map(owned));
    }

    #[test]
    fn what_is_added_or_deleted_is_written_as_a_whole() {
        let patch = "*** Begin Patch\n*** Delete File: a.rs\n*** Update File: b.rs\n@@\n-x\n+y\n\
                     *** Delete File: c.rs\n*** Add File: c.rs\n+one\n+\n+two\n*** End Patch";
        let expect = [("a.rs", ""), ("c.rs", "one\n\ntwo\n")]
            .map(|(file, text)| WholeText { file: file.to_owned(), text: text.to_owned() });
        assert_eq!(whole(patch), expect);
        let typed = typed_whole(&format!("cd src && apply_patch <<'EOF'\n{patch}\nEOF"));
        assert_eq!(
            typed.iter().map(|whole| whole.file.as_str()).collect::<Vec<_>>(),
            ["src/a.rs", "src/c.rs"]
        );
        assert_eq!(typed[1].text, expect[1].text);
        assert!(typed_whole(&format!("cat <<EOF\n{patch}")).is_empty());
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
