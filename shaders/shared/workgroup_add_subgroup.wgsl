// Sums over a workgroup through subgroup additions, for adapters that have them; any subgroup size.
// The names are those of workgroup_add.wgsl; a pass lists one of the two.

// Invocations in a workgroup: at most 1,024.
override GROUP: u32 = 256u;

// Where an invocation is. Entry points take it as their only argument.
struct Place {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
    @builtin(num_subgroups) subgroups: u32,
    @builtin(subgroup_id) subgroup: u32,
    @builtin(subgroup_size) subgroup_lanes: u32,
    @builtin(subgroup_invocation_id) subgroup_lane: u32,
}

// Sums over the lanes before one, and over all lanes.
struct Prefix {
    before: vec4<u32>,
    total: vec4<u32>,
}

// A subgroup has at least four lanes, so 1,024 invocations are at most 256 subgroups.
var<workgroup> subgroup_totals: array<vec4<u32>, 256>;

// Position of this invocation in the order in which prefixes run. Nothing promises that it is the local index.
fn lane_of(place: Place) -> u32 {
    return place.subgroup * place.subgroup_lanes + place.subgroup_lane;
}

// Four exclusive prefix sums at once, one a component, over the lanes of the workgroup. Control flow must be uniform.
fn workgroup_prefix(place: Place, value: vec4<u32>) -> Prefix {
    var before = subgroupExclusiveAdd(value);
    if place.subgroup_lane == place.subgroup_lanes - 1u {
        subgroup_totals[place.subgroup] = before + value;
    }
    workgroupBarrier();

    var total = vec4<u32>(0u);
    for (var s = 0u; s < place.subgroups; s += 1u) {
        if s == place.subgroup {
            before += total;
        }
        total += subgroup_totals[s];
    }
    // The next call overwrites the totals.
    workgroupBarrier();
    return Prefix(before, total);
}

// The sum of `value` over the workgroup, in every lane. Control flow must be uniform.
fn workgroup_sum(place: Place, value: u32) -> u32 {
    let sum = subgroupAdd(value);
    if place.subgroup_lane == 0u {
        subgroup_totals[place.subgroup] = vec4<u32>(sum);
    }
    workgroupBarrier();

    var total = 0u;
    for (var s = 0u; s < place.subgroups; s += 1u) {
        total += subgroup_totals[s].x;
    }
    workgroupBarrier();
    return total;
}
