//! The walk-through of docs/guide.md, done in an empty folder: what it tells readers to write and what it says they see.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::run::{Gpu, GpuBackend, Program};

#[path = "../examples/count_bytes.rs"]
#[expect(dead_code, reason = "its main is for people")]
mod count_bytes;
#[path = "../examples/sort.rs"]
#[expect(dead_code, reason = "its main is for people")]
mod sort;

/// A fenced block of the guide.
struct Block<'a> {
    language: &'a str,
    text: &'a str,
}

fn blocks(guide: &str) -> Vec<Block<'_>> {
    let fenced = guide.split("```").skip(1).step_by(2);
    fenced
        .map(|block| {
            let (language, text) = block.split_once('\n').unwrap();
            Block { language, text }
        })
        .collect()
}

/// Runs each command of a console block and gives the block again with what was really printed.
fn run(block: &str, folder: &Path) -> String {
    let mut seen = String::new();
    for line in block.lines().filter(|line| line.starts_with("$ weft ")) {
        let (arguments, target) =
            line["$ weft ".len()..].split_once(" > ").unwrap_or((&line["$ weft ".len()..], ""));
        let mut command = Command::new(env!("CARGO_BIN_EXE_weft"));
        command.env("COLUMNS", "100");
        let output = command.current_dir(folder).args(arguments.split(' ')).output().unwrap();
        seen += &format!("{line}\n");
        if target.is_empty() {
            seen += &String::from_utf8_lossy(&output.stdout);
        } else {
            fs::write(folder.join(target), output.stdout).unwrap();
        }
        seen += &String::from_utf8_lossy(&output.stderr);
    }
    seen
}

/// The text without what differs from machine to machine and from run to run, and nothing else: times and what is worked
/// out from them, device names, the arenas of a device (they depend on its alignment), identities (they depend on weft's
/// version), and the widths of columns.
fn masked(text: &str) -> String {
    let mut lines = String::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let device = match words.first() {
            Some(&"ran") => words.iter().position(|&word| word == "on"),
            _ if line.contains(" with ") || line.contains(": all equal on ") => {
                words.iter().position(|&word| word == "on").filter(|_| !line.starts_with(' '))
            }
            _ => None,
        };
        let end = device.map_or(words.len(), |at| at + 1);
        for (index, word) in words[..end].iter().enumerate() {
            let next = words.get(index + 1).copied().unwrap_or("");
            let is_hash = word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
            let is_arenas = words.get(index + 1..index + 4) == Some(&["B", "of", "arenas"][..]);
            lines += match word.trim_end_matches([',', ';', ':']) {
                _ if is_hash => "IDENTITY",
                _ if is_arenas => "N",
                number if is_measured(number, next) => "N",
                unit if is_unit(unit) && index > 0 && is_measured(words[index - 1], word) => "UNIT",
                _ => word,
            };
            lines.push(' ');
        }
        lines += if device.is_some() { "DEVICE\n" } else { "\n" };
    }
    lines
}

/// The first words of a profile's lines, down to where it judges times: which lines there are does not depend on them.
fn outline(profile: &str) -> Vec<&str> {
    let lines = profile.lines().take_while(|line| !line.starts_with("The nodes add up"));
    lines.map(|line| line.split_whitespace().next().unwrap_or("")).collect()
}

/// Whether a word is a time, or a share or rate, which weft prints with one decimal.
fn is_measured(word: &str, next: &str) -> bool {
    let one_decimal = word.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 1);
    word.parse::<f64>().is_ok() && (one_decimal || is_unit(next))
}

fn is_unit(word: &str) -> bool {
    ["s", "ms", "µs", "ns"].contains(&word.trim_end_matches([',', ';', ':']))
}

/// Replaces the part of a file between two texts, the first included.
fn rewrite(path: &Path, from: &str, to: &str, new: &str) {
    let text = fs::read_to_string(path).unwrap();
    let start = text.find(from).unwrap();
    let end = start + text[start..].find(to).unwrap();
    fs::write(path, format!("{}{new}{}", &text[..start], &text[end..])).unwrap();
}

#[test]
fn the_guide_shows_what_happens() {
    let guide = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/guide.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let mut written = 0;
    for block in blocks(&guide) {
        if block.language == "console" {
            let seen = run(block.text, folder.path());
            if block.text.starts_with("$ weft profile ") {
                assert_eq!(outline(&seen), outline(block.text));
                continue;
            }
            let runs = ["$ weft run ", "$ weft verify "];
            match runs.iter().any(|command| block.text.contains(command)) {
                true => assert_eq!(masked(&seen), masked(block.text)),
                false => assert_eq!(seen, block.text),
            }
            continue;
        }
        written += 1;
        match written {
            1 => fs::write(at("count_equal.yaml"), block.text).unwrap(),
            2 => fs::write(at("count_equal.wgsl"), block.text).unwrap(),
            3 => {
                // "Correct the pass file, and let the kernel begin like this"
                rewrite(&at("count_equal.wgsl"), "@compute", "    // The last word", block.text);
                rewrite(&at("count_equal.yaml"), "[wanted, bytes]", "\n", "[bytes, wanted]");
                rewrite(&at("count_equal.yaml"), "words,", " len", "word,");
                rewrite(&at("count_equal.yaml"), "acumulate", "}", "accumulate");
            }
            4 => fs::write(at("count_bytes.yaml"), block.text).unwrap(),
            5 => rewrite(&at("count_bytes.yaml"), "nodes:", "outputs:", block.text),
            6 => fs::write(at("note.txt"), block.text).unwrap(),
            7 => {
                fs::create_dir_all(at("mine/scan")).unwrap();
                fs::write(at("mine/scan/tile_sums.wgsl"), block.text).unwrap();
            }
            _ => panic!("the guide has a file that this test does not know:\n{}", block.text),
        }
    }
    assert!(fs::read_to_string(at("count_bytes.svg")).unwrap().contains("976.57 KiB"));
    assert!(fs::metadata(at("graph.schema.json")).unwrap().len() > 0);
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/count_bytes");
    for name in ["count_equal.yaml", "count_equal.wgsl", "count_bytes.yaml"] {
        let (guides, examples) = (fs::read_to_string(at(name)), fs::read_to_string(example.join(name)));
        assert_eq!(guides.unwrap(), examples.unwrap(), "{name} of the guide and of the example");
    }
}

#[test]
fn the_example_sorts() {
    let keys = sort::numbers(5000);
    let symbols = BTreeMap::from([("n".to_owned(), keys.len() as u64)]);
    let mut backend = sort::best_backend();
    let graph = Graph::load(Library::default(), "sort/radix").unwrap();
    let program = Program::new(Arc::new(graph), &symbols, &backend.plan_options()).unwrap();
    let (sorted, times) = sort::sort(&program, backend.as_mut(), &keys).unwrap();
    let mut expected = keys;
    expected.sort_unstable();
    assert_eq!(sorted, expected);
    assert_eq!(times.nodes.len(), 20);
}

#[test]
fn the_example_counts_bytes() {
    let mut backend = GpuBackend::new(Arc::new(Gpu::open(None).unwrap()));
    for bytes in [1, 3, 4, 35, 1023, 1025, 100_003] {
        let content: Vec<u8> = (0..bytes).map(|index: usize| (index * index % 251) as u8).collect();
        let expected = content.iter().filter(|&&byte| byte == 4).count();
        assert_eq!(count_bytes::count_bytes(&mut backend, &content, 4).unwrap() as usize, expected);
    }
}

#[test]
fn the_readme_shows_the_picture_that_weft_draws() {
    let mut show = Command::new(env!("CARGO_BIN_EXE_weft"));
    let output = show.args(["show", "scan/exclusive", "--set", "n=2^20"]).output().unwrap();
    let picture = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/scan-exclusive.svg");
    let drawn = String::from_utf8(output.stdout).unwrap();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&picture, &drawn).unwrap();
    }
    let same = drawn == fs::read_to_string(&picture).unwrap();
    assert!(same, "UPDATE_EXPECT=1 rewrites {}", picture.display());
}
