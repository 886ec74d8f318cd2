//! The little of Markdown that the tests read: tables, code spans, links.

/// The rows of the first table whose header begins with `heading`, each as its cells.
pub fn table(document: &str, heading: &str) -> Vec<Vec<String>> {
    let mut lines =
        document.lines().skip_while(|line| cells(line).first().is_none_or(|cell| cell != heading));
    lines.next();
    lines.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect()
}

/// The code spans of a text.
pub fn code_spans(text: &str) -> Vec<String> {
    text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

/// The targets of the links of a document, fenced code apart.
pub fn links(document: &str) -> Vec<String> {
    let mut fenced = false;
    let mut found = Vec::new();
    for line in document.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            found.extend(
                line.split("](").skip(1).filter_map(|rest| rest.split(')').next()).map(str::to_owned),
            );
        }
    }
    found
}

fn cells(line: &str) -> Vec<String> {
    match line.trim().strip_prefix('|').and_then(|line| line.strip_suffix('|')) {
        Some(inner) => inner.split('|').map(|cell| cell.trim().to_owned()).collect(),
        None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_right_table_is_read_to_its_end() {
        let document = "| a | b |\n|---|---|\n| x | y |\n\ntext\n\n| crate | c |\n|---|---|\n| `p` | `q`, `r` |\n| `s` | |\n\n| t | u |\n";
        let rows = table(document, "crate");
        assert_eq!(
            rows,
            vec![vec!["`p`".to_owned(), "`q`, `r`".to_owned()], vec!["`s`".to_owned(), String::new()]]
        );
        assert_eq!(code_spans(&rows[0][1]), ["q", "r"]);
    }

    #[test]
    fn links_are_found_outside_of_code() {
        assert_eq!(links("see [a](b.md) and [c](d.md#e)\n```\n[x](y)\n```\n"), ["b.md", "d.md#e"]);
    }
}
