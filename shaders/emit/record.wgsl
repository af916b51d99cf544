// How a record of the output is made: two codes, then one stretch of bits that is copied.
//
// A surviving record shares with the record before it at least the bits that it retained in its own input. So what is
// left of its key is the end of its own literal there, which the value follows.

struct Record {
    // Where the record begins in the output.
    start: u32,
    // Bits in it.
    length: u32,
    // The numbers that it begins with, and the bits that their codes take.
    control: u32,
    suffix: u32,
    control_len: u32,
    codes_len: u32,
    // Where the rest lies.
    source: Source,
}

// The last record that begins at or before a bit of the output.
fn record_with(bit: u32) -> u32 {
    var low = 0u;
    var high = survivors();
    while high - low > 1u && high > low {
        let middle = low + (high - low) / 2u;
        if offsets[middle] <= bit {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

fn record_at(i: u32) -> Record {
    var record: Record;
    let entry = refs[i];
    let key = key_bits[entry];
    let shared_here = shared_bits[i];
    record.start = offsets[i];
    var end = payload_extent();
    if i + 1u < survivors() {
        end = offsets[i + 1u];
    }
    record.length = end - record.start;
    if i % 15u == 0u {
        record.control = 1u + shared_here;
    } else {
        record.control = key_bits[refs[i - 1u]] - shared_here;
    }
    record.suffix = key - shared_here;
    record.control_len = golomb_len(record.control);
    record.codes_len = record.control_len + golomb_len(record.suffix);
    record.source = source_of(entry, shared_here);
    return record;
}
