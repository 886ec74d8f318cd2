//! Which files changed lately, by what the file system says of them.

use clearway_kernel::Changed;
use clearway_platform::files;
use clearway_platform::stopwatch::Stopwatch;
use std::path::Path;
use std::time::Duration;

/// Those that changed after an instant, as far as can be told in a while.
pub(crate) fn since(root: &Path, paths: &[&str], since_ns: i64, within: Duration) -> Vec<Changed> {
    let stopwatch = Stopwatch::start();
    let in_time = |_: &(usize, &&str)| Duration::from_millis(stopwatch.elapsed_ms()) < within;
    let looked_at = paths.iter().enumerate().take_while(in_time);
    looked_at
        .filter_map(|(at, path)| Some(Changed { at, is_gone: is_gone(&root.join(path), since_ns)? }))
        .collect()
}

/// Whether a file that changed is gone; `None` if it did not change.
fn is_gone(path: &Path, since_ns: i64) -> Option<bool> {
    if let Some(changed) = files::changed_at(path) {
        return (changed > since_ns).then_some(false);
    }
    let directory = path.ancestors().skip(1).find_map(files::changed_at)?;
    (directory > since_ns).then_some(true)
}
