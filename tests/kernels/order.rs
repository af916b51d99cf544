//! Order, sizes, collisions and ranks: on columns built here from lists of keys, as a merge means them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::device::Bench;
use super::support::bytes;

const ALL_ONES: u32 = u32::MAX;
const PAYLOAD_WORD: usize = 72;

type Outputs = BTreeMap<String, Vec<u32>>;

/// How much of what a key shares with the one before it a record retains.
#[derive(Clone, Copy, Debug)]
enum Retention {
    /// All, as an encoder writes it.
    Most,
    /// Nothing.
    None,
    /// Something between, by the record's number.
    Mixed,
}

/// Columns of one input whose payload is the literals of its keys, one after another.
#[derive(Debug, Default)]
struct Columns {
    payload: Vec<bool>,
    literal_starts: Vec<u32>,
    key_bits: Vec<u32>,
    retained: Vec<u32>,
}

impl Columns {
    fn new(keys: &[Vec<u8>], retention: Retention) -> Columns {
        let mut columns = Columns::default();
        let mut previous: &[u8] = &[];
        for (ordinal, key) in keys.iter().enumerate() {
            let most = shared(previous, key);
            let retained = match retention {
                Retention::Most => most,
                Retention::None => 0,
                Retention::Mixed => most - most.min((ordinal as u32 * 7) % 41),
            };
            // Literals begin anywhere in a byte.
            columns.payload.extend([true; 3]);
            columns.literal_starts.push((32 * PAYLOAD_WORD + columns.payload.len()) as u32);
            columns.key_bits.push(8 * key.len() as u32);
            columns.retained.push(retained);
            columns.payload.extend((retained..8 * key.len() as u32).map(|at| bit(key, at)));
            previous = key;
        }
        columns
    }

    fn file(&self) -> Vec<u8> {
        let mut file = vec![0xff; 4 * PAYLOAD_WORD];
        file.extend(self.payload.chunks(8).map(|byte| {
            let place = |value: u8, (at, &bit): (usize, &bool)| value | u8::from(bit) << (7 - at);
            byte.iter().enumerate().fold(0, place)
        }));
        file.resize(file.len().next_multiple_of(8), 0);
        file
    }
}

fn bit(key: &[u8], at: u32) -> bool {
    key[at as usize / 8] >> (7 - at % 8) & 1 == 1
}

/// Leading bits that two keys share.
fn shared(a: &[u8], b: &[u8]) -> u32 {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let in_next = a.get(same).zip(b.get(same)).map_or(0, |(a, b)| (a ^ b).leading_zeros());
    8 * same as u32 + in_next
}

/// The heap of minima: node i is the least of nodes 2i and 2i + 1.
fn tree(retained: &[u32]) -> Vec<u32> {
    let leaves = retained.len().next_power_of_two();
    let mut nodes = vec![ALL_ONES; 2 * leaves];
    nodes[leaves..leaves + retained.len()].copy_from_slice(retained);
    for node in (1..leaves).rev() {
        nodes[node] = nodes[2 * node].min(nodes[2 * node + 1]);
    }
    nodes
}

fn window(key: &[u8], prefix: usize) -> [u32; 2] {
    let mut eight = [0; 8];
    let rest = key.get(prefix..).unwrap_or(&[]);
    let held = rest.len().min(8);
    eight[..held].copy_from_slice(&rest[..held]);
    [0, 4].map(|at| u32::from_be_bytes(eight[at..at + 4].try_into().expect("four bytes")))
}

fn common_prefix(keys: &[&Vec<u8>]) -> usize {
    let least = keys.iter().map(|key| shared(keys[0], key) / 8).min();
    least.unwrap_or(0) as usize
}

/// Lengths of values, tag and count included, of all records; they matter only as numbers.
fn value_bits(records: usize) -> Vec<u32> {
    (0..records as u32).map(|record| 1 + record.wrapping_mul(2_654_435_761) % 97).collect()
}

fn run(
    bench: &mut Bench,
    graph: &str,
    older: &[Vec<u8>],
    newer: &[Vec<u8>],
    retention: Retention,
) -> Outputs {
    let sides = [older, newer].map(|keys| Columns::new(keys, retention));
    let keys: Vec<&Vec<u8>> = older.iter().chain(newer).collect();
    let both = |column: fn(&Columns) -> &Vec<u32>| -> Vec<u32> {
        sides.iter().flat_map(|side| column(side).iter().copied()).collect()
    };
    let retained = both(|side| &side.retained);
    let prefix = common_prefix(&keys);
    let windows: Vec<u32> = keys.iter().flat_map(|key| window(key, prefix)).collect();
    let files = sides.each_ref().map(Columns::file);
    let symbols = [
        ("records", keys.len() as u64),
        ("older_records", older.len() as u64),
        ("older_words", files[0].len() as u64 / 4),
        ("newer_words", files[1].len() as u64 / 4),
    ];
    let [older_file, newer_file] = files;
    let inputs = [
        ("older", older_file),
        ("newer", newer_file),
        ("literal_starts", bytes(&both(|side| &side.literal_starts))),
        ("key_bits", bytes(&both(|side| &side.key_bits))),
        ("value_bits", bytes(&value_bits(keys.len()))),
        ("tree", bytes(&tree(&retained))),
        ("retained", bytes(&retained)),
        ("prefix", bytes(&[prefix as u32])),
        ("windows", bytes(&windows)),
    ];
    bench.run(graph, &symbols, &inputs)
}

/// Up to four bytes as a number, the first one highest.
fn word_of(bytes: &[u8]) -> u32 {
    bytes.iter().zip([24, 16, 8, 0]).map(|(&byte, at)| u32::from(byte) << at).sum()
}

fn code_bits(x: u32) -> u32 {
    2 * (x + 1).ilog2() + 1
}

/// What the merge of two ascending lists means, number by number.
fn check(bench: &mut Bench, older: &[Vec<u8>], newer: &[Vec<u8>], retention: Retention) {
    let found = run(bench, "order/scatter.yaml", older, newer, retention);
    let case = || format!("{} older and {} newer, {retention:?}", older.len(), newer.len());
    let equal = |name: &str, expected: &[u32]| assert_eq!(found[name], expected, "{name}: {}", case());
    let keys: Vec<&Vec<u8>> = older.iter().chain(newer).collect();
    let first_newer = older.len() as u32;

    for suffix in ["", "_uncached", "_arena"] {
        for side in ["older", "newer"] {
            equal(&format!("{side}_status{suffix}"), &[ALL_ONES]);
        }
    }
    let words = |key: &&Vec<u8>| key.chunks(4).map(word_of).collect::<Vec<_>>();
    let in_full: Vec<Vec<u32>> = keys.iter().map(words).collect();
    equal("arena", &in_full.concat());
    equal("longest", &[in_full.iter().map(Vec::len).max().unwrap_or(0) as u32]);
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_by_key(|&record| (keys[record as usize], record));
    let in_newer: BTreeSet<&Vec<u8>> = newer.iter().collect();
    let superseded = |record: u32| record < first_newer && in_newer.contains(keys[record as usize]);
    let keep: Vec<u32> = order.iter().map(|&record| u32::from(!superseded(record))).collect();
    let refs: Vec<u32> = order.iter().copied().filter(|&record| !superseded(record)).collect();
    for suffix in ["", "_uncached", "_arena"] {
        equal(&format!("order{suffix}"), &order);
        equal(&format!("keep{suffix}"), &keep);
    }
    equal("refs", &refs);
    for placed in ["scattered512", "scattered2048", "merged_live"] {
        equal(placed, &refs);
    }

    let values = value_bits(keys.len());
    let (mut shared_bits, mut lengths) = (Vec::new(), Vec::new());
    let mut previous: &[u8] = &[];
    for (i, &record) in refs.iter().enumerate() {
        let key = keys[record as usize];
        let [same, bits, previous_bits] =
            [shared(previous, key), 8 * key.len() as u32, 8 * previous.len() as u32];
        let control = if i % 15 == 0 { 1 + same } else { previous_bits - same };
        shared_bits.push(same);
        lengths.push(code_bits(control) + code_bits(bits - same) + bits - same + values[record as usize]);
        previous = key;
    }
    for suffix in ["", "_uncached", "_arena"] {
        equal(&format!("shared_bits{suffix}"), &shared_bits);
        equal(&format!("lengths{suffix}"), &lengths);
    }
    let widths = || refs.iter().map(|&record| values[record as usize]);
    let extremes =
        [widths().min(), widths().max().map(|most| !most)].map(|extreme| extreme.unwrap_or(ALL_ONES));
    equal("extremes", &extremes);
    equal("last_key_bits", &[8 * previous.len() as u32]);
    check_marks(&found, older, newer);
}

fn check_marks(found: &Outputs, older: &[Vec<u8>], newer: &[Vec<u8>]) {
    let below: Vec<u32> = newer.iter().map(|key| older.partition_point(|other| other < key) as u32).collect();
    assert_eq!([&found["below"], &found["below_tiled"]], [&below; 2]);
    let in_newer: BTreeSet<&Vec<u8>> = newer.iter().collect();
    let marked: Vec<bool> = older.iter().map(|key| in_newer.contains(key)).collect();
    assert_eq!([&found["bitmap"], &found["bitmap_tiled"]], [&bitmap_of(&marked); 2]);
    check_ranks(&marked, found);
    let live: Vec<u32> =
        (0..).zip(&marked).filter(|(_, marked)| !**marked).map(|(record, _)| record).collect();
    assert_eq!([&found["live512"], &found["live2048"]], [&live; 2]);
}

fn bitmap_of(marked: &[bool]) -> Vec<u32> {
    let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, &bit| word << 1 | u32::from(bit));
    marked.chunks(32).map(word).collect()
}

/// Both directories, word by word, from the definition.
fn check_ranks(bits: &[bool], found: &Outputs) {
    let ones = |bits: &[bool]| bits.iter().filter(|&&bit| bit).count() as u32;
    let before = |at: usize| ones(&bits[..bits.len().min(at)]);
    let rank512 = (0..bits.len()).step_by(512).flat_map(|block| {
        let pair = |pair: usize| u64::from(before(block + 64 * pair) - before(block));
        let fields = (1..8).fold(0, |fields, p| fields | pair(p) << (9 * (p - 1)));
        [before(block), fields as u32, (fields >> 32) as u32]
    });
    assert_eq!(found["directory512"], rank512.collect::<Vec<_>>());
    let rank2048 = (0..bits.len()).step_by(2048).flat_map(|block| {
        let run = |run: usize| before(block + 512 * (run + 1)) - before(block + 512 * run);
        [before(block), run(0) | run(1) << 11 | run(2) << 22]
    });
    assert_eq!(found["directory2048"], rank2048.collect::<Vec<_>>());
    assert_eq!([&found["total512"], &found["total2048"]], [&[ones(bits)], &[ones(bits)]]);
}

/// Keys of a family: the record numbers in them ascend.
fn family(name: &str, number: u32) -> Vec<u8> {
    let number_bytes = number.to_be_bytes();
    match name {
        // Differ within a window behind a long prefix.
        "prefixed" => [&[b'p'; 300][..], &number_bytes].concat(),
        // Share all of a window and more, but nothing with the first record of all.
        "behind windows" => [&[u8::from(number > 0); 1][..], &[7; 30], &number_bytes].concat(),
        // Each is the prefix of the next.
        "chain" => vec![0; number as usize],
        // End at zero bytes, which windows are padded with.
        "zeros" => [&(number / 3).to_be_bytes()[..], &vec![0; number as usize % 3]].concat(),
        "short" => number_bytes[2..].to_vec(),
        _ => unreachable!("a family"),
    }
}

const FAMILIES: [&str; 5] = ["prefixed", "behind windows", "chain", "zeros", "short"];

fn keys(name: &str, numbers: impl Iterator<Item = u32>) -> Vec<Vec<u8>> {
    numbers.map(|number| family(name, number)).collect()
}

#[test]
fn families_at_boundaries() {
    let mut bench = Bench::new();
    // Older and newer counts, and how far apart their numbers are: with equal steps all keys collide.
    let shapes = [
        (1, 0, 1, 1),
        (0, 1, 1, 1),
        (1, 1, 1, 1),
        (1, 1, 2, 1),
        (7, 8, 2, 3),
        (8, 8, 1, 1),
        (14, 15, 1, 2),
        (16, 31, 3, 2),
        (257, 256, 1, 2),
        (3, 513, 40, 1),
        (513, 3, 1, 40),
    ];
    for name in FAMILIES {
        for (older, newer, older_step, newer_step) in shapes {
            let older = keys(name, (0..older).map(|i| i * older_step));
            let newer = keys(name, (0..newer).map(|i| i * newer_step));
            for retention in [Retention::Most, Retention::Mixed] {
                check(&mut bench, &older, &newer, retention);
            }
        }
        check(&mut bench, &keys(name, 0..40), &keys(name, 20..70), Retention::None);
    }
}

#[test]
fn two_empty_inputs() {
    check(&mut Bench::new(), &[], &[], Retention::Most);
}

#[test]
fn keys_differ_at_each_bit() {
    let mut bench = Bench::new();
    for bytes in [1, 4, 8, 9, 12, 33] {
        // One bit set in each, the lowest first; the same keys with a byte more on the other side.
        let one_bit = |at: usize| {
            let mut key = vec![0; bytes];
            key[bytes - 1 - at / 8] = 1 << (at % 8);
            key
        };
        let older: Vec<Vec<u8>> = (0..8 * bytes).map(one_bit).collect();
        let newer: Vec<Vec<u8>> = older.iter().map(|key| [&key[..], &[0]].concat()).collect();
        check(&mut bench, &older, &newer, Retention::Most);
        check(&mut bench, &older, &older, Retention::Mixed);
    }
}

#[test]
fn many_blocks_of_marks() {
    let mut bench = Bench::new();
    let older = keys("short", (0..5_000).map(|i| i * 3));
    let newer = keys("short", (0..4_000).map(|i| i * 4 + i % 3));
    check(&mut bench, &older, &newer, Retention::Most);
    // Every invocation of a workgroup marks one of few words.
    check(&mut bench, &older, &older, Retention::Most);
}

/// Older records at the edges of words, blocks and tiles, of which none, all or some are marked.
#[test]
fn marks_at_boundaries() {
    let mut bench = Bench::new();
    for count in [0, 1, 31, 32, 33, 511, 512, 513, 2047, 2048, 2049] {
        let older = keys("short", (0..count).map(|i| 2 * i));
        for (newer, step, first) in
            [(count, 2, 0), (count, 2, 1), (count.div_ceil(7), 14, 0), (3, 1, 2 * count)]
        {
            check(&mut bench, &older, &keys("short", (0..newer).map(|i| first + step * i)), Retention::Most);
        }
    }
}

/// A driver on the CPU ends an invocation after 65,535 turns of its loops, so comparisons must not take one a byte.
#[test]
fn keys_of_twenty_thousand_bytes() {
    let mut bench = Bench::new();
    let long = |last: u8| [&[9; 19_999][..], &[last]].concat();
    let older: Vec<Vec<u8>> = [vec![]].into_iter().chain((0..20).map(|i| long(2 * i))).collect();
    let newer: Vec<Vec<u8>> = [vec![1]].into_iter().chain((0..20).map(|i| long(3 * i))).collect();
    for retention in [Retention::Most, Retention::None] {
        check(&mut bench, &older, &newer, retention);
    }
}

fn sorted_keys(count: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
    // Few letters and repeated stretches: equal keys, prefixes of others, and long shared beginnings.
    let letter = prop_oneof![Just(0u8), Just(1), Just(0x80), Just(0xff)];
    let stretch = (letter, 1..12usize).prop_map(|(letter, count)| vec![letter; count]);
    let key = prop::collection::vec(stretch, 0..4).prop_map(|stretches| stretches.concat());
    prop::collection::btree_set(key, 0..count).prop_map(|keys| keys.into_iter().collect())
}

fn retentions() -> impl Strategy<Value = Retention> {
    prop_oneof![Just(Retention::Most), Just(Retention::None), Just(Retention::Mixed)]
}

#[test]
fn random_keys() {
    let mut bench = Bench::new();
    let bench = std::cell::RefCell::new(&mut bench);
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let cases = (sorted_keys(60), sorted_keys(60), retentions());
    let result = runner.run(&cases, |(older, newer, retention)| {
        check(&mut bench.borrow_mut(), &older, &newer, retention);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

/// Position and code of the first record that is not above the one before it.
fn first_descent(keys: &[Vec<u8>]) -> u32 {
    let at = keys.windows(2).position(|pair| pair[0] >= pair[1]);
    at.map_or(ALL_ONES, |before| ((before as u32 + 1) / 15) << 7 | 11)
}

#[test]
fn keys_that_do_not_ascend() {
    let mut bench = Bench::new();
    let bench = std::cell::RefCell::new(&mut bench);
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let cases = (sorted_keys(80), sorted_keys(80), any::<[prop::sample::Index; 2]>(), 0..3, retentions());
    let result = runner.run(&cases, |(mut older, mut newer, [from, to], how, retention)| {
        for keys in [&mut older, &mut newer] {
            if keys.is_empty() {
                continue;
            }
            let (from, to) = (from.index(keys.len()), to.index(keys.len()));
            match how {
                0 => keys.swap(from, to),
                1 => keys[from] = keys[to].clone(),
                _ => keys.rotate_left(from),
            }
        }
        let found = run(&mut bench.borrow_mut(), "order/order.yaml", &older, &newer, retention);
        for suffix in ["", "_uncached", "_arena"] {
            prop_assert_eq!(&found[&format!("older_status{suffix}")], &[first_descent(&older)]);
            prop_assert_eq!(&found[&format!("newer_status{suffix}")], &[first_descent(&newer)]);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn ranks_of_bitmaps() {
    let mut bench = Bench::new();
    for bits in [0, 1, 31, 32, 33, 63, 64, 65, 127, 128, 129, 511, 512, 513, 2047, 2048, 2049, 131_073u32] {
        let patterns: [fn(u32) -> bool; 4] =
            [|_| false, |_| true, |i| i % 31 == 0, |i| i.wrapping_mul(2_654_435_761) >> 7 & 7 == 3];
        for pattern in patterns {
            let marked: Vec<bool> = (0..bits).map(pattern).collect();
            let mut bitmap = bitmap_of(&marked);
            // What lies past the last bit does not count.
            if let Some(last) = bitmap.last_mut().filter(|_| bits % 32 != 0) {
                *last |= ALL_ONES << (bits % 32);
            }
            let found =
                bench.run("order/rank.yaml", &[("bits", u64::from(bits))], &[("bitmap", bytes(&bitmap))]);
            check_ranks(&marked, &found);
        }
    }
}
