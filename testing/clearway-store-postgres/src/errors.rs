//! What the server's errors mean to the contract.

use clearway_store::contract::{Holder, Lack, StoreError};
use tokio_postgres::error::SqlState;

/// Why a batch failed, reduced to what is looked at: its first failure.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    /// `None` if the server said nothing: the connection is gone.
    code: Option<SqlState>,
    table: Option<String>,
    text: String,
    /// Whether it was the last statement of the batch.
    last: bool,
}

impl Trouble {
    pub(crate) fn of(error: &tokio_postgres::Error, last: bool) -> Self {
        match error.as_db_error() {
            Some(told) => Self {
                code: Some(told.code().clone()),
                table: told.table().map(str::to_owned),
                text: told.message().to_owned(),
                last,
            },
            None => Self { code: None, table: None, text: error.to_string(), last },
        }
    }

    /// Whether the wait for a lock was given up.
    pub(crate) fn is_lock_wait(&self) -> bool {
        self.code == Some(SqlState::LOCK_NOT_AVAILABLE)
    }

    /// Whether nobody can tell if a batch that ends with a commit was committed: the answers did not come, or the
    /// server was told to stop at the commit itself, which it may have made before it heard.
    pub(crate) fn leaves_open(&self) -> bool {
        self.code.as_ref().is_none_or(|code| self.last && code.code().starts_with("57P"))
    }

    /// The error of the contract. A transaction the server gave up is as if another writer had been in the way.
    pub(crate) fn store_error(self, place: &str) -> StoreError {
        let path = place.to_owned();
        let Some(code) = self.code.clone() else {
            return StoreError::Unavailable { path, reason: self.text };
        };
        match code {
            code if code.code().starts_with("40") => self.busy(),
            SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED => self.busy(),
            SqlState::UNIQUE_VIOLATION if self.table.as_deref() == Some("events") => self.busy(),
            SqlState::UNIQUE_VIOLATION => StoreError::IdTaken,
            // How much is left on a server's disk is not ours to see.
            SqlState::DISK_FULL => StoreError::Full {
                path,
                disk: "the server's disk".to_owned(),
                free_bytes: 0,
                lack: Lack::Bytes(None),
            },
            SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::ReadOnly { path, reason: self.text },
            _ => StoreError::Unavailable { path, reason: format!("{} ({})", self.text, code.code()) },
        }
    }

    fn busy(self) -> StoreError {
        StoreError::Busy { waited_ms: 0, holders: vec![Holder::Told(self.text)] }
    }
}
