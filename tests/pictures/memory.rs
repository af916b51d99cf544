//! Pictures of memory plans: the chart in the terminal and the SVG.

use std::collections::BTreeMap;

use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::plan::{Options, plan};
use weft::report::memory::{Memory, Role, Touch, chart, svg};
use weft::report::svg::Theme;

use super::{leave, xml};

fn memory(graph: &str, symbols: &[(&str, u64)]) -> Memory {
    let graph = Graph::load(Library::default(), graph).expect("a shipped graph");
    let symbols: BTreeMap<String, u64> = symbols.iter().map(|&(name, n)| (name.to_owned(), n)).collect();
    let plan = plan(&graph, &symbols, &Options::default()).expect("a plan");
    Memory::new(&graph, &plan)
}

fn scan() -> Memory {
    memory("scan/exclusive", &[("n", 1 << 20)])
}

fn baseline() -> Memory {
    let graph = Graph::load(Library::default(), "kv03/baseline").expect("a shipped graph");
    let numbers = |symbol: &str| match symbol.split_once('_').map(|(_, what)| what) {
        Some("records") => 1000,
        Some("words") => 4000,
        Some("payload_bits" | "universe") => 120_000,
        Some("last_key_bits") => 64,
        Some("low_width") => 10,
        _ => 0,
    };
    let symbols: Vec<(&str, u64)> =
        graph.symbols.iter().map(|symbol| (symbol.name.as_str(), numbers(&symbol.name))).collect();
    memory("kv03/baseline", &symbols)
}

#[test]
fn the_model_says_who_touches_what() {
    let memory = scan();
    let by_name = |name: &str| memory.lifetimes.iter().find(|life| life.name == name).expect(name);
    let touches = |name: &str| by_name(name).touches.clone().into_iter().collect::<Vec<_>>();
    assert_eq!(touches("items"), [(0, Touch::Read), (2, Touch::Read)]);
    assert_eq!(touches("tiles.sums"), [(0, Touch::Write), (1, Touch::Read), (2, Touch::Read)]);
    assert_eq!((by_name("items").role, by_name("apply.sums").role), (Role::Given, Role::Output));
    assert_eq!(
        memory.steps.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(),
        ["tiles", "spans", "apply"]
    );
}

#[test]
fn the_chart_of_a_scan() {
    let expected = "                                0  1  2
  items              4.00 MiB 0 r─────r
  {value: n}             16 B 0 r──r──r
  tiles.sums         1.00 KiB 1 w──r──r
  spans.spans            16 B 2    w──r
  apply.sums         4.00 MiB 3       w
  apply.total            16 B 3       w
  live in all, most  8.00 MiB   ▅  ▅  █
  w written, r read, u updated in place, ─ live, │ the host waits
";
    let chart = chart(&scan(), 100);
    let drawn = chart.lines().map(str::trim_end).collect::<Vec<_>>();
    assert_eq!(drawn, expected.lines().collect::<Vec<_>>(), "\n{chart}");
}

#[test]
fn charts_fit_their_width_and_show_every_node() {
    for memory in [scan(), baseline()] {
        for width in [60, 80, 100, 160, 240] {
            let chart = chart(&memory, width);
            assert!(chart.lines().all(|line| line.chars().count() <= width), "{width}:\n{chart}");
            assert!(chart.lines().count() - memory.lifetimes.len() <= 5);
        }
        // Where every node has a column of its own, all marks are there.
        let chart = chart(&memory, 240);
        let marks = memory.lifetimes.iter().map(|life| life.touches.len()).sum::<usize>();
        let first = chart.lines().next().and_then(|ruler| ruler.find('0')).expect("a ruler");
        let cells = |line: &str| line.chars().skip(first).collect::<String>();
        let rows = chart.lines().skip(1).take(memory.lifetimes.len()).map(cells).collect::<String>();
        assert_eq!(rows.chars().filter(|c| "wru".contains(*c)).count(), marks, "\n{chart}");
    }
}

#[test]
fn the_drawing_shows_every_buffer_twice_and_every_node() {
    for (name, memory) in [("scan", scan()), ("baseline", baseline())] {
        let text = svg(&memory, Theme::Auto);
        assert_eq!(xml::check(&text), Ok(()));
        assert_eq!(text.matches("class=\"bar\"").count(), memory.lifetimes.len());
        assert_eq!(text.matches("class=\"tenant\"").count(), memory.lifetimes.len());
        assert_eq!(text.matches("data-node=").count(), memory.steps.len());
        leave(&format!("memory-{name}.svg"), &text);
    }
}

#[test]
fn hostile_names_are_escaped() {
    let mut memory = scan();
    let hostile = "</text><script>alert('1')</script>&\u{0}\"";
    memory.graph = hostile.into();
    memory.identity = hostile.into();
    memory.steps.iter_mut().for_each(|step| step.name = hostile.into());
    memory
        .lifetimes
        .iter_mut()
        .for_each(|life| (life.name, life.versions) = (hostile.into(), vec![hostile.into(); 2]));
    assert_eq!(xml::check(&svg(&memory, Theme::Light)), Ok(()));
    assert!(chart(&memory, 100).lines().all(|line| !line.chars().any(char::is_control)));
}
