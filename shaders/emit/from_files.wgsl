// What an output record copies lies in the payload of an input. emit/from_arena.wgsl declares the same for an arena.

struct Params {
    older_records: u32,
}
var<immediate> params: Params;

// The bindings are past those of any pass.
@group(0) @binding(8) var<storage, read> older: array<u32>;
@group(0) @binding(9) var<storage, read> newer: array<u32>;
@group(0) @binding(10) var<storage, read> literal_starts: array<u32>;
@group(0) @binding(12) var<storage, read> retained: array<u32>;

// Which input, and from which bit of its payload on.
struct Source {
    in_newer: bool,
    at: u32,
}

// Where a record's key lies from bit `first` on, with the value behind it.
fn source_of(record: u32, first: u32) -> Source {
    return Source(record >= params.older_records, literal_starts[record] + first - retained[record]);
}

// 32 bits of a source from bit `at` on.
fn source_window(source: Source, at: u32) -> u32 {
    return payload_window(source.in_newer, source.at + at);
}
