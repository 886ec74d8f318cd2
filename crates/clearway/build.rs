//! Passes the target on, so that `doctor` can say which build it is, and has the linker of a released binary put the
//! functions of short calls side by side (docs/adr/0004-linking.md).

use std::env::var;
use std::path::Path;

/// What `cargo xtask order` wrote.
const FUNCTIONS: &str = "first-functions.txt";

fn main() {
    println!("cargo::rustc-env=CLEARWAY_TARGET={}", var("TARGET").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={FUNCTIONS}");
    if var("CARGO_CFG_TARGET_ENV").is_ok_and(|environment| environment == "musl") {
        order_functions();
    }
}

fn order_functions() {
    let (Ok(list), Ok(directory)) = (std::fs::read_to_string(FUNCTIONS), var("OUT_DIR")) else { return };
    let names = list.lines().filter(|line| !line.starts_with('#'));
    // A function that the compiler took from another unit has that unit's number behind its name.
    let section = |name| format!("    *(.text.{name} .text.{name}.llvm.* .text.unlikely.{name})\n");
    let sections: String = names.map(section).collect();
    let script = Path::new(&directory).join("first-functions.ld");
    let text = format!("SECTIONS\n{{\n  .text.first :\n  {{\n{sections}  }}\n}}\nINSERT BEFORE .text;\n");
    // Without it the binary is the same, and slower to start.
    if std::fs::write(&script, text).is_ok() {
        println!("cargo::rustc-link-arg-bins=-Wl,-T,{}", script.display());
    }
}
