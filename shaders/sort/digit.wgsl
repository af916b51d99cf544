// What the passes of a radix sort share: the digit and the tile.

// Values of a digit.
const DIGITS: u32 = 256u;
// Keys a lane holds.
const LANE_KEYS: u32 = 8u;

struct Params {
    shift: u32,
}
var<immediate> params: Params;

fn digit_of(key: u32) -> u32 {
    return (key >> params.shift) & (DIGITS - 1u);
}

// Keys in a tile: 8 KiB, so that a tile fits the least workgroup memory that adapters promise.
fn tile_keys() -> u32 {
    return LANE_KEYS * GROUP;
}
