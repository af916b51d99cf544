// A heap of minima over retained lengths, eight levels a step: a workgroup takes up to 256 nodes of one level, makes the
// levels above them in its own memory, and writes each where it belongs. Step 0 begins with the leaves and writes them too.
// An extra element in front makes the nodes of a level begin at a power of two.

const GROUP: u32 = 128u;
const TILE_NODES: u32 = 256u;
const NONE: u32 = 0xffffffffu;

struct Params {
    records: u32,
    step: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> retained: array<u32>;
@group(0) @binding(1) var<storage, read_write> tree: array<u32>;

// The subtree above the group's nodes, a heap as the whole is.
var<workgroup> heap: array<u32, 2u * TILE_NODES>;

// Node `i` of the level that a step begins with, which has `nodes` of them.
fn first_level(i: u32, nodes: u32) -> u32 {
    if params.step > 0u {
        return tree[nodes + i];
    }
    var least = NONE;
    if i < params.records {
        least = retained[i];
    }
    tree[nodes + i] = least;
    return least;
}

@compute @workgroup_size(GROUP)
fn tiles(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let leaves = 1u << (32u - countLeadingZeros(max(params.records, 1u) - 1u));
    let nodes = leaves >> (8u * params.step);
    let tile = linear_workgroup(group, groups);
    if tile >= ceil_div(nodes, TILE_NODES) {
        return;
    }
    // Levels have a power of two of nodes: only the one tile of a small level is not full.
    let width = min(nodes, TILE_NODES);
    for (var i = local; i < width; i += GROUP) {
        heap[width + i] = first_level(TILE_NODES * tile + i, nodes);
    }
    if params.step == 0u && tile == 0u && local == 0u {
        tree[0] = NONE;
    }
    var level = nodes;
    for (var left = width / 2u; left > 0u; left /= 2u) {
        level /= 2u;
        workgroupBarrier();
        if local < left {
            let least = min(heap[2u * (left + local)], heap[2u * (left + local) + 1u]);
            heap[left + local] = least;
            tree[level + left * tile + local] = least;
        }
    }
}
