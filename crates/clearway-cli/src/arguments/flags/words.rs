//! Pages about the program itself.

use crate::verbs::Detail;
use clap::Args;
use std::path::PathBuf;

#[derive(Clone, Debug, Args)]
pub(crate) struct ExplainFlags {
    /// The name in `error[name]`
    #[arg(value_name = "SLUG")]
    pub(crate) slug: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct CompletionsFlags {
    /// For which shell
    #[arg(value_enum, value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ManFlags {
    /// Where to write the pages, or the verb whose page is wanted
    // Not `directory`, which is what -C is called everywhere.
    #[arg(value_name = "DIR|VERB")]
    pub(crate) pages: Vec<PathBuf>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct HelpFlags {
    /// The verb, such as `reserve` or `audit verify`
    #[arg(value_name = "VERB")]
    pub(crate) verb: Vec<String>,
    /// Also the verbs and flags for scripts
    #[arg(long)]
    pub(crate) all: bool,
}

impl HelpFlags {
    /// How much to show.
    pub(crate) fn detail(&self) -> Detail {
        if self.all { Detail::All } else { Detail::Brief }
    }
}
