//! Emission: the payload and the Elias-Fano sections of outputs, against the files that the CPU engine writes.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use weft::fixture::{Side, adversarial, complete};
use weft::format::bits::{bit, golomb_len, leb_len, shared_bits};
use weft::format::elias_fano::{Encoder, Section, Shape};
use weft::format::kv::{Cursor, File, Profile};

use crate::device::Bench;
use crate::support::{Row, byte_inputs, bytes, cases, encode, encode_in, merge, read, rows, words};

/// What the passes before emission find out about two files.
#[derive(Default)]
struct Columns {
    /// Bits of the files' unit.
    unit: u64,
    literal_starts: Vec<u32>,
    key_bits: Vec<u32>,
    retained: Vec<u32>,
    value_bits: Vec<u32>,
    refs: Vec<u32>,
    shared_bits: Vec<u32>,
    offsets: Vec<u32>,
    /// Units in the payload.
    extent: u32,
    /// All keys in full, each at a whole word, its value behind it; and where they begin.
    arena: Vec<u32>,
    key_starts: Vec<u32>,
    /// Bytes that all keys share.
    prefix: u32,
}

impl Columns {
    fn of(older: &[u8], newer: &[u8]) -> Columns {
        let profile = File::open(older).expect("a file").profile;
        let mut columns = Columns { unit: profile.unit().bits(), ..Columns::default() };
        // A newer key takes the place of an older one.
        let mut surviving = BTreeMap::new();
        for file in [older, newer] {
            let mut cursor = Cursor::new(File::open(file).expect("a file"), true);
            while cursor.advance().expect("a sound file") {
                surviving.insert(cursor.key().to_vec(), columns.key_bits.len());
                let record = cursor.record();
                let payload = 8 * cursor.file().profile.payload_offset();
                columns.literal_starts.push((payload + record.literal_at) as u32);
                columns.key_bits.push(record.key_bits as u32);
                columns.retained.push(record.retained_bits as u32);
                columns.value_bits.push(record.value_bits() as u32);
                columns.put_in_arena(&cursor);
            }
        }
        let keys: Vec<&Vec<u8>> = surviving.keys().collect();
        let shared = |key: &&Vec<u8>| keys[0].iter().zip(*key).take_while(|(a, b)| a == b).count();
        columns.prefix = keys.iter().map(shared).min().unwrap_or(0) as u32;
        columns.place(&surviving);
        columns
    }

    /// The key and value of a record, bit by bit.
    fn put_in_arena(&mut self, cursor: &Cursor<'_>) {
        self.key_starts.push(self.arena.len() as u32);
        let record = cursor.record();
        let key = (0..record.key_bits).map(|at| bit(cursor.key(), at));
        let value = (record.value_at..record.end).map(|at| bit(cursor.payload(), at));
        let bits: Vec<bool> = key.chain(value).collect();
        let word =
            |bits: &[bool]| (0..).zip(bits).fold(0, |word, (at, &bit)| word | u32::from(bit) << (31 - at));
        self.arena.extend(bits.chunks(32).map(word));
    }

    fn place(&mut self, surviving: &BTreeMap<Vec<u8>, usize>) {
        let widths: Vec<u32> = surviving.values().map(|&record| self.value_bits[record]).collect();
        let equal = widths.iter().all(|width| *width == widths[0]);
        let mut previous: &[u8] = &[];
        let mut at = 0;
        for (i, (key, &record)) in surviving.iter().enumerate() {
            let (before, bits) = (8 * previous.len() as u64, 8 * key.len() as u64);
            let shared = shared_bits(previous, 0, key, 0, before.min(bits)) / self.unit * self.unit;
            let control = if i % 15 == 0 { shared } else { before - shared };
            self.refs.push(record as u32);
            self.shared_bits.push(shared as u32);
            self.offsets.push(at as u32);
            let suffix = bits - shared;
            let value = u64::from(self.value_bits[record]);
            let counts = match self.unit {
                8 => leb_len(control / 8) + leb_len(suffix / 8) + if equal { 0 } else { leb_len(value / 8) },
                _ => golomb_len(control + u64::from(i % 15 == 0)) + golomb_len(suffix),
            };
            at += (counts + suffix + value) / self.unit;
            previous = key;
        }
        self.extent = at as u32;
    }

    /// The least length of a surviving value and the least complement of one, and the length of the last key.
    fn widths(&self) -> ([u32; 2], u32) {
        let lengths = || self.refs.iter().map(|&record| self.value_bits[record as usize] / self.unit as u32);
        let extremes = [lengths().min(), lengths().map(|length| !length).min()];
        let last_key = self.refs.last().map_or(0, |&record| self.key_bits[record as usize]);
        (extremes.map(|extreme| extreme.unwrap_or(u32::MAX)), last_key)
    }
}

fn check_merge(bench: &mut Bench, name: &str, older: &[u8], newer: &[u8], expected: &[u8]) {
    let columns = Columns::of(older, newer);
    let layout = check_layout(bench, name, &columns, expected);
    let symbols = [
        ("records", columns.key_bits.len() as u64),
        ("older_records", File::open(older).expect("a file").records()),
        ("survivors", columns.refs.len() as u64),
        (if columns.unit == 8 { "payload_bytes" } else { "payload_bits" }, u64::from(columns.extent)),
        ("older_words", older.len() as u64 / 4),
        ("newer_words", newer.len() as u64 / 4),
    ];
    let mut inputs =
        vec![("older", older.to_vec()), ("newer", newer.to_vec()), ("output_layout", bytes(&layout))];
    inputs.extend(
        [
            ("literal_starts", &columns.literal_starts),
            ("key_bits", &columns.key_bits),
            ("retained", &columns.retained),
            ("refs", &columns.refs),
            ("shared_bits", &columns.shared_bits),
            ("offsets", &columns.offsets),
        ]
        .map(|(name, column)| (name, bytes(column))),
    );
    if columns.unit == 8 {
        inputs.push(("value_bits", bytes(&columns.value_bits)));
    }
    let (graph, emitters): (_, &[&str]) = match columns.unit {
        8 => ("emit/payload_bytes.yaml", &["bytes"]),
        _ => ("emit/payload.yaml", &["words", "bits"]),
    };
    let outputs = bench.run(graph, &symbols, &inputs);
    let mut payload = File::open(expected).expect("a file").section(0).to_vec();
    payload.resize(payload.len().next_multiple_of(4), 0);
    for &emitter in emitters {
        assert!(outputs[emitter] == words(&payload), "{name}: the payload by {emitter}");
    }
    if columns.unit == 8 {
        return;
    }
    let in_both = |input: &(&str, Vec<u8>)| !["literal_starts", "key_bits", "retained"].contains(&input.0);
    let inputs: Vec<_> = inputs.into_iter().filter(in_both).collect();
    let staged = bench.run("emit/staged.yaml", &symbols, &inputs);
    let expected: [(&str, &[u32]); 8] = [
        ("key_starts", &columns.key_starts),
        ("key_bits", &columns.key_bits),
        ("value_bits", &columns.value_bits),
        ("prefix", &[columns.prefix]),
        ("older_status", &[u32::MAX]),
        ("newer_status", &[u32::MAX]),
        ("arena", &columns.arena),
        ("words", &words(&payload)),
    ];
    for (output, expected) in expected {
        assert!(staged[output] == expected, "{name}: {output} of what the host staged");
    }
}

/// Checks all that follows from the offsets, and gives the layout.
fn check_layout(bench: &mut Bench, name: &str, columns: &Columns, expected: &[u8]) -> Vec<u32> {
    let file = File::open(expected).expect("a file");
    let (extremes, last_key_bits) = columns.widths();
    let outputs = run_sections(bench, &columns.offsets, columns.extent, extremes, last_key_bits);
    let shape = file.directory.offsets;
    let [low_words, high_words, _] = shape.words().expect("a small file").map(|words| 2 * words as u32);
    let layout = [
        file.records() as u32,
        columns.extent,
        file.offset_stride() as u32,
        shape.universe as u32,
        shape.low_width,
        file.last_key_bits() as u32,
        low_words,
        high_words,
    ];
    assert_eq!(outputs["layout"], layout, "{name}");
    check_sections(name, &outputs, file.offset_sections().0.map(<[u8]>::to_vec));
    layout.to_vec()
}

fn run_sections(
    bench: &mut Bench,
    offsets: &[u32],
    extent: u32,
    extremes: [u32; 2],
    last_key_bits: u32,
) -> BTreeMap<String, Vec<u32>> {
    let inputs = [
        ("offsets", bytes(offsets)),
        ("extent", bytes(&[extent])),
        ("extremes", bytes(&extremes)),
        ("last_key_bits", bytes(&[last_key_bits])),
    ];
    let outputs = bench.run("emit/sections.yaml", &[("survivors", offsets.len() as u64)], &inputs);
    assert_eq!(outputs["plan"], outputs["layout"]);
    outputs
}

fn check_sections(name: &str, outputs: &BTreeMap<String, Vec<u32>>, expected: [Vec<u8>; 4]) {
    for (section, expected) in Section::ALL.into_iter().zip(expected) {
        let section = section.name();
        assert!(outputs[section] == words(&expected), "{name}: the {section}");
        assert!(outputs[&format!("host_{section}")] == words(&expected), "{name}: the {section} by the host");
    }
}

#[test]
fn adversarial_merges_are_emitted() {
    let mut bench = Bench::new();
    for merge_of in adversarial::merges() {
        let (older, newer) = (encode(&merge_of.older), encode(&merge_of.newer));
        let expected = merge(&[&older, &newer]).expect("sound files");
        check_merge(&mut bench, &merge_of.name, &older, &newer, &expected);
    }
}

#[test]
fn merges_of_the_byte_profile_are_emitted() {
    let mut bench = Bench::new();
    for case in
        weft::fixture::byte::merges().iter().filter(|case| !case.older.is_empty() || !case.newer.is_empty())
    {
        let [older, newer] = byte_inputs(case);
        let expected = merge(&[&older, &newer]).expect("sound files");
        check_merge(&mut bench, &case.name, &older, &newer, &expected);
    }
    // Counts of three bytes, values that fill whole tiles, and tiles full of the shortest records.
    let key = |last: u8| [vec![b'k'; 20_000], vec![last]].concat();
    let older = encode_in(Profile::Kv02, &[(key(1), Some(vec![7; 300_001])), (key(3), None)]);
    let newer = encode_in(Profile::Kv02, &[(key(2), Some(Vec::new())), (key(3), Some(vec![9; 70_000]))]);
    let short: Vec<Row> = (0..5000_u16).map(|i| (i.to_be_bytes().to_vec(), None)).collect();
    let (short, empty) = (encode_in(Profile::Kv02, &short), encode_in(Profile::Kv02, &[]));
    for [older, newer] in [[&older, &newer], [&short, &empty], [&newer, &short]] {
        let expected = merge(&[older, newer]).expect("sound files");
        check_merge(&mut bench, "long and short records", older, newer, &expected);
    }
}

#[test]
fn golden_merges_are_emitted() {
    let mut bench = Bench::new();
    for name in cases("kv03").iter().filter(|name| name.starts_with("merge-")) {
        let [older, newer, expected] =
            ["older", "newer", "expected"].map(|part| read(format!("kv03/{name}.{part}.kv")));
        check_merge(&mut bench, name, &older, &newer, &expected);
    }
    for name in ["cap-7-bits", "none-retained", "whole-bytes"] {
        let [older, newer, expected] = ["older", "newer", "expected"]
            .map(|part| read(format!("kv03-extra/conservative-{name}.{part}.kv")));
        check_merge(&mut bench, name, &older, &newer, &expected);
    }
}

#[test]
fn files_with_dense_and_sparse_groups_are_emitted() {
    let mut bench = Bench::new();
    let empty = encode(&[]);
    for name in ["offset-group-dense", "offset-group-sparse", "two-offset-groups"] {
        let file = read(format!("kv03/{name}.kv"));
        check_merge(&mut bench, name, &file, &empty, &file);
        check_merge(&mut bench, name, &empty, &file, &file);
    }
}

#[test]
fn benchmarks_and_long_records_are_emitted() {
    let mut bench = Bench::new();
    for records in [1, 7, 16, 129, 4096] {
        let shape = weft::fixture::Shape { records, ..complete()[0] };
        let [older, newer] =
            [Side::Older, Side::Newer].map(|side| encode(&shape.rows(side).collect::<Vec<_>>()));
        let expected = merge(&[&older, &newer]).expect("sound files");
        check_merge(&mut bench, &format!("{records} records"), &older, &newer, &expected);
    }
    let key = |last: u8| [vec![b'k'; 20_000], vec![last]].concat();
    let older = encode(&[(key(1), Some(vec![7; 300_001])), (key(3), None)]);
    let newer = encode(&[(key(2), Some(Vec::new())), (key(3), Some(vec![9; 70_000]))]);
    let expected = merge(&[&older, &newer]).expect("sound files");
    check_merge(&mut bench, "long records", &older, &newer, &expected);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn any_merge_is_emitted(older in rows(40), newer in rows(40)) {
        let (older, newer): (Vec<u8>, Vec<u8>) = (encode(&older), encode(&newer));
        let expected = merge(&[&older, &newer]).expect("sound files");
        check_merge(&mut Bench::new(), "random", &older, &newer, &expected);
    }
}

// ---- sequences of offsets --------------------------------------------------------------------------------------

/// Checks the sections of these entries, with all values of `width` bits and the last block `short` records short.
fn check_entries(bench: &mut Bench, entries: &[u64], width: u64, short: u64) -> (u32, usize) {
    let last = entries.len() as u64 - 1;
    let survivors = (15 * last).saturating_sub(short);
    let offset = |i: u64| (entries[(i / 15) as usize] + i * width) as u32;
    let offsets: Vec<u32> = (0..survivors).map(offset).collect();
    let payload_bits = (entries[last as usize] + survivors * width) as u32;
    let extremes = if survivors > 0 { [width as u32, !(width as u32)] } else { [u32::MAX; 2] };
    let outputs = run_sections(bench, &offsets, payload_bits, extremes, 0);
    let shape = Shape::canonical(entries.len() as u64, entries[last as usize]);
    let mut sections: [Vec<u8>; 4] = Default::default();
    let mut encoder = Encoder::new(shape);
    let mut put = |section: Section, word: u64| sections[section as usize].extend(word.to_le_bytes());
    assert!(entries.iter().all(|&entry| encoder.push(entry, &mut put)) && encoder.finish(&mut put));
    let exceptions = sections[Section::Exceptions as usize].len() / 8;
    check_sections(&format!("{} entries", entries.len()), &outputs, sections);
    assert_eq!(outputs["layout"][4], shape.low_width);
    (shape.low_width, exceptions)
}

fn step(high: u64) -> Vec<u64> {
    [vec![0; 127], vec![high; 3970]].concat()
}

#[test]
fn published_sequences_of_offsets_are_encoded() {
    let mut bench = Bench::new();
    let mut check = |entries: &[u64], width, short| check_entries(&mut bench, entries, width, short);
    assert_eq!(check(&[0], 0, 0), (0, 0));
    assert_eq!(check(&[0; 513], 1, 0), (0, 0));
    assert_eq!(check(&[0; 258], 13, 7), (0, 0));
    for (low_width, entries) in [(1, 67), (5, 67), (17, 67), (29, 3)] {
        let universe = (entries << low_width) + 1;
        let values: Vec<u64> = (0..entries).map(|i| universe * i / (entries - 1)).collect();
        assert_eq!(check(&values, 3, 7), (low_width, 0));
    }
    assert_eq!(check(&step(3840), 1, 0), (0, 0));
    assert_eq!(check(&step(3841), 1, 0), (0, 256));
    assert_eq!(check(&step(65_536), 1, 0), (3, 256));
    // Those of the output plan.
    assert_eq!(check(&[0, 17], 1, 14), (3, 0));
    assert_eq!(check(&[0, 0], 1, 0), (0, 0));
    assert_eq!(check(&[0, 13, 33], 9, 7), (3, 0));
}

/// The layout that the device computes is the one of the host, also where numbers are as large as they get.
#[test]
fn layouts_are_planned_alike() {
    let mut bench = Bench::new();
    let payloads = [0, 1, 2, 63, 64, 65, 1 << 20, (1 << 20) - 1, (1 << 31) - 1, 0x5a5a_5a5a];
    let extremes = [[u32::MAX; 2], [1, !1], [13, !13], [13, !14], [72, !72], [1 << 29, !(1 << 29)]];
    for survivors in [0, 1, 14, 15, 16, 3825, 3840, 3841, 70_000] {
        for payload in payloads {
            for extremes in extremes {
                let inputs = [
                    ("extent", bytes(&[payload])),
                    ("extremes", bytes(&extremes)),
                    ("last_key_bits", bytes(&[payload / 3])),
                ];
                let outputs = bench.run("emit/layouts.yaml", &[("survivors", survivors)], &inputs);
                assert_eq!(outputs["by_device"], outputs["by_host"], "{survivors}, {payload}, {extremes:?}");
                assert_eq!(outputs["by_host"][0], survivors as u32);
            }
        }
    }
}

#[test]
fn groups_are_sparse_wherever_a_step_falls() {
    let mut bench = Bench::new();
    // 15 groups of 256 entries and one of 160.
    for (step_at, exceptions) in [(1, 256), (3839, 256), (3840, 0), (3841, 160), (3999, 160)] {
        let entries: Vec<u64> = (0..4000).map(|i| if i < step_at { 0 } else { 7900 }).collect();
        assert_eq!(check_entries(&mut bench, &entries, 2, 3), (0, exceptions), "a step at {step_at}");
    }
    let two_steps: Vec<u64> =
        (0..4100).map(|i| 4095 * (u64::from(i >= 300) + u64::from(i >= 4098))).collect();
    assert_eq!(check_entries(&mut bench, &two_steps, 2, 3), (0, 256 + 4));
}

/// The workgroup that counts exceptions goes through 256 groups at a time.
#[test]
fn exceptions_are_counted_over_more_groups_than_a_workgroup_has_lanes() {
    let steps = [3, 255, 256, 270, 512].map(|group| 256 * group + 100);
    let entry = |i: u64| 4000 * steps.iter().filter(|&&step| step <= i).count() as u64;
    let entries: Vec<u64> = (0..256 * 513).map(entry).collect();
    assert_eq!(check_entries(&mut Bench::new(), &entries, 2, 3), (0, 5 * 256));
}

// ---- codes and windows -----------------------------------------------------------------------------------------

/// The first bits of a string, as a word's highest; zeros past its end.
fn window_of_string(bits: &[bool], at: usize, count: usize) -> u32 {
    let set = |k: usize| bits.get(at + k).is_some_and(|&bit| bit);
    (0..count).filter(|&k| set(k)).map(|k| 1 << (31 - k)).sum()
}

fn golomb(x: u64) -> Vec<bool> {
    let m = x + 1;
    let zeros = m.ilog2() as usize;
    let binary = (0..=zeros).rev().map(|place| m >> place & 1 == 1);
    std::iter::repeat_n(false, zeros).chain(binary).collect()
}

#[test]
fn windows_of_codes_and_files_are_exact() {
    let file: Vec<u8> = (0..32).map(|i: u32| (i * 151 + 29) as u8).collect();
    let file_bits: Vec<bool> = (0..256).map(|at| bit(&file, at)).collect();
    let mut asked = Vec::new();
    let mut expected = Vec::new();
    for at in 0..=224 {
        for count in 1..=32 {
            asked.extend([1, 0, at, count]);
            expected.push(window_of_string(&file_bits, at as usize, count as usize));
        }
    }
    let powers = (0..32).flat_map(|power| [(1_u32 << power) - 1, 1 << power]);
    for x in powers.chain([5, 1000, 0xcafe_f00d, u32::MAX - 1]) {
        let code = golomb(u64::from(x));
        assert_eq!(code.len() as u64, golomb_len(u64::from(x)));
        for at in 0..64 {
            for count in [1, 2, 31, 32] {
                asked.extend([0, x, at, count]);
                expected.push(window_of_string(&code, at as usize, count as usize));
            }
        }
    }
    // A word more than the bytes that are asked for.
    let inputs = [("file", [file, vec![0; 4]].concat()), ("asked", bytes(&asked))];
    let symbols = [("words", 9), ("queries", expected.len() as u64)];
    let outputs = Bench::new().run_on_device("emit/probe.yaml", &symbols, &inputs);
    let wrong = (0..expected.len()).find(|&i| outputs["windows"][i] != expected[i]);
    assert_eq!(wrong.map(|i| &asked[4 * i..4 * i + 4]), None);
}

// ---- tiles -----------------------------------------------------------------------------------------------------

/// Bits of the payload that a workgroup makes, and how many records it stages at a time.
const TILE: u64 = 32 * 1024;
const STAGED: usize = 512;

fn check_file(bench: &mut Bench, name: &str, profile: Profile, rows: &[Row]) -> Columns {
    let (file, empty) = (encode_in(profile, rows), encode_in(profile, &[]));
    check_merge(bench, name, &file, &empty, &file);
    check_merge(bench, name, &empty, &file, &file);
    Columns::of(&file, &empty)
}

#[test]
fn tiles_with_more_records_than_are_staged_are_emitted() {
    let mut bench = Bench::new();
    for (profile, rounds) in [(Profile::Kv03, 5), (Profile::Kv02, 2)] {
        for records in [STAGED - 1, STAGED, STAGED + 1, 2 * STAGED - 1, 7000] {
            let tombstone = |i: usize| ((i as u16).to_be_bytes().to_vec(), None);
            let rows: Vec<Row> = (0..records).map(tombstone).collect();
            let columns = check_file(&mut bench, "tombstones", profile, &rows);
            let in_first = |offset: &&u32| u64::from(**offset) * columns.unit < TILE;
            let begin_there = columns.offsets.iter().filter(in_first).count();
            assert!(begin_there == records || begin_there > rounds * (STAGED - 1), "{begin_there} in a tile");
        }
    }
}

/// Records about as long as a tile, so that the ends of tiles fall on most places of their heads.
#[test]
fn tiles_that_end_within_heads_are_emitted() {
    let mut bench = Bench::new();
    // Heads of 50 bits and of 6 bytes, the latter with a count of the value, as not all are equally long.
    for (profile, value, head) in [(Profile::Kv03, 3486, 50), (Profile::Kv02, 3487, 48)] {
        let mut places = BTreeSet::new();
        for longer in 1..=4 {
            let row = |i: u8| {
                let key = [vec![i], vec![b'k'; 600]].concat();
                let longer = if profile == Profile::Kv02 { i < longer } else { i % 5 < longer };
                (key, Some(vec![!i; value + usize::from(longer)]))
            };
            let rows: Vec<Row> = (0..60).map(row).collect();
            let columns = check_file(&mut bench, "records as long as a tile", profile, &rows);
            let before_end = |offset: &u32| TILE - u64::from(*offset) * columns.unit % TILE;
            places.extend(columns.offsets.iter().map(before_end).filter(|&place| place < head));
        }
        assert!(places.len() as u64 >= (head / profile.unit().bits() - 1).min(40), "only {places:?}");
    }
}

/// The payload ends shortly before, with and behind a tile.
#[test]
fn last_words_of_tiles_are_emitted() {
    let mut bench = Bench::new();
    for profile in [Profile::Kv03, Profile::Kv02] {
        let mut left = BTreeSet::new();
        for (tombstones, value) in (0..4).flat_map(|t| (4070..4096).step_by(3).map(move |v| (t, v))) {
            let short = (0..tombstones).map(|i| (vec![i], None));
            let rows: Vec<Row> = short.chain([(vec![9], Some(vec![0xa5; value]))]).collect();
            let file = encode_in(profile, &rows);
            check_merge(&mut bench, "a tile", &file, &encode_in(profile, &[]), &file);
            let columns = Columns::of(&file, &encode_in(profile, &[]));
            left.insert((u64::from(columns.extent) * columns.unit) as i64 - TILE as i64);
        }
        assert!(left.first() < Some(&-32) && left.last() > Some(&32), "{left:?}");
    }
}

// ---- alignment and damage --------------------------------------------------------------------------------------

#[test]
fn every_alignment_of_codes_is_emitted() {
    let mut bench = Bench::new();
    let mut all: Vec<Row> = Vec::new();
    for length in 0..200_usize {
        let key = [vec![b'a'; length], (length as u16).to_be_bytes().to_vec()].concat();
        all.push((key, (length % 3 > 0).then(|| vec![length as u8; length % 7])));
    }
    all.sort();
    let file = encode(&all);
    check_merge(&mut bench, "every alignment", &file, &encode(&[]), &file);
    check_merge(&mut bench, "every alignment, twice", &file, &file, &file);
}

/// Columns that no check would let pass: what comes out means nothing, but it comes out.
#[test]
fn emission_of_nonsense_ends() {
    let noise =
        |n: u32, seed: u32| (0..n).map(|i| (i ^ seed).wrapping_mul(0x9e37_79b1).rotate_left(i)).collect();
    let columns: Vec<Vec<u32>> = (0..6).map(|seed| noise(1000, seed)).collect();
    let symbols = [
        ("records", 1000),
        ("older_records", 500),
        ("survivors", 1000),
        ("payload_bits", 70_001),
        ("older_words", 80),
        ("newer_words", 80),
    ];
    for shift in [0, 8, 16, 24, 31] {
        let shifted = |column: usize| bytes(&columns[column].iter().map(|x| x >> shift).collect::<Vec<_>>());
        let inputs = vec![
            ("output_layout", bytes(&[1000, 70_001, 0, 0, 0, 0, 0, 0])),
            ("older", bytes(&noise(80, 7))),
            ("newer", bytes(&noise(80, 8))),
            ("literal_starts", shifted(0)),
            ("key_bits", shifted(1)),
            ("retained", shifted(2)),
            ("refs", shifted(3)),
            ("shared_bits", shifted(4)),
            ("offsets", shifted(5)),
        ];
        let mut bench = Bench::new();
        let outputs = bench.run_on_device("emit/payload.yaml", &symbols, &inputs);
        assert_eq!(outputs["words"].len(), 70_001_usize.div_ceil(32));
        let in_bytes = symbols.map(|(name, n)| if n == 70_001 { ("payload_bytes", n) } else { (name, n) });
        let with_values = [inputs.clone(), vec![("value_bits", shifted(1))]].concat();
        let outputs = bench.run_on_device("emit/payload_bytes.yaml", &in_bytes, &with_values);
        assert_eq!(outputs["bytes"].len(), 70_001_usize.div_ceil(4));
        let symbols = [("records", 1000), ("survivors", 1000), ("payload_bits", 70_001), ("arena_words", 80)];
        let unused = |input: &(&str, Vec<u8>)| !["newer", "retained"].contains(&input.0);
        let renamed = |(name, column)| match name {
            "older" => ("arena", column),
            "literal_starts" => ("key_starts", column),
            _ => (name, column),
        };
        let inputs: Vec<_> = inputs.into_iter().filter(unused).map(renamed).collect();
        let outputs = bench.run_on_device("emit/arena.yaml", &symbols, &inputs);
        assert_eq!(outputs["words"].len(), 70_001_usize.div_ceil(32));
    }
}
