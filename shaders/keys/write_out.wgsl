// Writes every key out in full, an invocation a word, which it puts together from the runs of bits that the key consists of.

const GROUP: u32 = 256u;

struct Params {
    records: u32,
    older_records: u32,
    arena_words: u32,
}
var<immediate> params: Params;

@group(0) @binding(0) var<storage, read> key_bits: array<u32>;
@group(0) @binding(1) var<storage, read> key_starts: array<u32>;
@group(0) @binding(2) var<storage, read_write> arena: array<u32>;

// The last record whose key begins at or before a word: the empty keys in front of another one have no words.
fn record_with(word: u32) -> u32 {
    var low = 0u;
    var high = params.records;
    while high - low > 1u && high > low {
        let middle = low + (high - low) / 2u;
        if key_starts[middle] <= word {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

// 32 bits of a record's key from bit `first` on; zeros follow its end.
fn key_word(record: u32, first: u32) -> u32 {
    let key = key_bits[record];
    let held = min(key - min(key, first), 32u);
    var word = 0u;
    // Each turn takes a bit or more.
    for (var at = 0u; at < held;) {
        let run = key_run(record, first + at);
        let bits = min(run.bits, held - at);
        word |= first_bits(run_word(run, 0u), bits) >> at;
        at += bits;
    }
    return word;
}

@compute @workgroup_size(GROUP)
fn write_out(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let word = linear_invocation(group, groups, local, GROUP);
    if word >= params.arena_words {
        return;
    }
    let record = record_with(word);
    arena[word] = key_word(record, 32u * (word - key_starts[record]));
}
