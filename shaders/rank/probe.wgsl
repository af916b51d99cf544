// Answers rank queries, one an invocation.

const GROUP: u32 = 256u;

struct Params {
    bits: u32,
    rank_block: u32,
    queries: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> bitmap: array<u32>;
@group(0) @binding(1) var<storage, read> directory: array<u32>;
@group(0) @binding(2) var<storage, read> total: array<u32>;
@group(0) @binding(3) var<storage, read> positions: array<u32>;
@group(0) @binding(4) var<storage, read_write> answers: array<u32>;

@compute @workgroup_size(GROUP)
fn probe(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let query = linear_invocation(group, groups, local, GROUP);
    if query >= params.queries {
        return;
    }
    let position = positions[query];
    if position >= params.bits {
        answers[query] = total[0];
    } else {
        answers[query] = rank_before(position);
    }
}
