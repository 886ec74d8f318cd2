//! Randomness from the kernel. No generator of our own and no seed: whoever needs repeatable
//! entropy gets it as an argument.

use std::io;

/// Fills the buffer with bytes fit for ids, nonces and keys.
///
/// It waits for the kernel's pool only early at boot.
pub fn fill(buffer: &mut [u8]) -> io::Result<()> {
    fill_from_kernel(buffer)
}

#[cfg(not(target_os = "macos"))]
fn fill_from_kernel(buffer: &mut [u8]) -> io::Result<()> {
    use rustix::rand::{GetRandomFlags, getrandom};

    let mut rest = buffer;
    while !rest.is_empty() {
        match getrandom(&mut *rest, GetRandomFlags::empty()) {
            Ok(count) => rest = rest.split_at_mut_checked(count).map_or(&mut [], |(_, left)| left),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Untested: macOS has no getrandom, its device never blocks.
#[cfg(target_os = "macos")]
fn fill_from_kernel(buffer: &mut [u8]) -> io::Result<()> {
    use std::io::Read;

    std::fs::File::open("/dev/urandom")?.read_exact(buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_written_even_in_buffers_the_kernel_serves_in_pieces() {
        let mut buffer = vec![0_u8; 1 << 20];
        fill(&mut buffer).unwrap();
        let longest_zero_run = buffer.split(|byte| *byte != 0).map(<[u8]>::len).max();
        assert!(longest_zero_run < Some(16));
    }

    #[test]
    fn two_fills_differ() {
        let (mut first, mut second) = ([0_u8; 32], [0_u8; 32]);
        fill(&mut first).unwrap();
        fill(&mut second).unwrap();
        assert_ne!(first, second);
    }

    #[test]
    fn an_empty_buffer_is_filled_at_once() {
        assert!(fill(&mut []).is_ok());
    }
}
