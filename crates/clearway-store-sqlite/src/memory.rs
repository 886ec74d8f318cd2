//! The memory of the program: one heap, from which SQLite gets its own too.
//!
//! A call lives for a millisecond. What it pays for are fresh pages, two microseconds each, and four thousand blocks taken
//! and given back, each under a lock. So [`Heap`] keeps small blocks packed together, first in memory that is part of
//! the program, and hands a block that was given back to the next who asks for one of its size; what is larger is left to
//! dlmalloc. SQLite would otherwise ask the C library, which keeps a second heap with pages of its own and, in a
//! static binary, asks the kernel for nearly every block. `docs/adr/0004-linking.md` has the figures.
//!
//! This is the one file of the workspace with `unsafe` in it: an allocator, and the functions SQLite calls, get and give raw
//! blocks. Each of SQLite's begins with a word that tells its whole size, since it gives back no more than a pointer.

#![expect(
    unsafe_code,
    reason = "an allocator and SQLite's memory functions deal in raw blocks; nothing else here does"
)]

use dlmalloc::GlobalDlmalloc;
use rusqlite::ffi;
use std::alloc::{GlobalAlloc, Layout, alloc, dealloc, realloc};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

/// Small blocks differ by so many bytes, and are aligned to them.
const STEP: usize = size_of::<u128>();
/// The longest small block. Longer ones are better taken from what was given back of any length, as dlmalloc does.
const SMALL_BYTES_MAX: usize = 1_024;
/// Small blocks by length: one list for each.
const LENGTHS: usize = SMALL_BYTES_MAX / STEP;
/// How much there is to cut small blocks from before dlmalloc is asked: what a short call gets by with. Pages that nobody
/// touches cost nothing.
const FIRST_PIECE_BYTES: usize = 256 * 1_024;
/// How much is taken from dlmalloc at once after that.
const PIECE_BYTES: usize = 16 * 1_024;

/// The allocator of a program that is over before it pays to tidy up: a block that is given back waits for the next one
/// of its length. It is never cut or joined, so a program that lives long keeps what it needed at its peak. Its first
/// blocks lie in itself, so that it belongs in a `static`.
pub struct Heap {
    is_locked: AtomicBool,
    small: UnsafeCell<Small>,
    /// Nothing is written in front of its blocks or behind them, so that a call touches what it uses and no page more.
    first_piece: UnsafeCell<[u128; FIRST_PIECE_BYTES / STEP]>,
}

/// Small blocks: those that were given back, and where the next is cut.
struct Small {
    /// The first free block of each length; its first word leads to the next.
    free: [*mut u8; LENGTHS],
    cut_from: *mut u8,
    left: usize,
    has_begun: bool,
}

// SAFETY: the lists are reached through `Heap::small` alone, which lets in one thread at a time; of the first piece nobody
// takes more than its address, in there.
unsafe impl Sync for Heap {}

impl std::fmt::Debug for Heap {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Heap")
    }
}

impl Default for Heap {
    fn default() -> Self {
        Self::new()
    }
}

impl Heap {
    /// A heap with nothing in it yet.
    pub const fn new() -> Self {
        let small = Small { free: [null_mut(); LENGTHS], cut_from: null_mut(), left: 0, has_begun: false };
        Self {
            is_locked: AtomicBool::new(false),
            small: UnsafeCell::new(small),
            first_piece: UnsafeCell::new([0; FIRST_PIECE_BYTES / STEP]),
        }
    }

    /// One thread at a time. Nearly always there is only one; `work` is some ten instructions and cannot panic.
    fn small<T>(&self, work: impl FnOnce(&mut Small) -> T) -> T {
        while self.is_locked.swap(true, Ordering::Acquire) {
            std::thread::yield_now();
        }
        // SAFETY: whoever holds the lock is the only one here.
        let small = unsafe { &mut *self.small.get() };
        if !small.has_begun {
            small.has_begun = true;
            // Blocks are cut from the heap itself from here on, so that it must not be moved: nobody moves a `static`, and
            // who calls an allocator's functions by hand promises not to.
            (small.cut_from, small.left) = (self.first_piece.get().cast(), FIRST_PIECE_BYTES);
        }
        let done = work(small);
        self.is_locked.store(false, Ordering::Release);
        done
    }
}

/// Which list blocks of this layout are on; `None` for what is left to dlmalloc.
fn list_of(layout: Layout) -> Option<usize> {
    (layout.size() <= SMALL_BYTES_MAX && layout.align() <= STEP)
        .then(|| layout.size().saturating_sub(1) / STEP)
}

impl Small {
    fn take(&mut self, list: usize) -> *mut u8 {
        let block = self.free[list];
        if block.is_null() {
            return self.cut((list + 1) * STEP);
        }
        // SAFETY: what is on a list was put there by `give_back`, with the next in its first word.
        self.free[list] = unsafe { block.cast::<*mut u8>().read() };
        block
    }

    fn cut(&mut self, bytes: usize) -> *mut u8 {
        if self.left < bytes && !self.begin_piece() {
            return null_mut();
        }
        let block = self.cut_from;
        // SAFETY: at least so many bytes of the piece are left.
        self.cut_from = unsafe { block.add(bytes) };
        self.left -= bytes;
        block
    }

    /// What is left of the piece before becomes a block of its own.
    fn begin_piece(&mut self) -> bool {
        // SAFETY: the layout is no smaller than a step and a power of two aligned; so are the rests.
        let piece = unsafe { GlobalDlmalloc.alloc(Layout::from_size_align_unchecked(PIECE_BYTES, STEP)) };
        if piece.is_null() {
            return false;
        }
        if self.left >= STEP {
            // SAFETY: nobody has the rest of the piece, which is a whole number of steps long.
            unsafe { self.give_back(self.cut_from, self.left / STEP - 1) };
        }
        (self.cut_from, self.left) = (piece, PIECE_BYTES);
        true
    }

    /// # Safety
    /// `block` is of this list and nobody has it any more.
    unsafe fn give_back(&mut self, block: *mut u8, list: usize) {
        // SAFETY: a block is at least a step long and aligned to it, which a pointer fits into.
        unsafe { block.cast::<*mut u8>().write(self.free[list]) };
        self.free[list] = block;
    }
}

// SAFETY: a small block is cut from a piece once and is on a list or with one caller, never both; pieces are of dlmalloc,
// which never takes one back, or of the heap itself, which is not moved once a block was cut; the rest is dlmalloc's.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match list_of(layout) {
            Some(list) => self.small(|small| small.take(list)),
            // SAFETY: as asked.
            None => unsafe { GlobalDlmalloc.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        match list_of(layout) {
            // SAFETY: the caller had a block of this layout, and so of this list.
            Some(list) => self.small(|small| unsafe { small.give_back(block, list) }),
            // SAFETY: as asked.
            None => unsafe { GlobalDlmalloc.dealloc(block, layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if list_of(layout).is_none() {
            // SAFETY: as asked.
            return unsafe { GlobalDlmalloc.alloc_zeroed(layout) };
        }
        // SAFETY: the block is as long as the layout says, or there is none.
        unsafe {
            let block = self.alloc(layout);
            if !block.is_null() {
                block.write_bytes(0, layout.size());
            }
            block
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller keeps to what `GlobalAlloc::realloc` asks, so that the new layout is valid and the block is at
        // least as long as what is copied.
        unsafe {
            let wanted = Layout::from_size_align_unchecked(bytes, layout.align());
            match (list_of(layout), list_of(wanted)) {
                (None, None) => GlobalDlmalloc.realloc(block, layout, bytes),
                (here, there) if here == there => block,
                _ => {
                    let moved = self.alloc(wanted);
                    if !moved.is_null() {
                        moved.copy_from_nonoverlapping(block, layout.size().min(bytes));
                        self.dealloc(block, layout);
                    }
                    moved
                }
            }
        }
    }
}

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
            pAppData: null_mut(),
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
    let Some(block) = usize::try_from(bytes).ok().and_then(layout) else { return null_mut() };
    // SAFETY: the layout is at least a word long.
    unsafe { marked(alloc(block), block) }
}

/// Writes the size of a block into its first word: what SQLite gets lies behind it.
///
/// # Safety
/// `start` is null or the start of a block of that layout.
unsafe fn marked(start: *mut u8, block: Layout) -> *mut c_void {
    if start.is_null() {
        return null_mut();
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
    let Some(wanted) = usize::try_from(bytes).ok().and_then(layout) else { return null_mut() };
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

    fn small(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, 8).unwrap()
    }

    #[test]
    fn a_small_block_that_was_given_back_is_the_next_of_its_length() {
        let heap = Heap::new();
        // SAFETY: every block is given back as it was taken.
        unsafe {
            let (first, second) = (heap.alloc(small(40)), heap.alloc(small(40)));
            assert_eq!(second as usize - first as usize, 48, "packed together");
            heap.dealloc(first, small(40));
            assert_ne!(heap.alloc(small(64)), first, "of another length");
            assert_eq!(heap.alloc(small(33)), first, "of the same");
            assert_eq!(heap.realloc(first, small(33), 48), first, "as long as it is already");
            assert_eq!((first as usize % STEP, heap.alloc(small(1)) as usize % STEP), (0, 0));
        }
    }

    #[test]
    fn when_the_first_piece_is_used_up_blocks_are_cut_from_the_next() {
        let heap = Heap::new();
        let count = 2 * FIRST_PIECE_BYTES / SMALL_BYTES_MAX;
        // SAFETY: every block is used within its length.
        let blocks: Vec<_> = (0..count).map(|_| unsafe { heap.alloc(small(SMALL_BYTES_MAX)) }).collect();
        for (mark, block) in blocks.iter().enumerate() {
            // SAFETY: as above.
            unsafe { block.write_bytes(mark as u8, SMALL_BYTES_MAX) };
        }
        for (mark, block) in blocks.iter().enumerate() {
            // SAFETY: as above.
            let bytes = unsafe { std::slice::from_raw_parts(*block, SMALL_BYTES_MAX) };
            assert!(bytes.iter().all(|byte| *byte == mark as u8), "{mark}");
        }
    }

    #[test]
    fn blocks_keep_their_bytes_whatever_becomes_of_them() {
        let heap = Heap::new();
        let aligned = Layout::from_size_align(64, 4_096).unwrap();
        // SAFETY: every block is used within its length, and given back once.
        unsafe {
            let mut block = heap.alloc_zeroed(small(24));
            assert!((0..24).all(|index| block.add(index).read() == 0));
            (0..24).for_each(|index| block.add(index).write(index as u8));
            for (from, to) in [(24, 500), (500, 5_000), (5_000, 100_000), (100_000, 900), (900, 24)] {
                block = heap.realloc(block, small(from), to);
                assert!((0..24).all(|index| block.add(index).read() == index as u8), "{from} to {to}");
            }
            heap.dealloc(block, small(24));
            assert!((0..24).all(|index| heap.alloc_zeroed(small(24)).add(index).read() == 0), "taken again");
            assert_eq!(heap.alloc(aligned) as usize % 4_096, 0);
        }
    }

    #[test]
    fn no_two_have_the_same_bytes_however_many_threads_there_are() {
        static HEAP: Heap = Heap::new();
        let fill = |mark: u8| {
            let mut kept = Vec::new();
            for bytes in (1..2_000_usize).map(|step| step * 37 % 1_200 + 1) {
                // SAFETY: the block is used within its length, and given back once.
                unsafe {
                    let block = HEAP.alloc(small(bytes));
                    block.write_bytes(mark, bytes);
                    match bytes % 3 {
                        0 => HEAP.dealloc(block, small(bytes)),
                        _ => kept.push(std::slice::from_raw_parts(block, bytes)),
                    }
                }
            }
            kept.iter().all(|block| block.iter().all(|byte| *byte == mark))
        };
        let threads: Vec<_> = (1..=4).map(|mark| std::thread::spawn(move || fill(mark))).collect();
        assert!(threads.into_iter().all(|thread| thread.join().unwrap()));
    }

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
            give_back(null_mut());
            assert_eq!(size(null_mut()), 0);
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
