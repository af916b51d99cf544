//! A run as a trace that Perfetto and Chrome open: the Trace Event Format.
//!
//! One process, a track for the host and one for the device, a counter of live bytes, and an arrow along every edge of the graph
//! from the node that wrote a value to the node that takes it. Times are microseconds from the beginning of the run. Slices of a
//! track never overlap partly: one that would is cut short, and its `measured_us` says what it was.

use std::collections::BTreeSet;

use petgraph::visit::EdgeRef;
use serde_json::{Value as Json, json};

use super::{Profile, Slice};
use crate::run::Program;

const PROCESS: u32 = 1;
const HOST: u32 = 1;
const DEVICE: u32 = 2;

/// The trace of a profile's timeline.
pub fn trace(profile: &Profile, program: &Program) -> Json {
    let tracks = [("host", HOST), ("device", DEVICE)].map(|(name, track)| {
        json!({"name": "thread_name", "ph": "M", "pid": PROCESS, "tid": track, "args": {"name": name}})
    });
    let process = format!("weft {}", profile.graph);
    let mut events = vec![
        json!({"name": "process_name", "ph": "M", "pid": PROCESS, "tid": HOST, "args": {"name": process}}),
    ];
    events.extend(tracks);
    let timeline = &profile.timeline;
    let host = Track { track: HOST, offset_seconds: 0.0 };
    let device = Track { track: DEVICE, offset_seconds: timeline.device_offset_seconds };
    let mut placed: Vec<Placed> = host.place(&timeline.host);
    placed.extend(device.place(&timeline.device));
    placed.sort_by(|a, b| a.begin_us.total_cmp(&b.begin_us));
    events.extend(placed.iter().map(|slice| slice.event(profile)));
    events.extend(live_bytes(profile, &placed));
    events.extend(arrows(profile, program, &placed));
    json!({
        "displayTimeUnit": "ms",
        "otherData": {
            "graph": profile.graph,
            "identity": profile.identity,
            "backend": profile.backend,
            "clocks": "device times are shifted by the least that lets no segment begin before it was submitted; nothing else relates the clocks",
            "run": timeline.run,
        },
        "traceEvents": events,
    })
}

/// Slices of one clock, to be placed on one track.
struct Track {
    track: u32,
    offset_seconds: f64,
}

/// A slice where it goes.
struct Placed<'p> {
    slice: &'p Slice,
    track: u32,
    begin_us: f64,
    /// What is drawn.
    length_us: f64,
}

impl Track {
    fn place<'p>(&self, slices: &'p [Slice]) -> Vec<Placed<'p>> {
        let mut placed: Vec<Placed<'p>> = Vec::with_capacity(slices.len());
        for slice in slices {
            let begin_us = ((slice.begin_seconds + self.offset_seconds) * 1e6).max(0.0);
            // A host node runs while its segment is being encoded, and a slice may end where the next begins.
            if let Some(last) = placed.last_mut()
                && last.end_us() > begin_us
                && last.end_us() < begin_us + slice.seconds * 1e6
            {
                last.length_us = begin_us - last.begin_us;
            }
            placed.push(Placed {
                slice,
                track: self.track,
                begin_us,
                length_us: (slice.seconds * 1e6).max(0.0),
            });
        }
        placed
    }
}

impl Placed<'_> {
    fn end_us(&self) -> f64 {
        self.begin_us + self.length_us
    }

    fn event(&self, profile: &Profile) -> Json {
        let mut args = json!({"measured_us": self.slice.seconds * 1e6});
        if let Some(node) = self.slice.node.and_then(|index| profile.nodes.get(index)) {
            args["pass"] = json!(node.pass);
            args["segment"] = json!(node.segment);
            args["groups"] = json!(node.groups);
            args["read_bytes"] = json!(node.read_bytes);
            args["write_bytes"] = json!(node.write_bytes);
            args["waits_for"] = json!(node.before.why);
        }
        let category = if self.slice.node.is_some() { "node" } else { "host" };
        json!({
            "name": self.slice.name, "cat": category, "ph": "X", "pid": PROCESS, "tid": self.track,
            "ts": self.begin_us, "dur": self.length_us, "args": args,
        })
    }
}

/// Bytes of live values, from the beginning of each node on.
fn live_bytes(profile: &Profile, placed: &[Placed<'_>]) -> Vec<Json> {
    let counter = |at_us: f64, bytes: u64| json!({"name": "live bytes", "ph": "C", "pid": PROCESS, "tid": HOST, "ts": at_us, "args": {"bytes": bytes}});
    let nodes = placed.iter().filter_map(|slice| Some((slice.begin_us, &profile.nodes[slice.slice.node?])));
    let mut counters: Vec<Json> = nodes.map(|(at, node)| counter(at, node.live_bytes)).collect();
    if let Some(end) = placed.iter().map(Placed::end_us).reduce(f64::max) {
        counters.push(counter(end, 0));
    }
    counters
}

/// An arrow along every edge whose nodes were both timed.
fn arrows(profile: &Profile, program: &Program, placed: &[Placed<'_>]) -> Vec<Json> {
    let graph = &program.graph;
    let slice_of = |name: &str| {
        placed.iter().find(|slice| slice.slice.node.is_some_and(|index| profile.nodes[index].node == name))
    };
    let mut drawn = BTreeSet::new();
    let mut events = Vec::new();
    for edge in graph.dag.edge_references() {
        let (from, to) = (graph.dag[edge.source()], graph.dag[edge.target()]);
        let value = &graph.values[edge.weight().value.0 as usize];
        if !drawn.insert((from, to, edge.weight().value)) {
            continue;
        }
        let (from, to) = (&program.node(from).name, &program.node(to).name);
        let (Some(from), Some(to)) = (slice_of(from), slice_of(to)) else { continue };
        let id = events.len() / 2 + 1;
        let flow = |phase: &str, slice: &Placed<'_>, at_us: f64| {
            json!({
                "name": value.name, "cat": "value", "ph": phase, "id": id, "pid": PROCESS, "tid": slice.track, "ts": at_us,
            })
        };
        // An arrow begins and ends inside of slices, or it is not drawn.
        events.push(flow("s", from, from.begin_us));
        let mut end = flow("f", to, to.begin_us.max(from.begin_us));
        end["bp"] = json!("e");
        events.push(end);
    }
    events
}
