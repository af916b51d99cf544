// The parts of a workgroup's lanes joined, in a tree with four children to a node: few steps one after another, and a barrier
// a level. Levels lie one behind the other, leaves first.

var<workgroup> runs: array<vec4<u32>, 340>;

// All lanes before this one. Control flow must be uniform.
fn lanes_before(lane: u32, own: Part) -> Part {
    var before = NO_RECORDS;
    var level = 0u;
    var node = lane;
    for (var lanes = 1u; lanes < GROUP; lanes *= 4u) {
        // The last lane of a node knows all of it.
        if lane % lanes == lanes - 1u {
            runs[level + node] = packed(joined(before, own));
        }
        workgroupBarrier();
        var siblings = NO_RECORDS;
        for (var i = node & ~3u; i < node; i += 1u) {
            siblings = joined(siblings, unpacked(runs[level + i]));
        }
        before = joined(siblings, before);
        level += GROUP / lanes;
        node /= 4u;
    }
    return before;
}

// All lanes, in lane 0. Control flow must be uniform.
fn all_lanes(lane: u32, own: Part) -> Part {
    var all = own;
    var level = 0u;
    for (var nodes = GROUP; nodes > 1u; nodes /= 4u) {
        if lane < nodes {
            runs[level + lane] = packed(all);
        }
        workgroupBarrier();
        if lane < nodes / 4u {
            let child = level + 4u * lane;
            all = joined(
                joined(unpacked(runs[child]), unpacked(runs[child + 1u])),
                joined(unpacked(runs[child + 2u]), unpacked(runs[child + 3u])),
            );
        }
        level += nodes;
    }
    return all;
}
