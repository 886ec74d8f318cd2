//! Answers that are text to read.

use schemars::JsonSchema;
use serde::Serialize;

/// `explain SLUG`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ExplainReply {
    /// Which one.
    #[serde(flatten)]
    pub slug: SlugReply,
    /// Its page, as Markdown.
    pub page: String,
}

/// `explain` alone
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SlugsReply {
    /// Every slug in the order of the reference.
    pub slugs: Vec<SlugReply>,
}

/// One slug.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct SlugReply {
    /// The stable name.
    pub slug: String,
    /// What sort of failure it is.
    pub kind: String,
    /// The exit code of a command that fails with it.
    pub exit_code: u8,
    /// What it means in a sentence.
    pub summary: String,
}

/// `completions`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CompletionsReply {
    /// For which shell.
    pub shell: String,
    /// The script.
    pub script: String,
}

/// `man`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ManReply {
    /// The files written.
    pub written: Vec<String>,
    /// Without a directory: the page of `clearway` itself, or of the verb that was named.
    pub page: Option<String>,
}

/// `help` and `--version`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct TextReply {
    /// What a person would have been shown.
    pub text: String,
}
