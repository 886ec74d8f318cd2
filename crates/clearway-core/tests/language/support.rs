//! Reads the corpus format described in `tests/corpus/README.md`.

use clearway_core::path::Fold;

/// The cases of a corpus with their line numbers, columns decoded.
pub(crate) fn cases(corpus: &str) -> Vec<(usize, Vec<String>)> {
    let is_case = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
    let lines = corpus.lines().enumerate().filter(|(_, line)| is_case(line));
    lines
        .map(|(index, line)| (index + 1, line.split('|').map(|column| decode(column.trim())).collect()))
        .collect()
}

pub(crate) fn fold(column: &str) -> Fold {
    match column {
        "exact" => Fold::Exact,
        "fold" => Fold::Insensitive,
        other => panic!("unknown folding {other:?}"),
    }
}

pub(crate) fn yes(column: &str) -> bool {
    match column {
        "yes" => true,
        "no" => false,
        other => panic!("neither yes nor no: {other:?}"),
    }
}

fn decode(column: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = column;
    while let Some((plain, code)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        rest = if let Some(repeat) = code.strip_prefix('(') {
            let (repeat, rest) = repeat.split_once(')').expect("a closed repetition");
            let (times, text) = repeat.split_once(':').expect("a repetition with a count");
            bytes.extend(text.repeat(times.parse().expect("a count")).bytes());
            rest
        } else {
            bytes.push(u8::from_str_radix(&code[..2], 16).expect("two hexadecimal digits"));
            &code[2..]
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).expect("UTF-8")
}
