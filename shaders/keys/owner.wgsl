// Keys, a run of bits at a time. A record holds the bits of its key from those that it retains on; the ones before lie in
// earlier records. The owner of a bit is the last record up to this one that retains at most the bits before it, and a run
// ends where the owner changes. keys/in_arena.wgsl declares the same runs for keys that lie whole in an arena.
//
// The pass declares the columns `literal_starts`, `key_bits` and `retained`, the heap `tree` of minima over `retained`, and
// params with `records` and `older_records`. In damaged inputs a bit may have no owner; its run then begins anywhere.

// Bits of a key that lie next to each other in the payload of one input.
struct KeyRun {
    in_newer: bool,
    // Where they begin.
    at: u32,
    // How many there are: at least one.
    bits: u32,
}

// The owner of a bit, and the first bit behind it that has another one.
struct Owner {
    record: u32,
    end: u32,
}

// Leaves of the tree.
fn tree_leaves() -> u32 {
    return 1u << (32u - countLeadingZeros(max(params.records, 1u) - 1u));
}

// The owner of a bit of a record's key: to the left and up until a node has it below, then down. What is passed by on the
// way retains more than the bit; the least of that is where the run ends.
fn owner_of(record: u32, bit: u32) -> Owner {
    let leaves = tree_leaves();
    // Records are leaves; with any other node the way down might not end.
    var node = leaves + min(record, leaves - 1u);
    var end = 0xffffffffu;
    var least = tree[node];
    while least > bit {
        end = min(end, least);
        // Up while it is a left child.
        node >>= countTrailingZeros(node);
        if node <= 1u {
            return Owner(record, end);
        }
        node -= 1u;
        least = tree[node];
    }
    while node < leaves {
        node = 2u * node + 1u;
        least = tree[node];
        if least > bit {
            end = min(end, least);
            node -= 1u;
        }
    }
    return Owner(node - leaves, end);
}

// The bits of a record's key from `bit` on that have one owner. `bit` is inside the key.
fn key_run(record: u32, bit: u32) -> KeyRun {
    let owner = owner_of(record, bit);
    let at = literal_starts[owner.record] + (bit - retained[owner.record]);
    return KeyRun(owner.record >= params.older_records, at, min(owner.end, key_bits[record]) - bit);
}

// What is left of a run behind its first bits.
fn run_from(run: KeyRun, bits: u32) -> KeyRun {
    return KeyRun(run.in_newer, run.at + bits, run.bits - bits);
}

// 32 bits of a run from its bit `begin` on. Those past its end have no meaning.
fn run_word(run: KeyRun, begin: u32) -> u32 {
    return payload_window(run.in_newer, run.at + begin);
}
