//! Every value is traced to its source, with what it replaced.

use super::*;

#[test]
fn a_variable_over_a_file_names_both() {
    let config = World::default()
        .user("\n[leases]\nbroad_files = 150")
        .variable("CLEARWAY_LEASES_BROAD_FILES", "120")
        .resolve();
    assert_eq!(
        story(&config, "leases.broad_files"),
        [
            "120 from variable CLEARWAY_LEASES_BROAD_FILES".to_owned(),
            format!("over 150 from {USER}:3"),
            "over 200 from default".to_owned(),
        ]
    );
}

#[test]
fn every_safety_relevant_setting_is_traced_to_its_source() {
    let config = World::default()
        .user("[store]\nurl = \"/srv/clearway.db\"\n[leases]\nbroad_files = 150\n[classes]\nignored = [\"out/**\"]\n")
        .repository("resources.build = 2\nposture = \"team\"\nleases.durability = \"full\"\nleases.broad_files = 90")
        .resolve();
    let traced: Vec<_> = config
        .entries()
        .filter(|entry| entry.safety)
        .map(|entry| format!("{} {}", entry.key, entry.source))
        .collect();
    assert_eq!(
        traced,
        [
            format!("store.url {USER}:2"),
            format!("posture {REPOSITORY}:2"),
            "mode default".to_owned(),
            format!("leases.claimed_ttl posture team ({REPOSITORY}:2)"),
            format!("leases.durability {REPOSITORY}:3"),
            format!("leases.broad_files {REPOSITORY}:4"),
            "git.strict default".to_owned(),
            "notify.command default".to_owned(),
            "mail.kept default".to_owned(),
            "mail.messages default".to_owned(),
            format!("classes.ignored {USER}:6"),
            "classes.common default".to_owned(),
            format!("resources.build {REPOSITORY}:1"),
        ]
    );
}

#[test]
fn a_posture_is_traced_into_each_value_it_stands_for() {
    let config = World::default().user("# at night\nposture = \"unattended\"").resolve();
    assert!(story(&config, "posture")[0].starts_with("unattended from "));
    assert_eq!(config.lease_durability(), LeaseDurability::Full);
    assert_eq!(
        story(&config, "leases.durability"),
        [format!("full from posture unattended ({USER}:2)"), "over normal from default".to_owned()]
    );
    assert_eq!(
        story(&config, "leases.claimed_ttl"),
        [format!("15m from posture unattended ({USER}:2)"), "over 30m from default".to_owned()]
    );
}

#[test]
fn a_posture_from_a_stronger_layer_overrides_explicit_keys_beneath_and_says_so() {
    let config = World::default()
        .user("leases.broad_files = 180")
        .variable("CLEARWAY_POSTURE", "unattended")
        .resolve();
    assert_eq!(
        story(&config, "leases.broad_files"),
        [
            "50 from posture unattended (variable CLEARWAY_POSTURE)".to_owned(),
            format!("over 180 from {USER}:1"),
            "over 200 from default".to_owned(),
        ]
    );
}

#[test]
fn inside_one_layer_an_explicit_key_beats_the_posture_and_both_are_named() {
    for text in [
        "posture = \"unattended\"\nleases.broad_files = 80",
        "leases.broad_files = 80\nposture = \"unattended\"",
    ] {
        let config = World::default().user(text).resolve();
        let lines = story(&config, "leases.broad_files");
        assert!(lines[0].starts_with("80 from /home"), "{lines:?}");
        assert!(lines[1].starts_with("over 50 from posture unattended (/home"), "{lines:?}");
        assert_eq!(lines[2], "over 200 from default");
    }
}

#[test]
fn a_variable_after_a_posture_wins_and_names_the_posture() {
    let config = World::default()
        .repository("posture = \"unattended\"")
        .variable("CLEARWAY_LEASES_CLAIMED_TTL", "20m")
        .resolve();
    assert_eq!(
        story(&config, "leases.claimed_ttl"),
        [
            "20m from variable CLEARWAY_LEASES_CLAIMED_TTL".to_owned(),
            format!("over 15m from posture unattended ({REPOSITORY}:1)"),
            "over 30m from default".to_owned(),
        ]
    );
}

#[test]
fn a_posture_replaces_all_values_of_a_weaker_one() {
    let config =
        World::default().user("posture = \"unattended\"").flag(KeyId::Posture, "--posture", "solo").resolve();
    assert_eq!(config.lease_durability(), LeaseDurability::Normal);
    assert_eq!(config.claimed_ttl(), Duration::from_secs(1_800));
    assert_eq!(
        story(&config, "leases.durability"),
        [
            "normal from posture solo (flag --posture)".to_owned(),
            format!("over full from posture unattended ({USER}:1)"),
            "over normal from default".to_owned(),
        ]
    );
}

#[test]
fn a_password_in_the_store_address_is_kept_for_use_and_never_shown() {
    let url = "postgres://ada:hunter2hunter2@db.example/clearway";
    let config = World::default()
        .user(&format!("store.url = \"{url}\""))
        .variable("CLEARWAY_STORE", "postgres://eve:other-password-9@db.example/x")
        .resolve();
    assert_eq!(config.store_url(), Some("postgres://eve:other-password-9@db.example/x"));
    let told = story(&config, "store.url").join("\n");
    assert!(told.contains("postgres://ada:[redacted:url-password]@db.example/clearway"), "{told}");
    assert!(!told.contains("hunter2") && !told.contains("other-password"), "{told}");
}
