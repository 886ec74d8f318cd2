//! Passes the target on, so that `doctor` can say which build it is.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a build script is told everything through its environment"
)]

fn main() {
    println!("cargo::rustc-env=CLEARWAY_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
}
