//! The page of every error, built in. A slug without a page does not compile.

use clearway_core::slug::Slug;

/// The page, as Markdown.
pub(crate) fn page(slug: Slug) -> &'static str {
    macro_rules! page {
        ($name:literal) => {
            include_str!(concat!("../../../docs/errors/", $name, ".md"))
        };
    }
    match slug {
        Slug::ReservationHeld => page!("reservation-held"),
        Slug::WouldDeadlock => page!("would-deadlock"),
        Slug::Frozen => page!("frozen"),
        Slug::CommitRefused => page!("commit-refused"),
        Slug::NothingToCommit => page!("nothing-to-commit"),
        Slug::OthersAtWork => page!("others-at-work"),
        Slug::RemovesRepository => page!("removes-repository"),
        Slug::ForceTooEarly => page!("force-too-early"),
        Slug::AskedOneself => page!("asked-oneself"),
        Slug::EtaOutOfRange => page!("eta-out-of-range"),
        Slug::NotParty => page!("not-party"),
        Slug::AlreadyAnswered => page!("already-answered"),
        Slug::Halted => page!("halted"),
        Slug::AuditBroken => page!("audit-broken"),
        Slug::Unhealthy => page!("unhealthy"),
        Slug::ClientNotActive => page!("client-not-active"),
        Slug::Usage => page!("usage"),
        Slug::InvalidPattern => page!("invalid-pattern"),
        Slug::InvalidPath => page!("invalid-path"),
        Slug::OutsideScope => page!("outside-scope"),
        Slug::InvalidName => page!("invalid-name"),
        Slug::InvalidAgentName => page!("invalid-agent-name"),
        Slug::InvalidId => page!("invalid-id"),
        Slug::InvalidDuration => page!("invalid-duration"),
        Slug::TooLarge => page!("too-large"),
        Slug::NoScope => page!("no-scope"),
        Slug::NoIdentity => page!("no-identity"),
        Slug::NotConfirmed => page!("not-confirmed"),
        Slug::NoCheckout => page!("no-checkout"),
        Slug::SnapshotTooLarge => page!("snapshot-too-large"),
        Slug::SnapshotUnreadable => page!("snapshot-unreadable"),
        Slug::RestoreFailed => page!("restore-failed"),
        Slug::IdempotencyMismatch => page!("idempotency-mismatch"),
        Slug::MessageExists => page!("message-exists"),
        Slug::NotAccepted => page!("not-accepted"),
        Slug::NotRecipient => page!("not-recipient"),
        Slug::UnknownRecipient => page!("unknown-recipient"),
        Slug::UnknownThread => page!("unknown-thread"),
        Slug::NotHolder => page!("not-holder"),
        Slug::HeldByCommand => page!("held-by-command"),
        Slug::NotYou => page!("not-you"),
        Slug::NotOperator => page!("not-operator"),
        Slug::ClaimTooBroad => page!("claim-too-broad"),
        Slug::RecipientGone => page!("recipient-gone"),
        Slug::QuotaExceeded => page!("quota-exceeded"),
        Slug::StaleFence => page!("stale-fence"),
        Slug::LeaseExpired => page!("lease-expired"),
        Slug::CursorDiverged => page!("cursor-diverged"),
        Slug::NotFound => page!("not-found"),
        Slug::UnknownSlug => page!("unknown-slug"),
        Slug::StoreUnavailable => page!("store-unavailable"),
        Slug::StoreNewer => page!("store-newer"),
        Slug::StoreCorrupt => page!("store-corrupt"),
        Slug::StoreLost => page!("store-lost"),
        Slug::StoreFull => page!("store-full"),
        Slug::StoreReadOnly => page!("store-read-only"),
        Slug::StoreNotPrivate => page!("store-not-private"),
        Slug::NetworkFileSystem => page!("network-file-system"),
        Slug::GitMissing => page!("git-missing"),
        Slug::GitFailed => page!("git-failed"),
        Slug::ClientConfigUnwritable => page!("client-config-unwritable"),
        Slug::UnreadableRow => page!("unreadable-row"),
        Slug::StoreBusy => page!("store-busy"),
        Slug::Internal => page!("internal"),
        Slug::OutputUnwritable => page!("output-unwritable"),
        Slug::ConfigSyntax => page!("config-syntax"),
        Slug::ConfigUnknownKey => page!("config-unknown-key"),
        Slug::ConfigWrongType => page!("config-wrong-type"),
        Slug::ConfigBadValue => page!("config-bad-value"),
        Slug::ConfigUnsafe => page!("config-unsafe"),
        Slug::ClientConfig => page!("client-config"),
        Slug::LeaseLost => page!("lease-lost"),
        Slug::CommandNotExecutable => page!("command-not-executable"),
        Slug::CommandNotFound => page!("command-not-found"),
    }
}

/// What it means in a sentence: the first paragraph of its page.
pub(crate) fn summary(slug: Slug) -> &'static str {
    page(slug).lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Before the example of what no command of ours says, but a hook to a command of somebody else.
    const SAID_BY_HOOK: &str = "An agent types this, and its hook answers:\n\n";

    #[test]
    fn every_page_says_what_it_means_shows_an_example_and_what_to_do() {
        for slug in Slug::ALL {
            let page = page(*slug);
            assert!(page.starts_with(&format!("# {slug}\n\n")), "{slug}: title");
            assert!(summary(*slug).ends_with('.') && summary(*slug).len() <= 52, "{slug}: summary");
            let code = format!("Exit code: {}", slug.exit_code());
            assert!(page.lines().any(|line| line == code), "{slug}: {code}");
            let (_, example) = page.split_once("\n## Example\n\n").unwrap_or_default();
            let (before, example) = example.split_once("```text\n$ ").unwrap_or_default();
            let (example, rest) = example.split_once("\n```\n").unwrap_or_default();
            match before {
                SAID_BY_HOOK => assert!(example.contains("\nClearway: not run, "), "{slug}: output"),
                _ => {
                    assert!(before.is_empty() && example.contains("clearway"), "{slug}: command");
                    assert!(example.contains(&format!("\nerror[{slug}]: ")), "{slug}: output");
                }
            }
            assert!(rest.starts_with("\n## What to do\n\n- "), "{slug}: advice");
            assert!(page.lines().all(|line| line.chars().count() <= 80), "{slug}: width");
        }
    }

    #[test]
    fn every_verb_an_example_runs_exists() {
        let command = crate::arguments::command();
        for slug in Slug::ALL.iter().filter(|slug| !page(**slug).contains(SAID_BY_HOOK)) {
            let run = page(*slug).lines().filter_map(|line| line.strip_prefix("$ "));
            let mut seen = 0;
            for line in run {
                let (_, words) = line.split_once("clearway ").unwrap_or_default();
                let verb = words.split(' ').find(|word| command.find_subcommand(word).is_some());
                assert!(verb.is_some(), "{slug}: {line}");
                seen += 1;
            }
            assert!(seen > 0, "{slug}");
        }
    }
}
