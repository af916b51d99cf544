//! `output/layout` and `output/plan`

use crate::format::elias_fano::Shape;
use crate::reference::layout::Layout;
use crate::reference::{Call, Fault};

/// Lays an output out from its number of records, the extent of its payload, the least and the greatest length of a
/// value, and the length of its last key.
pub(in crate::reference) fn layout(call: &Call<'_>) -> Result<(), Fault> {
    let survivors = call.carried("n_survivors")? as u32;
    let payload_extent = call.carried("extent")? as u32;
    let extremes = call.port("extremes")?;
    let (least, greatest) = (extremes.get(0)?, !extremes.get(1)?);
    let common_width = if least == greatest { least } else { 0 };
    let mut layout = Layout {
        survivors,
        payload_extent,
        common_width,
        universe: payload_extent.wrapping_sub(survivors.wrapping_mul(common_width)),
        low_width: 0,
        last_key_bits: call.carried("last_key_bits")? as u32,
        low_words: 0,
        high_words: 0,
    };
    let shape = Shape::canonical(layout.entries(), u64::from(layout.universe));
    layout.low_width = shape.low_width;
    // 32-bit numbers are far from what an extent cannot be.
    let (low_bits, high_bits) = shape.extents_bits().unwrap_or_default();
    layout.low_words = 2 * low_bits.div_ceil(64) as u32;
    layout.high_words = 2 * high_bits.div_ceil(64) as u32;
    layout.put(call)
}
