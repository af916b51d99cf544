//! Input: selection, parsing, the tree, the common prefix and windows, against what the CPU engine's reader says of the
//! same bytes.

use std::cell::{Cell, RefCell};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use weft::fixture::adversarial;
use weft::format::elias_fano::{Encoder, Sections, Shape};
use weft::format::kv::{Cursor, File, Profile};

use crate::device::Bench;
use crate::support::{Row, byte_inputs, bytes, cases, encode, encode_in, hex, profile, read, rows, words};

const ALL_ONES: u32 = u32::MAX;

/// An Elias-Fano sequence in a file: its sections as words of 32 bits, lows, highs, samples, exceptions.
#[derive(Clone, Debug)]
struct Sequence {
    shape: Shape,
    sections: [Vec<u32>; 4],
}

impl Sequence {
    fn new(values: &[u64]) -> Sequence {
        let shape = Shape::canonical(values.len() as u64, *values.last().expect("an entry"));
        let mut sections: [Vec<u32>; 4] = Default::default();
        let mut encoder = Encoder::new(shape);
        let mut put =
            |section, word: u64| sections[section as usize].extend([word as u32, (word >> 32) as u32]);
        for &value in values {
            assert!(encoder.push(value, &mut put));
        }
        assert!(encoder.finish(&mut put));
        Sequence { shape, sections }
    }

    /// What the reader of files selects; all ones where it refuses.
    fn truth(&self) -> Vec<u32> {
        let owned = self.sections.each_ref().map(|section| bytes(section));
        let sections = Sections(owned.each_ref().map(|section| &section[..]));
        (0..self.shape.entries)
            .map(|i| sections.select(self.shape, i).map_or(ALL_ONES, |value| value as u32))
            .collect()
    }

    /// Checks what the pass selects, and the entry that it names if there is one it cannot.
    fn check(&self, bench: &mut Bench) -> Vec<u32> {
        // A word in front, so that no section begins at a multiple of eight bytes.
        let mut file = vec![0x5a5a_5a5a];
        let begins = self.sections.each_ref().map(|section| {
            let begin = file.len() as u64;
            file.extend(section);
            begin
        });
        let symbols = [
            ("words", file.len() as u64),
            ("entries", self.shape.entries),
            ("universe", self.shape.universe),
            ("low_width", u64::from(self.shape.low_width)),
            ("lows_at", begins[0]),
            ("highs_at", begins[1]),
            ("samples_at", begins[2]),
            ("exceptions_at", begins[3]),
            ("exceptions", self.sections[3].len() as u64 / 2),
        ];
        let found = bench.run("input/select.yaml", &symbols, &[("file", bytes(&file))]);
        let truth = self.truth();
        assert!(found["selected"] == truth, "{:?}", self.shape);
        let last_block = self.shape.entries.saturating_sub(2) as usize;
        let refused = truth.iter().position(|&value| value == ALL_ONES);
        let status = refused.map_or(ALL_ONES, |entry| (entry.min(last_block) as u32) << 7 | 1);
        assert_eq!(found["status"], [status], "{:?}", self.shape);
        truth
    }
}

/// 127 times 0, then `high`: the first group spans `high` + 255 bits.
fn step(high: u64) -> Vec<u64> {
    [vec![0; 127], vec![high; 3970]].concat()
}

fn sequences() -> Vec<Vec<u64>> {
    let strides = |count: u64, stride: u64| (0..count).map(|i| (i + 1) * stride + i % stride).collect();
    let ramp = |entries: u64, universe: u64| (0..entries).map(|i| universe * i / (entries - 1)).collect();
    vec![
        vec![0],
        vec![0, 0, 0, 1, 1],
        vec![(1 << 30) + 127],
        vec![(1 << 29) + 31, (1 << 30) + 63, 3 * (1 << 29) + 127],
        strides(257, 2),
        strides(259, 33),
        strides(513, 131_072),
        (0..8192).map(|i| if i < 128 { 0 } else { (1 << 20) + i }).collect(),
        vec![0; 513],
        vec![0; 255],
        vec![0; 256],
        ramp(67, 67 * 2 + 1),
        ramp(67, 67 * 32 + 1),
        ramp(67, (67 << 17) + 1),
        ramp(3, (3 << 29) + 1),
        step(3840),
        step(3841),
        step(65_536),
    ]
}

#[test]
fn sequences_are_selected() {
    let mut bench = Bench::new();
    for values in sequences() {
        let truth = Sequence::new(&values).check(&mut bench);
        assert!(truth.iter().map(|&value| u64::from(value)).eq(values));
    }
}

#[test]
fn what_cannot_be_selected_is_refused() {
    let mut bench = Bench::new();
    for values in sequences() {
        let sound = Sequence::new(&values);
        // A sample's position above 32 bits, one behind the highs, and a list that begins far behind all exceptions.
        let dense = sound.sections[2][3] == ALL_ONES;
        for (word, change) in
            [(1, 1), (0, 1 << 31), (3, 1)].into_iter().filter(|&(word, _)| dense || word == 3)
        {
            let mut sequence = sound.clone();
            sequence.sections[2][word] ^= change;
            assert!(sequence.check(&mut bench).contains(&ALL_ONES));
        }
        if !sound.sections[3].is_empty() {
            let mut sequence = sound.clone();
            sequence.sections[2][2] += sequence.sections[3].len() as u32 / 2 - 255;
            assert!(sequence.check(&mut bench).contains(&ALL_ONES), "a list that passes the exceptions");
        }
    }
    // The group of 256 listed entries ends where the list does.
    let mut sequence = Sequence::new(&step(3841));
    sequence.sections[2][2] = 1;
    assert_eq!(sequence.check(&mut bench)[255], ALL_ONES);
}

#[test]
fn damaged_sequences_are_selected_alike() {
    let bench = RefCell::new(Bench::new());
    let all = sequences();
    let flips = prop::collection::vec((0..4_usize, any::<prop::sample::Index>(), 0..32_u32), 1..4);
    let strategy = (0..all.len(), flips);
    TestRunner::new(Config::with_cases(100))
        .run(&strategy, |(which, flips)| {
            let mut sequence = Sequence::new(&all[which]);
            for (section, word, bit) in flips {
                let section = &mut sequence.sections[section];
                if !section.is_empty() {
                    let word = word.index(section.len());
                    section[word] ^= 1 << bit;
                }
            }
            sequence.check(&mut bench.borrow_mut());
            Ok(())
        })
        .expect("the same selection");
}

/// Retained lengths without a pattern, with runs of zeros and of equal lengths among them.
fn lengths(records: usize, seed: u32) -> Vec<u32> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    (0..records).map(|_| if next() % 5 == 0 { 0 } else { 8 * (next() % 1000) + next() % 9 }).collect()
}

#[test]
fn trees_hold_minima() {
    let mut bench = Bench::new();
    let sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 255, 256, 257, 511, 512, 513, 1025, 65_535, 65_536, 65_537];
    for records in sizes {
        let climbing: Vec<u32> = (0..records as u32).collect();
        let falling: Vec<u32> = climbing.iter().rev().copied().collect();
        for retained in
            [vec![0; records], vec![ALL_ONES - 1; records], climbing, falling, lengths(records, 7)]
        {
            for older in [0, 1, 256, records / 2, records].map(|older| older.min(records)) {
                let symbols = [("records", records as u64), ("older_records", older as u64)];
                let found = bench.run("input/tree.yaml", &symbols, &[("retained", bytes(&retained))]);
                let leaves = records.next_power_of_two();
                let tree = &found["tree"];
                assert_eq!((tree.len(), tree[0]), (2 * leaves, ALL_ONES));
                assert!(found["tiles"] == *tree, "{records} records");
                assert_eq!(tree[leaves..leaves + records], retained);
                assert!(tree[leaves + records..].iter().all(|&leaf| leaf == ALL_ONES));
                assert!((1..leaves).all(|node| tree[node] == tree[2 * node].min(tree[2 * node + 1])));
                let counted =
                    retained.iter().enumerate().filter(|&(record, _)| record != 0 && record != older);
                assert_eq!(found["least"], [counted.map(|(_, &bits)| bits).min().unwrap_or(ALL_ONES)]);
            }
        }
    }
}

/// Columns that no file has to have, over two files of random words, and where windows begin.
struct WindowColumns {
    files: [Vec<u32>; 2],
    literal_starts: Vec<u32>,
    key_bits: Vec<u32>,
    retained: Vec<u32>,
    older_records: usize,
    prefix: u32,
}

impl WindowColumns {
    /// `retained` says what a record retains, by a random number and its index.
    fn new(records: usize, prefix: u32, retained: impl Fn(u32, usize) -> u32) -> WindowColumns {
        let mut state = 0x2545_f491_u32;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state
        };
        let files = [0; 2].map(|_| (0..300).map(|_| next()).collect::<Vec<u32>>());
        let retained: Vec<u32> = (0..records).map(|record| retained(next(), record)).collect();
        // Some literals reach behind the end of their file, and some keys end within their windows.
        let literal_starts = (0..records).map(|_| next() % (301 * 32)).collect();
        let key_bits = retained.iter().map(|bits| bits + next() % 100).collect();
        WindowColumns { files, literal_starts, key_bits, retained, older_records: records / 3, prefix }
    }

    /// Record by record and bit by bit.
    fn truth(&self) -> Vec<u32> {
        let start = 8 * self.prefix;
        let mut window = [false; 64];
        let mut truth = Vec::new();
        for record in 0..self.retained.len() {
            let file = &self.files[usize::from(record >= self.older_records)];
            let bit = |at: u32| {
                let word = file.get(at as usize / 32).map_or(0, |word| word.swap_bytes());
                word << (at % 32) >> 31 == 1
            };
            for (at, held) in (start..).zip(&mut window) {
                if let Some(behind) = at.checked_sub(self.retained[record]) {
                    *held = at < self.key_bits[record] && bit(self.literal_starts[record] + behind);
                }
            }
            let word = |bits: &[bool]| bits.iter().fold(0, |word, &bit| word << 1 | u32::from(bit));
            truth.extend([word(&window[..32]), word(&window[32..])]);
        }
        truth
    }

    fn check(&self, bench: &mut Bench) {
        let symbols = [
            ("records", self.retained.len() as u64),
            ("older_records", self.older_records as u64),
            ("older_words", self.files[0].len() as u64),
            ("newer_words", self.files[1].len() as u64),
        ];
        let inputs = [
            ("older", bytes(&self.files[0])),
            ("newer", bytes(&self.files[1])),
            ("literal_starts", bytes(&self.literal_starts)),
            ("key_bits", bytes(&self.key_bits)),
            ("retained", bytes(&self.retained)),
            ("prefix", bytes(&[self.prefix])),
        ];
        let found = bench.run("input/windows.yaml", &symbols, &inputs);
        let truth = self.truth();
        for name in ["windows", "whole_windows"] {
            assert!(found[name] == truth, "{name} of {} records", self.retained.len());
        }
    }
}

#[test]
fn windows_are_scanned_across_tiles_and_spans() {
    let mut bench = Bench::new();
    // Nothing, a tile or two, a span of two tiles, several.
    for records in [0, 1, 4, 1023, 1024, 1025, 2048, 2049, 4097, 10_000] {
        for prefix in [0, 3, 70] {
            // Whatever; more with every record, so that every record of a tile's end counts; less; all of a window.
            WindowColumns::new(records, prefix, |random, _| random % 700).check(&mut bench);
            WindowColumns::new(records, prefix, |_, record| 8 * prefix + record as u32 % 64)
                .check(&mut bench);
            WindowColumns::new(records, prefix, |_, record| 8 * prefix + 63 - record as u32 % 64)
                .check(&mut bench);
            WindowColumns::new(records, prefix, |_, record| 8 * prefix + 70 * (record as u32).min(1))
                .check(&mut bench);
        }
    }
    // The first record's bits last to the end, over more spans than a workgroup has lanes.
    let last = |random: u32, record| if record == 0 { 0 } else { 20 + random.trailing_zeros() };
    WindowColumns::new(2 * 1024 * 258 + 77, 2, last).check(&mut bench);
}

/// A payload and what its parser is told about it.
struct Parsing {
    profile: Profile,
    payload: String,
    starts: Vec<u32>,
    records: u64,
    payload_bits: u64,
    common_bits: u64,
    last_key_bits: u64,
}

impl Parsing {
    /// One block of records, written as zeros and ones with blanks between them.
    fn block(records: &[&str], last_key_bits: u64) -> Parsing {
        let payload = records.concat().replace(' ', "");
        let bits = payload.len();
        Parsing {
            profile: Profile::Kv03,
            payload,
            starts: vec![0, bits as u32],
            records: records.len() as u64,
            payload_bits: bits as u64,
            common_bits: 0,
            last_key_bits,
        }
    }

    /// One block of records of the byte profile, written as hexadecimal digits with blanks between them.
    fn bytes(records: &[&str], last_key_bytes: u64) -> Parsing {
        let binary =
            |record: &&str| hex(&record.replace(' ', "")).iter().map(|byte| format!("{byte:08b}")).collect();
        let binary: Vec<String> = records.iter().map(binary).collect();
        let block =
            Parsing::block(&binary.iter().map(String::as_str).collect::<Vec<_>>(), 8 * last_key_bytes);
        let extent = block.payload_bits as u32 / 8;
        Parsing { profile: Profile::Kv02, starts: vec![0, extent], ..block }
    }

    fn run(&self, bench: &mut Bench) -> [Vec<u32>; 5] {
        // Ones behind the payload, so that reading on finds counts and values.
        let whole = (self.payload.len() + 192).next_multiple_of(64);
        let bits = self.payload.clone() + &"1".repeat(whole - self.payload.len());
        let mut file = vec![0xff; self.profile.payload_offset() as usize];
        let byte = |at: usize| u8::from_str_radix(&bits[at..at + 8], 2).expect("binary digits");
        file.extend((0..bits.len()).step_by(8).map(byte));
        let symbols = [
            ("words", file.len() as u64 / 4),
            ("records", self.records),
            ("payload_bits", self.payload_bits),
            ("common_bits", self.common_bits),
            ("last_key_bits", self.last_key_bits),
        ];
        let inputs = [("file", file), ("starts", bytes(&self.starts))];
        let graph = match self.profile {
            Profile::Kv02 => "input/parse_bytes.yaml",
            Profile::Kv03 => "input/parse.yaml",
        };
        let mut found = bench.run(graph, &symbols, &inputs);
        ["literal_starts", "key_bits", "retained", "value_bits", "status"]
            .map(|name| found.remove(name).expect("an output"))
    }

    fn refused(&self, bench: &mut Bench, block: u32, code: u32, why: &str) {
        let [.., status] = self.run(bench);
        assert_eq!(status, [block << 7 | code], "{why}");
    }
}

/// "a" with value "x", in 30 bits; then "ab" absent, then "b" with an empty value: the examples of the format.
const A: &str = "010 0001001 01100001 1 010 01111000";
const AB: &str = "1 0001001 01100010 0";
const B: &str = "0001011 011 10 1 1";

#[test]
fn records_are_parsed() {
    let mut bench = Bench::new();
    let three = Parsing::block(&[A, AB, B], 8).run(&mut bench);
    let expected: [&[u32]; 5] =
        [&[2304 + 10, 2304 + 38, 2304 + 57], &[8, 16, 8], &[0, 8, 6], &[12, 1, 2], &[ALL_ONES]];
    assert_eq!(three.each_ref().map(|column| &column[..]), expected);
    let empty_key = Parsing::block(&["010 1 0"], 0).run(&mut bench);
    assert_eq!(empty_key.each_ref().map(|column| column[0]), [2304 + 4, 0, 0, 1, ALL_ONES]);
    let nothing = Parsing { starts: vec![0], ..Parsing::block(&[], 0) }.run(&mut bench);
    assert_eq!(nothing.concat(), [ALL_ONES]);
}

#[test]
fn each_failure_has_its_code() {
    let mut bench = Bench::new();
    let one = || Parsing::block(&[A], 8);
    for starts in [[ALL_ONES, 30], [0, ALL_ONES]] {
        Parsing { starts: starts.to_vec(), ..one() }.refused(&mut bench, 0, 1, "an offset is missing");
    }
    for (starts, why) in [
        ([0, 0], "it is empty"),
        ([0, 31], "it ends behind the payload"),
        ([1, 30], "the first block does not begin with the payload"),
        ([0, 29], "the last block does not end with the payload"),
    ] {
        Parsing { starts: starts.to_vec(), ..one() }.refused(&mut bench, 0, 2, why);
    }
    let long_count = format!("{} 1", "0".repeat(32));
    let blocks: [(&[&str], u32, &str); 18] = [
        (&["1 1 0"], 3, "it drops the selector"),
        (&["000"], 3, "the control count is cut off"),
        (&[&long_count], 3, "the control count has 32 zeros"),
        (&["000000000010000000001 1 0"], 3, "it retains more than any key has"),
        (&[A, "0001010 1 0"], 3, "it drops 9 of 8 bits"),
        (&["011 1 0"], 4, "the first key retains a bit"),
        (&["010 000"], 5, "the suffix count is cut off"),
        (&["010 0001001 0110000"], 5, "the suffix is cut off"),
        (&["010 010 1 0"], 5, "a key of one bit"),
        (&["010", &format!("{}1{}", "0".repeat(31), "1".repeat(31))], 5, "a suffix of 2^32 - 2 bits"),
        (&[A, "1 00100 011 0"], 5, "a key of 11 bits"),
        (&["010 0001001 01100001"], 6, "there is no value"),
        (&["010 0001001 01100001 1"], 6, "there is no count of bytes"),
        (&["010 0001001 01100001 1 010 0111100"], 6, "a byte of the value is cut off"),
        (&["010 1 1", &format!("{}1{}", "0".repeat(31), "1".repeat(31))], 6, "a value of 2^32 - 2 bytes"),
        (&["010 1 1", &long_count], 6, "the count of bytes has 32 zeros"),
        (&[A, "0"], 3, "there is no second record"),
        (&["010 1 0 1"], 7, "a bit is left over"),
    ];
    for (records, code, why) in blocks {
        let count = if records.len() > 1 && records[0] == A { 2 } else { 1 };
        Parsing { records: count, ..Parsing::block(records, 0) }.refused(&mut bench, 0, code, why);
    }
    Parsing { common_bits: 13, starts: vec![0, 30 - 13], ..one() }.refused(&mut bench, 0, 6, "another width");
    Parsing { common_bits: 12, starts: vec![0, 30 - 12], last_key_bits: 16, ..one() }.refused(
        &mut bench,
        0,
        8,
        "the last key has another length",
    );
}

#[test]
fn records_of_the_byte_profile_are_parsed() {
    let mut bench = Bench::new();
    // "ab" with "xyz", "ac" absent, "b" with nothing, with their lengths.
    let three = ["00 02 04 6162 0178797a", "01 01 01 63 00", "02 01 01 62 01"];
    let at = |byte: u32| 8 * (224 + byte);
    let found = Parsing::bytes(&three, 1).run(&mut bench);
    let expected: [&[u32]; 5] =
        [&[at(3), at(12), at(17)], &[16, 16, 8], &[0, 8, 0], &[32, 8, 8], &[ALL_ONES]];
    assert_eq!(found.each_ref().map(|column| &column[..]), expected);
    let fixed = Parsing::bytes(&["00 02 6162 0178797a", "01 01 63 01757677"], 2);
    let fixed = Parsing { common_bits: 32, starts: vec![0, 7], ..fixed }.run(&mut bench);
    let expected: [&[u32]; 5] = [&[at(2), at(10)], &[16, 16], &[0, 8], &[32, 32], &[ALL_ONES]];
    assert_eq!(fixed.each_ref().map(|column| &column[..]), expected);
    // A key of 200 bytes and a value of 20,001: counts of two and three bytes.
    let long = format!("00 c801 a19c01 {} 01 {}", "6b".repeat(200), "78".repeat(20_000));
    let found = Parsing::bytes(&[&long], 200).run(&mut bench);
    assert_eq!(found.each_ref().map(|column| column[0]), [at(6), 1600, 0, 160_008, ALL_ONES]);
}

#[test]
fn each_failure_of_the_byte_profile_has_its_code() {
    let mut bench = Bench::new();
    const A: &str = "00 01 01 61 00";
    let one = || Parsing::bytes(&[A], 1);
    for (starts, code, why) in [
        ([ALL_ONES, 5], 1, "an offset is missing"),
        ([0, 6], 2, "it ends behind the payload"),
        ([1, 5], 2, "the first block does not begin with the payload"),
    ] {
        Parsing { starts: starts.to_vec(), ..one() }.refused(&mut bench, 0, code, why);
    }
    let blocks: [(&[&str], u32, &str); 19] = [
        (&["80 00 01 01 61 00"], 9, "a control of zero in two bytes"),
        (&["00 81 00 01 61 00"], 9, "a suffix of one in two bytes"),
        (&["00 01 81 00 61 00"], 9, "a length of one in two bytes"),
        (&["00 80"], 9, "the suffix count is cut off"),
        (&["00 01"], 9, "there is no length"),
        (&["8080808010 01 01 61 00"], 9, "a control of 2^32"),
        (&["8080808080 01 01 61 00"], 9, "a control of six bytes"),
        (&["ffffffff0f 01 01 61 00"], 3, "a control of 2^32 - 1"),
        (&["01 01 01 61 00"], 4, "the first key retains a byte"),
        (&["07 01 01 61 00"], 3, "it retains more than any key has"),
        (&[A, "02 01 01 62 00"], 3, "it drops two of one byte"),
        (&["00 7f 01 61 00"], 5, "the suffix passes the block"),
        (&["00 ffffffff0f 01 61 00"], 5, "a suffix of 2^32 - 1 bytes"),
        (&["00 01 00 61"], 6, "a value without a byte"),
        (&["00 01 02 61 00"], 6, "a value passes the block"),
        (&["00 01 01 61 02"], 10, "a tag of two"),
        (&["00 01 02 61 00 00"], 10, "a tombstone with a byte"),
        (&["00 01 01 61 00 00"], 7, "a byte is left over"),
        (&[A, "01"], 9, "there is no second suffix"),
    ];
    for (records, code, why) in blocks {
        Parsing::bytes(records, 0).refused(&mut bench, 0, code, why);
    }
    Parsing { last_key_bits: 16, ..one() }.refused(&mut bench, 0, 8, "the last key has another length");
}

/// The bits of two files' symbols, in the order of `columns.yaml`.
fn symbols(older: &File<'_>, newer: &File<'_>) -> Vec<(&'static str, u64)> {
    const NAMES: [[&str; 8]; 2] = [
        [
            "older_words",
            "older_records",
            "older_payload_bits",
            "older_common_bits",
            "older_last_key_bits",
            "older_universe",
            "older_low_width",
            "older_exceptions",
        ],
        [
            "newer_words",
            "newer_records",
            "newer_payload_bits",
            "newer_common_bits",
            "newer_last_key_bits",
            "newer_universe",
            "newer_low_width",
            "newer_exceptions",
        ],
    ];
    let numbers = |file: &File<'_>| {
        let directory = &file.directory;
        [
            file.file().len() as u64 / 4,
            file.records(),
            directory.payload_bits,
            file.value_width_bits().unwrap_or(0),
            file.last_key_bits(),
            directory.offsets.universe,
            u64::from(directory.offsets.low_width),
            file.section(4).len() as u64 / 8,
        ]
    };
    [older, newer]
        .into_iter()
        .zip(NAMES)
        .flat_map(|(file, names)| names.into_iter().zip(numbers(file)))
        .collect()
}

/// What the reader says about files: columns, block starts, keys.
#[derive(Default)]
struct Truth {
    literal_starts: Vec<u32>,
    key_bits: Vec<u32>,
    retained: Vec<u32>,
    value_bits: Vec<u32>,
    starts: [Vec<u32>; 2],
    keys: Vec<Vec<u8>>,
}

impl Truth {
    fn of(files: [&[u8]; 2]) -> Truth {
        let mut truth = Truth::default();
        for (file, starts) in files.into_iter().zip(0..) {
            let file = File::open(file).expect("a file");
            truth.starts[starts] = (0..file.directory.offsets.entries)
                .map(|entry| {
                    file.offset_sections().select(file.directory.offsets, entry).expect("an entry") as u32
                })
                .collect();
            let mut cursor = Cursor::new(file, true);
            while cursor.advance().expect("a sound file") {
                let record = cursor.record();
                let payload = 8 * cursor.file().profile.payload_offset();
                truth.literal_starts.push((payload + record.literal_at) as u32);
                truth.key_bits.push(record.key_bits as u32);
                truth.retained.push(record.retained_bits as u32);
                truth.value_bits.push(record.value_bits() as u32);
                truth.keys.push(cursor.key().to_vec());
            }
        }
        truth
    }

    /// Bytes that all keys share.
    fn common_bytes(&self) -> usize {
        let Some((first, rest)) = self.keys.split_first() else { return 0 };
        let shared = |key: &Vec<u8>| first.iter().zip(key).take_while(|(a, b)| a == b).count();
        rest.iter().map(shared).min().unwrap_or(first.len())
    }

    fn windows(&self, prefix: usize) -> Vec<u32> {
        let window = |key: &Vec<u8>| {
            let mut eight = [0; 8];
            let rest = key.get(prefix..).unwrap_or(&[]);
            let held = rest.len().min(8);
            eight[..held].copy_from_slice(&rest[..held]);
            [0, 4].map(|at| u32::from_be_bytes(eight[at..at + 4].try_into().expect("four bytes")))
        };
        self.keys.iter().flat_map(window).collect()
    }
}

/// The graph that reads files of this one's profile.
fn columns_of(file: &[u8]) -> &'static str {
    match File::open(file).expect("a file").profile {
        Profile::Kv02 => "input/columns_bytes.yaml",
        Profile::Kv03 => "input/columns.yaml",
    }
}

/// Checks all that passes say about two sound files; `most` says whether they retain all that they can.
fn check(bench: &mut Bench, case: &str, older: &[u8], newer: &[u8], most: bool) {
    let symbols = symbols(&File::open(older).expect("a file"), &File::open(newer).expect("a file"));
    let inputs = [("older", older.to_vec()), ("newer", newer.to_vec())];
    let found = bench.run(columns_of(older), &symbols, &inputs);
    let truth = Truth::of([older, newer]);
    let prefix = found["prefix"][0] as usize;
    let windows = truth.windows(prefix);
    let columns: [(&str, &[u32]); 10] = [
        ("older_starts", &truth.starts[0]),
        ("newer_starts", &truth.starts[1]),
        ("literal_starts", &truth.literal_starts),
        ("key_bits", &truth.key_bits),
        ("retained", &truth.retained),
        ("value_bits", &truth.value_bits),
        ("windows", &windows),
        ("scanned_windows", &windows),
        ("older_status", &[ALL_ONES]),
        ("newer_status", &[ALL_ONES]),
    ];
    for (name, column) in columns {
        assert!(found[name] == column, "{case}: {name}");
    }
    let common = truth.common_bytes().min(1 << 17);
    if most {
        assert_eq!(prefix, common, "{case}");
    } else {
        assert!(prefix <= common, "{case}");
    }
}

#[test]
fn golden_inputs() {
    let mut bench = Bench::new();
    for name in cases("kv03").iter().filter(|name| name.starts_with("merge-")) {
        let [older, newer] = ["older", "newer"].map(|part| read(format!("kv03/{name}.{part}.kv")));
        check(&mut bench, name, &older, &newer, true);
    }
    for name in ["cap-7-bits", "none-retained", "whole-bytes"] {
        let [older, newer] =
            ["older", "newer"].map(|part| read(format!("kv03-extra/conservative-{name}.{part}.kv")));
        check(&mut bench, name, &older, &newer, false);
    }
}

#[test]
fn adversarial_inputs() {
    let mut bench = Bench::new();
    for case in weft::fixture::byte::merges() {
        let [older, newer] = byte_inputs(&case);
        let most = !case.name.starts_with("conservative");
        check(&mut bench, &case.name, &older, &newer, most);
    }
    for case in adversarial::merges() {
        check(&mut bench, &case.name, &encode(&case.older), &encode(&case.newer), true);
    }
}

#[test]
fn any_inputs() {
    let bench = RefCell::new(Bench::new());
    TestRunner::new(Config::with_cases(60))
        .run(&(profile(), rows(60), rows(60)), |(profile, older, newer)| {
            let [older, newer] = [older, newer].map(|rows| encode_in(profile, &rows));
            check(&mut bench.borrow_mut(), "any", &older, &newer, true);
            Ok(())
        })
        .expect("the same columns");
}

/// `count` keys of `bytes` bytes that differ in their last two alone.
fn long_keys(bytes: usize, count: usize, first: usize) -> Vec<Row> {
    let key = |i: usize| [vec![0xa5; bytes - 2], (i as u16).to_be_bytes().to_vec()].concat();
    (first..first + count).map(|i| (key(i), Some(vec![i as u8; i % 5]))).collect()
}

/// Each key is the one before it and a byte more, and has that byte from every record before it.
fn growing_keys(most: usize) -> Vec<Row> {
    (0..=most).map(|length| ((0..length).map(|at| at as u8).collect(), None)).collect()
}

#[test]
fn long_keys_are_read() {
    let mut bench = Bench::new();
    let many = |bytes, older, newer| [long_keys(bytes, older, 0), long_keys(bytes, newer, older / 2)];
    let inputs = [
        many(20_000, 40, 40),
        many(20_000, 1, 1),
        many(140_000, 2, 1),
        many(140_000, 0, 2),
        [growing_keys(700), long_keys(300, 3, 0)],
        [growing_keys(300), growing_keys(301)],
    ];
    for [older, newer] in inputs {
        check(&mut bench, "long keys", &encode(&older), &encode(&newer), true);
    }
}

#[test]
fn sizes_around_blocks_and_groups() {
    let mut bench = Bench::new();
    let count = |n: usize| long_keys(5, n, 0);
    for n in [0, 1, 2, 14, 15, 16, 29, 30, 31, 255, 256, 257, 959, 960, 961, 3839, 3840, 3841] {
        for (older, newer) in [(n, 0), (0, n), (n, n), (n, 1)] {
            check(&mut bench, "sizes", &encode(&count(older)), &encode(&count(newer)), true);
        }
    }
}

/// Bytes of the blocks of one workgroup of the parser that it can bring to workgroup memory, and those blocks' records.
const STAGE_BYTES: u64 = 16 * 540;
const STAGE_RECORDS: usize = 32 * 15;

/// Rows with values of 10 bytes, but for one that makes the first `STAGE_RECORDS` take `bytes` of a payload.
fn rows_over(profile: Profile, bytes: u64) -> Vec<Row> {
    let row = |i: usize| ((i as u32).to_be_bytes().to_vec(), Some(vec![i as u8; 9 + i % 3]));
    let mut rows: Vec<Row> = (0..STAGE_RECORDS + 40).map(row).collect();
    let payload_bits = |rows: &[Row]| {
        let file = encode_in(profile, &rows[..STAGE_RECORDS]);
        File::open(&file).expect("a file").directory.payload_bits
    };
    let missing = bytes.checked_sub(payload_bits(&rows).div_ceil(8)).expect("room for more");
    rows[77].1 = Some(vec![1; 9 + 77 % 3 + missing as usize]);
    rows
}

#[test]
fn blocks_that_just_fit_the_stage_of_the_parser() {
    let mut bench = Bench::new();
    for profile in [Profile::Kv02, Profile::Kv03] {
        let [fewest, most] = [STAGE_BYTES - 60, STAGE_BYTES + 40];
        for bytes in (fewest..most).step_by(3) {
            let file = encode_in(profile, &rows_over(profile, bytes));
            let before = encode_in(profile, &rows_over(profile, bytes - 7));
            check(&mut bench, &format!("{bytes} bytes"), &file, &before, true);
        }
    }
}

#[test]
fn small_and_large_values_side_by_side() {
    let mut bench = Bench::new();
    let lengths: [fn(usize) -> usize; 4] = [
        |i| if i == 500 { 100_000 } else { 0 },
        |i| if i % 480 == 479 { 9_000 } else { i % 5 },
        |i| if (480..960).contains(&i) { 300 } else { 1 },
        |i| 40 + i % 7,
    ];
    for profile in [Profile::Kv02, Profile::Kv03] {
        let [a, b, c, d] = lengths.map(|length| {
            let row = |i: usize| ((i as u32).to_be_bytes().to_vec(), Some(vec![i as u8; length(i)]));
            encode_in(profile, &(0..1500).map(row).collect::<Vec<Row>>())
        });
        check(&mut bench, "one large value, and one a group", &a, &b, true);
        check(&mut bench, "one group of larger values, and all", &c, &d, true);
    }
}

/// Blocks are parsed where the offsets say that they are, wherever that is.
#[test]
fn damaged_offsets_are_parsed_alike() {
    let bench = RefCell::new(Bench::new());
    let changes = || prop::collection::vec((any::<prop::sample::Index>(), any::<u32>(), 0..4), 1..12);
    let sound = Cell::new(0);
    TestRunner::new(Config::with_cases(120))
        .run(&(profile(), changes(), 0..60_usize), |(profile, changes, length)| {
            let row = |i: usize| ((i as u32).to_be_bytes().to_vec(), Some(vec![i as u8; i % (length + 1)]));
            let file = encode_in(profile, &(0..1100).map(row).collect::<Vec<Row>>());
            let opened = File::open(&file).expect("a file");
            let offsets = opened.directory.offsets;
            let entry = |entry| opened.offset_sections().select(offsets, entry).expect("an entry") as u32;
            let mut starts: Vec<u32> = (0..offsets.entries).map(entry).collect();
            let ends = starts[starts.len() - 1];
            for (at, value, kind) in changes {
                let at = at.index(starts.len());
                starts[at] = match kind {
                    0 => value,
                    1 => value % (ends + 1),
                    2 => starts[value as usize % starts.len()],
                    _ => starts[at].wrapping_add(value % 65).wrapping_sub(32),
                };
            }
            let symbols = [
                ("words", file.len() as u64 / 4),
                ("records", opened.records()),
                ("payload_bits", opened.directory.payload_bits),
                ("common_bits", opened.value_width_bits().unwrap_or(0)),
                ("last_key_bits", opened.last_key_bits()),
            ];
            let graph = match profile {
                Profile::Kv02 => "input/parse_bytes.yaml",
                Profile::Kv03 => "input/parse.yaml",
            };
            let inputs = [("file", file.clone()), ("starts", bytes(&starts))];
            let found = bench.borrow_mut().run(graph, &symbols, &inputs);
            sound.set(sound.get() + u32::from(found["status"] == [ALL_ONES]));
            Ok(())
        })
        .expect("the same columns");
    assert!(sound.get() < 20, "{} files were not damaged", sound.get());
}

/// Whether the reader takes the records of a file, whose other sections are sound.
fn is_sound(file: &[u8]) -> bool {
    let mut cursor = Cursor::new(File::open(file).expect("a file"), false);
    loop {
        match cursor.advance() {
            Ok(true) => {}
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}

/// Runs two files of which any bit behind the directory may be wrong; gives whether each is taken.
fn judge(bench: &mut Bench, older: &[u8], newer: &[u8]) -> [bool; 2] {
    let symbols = symbols(&File::open(older).expect("a file"), &File::open(newer).expect("a file"));
    let inputs = [("older", older.to_vec()), ("newer", newer.to_vec())];
    let found = bench.run(columns_of(older), &symbols, &inputs);
    let bounds = [("older_status", older), ("newer_status", newer)];
    bounds.map(|(name, file)| {
        let status = found[name][0];
        let blocks = File::open(file).expect("a file").records().div_ceil(15) as u32;
        assert!(
            status == ALL_ONES || (status >> 7 < blocks.max(1) && (1..=11).contains(&(status & 127))),
            "{name}: {status}"
        );
        status == ALL_ONES
    })
}

#[test]
fn damaged_payloads_are_refused() {
    let bench = RefCell::new(Bench::new());
    let flips = || prop::collection::vec(any::<prop::sample::Index>(), 0..9);
    let refused = Cell::new(0);
    TestRunner::new(Config::with_cases(250))
        .run(
            &(profile(), rows(50), rows(50), flips(), flips()),
            |(profile, older, newer, in_older, in_newer)| {
                let mut files = [older, newer].map(|rows| encode_in(profile, &rows));
                for (file, flips) in files.iter_mut().zip([in_older, in_newer]) {
                    let bits = File::open(file).expect("a file").directory.payload_bits as usize;
                    for flip in flips.iter().filter(|_| bits > 0) {
                        let bit = flip.index(bits);
                        file[profile.payload_offset() as usize + bit / 8] ^= 0x80 >> (bit % 8);
                    }
                }
                let [older, newer] = &files;
                let sound = [is_sound(older), is_sound(newer)];
                refused.set(refused.get() + sound.iter().filter(|&&sound| !sound).count());
                prop_assert_eq!(judge(&mut bench.borrow_mut(), older, newer), sound);
                Ok(())
            },
        )
        .expect("the same judgement");
    assert!(refused.get() > 100, "only {} files were damaged enough", refused.get());
}

#[test]
fn damage_anywhere_gives_the_same_failures() {
    let bench = RefCell::new(Bench::new());
    let words_of = || prop::collection::vec((any::<prop::sample::Index>(), any::<u32>()), 0..6);
    TestRunner::new(Config::with_cases(150))
        .run(
            &(profile(), rows(80), rows(40), words_of(), words_of()),
            |(profile, older, newer, in_older, in_newer)| {
                let files = [older, newer].map(|rows| encode_in(profile, &rows));
                let files = [(0, in_older), (1, in_newer)].map(|(side, changes): (usize, _)| {
                    let mut file = words(&files[side]);
                    let body = profile.payload_offset() as usize / 4;
                    for (word, value) in changes {
                        let word = body + word.index(file.len() - body);
                        file[word] = value;
                    }
                    bytes(&file)
                });
                judge(&mut bench.borrow_mut(), &files[0], &files[1]);
                Ok(())
            },
        )
        .expect("the same failures");
}
