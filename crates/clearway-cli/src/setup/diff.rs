//! What a change does to a text, line by line.

/// Lines around a change that stay.
const CONTEXT: usize = 2;
/// Lines of both texts multiplied, above which only their common beginning and end are looked for.
const CELLS_MAX: usize = 4_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line<'t> {
    Same(&'t str),
    Old(&'t str),
    New(&'t str),
}

/// The changed lines, marked `-` and `+`, with a few that stay; empty if nothing changes.
pub(super) fn diff(old: &str, new: &str) -> String {
    let lines = compared(&old.lines().collect::<Vec<_>>(), &new.lines().collect::<Vec<_>>());
    let changes: Vec<usize> = lines
        .iter()
        .enumerate()
        .filter(|(_, line)| !matches!(line, Line::Same(_)))
        .map(|(at, _)| at)
        .collect();
    let is_shown = |at: usize| changes.iter().any(|change| change.abs_diff(at) <= CONTEXT);
    let (mut text, mut last) = (String::new(), None);
    for (at, line) in lines.iter().enumerate().filter(|(at, _)| is_shown(*at)) {
        if last.is_some_and(|last| at > last + 1) {
            text.push_str("  …\n");
        }
        last = Some(at);
        let (mark, line) = match line {
            Line::Same(line) => (' ', line),
            Line::Old(line) => ('-', line),
            Line::New(line) => ('+', line),
        };
        text.push_str(format!("{mark} {line}").trim_end());
        text.push('\n');
    }
    text
}

fn compared<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old_middle, new_middle) = (&old_rest[..old_rest.len() - end], &new_rest[..new_rest.len() - end]);
    let same = |lines: &[&'t str]| lines.iter().map(|line| Line::Same(line)).collect::<Vec<_>>();
    let middle = if old_middle.len() * new_middle.len() > CELLS_MAX {
        let gone = old_middle.iter().map(|line| Line::Old(line));
        gone.chain(new_middle.iter().map(|line| Line::New(line))).collect()
    } else {
        longest_common(old_middle, new_middle)
    };
    [same(&old[..start]), middle, same(&old_rest[old_rest.len() - end..])].concat()
}

fn longest_common<'t>(old: &[&'t str], new: &[&'t str]) -> Vec<Line<'t>> {
    let width = new.len() + 1;
    let mut common = vec![0_u32; (old.len() + 1) * width];
    for (row, old) in old.iter().enumerate().rev() {
        for (column, new) in new.iter().enumerate().rev() {
            let at = row * width + column;
            common[at] =
                if old == new { common[at + width + 1] + 1 } else { common[at + width].max(common[at + 1]) };
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    while row < old.len() || column < new.len() {
        let at = row * width + column;
        if row < old.len() && column < new.len() && old[row] == new[column] {
            lines.push(Line::Same(old[row]));
            (row, column) = (row + 1, column + 1);
        } else if row < old.len() && (column == new.len() || common[at + width] >= common[at + 1]) {
            lines.push(Line::Old(old[row]));
            row += 1;
        } else {
            lines.push(Line::New(new[column]));
            column += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::diff;

    #[test]
    fn only_what_changes_is_shown_with_a_little_around_it() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        assert_eq!(diff(old, old), "");
        assert_eq!(diff(old, "a\nb\nc\nd\nE\nf\ng\nh\n"), "  c\n  d\n- e\n+ E\n  f\n  g\n");
        assert_eq!(diff("a\nz\n", "a\nb\nz\n"), "  a\n+ b\n  z\n");
        assert_eq!(diff("", "a\n"), "+ a\n");
        assert_eq!(
            diff("x\na\nb\nc\nd\ne\ny\n", "X\na\nb\nc\nd\ne\nY\n"),
            "- x\n+ X\n  a\n  b\n  …\n  d\n  e\n- y\n+ Y\n"
        );
    }
}
