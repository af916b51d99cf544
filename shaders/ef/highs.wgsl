// The highs: a one for each entry. An invocation makes a word from the entries whose positions lie in it.

const GROUP: u32 = 256u;

@group(0) @binding(0) var<storage, read> output_layout: array<u32>;
@group(0) @binding(1) var<storage, read> offsets: array<u32>;
@group(0) @binding(2) var<storage, read_write> highs: array<u32>;

// The first entry whose position is not below `bit`.
fn first_from(bit: u32) -> u32 {
    var low = 0u;
    var high = entry_count();
    while low < high {
        let middle = low + (high - low) / 2u;
        if position(middle) < bit {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

@compute @workgroup_size(GROUP)
fn mark(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let word = linear_invocation(group, groups, local, GROUP);
    if word >= high_words() {
        return;
    }
    let first = 32u * word;
    let entries = entry_count();
    var j = first_from(first);
    var bits = 0u;
    // No two entries have one position.
    for (var k = 0u; k < 32u && j < entries; k += 1u) {
        let place = position(j) - first;
        if place >= 32u {
            break;
        }
        bits |= 1u << place;
        j += 1u;
    }
    highs[word] = bits;
}
