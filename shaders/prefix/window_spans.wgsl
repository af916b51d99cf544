// What each span of tiles that another span follows makes of the window before it, in place of its last tile. Lane t has tile t
// of the span.

// Tiles in a span: at most GROUP.
override SPAN_TILES: u32 = 256u;

struct Params {
    records: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read_write> tiles: array<vec4<u32>>;

@compute @workgroup_size(GROUP)
fn window_spans(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let span = linear_workgroup(group, groups);
    if (span + 1u) * SPAN_TILES >= ceil_div(params.records, TILE_RECORDS) {
        return;
    }
    var own = NO_RECORDS;
    if lane < SPAN_TILES {
        own = unpacked(tiles[span * SPAN_TILES + lane]);
    }
    let all = all_lanes(lane, own);
    if lane == 0u {
        tiles[span * SPAN_TILES + SPAN_TILES - 1u] = packed(all);
    }
}
