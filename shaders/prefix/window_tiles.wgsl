// What each tile of records makes of the window before it, and in a second step what each span of tiles does that another span
// follows, in place of its last tile: no tile of its own span asks for that one.
//
// Bits of a record outlast the tile up to the least that a later record keeps, so only those records are read that keep less
// than all behind them: at most 64 of a tile.

// Tiles in a span: at most GROUP.
override SPAN_TILES: u32 = 256u;

struct Params {
    records: u32,
    older_records: u32,
    step: u32,
}
var<immediate> params: Params;

@group(0) @binding(6) var<storage, read_write> tiles: array<vec4<u32>>;

// The least that lanes keep, in a tree as that of window_runs.wgsl.
var<workgroup> least: array<u32, SIXTY_FOURS + GROUP / 64u>;
var<workgroup> window: array<atomic<u32>, 2>;

// The least of a node's siblings behind it.
fn siblings_behind(level: u32, node: u32) -> u32 {
    let place = node % 4u;
    let last = level + node - place + 3u;
    let one = select(WINDOW_BITS, least[last], place < 3u);
    let two = select(WINDOW_BITS, least[last - 1u], place < 2u);
    let three = select(WINDOW_BITS, least[last - 2u], place < 1u);
    return min(min(one, two), three);
}

// The least that the lanes behind this one keep. Control flow must be uniform.
fn least_behind(lane: u32, own: u32) -> u32 {
    least[lane] = own;
    workgroupBarrier();
    var behind = siblings_behind(0u, lane);
    // The first lane of a node knows all of it.
    if lane % 4u == 0u {
        least[FOURS + lane / 4u] = min(own, behind);
    }
    workgroupBarrier();
    behind = min(behind, siblings_behind(FOURS, lane / 4u));
    if lane % 16u == 0u {
        least[SIXTEENS + lane / 16u] = min(own, behind);
    }
    workgroupBarrier();
    behind = min(behind, siblings_behind(SIXTEENS, lane / 16u));
    if lane % 64u == 0u {
        least[SIXTY_FOURS + lane / 64u] = min(own, behind);
    }
    workgroupBarrier();
    return min(behind, siblings_behind(SIXTY_FOURS, lane / 64u));
}

// Adds what outlasts the tile of a record that keeps `kept` bits, those behind it `behind`.
fn add(record: u32, kept: u32, behind: u32, start: u32) {
    if kept >= behind {
        return;
    }
    let at = record / 4u;
    let lane = record % 4u;
    let bits = record_bits(record, literal_starts[at][lane], key_bits[at][lane], retained[at][lane], start);
    let lasting = window_start(bits, behind);
    atomicOr(&window[0], lasting.x);
    atomicOr(&window[1], lasting.y);
}

fn write_tile(tile: u32, lane: u32) {
    let start = window_bit();
    let record = tile * TILE_RECORDS + 4u * lane;
    let kept = kept_bits(record, start);
    // The least of the records behind each of the four, and behind the one before them.
    let w = least_behind(lane, min(min(kept.x, kept.y), min(kept.z, kept.w)));
    let z = min(w, kept.w);
    let y = min(z, kept.z);
    let x = min(y, kept.y);
    add(record, kept.x, x, start);
    add(record + 1u, kept.y, y, start);
    add(record + 2u, kept.z, z, start);
    add(record + 3u, kept.w, w, start);
    workgroupBarrier();
    if lane == 0u {
        tiles[tile] = packed(Part(vec2<u32>(atomicLoad(&window[0]), atomicLoad(&window[1])), min(x, kept.x)));
    }
}

// Lane t has tile t of the span.
fn write_span(span: u32, lane: u32) {
    let first = span * SPAN_TILES;
    var own = NO_RECORDS;
    if lane < SPAN_TILES {
        own = unpacked(tiles[first + lane]);
    }
    let all = all_lanes(lane, own);
    if lane == 0u {
        tiles[first + SPAN_TILES - 1u] = packed(all);
    }
}

@compute @workgroup_size(GROUP)
fn window_tiles(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let index = linear_workgroup(group, groups);
    let n = ceil_div(params.records, TILE_RECORDS);
    if params.step == 0u {
        if index < n {
            write_tile(index, lane);
        }
    } else if (index + 1u) * SPAN_TILES < n {
        write_span(index, lane);
    }
}
