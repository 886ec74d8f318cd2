//! Tools of MCP servers that write files, beside those that are built in. Layers add to them; none takes away, so that no
//! file can make an edit pass unseen.

use super::source::{Layer, Source};

/// A tool, and the fields of its input that name files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WritingTool {
    /// As its server names it, or with the server in front.
    pub name: String,
    pub fields: Vec<String>,
    pub source: Source,
    pub layer: Layer,
}

impl WritingTool {
    /// Whether a client means this tool. Clients put the server in front of it, each in its own way.
    pub(super) fn is_called(&self, called: &str) -> bool {
        let before = called.strip_suffix(self.name.as_str());
        before.is_some_and(|server| server.is_empty() || server.ends_with(['_', ':', '.', '/']))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_is_known_with_and_without_its_server() {
        let tool = |name: &str| WritingTool {
            name: name.to_owned(),
            fields: Vec::new(),
            source: Source::Default,
            layer: Layer::User,
        };
        for called in ["save_page", "mcp__acme__save_page", "mcp_acme_save_page", "MCP:save_page"] {
            assert!(tool("save_page").is_called(called), "{called}");
        }
        assert!(tool("acme__save_page").is_called("mcp__acme__save_page"));
        assert!(!tool("save_page").is_called("mcp__acme__unsave_pages"));
        assert!(!tool("page").is_called("mcp__acme__savepage"));
    }
}
