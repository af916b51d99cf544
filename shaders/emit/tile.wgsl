// The records of a tile, a stretch of the output that a workgroup makes. It finds them once: the first by a search in which
// each round narrows to a 256th, and then the offsets of those that begin in the tile lie in workgroup memory.
//
// The pass declares the ascending `offsets` of the survivors() records, of which there are fewer than 2^24, GROUP = 256, and
// STAGED, a multiple of GROUP above the most records that a tile can have begin in it. All functions take positions in the
// output in units.

const NO_OFFSET: u32 = 0xffffffffu;

var<workgroup> tile_found: atomic<u32>;
var<workgroup> tile_offsets: array<u32, STAGED>;

// Finds the records of a tile; gives the last one that begins at or before its `begin`. Control flow must be uniform.
fn find_tile(local: u32, begin: u32, end: u32) -> u32 {
    let records = survivors();
    var first = 0u;
    for (var step = GROUP * GROUP; step > 0u; step /= GROUP) {
        let probe = first + step * local;
        if probe < records && offsets[probe] <= begin {
            atomicMax(&tile_found, probe);
        }
        workgroupBarrier();
        first = atomicLoad(&tile_found);
        workgroupBarrier();
    }
    var offset = 0u;
    for (var staged = local; staged < STAGED; staged += GROUP) {
        // Offsets ascend: behind one that is past the tile all are.
        if offset < end {
            offset = NO_OFFSET;
            if first + staged < records {
                offset = offsets[first + staged];
            }
        }
        tile_offsets[staged] = offset;
    }
    workgroupBarrier();
    return first;
}

// Which of the tile's records, counted from its first, is the last that begins at or before `at`.
fn staged_with(at: u32) -> u32 {
    var low = 0u;
    for (var step = STAGED / 2u; step > 0u; step /= 2u) {
        if tile_offsets[low + step] <= at {
            low += step;
        }
    }
    return low;
}
