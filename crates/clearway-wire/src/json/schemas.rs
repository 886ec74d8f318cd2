//! The JSON Schema of every answer, made from the structs that are serialised.

use super::*;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

/// Every schema by the name of its verb; `error` for the answer of any verb that failed, `notify` for what is told
/// to a person's command, and `events` and `audit-export` for one line of theirs.
pub fn schemas() -> Vec<(&'static str, Value)> {
    vec![
        ("reserve", of::<Acted<ReserveReply>>("clearway reserve")),
        ("check", of::<Looked<CheckReply>>("clearway check")),
        ("renew", of::<Acted<RenewReply>>("clearway renew")),
        ("release", of::<Acted<ReleaseReply>>("clearway release")),
        ("waits", of::<Looked<WaitsReply>>("clearway waits")),
        ("wait", of::<Acted<ReserveReply>>("clearway wait")),
        ("wait-cancel", of::<Acted<LeftReply>>("clearway wait --cancel")),
        ("transfer", of::<Acted<TransferReply>>("clearway transfer")),
        ("freeze", of::<Acted<FreezeReply>>("clearway freeze")),
        ("thaw", of::<Acted<ThawReply>>("clearway thaw")),
        ("ask", of::<Acted<NegotiatedReply>>("clearway ask")),
        ("answer", of::<Acted<NegotiatedReply>>("clearway answer")),
        ("withdraw", of::<Acted<NegotiatedReply>>("clearway withdraw")),
        ("force", of::<Acted<NegotiatedReply>>("clearway force")),
        ("negotiations", of::<Looked<NegotiationsReply>>("clearway negotiations")),
        ("halt", of::<Acted<HaltReply>>("clearway halt")),
        ("resume", of::<Acted<ResumeReply>>("clearway resume")),
        ("sweep", of::<Acted<SweepReply>>("clearway sweep")),
        ("leases", of::<Looked<LeasesReply>>("clearway leases")),
        ("mine", of::<Looked<MineReply>>("clearway mine")),
        ("diff", of::<Looked<DiffReply>>("clearway diff")),
        ("radar", of::<Looked<RadarReply>>("clearway radar")),
        ("commit", of::<Acted<CommitReply>>("clearway commit")),
        ("snapshot", of::<Acted<SnapshotReply>>("clearway snapshot")),
        ("snapshots", of::<Looked<SnapshotsReply>>("clearway snapshots")),
        ("show", of::<Looked<ShowReply>>("clearway show")),
        ("restore", of::<Looked<BackReply>>("clearway restore")),
        ("undo", of::<Looked<BackReply>>("clearway undo")),
        ("statusline", of::<Looked<StatuslineReply>>("clearway statusline")),
        ("where", of::<Looked<WhereReply>>("clearway where")),
        ("digest", of::<Looked<DigestReply>>("clearway digest")),
        ("who", of::<Looked<WhoReply>>("clearway who")),
        ("agents", of::<Looked<AgentsReply>>("clearway agents")),
        ("status", of::<Looked<StatusReply>>("clearway status")),
        ("status-cost", of::<Looked<CostReply>>("clearway status --cost")),
        ("events", of::<EventJson>("one line of clearway events")),
        ("audit-verify", of::<Looked<VerifyReply>>("clearway audit verify")),
        ("audit-anchor", of::<Looked<AnchorReply>>("clearway audit anchor")),
        ("audit-export", of::<ExportedJson>("one line of clearway audit export")),
        ("init", of::<Told<InitReply>>("clearway init")),
        ("doctor", of::<Told<DoctorReply>>("clearway doctor")),
        ("demo", of::<Told<DemoReply>>("clearway demo")),
        ("scope-adopt", of::<Told<AdoptReply>>("clearway scope adopt")),
        ("scope-list", of::<Told<ScopesReply>>("clearway scope list")),
        ("config-show", of::<Told<SettingsReply>>("clearway config show")),
        ("config-path", of::<Told<PathsReply>>("clearway config path")),
        ("config-classes", of::<Told<ClassesReply>>("clearway config classes")),
        ("explain", of::<Told<ExplainReply>>("clearway explain SLUG")),
        ("explain-all", of::<Told<SlugsReply>>("clearway explain")),
        ("completions", of::<Told<CompletionsReply>>("clearway completions")),
        ("man", of::<Told<ManReply>>("clearway man")),
        ("help", of::<Told<TextReply>>("clearway help")),
        ("send", of::<Acted<SendReply>>("clearway send")),
        ("broadcast", of::<Acted<SendReply>>("clearway broadcast")),
        ("inbox", of::<Acted<InboxReply>>("clearway inbox")),
        ("read", of::<Acted<ReadReply>>("clearway read")),
        ("ack", of::<Acted<AckReply>>("clearway ack")),
        ("thread", of::<Looked<ThreadReply>>("clearway thread")),
        ("threads", of::<Looked<ThreadsReply>>("clearway threads")),
        ("search", of::<Looked<SearchReply>>("clearway search")),
        ("stale-acks", of::<Looked<StaleAcksReply>>("clearway stale-acks")),
        ("policy", of::<Acted<MailRulesReply>>("clearway policy")),
        ("contacts", of::<Acted<MailRulesReply>>("clearway contacts")),
        ("notify", of::<AlertJson>("what the command of [notify] reads")),
        ("error", of::<Failed>("the answer of any verb that failed")),
    ]
}

fn of<T: JsonSchema>(title: &str) -> Value {
    let generator: SchemaGenerator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<T>();
    schema.insert("title".to_owned(), json!(title));
    schema.to_value()
}
