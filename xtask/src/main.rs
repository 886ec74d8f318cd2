#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "automation runs programs and measures time"
)]
fn main() {}
