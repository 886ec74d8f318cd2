//! SQLite's memory comes from the allocator of the program.
//!
//! A call lives for a millisecond, and what it pays for most are fresh pages: about three microseconds each. SQLite would
//! otherwise ask the C library, which keeps a second heap with pages of its own and, in a static binary, asks the kernel
//! for nearly every block. One heap has half the pages. `docs/adr/0004-linking.md` has the figures.
//!
//! This is the one file of the workspace with `unsafe` in it: the functions SQLite calls get and give raw blocks. Each
//! block begins with a word that tells its whole size, since SQLite gives back no more than a pointer.

#![expect(unsafe_code, reason = "SQLite's memory functions deal in raw blocks; nothing else here does")]

use rusqlite::ffi;
use std::alloc::{Layout, alloc, dealloc, realloc};
use std::ffi::{c_int, c_void};
use std::sync::Once;

/// The word in front of every block. SQLite asks for alignment to eight bytes, so the word is as long.
const WORD: usize = 8;

/// Has SQLite use the program's allocator. It has to come before anything else of SQLite's, and does nothing twice.
pub(crate) fn share() {
    static SHARED: Once = Once::new();
    SHARED.call_once(|| {
        let methods = ffi::sqlite3_mem_methods {
            xMalloc: Some(take),
            xFree: Some(give_back),
            xRealloc: Some(resize),
            xSize: Some(size),
            xRoundup: Some(round_up),
            xInit: Some(begin),
            xShutdown: Some(end),
            pAppData: std::ptr::null_mut(),
        };
        // SAFETY: SQLite copies the table before it returns, and the functions in it keep their promises below. Should it
        // be set up already it refuses, and goes on with the memory it has.
        unsafe { ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) };
    });
}

/// The layout of a block in which SQLite has `bytes` to itself.
fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(WORD)?, WORD).ok()
}

unsafe extern "C" fn take(bytes: c_int) -> *mut c_void {
    let Some(block) = usize::try_from(bytes).ok().and_then(layout) else { return std::ptr::null_mut() };
    // SAFETY: the layout is at least a word long.
    unsafe { marked(alloc(block), block) }
}

/// Writes the size of a block into its first word: what SQLite gets lies behind it.
///
/// # Safety
/// `start` is null or the start of a block of that layout.
unsafe fn marked(start: *mut u8, block: Layout) -> *mut c_void {
    if start.is_null() {
        return std::ptr::null_mut();
    }
    // SAFETY: the block is aligned to a word and at least one long.
    unsafe {
        start.cast::<usize>().write(block.size());
        start.add(WORD).cast()
    }
}

/// The start and the layout of a block that SQLite was given.
///
/// # Safety
/// `pointer` came from [`take`] or [`resize`] and was not given back.
unsafe fn block_of(pointer: *mut c_void) -> (*mut u8, Layout) {
    // SAFETY: the word in front of it was written by `marked` from a valid layout.
    unsafe {
        let start = pointer.cast::<u8>().sub(WORD);
        (start, Layout::from_size_align_unchecked(start.cast::<usize>().read(), WORD))
    }
}

unsafe extern "C" fn give_back(pointer: *mut c_void) {
    if !pointer.is_null() {
        // SAFETY: SQLite gives back what it was given, once.
        unsafe {
            let (start, block) = block_of(pointer);
            dealloc(start, block);
        }
    }
}

unsafe extern "C" fn resize(pointer: *mut c_void, bytes: c_int) -> *mut c_void {
    let Some(wanted) = usize::try_from(bytes).ok().and_then(layout) else { return std::ptr::null_mut() };
    // SAFETY: SQLite resizes what it was given, and never to or from nothing.
    unsafe {
        let (start, block) = block_of(pointer);
        marked(realloc(start, block, wanted.size()), wanted)
    }
}

unsafe extern "C" fn size(pointer: *mut c_void) -> c_int {
    if pointer.is_null() {
        return 0;
    }
    // SAFETY: SQLite asks about what it was given.
    let (_, block) = unsafe { block_of(pointer) };
    c_int::try_from(block.size() - WORD).unwrap_or(c_int::MAX)
}

unsafe extern "C" fn round_up(bytes: c_int) -> c_int {
    bytes.saturating_add(WORD as c_int - 1) & !(WORD as c_int - 1)
}

unsafe extern "C" fn begin(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn end(_: *mut c_void) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_keeps_its_bytes_when_it_grows_and_tells_its_size() {
        // SAFETY: every block is used as SQLite would use it.
        unsafe {
            let block = take(24).cast::<u8>();
            (0..24).for_each(|index| block.add(index).write(index as u8));
            assert_eq!((size(block.cast()), block as usize % 8), (24, 0));
            let grown = resize(block.cast(), 100_000).cast::<u8>();
            assert_eq!(size(grown.cast()), 100_000);
            assert!((0..24).all(|index| grown.add(index).read() == index as u8));
            let shrunk = resize(grown.cast(), 8).cast::<u8>();
            assert_eq!((size(shrunk.cast()), shrunk.add(7).read()), (8, 7));
            give_back(shrunk.cast());
            give_back(std::ptr::null_mut());
            assert_eq!(size(std::ptr::null_mut()), 0);
            assert!(take(-1).is_null(), "no block is smaller than nothing");
            assert_eq!([round_up(1), round_up(8), round_up(9)], [8, 8, 16]);
        }
    }

    #[test]
    fn sqlite_uses_it() {
        share();
        let connection = rusqlite::Connection::open_in_memory().unwrap();
        let text: String = connection.query_row("SELECT hex(zeroblob(1000))", [], |row| row.get(0)).unwrap();
        assert_eq!(text.len(), 2_000);
        // SAFETY: asks SQLite for a block and gives it back; only our functions put the size in front of it.
        unsafe {
            let block = ffi::sqlite3_malloc(100);
            assert!((100..=104).contains(&(block_of(block).1.size() - WORD)), "rounded up at most");
            ffi::sqlite3_free(block);
        }
    }
}
