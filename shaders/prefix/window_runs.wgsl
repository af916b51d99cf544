// The parts of a workgroup's lanes joined, in a tree with four children to a node: few steps one after another, and a barrier
// a level. Levels lie one behind the other, leaves first.

const FOURS: u32 = GROUP;
const SIXTEENS: u32 = FOURS + GROUP / 4u;
const SIXTY_FOURS: u32 = SIXTEENS + GROUP / 16u;
var<workgroup> runs: array<vec4<u32>, SIXTY_FOURS + GROUP / 64u>;

fn run(at: u32) -> Part {
    return unpacked(runs[at]);
}

// What is before a node among its siblings.
fn siblings_before(level: u32, node: u32) -> Part {
    let place = node % 4u;
    let first = level + node - place;
    var before = NO_RECORDS;
    if place > 0u {
        before = run(first);
    }
    if place > 1u {
        before = joined(before, run(first + 1u));
    }
    if place > 2u {
        before = joined(before, run(first + 2u));
    }
    return before;
}

// All lanes before this one. Control flow must be uniform.
fn lanes_before(lane: u32, own: Part) -> Part {
    runs[lane] = packed(own);
    workgroupBarrier();
    var before = siblings_before(0u, lane);
    // The last lane of a node knows all of it.
    if lane % 4u == 3u {
        runs[FOURS + lane / 4u] = packed(joined(before, own));
    }
    workgroupBarrier();
    before = joined(siblings_before(FOURS, lane / 4u), before);
    if lane % 16u == 15u {
        runs[SIXTEENS + lane / 16u] = packed(joined(before, own));
    }
    workgroupBarrier();
    before = joined(siblings_before(SIXTEENS, lane / 16u), before);
    if lane % 64u == 63u {
        runs[SIXTY_FOURS + lane / 64u] = packed(joined(before, own));
    }
    workgroupBarrier();
    return joined(siblings_before(SIXTY_FOURS, lane / 64u), before);
}

// Four neighbouring nodes.
fn siblings(level: u32, parent: u32) -> Part {
    let first = level + 4u * parent;
    return joined(joined(run(first), run(first + 1u)), joined(run(first + 2u), run(first + 3u)));
}

// All lanes, in lane 0. Control flow must be uniform.
fn all_lanes(lane: u32, own: Part) -> Part {
    runs[lane] = packed(own);
    workgroupBarrier();
    if lane < GROUP / 4u {
        runs[FOURS + lane] = packed(siblings(0u, lane));
    }
    workgroupBarrier();
    if lane < GROUP / 16u {
        runs[SIXTEENS + lane] = packed(siblings(FOURS, lane));
    }
    workgroupBarrier();
    if lane < GROUP / 64u {
        runs[SIXTY_FOURS + lane] = packed(siblings(SIXTEENS, lane));
    }
    workgroupBarrier();
    return siblings(SIXTY_FOURS, 0u);
}
