//! What holds for any input at all.

use proptest::prelude::*;

use super::*;

const KEY_LINES: [&str; 14] = [
    "posture = \"solo\"",
    "posture = \"unattended\"",
    "leases.claimed_ttl = \"90s\"",
    "leases.claimed_ttl = 90",
    "leases.durability = \"full\"",
    "leases.broad_files = 10",
    "leases.broad_files = 100000",
    "[leases]",
    "timeouts.store = \"2s\"",
    "classes.hot = [\"a/**\", \"b\"]",
    "resources.build = 3",
    "[resources]",
    "store.url = \"x\"",
    "agent = 'x'",
];

/// Text that is nearly a configuration, so that the interesting paths are reached.
fn nearly_config() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => prop::sample::select(KEY_LINES.as_slice()).prop_map(str::to_owned),
        1 => "[a-z.\\[\\]{}=\" 0-9\\\\é]{0,20}",
    ];
    prop::collection::vec(line, 0..8).prop_map(|lines| lines.join("\n"))
}

fn any_world() -> impl Strategy<Value = World> {
    let text = || prop::option::of(prop_oneof![3 => nearly_config(), 1 => any::<String>()]);
    let names: Vec<&str> = KEYS.iter().filter_map(|key| key.variable).collect();
    let value =
        prop_oneof![Just("full".to_owned()), Just("7".to_owned()), Just("9m".to_owned()), any::<String>()];
    let variables =
        prop::collection::btree_map(prop::sample::select(names).prop_map(str::to_owned), value.clone(), 0..4);
    let ids: Vec<KeyId> = KEYS.iter().map(|key| key.id).collect();
    let flags = prop::collection::vec((prop::sample::select(ids), Just("--flag"), value), 0..3);
    (text(), text(), variables, flags, any::<bool>()).prop_map(
        |(user, repository, variables, flags, inside_agent_session)| World {
            user,
            repository,
            variables,
            flags,
            inside_agent_session,
        },
    )
}

/// A value for some of the keys that safety depends on.
fn safety_values() -> impl Strategy<Value = Vec<(KeyId, String)>> {
    let posture =
        prop::sample::select(&postures::NAMES[..]).prop_map(|name| (KeyId::Posture, name.to_owned()));
    let durability =
        prop::sample::select(&["normal", "full"][..]).prop_map(|name| (KeyId::Durability, name.to_owned()));
    let broad_files = (1_u64..400).prop_map(|files| (KeyId::BroadFiles, files.to_string()));
    let ttl = (1_u64..60).prop_map(|minutes| (KeyId::ClaimedTtl, format!("{minutes}m")));
    let some = (
        prop::option::of(posture),
        prop::option::of(durability),
        prop::option::of(broad_files),
        prop::option::of(ttl),
    );
    some.prop_map(|(posture, durability, broad_files, ttl)| {
        [posture, durability, broad_files, ttl].into_iter().flatten().collect()
    })
}

/// Sound texts in every layer, inside an agent session.
fn agent_world() -> impl Strategy<Value = World> {
    let file = |values: Vec<(KeyId, String)>| {
        let line = |(id, value): &(KeyId, String)| match id {
            KeyId::BroadFiles => format!("{} = {value}\n", id.key().name),
            _ => format!("{} = \"{value}\"\n", id.key().name),
        };
        values.iter().map(line).collect::<String>()
    };
    let variable = |(id, value): (KeyId, String)| (id.key().variable.unwrap_or_default().to_owned(), value);
    (safety_values(), safety_values(), safety_values(), safety_values()).prop_map(
        move |(user, repository, variables, flags)| World {
            user: Some(file(user)),
            repository: Some(file(repository)),
            variables: variables.into_iter().map(variable).collect(),
            flags: flags.into_iter().map(|(id, value)| (id, "--flag", value)).collect(),
            inside_agent_session: true,
        },
    )
}

/// A value for `timeouts.store`, which safety does not depend on, in each layer that has one, weakest first.
fn timeout_by_layer() -> impl Strategy<Value = [Option<u64>; 4]> {
    let seconds = || prop::option::of(1_u64..600);
    [seconds(), seconds(), seconds(), seconds()]
}

proptest! {
    #[test]
    fn no_input_makes_resolving_panic_and_every_answer_is_whole(world in any_world()) {
        match world.try_resolve() {
            Ok(config) => {
                for entry in config.entries() {
                    prop_assert!(entry.layer == Layer::Default || *entry.source != Source::Default);
                }
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                for error in errors {
                    prop_assert!(!error.to_string().contains('\n'), "{error}");
                }
            }
        }
    }

    #[test]
    fn the_strongest_layer_that_speaks_wins_and_the_rest_is_its_history(timeout in timeout_by_layer()) {
        let text = |seconds: u64| format!("timeouts.store = \"{seconds}s\"");
        let mut world = World { user: timeout[0].map(text), repository: timeout[1].map(text), ..World::default() };
        if let Some(seconds) = timeout[2] {
            world = world.variable("CLEARWAY_TIMEOUTS_STORE", &format!("{seconds}s"));
        }
        if let Some(seconds) = timeout[3] {
            world = world.flag(KeyId::StoreTimeout, "--timeout", &format!("{seconds}s"));
        }
        let mut expected: Vec<u64> = timeout.iter().rev().copied().flatten().collect();
        expected.push(5);

        let config = world.resolve();
        let entry = config.entries().find(|entry| entry.key == "timeouts.store").expect("a known key");
        let mut told = vec![config.store_timeout().as_secs()];
        told.extend(entry.overrode.iter().map(|overridden| match overridden.value {
            Value::Duration(duration) => duration.as_secs(),
            _ => 0,
        }));
        prop_assert_eq!(told, expected);
    }

    #[test]
    fn inside_an_agent_session_no_layer_but_the_users_lowers_safety(world in agent_world()) {
        let user_alone = World { user: world.user.clone(), ..World::default() }.resolve();
        if let Ok(all) = world.try_resolve() {
            for id in KEYS.iter().map(|key| key.id) {
                prop_assert!(!id.key().lowers_safety(user_alone.value(id), all.value(id)), "{}", id.key().name);
            }
        }
    }
}
