//! Whether a claim reaches further than anybody takes by accident: over the whole tree, or over more tracked files
//! than a limit. It knows no tree; whoever asks brings the files, and only where the patterns alone do not tell.

use crate::command::Want;
use crate::duration;
use crate::failure::Failure;
use crate::limits::BROAD_MS_MAX;
use crate::path::CanonicalPath;
use crate::pattern::Pattern;
use crate::shell;
use crate::slug::Slug;
use crate::target::Target;
use crate::text::printable;
use std::time::Duration;

/// The patterns of a claim that may reach over many files.
#[derive(Clone, Debug)]
pub struct Breadth<'a>(Vec<&'a Pattern>);

impl<'a> Breadth<'a> {
    /// Of a request. A literal path reaches over one file.
    pub fn of(wants: &'a [Want]) -> Self {
        let wide = wants.iter().filter_map(|want| match &want.target {
            Target::Path(pattern) if pattern.as_literal().is_none() => Some(pattern),
            _ => None,
        });
        Self(wide.collect())
    }

    /// What the patterns alone tell; `None` if it takes the files.
    pub fn known(&self) -> Option<bool> {
        let everything = Pattern::subtree(&CanonicalPath::root());
        match self.0.as_slice() {
            [] => Some(false),
            wide => wide.iter().any(|pattern| pattern.contains(&everything)).then_some(true),
        }
    }

    /// Whether more of these files are covered than the limit allows.
    pub fn covers_more_than(&self, limit: u64, files: impl Iterator<Item = CanonicalPath>) -> bool {
        let covered = files.filter(|path| self.0.iter().any(|pattern| pattern.matches(path)));
        covered.count() as u64 > limit
    }
}

/// The refusal of a broad claim that does not say it is meant.
pub fn too_broad(targets: &[String], limit: u64) -> Failure {
    let shown = targets.iter().map(|target| printable(target)).collect::<Vec<_>>().join(" ");
    let words = targets.iter().map(|target| shell::word(target)).collect::<Vec<_>>().join(" ");
    let most = duration::display(Duration::from_millis(BROAD_MS_MAX));
    let message = format!("{shown} reaches over the whole tree or more than {limit} tracked files");
    Failure::new(Slug::ClaimTooBroad, message)
        .hint(format!("claim it all the same, for {most} at most: clearway reserve --broad {words}"))
        .hint("or claim the part you will change")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Fold;

    fn wants(patterns: &[&str]) -> Vec<Want> {
        let want = |text: &&str| Want {
            target: Target::Path(Pattern::parse(text, Fold::Exact).unwrap()),
            capacity: 1,
        };
        patterns.iter().map(want).collect()
    }

    #[test]
    fn the_whole_tree_is_broad_and_single_files_are_not_whatever_the_tree_holds() {
        assert_eq!(Breadth::of(&wants(&["a", "b/c"])).known(), Some(false));
        for spelling in ["**", "{**,a}"] {
            assert_eq!(Breadth::of(&wants(&["a", spelling])).known(), Some(true), "{spelling}");
        }
        assert_eq!(Breadth::of(&wants(&["src/**"])).known(), None);
    }

    #[test]
    fn otherwise_the_files_covered_are_counted_once_each() {
        let files = ["src/a", "src/b", "docs/c"].map(|file| CanonicalPath::parse(file, Fold::Exact).unwrap());
        let (wants, files) = (wants(&["src/**", "s*/a"]), || files.iter().cloned());
        assert!(Breadth::of(&wants).covers_more_than(1, files()));
        assert!(!Breadth::of(&wants).covers_more_than(2, files()));
    }
}
