//! KV03 files: written byte for byte as published, read back exactly, refused when they break a rule.

mod support;

use proptest::prelude::*;
use serde_json::Value;
use support::{Row, cases, check, data, decode, encode, json_rows, merge, read, read_json, repair_checksums};
use weft::format::FormatErrorKind;
use weft::format::kv03::{Deviation, Kv03, SECTION_NAMES};

/// The rows of a golden file that is described by a rule: ascending counters, one long key among them.
fn generated_rows(rule: &Value) -> Vec<Row> {
    assert_eq!(rule["kind"], "counters");
    let number = |field: &Value| field.as_u64().unwrap() as usize;
    let key_bytes = number(&rule["key_bytes"]);
    let key = |i: usize| (i as u64).to_be_bytes()[8 - key_bytes..].to_vec();
    let mut rows: Vec<Row> = (0..number(&rule["count"])).map(|i| (key(i), None)).collect();
    if let Some(insert) = rule.get("insert") {
        let at = number(&insert["at"]);
        let tail = vec![0xff; number(&insert["tail_bytes"])];
        rows.insert(at, ([key(at - 1), tail].concat(), None));
    }
    rows
}

fn assert_facts(name: &str, file: &[u8], facts: &Value) {
    let opened = Kv03::open(file).unwrap();
    let directory = opened.directory;
    let numbers = [
        ("file_bytes", file.len() as u64),
        ("records", opened.records()),
        ("payload_bits", directory.payload_bits),
        ("terminal_key_units", directory.terminal_bits),
        ("ef_entries", directory.offsets.entries),
        ("ef_universe", directory.offsets.universe),
        ("ef_low_width", directory.offsets.low_width.into()),
        ("ef_sparse_words", directory.sections[4].bytes / 8),
    ];
    for (fact, found) in numbers {
        assert_eq!(Some(found), facts[fact].as_u64(), "{name}: {fact}");
    }
    assert_eq!(opened.header.common_width, facts["common_value_width"].as_u64(), "{name}: common width");
    assert_eq!(format!("{:08x}", opened.header.body_crc), facts["body_crc32c"], "{name}: body CRC");
    assert_eq!(format!("{:08x}", crc32c::crc32c(file)), facts["file_crc32c"], "{name}: file CRC");
    let names = [
        "payload",
        "ef_low",
        "ef_high",
        "ef_samples",
        "ef_sparse",
        "dictionary",
        "dictionary_offsets",
        "seeds",
    ];
    for (index, section) in names.iter().enumerate() {
        let extent = directory.sections[index];
        let fact = &facts["sections"][section];
        let found = (Some(extent.offset), Some(extent.bytes));
        assert_eq!(found, (fact[0].as_u64(), fact[1].as_u64()), "{name}: {}", SECTION_NAMES[index]);
    }
}

#[test]
fn golden_files_are_written_and_read_byte_for_byte() {
    let mut compared = 0;
    for name in cases("kv03").iter().filter(|name| !name.starts_with("merge-")) {
        let case = read_json(format!("kv03/{name}.json"));
        let rows = match case.get("generator") {
            Some(rule) => generated_rows(rule),
            None => json_rows(&case["records"]),
        };
        let golden = read(format!("kv03/{name}.kv"));
        assert!(encode(&rows) == golden, "{name}: the encoder writes other bytes");
        assert_facts(name, &golden, &case["facts"]);
        assert!(decode(&golden).unwrap() == rows, "{name}: other rows are read");
        assert!(check(&golden).unwrap(), "{name}: canonical");
        compared += 1;
    }
    assert_eq!(compared, 25);
}

#[test]
fn golden_merges_have_the_golden_bytes() {
    let mut compared = 0;
    for name in cases("kv03").iter().filter(|name| name.starts_with("merge-")) {
        let case = read_json(format!("kv03/{name}.json"));
        let [older, newer, expected] = ["older", "newer", "expected"].map(|part| {
            let file = read(format!("kv03/{name}.{part}.kv"));
            assert_facts(&format!("{name}.{part}"), &file, &case[part]);
            file
        });
        assert!(encode(&json_rows(&case["older_records"])) == older, "{name}: older");
        assert!(encode(&json_rows(&case["newer_records"])) == newer, "{name}: newer");
        assert!(merge(&[&older, &newer]).unwrap() == expected, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 21);
}

#[test]
fn one_record_payloads_are_the_published_ones() {
    for (value, payload) in [(None, 0x50), (Some(vec![]), 0x5c)] {
        let file = encode(&[(vec![], value)]);
        assert_eq!(Kv03::open(&file).unwrap().section(0), [payload]);
    }
}

#[test]
fn broken_files_are_refused_at_their_level() {
    let cases = read_json("kv03-extra/reject.json");
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 30);
    assert!(check(&read("kv03-extra/reject-base.kv")).unwrap(), "the file they were made from");
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let file = read(format!("kv03-extra/reject-{name}.kv"));
        let opened = Kv03::open(&file);
        match case["level"].as_str().unwrap() {
            "open" => assert!(opened.is_err(), "{name} opens"),
            "scan" => {
                let opened = opened.unwrap_or_else(|error| panic!("{name} does not open: {error}"));
                assert!(opened.scan().is_err(), "{name} scans");
                assert!(decode(&file).is_err(), "{name} is read");
            }
            other => panic!("{name}: level {other}"),
        }
        assert!(merge(&[&file]).is_err(), "{name} merges");
    }
}

#[test]
fn foreign_unsupported_and_corrupt_files_are_told_apart() {
    use FormatErrorKind::{Corrupt, NotEverett, Unsupported};
    let kind = |file: &[u8]| check(file).unwrap_err().kind;
    for (name, expected) in [
        ("index-signature", Unsupported),
        ("old-signature", Unsupported),
        ("version", Unsupported),
        ("unit-bytes", Unsupported),
        ("block-16", Unsupported),
        ("stride-7", Unsupported),
        ("checksum-kind", Unsupported),
        ("tag", Unsupported),
        ("truncated-header", Corrupt),
        ("truncated-body", Corrupt),
        ("header-crc", Corrupt),
        ("body-crc", Corrupt),
        ("overlap", Corrupt),
        ("unsorted", Corrupt),
    ] {
        assert_eq!(kind(&read(format!("kv03-extra/reject-{name}.kv"))), expected, "{name}");
    }
    assert_eq!(kind(b""), NotEverett);
    assert_eq!(kind(&[0; 400]), NotEverett);
    assert_eq!(kind(&read("debian-newer.tsv")), NotEverett);
}

#[test]
fn files_that_share_less_than_they_could_are_valid_and_merge_canonically() {
    let cases = read_json("kv03-extra/conservative.json");
    let cases = cases["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 3);
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let [older, newer, expected] =
            ["older", "newer", "expected"].map(|part| read(format!("kv03-extra/{name}.{part}.kv")));
        for (file, rows) in [(&older, &case["older_rows"]), (&newer, &case["newer_rows"])] {
            let rows = json_rows(rows);
            assert_eq!(decode(file).unwrap(), rows, "{name}");
            let report = Kv03::open(file).unwrap().scan().unwrap();
            assert!(
                matches!(report.deviations[..], [Deviation::ShortRetention { .. }]),
                "{name}: {report:?}"
            );
            assert!(merge(&[file]).unwrap() == encode(&rows), "{name}: one input is rewritten canonically");
        }
        assert!(merge(&[&older, &newer]).unwrap() == expected, "{name}");
    }
}

/// A valid file may leave the common width out. Only files whose values all have one width can.
#[test]
fn an_undeclared_width_is_valid_and_not_canonical() {
    // Without records nothing but the flag changes: the offsets do not depend on the width.
    let mut file = read("kv03/empty.kv");
    file[12] = 0;
    repair_checksums(&mut file);
    let report = Kv03::open(&file).unwrap().scan().unwrap();
    assert_eq!(report.deviations, [Deviation::UndeclaredWidth { width_bits: 0 }]);
    assert!(merge(&[&file]).unwrap() == read("kv03/empty.kv"));
}

#[test]
fn rows_out_of_order_are_not_encoded() {
    for rows in [["b", "a"], ["a", "a"], ["ab", "a"], ["a", ""]] {
        let rows = rows.map(|key| (key, None::<&str>));
        let error = weft::format::kv03::encode(rows, &mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "row 1: its key is not above the previous row's");
    }
}

#[test]
fn the_package_lists_are_read_in_their_order() {
    for name in ["debian-older.tsv", "debian-newer.tsv"] {
        let text = std::fs::read_to_string(data(name)).unwrap();
        let rows: Vec<Row> = text
            .lines()
            .map(|line| line.split_once('\t').unwrap())
            .map(|(key, value)| (key.into(), Some(value.into())))
            .collect();
        let file = encode(&rows);
        assert!(check(&file).unwrap());
        assert!(decode(&file).unwrap() == rows);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn rows_survive_a_round_trip(rows in support::rows(80)) {
        let file = encode(&rows);
        prop_assert_eq!(decode(&file).unwrap(), rows.clone());
        let report = Kv03::open(&file).unwrap().scan().unwrap();
        prop_assert_eq!(&report.deviations, &[]);
        prop_assert_eq!(report.tombstones, rows.iter().filter(|row| row.1.is_none()).count() as u64);
        prop_assert_eq!(report.longest_key_bytes, rows.iter().map(|row| row.0.len()).max().unwrap_or(0) as u64);
        prop_assert_eq!(file.len() % 8, 0);
    }
}
