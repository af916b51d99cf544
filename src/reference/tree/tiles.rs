//! `tree/tiles`

use super::level;
use crate::reference::{Call, Fault};

/// Levels that one dispatch makes, above the leaves that the first one writes besides.
const STEP_LEVELS: u32 = 8;

/// Eight levels of a heap of minima over retained lengths.
pub(in crate::reference) fn tiles(call: &Call<'_>) -> Result<(), Fault> {
    let below = STEP_LEVELS * call.step;
    let first = if call.step == 0 { 0 } else { below + 1 };
    let last = (below + STEP_LEVELS).min(call.number("records")?.next_power_of_two().ilog2());
    (first..=last).try_for_each(|height| level(call, height))
}
