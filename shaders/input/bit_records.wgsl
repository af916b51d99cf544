// The records of the bit profile: counts in the exponential-Golomb code of order zero, values that delimit themselves.

// Bits of the unit of addresses, and the bit of a file with which its payload begins.
const UNIT: u32 = 1u;
const PAYLOAD_BIT: u32 = 32u * 72u;

// The count at `at`, of which `bits_left` bits lie in the block. Its code has at most 63 bits.
fn count_at(at: u32, bits_left: u32) -> Count {
    let head = window(at);
    let zeros = countLeadingZeros(head);
    let bits = 2u * zeros + 1u;
    if zeros == 32u || bits > bits_left {
        return Count(0u, 0u);
    }
    var tail = head << zeros;
    if bits > 32u {
        tail = window(at + zeros);
    }
    return Count((tail >> (31u - zeros)) - 1u, bits);
}

// Bits of the value at `at`, 0 if it is wrong.
fn value_at(at: u32, end: u32) -> u32 {
    if at >= end {
        return 0u;
    }
    var bits = 1u;
    if window(at) >> 31u == 1u {
        let count = count_at(at + 1u, end - at - 1u);
        if count.bits == 0u || count.value > (end - at - 1u - count.bits) / 8u {
            return 0u;
        }
        bits += count.bits + 8u * count.value;
    }
    return select(0u, bits, params.common_bits == 0u || bits == params.common_bits);
}

// The record at `at` in a block that ends at `end`, behind a key of `previous` bits.
fn record_at(record: u32, at: u32, end: u32, previous: u32) -> Parsed {
    let control = count_at(at, end - at);
    if control.bits == 0u {
        return failed(BAD_CONTROL);
    }
    var kept = previous - min(control.value, previous);
    if record % BLOCK_RECORDS > 0u {
        if control.value > previous {
            return failed(BAD_CONTROL);
        }
    } else {
        // The position counts the selector bit. No key is longer than the payload, which holds all its bits.
        if control.value == 0u || control.value - 1u > params.payload_bits {
            return failed(BAD_CONTROL);
        }
        kept = control.value - 1u;
        if record == 0u && kept > 0u {
            return failed(RETAINS_TOO_MUCH);
        }
    }
    let suffix_at = at + control.bits;
    let suffix = count_at(suffix_at, end - suffix_at);
    let literal_start = suffix_at + suffix.bits;
    let key = kept + suffix.value;
    if suffix.bits == 0u || suffix.value > end - literal_start || key > params.payload_bits || key % 8u != 0u {
        return failed(BAD_SUFFIX);
    }
    let value_start = literal_start + suffix.value;
    let value = value_at(value_start, end);
    if value == 0u {
        return failed(BAD_VALUE);
    }
    return Parsed(0u, kept, key, literal_start, value, value_start + value);
}
