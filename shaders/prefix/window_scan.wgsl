// The windows of each tile, from the window before it. A workgroup puts that together by itself, from the spans before its
// own and the tiles before it in that.

// Tiles in a span.
override SPAN_TILES: u32 = 256u;

@group(0) @binding(6) var<storage, read> tiles: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> windows: array<vec2<u32>>;

// Everything before a tile, in lane 0. Each lane joins as many neighbouring runs as it takes: one or two where an input has
// fewer than 2^24 records.
fn all_before(tile: u32, lane: u32) -> Part {
    let n_spans = tile / SPAN_TILES;
    let first_tile = n_spans * SPAN_TILES;
    let n = n_spans + tile - first_tile;
    let each = ceil_div(n, GROUP);
    var run = NO_RECORDS;
    for (var i = each * lane; i < min(each * (lane + 1u), n); i += 1u) {
        // The last tile of a span before has all of it.
        let at = select(first_tile + (i - n_spans), SPAN_TILES * (i + 1u) - 1u, i < n_spans);
        run = joined(run, unpacked(tiles[at]));
    }
    return all_lanes(lane, run);
}

fn put(record: u32, window: Part) {
    if record < params.records {
        windows[record] = window.bits;
    }
}

@compute @workgroup_size(GROUP)
fn window_scan(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let tile = linear_workgroup(group, groups);
    if tile >= ceil_div(params.records, TILE_RECORDS) {
        return;
    }
    let start = window_bit();
    let at = tile * GROUP + lane;
    let record = 4u * at;
    let literal = literal_starts[at];
    let key = key_bits[at];
    let takes_over = retained[at];
    var a = part_of(record, literal.x, key.x, takes_over.x, start);
    let b = part_of(record + 1u, literal.y, key.y, takes_over.y, start);
    let c = part_of(record + 2u, literal.z, key.z, takes_over.z, start);
    let d = part_of(record + 3u, literal.w, key.w, takes_over.w, start);

    // What is before the tile goes in with its first record.
    if tile > 0u {
        let base = all_before(tile, lane);
        if lane == 0u {
            a = joined(base, a);
        }
    }
    let own = joined(joined(a, b), joined(c, d));
    let at_a = joined(lanes_before(lane, own), a);
    let at_b = joined(at_a, b);
    let at_c = joined(at_b, c);
    put(record, at_a);
    put(record + 1u, at_b);
    put(record + 2u, at_c);
    put(record + 3u, joined(at_c, d));
}
