// The numbers that lay an output out, by name. The pass declares them as `output_layout`: array<u32>.

// Surviving records.
fn survivors() -> u32 {
    return output_layout[0];
}

// Units in the payload: bits or bytes, as the profile counts.
fn payload_extent() -> u32 {
    return output_layout[1];
}

// Units of every encoded value; 0 when they differ.
fn common_width() -> u32 {
    return output_layout[2];
}

// Bits of an Elias-Fano entry that the lows hold.
fn low_width() -> u32 {
    return output_layout[4];
}

// Words of the lows, and of the highs.
fn low_words() -> u32 {
    return output_layout[6];
}
fn high_words() -> u32 {
    return output_layout[7];
}
