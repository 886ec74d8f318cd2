//! Who may lower safety.

use super::*;

#[test]
fn the_user_file_may_lower_safety() {
    let config = World::default().user("leases.broad_files = 5000").resolve();
    assert_eq!(config.broad_files(), 5_000);
}

#[test]
fn the_repository_file_may_raise_safety() {
    let config =
        World::default().repository("leases.broad_files = 20\nleases.durability = \"full\"").resolve();
    assert_eq!(config.broad_files(), 20);
    assert_eq!(config.lease_durability(), LeaseDurability::Full);
}

#[track_caller]
fn check_refused(user: &str, repository: &str, expect: &[String]) {
    let errors = World::default().user(user).repository(repository).errors();
    assert_eq!(shown(&errors), expect);
    assert!(errors.iter().all(|error| error.slug().as_str() == "config-unsafe"));
}

#[test]
fn a_repository_value_less_safe_than_the_default_is_refused_with_its_line_and_the_file_that_may_hold_it() {
    check_refused(
        "",
        "\n[leases]\nbroad_files = 201",
        &[format!(
            "{REPOSITORY}:3: `leases.broad_files = 201` is less safe than 200 and a repository cannot lower safety; \
             only the user file {USER} can hold it"
        )],
    );
}

#[test]
fn a_repository_value_less_safe_than_the_users_is_refused() {
    check_refused(
        "leases.durability = \"full\"\nleases.broad_files = 50",
        "leases.broad_files = 100\nleases.durability = \"normal\"",
        &[
            format!(
                "{REPOSITORY}:1: `leases.broad_files = 100` is less safe than 50 and a repository cannot lower safety; \
                 only the user file {USER} can hold it"
            ),
            format!(
                "{REPOSITORY}:2: `leases.durability = normal` is less safe than full and a repository cannot lower \
                 safety; only the user file {USER} can hold it"
            ),
        ],
    );
}

#[test]
fn a_less_careful_posture_from_the_repository_is_refused_once_and_not_per_value() {
    check_refused(
        "posture = \"unattended\"",
        "posture = \"solo\"",
        &[format!(
            "{REPOSITORY}:1: `posture = solo` is less safe than unattended and a repository cannot lower safety; \
             only the user file {USER} can hold it"
        )],
    );
}

#[test]
fn without_a_user_file_the_message_names_the_usual_place() {
    let errors = World::default().repository("leases.broad_files = 999").errors();
    assert!(
        errors[0]
            .to_string()
            .ends_with("only the user file /home/ada/.config/clearway/config.toml can hold it")
    );
    assert_eq!(clearway_core::slug::Slug::ConfigUnsafe.exit_code(), 78);
}

#[test]
fn a_careful_posture_of_the_repository_leaves_a_more_careful_user_value_alone() {
    let config =
        World::default().user("leases.broad_files = 10").repository("posture = \"unattended\"").resolve();
    assert_eq!(config.broad_files(), 10);
    assert_eq!(config.lease_durability(), LeaseDurability::Full);
    assert_eq!(
        story(&config, "leases.broad_files"),
        [
            format!("10 from {USER}:1"),
            "over 200 from default".to_owned(),
            format!("50 from posture unattended ({REPOSITORY}:1) ignored: less safe than 10"),
        ]
    );
}

#[test]
fn inside_an_agent_session_environment_and_flags_cannot_lower_safety() {
    let config = World::default()
        .user("leases.durability = \"full\"")
        .variable("CLEARWAY_LEASES_DURABILITY", "normal")
        .flag(KeyId::BroadFiles, "--broad-files", "100000")
        .inside_agent_session()
        .resolve();
    assert_eq!(config.lease_durability(), LeaseDurability::Full);
    assert_eq!(
        story(&config, "leases.durability"),
        [
            format!("full from {USER}:1"),
            "over normal from default".to_owned(),
            "normal from variable CLEARWAY_LEASES_DURABILITY ignored: less safe than full".to_owned(),
        ]
    );
    assert_eq!(
        story(&config, "leases.broad_files"),
        ["200 from default", "100000 from flag --broad-files ignored: less safe than 200"]
    );
}

#[test]
fn inside_an_agent_session_environment_and_flags_can_raise_safety() {
    let config = World::default()
        .variable("CLEARWAY_LEASES_DURABILITY", "full")
        .flag(KeyId::BroadFiles, "--broad-files", "10")
        .inside_agent_session()
        .resolve();
    assert_eq!((config.lease_durability(), config.broad_files()), (LeaseDurability::Full, 10));
}

#[test]
fn outside_an_agent_session_the_operator_may_lower_safety_for_one_command() {
    let config = World::default()
        .user("posture = \"unattended\"")
        .variable("CLEARWAY_LEASES_DURABILITY", "normal")
        .flag(KeyId::BroadFiles, "--broad-files", "1000")
        .resolve();
    assert_eq!((config.lease_durability(), config.broad_files()), (LeaseDurability::Normal, 1_000));
}

#[test]
fn an_ignored_posture_expands_to_nothing() {
    let config = World::default()
        .user("posture = \"unattended\"")
        .variable("CLEARWAY_POSTURE", "solo")
        .inside_agent_session()
        .resolve();
    assert!(story(&config, "posture")[0].starts_with("unattended from "));
    assert_eq!(config.claimed_ttl(), Duration::from_secs(900));
    let ignored: Vec<_> = config.ignored().map(|(key, ignored)| format!("{key}: {ignored}")).collect();
    assert_eq!(ignored, ["posture: solo from variable CLEARWAY_POSTURE ignored: less safe than unattended"]);
}

#[test]
fn an_ignored_key_leaves_the_posture_of_its_layer_in_force() {
    let config = World::default()
        .variable("CLEARWAY_POSTURE", "unattended")
        .variable("CLEARWAY_LEASES_BROAD_FILES", "9999")
        .inside_agent_session()
        .resolve();
    assert_eq!(config.broad_files(), 50);
}

#[test]
fn an_explicit_key_may_relax_the_posture_of_its_own_layer_down_to_what_is_beneath() {
    let config = World::default().repository("posture = \"unattended\"\nleases.broad_files = 150").resolve();
    assert_eq!(config.broad_files(), 150);
}

#[test]
fn safety_is_not_judged_over_a_broken_user_file() {
    let errors =
        World::default().user("leases.broad_files = 900 !").repository("leases.broad_files = 300").errors();
    assert!(errors.iter().all(|error| error.slug().as_str() == "config-syntax"), "{:?}", shown(&errors));
}

#[test]
fn a_repository_may_narrow_a_resource_of_the_user_and_declare_its_own() {
    let config = World::default()
        .user("resources.build = 4\nresources.gpu = { capacity = 2, scope = \"machine\" }")
        .repository(
            "[resources]\nbuild = { capacity = 2, scope = \"machine\" }\n\
             gpu = { capacity = 1, scope = \"machine\" }\n\"port:3000-3009\" = 10",
        )
        .resolve();
    assert_eq!(config.resource("build"), Resource { capacity: 2, machine: true });
    assert_eq!(config.resource("gpu"), Resource { capacity: 1, machine: true });
    assert_eq!(config.resource("port:3000-3009"), Resource { capacity: 10, machine: false });
}

#[test]
fn a_repository_that_widens_a_resource_of_the_user_is_refused() {
    let refused = |line: usize, given: &str, beneath: &str| {
        format!(
            "{REPOSITORY}:{line}: `resources.{given}` is less safe than {beneath} and a repository cannot lower safety; \
             only the user file {USER} can hold it"
        )
    };
    check_refused(
        "[resources]\nbuild = 2\ngpu = { scope = \"machine\" }\n\"port:3000-3009\" = 3",
        "[resources]\nbuild = 3\ngpu = 1\n\"port:3000-3009\" = 10",
        &[
            refused(2, "build = 3", "2"),
            refused(3, "gpu = 1", "1 on this machine"),
            refused(4, "\"port:3000-3009\" = 10", "3"),
        ],
    );
}

#[test]
fn a_repository_may_shorten_claims_only_as_far_as_a_thinking_holder_keeps_them() {
    let ttl = |text: &str| World::default().repository(&format!("leases.claimed_ttl = \"{text}\""));
    for allowed in ["30m", "20m", "15m"] {
        ttl(allowed).resolve();
    }
    for refused in ["31m", "24h", "14m", "1s"] {
        let errors = ttl(refused).errors();
        assert!(shown(&errors)[0].contains("is less safe than 30m"), "{:?}", shown(&errors));
    }
    let patient = World::default().user("leases.claimed_ttl = \"2h\"");
    assert_eq!(
        patient.repository("leases.claimed_ttl = \"1h\"").resolve().claimed_ttl(),
        Duration::from_secs(3_600)
    );
    let brief = World::default().user("leases.claimed_ttl = \"5m\"");
    assert_eq!(
        brief.repository("leases.claimed_ttl = \"5m\"").resolve().claimed_ttl(),
        Duration::from_secs(300)
    );
}
