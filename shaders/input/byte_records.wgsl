// The records of the byte profile: counts in LEB128, values whose length the record says unless all have the common one.
// Lengths and positions are in bits here too, and multiples of 8.

// Bits of the unit of addresses, and the bit of a file with which its payload begins.
const UNIT: u32 = 8u;
const PAYLOAD_BIT: u32 = 32u * 56u;

const ABSENT: u32 = 0u;
const PRESENT: u32 = 1u;

// The count at `at`, of which `bits_left` bits lie in the block. Its code is the shortest of a number below 2^32.
fn count_at(at: u32, bits_left: u32) -> Count {
    let head = window(at);
    // How many bytes before the last say that another one follows.
    let followed = countLeadingZeros(~head & 0x80808080u) / 8u;
    var fifth = 0u;
    var last = extractBits(head, 24u - 8u * min(followed, 3u), 8u);
    if followed == 4u {
        fifth = window(at + 32u) >> 24u;
        last = fifth;
    }
    let bits = 8u * (followed + 1u);
    if bits > bits_left || fifth > 15u || (followed > 0u && last == 0u) {
        return Count(0u, 0u);
    }
    let code = first_bits(head, bits);
    let value = extractBits(code, 24u, 7u)
        | (extractBits(code, 16u, 7u) << 7u)
        | (extractBits(code, 8u, 7u) << 14u)
        | (extractBits(code, 0u, 7u) << 21u)
        | (fifth << 28u);
    return Count(value, bits);
}

// The record at `at` in a block that ends at `end`, behind a key of `previous` bits.
fn record_at(record: u32, at: u32, end: u32, previous: u32) -> Parsed {
    let control = count_at(at, end - at);
    if control.bits == 0u {
        return failed(BAD_COUNT);
    }
    // No key is longer than the payload, which holds all its bits.
    var most = params.payload_bits;
    if record % BLOCK_RECORDS > 0u {
        most = previous;
    }
    if control.value > most / 8u {
        return failed(BAD_CONTROL);
    }
    var kept = 8u * control.value;
    if record % BLOCK_RECORDS > 0u {
        kept = previous - kept;
    }
    if record == 0u && kept > 0u {
        return failed(RETAINS_TOO_MUCH);
    }
    let suffix_at = at + control.bits;
    let suffix = count_at(suffix_at, end - suffix_at);
    if suffix.bits == 0u {
        return failed(BAD_COUNT);
    }
    var literal_start = suffix_at + suffix.bits;
    var value = params.common_bits / 8u;
    if params.common_bits == 0u {
        let length = count_at(literal_start, end - literal_start);
        if length.bits == 0u {
            return failed(BAD_COUNT);
        }
        literal_start += length.bits;
        value = length.value;
    }
    if suffix.value > (end - literal_start) / 8u {
        return failed(BAD_SUFFIX);
    }
    let key = kept + 8u * suffix.value;
    if key > params.payload_bits {
        return failed(BAD_SUFFIX);
    }
    let value_start = literal_start + 8u * suffix.value;
    if value == 0u || value > (end - value_start) / 8u {
        return failed(BAD_VALUE);
    }
    let tag = window(value_start) >> 24u;
    if tag > PRESENT || (tag == ABSENT && value > 1u) {
        return failed(BAD_TAG);
    }
    return Parsed(0u, kept, key, literal_start, 8u * value, value_start + 8u * value);
}
