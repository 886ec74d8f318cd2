//! The tools of common MCP servers that write files. One that is not listed is no unknown write: it passes, and what it
//! wrote is seen later.

use super::payload::{Tool, text};
use serde_json::Value;

/// What a tool does, by the name its server gave it or by the end of a longer name.
pub(crate) fn of_server(name: &str) -> Option<Tool> {
    let is_named = |known: &str| {
        name.strip_suffix(known).is_some_and(|server| server.is_empty() || server.ends_with('_'))
    };
    TOOLS.iter().find(|(known, _)| is_named(known)).map(|(_, tool)| *tool)
}

const TOOLS: [(&str, Tool); 12] = [
    // The reference file system server.
    ("write_file", Tool::Replaces(&["path", "file_path"])),
    ("edit_file", Tool::Writes(&["path", "file_path"])),
    ("move_file", Tool::Writes(&["source", "destination"])),
    // Serena.
    ("create_text_file", Tool::Replaces(&["relative_path"])),
    ("replace_content", Tool::Writes(&["relative_path"])),
    ("replace_symbol_body", Tool::Writes(&["relative_path"])),
    ("insert_after_symbol", Tool::Writes(&["relative_path"])),
    ("insert_before_symbol", Tool::Writes(&["relative_path"])),
    // Desktop Commander.
    ("edit_block", Tool::Writes(&["file_path"])),
    // The editor tool of several servers.
    ("str_replace_editor", Tool::Editor(&["path"])),
    ("create_file", Tool::Replaces(&["path", "file_path", "filePath"])),
    ("apply_patch", Tool::Patch(&["patch", "input", "patchText", "command"])),
];

/// Where their inputs hold what goes into a file.
pub(super) const PUT: [&str; 5] = ["new_string", "content", "new_str", "file_text", "newText"];
/// Where they hold all of it.
pub(super) const WHOLE: [&str; 2] = ["content", "file_text"];
/// A list of edits in one file, each with what it puts there.
pub(super) const EDITS: &str = "edits";

/// Whether a tool that writes a file is told to add to it: Desktop Commander's may be.
pub(super) fn adds(input: &Value) -> bool {
    text(input, &["mode"]) == Some("append")
}

/// Whether the editor tool is told to look at a file only.
pub(super) fn editor_looks(input: &Value) -> bool {
    editor_command(input) == Some("view")
}

/// Whether it is told to write all of a file.
pub(super) fn editor_creates(input: &Value) -> bool {
    editor_command(input) == Some("create")
}

fn editor_command(input: &Value) -> Option<&str> {
    text(input, &["command"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_with_and_without_its_server() {
        assert_eq!(of_server("move_file"), Some(Tool::Writes(&["source", "destination"])));
        assert_eq!(of_server("files_write_file"), Some(Tool::Replaces(&["path", "file_path"])));
        assert_eq!(of_server("overwrite_file"), None);
        assert_eq!(of_server("read_file"), None);
    }
}
