//! Rank directories: those of bitmaps that answer queries, and those of groups that index files hold.

use serde_json::Value;

use super::device::Bench;
use super::support::{bytes, hex, read, read_json, words};

/// Groups between two checkpoints.
const RUN_GROUPS: usize = 128;

/// A generator of bits that need not be good (Marsaglia's xorshift).
struct Xorshift(u32);

impl Xorshift {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    fn below(&mut self, end: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(end)) >> 32) as u32
    }
}

fn bitmap_of(marked: &[bool]) -> Vec<u32> {
    let word = |bits: &[bool]| bits.iter().rev().fold(0, |word, &bit| word << 1 | u32::from(bit));
    marked.chunks(32).map(word).collect()
}

fn bits_of(bitmap: &[u32], bits: usize) -> Vec<bool> {
    (0..bits).map(|i| bitmap[i / 32] >> (i % 32) & 1 == 1).collect()
}

/// How many are marked before each position, the end included.
fn ranks(marked: &[bool]) -> Vec<u32> {
    let before = marked.iter().scan(0, |sum, &bit| {
        *sum += u32::from(bit);
        Some(*sum)
    });
    std::iter::once(0).chain(before).collect()
}

fn populations(marked: &[bool], k: usize) -> Vec<u32> {
    marked.chunks(k).map(|group| group.iter().filter(|&&bit| bit).count() as u32).collect()
}

/// The class and checkpoint words of groups, by way of the whole string of bits.
fn directory(populations: &[u32], k: usize) -> [Vec<u32>; 2] {
    let width = (k + 1).ilog2();
    let mut string: Vec<bool> =
        populations.iter().flat_map(|&class| (0..width).map(move |bit| class >> bit & 1 == 1)).collect();
    string.resize(string.len().next_multiple_of(64), false);
    let runs = populations.chunks(RUN_GROUPS).scan(0, |sum, run| {
        let before = *sum;
        *sum += run.iter().sum::<u32>();
        Some([before, 0])
    });
    [bitmap_of(&string), runs.flatten().collect()]
}

/// A bitmap whose bits past the end are set, which must not count.
fn with_a_dirty_end(mut bitmap: Vec<u32>, bits: usize) -> Vec<u8> {
    if let Some(last) = bitmap.last_mut().filter(|_| !bits.is_multiple_of(32)) {
        *last |= u32::MAX << (bits % 32);
    }
    bytes(&bitmap)
}

/// The directories of a bitmap in both layouts, whole files as they are published.
fn check_directories(bench: &mut Bench, bitmap: &[u32], bits: usize, [rank2048, rank512]: [&[u32]; 2]) {
    let inputs = [("bitmap", with_a_dirty_end(bitmap.to_vec(), bits))];
    let symbols = [("bits", bits as u64)];
    let found = bench.run("rank/rank2048", &symbols, &inputs);
    assert_eq!([&found["directory"][..], &found["total"]].concat(), rank2048, "{bits} bits, Rank2048");
    let found = bench.run("rank/rank512", &symbols, &inputs);
    assert_eq!([bitmap, &found["directory"], &found["total"]].concat(), rank512, "{bits} bits, Rank512");
}

/// The answers to queries by both layouts.
fn check_answers(bench: &mut Bench, marked: &[bool], positions: &[u32]) {
    let before = ranks(marked);
    let answers: Vec<u32> =
        positions.iter().map(|&position| before[(position as usize).min(marked.len())]).collect();
    let symbols = [("bits", marked.len() as u64), ("queries", positions.len() as u64)];
    let bitmap = with_a_dirty_end(bitmap_of(marked), marked.len());
    let inputs = [("bitmap", bitmap), ("positions", bytes(positions))];
    for graph in ["rank/probe512", "rank/probe2048"] {
        let found = bench.run(graph, &symbols, &inputs);
        assert_eq!(found["answers"], answers, "{graph} of {} bits", marked.len());
    }
}

/// The rank15 directory of a bitmap.
fn check_rank15(bench: &mut Bench, marked: &[bool]) {
    let bitmap = with_a_dirty_end(bitmap_of(marked), marked.len());
    let found = bench.run("rank/rank15", &[("bits", marked.len() as u64)], &[("bitmap", bitmap)]);
    let [classes, checkpoints] = directory(&populations(marked, 15), 15);
    assert_eq!(found["classes"], classes, "{} bits", marked.len());
    assert_eq!(found["checkpoints"], checkpoints, "{} bits", marked.len());
    assert_eq!(found["total"], ranks(marked)[marked.len()..]);
}

#[test]
fn published_bitmaps() {
    let mut bench = Bench::new();
    let all = words(&read("rank/bitmaps.bin"));
    let mut rest = &all[..];
    let cases = read_json("rank/bitmaps.json");
    for case in cases.as_array().unwrap() {
        let bits = case["bits"].as_u64().unwrap() as usize;
        let lengths = [0, 1, 2].map(|at| case["words"][at].as_u64().unwrap() as usize);
        let [bitmap, rank2048, rank512] = lengths.map(|length| {
            let (file, others) = rest.split_at(length);
            rest = others;
            file
        });
        check_directories(&mut bench, bitmap, bits, [rank2048, rank512]);
        let marked = bits_of(bitmap, bits);
        assert_eq!(u64::from(ranks(&marked)[bits]), case["ones"].as_u64().unwrap());
        // Every position, the end, and what is past it.
        let positions: Vec<u32> = (0..=bits as u32 + 1).chain([1 << 31, u32::MAX]).collect();
        check_answers(&mut bench, &marked, &positions);
        check_rank15(&mut bench, &marked);
    }
    assert!(rest.is_empty());
    assert_eq!(cases.as_array().unwrap().len(), 15 * 4);
}

/// All counts are as great as they can be, and all invocations add to the same few numbers.
#[test]
fn all_ones() {
    let mut bench = Bench::new();
    let mut random = Xorshift(7);
    for bits in [2_048 * 15, 131_073, 1_000_003] {
        let marked = vec![true; bits];
        let mut positions: Vec<u32> = (0..5_000).map(|_| random.below(bits as u32)).collect();
        positions.push(bits as u32);
        check_answers(&mut bench, &marked, &positions);
        check_rank15(&mut bench, &marked);
    }
}

/// More groups of invocations than one, with ones here and there.
#[test]
fn many_tiles() {
    let mut bench = Bench::new();
    let mut random = Xorshift(11);
    for bits in [30_719, 30_720, 30_721, 245_761] {
        let marked: Vec<bool> = (0..bits).map(|_| random.below(5) == 0).collect();
        check_rank15(&mut bench, &marked);
        let positions: Vec<u32> = (0..3_000).map(|_| random.below(bits as u32 + 1)).collect();
        check_answers(&mut bench, &marked, &positions);
    }
}

/// Where records go when what equals an older key replaces it: the whole order, from ranks alone.
#[test]
fn published_collisions() {
    let mut bench = Bench::new();
    let numbers = |case: &Value, name: &str| -> Vec<u32> {
        let numbers = case[name].as_array().unwrap().iter();
        numbers.map(|number| number.as_u64().unwrap() as u32).collect()
    };
    for case in read_json("rank/collision.json").as_array().unwrap() {
        let [older, newer, cancelled, below, order] =
            ["older", "newer", "cancelled", "newer_lower_bounds", "order"].map(|name| numbers(case, name));
        let bits = older.len();
        let marked: Vec<bool> = (0..bits as u32).map(|i| cancelled.contains(&i)).collect();
        let positions: Vec<u32> = below.iter().copied().chain(0..=bits as u32).collect();
        let symbols = [("bits", bits as u64), ("queries", positions.len() as u64)];
        let inputs = [("bitmap", bytes(&bitmap_of(&marked))), ("positions", bytes(&positions))];
        for graph in ["rank/probe512", "rank/probe2048"] {
            let answers = &bench.run(graph, &symbols, &inputs)["answers"];
            let (of_newer, of_older) = answers.split_at(newer.len());
            let mut placed = vec![None; bits + newer.len() - of_older[bits] as usize];
            for (j, (&below, &rank)) in (0u32..).zip(below.iter().zip(of_newer)) {
                placed[(j + below - rank) as usize] = Some(bits as u32 + j);
            }
            for i in (0..bits).filter(|&i| !marked[i]) {
                let newer_below = newer.partition_point(|&key| key < older[i]);
                placed[i + newer_below - of_older[i] as usize] = Some(i as u32);
            }
            let expected: Vec<Option<u32>> = order.iter().copied().map(Some).collect();
            assert_eq!(placed, expected, "{} by {graph}", case["name"]);
        }
    }
}

/// Populations as bytes; what fills the last word up is no population.
fn population_bytes(populations: &[u32]) -> Vec<u8> {
    let mut bytes: Vec<u8> = populations.iter().map(|&population| population as u8).collect();
    bytes.resize(bytes.len().next_multiple_of(4), 0xff);
    bytes
}

fn hex_words(digits: &Value) -> Vec<u32> {
    words(&hex(digits.as_str().unwrap()))
}

#[test]
fn published_groups() {
    let mut bench = Bench::new();
    let cases = read_json("rank/groups.json");
    for case in cases.as_array().unwrap() {
        let [n, k] = ["count", "k"].map(|name| case[name].as_u64().unwrap());
        let given = case["populations"].as_array().unwrap().iter();
        let given: Vec<u32> = given.map(|population| population.as_u64().unwrap() as u32).collect();
        let expected = directory(&given, k as usize);
        assert_eq!(expected, ["classes", "checkpoints"].map(|name| hex_words(&case[name])));
        let mut marked = Vec::new();
        for (group, &population) in given.iter().enumerate() {
            marked.resize(group * k as usize, false);
            marked.resize(group * k as usize + population as usize, true);
        }
        marked.resize(n as usize, false);
        if k != 15 {
            check_other_width(&mut bench, k as usize, &marked);
            continue;
        }
        check_rank15(&mut bench, &marked);
        let inputs = [("populations", population_bytes(&given))];
        let found = bench.run("rank/rank15_classes", &[("n", n)], &inputs);
        assert_eq!([&found["classes"], &found["checkpoints"]], [&expected[0], &expected[1]]);
        assert_eq!(u64::from(found["total"][0]), case["total"].as_u64().unwrap());
    }
    assert_eq!(cases.as_array().unwrap().len(), 20);
}

/// Groups of 3, 7 or 31, whose classes lie across words.
fn check_other_width(bench: &mut Bench, k: usize, marked: &[bool]) {
    let mut random = Xorshift(marked.len() as u32 + 1);
    // What is not marked comes from the secondary target now and then.
    let origins: Vec<u32> = marked.iter().map(|&main| if main { 1 } else { 2 * random.below(2) }).collect();
    let secondary: Vec<bool> = origins.iter().map(|&origin| origin == 2).collect();
    let of_main = populations(marked, k);
    let inputs = [
        ("bitmap", with_a_dirty_end(bitmap_of(marked), marked.len())),
        ("populations", population_bytes(&of_main)),
        ("origins", bytes(&origins)),
    ];
    let found = bench.run(&format!("rank/groups{k}.yaml"), &[("n", marked.len() as u64)], &inputs);
    assert_eq!(found["status"], [u32::MAX]);
    let of_secondary = populations(&secondary, k);
    for (route, populations) in
        [("bit", &of_main), ("byte", &of_main), ("main", &of_main), ("secondary", &of_secondary)]
    {
        let counts: Vec<u32> = populations.chunks(RUN_GROUPS).map(|run| run.iter().sum()).collect();
        assert_eq!(found[&format!("{route}_classes")], directory(populations, k)[0], "{route}, {k}");
        assert_eq!(found[&format!("{route}_counts")], counts, "{route}, {k}");
    }
}

#[test]
fn other_widths_over_many_tiles() {
    let mut bench = Bench::new();
    let mut random = Xorshift(17);
    for k in [3, 7, 31] {
        for n in [0, 1, k - 1, k, k + 1, 32 * k, 128 * k + 1, 512 * k - 1, 4_096 * k + 1, 5_000 * k] {
            let marked: Vec<bool> = (0..n).map(|_| random.below(3) == 0).collect();
            check_other_width(&mut bench, k, &marked);
        }
    }
}

/// Both routes of an index.
fn check_origins(bench: &mut Bench, name: &str, origins: &[u32]) -> [Vec<u32>; 4] {
    let found = bench.run("rank/index-rank", &[("n", origins.len() as u64)], &[("origins", bytes(origins))]);
    let routes = [(1, "main"), (2, "secondary")].map(|(origin, route)| {
        let marked: Vec<bool> = origins.iter().map(|&found| found == origin).collect();
        let [classes, checkpoints] = directory(&populations(&marked, 15), 15);
        assert_eq!(found[&format!("{route}_classes")], classes, "{name}");
        assert_eq!(found[&format!("{route}_checkpoints")], checkpoints, "{name}");
        assert_eq!(found[&format!("{route}_total")], ranks(&marked)[marked.len()..], "{name}");
        [classes, checkpoints]
    });
    routes.concat().try_into().expect("two routes of two")
}

const SECTIONS: [&str; 4] =
    ["main_classes", "main_checkpoints", "secondary_classes", "secondary_checkpoints"];

#[test]
fn published_origins() {
    let mut bench = Bench::new();
    let cases = read_json("rank/origins.json");
    for case in cases.as_array().unwrap() {
        let [count, pattern] = ["count", "pattern"].map(|name| case[name].as_u64().unwrap() as u32);
        let origins: Vec<u32> = (0..count)
            .map(|i| match pattern {
                0 | 1 => pattern,
                _ => (17 * i + i / 13) % 3,
            })
            .collect();
        let sections = check_origins(&mut bench, &format!("{count} of pattern {pattern}"), &origins);
        for (at, section) in sections.iter().enumerate() {
            assert_eq!(4 * section.len() as u64, case["bytes"][at].as_u64().unwrap());
            if let Some(digits) = case.get(SECTIONS[at]) {
                assert_eq!(section, &hex_words(digits), "{count} of pattern {pattern}");
            }
        }
    }
    assert_eq!(cases.as_array().unwrap().len(), 13 * 3);
}

#[test]
fn sections_of_index_files() {
    let mut bench = Bench::new();
    let cases = read_json("rank/indexes.json");
    for case in cases.as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let digits = case["origins"].as_str().unwrap().bytes();
        let origins: Vec<u32> = digits.map(|digit| u32::from(digit - b'0')).collect();
        let sections = check_origins(&mut bench, name, &origins);
        assert_eq!(sections, SECTIONS.map(|section| hex_words(&case[section])), "{name}");
    }
    assert_eq!(cases.as_array().unwrap().len(), 41);
}

#[test]
fn long_streams_of_origins() {
    let mut bench = Bench::new();
    let mut random = Xorshift(3);
    for n in [7_679, 7_680, 7_681, 100_003] {
        let origins: Vec<u32> = (0..n).map(|_| random.below(3)).collect();
        check_origins(&mut bench, "random", &origins);
    }
}

#[test]
fn the_first_invalid_origin_is_named() {
    let mut bench = Bench::new();
    let lengths_and_wrong: [(usize, &[(usize, u32)]); 7] = [
        (1, &[(0, 3)]),
        (16, &[(15, u32::MAX), (14, 3)]),
        (121, &[(120, 1 << 31)]),
        (121, &[(2, 3), (1, 4), (3, 5)]),
        (1_921, &[(1_919, 256), (1_920, 3)]),
        (20_000, &[(19_999, 3), (7_681, 77), (7_680, 65_537)]),
        (20_000, &[(4, 3), (5, 3), (19_999, 3)]),
    ];
    for (length, wrong) in lengths_and_wrong {
        let mut origins: Vec<u32> = (0..length as u32).map(|i| i % 3).collect();
        wrong.iter().for_each(|&(at, origin)| origins[at] = origin);
        let first = wrong.iter().map(|&(at, _)| at).min().unwrap();
        let message = format!(
            "node `classes`: occurrence {first}: its origin is neither 0 (native) nor 1 (main) nor 2 (secondary)"
        );
        let symbols = [("n", length as u64)];
        let refused = bench.refuse("rank/index-rank", &symbols, &[("origins", bytes(&origins))]);
        assert_eq!(refused, [message.clone(), message]);
    }
}

#[test]
fn the_first_invalid_population_is_named() {
    let mut bench = Bench::new();
    // Occurrences, and populations that are too high.
    let cases: [(usize, &[(usize, u32)]); 6] = [
        (1, &[(0, 2)]),
        (31, &[(2, 2), (1, 16)]),
        (300, &[(19, 0x80)]),
        (299, &[(19, 15)]),
        (15 * 4_100, &[(4_099, 255), (4_096, 16)]),
        (15 * 4_100, &[(0, 16), (4_096, 16)]),
    ];
    for (n, wrong) in cases {
        let mut populations = vec![1; n.div_ceil(15)];
        wrong.iter().for_each(|&(at, population)| populations[at] = population);
        let first = wrong.iter().map(|&(at, _)| at).min().unwrap();
        let message =
            format!("node `classes`: group {first}: its population is above its number of occurrences");
        let inputs = [("populations", population_bytes(&populations))];
        let refused = bench.refuse("rank/rank15_classes", &[("n", n as u64)], &inputs);
        assert_eq!(refused, [message.clone(), message]);
    }
}
