// How many entries of each group are listed among the exceptions, all or none, and how many of groups before it. Groups are
// few, one for 3,840 records, so one workgroup goes through them.

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
@group(0) @binding(3) var<storage, read_write> begins: array<u32>;
@group(0) @binding(4) var<storage, read_write> total: array<u32>;

// Entries of a group that are listed.
fn listed(g: u32, entries: u32) -> u32 {
    let first = SAMPLED * g;
    if first >= entries {
        return 0u;
    }
    let size = min(entries - first, SAMPLED);
    let span = position(first + size - 1u) - position(first);
    return select(0u, size, span >= SPARSE_SPAN);
}

@compute @workgroup_size(GROUP)
fn sparse(place: Place) {
    if linear_workgroup(place.group, place.groups) > 0u {
        return;
    }
    let entries = entry_count();
    let groups = ceil_div(entries, SAMPLED);
    let lane = lane_of(place);
    var before = 0u;
    for (var first = 0u; first < groups; first += GROUP) {
        let g = first + lane;
        let count = listed(g, entries);
        let sums = workgroup_prefix(place, vec4<u32>(count, 0u, 0u, 0u));
        if g < groups {
            counts[g] = count;
            begins[g] = before + sums.before.x;
        }
        before += sums.total.x;
    }
    if lane == 0u {
        total[0] = before;
    }
}
