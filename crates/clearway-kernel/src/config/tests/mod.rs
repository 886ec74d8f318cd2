//! Requirements on configuration, told as small worlds: two files, an environment, some flags.

mod layers;
mod mistakes;
mod properties;
mod provenance;
mod safety;

use std::collections::BTreeMap;
use std::path::Path;

use super::*;

const USER: &str = "/home/ada/.config/clearway/config.toml";
const REPOSITORY: &str = "/home/ada/app/.clearway.toml";

/// Everything that a configuration is resolved from, to be filled in by a test.
#[derive(Debug, Default)]
struct World {
    user: Option<String>,
    repository: Option<String>,
    variables: BTreeMap<String, String>,
    flags: Vec<(KeyId, &'static str, String)>,
    inside_agent_session: bool,
}

impl World {
    fn user(mut self, text: &str) -> World {
        self.user = Some(text.to_owned());
        self
    }

    fn repository(mut self, text: &str) -> World {
        self.repository = Some(text.to_owned());
        self
    }

    fn variable(mut self, name: &str, value: &str) -> World {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    fn flag(mut self, key: KeyId, flag: &'static str, value: &str) -> World {
        self.flags.push((key, flag, value.to_owned()));
        self
    }

    fn inside_agent_session(mut self) -> World {
        self.inside_agent_session = true;
        self
    }

    fn try_resolve(&self) -> Result<Config, Vec<ConfigError>> {
        let flags: Vec<FlagValue<'_>> =
            self.flags.iter().map(|(key, flag, value)| FlagValue { key: *key, flag, value }).collect();
        Config::resolve(&Inputs {
            user_path: Path::new(USER),
            user: self.user.as_deref().map(|text| ConfigText { path: Path::new(USER), text }),
            repository: self
                .repository
                .as_deref()
                .map(|text| ConfigText { path: Path::new(REPOSITORY), text }),
            variables: &self.variables,
            cwd: Some(Path::new("/home/ada/app")),
            flags: &flags,
            inside_agent_session: self.inside_agent_session,
        })
    }

    #[track_caller]
    fn resolve(&self) -> Config {
        self.try_resolve().unwrap_or_else(|errors| panic!("{}", shown(&errors).join("\n")))
    }

    #[track_caller]
    fn errors(&self) -> Vec<ConfigError> {
        self.try_resolve().expect_err("the configuration should be refused")
    }
}

fn shown(errors: &[ConfigError]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// One line per fact about a key: its value, then what it replaced, then what was ignored.
#[track_caller]
fn story(config: &Config, key: &str) -> Vec<String> {
    let entry = config.entries().find(|entry| entry.key == key).unwrap_or_else(|| panic!("no entry {key}"));
    let mut lines = vec![format!("{} from {}", entry.value_text.as_deref().unwrap_or("unset"), entry.source)];
    lines.extend(entry.overrode.iter().map(|overridden| format!("over {overridden}")));
    lines.extend(entry.ignored.iter().map(ToString::to_string));
    lines
}
