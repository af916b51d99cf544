//! Damaged and forged files: refused, or read as exactly what they are; never a panic, a hang or a large allocation,
//! nor for sound ones.

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::Index;
use support::{
    Row, check, decode, encode_conservative, encode_framed, encode_in, merge, merge_with, read,
    repair_checksums,
};
use weft::fixture::{Shape, Side, complete};
use weft::format::Output;
use weft::format::kv::{self, File, Framing, Profile};
use weft::merge::cpu::{self, Options};

/// Counts the live bytes of each thread.
struct Counting;

thread_local! {
    static LIVE_BYTES: Cell<isize> = const { Cell::new(0) };
    static PEAK_BYTES: Cell<isize> = const { Cell::new(0) };
}

fn count(change: isize) {
    // A thread that ends may free memory after its counters are gone.
    let _ = LIVE_BYTES.try_with(|live| {
        live.set(live.get() + change);
        PEAK_BYTES.with(|peak| peak.set(peak.get().max(live.get())));
    });
}

// SAFETY: everything is handed to the system's allocator; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Runs `work`; gives its result and the most bytes it held beyond what was there before.
fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = LIVE_BYTES.get();
    PEAK_BYTES.set(before);
    let result = work();
    (result, (PEAK_BYTES.get() - before) as usize)
}

/// What must hold of any bytes at all. Gives whether they were taken for a valid file.
fn assert_sound(file: &[u8]) -> bool {
    let (verdict, peak) = peak_bytes(|| check(file));
    assert!(peak <= 4 * file.len() + 4096, "scanning {} bytes took {peak}", file.len());
    // A writer keeps a piece of 64 KiB; the output grows by doubling.
    let ((merged, unverified), peak) =
        peak_bytes(|| (merge(&[file]), merge_with(&[file, file], Options { verify: false })));
    assert!(peak <= 8 * file.len() + (512 << 10), "merging {} bytes took {peak}", file.len());
    let Ok(canonical) = verdict else {
        assert!(merged.is_err(), "a merge took what a scan refuses");
        assert!(decode(file).is_err(), "a reader took what a scan refuses");
        return false;
    };
    let rows: Vec<Row> = decode(file).expect("what was scanned is read");
    assert!(rows.is_sorted_by(|a, b| a.0 < b.0), "keys do not ascend");
    let profile = File::open(file).expect("what was scanned opens").profile;
    let encoded = encode_in(profile, &rows);
    assert_eq!(canonical, encoded == file, "canonical is what the encoder writes, and nothing else");
    assert!(merged.expect("what was scanned is merged") == encoded);
    assert!(unverified.expect("what was scanned is merged without checksums") == encoded);
    true
}

#[test]
fn every_flipped_bit_of_small_files_is_refused_or_read_as_it_is() {
    let names = [
        "kv03/empty",
        "kv03/one-short",
        "kv03/three-records",
        "kv03/one-empty-key-empty-value",
        "kv03/block-edge-16",
        "kv03/sub-byte-prefixes",
        "kv02/empty",
        "kv02/empty-variable",
        "kv02/one-empty-key-tombstone",
        "kv02/two-keys-fixed",
        "kv02/two-keys-variable",
        "kv02/blocks-16",
        "kv02/prefix-chain",
    ];
    for name in names {
        let file = read(format!("{name}.kv"));
        assert!(assert_sound(&file), "{name}");
        for bit in 0..8 * file.len() {
            let mut flipped = file.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(!assert_sound(&flipped), "{name}: the checksums did not notice bit {bit}");
            repair_checksums(&mut flipped);
            assert_sound(&flipped);
        }
    }
}

#[test]
fn every_truncation_is_refused() {
    for name in ["kv03/three-records", "kv03/block-edge-31", "kv02/width-one-mixed", "kv02/blocks-31"] {
        let file = read(format!("{name}.kv"));
        for length in 0..file.len() {
            assert!(!assert_sound(&file[..length]), "{name} cut to {length} bytes");
        }
        assert!(!assert_sound(&[&file[..], &[0; 8]].concat()), "{name} with eight bytes more");
    }
}

/// Takes a file and keeps nothing of it.
struct Discard;

impl Output for Discard {
    fn write_at(&mut self, _: u64, _: &[u8]) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn sound_files_are_scanned_and_merged_in_constant_memory() {
    for profile in Profile::ALL {
        assert_constant_memory(complete()[1], profile);
    }
}

fn assert_constant_memory(shape: Shape, profile: Profile) {
    let files = [Side::Older, Side::Newer].map(|side| {
        let mut file = Vec::new();
        kv::encode(Framing::of_rows(profile, shape.rows(side)), shape.rows(side), &mut file).unwrap();
        file
    });
    let opened = files.each_ref().map(|file| File::open(file).unwrap());
    let (report, peak) = peak_bytes(|| opened[0].scan().unwrap());
    assert!(peak <= 4096 + 8 * 256, "scanning {} records took {peak} bytes", report.records);
    let inputs: Vec<File> = opened.iter().copied().cycle().take(8).collect();
    let (summary, peak) = peak_bytes(|| cpu::merge(&inputs, Options { verify: true }, Discard).unwrap());
    // One word a block, in an array that grows by doubling and is copied as it grows.
    let block_words = 3 * 8 * summary.records.div_ceil(15) as usize;
    assert!(peak <= (256 << 10) + block_words, "merging {} records took {peak} bytes", summary.records);
}

/// A change to a file.
#[derive(Clone, Debug)]
enum Edit {
    Byte(Index, u8),
    Bit(Index, u8),
    /// A whole field of header, directory or offset sections, set to a telling number or moved a little.
    Word(Index, u64),
    NudgeWord(Index, i64),
    Copy {
        from: Index,
        to: Index,
        bytes: usize,
    },
    Insert(Index, Vec<u8>),
    Remove(Index, usize),
}

impl Edit {
    fn apply(&self, file: &mut Vec<u8>) {
        if file.is_empty() {
            return;
        }
        let words = (file.len() / 8).max(1);
        match self {
            Edit::Byte(at, byte) => {
                let at = at.index(file.len());
                file[at] = *byte;
            }
            Edit::Bit(at, bit) => {
                let at = at.index(file.len());
                file[at] ^= 1 << bit;
            }
            Edit::Word(at, word) => edit_word(file, at.index(words), |_| *word),
            Edit::NudgeWord(at, by) => edit_word(file, at.index(words), |word| word.wrapping_add_signed(*by)),
            Edit::Copy { from, to, bytes } => {
                let (from, to) = (from.index(file.len()), to.index(file.len()));
                let bytes = (*bytes).min(file.len() - from).min(file.len() - to);
                file.copy_within(from..from + bytes, to);
            }
            Edit::Insert(at, bytes) => {
                let at = at.index(file.len());
                file.splice(at..at, bytes.iter().copied());
            }
            Edit::Remove(at, bytes) => {
                let at = at.index(file.len());
                file.drain(at..file.len().min(at + bytes));
            }
        }
    }
}

fn edit_word(file: &mut [u8], index: usize, change: impl FnOnce(u64) -> u64) {
    if let Some(word) = file.get_mut(8 * index..8 * index + 8) {
        let old = u64::from_le_bytes((&*word).try_into().unwrap());
        word.copy_from_slice(&change(old).to_le_bytes());
    }
}

fn edit() -> impl Strategy<Value = Edit> {
    let telling = proptest::sample::select(vec![
        0,
        1,
        7,
        8,
        15,
        63,
        64,
        1 << 31,
        1 << 32,
        1 << 63,
        u64::MAX - 7,
        u64::MAX,
    ]);
    prop_oneof![
        3 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
        3 => (any::<Index>(), 0..8_u8).prop_map(|(at, bit)| Edit::Bit(at, bit)),
        2 => (any::<Index>(), telling).prop_map(|(at, word)| Edit::Word(at, word)),
        3 => (any::<Index>(), -20..20_i64).prop_map(|(at, by)| Edit::NudgeWord(at, by)),
        1 => (any::<Index>(), any::<Index>(), 1..40_usize).prop_map(|(from, to, bytes)| Edit::Copy { from, to, bytes }),
        1 => (any::<Index>(), proptest::collection::vec(any::<u8>(), 1..9)).prop_map(|(at, bytes)| Edit::Insert(at, bytes)),
        1 => (any::<Index>(), 1..9_usize).prop_map(|(at, bytes)| Edit::Remove(at, bytes)),
    ]
}

/// A valid file of either profile: canonical, without a declared width, or conservative.
fn valid_file() -> impl Strategy<Value = Vec<u8>> {
    (support::profile(), support::rows(50), 0..4_u8, 0..9_u64).prop_map(|(profile, rows, how, cap)| match how
    {
        0 => encode_conservative(profile, &rows, |_| cap),
        1 if profile == Profile::Kv02 => encode_framed(Framing::Kv02 { width: None }, &rows),
        _ => encode_in(profile, &rows),
    })
}

/// Where a valid file has its payload.
fn payload_range(file: &[u8]) -> std::ops::Range<usize> {
    let opened = File::open(file).unwrap();
    let start = opened.profile.payload_offset() as usize;
    start..start + opened.section(0).len()
}

/// Makes the lengths that the header states those of the file, so that a change of length gets past them.
fn repair_lengths(file: &mut [u8]) {
    if file.len() >= 96 {
        let (body, total) = (file.len() as u64 - 96, file.len() as u64);
        // In the header's unit, which is 0 for bytes.
        let extent = if file[16] == 0 { body } else { 8 * body };
        file[48..56].copy_from_slice(&extent.to_le_bytes());
        file[80..88].copy_from_slice(&total.to_le_bytes());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn edited_files_are_refused_or_read_as_they_are(
        mut file in valid_file(),
        edits in proptest::collection::vec(edit(), 1..4),
    ) {
        edits.iter().for_each(|edit| edit.apply(&mut file));
        assert_sound(&file);
        repair_checksums(&mut file);
        assert_sound(&file);
        repair_lengths(&mut file);
        repair_checksums(&mut file);
        assert_sound(&file);
    }

    #[test]
    fn payloads_of_noise_are_refused_or_read_as_they_are(
        mut file in valid_file(),
        noise in proptest::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 1..64),
        at in any::<Index>(),
    ) {
        let payload = payload_range(&file);
        if !payload.is_empty() {
            let start = payload.start + at.index(payload.len());
            let end = payload.end.min(start + noise.len());
            file[start..end].copy_from_slice(&noise[..end - start]);
            repair_checksums(&mut file);
            assert_sound(&file);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Files large enough for several groups of offsets, and for one whose positions are listed.
    #[test]
    fn edited_offsets_are_refused_or_read_as_they_are(
        profile in support::profile(),
        name in proptest::sample::select(vec!["two-offset-groups", "offset-group-sparse"]),
        edits in proptest::collection::vec(edit(), 1..3),
    ) {
        let mut file = encode_in(profile, &decode(&read(format!("kv03/{name}.kv"))).unwrap());
        let mut offsets = file.split_off(payload_range(&file).end);
        edits.iter().for_each(|edit| edit.apply(&mut offsets));
        file.extend(offsets);
        repair_lengths(&mut file);
        repair_checksums(&mut file);
        assert_sound(&file);
    }
}
