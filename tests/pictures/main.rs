//! Pictures of graphs: what every layout must keep, on written and on random diagrams, and the files that come of it.
//!
//! The pictures are left in cargo's folder for test files (`target/tmp`), to be looked at.

mod build;
mod random;
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
