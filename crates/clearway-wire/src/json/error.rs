//! The error envelope.

use super::{AheadJson, Blocker, CycleStepJson, LeaseJson, integer};
use clearway_core::failure::{Details, Failure, Field, Retry};
use clearway_core::time::Now;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// The answer of a command that failed.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Failed {
    /// Always false here.
    pub ok: bool,
    /// What went wrong.
    pub error: ErrorJson,
}

impl Failed {
    /// The answer for a failure; `now` turns deadlines into spans.
    pub fn new(failure: &Failure, now: &Now) -> Self {
        Self { ok: false, error: ErrorJson::new(failure, now) }
    }
}

/// What went wrong and what to do about it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub struct ErrorJson {
    /// The stable name; `clearway explain SLUG` tells more.
    pub slug: String,
    /// What sort of failure it is; decides the exit code.
    pub kind: String,
    /// What happened.
    pub message: String,
    /// Commands that work when pasted, or plain advice.
    pub hints: Vec<String>,
    /// Whether trying again helps.
    pub retry: RetryJson,
    /// Data that depends on the slug, among them `blockers` and `ahead`, `cycle` and `yielder`, `lease` and `held_now`,
    /// `first_bad_seq`, `directory` and `path`, `holders`, `checks`, and single facts such as `agent`, `lease` and
    /// `pid`.
    pub details: Map<String, Value>,
}

impl ErrorJson {
    /// A failure as programs read it.
    pub fn new(failure: &Failure, now: &Now) -> Self {
        Self {
            slug: failure.slug.as_str().to_owned(),
            kind: failure.slug.kind().word().to_owned(),
            message: failure.message.clone(),
            hints: failure.hints.iter().map(ToString::to_string).collect(),
            retry: failure.retry.into(),
            details: details(&failure.details, now),
        }
    }
}

/// Whether trying again helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "Retry")]
pub struct RetryJson {
    /// When.
    pub when: RetryWhen,
    /// With `after`: how long to wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

/// When to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RetryWhen {
    /// It does not help.
    Never,
    /// At once.
    Now,
    /// After `ms`.
    After,
}

impl From<Retry> for RetryJson {
    fn from(retry: Retry) -> Self {
        match retry {
            Retry::Never => Self { when: RetryWhen::Never, ms: None },
            Retry::Now => Self { when: RetryWhen::Now, ms: None },
            Retry::AfterMs(ms) => Self { when: RetryWhen::After, ms: Some(integer(ms)) },
        }
    }
}

fn details(details: &Details, now: &Now) -> Map<String, Value> {
    let value = match details {
        Details::None => json!({}),
        Details::Blockers { leases, ahead } => {
            json!({ "blockers": Blocker::list(leases, now), "ahead": AheadJson::list(ahead) })
        }
        Details::Circle(circle) => json!({
            "cycle": circle.steps.iter().map(CycleStepJson::new).collect::<Vec<_>>(),
            "yielder": circle.yielder.as_ref().map(|(agent, lease, target)| {
                json!({ "agent": agent.to_string(), "lease": lease.to_string(), "pattern": target })
            }),
        }),
        Details::Lease { lease, held_now } => {
            json!({ "lease": LeaseJson::new(lease, now), "held_now": Blocker::list(held_now, now) })
        }
        Details::FirstBadSeq(seq) => json!({ "first_bad_seq": integer(seq.0) }),
        Details::Elsewhere(there) => json!({ "directory": there.directory, "path": there.path }),
        Details::Fields(fields) => Value::Object(named(fields)),
    };
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn named(fields: &[(&'static str, Field)]) -> Map<String, Value> {
    let value = |field: &Field| match field {
        Field::Text(text) => json!(text),
        Field::Number(number) => json!(integer(*number)),
        Field::Texts(texts) => json!(texts),
    };
    fields.iter().map(|(name, field)| ((*name).to_owned(), value(field))).collect()
}
