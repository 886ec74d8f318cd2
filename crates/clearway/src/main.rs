//! The `clearway` binary. What it is made of is in the library beside it.

use std::process::ExitCode;

/// musl's allocator asks the kernel for nearly every block; in a process that lives a millisecond that was a third
/// of all system calls. docs/adr/0004-linking.md has the figures of this one.
#[cfg(target_env = "musl")]
#[global_allocator]
static HEAP: clearway_store_sqlite::Heap = clearway_store_sqlite::Heap::new();

fn main() -> ExitCode {
    clearway::main()
}
