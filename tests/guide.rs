//! The walk-through of docs/guide.md, done in an empty folder: what it tells readers to write and what it says they see.

use std::fs;
use std::path::Path;
use std::process::Command;

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
            assert_eq!(run(block.text, folder.path()), block.text);
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
            _ => panic!("the guide has a file that this test does not know:\n{}", block.text),
        }
    }
    assert!(fs::read_to_string(at("count_bytes.svg")).unwrap().contains("976.57 KiB"));
    assert!(fs::metadata(at("graph.schema.json")).unwrap().len() > 0);
}
