// A heap of minima over retained lengths: step 0 writes the leaves, each further step the level above. An extra element in
// front makes the nodes of a level begin at a power of two.

const GROUP: u32 = 256u;
const NONE: u32 = 0xffffffffu;

struct Params {
    records: u32,
    step: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> retained: array<u32>;
@group(0) @binding(1) var<storage, read_write> tree: array<u32>;

@compute @workgroup_size(GROUP)
fn levels(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let leaves = 1u << (32u - countLeadingZeros(max(params.records, 1u) - 1u));
    let nodes = leaves >> params.step;
    let i = linear_invocation(group, groups, local, GROUP);
    if i >= nodes {
        return;
    }
    if params.step > 0u {
        let node = nodes + i;
        tree[node] = min(tree[2u * node], tree[2u * node + 1u]);
        return;
    }
    var least = NONE;
    if i < params.records {
        least = retained[i];
    }
    tree[leaves + i] = least;
    if i == 0u {
        tree[0] = NONE;
    }
}
