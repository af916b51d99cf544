//! What tests share: the test data, files in memory, and the device.

#![allow(dead_code, reason = "every test binary uses a part of this")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use proptest::prelude::*;
use serde_json::Value;
use sha2::{Digest, Sha256};
use weft::fixture::byte::{ByteMerge, Written};
use weft::format::FormatError;
use weft::format::kv::{self, File, FileWriter, Framing, Profile};
use weft::merge::cpu::{self, MergeError, Options};
pub use weft::rows::Row;
use weft::run::Gpu;

/// A path under `tests/data`.
pub fn data(path: impl AsRef<Path>) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(path)
}

/// The bytes of a file under `tests/data`.
pub fn read(path: impl AsRef<Path>) -> Vec<u8> {
    let path = data(path);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A JSON file under `tests/data`.
pub fn read_json(path: impl AsRef<Path>) -> Value {
    serde_json::from_slice(&read(path)).expect("test data is JSON")
}

/// The lines of a table under `tests/data`, each by its column names.
pub fn read_table(path: impl AsRef<Path>) -> Vec<HashMap<String, String>> {
    let text = String::from_utf8(read(path)).unwrap();
    let mut lines = text.lines().map(|line| line.split('\t').map(str::to_owned));
    let names: Vec<String> = lines.next().unwrap().collect();
    lines.map(|cells| names.iter().cloned().zip(cells).collect()).collect()
}

/// The names of all JSON files in a folder under `tests/data` that begin with `prefix`, sorted, without extension.
pub fn cases(folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(data(folder)).unwrap().map(|entry| entry.unwrap().file_name());
    let names = entries.filter_map(|name| name.to_str()?.strip_suffix(".json").map(str::to_owned));
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The one device of this process. Tests need one: the test command installs a software driver where there is none.
pub fn gpu() -> Arc<Gpu> {
    static GPU: OnceLock<Arc<Gpu>> = OnceLock::new();
    Arc::clone(GPU.get_or_init(|| Arc::new(Gpu::open(None).expect("a device to run on"))))
}

/// Words as they lie in memory.
pub fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The words that bytes are.
pub fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, rest) = bytes.as_chunks::<4>();
    assert!(rest.is_empty(), "whole words");
    words.iter().map(|&word| u32::from_le_bytes(word)).collect()
}

/// Bytes from hexadecimal digits.
pub fn hex(digits: &str) -> Vec<u8> {
    (0..digits.len()).step_by(2).map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap()).collect()
}

/// Rows written as pairs of hexadecimal key and value, or as objects with `key` and `value`.
pub fn json_rows(rows: &Value) -> Vec<Row> {
    let row = |row: &Value| {
        let (key, value) = if row.is_array() { (&row[0], &row[1]) } else { (&row["key"], &row["value"]) };
        (hex(key.as_str().unwrap()), value.as_str().map(hex))
    };
    rows.as_array().unwrap().iter().map(row).collect()
}

/// The canonical file of ascending rows, in the bit profile.
pub fn encode(rows: &[Row]) -> Vec<u8> {
    encode_in(Profile::Kv03, rows)
}

/// The canonical file of ascending rows.
pub fn encode_in(profile: Profile, rows: &[Row]) -> Vec<u8> {
    encode_framed(Framing::of_rows(profile, rows.iter().cloned()), rows)
}

/// The file of ascending rows with values framed like that.
pub fn encode_framed(framing: Framing, rows: &[Row]) -> Vec<u8> {
    let rows = rows.iter().map(|(key, value)| (key, value.as_ref()));
    let mut file = Vec::new();
    let summary = kv::encode(framing, rows, &mut file).expect("rows ascend");
    assert_eq!(summary.file_bytes, file.len() as u64);
    file
}

/// The file of ascending rows in which record i retains at most `cap(i)` bytes.
pub fn encode_conservative(profile: Profile, rows: &[Row], cap: impl Fn(usize) -> u64) -> Vec<u8> {
    let mut file = Vec::new();
    let mut writer = FileWriter::new(Framing::of_rows(profile, rows.iter().cloned()), &mut file);
    let mut previous: &[u8] = &[];
    for (i, (key, value)) in rows.iter().enumerate() {
        let shared = previous.iter().zip(key).take_while(|(a, b)| a == b).count() as u64;
        writer.put_record(8 * shared.min(cap(i)), key, value.as_deref()).unwrap();
        previous = key;
    }
    writer.finish().unwrap();
    file
}

/// The input files of a published merge of the byte profile.
pub fn byte_inputs(merge: &ByteMerge) -> [Vec<u8>; 2] {
    let write = |rows: &[Row], side: u64| match merge.written {
        Written::Canonical => encode_in(Profile::Kv02, rows),
        Written::Undeclared => encode_framed(Framing::Kv02 { width: None }, rows),
        Written::Conservative(every) => encode_conservative(Profile::Kv02, rows, |i| {
            if (i as u64).is_multiple_of(every + side) { 0 } else { u64::MAX }
        }),
    };
    [write(&merge.older, 0), write(&merge.newer, 1)]
}

/// The SHA-256 of bytes, as hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The rows of a file.
pub fn decode(file: &[u8]) -> Result<Vec<Row>, FormatError> {
    let mut reader = File::open(file)?.rows();
    let mut rows = Vec::new();
    while let Some((key, value)) = reader.next()? {
        rows.push((key.to_vec(), value.map(<[u8]>::to_vec)));
    }
    Ok(rows)
}

/// Opens and scans a file; whether it is canonical.
pub fn check(file: &[u8]) -> Result<bool, FormatError> {
    Ok(File::open(file)?.scan()?.deviations.is_empty())
}

/// Merges files, oldest first, with every check.
pub fn merge(files: &[&[u8]]) -> Result<Vec<u8>, MergeError> {
    merge_with(files, Options { verify: true })
}

/// Merges files, oldest first.
pub fn merge_with(files: &[&[u8]], options: Options) -> Result<Vec<u8>, MergeError> {
    let opened = files
        .iter()
        .enumerate()
        .map(|(input, file)| File::open(file).map_err(|error| MergeError::Input { input, error }));
    let opened = opened.collect::<Result<Vec<_>, _>>()?;
    let mut out = Vec::new();
    cpu::merge(&opened, options, &mut out)?;
    Ok(out)
}

/// Makes both checksums of a changed file right again, as far as it still has them.
pub fn repair_checksums(file: &mut [u8]) {
    if file.len() < 96 {
        return;
    }
    let body = crc32c::crc32c(&file[96..]);
    file[64..68].copy_from_slice(&body.to_le_bytes());
    file[68..72].fill(0);
    let header = crc32c::crc32c(&file[..96]);
    file[68..72].copy_from_slice(&header.to_le_bytes());
}

/// Either profile.
pub fn profile() -> impl Strategy<Value = Profile> {
    proptest::sample::select(&Profile::ALL[..])
}

/// Keys of a few bytes that matter to bit prefixes, so that many share much; now and then any bytes.
pub fn key() -> impl Strategy<Value = Vec<u8>> {
    let telling = proptest::sample::select(vec![0, 1, 0x60, 0x61, 0x7f, 0x80, 0xff]);
    prop_oneof![
        8 => proptest::collection::vec(telling, 0..6),
        1 => proptest::collection::vec(any::<u8>(), 0..40),
        1 => (0..300_usize, any::<u8>()).prop_map(|(length, last)| {
            let mut key = vec![b'p'; length];
            key.push(last);
            key
        }),
    ]
}

/// No value, values of one length, and values of many.
pub fn value() -> impl Strategy<Value = Option<Vec<u8>>> {
    prop_oneof![
        2 => Just(None),
        3 => proptest::collection::vec(any::<u8>(), 3).prop_map(Some),
        3 => proptest::collection::vec(any::<u8>(), 0..40).prop_map(Some),
        1 => (0..600_usize, any::<u8>()).prop_map(|(length, byte)| Some(vec![byte; length])),
    ]
}

/// Up to `most` ascending rows: all kinds of values mixed, or all values of one length, or all tombstones.
pub fn rows(most: usize) -> impl Strategy<Value = Vec<Row>> {
    let mixed = proptest::collection::btree_map(key(), value(), 0..most);
    let equal = (0..20_usize).prop_flat_map(move |length| {
        let value = proptest::collection::vec(any::<u8>(), length).prop_map(Some);
        proptest::collection::btree_map(key(), value, 0..most)
    });
    let absent = proptest::collection::btree_map(key(), Just(None), 0..most);
    prop_oneof![4 => mixed, 1 => equal, 1 => absent].prop_map(|map| map.into_iter().collect())
}
