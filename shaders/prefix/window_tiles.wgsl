// What each tile of records makes of the window before it.

@group(0) @binding(6) var<storage, read_write> tiles: array<vec4<u32>>;

@compute @workgroup_size(GROUP)
fn window_tiles(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let tile = linear_workgroup(group, groups);
    if tile >= ceil_div(params.records, TILE_RECORDS) {
        return;
    }
    let parts = lane_parts(tile, lane);
    let own = joined(joined(parts[0], parts[1]), joined(parts[2], parts[3]));
    let all = workgroup_joined(lane, own).all;
    if lane == 0u {
        tiles[tile] = vec4<u32>(all.bits, all.kept, 0u);
    }
}
