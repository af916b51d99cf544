//! HTML reports, without a browser: what they consist of, that nothing is fetched, that no text becomes markup.
//! `tools/browser-test` tries them in one.

use std::collections::BTreeMap;
use std::sync::Arc;

use weft::graph::model::Graph;
use weft::graph::source::Library;
use weft::report::compare::measure::{Contender, measure};
use weft::report::compare::{Settings, judge};
use weft::report::html;
use weft::report::profile::{Options, Profile, profile};
use weft::run::{Backend, Program, ReferenceBackend};

use super::{leave, xml};

/// A profile of the scalar references; what it measures does not matter here.
fn measured() -> (Profile, Program) {
    let graph = Graph::load(Library::default(), "sort/radix").expect("a shipped graph");
    let mut backend = ReferenceBackend::new();
    let symbols = BTreeMap::from([("n".to_owned(), 1000)]);
    let program = Program::new(Arc::new(graph), &symbols, &backend.plan_options()).expect("a program");
    let keys: Vec<u8> =
        (0..1000_u32).flat_map(|key| (key.wrapping_mul(2_654_435_761)).to_le_bytes()).collect();
    let options = Options { runs: 3, ..Options::default() };
    let measured = profile(&program, &mut backend, &[("keys", &keys)], options, &mut |_, _| {});
    (measured.expect("a profile"), program)
}

/// The page without what is no markup: styles and scripts, which must not be in it twice or unclosed.
fn markup(page: &str) -> String {
    let page = page.strip_prefix("<!DOCTYPE html>\n").expect("a document type");
    let mut markup = String::new();
    let mut rest = page;
    while let Some(at) = rest.find("<style>").into_iter().chain(rest.find("<script")).min() {
        let name = if rest[at..].starts_with("<style>") { "style" } else { "script" };
        let end = format!("</{name}>");
        let length = rest[at..].find(&end).expect("an end") + end.len();
        markup.push_str(&rest[..at]);
        rest = &rest[at + length..];
    }
    markup.push_str(rest);
    markup
}

fn between<'a>(page: &'a str, begin: &str, end: &str) -> &'a str {
    let from = page.find(begin).expect(begin) + begin.len();
    &page[from..from + page[from..].find(end).expect(end)]
}

#[test]
fn a_report_is_well_formed_and_needs_nothing_else() {
    let (profile, program) = measured();
    let page = html::profile(&profile, &program.graph, &program.plan).expect("a report");
    leave("report.html", &page);
    assert_eq!(xml::check(&markup(&page)), Ok(()));
    let without_names = page.replace("http://www.w3.org/2000/svg", "");
    for fetched in ["http:", "https:", "src=", "url(", "@import", "<link", "<base", "fetch(", "import("] {
        assert!(!without_names.contains(fetched), "{fetched}");
    }
    assert!(page.contains("default-src 'none'"));
}

#[test]
fn every_node_is_in_every_view() {
    let (profile, program) = measured();
    let page = html::profile(&profile, &program.graph, &program.plan).expect("a report");
    let views = ["table", "dag", "lifetimes"].map(|id| {
        let end = if id == "table" { "</table>" } else { "</svg></div>" };
        between(&page, &format!("id=\"{id}\""), end).to_owned() + ">"
    });
    let details = between(&page, "<aside", "</aside>");
    for at in 0..profile.nodes.len() {
        let mark = format!("data-node=\"{at}\"");
        let counts = [&views[0], &views[1], &views[2]].map(|view| view.matches(&mark).count());
        assert_eq!(counts[0], 1, "{at}");
        assert_eq!(counts[2], 1, "{at}");
        assert!(page.matches(&mark).count() >= 3, "{at}");
        assert_eq!(details.matches(&format!("data-details=\"{at}\"")).count(), 1);
    }
    let data = between(&page, "<script type=\"application/json\" id=\"data\">", "</script>");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    assert_eq!(data["nodes"].as_array().map(Vec::len), Some(profile.nodes.len()));
    assert_eq!(data["identity"], profile.identity.as_str());
}

#[test]
fn hostile_names_stay_text() {
    let (mut profile, program) = measured();
    let hostile =
        "</script></style><script>alert(1)</script>\"'><img src=x onerror=alert(2)>&amp;<!--\u{2028}\u{0}";
    let mut graph = Graph::clone(&program.graph);
    for (at, node) in graph.nodes.iter_mut().enumerate() {
        node.name = format!("{hostile}{at}");
    }
    graph.values.iter_mut().for_each(|value| value.name.push_str(hostile));
    graph.symbols.iter_mut().for_each(|symbol| symbol.doc.push_str(hostile));
    graph.inputs.iter_mut().for_each(|input| (input.name, input.doc) = (hostile.into(), hostile.into()));
    graph.outputs.iter_mut().for_each(|output| (output.name, output.doc) = (hostile.into(), hostile.into()));
    graph.name = hostile.into();
    (profile.graph, profile.backend, profile.identity) = (hostile.into(), hostile.into(), hostile.into());
    profile.inputs.iter_mut().for_each(|input| input.name = hostile.into());
    profile.untimed = None;
    for (node, &id) in profile.nodes.iter_mut().zip(&program.plan.order) {
        node.node.clone_from(&graph.nodes[id.0 as usize].name);
        (node.pass, node.rule, node.before.why) = (hostile.into(), hostile.into(), hostile.into());
        node.before.port = Some(hostile.into());
    }
    let page = html::profile(&profile, &graph, &program.plan).expect("a report");
    assert_eq!(xml::check(&markup(&page)), Ok(()));
    assert_eq!(page.matches("<script").count(), 2);
    assert!(!page.contains("<img") && !page.contains("<!--"));
    leave("report-hostile.html", &page);
}

#[test]
fn a_comparison_is_a_page_of_its_own() {
    let graph = Arc::new(Graph::load(Library::default(), "scan/exclusive").expect("a shipped graph"));
    let mut backend = ReferenceBackend::new();
    let symbols = BTreeMap::from([("n".to_owned(), 100)]);
    let program = Program::new(graph, &symbols, &backend.plan_options()).expect("a program");
    let items = [1; 400];
    let label = ["first", "<b>second</b>"];
    let contenders = label.map(|label| Contender {
        label: label.to_owned(),
        program: &program,
        inputs: vec![("items", &items[..])],
    });
    let settings = Settings { runs: 20, ..Settings::default() };
    let measured = measure(&mut backend, &contenders, &settings, &mut |_, _| {}).expect("equal outputs");
    let comparison = judge(&measured, settings);
    let page = html::compare(&comparison);
    assert_eq!(xml::check(&markup(&page)), Ok(()));
    assert!(!page.contains("<b>") && page.contains("&lt;b&gt;second&lt;/b&gt; against first"));
    let against = between(&page, "id=\"against-0\"", "</table>");
    let rows = 1 + comparison.against_baseline[0].stages.len();
    assert_eq!(against.matches("class=\"verdict").count(), rows);
    assert_eq!(against.matches("class=\"estimate").count(), rows, "every interval is drawn");
    leave("comparison.html", &page);
}
