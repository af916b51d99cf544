//! Merges: the published benchmark and adversarial inputs, and what holds of any merge.

mod support;

use std::collections::{BTreeMap, HashMap};

use proptest::prelude::*;
use support::{
    Row, byte_inputs, check, decode, encode, encode_in, merge, merge_with, read_json, read_table, sha256,
};
use weft::fixture::byte;
use weft::fixture::{Fixture, Shape, Side, adversarial};
use weft::format::FormatErrorKind;
use weft::format::kv::{Cursor, File, Framing, Profile, Summary, encode as encode_into};
use weft::merge::cpu::{self, MergeError, Options};

/// Encodes rows without holding them.
fn encode_rows(rows: impl Iterator<Item = Row>) -> Vec<u8> {
    let mut file = Vec::new();
    encode_into(Framing::Kv03, rows, &mut file).unwrap();
    file
}

fn merge_pair(older: &[u8], newer: &[u8]) -> (Vec<u8>, Summary) {
    let inputs = [older, newer].map(|file| File::open(file).unwrap());
    let mut out = Vec::new();
    let summary = cpu::merge(&inputs, Options { verify: true }, &mut out).unwrap();
    (out, summary)
}

/// Compares a merge with a line of a table of published results. An empty field was not published.
fn assert_published(line: &HashMap<String, String>, older: &[u8], newer: &[u8]) -> Vec<u8> {
    let name = &line["name"];
    let (out, summary) = merge_pair(older, newer);
    let records = |file: &[u8]| File::open(file).unwrap().records();
    let crc = format!("{:08x}", crc32c::crc32c(&out));
    let width = summary.value_width_bits.map_or("none".to_owned(), |bits| bits.to_string());
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

#[test]
fn byte_profile_merges_have_the_published_sizes() {
    let table = read_table("fixtures/byte_merges.tsv");
    let merges = byte::merges();
    assert_eq!((table.len(), merges.len()), (40, 40));
    for (line, merge) in table.iter().zip(&merges) {
        assert_eq!(line["name"], merge.name);
        let [older, newer] = byte_inputs(merge);
        let (out, summary) = merge_pair(&older, &newer);
        let name = &merge.name;
        let found = (summary.records.to_string(), out.len().to_string());
        assert_eq!(found, (line["survivors"].clone(), line["file_bytes"].clone()), "{name}");
        let rows = merged_map(&[merge.older.clone(), merge.newer.clone()]);
        assert!(out == encode_in(Profile::Kv02, &rows), "{name}: the batch encoding of the union");
        assert!(check(&out).unwrap() && decode(&out).unwrap() == rows, "{name}");
        assert_literals_are_tails(&[&older, &newer], &out);
    }
}

/// The same merges, as far as another encoder made the files: equal inputs, equal outputs.
#[test]
fn byte_profile_merges_have_the_golden_bytes() {
    let golden = read_json("kv02/merge.json");
    let merges = byte::merges();
    for case in golden.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let merge = merges.iter().find(|merge| merge.name == name).expect("one of the forty");
        let [older, newer] = byte_inputs(merge);
        let (out, _) = merge_pair(&older, &newer);
        for (file, part) in [(&older, "older"), (&newer, "newer"), (&out, "output")] {
            assert_eq!(sha256(file), case[part]["sha256"].as_str().unwrap(), "{name}: {part}");
        }
    }
    assert_eq!(golden.as_array().unwrap().len(), 29);
}

#[test]
fn byte_profile_benchmarks_have_the_published_sizes_and_hashes() {
    let published = read_json("kv02/published_bench.json");
    let table = read_table("fixtures/byte_shapes.tsv");
    assert_eq!(table.len(), 6);
    for line in &table {
        let fixture = Fixture::by_name(&line["name"]).expect("a benchmark");
        let [older, newer] = [Side::Older, Side::Newer].map(|side| {
            let mut file = Vec::new();
            encode_into(
                Framing::of_rows(fixture.profile(), fixture.rows(side)),
                fixture.rows(side),
                &mut file,
            )
            .unwrap();
            file
        });
        let out = assert_published(line, &older, &newer);
        let hashes = published
            .as_array()
            .unwrap()
            .iter()
            .find(|case| line["name"] == format!("byte-{}", case["name"].as_str().unwrap()));
        for (file, part) in [(&older, "older"), (&newer, "newer"), (&out, "output")] {
            if let Some(hashes) = hashes {
                assert_eq!(
                    sha256(file),
                    hashes["sha256"][part].as_str().unwrap(),
                    "{}: {part}",
                    line["name"]
                );
            }
        }
    }
}

#[test]
fn files_of_two_profiles_do_not_merge() {
    let rows = [(b"a".to_vec(), None)];
    let files = [Profile::Kv03, Profile::Kv03, Profile::Kv02].map(|profile| encode_in(profile, &rows));
    match merge(&files.each_ref().map(Vec::as_slice)) {
        Err(MergeError::Profiles(mixed)) => assert_eq!((mixed.input, mixed.profile), (2, Profile::Kv02)),
        other => panic!("{other:?}"),
    }
}

/// What a merge must give: an ordered map updated oldest first.
fn merged_map(inputs: &[Vec<Row>]) -> Vec<Row> {
    inputs.iter().flatten().cloned().collect::<BTreeMap<_, _>>().into_iter().collect()
}

/// Of every record: its key, and how many of the key's bits its file retains from the record before.
fn retained_bits(file: &[u8]) -> BTreeMap<Vec<u8>, u64> {
    let mut cursor = Cursor::new(File::open(file).unwrap(), true);
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
    let inputs = [File::open(&file).unwrap()];
    let error = cpu::merge(&inputs, Options { verify: true }, Full).unwrap_err();
    assert!(matches!(error, MergeError::Output(error) if error.kind() == std::io::ErrorKind::StorageFull));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_merge_is_a_map_updated_oldest_first(profile in support::profile(), inputs in proptest::collection::vec(support::rows(40), 1..7)) {
        let files: Vec<Vec<u8>> = inputs.iter().map(|rows| encode_in(profile, rows)).collect();
        let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
        let out = merge(&files).unwrap();
        prop_assert_eq!(decode(&out).unwrap(), merged_map(&inputs));
        prop_assert!(out == encode_in(profile, &merged_map(&inputs)), "the rows are right, the bytes are not canonical");
        prop_assert!(check(&out).unwrap());
        assert_literals_are_tails(&files, &out);
    }

    #[test]
    fn empty_files_and_twins_change_nothing(profile in support::profile(), rows in support::rows(60)) {
        let (file, empty) = (encode_in(profile, &rows), encode_in(profile, &[]));
        for inputs in [&[&file[..]][..], &[&file, &empty], &[&empty, &file], &[&empty, &file, &empty], &[&file, &file]] {
            prop_assert!(merge(inputs).unwrap() == file);
        }
    }

    #[test]
    fn merging_in_steps_is_merging_at_once(profile in support::profile(), inputs in proptest::collection::vec(support::rows(30), 3..6), split in 1..3_usize) {
        let files: Vec<Vec<u8>> = inputs.iter().map(|rows| encode_in(profile, rows)).collect();
        let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
        let (left, right) = files.split_at(split);
        let (left, right) = (merge(left).unwrap(), merge(right).unwrap());
        prop_assert!(merge(&[&left, &right]).unwrap() == merge(&files).unwrap());
    }
}

/// Enough records for many blocks and some groups of offsets; now and then a key or value that spreads them widely.
fn long_rows() -> impl Strategy<Value = Vec<Row>> {
    let number = prop_oneof![0..5000_u32, any::<u32>()];
    let length = prop_oneof![200 => 0..12_usize, 1 => 0..20_000_usize];
    let row = (number, length, any::<bool>()).prop_map(|(number, length, long_key)| {
        let mut key = number.to_be_bytes().to_vec();
        if long_key && length > 12 {
            key.resize(length, b'k');
            (key, None)
        } else {
            (key, (length > 2).then(|| vec![number as u8; length]))
        }
    });
    proptest::collection::vec(row, 0..6000)
        .prop_map(|rows| rows.into_iter().collect::<BTreeMap<_, _>>().into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn long_files_merge_as_short_ones_do(profile in support::profile(), inputs in proptest::collection::vec(long_rows(), 1..4)) {
        let files: Vec<Vec<u8>> = inputs.iter().map(|rows| encode_in(profile, rows)).collect();
        let files: Vec<&[u8]> = files.iter().map(Vec::as_slice).collect();
        for (file, rows) in files.iter().zip(&inputs) {
            prop_assert!(decode(file).unwrap() == *rows);
            prop_assert!(check(file).unwrap());
        }
        let out = merge(&files).unwrap();
        prop_assert!(out == encode_in(profile, &merged_map(&inputs)));
        assert_literals_are_tails(&files, &out);
    }
}
