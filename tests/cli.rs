//! The `weft` command as people use it: results, messages, exit codes, and what is left on disk.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use support::{Row, data, encode, read, repair_checksums, sha256};
use tempfile::TempDir;
use weft::format::kv::{Cursor, File as KeyValueFile};

const WEFT: &str = env!("CARGO_BIN_EXE_weft");

/// A folder of its own, in which commands run.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(TempDir::new().unwrap())
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }

    fn put(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.path(name), bytes).unwrap();
    }

    fn get(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap()
    }

    /// The names in the folder, hidden ones included.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(WEFT);
        command.args(arguments).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs a command that succeeds without messages; gives what it printed.
    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert_eq!(text(&output.stderr), "", "messages of {arguments:?}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        text(&output.stdout)
    }

    /// Runs a command that fails with this exit code and this one message, and prints nothing.
    #[track_caller]
    fn fails(&self, arguments: &[&str], code: i32, message: &str) {
        assert_failed(&self.run(arguments), code, message);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[track_caller]
fn assert_failed(output: &Output, code: i32, message: &str) {
    assert_eq!(text(&output.stderr), format!("weft: {message}\n"));
    assert_eq!(text(&output.stdout), "");
    assert_eq!(output.status.code(), Some(code));
}

fn row(key: &str, value: &str) -> Row {
    (key.into(), Some(value.into()))
}

fn package_list(name: &str) -> String {
    data(name).to_str().unwrap().to_owned()
}

// ---- the main job ----------------------------------------------------------------------------------------------

#[test]
fn the_package_lists_are_imported_merged_checked_and_dumped() {
    let place = Place::new();
    let [older, newer] = ["debian-older.tsv", "debian-newer.tsv"].map(package_list);
    place.ok(&["import", &older, "-o", "older.kv"]);
    place.ok(&["import", &newer, "-o", "newer.kv"]);
    let report = place.ok(&["merge", "older.kv", "newer.kv", "-o", "merged.kv"]);
    let lines: Vec<&str> = report.lines().collect();
    assert_eq!(lines[0], "older.kv   63,436 records  1,312,928 bytes");
    assert_eq!(lines[1], "newer.kv    3,044 records     83,720 bytes");
    assert_eq!(lines[2], "merged.kv  63,681 records  1,320,872 bytes");
    assert_eq!(lines[3], "2,799 older records replaced, checksums verified");
    assert!(lines[4].starts_with("merged in "), "{report}");

    let dumped = place.ok(&["dump", "merged.kv"]);
    assert_eq!(dumped.lines().count(), 63_681);
    let mut expected = BTreeMap::new();
    for name in ["debian-older.tsv", "debian-newer.tsv"] {
        for line in text(&read(name)).lines() {
            let (key, value) = line.split_once('\t').unwrap();
            expected.insert(key.to_owned(), value.to_owned());
        }
    }
    let expected: String = expected.iter().map(|(key, value)| format!("{key}\t{value}\n")).collect();
    assert!(dumped == expected, "the newer version of each package");

    let checked = place.ok(&["check", "--canonical", "older.kv", "newer.kv", "merged.kv"]);
    assert_eq!(checked.lines().count(), 3);
    assert!(
        checked
            .starts_with("older.kv: valid: 63,436 records, 0 tombstones, longest key 75 bytes; canonical ("),
        "{checked}"
    );
    assert!(place.ok(&["dump", "older.kv"]).into_bytes() == read("debian-older.tsv"));
    assert_eq!(place.names(), ["merged.kv", "newer.kv", "older.kv"]);
}

#[test]
fn a_merge_reports_as_json() {
    let place = Place::new();
    place.put("a.kv", encode(&[row("k", "1"), row("l", "1")]));
    place.put("b.kv", encode(&[row("k", "2")]));
    let report = place.ok(&[
        "merge",
        "a.kv",
        "b.kv",
        "-o",
        "c.kv",
        "--json",
        "--sync",
        "--engine",
        "cpu",
        "--no-verify",
    ]);
    let mut report: Value = serde_json::from_str(&report).unwrap();
    assert!(report["seconds"].take().as_f64().unwrap() > 0.0);
    let expected = serde_json::json!({
        "output": {"path": "c.kv", "records": 2, "file_bytes": 352, "payload_bits": 55, "value_width_bits": 12},
        "inputs": [
            {"path": "a.kv", "records": 2, "file_bytes": 352, "payload_bits": 55, "value_width_bits": 12},
            {"path": "b.kv", "records": 1, "file_bytes": 352, "payload_bits": 30, "value_width_bits": 12},
        ],
        "replaced_records": 1, "engine": "cpu", "engine_reason": null, "graph": null,
        "verified": false, "synchronised": true, "seconds": null,
    });
    assert_eq!(report, expected);
}

#[test]
fn many_files_merge_oldest_first_and_one_is_rewritten() {
    let place = Place::new();
    for (name, value) in [("1.kv", "one"), ("2.kv", "two"), ("3.kv", "three")] {
        place.put(name, encode(&[row(name, ""), row("key", value)]));
    }
    place.ok(&["merge", "1.kv", "3.kv", "2.kv", "-o", "all.kv"]);
    assert_eq!(place.ok(&["dump", "all.kv"]), "1.kv\t\n2.kv\t\n3.kv\t\nkey\ttwo\n");
    let conservative = read("kv03-extra/conservative-whole-bytes.older.kv");
    place.put("loose.kv", &conservative);
    place.ok(&["merge", "loose.kv", "-o", "tight.kv"]);
    assert_ne!(place.get("tight.kv"), conservative);
    assert_eq!(place.ok(&["dump", "tight.kv"]), place.ok(&["dump", "loose.kv"]));
    place.ok(&["check", "--canonical", "tight.kv"]);
}

// ---- import and dump -------------------------------------------------------------------------------------------

#[test]
fn any_bytes_survive_import_and_dump() {
    let place = Place::new();
    let bytes: Vec<u8> = (0..=255).collect();
    let mut rows: Vec<Row> =
        vec![(vec![], None), (bytes.clone(), Some(bytes.clone())), (b"\t\n\r\\e".to_vec(), Some(vec![]))];
    rows.extend((0..=255).map(|byte| (vec![byte], (byte % 2 == 0).then(|| vec![byte, b'\\', byte]))));
    rows.sort();
    place.put("any.kv", encode(&rows));
    for format in ["tsv", "jsonl"] {
        let dumped = format!("dump.{format}");
        place.put(&dumped, place.ok(&["dump", "any.kv", "--format", format]));
        place.ok(&["import", &dumped, "-o", &format!("{format}.kv")]);
        assert_eq!(place.get(&format!("{format}.kv")), place.get("any.kv"), "{format}");
    }
}

#[test]
fn rows_may_come_in_any_order_and_from_standard_input() {
    let place = Place::new();
    let mut child = place
        .command(&["import", "-", "-o", "rows.kv", "--format", "jsonl"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let rows = "{\"key\":\"b\",\"value\":null}\n{\"key\":\"a\",\"value\":\"1\"}\n";
    child.stdin.take().unwrap().write_all(rows.as_bytes()).unwrap();
    let report = text(&child.wait_with_output().unwrap().stdout);
    assert!(
        report.starts_with(
            "standard input     2 rows\nrows.kv         2 records  1 tombstone  352 bytes\nwritten in "
        ),
        "{report}"
    );
    assert_eq!(place.get("rows.kv"), encode(&[row("a", "1"), (b"b".to_vec(), None)]));
}

#[test]
fn duplicate_keys_are_refused_or_the_last_one_wins() {
    let place = Place::new();
    place.put("rows.tsv", "b\t1\na\t1\nb\t2\nb\n");
    place.fails(
        &["import", "rows.tsv", "-o", "rows.kv"],
        1,
        "rows.tsv: lines 1 and 3 have the same key \"b\"; keep one of them, or let the last one win with \
         --on-duplicate last",
    );
    assert_eq!(place.names(), ["rows.tsv"]);
    let report = place.ok(&["import", "rows.tsv", "-o", "rows.kv", "--on-duplicate", "last"]);
    assert!(report.contains("\n2 rows gave way to later rows of their keys; written in "), "{report}");
    assert_eq!(place.ok(&["dump", "rows.kv"]), "a\t1\nb\n");
}

#[test]
fn rows_that_are_none_are_refused_with_their_place() {
    let place = Place::new();
    place.put("rows.tsv", "a\t1\nb\t2\t3\n");
    place.put("rows.jsonl", "{\"key\":\"a\",\"value\":null}\n{\"key\":\"a\",\"valu\":null}\n");
    place.put("file.kv", encode(&[]));
    place.fails(
        &["import", "rows.tsv", "-o", "out.kv"],
        1,
        "rows.tsv: line 2, column 4: second TAB; a row is key TAB value, and a TAB inside either is written \\t",
    );
    place.fails(
        &["import", "rows.jsonl", "-o", "out.kv"],
        1,
        "rows.jsonl: line 2, column 17: unknown field `valu`, expected one of `key`, `key_hex`, `value`, `value_hex`",
    );
    place.fails(
        &["import", "file.kv", "-o", "out.kv"],
        1,
        "file.kv: line 1, column 1: the start of an Everett file, not of rows; weft dump turns such files into rows",
    );
    place.fails(&["import", ".", "-o", "out.kv"], 1, ".: a folder; give a file of rows");
    place.fails(
        &["import", "none.tsv", "-o", "out.kv"],
        4,
        "none.tsv: cannot read: No such file or directory (os error 2); check the path",
    );
    assert_eq!(place.names(), ["file.kv", "rows.jsonl", "rows.tsv"]);
}

#[test]
fn a_reader_that_has_enough_ends_a_dump_quietly() {
    let place = Place::new();
    place.ok(&["import", &package_list("debian-older.tsv"), "-o", "older.kv"]);
    let mut child =
        place.command(&["dump", "older.kv"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut start = [0; 4];
    // The rows do not fit a pipe: weft still has some to write when the pipe closes.
    child.stdout.take().unwrap().read_exact(&mut start).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(&start, b"0ad\t");
    assert_eq!((text(&output.stderr), output.status.code()), (String::new(), Some(0)));
}

#[test]
fn results_that_cannot_be_written_are_an_error() {
    let place = Place::new();
    place.put("a.kv", encode(&[row("k", "v")]));
    for command in [["dump", "a.kv"], ["info", "a.kv"], ["check", "a.kv"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = place.command(&command).stdout(full).output().unwrap();
        assert_failed(&output, 4, "standard output: cannot write: No space left on device (os error 28)");
    }
}

// ---- info and check --------------------------------------------------------------------------------------------

#[test]
fn info_shows_header_directory_and_sections() {
    let place = Place::new();
    place.put("three.kv", read("kv03/three-records.kv"));
    let expected = "\
three.kv: KV03, bit profile, 352 bytes
records             3 in 1 block
payload             61 bits
common value width  none declared
last key            1 byte
block offsets       2, universe 61, low width 4 bits
body CRC-32C        91579322 as stated (weft check verifies it)

section             at byte  bytes
payload                 288      8
offset lows             296      8
offset highs            304      8
offset samples          312     16
offset exceptions       328      0
dictionary              328      1
dictionary offsets      336     16
block seeds             352      0
";
    assert_eq!(place.ok(&["info", "three.kv"]), expected);
    let json: Value = serde_json::from_str(&place.ok(&["info", "three.kv", "--json"])).unwrap();
    assert_eq!(json["records"], 3);
    assert_eq!(json["value_width_bits"], Value::Null);
    assert_eq!(json["offsets"], serde_json::json!({"entries": 2, "universe": 61, "low_width_bits": 4}));
    assert_eq!(
        json["sections"][3],
        serde_json::json!({"name": "offset samples", "offset": 312, "bytes": 16})
    );
    place.put("two.kv", read("kv02/two-keys-fixed.kv"));
    let expected = "\
two.kv: KV02, byte profile, 272 bytes
records             2 in 1 block
payload             15 bytes
common value width  4 bytes, tag included
last key            2 bytes
block offsets       2, universe 7, low width 1 bit
body CRC-32C        4bb818cb as stated (weft check verifies it)

section            at byte  bytes
payload                224     15
offset lows            240      8
offset highs           248      8
offset samples         256     16
offset exceptions      272      0
";
    assert_eq!(place.ok(&["info", "two.kv"]), expected);
    let json: Value = serde_json::from_str(&place.ok(&["info", "two.kv", "--json"])).unwrap();
    let facts = ["format", "payload_bits", "value_width_bits"].map(|name| json[name].to_string());
    assert_eq!(facts, ["\"kv02\"", "120", "32"]);
    place.put("empty.kv", encode(&[]));
    let empty = place.ok(&["info", "empty.kv"]);
    assert!(
        empty.contains("\ncommon value width  0 bits, tag and length included\nlast key            none\n"),
        "{empty}"
    );
}

#[test]
fn check_goes_on_after_a_failure_and_tells_of_short_retention() {
    let place = Place::new();
    place.put("good.kv", encode(&[row("k", "v")]));
    place.put("loose.kv", read("kv03-extra/conservative-none-retained.older.kv"));
    place.put("bad.kv", "nonsense");
    let output = place.run(&["check", "bad.kv", "loose.kv", "none.kv", "good.kv"]);
    assert_eq!(output.status.code(), Some(4), "the highest of 1 and 4");
    let (results, messages) = (text(&output.stdout), text(&output.stderr));
    let results: Vec<&str> = results.lines().map(|line| line.rsplit_once(" (").unwrap().0).collect();
    assert_eq!(
        results,
        [
            "loose.kv: valid: 47 records, 9 tombstones, longest key 16 bytes; not canonical: 46 records retain less of \
             their predecessor's key than they could, record 1 first",
            "good.kv: valid: 1 record, 0 tombstones, longest key 1 byte; canonical",
        ]
    );
    assert_eq!(
        messages,
        "weft: bad.kv: not an Everett file: at byte 0: 8 bytes, fewer than a header's 96; give a KV02 or KV03 file, or make one \
         from rows with weft import\n\
         weft: none.kv: cannot read: No such file or directory (os error 2); check the path\n"
    );
    place.fails(
        &["check", "--canonical", "loose.kv"],
        1,
        "loose.kv: valid, but not canonical: 46 records retain less of their predecessor's key than they could, \
         record 1 first; rewrite it with weft merge loose.kv -o NEW",
    );
}

// ---- fixtures --------------------------------------------------------------------------------------------------

#[test]
fn fixtures_are_the_published_files() {
    let place = Place::new();
    let report = place.ok(&["fixture", "cutover-0", "--out", "cut"]);
    assert!(
        report.starts_with(
            "cut/older.kv  256 records  4,368 bytes\ncut/newer.kv  256 records  4,392 bytes\nwritten in "
        ),
        "{report}"
    );
    place.ok(&["merge", "cut/older.kv", "cut/newer.kv", "-o", "cut/merged.kv"]);
    assert_eq!(format!("{:08x}", crc32c::crc32c(&place.get("cut/merged.kv"))), "3b48e90b");

    place.ok(&["fixture", "--n", "256", "--out", "own"]);
    for name in ["older.kv", "newer.kv"] {
        assert_eq!(
            place.get(&format!("own/{name}")),
            place.get(&format!("cut/{name}")),
            "the defaults are case 0's"
        );
    }
    place.ok(&[
        "fixture", "--n", "4096", "--ratio", "4", "--prefix", "0", "--ties", "25", "--base", "3", "--fixed",
        "--out", "free",
    ]);
    place.ok(&["merge", "free/older.kv", "free/newer.kv", "-o", "free/merged.kv"]);
    let dumped = place.ok(&["dump", "free/merged.kv"]);
    // Of the 1,024 newer records, 25 of each hundred and the 24 that begin the last, short hundred replace.
    assert_eq!(dumped.lines().count(), 4096 + 1024 - (10 * 25 + 24));
    assert!(dumped.starts_with("\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\tbbb\n"), "{}", &dumped[..60]);

    place.ok(&["fixture", "lcp-bit-3", "--out", "lcp"]);
    assert_eq!(place.ok(&["dump", "lcp/newer.kv"]), "\\x08\t\\x00\\xff\n");
}

/// Every command knows a file's profile by itself, and a merge takes files of one.
#[test]
fn files_of_the_byte_profile_go_through_every_command() {
    let place = Place::new();
    place.ok(&["fixture", "byte-fixed-4096", "--out", "bytes"]);
    assert_eq!(
        sha256(&place.get("bytes/older.kv")),
        "38232bcb0e1e340a1176a059f8ae5a0c366dad9b433898c3201ea5528380b561"
    );
    place.ok(&["merge", "bytes/older.kv", "bytes/newer.kv", "-o", "merged.kv"]);
    assert_eq!(
        sha256(&place.get("merged.kv")),
        "1fcd0389f5abc90c942a01aeafc7cf15176f290e114e7ceb2d82cca470fbf670"
    );
    let by_graph =
        ["merge", "bytes/older.kv", "bytes/newer.kv", "-o", "by-graph.kv", "--engine", "reference"];
    assert!(place.ok(&by_graph).contains("kv02/baseline-once on scalar references"));
    assert!(place.get("by-graph.kv") == place.get("merged.kv"));
    assert!(
        place
            .ok(&["check", "merged.kv", "--canonical"])
            .contains("6,839 records, 0 tombstones, longest key 32 bytes")
    );

    place.put("rows.tsv", place.ok(&["dump", "merged.kv"]));
    place.ok(&["import", "rows.tsv", "-o", "again.kv", "--profile", "kv02"]);
    assert!(place.get("again.kv") == place.get("merged.kv"));
    place.ok(&["import", "rows.tsv", "-o", "bits.kv"]);
    assert!(place.ok(&["info", "bits.kv"]).starts_with("bits.kv: KV03, bit profile"));

    let mixed = "bits.kv: files of different profiles: this one is KV03, those before it are KV02; a merge takes files of one \
        profile, and weft dump and weft import turn one into the other";
    for engine in ["auto", "cpu", "reference"] {
        place.fails(
            &["merge", "merged.kv", "again.kv", "bits.kv", "-o", "no.kv", "--engine", engine],
            1,
            mixed,
        );
    }
    let other =
        "the graph kv03/baseline merges KV03 files, and these are KV02; name a graph of the family kv02";
    place.fails(
        &[
            "merge",
            "bytes/older.kv",
            "bytes/newer.kv",
            "-o",
            "no.kv",
            "--engine",
            "reference",
            "--graph",
            "kv03/baseline",
        ],
        1,
        other,
    );
    for mode in 0..4 {
        let name = format!("reject-{mode}.kv");
        place.put(&name, read(format!("kv02/{name}")));
        for engine in ["cpu", "reference"] {
            let output = place.run(&["merge", &name, "merged.kv", "-o", "no.kv", "--engine", engine]);
            assert_eq!(output.status.code(), Some(1), "{name} by {engine}");
        }
    }
    assert!(!place.path("no.kv").exists(), "nothing is left behind");
}

#[test]
fn fixtures_that_do_not_exist_or_make_no_sense_are_usage_errors() {
    let place = Place::new();
    place.fails(
        &["fixture", "complete-7", "--out", "x"],
        2,
        "no fixture is named \"complete-7\"; there are complete-0 to complete-6, cutover-0 to cutover-49, sparse, \
         adversarial merges such as lcp-bit-3, and byte-fixed-N, byte-variable-N and byte-hashed-N with N 4096, 32768 or 131072",
    );
    place.fails(
        &["fixture", "--n", "1", "--ratio", "0", "--out", "x"],
        2,
        "a ratio of 0 has no meaning; give 1 or more",
    );
    place.fails(
        &["fixture", "--n", "1", "--ties", "101", "--out", "x"],
        2,
        "101 ties in 100 records are too many; give 0 to 100",
    );
    place.fails(
        &["fixture", "--n", "18446744073709551615", "--out", "x"],
        2,
        "the older side would hold up to 1106804644422573096900 bytes of keys and values; stay within 68719476736",
    );
    assert_eq!(place.run(&["fixture", "--out", "x"]).status.code(), Some(2));
    assert_eq!(place.names(), Vec::<String>::new());
    place.ok(&["fixture", "--n", "1", "--out", "x"]);
    place.fails(
        &["fixture", "--n", "2", "--out", "x"],
        1,
        "x/older.kv: already exists; give another name, or --force to replace it",
    );
    place.ok(&["fixture", "--n", "2", "--out", "x", "--force"]);
}

// ---- inputs that are refused -----------------------------------------------------------------------------------

/// Compares with a text under `tests/data`; with UPDATE_EXPECT set, writes it instead.
#[track_caller]
fn assert_golden(name: &str, found: &str) {
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(data(name), found).unwrap();
    }
    assert_eq!(text(&read(name)), found, "UPDATE_EXPECT=1 rewrites tests/data/{name}");
}

#[test]
fn every_broken_file_has_its_message() {
    let place = Place::new();
    let cases = support::read_json("kv03-extra/reject.json");
    let mut messages = String::new();
    for case in cases.as_array().unwrap() {
        let name = format!("{}.kv", case["name"].as_str().unwrap());
        place.put(&name, read(format!("kv03-extra/reject-{name}")));
        for command in [&["check", &name][..], &["merge", &name, "-o", "out"], &["dump", &name]] {
            let output = place.run(command);
            assert_eq!(output.status.code(), Some(1), "{command:?}");
            let message = text(&output.stderr);
            assert_eq!(message.matches('\n').count(), 1, "one line: {message}");
            if command[0] == "check" {
                messages.push_str(&message);
            } else {
                assert!(messages.ends_with(&message), "{command:?} says {message}");
            }
        }
        assert!(!place.path("out").exists());
    }
    assert_golden("messages/broken-files.txt", &messages);
}

/// A file with changed payload bits and right checksums.
fn forge(rows: &[Row], flipped_bits: &[u64]) -> Vec<u8> {
    let mut file = encode(rows);
    for bit in flipped_bits {
        file[288 + *bit as usize / 8] ^= 0x80 >> (bit % 8);
    }
    repair_checksums(&mut file);
    file
}

#[test]
fn forged_records_are_refused() {
    let place = Place::new();
    let tombstones = [(b"a".to_vec(), None), (b"b".to_vec(), None)];
    // The second key's literal is its last two bits: 10 of "b". With 01 it is another "a".
    place.put("twice.kv", forge(&tombstones, &[25, 26]));
    place.fails(
        &["check", "twice.kv"],
        1,
        "twice.kv: corrupt: at byte 290: record 1 (block 0): its key is the previous one again; restore the file from a good copy",
    );
    // The value's count, 1, is 010; with 011 it is 2.
    place.put("long.kv", forge(&[row("a", "x")], &[21]));
    place.fails(
        &["check", "long.kv"],
        1,
        "long.kv: corrupt: at byte 290: record 0 (block 0): a value of 2 bytes passes the end of the payload; restore \
         the file from a good copy",
    );
    // The last value of the first block takes a byte of the second block.
    let rows: Vec<Row> = (b'a'..=b'r').map(|key| (vec![key], Some(vec![key]))).collect();
    let file = encode(&rows);
    let mut cursor = Cursor::new(KeyValueFile::open(&file).unwrap(), true);
    while cursor.advance().unwrap() && cursor.ordinal() < 14 {}
    let count_last_bit = cursor.record().value_at + 3;
    // Without a declared width, so that the block's end is what tells.
    let mut rows = rows;
    rows[17].1 = None;
    place.put("over.kv", forge(&rows, &[count_last_bit]));
    place.fails(
        &["check", "over.kv"],
        1,
        "over.kv: corrupt: at byte 328: record 15 (block 1): a block starts with a retained position of 0, which drops \
         the selector; restore the file from a good copy",
    );
}

#[test]
fn what_is_no_file_is_refused() {
    let place = Place::new();
    place.put("a.kv", encode(&[row("k", "v")]));
    fs::create_dir(place.path("folder")).unwrap();
    mkfifoat(CWD, place.path("pipe"), Mode::from_raw_mode(0o600)).unwrap();
    let give = "give a KV02 or KV03 file";
    for command in [&["check"][..], &["info"], &["dump"], &["merge", "a.kv", "-o", "out"]] {
        place.fails(
            &[command, &["folder"]].concat(),
            1,
            &format!("folder: not a regular file but a folder; {give}"),
        );
        place.fails(
            &[command, &["pipe"]].concat(),
            1,
            &format!("pipe: not a regular file but a pipe; {give}"),
        );
        place.fails(
            &[command, &["/dev/null"]].concat(),
            1,
            &format!("/dev/null: not a regular file but a device; {give}"),
        );
        place.fails(
            &[command, &["none"]].concat(),
            4,
            "none: cannot read: No such file or directory (os error 2); check the path",
        );
    }
    assert_eq!(place.names(), ["a.kv", "folder", "pipe"]);
}

#[test]
fn only_checksums_can_be_left_unverified() {
    let place = Place::new();
    let mut file = encode(&[row("k", "v")]);
    let canonical = file.clone();
    file[64] ^= 1;
    file[68..72].fill(0);
    let header = crc32c::crc32c(&file[..96]);
    file[68..72].copy_from_slice(&header.to_le_bytes());
    place.put("stale.kv", &file);
    let output = place.run(&["merge", "stale.kv", "-o", "out.kv"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("weft: stale.kv: corrupt: at byte 64: the body's checksum is "));
    let report = place.ok(&["merge", "stale.kv", "-o", "out.kv", "--no-verify"]);
    assert!(report.contains(", checksums not verified\n"), "{report}");
    assert_eq!(place.get("out.kv"), canonical);
}

// ---- outputs that are refused ----------------------------------------------------------------------------------

#[test]
fn outputs_never_replace_what_they_must_not() {
    let place = Place::new();
    place.put("a.kv", encode(&[row("k", "v")]));
    place.put("b.kv", encode(&[row("l", "v")]));
    place.put("old", "old");
    fs::create_dir(place.path("folder")).unwrap();
    std::os::unix::fs::symlink("a.kv", place.path("link")).unwrap();
    fs::hard_link(place.path("b.kv"), place.path("hard")).unwrap();
    let before = place.names();
    let merge = |output: &'static str| ["merge", "a.kv", "b.kv", "--force", "-o", output];
    place.fails(
        &["merge", "a.kv", "b.kv", "-o", "old"],
        1,
        "old: already exists; give another name, or --force to replace it",
    );
    for output in ["a.kv", "b.kv", "./a.kv", "link", "hard", "folder/../b.kv"] {
        place.fails(&merge(output), 1, &format!("{output}: the output is also an input; give another name"));
    }
    place.put("rows.tsv", "k\n");
    place.fails(
        &["import", "rows.tsv", "-o", "rows.tsv", "--force"],
        1,
        "rows.tsv: the output is also an input; give another name",
    );
    fs::remove_file(place.path("rows.tsv")).unwrap();
    place.fails(&merge("folder"), 1, "folder: not a regular file but a folder; give the name of a file");
    place.fails(&merge("new/"), 1, "new/: not a regular file but a folder's name; give the name of a file");
    place.fails(
        &merge("/dev/null"),
        1,
        "/dev/null: not a regular file but a device; give the name of a file",
    );
    place.fails(
        &merge("-"),
        2,
        "an output is a file that appears whole or not at all, which standard output cannot be; give a path (./- for \
         a file of that name)",
    );
    place.fails(
        &merge("missing/out"),
        4,
        "missing: cannot create a file in this folder: No such file or directory (os error 2); check the path; folders \
         are not made on the way",
    );
    assert_eq!(place.get("old"), b"old");
    assert_eq!(place.names(), before);
    place.ok(&merge("old"));
    assert_eq!(place.ok(&["dump", "old"]), "k\tv\nl\tv\n");
    assert_eq!(place.names(), before);
}

/// Runs as a user without privileges, also where the tests run as root.
fn as_ordinary_user(place: &Place, arguments: &[&str]) -> Output {
    // Where the build's folder is closed to others, a copy of the program can still be run.
    let program = place.path("weft");
    if !program.exists() {
        // Copied by another process: a test that forks at this moment would hold a copy of ours open for writing,
        // and a program that is open for writing cannot be run.
        assert!(Command::new("cp").arg(WEFT).arg(&program).status().unwrap().success());
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut command = Command::new(program);
    command.args(arguments).current_dir(place.0.path()).stdin(Stdio::null());
    if rustix::process::geteuid().is_root() {
        command.uid(65_534).gid(65_534);
    }
    command.output().unwrap()
}

#[test]
fn missing_permissions_are_told() {
    let place = Place::new();
    place.put("a.kv", encode(&[row("k", "v")]));
    place.put("secret.kv", encode(&[row("k", "v")]));
    let mode =
        |name: &str, mode| fs::set_permissions(place.path(name), fs::Permissions::from_mode(mode)).unwrap();
    fs::create_dir(place.path("closed")).unwrap();
    mode("secret.kv", 0o000);
    mode("closed", 0o555);
    mode("", 0o755);
    assert_failed(
        &as_ordinary_user(&place, &["merge", "a.kv", "secret.kv", "-o", "closed/out.kv"]),
        4,
        "secret.kv: cannot read: Permission denied (os error 13); you need permission to read it",
    );
    assert_failed(
        &as_ordinary_user(&place, &["merge", "a.kv", "-o", "closed/out.kv"]),
        4,
        "closed: cannot create a file in this folder: Permission denied (os error 13); you need permission to write there",
    );
    assert_eq!(fs::read_dir(place.path("closed")).unwrap().count(), 0);
    mode("closed", 0o755);
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let place = Place::new();
    place.ok(&["import", &package_list("debian-newer.tsv"), "-o", "in.kv"]);
    place.put("old.kv", "old");
    let message =
        "old.kv: cannot write: File too large (os error 27); raise the limit on file sizes (ulimit -f)";
    let merge = format!("ulimit -f 20; exec '{WEFT}' merge in.kv -o old.kv --force");
    let import = format!(
        "ulimit -f 20; exec '{WEFT}' import '{}' -o old.kv --force",
        package_list("debian-newer.tsv")
    );
    for script in [merge, import] {
        let output = Command::new("sh").args(["-c", &script]).current_dir(place.0.path()).output().unwrap();
        assert_failed(&output, 4, message);
        assert_eq!(place.names(), ["in.kv", "old.kv"]);
        assert_eq!(place.get("old.kv"), b"old");
    }
}

// ---- signals ---------------------------------------------------------------------------------------------------

/// Waits until the child has its temporary file, so that there is something to leave behind.
fn wait_for_temporary(place: &Place, child: &mut Child) {
    let started = Instant::now();
    while !place.names().iter().any(|name| name.starts_with(".weft-")) {
        assert!(child.try_wait().unwrap().is_none(), "ended before it had a temporary file");
        assert!(started.elapsed() < Duration::from_secs(60), "no temporary file appeared");
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Whether this process ignores a signal, as those do that `nohup` or a shell starts in the background.
fn is_ignored(signal: Signal) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal.as_raw() - 1) & 1 == 1
}

#[test]
fn signals_end_an_import_without_a_trace() {
    for (signal, code) in [(Signal::HUP, 129), (Signal::INT, 130), (Signal::TERM, 143)] {
        // What the tests' caller has them ignore, weft ignores too, and would wait on.
        if is_ignored(signal) {
            continue;
        }
        let place = Place::new();
        place.put("out.kv", "old");
        let mut child = place
            .command(&["import", "-", "-o", "out.kv", "--force"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // It waits for rows that never come.
        wait_for_temporary(&place, &mut child);
        kill_process(Pid::from_child(&child), signal).unwrap();
        let stdin = child.stdin.take();
        let output = child.wait_with_output().unwrap();
        drop(stdin);
        assert_failed(&output, code, "interrupted; no output was written");
        assert_eq!(place.names(), ["out.kv"]);
        assert_eq!(place.get("out.kv"), b"old");
    }
}

#[test]
fn a_signal_ends_a_merge_without_a_trace() {
    let place = Place::new();
    place.ok(&["fixture", "--n", "500000", "--out", "."]);
    // The same two again and again, so that the merge lasts until the signal comes.
    let arguments = [&["merge", "-o", "merged.kv"][..], &["older.kv", "newer.kv"].repeat(12)].concat();
    let mut child = place.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_temporary(&place, &mut child);
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_failed(&child.wait_with_output().unwrap(), 143, "interrupted; no output was written");
    assert_eq!(place.names(), ["newer.kv", "older.kv"]);
}

#[test]
fn a_signal_that_the_caller_ignores_stays_ignored() {
    let place = Place::new();
    let script = format!("trap '' HUP; exec '{WEFT}' import - -o out.kv");
    let mut child = Command::new("sh")
        .args(["-c", &script])
        .current_dir(place.0.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    wait_for_temporary(&place, &mut child);
    kill_process(Pid::from_child(&child), Signal::HUP).unwrap();
    child.stdin.take().unwrap().write_all(b"key\tvalue\n").unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert_eq!(place.get("out.kv"), encode(&[row("key", "value")]));
}

// ---- diff, compare, bench ---------------------------------------------------------------------------------------

#[test]
fn a_diff_says_what_changed_and_what_it_costs() {
    let place = Place::new();
    let same = place.ok(&["diff", "scan/exclusive", "scan/exclusive"]);
    assert!(same.contains("Both run the same."), "{same}");
    let output =
        place.run(&["diff", "scan/exclusive", "scan/exclusive_subgroup", "--set", "n=2^20", "--json"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "weft: scan/exclusive and scan/exclusive_subgroup differ\n");
    let diff: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(diff["same"], false);
    let changes: Vec<&str> =
        diff["changed"].as_array().unwrap().iter().map(|n| n["name"].as_str().unwrap()).collect();
    assert!(changes.contains(&"tiles") && changes.contains(&"apply"), "{diff}");
    assert_eq!(diff["costs"][0]["read_bytes"], diff["costs"][1]["read_bytes"]);
    place.fails(
        &["diff", "scan/exclusive", "scan/exclusive", "--set", "x=1"],
        2,
        "--set x: none of the graphs has this symbol",
    );
}

#[test]
fn a_comparison_checks_outputs_and_gives_verdicts() {
    let place = Place::new();
    place.put("items", [7_u8, 0, 0, 0].repeat(1000));
    let common = ["--set", "n=1000", "--in", "items=items", "--backend", "reference"];
    let arguments = |more: &[&'static str]| [&["compare"][..], more, &common].concat();
    let table =
        place.ok(&arguments(&["scan/exclusive", "scan/exclusive", "--runs", "24", "--json", "out.json"]));
    assert!(table.contains("scan/exclusive (2) against scan/exclusive\n"), "{table}");
    let json: Value = serde_json::from_slice(&place.get("out.json")).unwrap();
    assert_eq!(json["blocks"], 12);
    assert_eq!(json["graphs"][0]["totals"].as_array().unwrap().len(), 24);
    let whole = &json["against_baseline"][0]["whole"];
    assert!(["SAME", "FASTER", "SLOWER"].contains(&whole["verdict"].as_str().unwrap()), "{whole}");
    assert!(
        json["graphs"][0]["measured_peak_bytes"].as_u64() >= json["graphs"][0]["planned_peak_bytes"].as_u64()
    );
    let few = place.ok(&arguments(&["scan/exclusive", "scan/exclusive", "--runs", "2"]));
    assert!(few.contains("Too few runs for verdicts: give --runs"), "{few}");

    // A graph that hands out something else is refused, whatever it takes.
    place.put("less.yaml", "graph: less\ndoc: Not the same.\nextends: scan/exclusive\nremove: [total]\n");
    let message = "less.yaml does not give what scan/exclusive gives: it has no output `total`";
    place.fails(&arguments(&["scan/exclusive", "less.yaml", "--runs", "2"]), 1, message);
}

#[test]
fn a_bench_compares_every_output_and_writes_a_report() {
    let place = Place::new();
    let arguments =
        ["bench", "--suite", "cutover", "--engine", "cpu", "--engine", "reference", "--trials", "1"];
    let more = ["--most-records", "520", "-o", "report.md", "--json", "report.json"];
    let summary = place.ok(&[&arguments[..], &more].concat());
    assert_eq!(summary, "2 equal to the streaming engine, 0 refused, 0 wrong\n");
    let report = text(&place.get("report.md"));
    assert!(
        report.starts_with("# The cutover suite, 20") && report.contains("| reference kv03/baseline-once | "),
        "{report}"
    );
    let json: Value = serde_json::from_slice(&place.get("report.json")).unwrap();
    assert_eq!(json["cases"][0]["results"][1]["outcome"], "equal");
}

// ---- usage -----------------------------------------------------------------------------------------------------

#[test]
fn wrong_usage_has_exit_code_2() {
    let place = Place::new();
    place.put("a.kv", encode(&[]));
    for arguments in [
        &[][..],
        &["unknown"],
        &["merge", "-o", "out.kv"],
        &["merge", "a.kv"],
        &["merge", "a.kv", "-o", "out.kv", "--engine", "abacus"],
        &["import", "a.kv", "-o", "out.kv", "--format", "xml"],
        &["check"],
    ] {
        let output = place.run(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let message = text(&output.stderr);
        assert!(message.contains("Usage: weft") || message.contains("try '--help'"), "{message}");
        assert_eq!(output.stdout, b"");
    }
    assert_eq!(place.names(), ["a.kv"]);
    let help = place.ok(&["--help"]);
    for command in ["merge", "import", "dump", "check", "info", "fixture", "diff", "compare", "bench"] {
        assert!(help.contains(&format!("\n  {command} ")), "{help}");
    }
}

#[test]
fn what_commands_do_not_take_is_refused_with_what_they_do() {
    let place = Place::new();
    place.ok(&["fixture", "--n", "16", "--out", "x"]);
    let pair = ["x/older.kv", "x/newer.kv"];
    let merge = |more: &[&'static str]| [&["merge"][..], &pair, &["-o", "no.kv"], more].concat();
    place.fails(
        &merge(&["--engine", "cpu", "--graph", "kv03/baseline"]),
        2,
        "--graph goes with --engine gpu or reference",
    );
    let none = "the graph scan/exclusive merges no files; name a graph of the family kv03";
    place.fails(&merge(&["--engine", "reference", "--graph", "scan/exclusive"]), 1, none);
    place.fails(&[&["plan", "scan/exclusive"][..], &pair].concat(), 1, none);
    place.fails(&[&["diff", "kv03/baseline", "scan/exclusive"][..], &pair].concat(), 1, none);
    place.fails(
        &["bench", "--suite", "byte", "--graph", "kv03/baseline", "--engine", "reference"],
        2,
        "--graph kv03/baseline: the suite byte merges KV02 files; name a graph of the family kv02",
    );
    place.fails(
        &["bench", "--suite", "byte", "--most-records", "1", "--engine", "cpu"],
        2,
        "no case of the suite byte has so few records; give --most-records more",
    );
    place.fails(
        &[&["plan", "kv03/baseline", "--svg", "-"][..], &pair].concat(),
        2,
        "an output is a file that appears whole or not at all, which standard output cannot be; give a path (./- for a file of that name)",
    );
    place.fails(
        &["explain", "scan/exclusive", "tiles", "nothing"],
        1,
        "there is no node `nothing`; there are: tiles, spans, apply",
    );
    // What was chosen in place of a graph that was named is said.
    let merged = place.ok(&[&["merge", "-o", "merged.kv", "--graph", "kv03/cached"][..], &pair].concat());
    assert!(merged.contains("; --engine gpu would have run kv03/cached"), "{merged}");
}
