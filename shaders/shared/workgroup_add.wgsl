// Sums over a workgroup through workgroup memory: runs on every adapter.
// workgroup_add_subgroup.wgsl declares the same names for adapters with subgroups; a pass lists one of the two.

// Invocations in a workgroup: a multiple of 16, at most 1,024.
override GROUP: u32 = 256u;

// Where an invocation is. Entry points take it as their only argument.
struct Place {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) index: u32,
}

// Sums over the lanes before one, and over all lanes.
struct Prefix {
    before: vec4<u32>,
    total: vec4<u32>,
}

// Lanes are added up in rows, then rows: two short loops and two barriers instead of a barrier for each doubling.
const ROW: u32 = 16u;
var<workgroup> lane_values: array<vec4<u32>, GROUP>;
var<workgroup> row_totals: array<vec4<u32>, 64>;
var<workgroup> lane_sums: array<u32, GROUP>;
var<workgroup> row_sums: array<u32, 64>;

// Position of this invocation in the order in which prefixes run.
fn lane_of(place: Place) -> u32 {
    return place.index;
}

// Four exclusive prefix sums at once, one a component, over the lanes of the workgroup. Control flow must be uniform.
fn workgroup_prefix(place: Place, value: vec4<u32>) -> Prefix {
    let lane = lane_of(place);
    let row = lane / ROW;
    lane_values[lane] = value;
    workgroupBarrier();

    var before = vec4<u32>(0u);
    for (var i = row * ROW; i < lane; i += 1u) {
        before += lane_values[i];
    }
    if lane % ROW == ROW - 1u {
        row_totals[row] = before + value;
    }
    workgroupBarrier();

    // A later call writes row_totals only behind its own first barrier, so none is needed after these reads.
    var total = vec4<u32>(0u);
    for (var r = 0u; r < GROUP / ROW; r += 1u) {
        if r == row {
            before += total;
        }
        total += row_totals[r];
    }
    return Prefix(before, total);
}

// The sum of `value` over the workgroup, in every lane. Control flow must be uniform.
fn workgroup_sum(place: Place, value: u32) -> u32 {
    let lane = lane_of(place);
    lane_sums[lane] = value;
    workgroupBarrier();

    // Neighbouring lanes read neighbouring words.
    if lane < GROUP / ROW {
        var sum = 0u;
        for (var r = 0u; r < ROW; r += 1u) {
            sum += lane_sums[r * (GROUP / ROW) + lane];
        }
        row_sums[lane] = sum;
    }
    workgroupBarrier();

    // As above, a later call writes row_sums only behind its own first barrier.
    var total = 0u;
    for (var r = 0u; r < GROUP / ROW; r += 1u) {
        total += row_sums[r];
    }
    return total;
}
