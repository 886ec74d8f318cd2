//! Whose lines are these: which lines of an uncommitted change were put there by whose tool calls.
//!
//! What a call wrote is remembered as a print of each line, never as its text. A line that no print fits is nobody's; it
//! is never blamed on whoever came next.

use crate::ids::AgentId;
use std::collections::{BTreeMap, BTreeSet};

/// Stands for a line: equal lines have equal prints, whatever blanks they end with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinePrint(pub u64);

impl LinePrint {
    /// The print of a line. It tells lines of one file apart (FNV-1a) and keeps nothing secret.
    pub fn of(line: &str) -> Self {
        let (basis, prime) = (0xcbf2_9ce4_8422_2325_u64, 0x0000_0100_0000_01b3_u64);
        let fold = |print: u64, byte: &u8| (print ^ u64::from(*byte)).wrapping_mul(prime);
        Self(line.trim_end().as_bytes().iter().fold(basis, fold))
    }
}

/// What one tool call put into a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Writing {
    /// Whose call.
    pub author: AgentId,
    /// The lines it wrote.
    pub lines: BTreeSet<LinePrint>,
}

/// The prints of those lines of a file that hold what was put into it; a line counts whole, though only a part of it
/// was written. What is not there any more left no line.
pub fn prints_of(file: &str, put: &[String]) -> BTreeSet<LinePrint> {
    let mut prints = BTreeSet::new();
    for put in put.iter().map(|put| put.trim_matches('\n')).filter(|put| !put.trim().is_empty()) {
        for (start, found) in file.match_indices(put).take(PLACES_MAX) {
            let begin = file[..start].rfind('\n').map_or(0, |at| at + 1);
            let end = start + found.len();
            let end = file[end..].find('\n').map_or(file.len(), |at| end + at);
            prints.extend(file[begin..end].lines().map(LinePrint::of));
        }
    }
    prints
}

/// Places at which the same text is looked for in one file: a word that stands everywhere was not written everywhere.
const PLACES_MAX: usize = 8;

/// The author of each line of a run of added lines, from what is remembered of its file, the oldest first.
///
/// Who wrote a line first wrote it: a file that is written anew as a whole carries the lines of others along. Of a line
/// that several wrote, such as a bracket, the author of the line above is taken if it is one of them.
pub fn authors(added: &[String], writings: &[Writing]) -> Vec<Option<AgentId>> {
    let mut above = None;
    let author = |line: &String| {
        let print = LinePrint::of(line);
        let mut wrote = writings.iter().filter(|writing| writing.lines.contains(&print));
        let first = wrote.clone().next().map(|writing| writing.author);
        let same = wrote.find(|writing| Some(writing.author) == above).map(|writing| writing.author);
        above = same.or(first);
        above
    };
    added.iter().map(author).collect()
}

/// How many lines of each author a text leaves out, of lines and who wrote each. A line that stands anywhere in the text
/// is kept, and blank lines are nobody's loss.
pub fn left_out(lines: &[String], authors: &[Option<AgentId>], text: &str) -> BTreeMap<AgentId, u64> {
    let kept: BTreeSet<LinePrint> = text.lines().map(LinePrint::of).collect();
    let is_lost = |line: &str| !line.trim().is_empty() && !kept.contains(&LinePrint::of(line));
    let mut counts = BTreeMap::new();
    for (line, author) in lines.iter().zip(authors) {
        if let Some(author) = author.filter(|_| is_lost(line)) {
            *counts.entry(author).or_default() += 1;
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent(number: u8) -> AgentId {
        AgentId::parse(&format!("agent00{number}")).unwrap()
    }

    fn writing(author: AgentId, text: &str) -> Writing {
        Writing { author, lines: text.lines().map(LinePrint::of).collect() }
    }

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_line_is_its_writers_and_what_nobody_wrote_is_nobodys() {
        let (ada, bob) = (agent(1), agent(2));
        let writings = [writing(ada, "let a = 1;\n"), writing(bob, "let b = 2;  \n")];
        let found = authors(&lines("let b = 2;\nlet a = 1;\nlet c = 3;"), &writings);
        assert_eq!(found, [Some(bob), Some(ada), None]);
    }

    #[test]
    fn whoever_writes_a_file_anew_carries_the_lines_of_others_along() {
        let (ada, bob) = (agent(1), agent(2));
        let writings = [writing(ada, "one\n"), writing(bob, "one\ntwo\n")];
        assert_eq!(authors(&lines("one\ntwo"), &writings), [Some(ada), Some(bob)]);
    }

    #[test]
    fn a_bracket_belongs_to_the_line_above_it() {
        let (ada, bob) = (agent(1), agent(2));
        let writings = [writing(ada, "fn a() {\n}\n"), writing(bob, "fn b() {\n}\n")];
        let found = authors(&lines("fn b() {\n}\nfn a() {\n}"), &writings);
        assert_eq!(found, [Some(bob), Some(bob), Some(ada), Some(ada)]);
    }

    #[test]
    fn a_part_of_a_line_marks_the_whole_line() {
        let file = "fn main() {\n    run(fast, twice);\n}\n";
        let expect: BTreeSet<LinePrint> = [LinePrint::of("    run(fast, twice);")].into();
        assert_eq!(prints_of(file, &["fast".to_owned()]), expect);
        assert_eq!(prints_of(file, &["gone".to_owned(), "\n".to_owned(), String::new()]), BTreeSet::new());
        assert_eq!(prints_of(file, &[file.to_owned()]).len(), 3);
    }

    #[test]
    fn a_text_leaves_out_what_stands_nowhere_in_it() {
        let (ada, bob) = (agent(1), agent(2));
        let there = lines("one\n\ntwo\nthree\nfour");
        let by = [Some(ada), Some(ada), Some(bob), Some(ada), None];
        assert_eq!(left_out(&there, &by, ""), [(ada, 2), (bob, 1)].into());
        assert_eq!(left_out(&there, &by, "three  \r\nnew\none\n"), [(bob, 1)].into());
        assert_eq!(left_out(&there, &by, "four, one, two\nthree\ntwo\none"), [].into());
    }

    #[test]
    fn blanks_at_the_end_of_a_line_make_no_other_line() {
        assert_eq!(LinePrint::of("a \r"), LinePrint::of("a"));
        assert_ne!(LinePrint::of(" a"), LinePrint::of("a"));
    }
}
