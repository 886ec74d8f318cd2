//! Path classes: which paths are never leased, which are shared by everybody, which everybody touches.
//!
//! The defaults are one table; configuration adds rules, it removes none. Whether git ignores a path is
//! another question. Nothing here decides what a class means for a lease.

use super::{CanonicalPath, Fold};
use crate::pattern::{Pattern, PatternError};

/// How a path takes part in leasing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PathClass {
    /// Leased, checked and reported as usual.
    #[default]
    Plain,
    /// Touched by nearly every change: a lease ends with the tool call.
    Hot,
    /// Written by tools for everybody: no lease, a short mutex per call.
    Common,
    /// Never leased, reported or checked.
    Ignored,
}

impl PathClass {
    /// The word used in configuration and output.
    pub fn name(self) -> &'static str {
        match self {
            PathClass::Plain => "plain",
            PathClass::Hot => "hot",
            PathClass::Common => "common",
            PathClass::Ignored => "ignored",
        }
    }
}

impl PathClass {
    /// The patterns that put a path into this class everywhere.
    pub fn defaults(self) -> impl Iterator<Item = &'static str> + use<> {
        DEFAULTS.iter().filter(move |(class, _)| *class == self).map(|(_, pattern)| *pattern)
    }
}

/// Pattern texts that configuration adds to the defaults, relative to the scope root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassLists {
    pub ignored: Vec<String>,
    pub common: Vec<String>,
    pub hot: Vec<String>,
}

/// A given class pattern that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("class pattern `{pattern}` of `{}` is invalid", class.name())]
pub struct ClassError {
    pub class: PathClass,
    pub pattern: String,
    pub source: PatternError,
}

/// The rules of a scope: the defaults, and what configuration adds to them.
#[derive(Clone, Debug)]
pub struct Classes {
    given: Vec<(PathClass, Pattern)>,
    fold: Fold,
}

impl Classes {
    /// The defaults and the given lists.
    pub fn new(extra: ClassLists, fold: Fold) -> Result<Classes, ClassError> {
        let ClassLists { ignored, common, hot } = extra;
        let mut given = Vec::new();
        for (class, texts) in
            [(PathClass::Ignored, ignored), (PathClass::Common, common), (PathClass::Hot, hot)]
        {
            for text in texts {
                match Pattern::parse(&text, fold) {
                    Ok(pattern) => given.push((class, pattern)),
                    Err(source) => return Err(ClassError { class, pattern: text, source }),
                }
            }
        }
        Ok(Classes { given, fold })
    }

    /// The class of a path that git does not ignore. Ignored wins over Common, Common over Hot: a lock
    /// file someone declares hot stays common, a temporary copy of it is ignored.
    pub fn classify(&self, path: &CanonicalPath) -> PathClass {
        let segments: Vec<&str> = path.segments().collect();
        let is_of = |class: &PathClass| {
            let mut given = self.given.iter().filter(|(of, _)| of == class);
            given.any(|(_, pattern)| pattern.matches_split(path, &segments))
                || class.defaults().any(|text| self.default_matches(text, path, &segments))
        };
        [PathClass::Ignored, PathClass::Common, PathClass::Hot].into_iter().find(is_of).unwrap_or_default()
    }

    /// A default is read only where it may match: reading all of them was a fifth of what a hook did.
    fn default_matches(&self, text: &str, path: &CanonicalPath, segments: &[&str]) -> bool {
        let may_match = self.fold == Fold::Insensitive || has_pieces_of(text, path.as_str());
        may_match
            && Pattern::parse(text, self.fold).is_ok_and(|pattern| pattern.matches_split(path, segments))
    }
}

/// Whether a path contains what every match of a default contains: each piece between wildcards, and of braces one of
/// the alternatives.
fn has_pieces_of(text: &str, path: &str) -> bool {
    let has = |piece: &str| path.contains(piece.trim_matches('/'));
    let mut rest = text;
    while let Some(at) = rest.find(['*', '?', '{']) {
        let (piece, tail) = rest.split_at(at);
        let (is_there, after) = match tail.strip_prefix('{').and_then(|inside| inside.split_once('}')) {
            Some((alternatives, after)) => (alternatives.split(',').any(has), after),
            None => (true, &tail[1..]),
        };
        if !has(piece) || !is_there {
            return false;
        }
        rest = after;
    }
    has(rest)
}

/// The rules every scope starts with.
const DEFAULTS: &[(PathClass, &str)] = &[
    (PathClass::Ignored, "**/*{~,.swp,.swo,.swx,.tmp,.temp,.bak,.orig,.rej}"),
    (PathClass::Ignored, "**/.#*"),
    (PathClass::Ignored, "**/#*#"),
    (PathClass::Ignored, "**/.*.un~"),
    (PathClass::Ignored, "**/4913"),
    (PathClass::Ignored, "**/{.DS_Store,Thumbs.db,desktop.ini}"),
    (PathClass::Ignored, "**/.nfs????????????????????????"),
    (PathClass::Common, "**/{Cargo,poetry,uv,pdm,Gemfile,composer,flake,mix,pubspec,bun,deno,Podfile}.lock"),
    (PathClass::Common, "**/{package-lock.json,npm-shrinkwrap.json,pnpm-lock.yaml,yarn.lock,bun.lockb}"),
    (
        PathClass::Common,
        "**/{go.sum,go.work.sum,Pipfile.lock,Package.resolved,packages.lock.json,gradle.lockfile}",
    ),
    (PathClass::Common, "**/__snapshots__/**"),
    (PathClass::Common, "**/*.snap"),
    (PathClass::Hot, "**/mod.rs"),
    (PathClass::Hot, "**/index.{ts,tsx,js,jsx,mjs}"),
    (PathClass::Hot, "**/__init__.py"),
    (PathClass::Hot, "**/routes.*"),
    (PathClass::Hot, "**/CHANGELOG*"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn check(classes: &Classes, text: &str, expect: PathClass) {
        let path = CanonicalPath::parse(text, Fold::Exact).expect("a valid path");
        assert_eq!(classes.classify(&path), expect, "{text}");
    }

    #[test]
    fn the_defaults_are_readable_under_both_foldings() {
        for (_, text) in DEFAULTS {
            for fold in [Fold::Exact, Fold::Insensitive] {
                assert!(Pattern::parse(text, fold).is_ok(), "{text}");
            }
        }
    }

    /// Paths that a default matches: each of its alternatives, at the root and below, its wildcards empty and filled.
    fn examples(text: &str) -> Vec<String> {
        let (front, alternatives, back) = match text.split_once('{') {
            Some((front, rest)) => {
                let (alternatives, back) = rest.split_once('}').expect("closed braces");
                (front, alternatives, back)
            }
            None => (text, "", ""),
        };
        let written = alternatives.split(',').map(|one| format!("{front}{one}{back}"));
        let filled = |text: String| {
            [("", "", "z"), ("deep/er/", "name", "q")].map(|(directories, run, one)| {
                text.replace("**/", directories).replace("/**", "/in/it").replace('*', run).replace('?', one)
            })
        };
        written.flat_map(filled).collect()
    }

    #[test]
    fn what_a_default_matches_has_its_pieces() {
        for (_, text) in DEFAULTS {
            let pattern = Pattern::parse(text, Fold::Exact).expect("a readable default");
            for example in examples(text) {
                let path = CanonicalPath::parse(&example, Fold::Exact).expect("a valid path");
                assert!(pattern.matches(&path), "{text} matches {example}");
                assert!(has_pieces_of(text, &example), "{text} is read for {example}");
            }
        }
        assert!(!has_pieces_of("**/mod.rs", "src/lib.rs"), "and for nothing without them");
        assert!(!has_pieces_of("**/{a,b}.lock", "c.lock"));
    }

    #[test]
    fn the_defaults_sort_well_known_files() {
        let classes = Classes::new(ClassLists::default(), Fold::Exact).expect("readable defaults");
        for text in ["a.swp", "src/.a.rs.swp", "src/a.rs~", "src/.#a.rs", ".DS_Store", "x/y.tmp", "#a.rs#"] {
            check(&classes, text, PathClass::Ignored);
        }
        for text in
            ["Cargo.lock", "web/pnpm-lock.yaml", "go.sum", "a/__snapshots__/b/c.txt", "t/x.snap", "bun.lock"]
        {
            check(&classes, text, PathClass::Common);
        }
        for text in
            ["src/mod.rs", "web/index.tsx", "pkg/__init__.py", "web/routes.ts", "CHANGELOG.md", "CHANGELOG"]
        {
            check(&classes, text, PathClass::Hot);
        }
        for text in
            ["src/lib.rs", "src/main.rs", "mod.rs.txt", "cargo.lock", "src/index.html", "swp", "README.md"]
        {
            check(&classes, text, PathClass::Plain);
        }
    }

    #[test]
    fn given_rules_add_to_the_defaults_and_the_stronger_class_wins() {
        let extra = ClassLists {
            ignored: vec!["build/".to_owned()],
            common: vec!["gen/**/*.rs".to_owned()],
            hot: vec!["Cargo.lock".to_owned(), "src/registry.rs".to_owned()],
        };
        let classes = Classes::new(extra, Fold::Exact).expect("readable lists");
        check(&classes, "build/x/y.rs", PathClass::Ignored);
        check(&classes, "gen/a.rs", PathClass::Common);
        check(&classes, "gen/mod.rs", PathClass::Common);
        check(&classes, "gen/mod.rs~", PathClass::Ignored);
        check(&classes, "Cargo.lock", PathClass::Common);
        check(&classes, "src/registry.rs", PathClass::Hot);
    }

    #[test]
    fn an_unreadable_given_rule_is_named() {
        let extra = ClassLists { hot: vec!["a[".to_owned()], ..ClassLists::default() };
        let error = Classes::new(extra, Fold::Exact).expect_err("an unclosed class");
        assert_eq!((error.class, error.pattern.as_str()), (PathClass::Hot, "a["));
    }

    #[test]
    fn a_folding_scope_classifies_any_case() {
        let classes = Classes::new(ClassLists::default(), Fold::Insensitive).expect("readable defaults");
        let path = CanonicalPath::parse("CARGO.LOCK", Fold::Insensitive).expect("a valid path");
        assert_eq!(classes.classify(&path), PathClass::Common);
    }
}
