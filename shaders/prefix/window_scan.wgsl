// The windows of each tile, from the window before it. That is put together from the tiles before, GROUP of them at a time,
// back to where nothing is kept: in most files the first time.

@group(0) @binding(6) var<storage, read> tiles: array<vec4<u32>>;
@group(0) @binding(7) var<storage, read_write> windows: array<vec2<u32>>;

var<workgroup> goes_on: u32;

fn window_before(tile: u32, lane: u32) -> Part {
    var base = NO_RECORDS;
    var end = tile;
    loop {
        if lane == 0u {
            goes_on = u32(end > 0u && base.kept > 0u);
        }
        if workgroupUniformLoad(&goes_on) == 0u {
            break;
        }
        let first = end - min(end, GROUP);
        var run = NO_RECORDS;
        if first + lane < end {
            let stored = tiles[first + lane];
            run = Part(stored.xy, stored.z);
        }
        base = joined(workgroup_joined(lane, run).all, base);
        end = first;
    }
    return base;
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
    let parts = lane_parts(tile, lane);
    let base = window_before(tile, lane);
    let own = joined(joined(parts[0], parts[1]), joined(parts[2], parts[3]));
    let before = joined(base, workgroup_joined(lane, own).before);

    let a = joined(before, parts[0]);
    let b = joined(a, parts[1]);
    let c = joined(b, parts[2]);
    let record = tile * TILE_RECORDS + 4u * lane;
    put(record, a);
    put(record + 1u, b);
    put(record + 2u, c);
    put(record + 3u, joined(c, parts[3]));
}

fn put(record: u32, window: Part) {
    if record < params.records {
        windows[record] = window.bits;
    }
}
