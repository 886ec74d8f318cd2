//! A second reading of the language, as plain as possible and sharing no code with the first: braces are
//! expanded as text, paths are matched by backtracking.

/// What a pattern without escapes and classes stands for: lists of segments, or nothing if it is refused.
pub(crate) fn alternatives(text: &str) -> Option<Vec<Vec<String>>> {
    expand(text).iter().map(|text| segments(text)).collect()
}

/// Whether any alternative matches a path.
pub(crate) fn matches(alternatives: &[Vec<String>], path: &str) -> bool {
    let path: Vec<&str> = path.split('/').collect();
    alternatives.iter().any(|segments| path_matches(segments, &path))
}

/// Every path up to a number of characters over an alphabet, without empty segments.
pub(crate) fn paths(alphabet: &[char], scalars_max: usize) -> Vec<String> {
    let mut all = Vec::new();
    let mut last = vec![String::new()];
    for _ in 0..scalars_max {
        let longer =
            last.iter().flat_map(|text| alphabet.iter().map(move |scalar| format!("{text}{scalar}")));
        last = longer.filter(|text| !text.starts_with('/') && !text.contains("//")).collect();
        all.extend(last.iter().filter(|text| !text.ends_with('/')).cloned());
    }
    all
}

fn expand(text: &str) -> Vec<String> {
    let Some(open) = text.find('{') else { return vec![text.to_owned()] };
    let close = open + text[open..].find('}').expect("a closed brace");
    let branches = text[open + 1..close].split(',');
    branches.flat_map(|branch| expand(&format!("{}{branch}{}", &text[..open], &text[close + 1..]))).collect()
}

fn segments(text: &str) -> Option<Vec<String>> {
    if text.starts_with('/') {
        return None;
    }
    let mut segments: Vec<String> = text.split('/').filter(|s| !s.is_empty()).map(str::to_owned).collect();
    if text.ends_with('/') {
        segments.push("**".to_owned());
    }
    (!segments.is_empty()).then_some(segments)
}

fn path_matches(segments: &[String], path: &[&str]) -> bool {
    match segments.split_first() {
        None => path.is_empty(),
        Some((globstar, rest)) if globstar == "**" => {
            (0..=path.len()).any(|skip| path_matches(rest, &path[skip..]))
        }
        Some((segment, rest)) => path
            .split_first()
            .is_some_and(|(name, path)| name_matches(segment, name) && path_matches(rest, path)),
    }
}

fn name_matches(segment: &str, name: &str) -> bool {
    let Some(first) = segment.chars().next() else { return name.is_empty() };
    let rest = &segment[first.len_utf8()..];
    let mut scalars = name.chars();
    match (first, scalars.next()) {
        ('*', None) => name_matches(rest, name),
        ('*', Some(_)) => name_matches(rest, name) || name_matches(segment, scalars.as_str()),
        (_, None) => false,
        (first, Some(scalar)) => (first == '?' || first == scalar) && name_matches(rest, scalars.as_str()),
    }
}
