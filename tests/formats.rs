//! Files of both profiles: written byte for byte as published, read back exactly, refused when they break a rule.

mod support;

use proptest::prelude::*;
use serde_json::Value;
use support::{
    Row, cases, check, data, decode, encode, encode_conservative, encode_framed, encode_in, json_rows, merge,
    read, read_json, repair_checksums, sha256,
};
use weft::format::FormatErrorKind;
use weft::format::elias_fano::{Encoder, Section, Shape};
use weft::format::kv::{self, Deviation, File, Framing, Profile};

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
    let opened = File::open(file).unwrap();
    let directory = opened.directory;
    let numbers = [
        ("file_bytes", file.len() as u64),
        ("records", opened.records()),
        ("payload_bits", directory.payload_bits),
        ("terminal_key_units", directory.terminal),
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
        assert_eq!(
            found,
            (fact[0].as_u64(), fact[1].as_u64()),
            "{name}: {}",
            Profile::Kv03.section_names()[index]
        );
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
        assert!(merge(&[&golden]).unwrap() == golden, "{name}: rewriting changes it");
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
        assert_eq!(File::open(&file).unwrap().section(0), [payload]);
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
        let opened = File::open(&file);
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

/// The rows of a golden file of the byte profile.
fn golden_rows(case: &Value) -> Vec<Row> {
    if case.get("rows").is_some() {
        return json_rows(&case["rows"]);
    }
    assert_eq!(case["name"], "sparse-select", "the one file that is described by a rule");
    let mut rows: Vec<Row> = (0..61_440_u32).map(|i| (i.to_be_bytes()[1..].to_vec(), None)).collect();
    rows[30_000].0.resize(250_003, b'z');
    rows
}

#[test]
fn golden_files_of_the_byte_profile_are_written_and_read_byte_for_byte() {
    let cases = read_json("kv02/encode.json");
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let rows = golden_rows(case);
        let caps = case["caps"].as_array().unwrap();
        let cap = |i: usize| caps.iter().find(|cap| cap[0] == i).map(|cap| cap[1].as_u64().unwrap());
        let file = match case["mode"].as_str().unwrap() {
            "infer" => encode_conservative(Profile::Kv02, &rows, |i| cap(i).unwrap_or(u64::MAX)),
            "variable" => encode_framed(Framing::Kv02 { width: None }, &rows),
            "width" => encode_framed(Framing::Kv02 { width: case["width"].as_u64() }, &rows),
            other => panic!("{name}: mode {other}"),
        };
        assert_eq!(sha256(&file), case["sha256"].as_str().unwrap(), "{name}: the encoder writes other bytes");
        let opened = File::open(&file).unwrap();
        assert_eq!(opened.profile, Profile::Kv02);
        assert_eq!(opened.header.common_width, case["common_width"].as_u64(), "{name}: common width");
        assert_eq!(
            opened.directory.sections[4].bytes / 8,
            case["ef"]["sparse_words"].as_u64().unwrap(),
            "{name}"
        );
        assert!(decode(&file).unwrap() == rows, "{name}: other rows are read");
        let canonical = encode_in(Profile::Kv02, &rows);
        assert_eq!(check(&file).unwrap(), canonical == file, "{name}: canonical");
        assert!(merge(&[&file]).unwrap() == canonical, "{name}: rewriting gives the canonical file");
    }
    assert_eq!(cases.as_array().unwrap().len(), 21);
}

/// The residuals of a golden offset sequence, by the rule of its name.
fn residuals(name: &str) -> Vec<u64> {
    match name.rsplit_once('-') {
        Some(("packed-width", width)) => {
            let width: u32 = width.parse().unwrap();
            let (count, last) = if width == 29 { (3, 2) } else { (67, 66) };
            let universe = count * (1 << width) + 1;
            (0..count).map(|i| universe * i / last).collect()
        }
        Some(("sparse-threshold", step)) => [vec![0; 127], vec![step.parse().unwrap(); 3970]].concat(),
        _ => vec![
            0;
            [("empty-records", 1), ("repeated-low-zero", 513), ("constant-value-stride", 258)]
                .iter()
                .find(|(own, _)| *own == name)
                .unwrap()
                .1
        ],
    }
}

#[test]
fn golden_offset_sequences_are_encoded_byte_for_byte() {
    let cases = read_json("kv02/ef.json");
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let values = residuals(name);
        let shape = Shape::canonical(values.len() as u64, values[values.len() - 1]);
        assert_eq!(Some(u64::from(shape.low_width)), case["low_width"].as_u64(), "{name}");
        let mut sections: [Vec<u8>; 4] = Default::default();
        let mut keep = |section: Section, word: u64| sections[section as usize].extend(word.to_le_bytes());
        let mut encoder = Encoder::new(shape);
        assert!(values.iter().all(|&value| encoder.push(value, &mut keep)));
        assert!(encoder.finish(&mut keep));
        for (section, name_there) in sections.iter().zip(["low", "high", "samples", "sparse"]) {
            assert_eq!(sha256(section), case[name_there]["sha256"].as_str().unwrap(), "{name}: {name_there}");
        }
    }
    assert_eq!(cases.as_array().unwrap().len(), 10);
}

/// A file of the byte profile that must be refused: given whole, or as changes to another.
fn rejected_file(case: &Value) -> Vec<u8> {
    if let Some(file) = case["file"].as_str() {
        return read(format!("kv02/{file}"));
    }
    let mut file = read(format!("kv02/{}", case["base"].as_str().unwrap()));
    for patch in case["patches"].as_array().unwrap() {
        let (at, bytes) = (patch[0].as_u64().unwrap() as usize, support::hex(patch[1].as_str().unwrap()));
        file[at..at + bytes.len()].copy_from_slice(&bytes);
    }
    if case["repair_crc"] == true {
        repair_checksums(&mut file);
    }
    file
}

/// Every file is refused by the first of opening and scanning that can see what is wrong. A scan here looks at values too, which
/// the published levels keep apart as "typed".
#[test]
fn broken_files_of_the_byte_profile_are_refused_at_their_level() {
    assert!(check(&read("kv02/reject-base.kv")).unwrap(), "the file they were made from");
    let cases = read_json("kv02/reject.json");
    let mut refused = 0;
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let file = rejected_file(case);
        let level = |level: &str| case[level].as_str().unwrap_or("reject").starts_with("reject");
        let opened = File::open(&file);
        assert_eq!(opened.is_err(), level("open"), "{name}: {opened:?}");
        if !level("typed") {
            assert!(check(&file).unwrap() && decode(&file).is_ok(), "{name} is valid");
            continue;
        }
        assert!(check(&file).is_err(), "{name} scans");
        assert!(decode(&file).is_err(), "{name} is read");
        assert!(merge(&[&file]).is_err(), "{name} merges");
        refused += 1;
    }
    assert_eq!((cases.as_array().unwrap().len(), refused), (43, 42));
}

/// What the published work says of its four rejections, and what weft says.
#[test]
fn the_published_rejections_have_their_published_meaning() {
    let meanings =
        ["not canonical LEB128", "a value's tag is 0x02", "a suffix of 127 bytes", "block offsets"];
    for (mode, meaning) in meanings.iter().enumerate() {
        let error = check(&read(format!("kv02/reject-{mode}.kv"))).unwrap_err();
        assert!(error.what.contains(meaning), "{mode}: {error}");
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
        ("unit-bytes", Corrupt),
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
            let report = File::open(file).unwrap().scan().unwrap();
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
    let report = File::open(&file).unwrap().scan().unwrap();
    assert_eq!(report.deviations, [Deviation::UndeclaredWidth { width_bits: 0 }]);
    assert!(merge(&[&file]).unwrap() == read("kv03/empty.kv"));
}

#[test]
fn rows_out_of_order_are_not_encoded() {
    for rows in [["b", "a"], ["a", "a"], ["ab", "a"], ["a", ""]] {
        let rows = rows.map(|key| (key, None::<&str>));
        let error = kv::encode(Framing::Kv03, rows, &mut Vec::new()).unwrap_err();
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
    fn rows_survive_a_round_trip(profile in support::profile(), rows in support::rows(80)) {
        let file = encode_in(profile, &rows);
        prop_assert_eq!(decode(&file).unwrap(), rows.clone());
        let report = File::open(&file).unwrap().scan().unwrap();
        prop_assert_eq!(&report.deviations, &[]);
        prop_assert_eq!(report.tombstones, rows.iter().filter(|row| row.1.is_none()).count() as u64);
        prop_assert_eq!(report.longest_key_bytes, rows.iter().map(|row| row.0.len()).max().unwrap_or(0) as u64);
        prop_assert_eq!(file.len() % 8, 0);
    }
}
