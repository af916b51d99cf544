// What two files hold, as bits counted from their beginning, so that nobody needs to know where their payloads begin. The pass
// declares them as `older` and `newer`: array<u32>.

// 32 bits from bit `at` of an input on; zeros follow the end of the file. Of damaged inputs `at` can be anything.
fn payload_window(in_newer: bool, at: u32) -> u32 {
    let word = at / 32u;
    // Neighbouring invocations read different inputs: what both branches would do alike stands behind them.
    var pair: vec2<u32>;
    if in_newer {
        pair = vec2<u32>(newer_word(word), newer_word(word + 1u));
    } else {
        pair = vec2<u32>(older_word(word), older_word(word + 1u));
    }
    return window_of(pair.x, pair.y, at % 32u);
}

// The 64 bits from bit `at` of an input on, likewise.
fn payload_window64(in_newer: bool, at: u32) -> vec2<u32> {
    let word = at / 32u;
    var words = vec3<u32>();
    if in_newer {
        words = vec3<u32>(newer_word(word), newer_word(word + 1u), newer_word(word + 2u));
    } else {
        words = vec3<u32>(older_word(word), older_word(word + 1u), older_word(word + 2u));
    }
    return vec2<u32>(window_of(words.x, words.y, at % 32u), window_of(words.y, words.z, at % 32u));
}

fn older_word(word: u32) -> u32 {
    return select(0u, older[word], word < arrayLength(&older));
}

fn newer_word(word: u32) -> u32 {
    return select(0u, newer[word], word < arrayLength(&newer));
}
