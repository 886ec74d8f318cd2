//! Test kit.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests stand outside the product and drive it through the machine"
)]
