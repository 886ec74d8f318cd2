//! The short way for the verbs that agents call all day.
//!
//! Building the whole command line costs more than reading a store, so these verbs are read with a parser that knows
//! only the one that was named. Both parsers come from the same definitions. Whatever this one cannot read is read
//! again by the whole one, which alone speaks of mistakes and gives help.

use super::{CheckFlags, Cli, Everywhere, ReleaseFlags, RenewFlags, ReserveFlags, Verb};
use clap::{ArgMatches, Args, Command, FromArgMatches};

/// Reads the line if it names one of these verbs and nothing is wrong with it.
pub(crate) fn read(arguments: &[String]) -> Option<Cli> {
    let verb = arguments.iter().skip(1).find_map(|word| QUICK.iter().find(|verb| verb.name == word))?;
    let command = Everywhere::augment_args(Command::new("clearway"));
    let command = command.subcommand((verb.augment)(Command::new(verb.name)));
    let matches = command.try_get_matches_from(arguments).ok()?;
    let everywhere = Everywhere::from_arg_matches(&matches).ok()?;
    let verb = (verb.read)(matches.subcommand_matches(verb.name)?)?;
    Some(Cli { everywhere, verb: Some(verb) })
}

/// A verb and its part of the definitions.
#[derive(Debug)]
struct Quick {
    name: &'static str,
    augment: fn(Command) -> Command,
    read: fn(&ArgMatches) -> Option<Verb>,
}

const QUICK: [Quick; 4] = [
    Quick {
        name: "reserve",
        augment: ReserveFlags::augment_args,
        read: |matches| ReserveFlags::from_arg_matches(matches).ok().map(Verb::Reserve),
    },
    Quick {
        name: "check",
        augment: CheckFlags::augment_args,
        read: |matches| CheckFlags::from_arg_matches(matches).ok().map(Verb::Check),
    },
    Quick {
        name: "release",
        augment: ReleaseFlags::augment_args,
        read: |matches| ReleaseFlags::from_arg_matches(matches).ok().map(Verb::Release),
    },
    Quick {
        name: "renew",
        augment: RenewFlags::augment_args,
        read: |matches| RenewFlags::from_arg_matches(matches).ok().map(Verb::Renew),
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_short_way_reads_what_the_whole_parser_reads() {
        for line in [
            "clearway reserve a b --shared --ttl 5m --agent x",
            "clearway -C /tmp --agent x --json check a --kind name",
            "clearway release --all --timeout 1s",
            "clearway renew abcdefgh --ttl 1h --idempotency-key k",
        ] {
            let (quick, whole) = (read(&words(line)), Cli::try_parse_from(words(line)).ok());
            assert_eq!(format!("{quick:?}"), format!("{whole:?}"), "{line}");
            assert!(quick.is_some(), "{line}");
        }
    }

    #[test]
    fn what_it_does_not_know_is_left_to_the_whole_parser() {
        for line in [
            "clearway status",
            "clearway reserve",
            "clearway reserve --help",
            "clearway reserve a --tll 5",
            "clearway --agent check status",
            "clearway who check",
        ] {
            assert!(read(&words(line)).is_none(), "{line}");
        }
    }
}
