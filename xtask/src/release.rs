//! The binary as it is released: static, not position-independent, for the machine this runs on.

use crate::invocation::Invocation;
use crate::root;
use crate::sandbox::Sandbox;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The kind of an ELF file that is loaded where it was linked, without relocation.
const ELF_FIXED: u16 = 2;
/// The kind of a program header that names a dynamic linker.
const ELF_INTERPRETER: u32 = 3;
/// The section of the functions of short calls, among the names of a file's sections.
const FIRST_FUNCTIONS: &[u8] = b"\0.text.first\0";

/// Builds `clearway` for release and makes sure that it is what it is meant to be.
pub(crate) fn build() -> Result<PathBuf, String> {
    build_package("clearway")?;
    let binary = directory().join("clearway");
    is_quick_to_start(&binary)?;
    Ok(binary)
}

/// Builds one package for release.
pub(crate) fn build_package(package: &str) -> Result<(), String> {
    let target = target();
    let line = format!("cargo build --quiet --locked --release --target {target} --package {package}");
    Invocation::new(&line).run()
}

/// Installs `clearway` as the README says, into a directory that is removed again, and has it show itself at work.
///
/// The target is that of releases, so that what was built for one is used.
pub(crate) fn install() -> Result<(), String> {
    let sandbox = Sandbox::new()?;
    let place = sandbox.file("installed");
    Invocation::new("cargo install --quiet --locked --path crates/clearway --root")
        .path(&place)
        .and("--target")
        .and(&target())
        .run()?;
    let output =
        sandbox.command(&sandbox.file("installed/bin/clearway")).arg("demo").stdout(Stdio::piped()).output();
    let output = output.map_err(|error| format!("what was installed does not start: {error}"))?;
    let said = String::from_utf8_lossy(&output.stdout);
    if output.status.success() && said.contains("the log is whole") {
        return Ok(());
    }
    Err(format!("clearway demo ended with {} and showed:\n{said}", output.status))
}

/// Where released binaries are put.
pub(crate) fn directory() -> PathBuf {
    target_directory().join(target()).join("release")
}

/// Where everything that is built is put.
pub(crate) fn target_directory() -> PathBuf {
    let named = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from);
    root().join(named)
}

/// The target of Linux releases on this kind of machine.
pub(crate) fn target() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// A binary that is relocated, linked dynamically or laid out at random starts slower, and nothing else would tell.
fn is_quick_to_start(binary: &Path) -> Result<(), String> {
    let bytes = std::fs::read(binary).map_err(|error| format!("{}: {error}", binary.display()))?;
    let complain = |what: &str| Err(format!("{} {what}; see docs/adr/0004-linking.md", binary.display()));
    if read_u16(&bytes, 16) != Some(ELF_FIXED) {
        return complain("is position-independent");
    }
    if program_headers(&bytes).any(|kind| kind == ELF_INTERPRETER) {
        return complain("is dynamically linked");
    }
    if !bytes.windows(FIRST_FUNCTIONS.len()).any(|names| names == FIRST_FUNCTIONS) {
        return complain("has its functions in no order");
    }
    Ok(())
}

/// The kinds of the program headers of a 64-bit little-endian ELF file.
fn program_headers(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    let start = bytes.get(32..40).and_then(|slice| slice.try_into().ok()).map_or(0, u64::from_le_bytes);
    let start = usize::try_from(start).unwrap_or(usize::MAX);
    let size = usize::from(read_u16(bytes, 54).unwrap_or(0));
    let count = usize::from(read_u16(bytes, 56).unwrap_or(0));
    (0..count).filter_map(move |index| {
        let at = start.checked_add(index.checked_mul(size)?)?;
        bytes.get(at..at.checked_add(4)?)?.try_into().ok().map(u32::from_le_bytes)
    })
}

fn read_u16(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..at + 2)?.try_into().ok().map(u16::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_headers_of_a_file_are_read_within_its_bounds() {
        let mut file = vec![0_u8; 64];
        file[32..40].copy_from_slice(&64_u64.to_le_bytes());
        file[54..56].copy_from_slice(&56_u16.to_le_bytes());
        file[56..58].copy_from_slice(&3_u16.to_le_bytes());
        file.extend_from_slice(&ELF_INTERPRETER.to_le_bytes());
        assert_eq!(program_headers(&file).collect::<Vec<_>>(), [ELF_INTERPRETER]);
        assert_eq!(program_headers(b"short").count(), 0);
    }
}
