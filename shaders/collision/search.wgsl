// Searches for a record's key among the keys of the other input. search_alone.wgsl and search_in_tiles.wgsl decide where.

struct Found {
    // The first record whose key is not below the one that is looked for.
    at: u32,
    // Whether it has the same key.
    equal: bool,
}

// Looks for the key of `record` among the records `first .. end` of the other input, which has a key once: the search ends
// where it meets an equal one.
fn lower_bound(record: u32, first: u32, end: u32) -> Found {
    var low = first;
    var high = end;
    // Keys between two others share with them at least what both share with the one that is looked for.
    var low_shared = 0u;
    var high_shared = 0u;
    while low < high {
        let middle = low + (high - low) / 2u;
        let found = compare_order(middle, record, min(low_shared, high_shared));
        if found.order == 0i {
            return Found(middle, true);
        }
        if found.order < 0i {
            low = middle + 1u;
            low_shared = found.shared_bits;
        } else {
            high = middle;
            high_shared = found.shared_bits;
        }
    }
    return Found(low, false);
}
