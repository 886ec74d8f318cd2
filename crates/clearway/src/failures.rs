//! What keeps files from being found, read or written, in the words of the kernel.

use clearway_core::failure::Failure;
use clearway_core::hint;
use clearway_core::slug::Slug;
use clearway_platform::environment;
use clearway_platform::files::{self, FileError};
use std::path::Path;

pub(crate) fn no_home(error: &environment::HomeError) -> Failure {
    Failure::new(Slug::StoreUnavailable, error.to_string())
        .hint("set HOME, or XDG_STATE_HOME and XDG_CONFIG_HOME")
}

pub(crate) fn file_failure(error: &FileError) -> Failure {
    use std::io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
    let message = format!("{error}{cause}");
    let (kind, has_files) = match error {
        FileError::System { source, path, .. } => (Some(source.kind()), !files::lacks_files(path, 1)),
        _ => (None, true),
    };
    match kind {
        Some(StorageFull) if has_files => {
            Failure::new(Slug::StoreFull, message).hint("make room on that disk")
        }
        Some(StorageFull) => Failure::new(Slug::StoreFull, message)
            .hint("no more files can be made there: remove some on that disk, however small"),
        Some(QuotaExceeded) => Failure::new(Slug::StoreFull, message)
            .hint("remove files of yours on that disk, or have the quota raised"),
        Some(ReadOnlyFilesystem | PermissionDenied) => Failure::new(Slug::StoreReadOnly, message)
            .hint("reading still works; to write, make the directory writable"),
        _ => Failure::new(Slug::StoreUnavailable, message).hint(hint::DOCTOR),
    }
}

/// Makes the directory a file is to lie in, if it is not there.
pub(crate) fn directory_of(path: &Path) -> Result<(), FileError> {
    match path.parent().filter(|parent| !parent.as_os_str().is_empty() && !parent.exists()) {
        Some(parent) => files::create_private_dir_all(parent),
        None => Ok(()),
    }
}
