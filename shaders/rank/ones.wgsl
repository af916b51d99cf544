// A bitmap, four words at a time. The pass declares `bitmap`: array<vec4<u32>>, and params with `bits`.

// Four words from word `first` on, a multiple of 4. Bits past the end of the bitmap are 0.
fn four_words(first: u32) -> vec4<u32> {
    if 32u * first >= params.bits {
        return vec4<u32>(0u);
    }
    let starts = 32u * (vec4<u32>(first) + vec4<u32>(0u, 1u, 2u, 3u));
    let left = max(vec4<u32>(params.bits), starts) - starts;
    let whole = left >= vec4<u32>(32u);
    let masks = select((vec4<u32>(1u) << (left & vec4<u32>(31u))) - 1u, vec4<u32>(0xffffffffu), whole);
    return bitmap[first / 4u] & masks;
}

// The ones in each of them.
fn ones_in_four(first: u32) -> vec4<u32> {
    return countOneBits(four_words(first));
}
