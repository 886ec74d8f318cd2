//! What is wrong with a command line, as one of our own failures.

use crate::{arguments, hook};
use clap::Args;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clearway_core::failure::Failure;
use clearway_core::hint::{self, Hint};
use clearway_core::input::wait_span_ms;
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_core::text::printable;
use clearway_kernel::Globals;
use clearway_kernel::config::{KeyId, wrong_with};
use std::ffi::OsString;

/// The arguments as text. A name that is not UTF-8 cannot be stored or shown, so it is refused before all else. The
/// words of a command that is to be run are not ours to judge.
pub(crate) fn texts(arguments: &[OsString]) -> Result<Vec<String>, Failure> {
    let mut texts: Vec<String> = Vec::with_capacity(arguments.len());
    for raw in arguments {
        texts.push(match raw.to_str() {
            Some(text) => text.to_owned(),
            None if is_of_command(&texts, arguments) => raw.to_string_lossy().into_owned(),
            None => {
                return Err(match flag_of(raw, &texts) {
                    Some(flag) => Failure::new(Slug::Usage, format!("the value of --{flag} is not UTF-8"))
                        .hint("write it as UTF-8 text"),
                    None if is_message(&texts) => text_not_utf8(),
                    None if names_resources(&texts) => name_not_utf8(raw),
                    None => not_utf8(raw),
                });
            }
        });
    }
    Ok(texts)
}

/// Whether the next word of a line is what somebody is told, as far as it has been read.
fn is_message(before: &[String]) -> bool {
    let words: Vec<OsString> = before.iter().map(OsString::from).collect();
    let verb = verb_of(&words).and_then(|verb| verb.to_str());
    let after = before.iter().skip_while(|word| Some(word.as_str()) != verb).skip(1);
    let said = after.filter(|word| !word.starts_with('-')).count();
    match verb {
        Some("send" | "ask") => said >= 1,
        Some("answer") => said >= 2,
        Some("broadcast") => true,
        _ => false,
    }
}

/// Whether the words of a line are names, as far as it has been read.
fn names_resources(before: &[String]) -> bool {
    let says_so = before.windows(2).any(|pair| pair == ["--kind", "name"]);
    let verb = before.iter().map(OsString::from).collect::<Vec<_>>();
    says_so || before.iter().any(|word| word == "--kind=name") || runs_a_command(&verb)
}

fn is_of_command(before: &[String], arguments: &[OsString]) -> bool {
    before.iter().any(|word| word == "--") && runs_a_command(arguments)
}

/// Whether the line runs a command, whose standard output and exit code are then the answer.
pub(crate) fn runs_a_command(arguments: &[OsString]) -> bool {
    arguments.iter().any(|word| word == RUNS) && verb_of(arguments).is_some_and(|verb| verb == RUNS)
}

/// The verb that runs a command.
const RUNS: &str = "with";

/// Whether a line calls a hook, however wrongly.
pub(crate) fn calls_a_hook(arguments: &[OsString]) -> bool {
    verb_of(arguments).is_some_and(|verb| verb == hook::VERB)
}

/// The first word that is neither a flag nor the value of one.
fn verb_of(arguments: &[OsString]) -> Option<&OsString> {
    let everywhere = arguments::Everywhere::augment_args(clap::Command::new("clearway"));
    let takes_value = |word: &OsString| {
        let named = |flag: &&clap::Arg| {
            let long = flag.get_long().map(|long| format!("--{long}"));
            let short = flag.get_short().map(|short| format!("-{short}"));
            long.into_iter().chain(short).any(|name| *word == *name)
        };
        everywhere.get_arguments().find(named).is_some_and(|flag| flag.get_action().takes_values())
    };
    let mut words = arguments.iter().skip(1);
    while let Some(word) = words.next() {
        match word.as_encoded_bytes().starts_with(b"-") {
            true if takes_value(word) => drop(words.next()),
            true => {}
            false => return Some(word),
        }
    }
    None
}

/// The flag that a word is a value of, unless that flag takes a path.
fn flag_of(raw: &OsString, before: &[String]) -> Option<String> {
    let shown = raw.to_string_lossy();
    let joined = shown.strip_prefix("--").and_then(|rest| rest.split_once('=')).map(|(flag, _)| flag);
    let flag = joined.or_else(|| before.last()?.strip_prefix("--")).filter(|flag| !flag.is_empty())?;
    let command = arguments::command();
    let commands = || std::iter::once(&command).chain(command.get_subcommands());
    let takes_text = |argument: &clap::Arg| {
        let names = argument.get_value_names().unwrap_or_default();
        argument.get_long() == Some(flag)
            && argument.get_action().takes_values()
            && !names.iter().any(|name| PATH_VALUES.contains(&name.as_str()))
    };
    let found = commands().flat_map(clap::Command::get_arguments).any(takes_text);
    (found && !before.iter().any(|word| word == "--")).then(|| flag.to_owned())
}

/// What the values of flags that take paths are called.
const PATH_VALUES: [&str; 4] = ["PATTERN", "FILE", "DIR", "URL"];

/// Whether `--json` stands anywhere on the line, for answers about a line that cannot be read.
pub(crate) fn asks_for_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

/// A failure of the parser in our words.
pub(crate) fn failure(error: &clap::Error, arguments: &[String]) -> Failure {
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    if let Some(failure) = time_below_zero(arguments).filter(|_| is_unknown) {
        return failure;
    }
    let failure = Failure::new(Slug::Usage, message(error, arguments));
    let failure = match suggestion(error) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure,
    };
    let failure = match unquoted(error, arguments).filter(|_| is_unknown) {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    let failure = match path_with_dash(error, arguments).filter(|_| is_unknown) {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    let missing = error.kind() == ErrorKind::MissingRequiredArgument;
    let failure = match what_is_missing(arguments).filter(|_| missing) {
        Some(hint) => failure.hint(hint),
        None => failure,
    };
    if failure.hints.iter().any(|hint| hint.line().is_some()) {
        return failure;
    }
    failure.hint(help_on(&verb_named(arguments)))
}

/// How a line that lacks a word is made whole, where that can be told.
fn what_is_missing(arguments: &[String]) -> Option<Hint> {
    let verb = verb_named(arguments);
    match (verb.trim(), taken_for_a_time(arguments)) {
        (RUNS, Some(word)) => {
            Some(Hint::from(format!("{NEXT_WORD}: clearway {}", waiting_to_run(word, arguments))))
        }
        (RUNS, None) => Some(Hint::from(command_to_run(arguments))),
        (ASKS, Some(_)) => Some(asking_and_waiting(arguments)),
        (_, Some(word)) => Some(Hint::command(NEXT_WORD, "reserve --wait 5m", &[word])),
        (_, None) => None,
    }
}

/// A path that begins with a dash, which is read as flags of one letter. No flag of one letter stands with others here.
fn path_with_dash(error: &clap::Error, arguments: &[String]) -> Option<Hint> {
    let flag = context(error, ContextKind::InvalidArg)?;
    let command = arguments::command();
    let verb = arguments.iter().skip(1).find_map(|word| command.find_subcommand(word))?;
    let takes_paths = |argument: &clap::Arg| {
        let names = argument.get_value_names().unwrap_or_default();
        names.iter().any(|name| matches!(name.as_str(), "PATTERN" | "PATH" | "ID|PATTERN"))
    };
    let is_several = |word: &&String| !word.starts_with("--") && word.chars().count() > 2;
    let word = arguments.iter().take_while(|word| *word != "--").filter(is_several);
    let word = word.filter(|word| word.starts_with(&flag)).last()?;
    let hint = || Hint::command("a path that begins with a dash", verb.get_name(), &[&format!("./{word}")]);
    verb.get_positionals().any(takes_paths).then(hint)
}

/// A text of several words that a shell took apart.
fn unquoted(error: &clap::Error, arguments: &[String]) -> Option<Hint> {
    let is_word = !context(error, ContextKind::InvalidArg)?.starts_with('-');
    let form = match verb_named(arguments).trim() {
        ASKS => "ask PATH \"<why>\"",
        "send" => "send NAME \"<text>\"",
        "broadcast" => "broadcast --topic WORD \"<text>\"",
        _ => return None,
    };
    is_word.then(|| Hint::from(format!("what is said stands in quotes: clearway {form}")))
}

/// A request whose `--wait` took the path or the reason for its time, with a time of its own. Flags may stand anywhere and
/// have values, so a line with more of them is not made whole.
fn asking_and_waiting(arguments: &[String]) -> Hint {
    let behind = arguments.iter().map(String::as_str).skip_while(|word| *word != ASKS).skip(1);
    if behind.clone().any(|word| word.starts_with('-') && word != "--wait") {
        return Hint::from(format!("{NEXT_WORD}: clearway ask PATH \"<why>\" --wait 5m"));
    }
    let mut words: Vec<String> = behind.filter(|word| *word != "--wait").map(shell::as_it_is).collect();
    if words.len() == 1 {
        words.push("\"<why>\"".to_owned());
    }
    Hint::command(NEXT_WORD, &format!("ask --wait 5m {}", words.join(" ")), &[])
}

/// The verb that asks a holder.
const ASKS: &str = "ask";

/// A line whose `--wait` took a word for its time: that was a name, or the command if a name stands before it.
fn waiting_to_run(word: &str, arguments: &[String]) -> String {
    let before = arguments.iter().skip_while(|typed| *typed != RUNS).skip(1);
    let names: Vec<String> =
        before.take_while(|typed| !typed.starts_with('-')).map(|name| shell::word(name)).collect();
    let behind = arguments.iter().skip_while(|typed| *typed != "--wait").skip(1);
    match names.as_slice() {
        [] => format!("with {} --wait 5m -- CMD…", shell::word(word)),
        names => {
            let command: Vec<String> = behind.map(|typed| shell::as_it_is(typed)).collect();
            format!("with {} --wait 5m -- {}", names.join(" "), command.join(" "))
        }
    }
}

/// How a line that runs a command is written, with what was typed of it. Flags may stand anywhere and have values, so a
/// line with some of them is not made whole.
fn command_to_run(arguments: &[String]) -> String {
    let words: Vec<&str> =
        arguments.iter().map(String::as_str).skip_while(|word| *word != RUNS).skip(1).collect();
    let shown = |words: &[&str]| words.iter().map(|word| shell::as_it_is(word)).collect::<Vec<_>>().join(" ");
    let behind = words.iter().position(|word| *word == "--").map(|at| &words[at + 1..]);
    match (words.as_slice(), behind) {
        (["--", ..], Some(command @ [_, ..])) => {
            let command = shown(command);
            format!("name what it is to have for itself, such as build: clearway with build -- {command}")
        }
        ([name, command @ ..], None)
            if !command.is_empty() && !words.iter().any(|word| word.starts_with('-')) =>
        {
            behind_dashes(&shell::word(name), &shown(command))
        }
        _ => behind_dashes("NAME", "CMD…"),
    }
}

fn behind_dashes(name: &str, command: &str) -> String {
    format!("the command stands behind two dashes: clearway with {name} -- {command}")
}

const NEXT_WORD: &str = "--wait takes the next word for its time; say how long to wait";

/// `--wait -5s`: a flag whose value may be left out leaves what begins with a dash to others, who do not know it.
fn time_below_zero(arguments: &[String]) -> Option<Failure> {
    let words = || arguments.iter().take_while(|word| *word != "--");
    let time = words().zip(words().skip(1)).find(|(flag, _)| *flag == "--wait")?.1;
    let is_below = time.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    is_below.then(|| wait_span_ms(time, "--wait", "").err()).flatten()
}

/// `--wait PATTERN`: the flag's own value may be left out, so it takes what follows.
fn taken_for_a_time(arguments: &[String]) -> Option<&str> {
    let mut words = arguments.iter().take_while(|word| *word != "--").skip_while(|word| *word != "--wait");
    words.nth(1).map(String::as_str).filter(|word| is_no_time(word))
}

fn is_no_time(word: &str) -> bool {
    !word.starts_with(|first: char| first.is_ascii_digit() || first == '-') && !word.is_empty()
}

/// The failure of a `--wait` whose time was meant as something else says so, and what is right.
pub(crate) fn explain_wait(failure: Failure, value: &str, right: &str) -> Failure {
    match failure.slug == Slug::InvalidDuration && is_no_time(value) {
        true => failure.hint(format!("{NEXT_WORD}: clearway {right}")),
        false => failure,
    }
}

/// A flag whose value makes no sense is a slip on this line, not a mistake in a configuration file.
pub(crate) fn check_flags(globals: &Globals) -> Result<(), Failure> {
    let given = [
        (KeyId::Agent, "--agent", &globals.agent),
        (KeyId::StoreTimeout, "--timeout", &globals.timeout),
        (KeyId::StoreUrl, "--store", &globals.store),
    ];
    given.into_iter().try_for_each(|(key, flag, value)| match value {
        Some(value) => check_flag(key, flag, value),
        None => Ok(()),
    })
}

fn check_flag(key: KeyId, flag: &str, value: &str) -> Result<(), Failure> {
    let Some(why) = wrong_with(key, value) else { return Ok(()) };
    let (slug, hint) = match key {
        KeyId::Agent => (Slug::InvalidAgentName, help_on(" --all")),
        KeyId::StoreTimeout => (Slug::InvalidDuration, "durations look like 500ms, 90s or 15m".to_owned()),
        _ => (Slug::Usage, help_on(" --all")),
    };
    Err(Failure::new(slug, format!("{flag} {} cannot be used: {why}", quoted(value))).hint(hint))
}

/// Where it stands how a verb is used.
fn help_on(verb: &str) -> String {
    format!("how it is used: clearway help{verb}")
}

fn not_utf8(raw: &OsString) -> Failure {
    let shown = raw.to_string_lossy();
    Failure::new(Slug::InvalidPath, format!("{} is not UTF-8", quoted(&shown)))
        .hint("rename it, or reserve the directory it lies in")
        .hint(hint::PATH_RULES)
}

fn text_not_utf8() -> Failure {
    Failure::new(Slug::Usage, "the text is not UTF-8").hint("write it as UTF-8 text")
}

fn name_not_utf8(raw: &OsString) -> Failure {
    let message = format!("{} cannot name a resource: it is not UTF-8", quoted(&raw.to_string_lossy()));
    Failure::new(Slug::InvalidName, message)
        .hint("names are plain text such as build, db:migrate or port:3000")
}

pub(crate) use clearway_core::text::{quoted, shown};

fn message(error: &clap::Error, arguments: &[String]) -> String {
    let raw = |kind| context(error, kind).unwrap_or_default();
    let word = |kind| shown(&raw(kind));
    let bare = |kind| bare(&word(kind));
    let (argument, value) = (bare(ContextKind::InvalidArg), raw(ContextKind::InvalidValue));
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            format!("no verb is called {}", quoted(&raw(ContextKind::InvalidSubcommand)))
        }
        ErrorKind::UnknownArgument => format!("{argument} is not known here"),
        ErrorKind::InvalidValue if value.is_empty() => format!("{argument} needs a value"),
        ErrorKind::InvalidValue => {
            format!("{argument} cannot be {}: it is one of {}", quoted(&value), word(ContextKind::ValidValue))
        }
        ErrorKind::ValueValidation => format!("{argument} cannot be {}{}", quoted(&value), because(error)),
        ErrorKind::MissingRequiredArgument => missing(error),
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            format!("a word is missing: one of {}", words_below(arguments))
        }
        ErrorKind::ArgumentConflict => match bare(ContextKind::PriorArg) {
            prior if prior.is_empty() || prior == argument => format!("{argument} is given twice"),
            prior => format!("{argument} and {prior} exclude each other"),
        },
        _ => first_line(error),
    }
}

/// What a line lacks, all of it.
fn missing(error: &clap::Error) -> String {
    let lacking = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::Strings(arguments)) => arguments.iter().map(|argument| bare(argument)).collect(),
        _ => vec!["an argument".to_owned()],
    };
    let is = if lacking.len() > 1 { "are" } else { "is" };
    format!("{} {is} missing", lacking.join(" and "))
}

/// `<PATTERN>...` as PATTERN, `--ttl <TIME>` and `--wait [<TIME>]` as the flag alone.
fn bare(argument: &str) -> String {
    let argument = argument.split([' ', '=']).next().unwrap_or(argument);
    argument.trim_end_matches("...").trim_matches(['<', '>', '[', ']']).to_owned()
}

fn words_below(arguments: &[String]) -> String {
    let command = arguments::command();
    let verb = arguments.iter().skip(1).find_map(|word| command.find_subcommand(word));
    let names: Vec<&str> = verb.unwrap_or(&command).get_subcommands().map(clap::Command::get_name).collect();
    names.join(", ")
}

fn because(error: &clap::Error) -> String {
    use std::error::Error as _;
    error.source().map(|source| format!(": {}", printable(&source.to_string()))).unwrap_or_default()
}

fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    printable(line.strip_prefix("error: ").unwrap_or(line)).into_owned()
}

fn suggestion(error: &clap::Error) -> Option<String> {
    [ContextKind::SuggestedSubcommand, ContextKind::SuggestedArg, ContextKind::SuggestedValue]
        .into_iter()
        .find_map(|kind| match error.get(kind)? {
            ContextValue::String(text) => Some(text.clone()),
            // The nearest comes last.
            ContextValue::Strings(texts) => texts.last().cloned(),
            _ => None,
        })
}

fn context(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text.clone()),
        ContextValue::Strings(texts) => Some(texts.join(", ")),
        _ => None,
    }
}

/// The verb on the line, if there is one, so that the hint leads to its own help.
fn verb_named(arguments: &[String]) -> String {
    let command = arguments::command();
    let named = arguments.iter().skip(1).find(|word| command.find_subcommand(word).is_some());
    named.map(|verb| format!(" {verb}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(line: &str, message: &str, hint: &str) {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let error = arguments::command_for_people().try_get_matches_from(&words).unwrap_err();
        let failure = failure(&error, &words);
        assert_eq!(
            (failure.message.as_str(), failure.hints[0].to_string().as_str()),
            (message, hint),
            "{line}"
        );
        assert_eq!(failure.slug.exit_code(), 2);
    }

    #[test]
    fn slips_are_named_with_the_nearest_right_word() {
        check("clearway resrve x", "no verb is called \"resrve\"", "did you mean reserve?");
        check("clearway reserve x --shard", "--shard is not known here", "did you mean --shared?");
        check("clearway reserve", "PATTERN is missing", "how it is used: clearway help reserve");
        check(
            "clearway with",
            "NAME and CMD are missing",
            "the command stands behind two dashes: clearway with NAME -- CMD…",
        );
        check("clearway with build make -j4", "-j is not known here", "how it is used: clearway help with");
        check(
            "clearway with build make all",
            "CMD is missing",
            "the command stands behind two dashes: clearway with build -- make all",
        );
        check(
            "clearway with build --wait make all",
            "CMD is missing",
            "--wait takes the next word for its time; say how long to wait: clearway with build --wait 5m -- make all",
        );
        check(
            "clearway with --wait build",
            "NAME and CMD are missing",
            "--wait takes the next word for its time; say how long to wait: clearway with build --wait 5m -- CMD…",
        );
        check(
            "clearway ask --wait a.rs why",
            "WHY is missing",
            "--wait takes the next word for its time; say how long to wait: clearway ask --wait 5m a.rs why",
        );
        check(
            "clearway ask a.rs --wait why --urgent",
            "WHY is missing",
            "--wait takes the next word for its time; say how long to wait: clearway ask PATH \"<why>\" --wait 5m",
        );
        for line in ["clearway ask --wait a.rs --urgent", "clearway ask --kind name --wait db"] {
            let form = "say how long to wait: clearway ask PATH \"<why>\" --wait 5m";
            check(
                line,
                "PATH and WHY are missing",
                &format!("--wait takes the next word for its time; {form}"),
            );
        }
        check(
            "clearway ask --wait a.rs",
            "PATH and WHY are missing",
            "--wait takes the next word for its time; say how long to wait: clearway ask --wait 5m a.rs \"<why>\"",
        );
        for (line, word, form) in [
            ("clearway ask a.rs add logout", "logout", "ask PATH \"<why>\""),
            ("clearway send otter it is done", "is", "send NAME \"<text>\""),
            ("clearway broadcast --topic build it is red", "is", "broadcast --topic WORD \"<text>\""),
        ] {
            let hint = format!("what is said stands in quotes: clearway {form}");
            check(line, &format!("{word} is not known here"), &hint);
        }
        for verb in ["check", "reserve", "who", "release", "renew"] {
            let hint = format!("a path that begins with a dash: clearway {verb} ./-dash.rs");
            check(&format!("clearway {verb} -dash.rs"), "-d is not known here", &hint);
        }
        check("clearway reserve x -b", "-b is not known here", "how it is used: clearway help reserve");
        check("clearway send otter", "TEXT is missing", "how it is used: clearway help send");
        check("clearway send otter hi --cy", "--cy is not known here", "how it is used: clearway help send");
        check(
            "clearway inbox --limit 0",
            "--limit cannot be \"0\": it is at least 1",
            "how it is used: clearway help inbox",
        );
        check(
            "clearway inbox --all --skip 3",
            "--all and --skip exclude each other",
            "how it is used: clearway help inbox",
        );
        check(
            "clearway with -- make -j4",
            "NAME is missing",
            "name what it is to have for itself, such as build: clearway with build -- make -j4",
        );
        check(
            "clearway reserve x --best-effort --wait",
            "--best-effort and --wait exclude each other",
            "how it is used: clearway help reserve",
        );
        check(
            "clearway reserve x --kind nam",
            "--kind cannot be \"nam\": it is one of path, name, write-set",
            "did you mean name?",
        );
        check("clearway reserve x --ttl", "--ttl needs a value", "how it is used: clearway help reserve");
        check("clearway audit verfy", "no verb is called \"verfy\"", "did you mean verify?");
        check(
            "clearway audit",
            "a word is missing: one of verify, anchor, export",
            "how it is used: clearway help audit",
        );
        check(
            "clearway events --limit many",
            "--limit cannot be \"many\": invalid digit found in string",
            "how it is used: clearway help events",
        );
        check("clearway who a b", "b is not known here", "how it is used: clearway help who");
        check(
            "clearway reserve x --ttl 1m --ttl 2m",
            "--ttl is given twice",
            "how it is used: clearway help reserve",
        );
    }

    #[test]
    fn json_is_asked_for_anywhere_before_the_double_dash() {
        let asks = |line: &str| asks_for_json(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(asks("clearway --json frobnicate") && asks("clearway reserve --bad --json"));
        assert!(!asks("clearway reserve -- --json") && !asks("clearway reserve json"));
    }

    #[test]
    fn a_flag_that_makes_no_sense_is_usage_not_configuration() {
        let with = |agent: &str, timeout: &str| Globals {
            agent: Some(agent.to_owned()),
            timeout: Some(timeout.to_owned()),
            ..Globals::default()
        };
        assert_eq!(check_flags(&with("ada", "5s")), Ok(()));
        for (agent, timeout, slug) in [
            ("a b", "5s", Slug::InvalidAgentName),
            ("ada", "5", Slug::InvalidDuration),
            ("ada", "2d", Slug::InvalidDuration),
        ] {
            assert_eq!(check_flags(&with(agent, timeout)).unwrap_err().slug, slug);
        }
    }
}
