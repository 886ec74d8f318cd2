//! Which value wins, and what the getters then answer.

use super::*;

#[test]
fn without_any_input_everything_is_default() {
    let config = World::default().resolve();
    for entry in config.entries() {
        assert_eq!((entry.layer, entry.source), (Layer::Default, &Source::Default), "{}", entry.key);
        assert!(entry.overrode.is_empty() && entry.ignored.is_empty(), "{}", entry.key);
    }
    assert_eq!(config.store_url(), None);
    assert_eq!(config.agent(), None);
    assert_eq!(story(&config, "posture"), ["solo from default"]);
    assert_eq!(config.claimed_ttl(), Duration::from_secs(1_800));
    assert_eq!(config.lease_durability(), LeaseDurability::Normal);
    assert_eq!(config.broad_files(), 200);
    assert_eq!(config.store_timeout(), Duration::from_secs(5));
    assert_eq!(config.resource("build"), Resource { capacity: 1, machine: false });
}

#[test]
fn every_known_key_has_an_entry_even_when_nothing_is_set() {
    let config = World::default().resolve();
    let listed: Vec<_> = config.entries().map(|entry| entry.key.into_owned()).collect();
    let known: Vec<_> = KEYS
        .iter()
        .map(|key| key.name.to_owned())
        .filter(|name| !["resources", "tools"].contains(&name.as_str()))
        .collect();
    assert_eq!(listed, known);
}

#[test]
fn each_stronger_layer_replaces_the_weaker_ones() {
    let timeout = |world: &World| world.resolve().store_timeout().as_secs();
    let world = World::default().user("timeouts.store = \"1m\"");
    assert_eq!(timeout(&world), 60);
    let world = world.repository("[timeouts]\nstore = \"2m\"");
    assert_eq!(timeout(&world), 120);
    let world = world.variable("CLEARWAY_TIMEOUTS_STORE", "3m");
    assert_eq!(timeout(&world), 180);
    let world = world.flag(KeyId::StoreTimeout, "--timeout", "4m");
    assert_eq!(timeout(&world), 240);
    let world = world.flag(KeyId::StoreTimeout, "--timeout", "5m");
    assert_eq!(timeout(&world), 300, "of two flags the later wins");
}

#[test]
fn an_empty_variable_counts_as_absent() {
    let world = World::default().variable("CLEARWAY_AGENT", "").variable("CLEARWAY_STORE", "");
    assert_eq!(world.resolve().agent(), None);
    assert_eq!(world.resolve().store_url(), None);
}

#[test]
fn all_forms_of_all_keys_are_read() {
    let world = World::default()
        .user(
            "posture = 'team'\nstore.url = \"/var/lib/clearway.db\"\ntimeouts = { store = \"250ms\" }\n\
             [leases]\ndurability = \"full\"\nbroad_files = 0x20\n",
        )
        .variable("CLEARWAY_AGENT", "calm-fox");
    let config = world.resolve();
    assert!(story(&config, "posture")[0].starts_with("team from "));
    assert_eq!(config.store_url(), Some("/var/lib/clearway.db"));
    assert_eq!(config.store_timeout(), Duration::from_millis(250));
    assert_eq!(config.lease_durability(), LeaseDurability::Full);
    assert_eq!(config.broad_files(), 32);
    assert_eq!(config.agent(), Some("calm-fox"));
}

#[test]
fn classes_grow_by_what_each_file_adds_and_tell_who_added_it() {
    let config = World::default()
        .user("classes.hot = [\"**/schema.sql\"]")
        .repository("[classes]\nhot = [\n  \"app/routes/**\",\n]\ncommon = [\"gen/**\"]")
        .resolve();
    let patterns = |key: &str| -> Vec<&str> {
        let entry = config.entries().find(|entry| entry.key == key).expect("classes are entries");
        entry.parts.iter().map(|part| part.pattern).collect()
    };
    let hot = patterns("classes.hot");
    assert!(hot.starts_with(&Class::Hot.defaults().collect::<Vec<_>>()));
    assert!(hot.ends_with(&["**/schema.sql", "app/routes/**"]));
    assert!(patterns("classes.ignored").into_iter().eq(Class::Ignored.defaults()));

    let entry = config.entries().find(|entry| entry.key == "classes.hot").expect("classes are entries");
    let added: Vec<_> = entry.parts.iter().filter(|part| part.layer != Layer::Default).collect();
    let told: Vec<_> =
        added.iter().map(|part| format!("{} {:?} {}", part.pattern, part.layer, part.source)).collect();
    assert_eq!(
        told,
        [format!("**/schema.sql User {USER}:1"), format!("app/routes/** Repository {REPOSITORY}:3")]
    );
    assert_eq!(entry.layer, Layer::Repository);
}

#[test]
fn resources_are_a_number_or_a_table() {
    let config = World::default()
        .user("[resources]\nbuild = 4\n\"port:3000-3009\" = { capacity = 10, scope = \"machine\" }")
        .repository("[resources]\nbuild = 2\n[resources.gpu]\nscope = \"machine\"\n[resources.db]\nscope = \"repository\"")
        .resolve();
    assert_eq!(config.resource("build"), Resource { capacity: 2, machine: false });
    assert_eq!(config.resource("port:3000-3009"), Resource { capacity: 10, machine: true });
    assert_eq!(config.resource("gpu"), Resource { capacity: 1, machine: true });
    assert_eq!(config.resource("db"), Resource::default());
    assert_eq!(
        story(&config, "resources.build"),
        [format!("2 from {REPOSITORY}:2"), format!("over 4 from {USER}:2")]
    );
    assert_eq!(story(&config, "resources.\"port:3000-3009\""), [format!("10 on this machine from {USER}:3")]);
}

#[test]
fn unknown_variables_are_listed_with_the_nearest_name() {
    let world = World::default()
        .variable("CLEARWAY_STOER", "x")
        .variable("CLEARWAY_OPERATOR_KEY", "x")
        .variable("CLEARWAY_LEASES", "x")
        .variable("CLEARWAY_SLOT_BUILD", "x")
        .variable("CLEARWAY_NUMBER_PORT", "x")
        .variable("CLEARWAY_AGENT", "x")
        .variable("CLEARWAY_WHATEVER_ELSE", "x")
        .variable("CLEARWAYS", "x")
        .variable("PATH", "x");
    let unknown = unknown_variables(&world.variables);
    let told: Vec<_> = unknown.iter().map(|found| (found.name.as_str(), found.nearest.as_deref())).collect();
    assert_eq!(told, [("CLEARWAY_STOER", Some("CLEARWAY_STORE")), ("CLEARWAY_WHATEVER_ELSE", None)]);
}

#[test]
fn files_add_tools_and_the_fields_that_name_their_files() {
    let config = World::default()
        .user("[tools]\nsave_page = \"target\"\n")
        .repository("[tools]\nsave_page = [\"path\", \"copy\"]\n\"acme.draw\" = \"file\"\n")
        .resolve();
    let fields = |tool: &str| config.fields_of_tool(tool).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(fields("mcp__acme__save_page"), ["target", "path", "copy"], "no file takes one away");
    assert_eq!(fields("MCP:acme.draw"), ["file"]);
    assert!(fields("mcp__acme__read_page").is_empty());
    assert_eq!(story(&config, "tools.\"acme.draw\""), [format!("[\"file\"] from {REPOSITORY}:3")]);
}
