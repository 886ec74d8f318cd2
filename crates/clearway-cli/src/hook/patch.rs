//! Which files a patch in the `apply_patch` format touches. The patch is not applied and not checked: whatever looks like
//! a header counts, so that a patch that the client would repair does not slip through.

/// Every file that is added, updated, deleted or moved to, each once, in order.
pub(crate) fn files(patch: &str) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for line in patch.lines() {
        let named = HEADERS.iter().find_map(|header| line.trim_start().strip_prefix(header));
        let Some(file) = named.map(str::trim).filter(|file| !file.is_empty()) else { continue };
        if !files.iter().any(|known| known == file) {
            files.push(file.to_owned());
        }
    }
    files
}

const HEADERS: [&str; 4] = ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_is_named_once() {
        let patch = "*** Begin Patch\n*** Add File: new.rs\n+a\n*** Update File: src/old name.rs\n\
                     *** Move to: src/b.rs\n@@\n-x\n+y\n*** Delete File: gone.rs\n*** Update File: new.rs\n*** End Patch";
        assert_eq!(files(patch), ["new.rs", "src/old name.rs", "src/b.rs", "gone.rs"]);
    }

    #[test]
    fn what_only_speaks_of_a_patch_touches_nothing() {
        for text in ["", "*** Begin Patch\n*** End Patch", "*** Add File:", "+*** Add File: a", "+++ b/a.rs"]
        {
            assert!(files(text).is_empty(), "{text}");
        }
    }
}
