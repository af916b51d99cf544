//! Pictures of graphs: what every layout must keep, on written and on random diagrams, and the files that come of it.
//!
//! The pictures are left in cargo's folder for test files (`target/tmp`), to be looked at.

mod build;
mod memory;
mod random;
mod report;
mod shown;
mod text;
mod xml;

use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use weft::report::diagram::Diagram;
use weft::report::dot::dot;
use weft::report::layout::layout;
use weft::report::svg::{Theme, svg};

fn leave(name: &str, text: &str) {
    std::fs::write(format!("{}/{name}", env!("CARGO_TARGET_TMPDIR")), text)
        .expect("the folder for test files");
}

fn baseline() -> Diagram {
    build::parse(
        "kv03/baseline",
        include_str!("baseline.txt"),
        &[
            &["host waits for", "older_input/blocks", "newer_input/blocks"],
            &["host waits for", "survivors"],
            &["host waits for", "inputs of layout"],
            &["host waits for", "payload_bits", "universe, low_width", "exceptions"],
        ],
    )
}

#[test]
fn the_baseline_keeps_what_layouts_promise() {
    let diagram = baseline();
    let placed = layout(&diagram).expect("a consistent diagram");
    random::check(&diagram, &placed).expect("the promises");
    let auto = svg(&diagram, Theme::Auto).expect("a consistent diagram");
    assert_eq!(xml::check(&auto), Ok(()));
    leave("baseline.svg", &auto);
    leave("baseline.dot", &dot(&diagram).expect("a consistent diagram"));
    leave("baseline-dark.svg", &svg(&diagram, Theme::Dark).expect("a consistent diagram"));
}

#[test]
fn two_hundred_boxes_take_well_under_a_second() {
    let mut runner = TestRunner::deterministic();
    for (name, frames, segments) in [("large-plain.svg", false, 0), ("large.svg", true, 5)] {
        let tree = random::diagrams(200..201, frames, segments).new_tree(&mut runner);
        let diagram = tree.expect("a diagram").current();
        let start = Instant::now();
        let placed = layout(&diagram).expect("a consistent diagram");
        let elapsed = start.elapsed();
        leave(name, &svg(&diagram, Theme::Auto).expect("a consistent diagram"));
        random::check(&diagram, &placed).expect("the promises");
        eprintln!("{name}: {} arrows in {elapsed:?}", diagram.edges.len());
        // Ten times what it takes alone, since tests share the processor.
        assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    }
}

#[test]
fn dot_of_two_boxes() {
    let text = "\
input a\"b - - : : _[u32|× n]
device s/t p/<q> 0 : in<-a\"b c=1 : out[u32]
count k ≤_n 0 : _<-s/t.out :
";
    let expected = r##"digraph "two" {
  graph [label=<two<br/>a diagram written by hand>, labelloc=t, fontname=monospace, fontsize=12, newrank=true];
  node [shape=plain, fontname=monospace, fontsize=10];
  edge [fontname=monospace, fontsize=8, arrowsize=0.6];
  "a\"b" [tooltip="a\"b", label=<<table border="1" cellborder="0" cellspacing="0" cellpadding="3" style="rounded" color="#2b7a4b" bgcolor="#e2f4e8"><tr><td><b>a&quot;b</b></td></tr><tr><td cellpadding="0"><table border="0" cellborder="0" cellspacing="0" cellpadding="3"><tr><td port="o0"></td></tr></table></td></tr></table>>];
  subgraph cluster_0 {
    graph [label=<segment 0<br align="left"/>>, labeljust=l, style=dashed, color="#c2410c", fontsize=10];
  "k" [tooltip="k", label=<<table border="1" cellborder="0" cellspacing="0" cellpadding="3" style="dashed" color="#6d4bc4" bgcolor="#ece5fb"><tr><td cellpadding="0"><table border="0" cellborder="0" cellspacing="0" cellpadding="3"><tr><td port="i0"></td></tr></table></td></tr><tr><td><b>k</b></td></tr><tr><td>≤ n</td></tr></table>>];
  subgraph cluster_0_a0 {
    graph [label=<s>, style="rounded,filled", color="#8c9bb5", fillcolor="#e9eef7"];
    "s/t" [tooltip="s/t", label=<<table border="1" cellborder="0" cellspacing="0" cellpadding="3" style="rounded" color="#4a5b7c" bgcolor="#ffffff"><tr><td cellpadding="0"><table border="0" cellborder="0" cellspacing="0" cellpadding="3"><tr><td port="i0">in</td></tr></table></td></tr><tr><td><b>t</b></td></tr><tr><td>p/&lt;q&gt;</td></tr><tr><td>c = 1</td></tr><tr><td cellpadding="0"><table border="0" cellborder="0" cellspacing="0" cellpadding="3"><tr><td port="o0">out</td></tr></table></td></tr></table>>];
  }
  }
  "a\"b":o0:s -> "s/t":i0:n [penwidth=1.0, tooltip="", label=<u32<br/>× n>];
  "s/t":o0:s -> "k":i0:n [penwidth=1.0, tooltip="", label=<u32>];
}
"##;
    assert_eq!(dot(&build::parse("two", text, &[])).expect("a consistent diagram"), expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn plain_diagrams_keep_the_promises(diagram in random::diagrams(1..40, false, 0)) {
        random::check(&diagram, &layout(&diagram).unwrap())?;
    }

    #[test]
    fn framed_and_cut_diagrams_keep_the_promises(diagram in random::diagrams(1..40, true, 4)) {
        random::check(&diagram, &layout(&diagram).unwrap())?;
    }

    #[test]
    fn equal_diagrams_give_equal_pictures(diagram in random::diagrams(1..30, true, 3)) {
        prop_assert_eq!(svg(&diagram, Theme::Auto).unwrap(), svg(&diagram.clone(), Theme::Auto).unwrap());
    }

    #[test]
    fn any_name_gives_well_formed_xml(diagram in random::hostile()) {
        for theme in [Theme::Auto, Theme::Light, Theme::Dark] {
            prop_assert_eq!(xml::check(&svg(&diagram, theme).unwrap()), Ok(()));
        }
    }
}
