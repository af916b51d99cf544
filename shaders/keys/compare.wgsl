// What two keys share and which comes first, a run of bits at a time: runs end where another record holds the next bit
// of either key. keys/compare_windows.wgsl and keys/compare_uncached.wgsl decide from which bit on that is needed.

struct Comparison {
    // Leading bits that both keys have: at most the length of the shorter one.
    shared_bits: u32,
    // Below 0 when the first key comes before the second, 0 when they are equal, above 0 when it comes after.
    order: i32,
}

// Bits that a turn looks at, at most: a multiple of 128, so that counting them in steps of that ends whatever lengths are.
const TURN_BITS: u32 = 0x80000000u;

fn order_of(a: u32, b: u32) -> i32 {
    return select(select(0i, 1i, a > b), -1i, a < b);
}

// Compares the keys of two records that share their first `known` bits.
fn compare_bits(a: u32, b: u32, known: u32) -> Comparison {
    let a_bits = key_bits[a];
    let b_bits = key_bits[b];
    let shorter = min(a_bits, b_bits);
    var at = min(known, shorter);
    var a_run = KeyRun();
    var b_run = KeyRun();
    while at < shorter {
        if a_run.bits == 0u {
            a_run = key_run(a, at);
        }
        if b_run.bits == 0u {
            b_run = key_run(b, at);
        }
        let bits = min(min(min(a_run.bits, b_run.bits), shorter - at), TURN_BITS);
        // A loop of its own: a driver on the CPU counts the loops that find owners once in each turn of the outer one.
        for (var done = 0u; done < bits; done += 128u) {
            let left = min(bits - done, 128u);
            let found = differing_word(a_run, b_run, done, left);
            if found.same < left {
                return Comparison(at + done + found.same, order_of(found.a, found.b));
            }
        }
        a_run = run_from(a_run, bits);
        b_run = run_from(b_run, bits);
        at += bits;
    }
    return Comparison(shorter, order_of(a_bits, b_bits));
}

// The first words of two runs that differ, and how many bits are the same before the first one that does not.
struct Words {
    same: u32,
    a: u32,
    b: u32,
}

// Looks at two runs from bit `begin` on, at up to four words, of which `bits` bits count. Most keys differ in the first;
// where they do not, four words a turn keep loops over long keys short.
fn differing_word(a_run: KeyRun, b_run: KeyRun, begin: u32, bits: u32) -> Words {
    var a_word = run_word(a_run, begin);
    var b_word = run_word(b_run, begin);
    var same = countLeadingZeros(a_word ^ b_word);
    if same == 32u && bits > 32u {
        a_word = run_word(a_run, begin + 32u);
        b_word = run_word(b_run, begin + 32u);
        same += countLeadingZeros(a_word ^ b_word);
    }
    if same == 64u && bits > 64u {
        a_word = run_word(a_run, begin + 64u);
        b_word = run_word(b_run, begin + 64u);
        same += countLeadingZeros(a_word ^ b_word);
    }
    if same == 96u && bits > 96u {
        a_word = run_word(a_run, begin + 96u);
        b_word = run_word(b_run, begin + 96u);
        same += countLeadingZeros(a_word ^ b_word);
    }
    return Words(same, a_word, b_word);
}
