//! The longest files and functions, for looking at. It lists; it does not police.

use crate::root;
use std::path::{Path, PathBuf};

const SHOWN: usize = 10;

/// Prints both lists.
pub(crate) fn run() -> Result<(), String> {
    let mut files = Vec::new();
    for directory in ["crates", "testing", "xtask", "fuzz/fuzz_targets"] {
        collect(&root().join(directory), &mut files)?;
    }
    let mut lengths = Vec::new();
    let mut functions = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = file.strip_prefix(root()).unwrap_or(file).display().to_string();
        lengths.push((text.lines().count(), name.clone()));
        functions.extend(
            functions_of(&text).into_iter().map(|(lines, function)| (lines, format!("{name}: {function}"))),
        );
    }
    print("files", lengths);
    print("functions", functions);
    Ok(())
}

fn print(what: &str, mut entries: Vec<(usize, String)>) {
    entries.sort_by(|left, right| right.cmp(left));
    println!("the longest {what} of {}, in lines:", entries.len());
    entries.iter().take(SHOWN).for_each(|(lines, name)| println!("{lines:>6}  {name}"));
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let entries =
        std::fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    for path in entries.filter_map(|entry| entry.ok().map(|entry| entry.path())) {
        if path.is_dir() && path.file_name().is_some_and(|name| name != "target") {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Functions with their lengths. Formatted code closes a function at the indentation it began at, which is all the
/// parsing a list needs.
fn functions_of(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let starts = lines.iter().enumerate().filter_map(|(index, line)| Some((index, function_name(line)?)));
    starts.filter_map(|(index, name)| Some((length_of(&lines[index..])?, name))).collect()
}

/// How many lines the function has that begins with the first; `None` if it has no body.
fn length_of(lines: &[&str]) -> Option<usize> {
    let signature = lines.iter().position(|line| line.ends_with(['{', '}', ';']))?;
    match lines[signature] {
        line if line.ends_with('{') => {
            let indent: String = lines[0].chars().take_while(|c| *c == ' ').collect();
            let end = format!("{indent}}}");
            lines.iter().position(|line| *line == end).map(|index| index + 1)
        }
        line if line.ends_with('}') => Some(signature + 1),
        _ => None,
    }
}

fn function_name(line: &str) -> Option<String> {
    let (before, after) = line.split_once("fn ")?;
    let is_item =
        before.split_whitespace().all(|word| matches!(word, "const" | "async") || word.starts_with("pub"));
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (is_item && !name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_measured_to_the_brace_that_closes_them() {
        let text = "pub fn a() {\n    b();\n}\n\nimpl X {\n    fn c(&self) -> u8 {\n        if x {\n        }\n        1\n    }\n    fn d() {}\n    fn f();\n}\n// fn e\n";
        let expect = [(3, "a"), (5, "c"), (1, "d")].map(|(lines, name)| (lines, name.to_owned()));
        assert_eq!(functions_of(text), expect);
    }
}
