// Rank directories of fixed groups: the population ("class") of each group in as few bits as it needs, packed one after
// another from the lowest bit on, and the population of every 128 groups, which a scan makes checkpoints of.
//
// A workgroup takes a tile of whole runs of 128 groups. 128 classes of b bits are 4b words, and 32 groups of K bits are K words,
// so tiles begin with a word on both sides whatever K is. The kernel puts its tile into workgroup memory and declares
// class_of, the class of a group of that tile.

// Items in a group: 2^b - 1, so that a class takes b bits.
override K: u32 = 15u;

const GROUP: u32 = 256u;
const RUN_GROUPS: u32 = 128u;

// Populations of the runs of a tile. Workgroup memory begins as zeros.
var<workgroup> run_counts: array<atomic<u32>, TILE_RUNS>;

fn class_bits() -> u32 {
    return countOneBits(K);
}
// Words that the classes of a run take.
fn run_words() -> u32 {
    return RUN_GROUPS / 32u * class_bits();
}
// Words that the classes of `n` items take: whole 64-bit numbers.
fn class_words(n: u32) -> u32 {
    return 2u * ceil_div(ceil_div(n, K) * class_bits(), 64u);
}
fn runs_of(n: u32) -> u32 {
    return ceil_div(ceil_div(n, K), RUN_GROUPS);
}

// Word `word` of the tile's classes. Adds those that begin in it to the count of their run.
fn pack(word: u32) -> u32 {
    let width = class_bits();
    let start = 32u * word;
    var packed = 0u;
    var count = 0u;
    for (var group = start / width; group * width < start + 32u; group += 1u) {
        let class_ = class_of(group);
        let at = group * width;
        if at < start {
            packed |= class_ >> (start - at);
        } else {
            packed |= class_ << (at - start);
            count += class_;
        }
    }
    atomicAdd(&run_counts[word / run_words()], count);
    return packed;
}
