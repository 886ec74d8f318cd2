//! Passes the target on, so that `doctor` can say which build it is.

fn main() {
    println!("cargo::rustc-env=CLEARWAY_TARGET={}", std::env::var("TARGET").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
}
