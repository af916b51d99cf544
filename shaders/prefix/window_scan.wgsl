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

// The bits of the tile's records, then their windows. Neighbouring lanes read and store neighbouring records, and in between
// each lane joins four in a row; a slot's place is such that both ways touch all banks.
var<workgroup> first_words: array<u32, TILE_RECORDS>;
var<workgroup> second_words: array<u32, TILE_RECORDS>;

fn slot_of(index: u32) -> u32 {
    return index ^ ((index / 32u) % 4u);
}

fn slot_bits(index: u32) -> vec2<u32> {
    let slot = slot_of(index);
    return vec2<u32>(first_words[slot], second_words[slot]);
}

fn set_slot(index: u32, bits: vec2<u32>) {
    let slot = slot_of(index);
    first_words[slot] = bits.x;
    second_words[slot] = bits.y;
}

fn read_record(tile: u32, index: u32, start: u32) {
    let record = tile * TILE_RECORDS + index;
    var bits = vec2<u32>(0u);
    if record < params.records {
        let at = record / 4u;
        let lane = record % 4u;
        bits = record_bits(record, literal_starts[at][lane], key_bits[at][lane], retained[at][lane], start);
    }
    set_slot(index, bits);
}

fn store_window(tile: u32, index: u32) {
    let record = tile * TILE_RECORDS + index;
    if record < params.records {
        windows[record] = slot_bits(index);
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
    read_record(tile, lane, start);
    read_record(tile, lane + GROUP, start);
    read_record(tile, lane + 2u * GROUP, start);
    read_record(tile, lane + 3u * GROUP, start);
    workgroupBarrier();

    let index = 4u * lane;
    let kept = kept_bits(tile * TILE_RECORDS + index, start);
    var a = Part(slot_bits(index), kept.x);
    let b = Part(slot_bits(index + 1u), kept.y);
    let c = Part(slot_bits(index + 2u), kept.z);
    let d = Part(slot_bits(index + 3u), kept.w);
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
    set_slot(index, at_a.bits);
    set_slot(index + 1u, at_b.bits);
    set_slot(index + 2u, at_c.bits);
    set_slot(index + 3u, joined(at_c, d).bits);
    workgroupBarrier();

    store_window(tile, lane);
    store_window(tile, lane + GROUP);
    store_window(tile, lane + 2u * GROUP);
    store_window(tile, lane + 3u * GROUP);
}
