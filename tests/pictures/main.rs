//! Pictures of graphs: what every layout must keep, on written and on random diagrams, and the files that come of it.
//!
//! The pictures are left in cargo's folder for test files (`target/tmp`), to be looked at.

mod build;

use std::time::Instant;

use weft::report::diagram::Diagram;
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
fn draws_the_baseline() {
    let diagram = baseline();
    let start = Instant::now();
    let light = svg(&diagram, Theme::Auto).expect("a consistent diagram");
    eprintln!("{:?}, {} bytes", start.elapsed(), light.len());
    leave("baseline.svg", &light);
    leave("baseline-dark.svg", &svg(&diagram, Theme::Dark).expect("a consistent diagram"));
}
