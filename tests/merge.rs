//! Merges: the published benchmark and adversarial inputs, and what holds of any merge.

mod support;

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use support::{Row, check, decode, encode, merge, merge_with, read_table};
use weft::fixture::{Fixture, Shape, Side, adversarial};
use weft::format::FormatErrorKind;
use weft::format::kv03::{Cursor, Kv03, Summary, encode as encode_into};
use weft::merge::cpu::{self, MergeError, Options};

/// Encodes rows without holding them.
fn encode_rows(rows: impl Iterator<Item = Row>) -> Vec<u8> {
    let mut file = Vec::new();
    encode_into(rows, &mut file).unwrap();
    file
}

fn merge_pair(older: &[u8], newer: &[u8]) -> (Vec<u8>, Summary) {
    let inputs = [older, newer].map(|file| Kv03::open(file).unwrap());
    let mut out = Vec::new();
    let summary = cpu::merge(&inputs, Options { verify: true }, &mut out).unwrap();
    (out, summary)
}

/// Compares a merge with a line of a table of published results. An empty field was not published.
fn assert_published(line: &HashMap<String, String>, older: &[u8], newer: &[u8]) -> Vec<u8> {
    let name = &line["name"];
    let (out, summary) = merge_pair(older, newer);
    let records = |file: &[u8]| Kv03::open(file).unwrap().records();
    let crc = format!("{:08x}", crc32c::crc32c(&out));
    let width = summary.common_width.map_or("none".to_owned(), |bits| bits.to_string());
    let numbers = [
        ("older_records", records(older)),
        ("newer_records", records(newer)),
        ("older_file_bytes", older.len() as u64),
        ("newer_file_bytes", newer.len() as u64),
        ("survivors", summary.records),
        ("payload_bits", summary.payload_bits),
        ("file_bytes", out.len() as u64),
    ];
    let found = numbers.map(|(column, number)| (column, number.to_string())).into_iter();
    for (column, found) in found.chain([("value_width", width), ("crc32c", crc)]) {
        if let Some(published) = line.get(column).filter(|published| !published.is_empty()) {
            assert_eq!(&found, published, "{name}: {column}");
        }
    }
    out
}

/// The shape a line describes, and that the fixture of its name is the same.
fn shape_of(line: &HashMap<String, String>) -> Shape {
    let number = |column: &str| line[column].parse::<usize>().unwrap();
    let shape = Shape {
        records: number("records") as u64,
        ratio: number("ratio") as u64,
        prefix_bytes: number("prefix_bytes"),
        ties_percent: number("ties_percent") as u64,
        base_bytes: number("base_bytes"),
        fixed: line["fixed"] == "yes",
    };
    if !line["name"].starts_with("sweep") {
        match Fixture::by_name(&line["name"]) {
            Some(Fixture::Shape(named)) => assert_eq!(named, shape, "{}", line["name"]),
            _ => panic!("no fixture is named {}", line["name"]),
        }
    }
    shape
}

#[test]
fn benchmark_merges_have_the_published_sizes_and_checksums() {
    let table = read_table("fixtures/shapes.tsv");
    assert_eq!(table.len(), 62);
    for line in &table {
        let shape = shape_of(line);
        let [older, newer] = [Side::Older, Side::Newer].map(|side| encode_rows(shape.rows(side)));
        let out = assert_published(line, &older, &newer);
        if shape.ties_percent == 100 && shape.ratio == 1 {
            assert!(out == newer, "{}: all ties give the newer file", line["name"]);
        }
    }
}

#[test]
fn adversarial_merges_have_the_published_sizes_and_checksums() {
    let table = read_table("fixtures/adversarial.tsv");
    let merges = adversarial::merges();
    assert_eq!((table.len(), merges.len()), (81, 81));
    for (line, merge) in table.iter().zip(&merges) {
        assert_eq!(line["name"], merge.name);
        let [older, newer] = [&merge.older, &merge.newer].map(|rows| encode(rows));
        let out = assert_published(line, &older, &newer);
        assert_eq!(
            decode(&out).unwrap(),
            merged_map(&[merge.older.clone(), merge.newer.clone()]),
            "{}",
            merge.name
        );
        assert_literals_are_tails(&[&older, &newer], &out);
    }
}

/// What a merge must give: an ordered map updated oldest first.
fn merged_map(inputs: &[Vec<Row>]) -> Vec<Row> {
    inputs.iter().flatten().cloned().collect::<BTreeMap<_, _>>().into_iter().collect()
}

/// Of every record: its key, and how many of the key's bits its file retains from the record before.
fn retained_bits(file: &[u8]) -> BTreeMap<Vec<u8>, u64> {
    let mut cursor = Cursor::new(Kv03::open(file).unwrap(), true);
    let mut retained = BTreeMap::new();
    while cursor.advance().unwrap() {
        retained.insert(cursor.key().to_vec(), cursor.record().retained_bits);
    }
    retained
}

/// Every output record retains at least what the record it came from retained in its own file, so that its literal
/// is a tail of that record's literal.
fn assert_literals_are_tails(inputs: &[&[u8]], out: &[u8]) {
    let inputs: Vec<_> = inputs.iter().map(|file| retained_bits(file)).collect();
    for (key, retained) in retained_bits(out) {
        let own = inputs.iter().rev().find_map(|input| input.get(&key)).expect("a key of some input");
        assert!(retained >= *own, "key {key:x?} retains {retained} bits, in its own file {own}");
    }
}

#[test]
fn no_input_gives_the_empty_file() {
    assert_eq!(merge(&[]).unwrap(), encode(&[]));
    let empty = encode(&[]);
    assert_eq!(merge(&[&empty, &empty, &empty]).unwrap(), empty);
}

#[test]
fn a_merge_names_the_input_that_is_broken() {
    let sound = encode(&[(b"a".to_vec(), None)]);
    let broken = support::read("kv03-extra/reject-unsorted.kv");
    match merge(&[&sound, &broken, &sound]) {
        Err(MergeError::Input { input: 1, error }) => assert_eq!(error.kind, FormatErrorKind::Corrupt),
        other => panic!("{other:?}"),
    }
}

#[test]
fn verification_can_be_left_out_and_only_that() {
    let base = support::read("kv03-extra/reject-base.kv");
    let mut stale = base.clone();
    // Only the stored checksum of the body is wrong; the header's own covers it and is right.
    stale[64] ^= 1;
    stale[68..72].fill(0);
    let header = crc32c::crc32c(&stale[..96]);
    stale[68..72].copy_from_slice(&header.to_le_bytes());
    assert!(merge(&[&stale]).is_err());
    assert_eq!(merge_with(&[&stale], Options { verify: false }).unwrap(), base);
    for name in ["unsorted", "first-control", "ef-low-flip", "dictionary-bit", "payload-noise"] {
        let broken = support::read(format!("kv03-extra/reject-{name}.kv"));
        assert!(merge_with(&[&broken], Options { verify: false }).is_err(), "{name}");
    }
}

#[test]
fn a_failing_output_stops_the_merge() {
    struct Full;
    impl weft::format::Output for Full {
        fn write_at(&mut self, _: u64, _: &[u8]) -> std::io::Result<()> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
    }
    let file = encode(&[(b"a".to_vec(), None)]);
    let inputs = [Kv03::open(&file).unwrap()];
    let error = cpu::merge(&inputs, Options { verify: true }, Full).unwrap_err();
    assert!(matches!(error, MergeError::Output(error) if error.kind() == std::io::ErrorKind::StorageFull));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_merge_is_a_map_updated_oldest_first(inputs in proptest::collection::vec(support::rows(40), 0..7)) {
        let files: Vec<Vec<u8>> = inputs.iter().map(|rows| encode(rows)).collect();
        let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
        let out = merge(&files).unwrap();
        prop_assert_eq!(decode(&out).unwrap(), merged_map(&inputs));
        prop_assert!(out == encode(&merged_map(&inputs)), "the rows are right, the bytes are not canonical");
        prop_assert!(check(&out).unwrap());
        assert_literals_are_tails(&files, &out);
    }

    #[test]
    fn empty_files_and_twins_change_nothing(rows in support::rows(60)) {
        let (file, empty) = (encode(&rows), encode(&[]));
        for inputs in [&[&file[..]][..], &[&file, &empty], &[&empty, &file], &[&empty, &file, &empty], &[&file, &file]] {
            prop_assert!(merge(inputs).unwrap() == file);
        }
    }

    #[test]
    fn merging_in_steps_is_merging_at_once(inputs in proptest::collection::vec(support::rows(30), 3..6), split in 1..3_usize) {
        let files: Vec<Vec<u8>> = inputs.iter().map(|rows| encode(rows)).collect();
        let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
        let (left, right) = files.split_at(split);
        let (left, right) = (merge(left).unwrap(), merge(right).unwrap());
        prop_assert!(merge(&[&left, &right]).unwrap() == merge(&files).unwrap());
    }
}
