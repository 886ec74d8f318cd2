//! SPDX expressions, as far as crates use them: `AND`, `OR`, parentheses, `WITH`, and the old `/` for `OR`.

use std::collections::BTreeSet;

/// Whether an expression can be satisfied with licences of the list alone. `WITH` binds an exception to its licence:
/// the list has to name both as one.
pub fn is_satisfied(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let mut words = Words(words(expression).into_iter().rev().collect());
    let satisfied = words.any_of(allowed);
    satisfied && words.0.is_empty()
}

fn words(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// The words still to be read, the next one last.
struct Words(Vec<String>);

impl Words {
    fn any_of(&mut self, allowed: &BTreeSet<String>) -> bool {
        let mut satisfied = self.all_of(allowed);
        while self.take("OR") {
            satisfied |= self.all_of(allowed);
        }
        satisfied
    }

    fn all_of(&mut self, allowed: &BTreeSet<String>) -> bool {
        let mut satisfied = self.one(allowed);
        while self.take("AND") {
            satisfied &= self.one(allowed);
        }
        satisfied
    }

    fn one(&mut self, allowed: &BTreeSet<String>) -> bool {
        if self.take("(") {
            return self.any_of(allowed) & self.take(")");
        }
        let Some(mut licence) = self.0.pop() else { return false };
        if self.take("WITH") {
            let exception = self.0.pop().unwrap_or_default();
            licence = format!("{licence} WITH {exception}");
        }
        allowed.contains(&licence)
    }

    fn take(&mut self, word: &str) -> bool {
        let is_next = self.0.last().is_some_and(|next| next == word);
        if is_next {
            self.0.pop();
        }
        is_next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_satisfied_by_what_it_offers() {
        let allowed = ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"];
        let allowed = allowed.map(str::to_owned).into_iter().collect();
        for (expression, expect) in [
            ("MIT", true),
            ("MIT OR GPL-3.0", true),
            ("GPL-3.0 OR MIT", true),
            ("MIT/Apache-2.0", true),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("MIT AND GPL-3.0", false),
            ("(MIT OR Apache-2.0) AND GPL-3.0", false),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("MIT WITH Classpath-exception", false),
            ("GPL-3.0", false),
            ("(MIT", false),
            ("MIT MIT", false),
            ("", false),
        ] {
            assert_eq!(is_satisfied(expression, &allowed), expect, "{expression}");
        }
    }
}
