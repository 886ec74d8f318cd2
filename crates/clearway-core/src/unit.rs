//! One unit of a resource with several: what its holder is told, and in which variables. What is to be done with the
//! number is the holder's business.

use crate::failure::Failure;
use crate::lease::Lease;
use crate::slug::Slug;
use crate::target::Target;

/// The numbers that the name of a resource stands for: `port:3000-3009` is the ports from 3000 to 3009.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers<'a> {
    /// What stands before the numbers: `port`.
    pub prefix: &'a str,
    /// The number of the first unit.
    pub first: u32,
    /// The number of the last one.
    pub last: u32,
}

impl<'a> Numbers<'a> {
    /// The numbers in a name; `None` if it is a name like any other.
    pub fn of(name: &'a str) -> Option<Self> {
        let (prefix, numbers) = name.rsplit_once(':')?;
        let (first, last) = numbers.split_once('-')?;
        let (first, last) = (number(first)?, number(last)?);
        (!prefix.is_empty() && first <= last).then_some(Self { prefix, first, last })
    }

    /// Whether a name looks like a range that ends before it begins: nobody means such a name.
    pub fn is_reversed(name: &str) -> bool {
        let ends = |(_, numbers): (&str, &'_ str)| {
            let (first, last) = numbers.split_once('-')?;
            Some((number(first)?, number(last)?))
        };
        name.rsplit_once(':').and_then(ends).is_some_and(|(first, last)| first > last)
    }

    /// Whether it is one of these: `port:3005` of `port:3000-3009`.
    pub fn holds(&self, name: &str) -> bool {
        let unit = name.rsplit_once(':').filter(|(prefix, _)| *prefix == self.prefix);
        unit.and_then(|(_, unit)| number(unit)).is_some_and(|unit| (self.first..=self.last).contains(&unit))
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        u64::from(self.last - self.first) + 1
    }
}

/// The number that the holder of a unit of a range got.
pub fn number_of(lease: &Lease) -> Option<u32> {
    Numbers::of(lease.target.canonical())?.first.checked_add(lease.slot?)
}

/// What a lease is on, with its number where it has one, `port:3001 of port:3000-3009`, and without what made way.
pub fn shown(lease: &Lease) -> String {
    let whole = lease.target.display();
    match (Numbers::of(lease.target.canonical()), number_of(lease)) {
        (Some(numbers), Some(number)) => format!("{}:{number} of {whole}", numbers.prefix),
        _ => whole + &without(lease),
    }
}

/// How many paths that made way are named.
const CEDED_SHOWN: usize = 2;

/// What is no part of a lease any more.
fn without(lease: &Lease) -> String {
    let named: Vec<String> = lease.ceded.iter().take(CEDED_SHOWN).map(Target::display).collect();
    match (lease.ceded.len(), lease.ceded.len().saturating_sub(CEDED_SHOWN)) {
        (0, _) => String::new(),
        (_, 0) => format!(" without {}", named.join(", ")),
        (_, more) => format!(" without {} and {more} more", named.join(", ")),
    }
}

/// Digits alone: a sign is no part of a number here.
fn number(text: &str) -> Option<u32> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

/// The variable in which a command is told which leases it runs under.
const LEASES_VARIABLE: &str = "CLEARWAY_LEASES";
/// What the variables of units begin with.
const SLOT_PREFIX: &str = "CLEARWAY_SLOT_";
const NUMBER_PREFIX: &str = "CLEARWAY_NUMBER_";

/// Whether a variable is one in which a command is told something.
pub fn is_told(variable: &str) -> bool {
    variable == LEASES_VARIABLE
        || [SLOT_PREFIX, NUMBER_PREFIX].iter().any(|begin| variable.starts_with(begin))
}

/// The variables in which a command is told which leases it runs under and which units it got.
pub fn variables<'a>(leases: impl IntoIterator<Item = &'a Lease>) -> Result<Vec<(String, String)>, Failure> {
    let mut ids: Vec<String> = Vec::new();
    let mut told: Vec<(String, String)> = Vec::new();
    for lease in leases {
        ids.push(format!("{}@{}", lease.id, lease.fence));
        for (name, value) in of_lease(lease) {
            if told.iter().any(|(other, _)| *other == name) {
                return Err(ambiguous(&name));
            }
            told.push((name, value));
        }
    }
    told.insert(0, (LEASES_VARIABLE.to_owned(), ids.join(" ")));
    Ok(told)
}

/// Whether two of these names would be told in the same variable; asked before anything is taken.
pub fn tell_apart(names: &[&str]) -> Result<(), Failure> {
    let variables: Vec<String> = names.iter().map(|name| slot_variable(name)).collect();
    let twice = |(at, variable): &(usize, &String)| variables[..*at].contains(variable);
    variables.iter().enumerate().find(twice).map_or(Ok(()), |(_, variable)| Err(ambiguous(variable)))
}

fn of_lease(lease: &Lease) -> Vec<(String, String)> {
    let Some(slot) = lease.slot else { return Vec::new() };
    let name = lease.target.canonical();
    let number =
        number_of(lease).map(|number| (format!("{NUMBER_PREFIX}{}", word(name)), number.to_string()));
    [(slot_variable(name), slot.to_string())].into_iter().chain(number).collect()
}

fn slot_variable(name: &str) -> String {
    format!("{SLOT_PREFIX}{}", word(name))
}

/// A name as a part of a variable's name; of one with numbers only what stands before them.
fn word(name: &str) -> String {
    let name = Numbers::of(name).map_or(name, |numbers| numbers.prefix);
    name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' }).collect()
}

fn ambiguous(variable: &str) -> Failure {
    Failure::new(Slug::Usage, format!("two of these names would both be told in {variable}"))
        .hint("take one of them under another name, or run two commands")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_range_stands_for_its_numbers() {
        let numbers = Numbers::of("port:3000-3009").unwrap();
        assert_eq!((numbers.prefix, numbers.first, numbers.last, numbers.count()), ("port", 3000, 3009, 10));
        assert_eq!(Numbers::of("db:test:0-0").unwrap().prefix, "db:test");
        assert_eq!(Numbers::of("x:0-4294967295").unwrap().count(), 1 << 32);
    }

    #[test]
    fn a_range_knows_its_units_and_one_that_runs_backwards_is_known() {
        let numbers = Numbers::of("port:3000-3009").unwrap();
        assert!(["port:3000", "port:3009"].iter().all(|name| numbers.holds(name)));
        assert!(
            !["port:2999", "port:3010", "port", "port:x", "other:3005"]
                .iter()
                .any(|name| numbers.holds(name))
        );
        assert!(
            Numbers::is_reversed("p:5-3")
                && !["p:3-5", "p:x-3", "p", "5-3"].iter().any(|n| Numbers::is_reversed(n))
        );
    }

    #[test]
    fn anything_else_is_a_name_like_any_other() {
        let plain = ["port", "port:3000", "port:3009-3000", "port:+1-2", "port:1-2-3", "a-b", ":1-2", "p:1-"];
        for name in plain.into_iter().chain(["p:-2", "port:0-4294967296", "db:a-b", "p:1-٣", ""]) {
            assert_eq!(Numbers::of(name), None, "{name}");
        }
    }

    #[test]
    fn a_variable_is_named_after_the_resource() {
        let named = ["build", "db:migrate", "port:3000-3009", "Größe", "7"].map(word);
        assert_eq!(named, ["BUILD", "DB_MIGRATE", "PORT", "GR__E", "7"]);
    }

    #[test]
    fn names_that_share_a_variable_are_told_apart_before_they_are_taken() {
        assert_eq!(tell_apart(&["a-b", "ab", "port:1-2"]), Ok(()));
        for names in [["a-b", "a_b"], ["port:1-2", "port:5-9"], ["port", "port:1-2"]] {
            assert_eq!(tell_apart(&names).unwrap_err().slug, Slug::Usage, "{names:?}");
        }
    }
}
