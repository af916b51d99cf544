//! `tree/levels`

use super::level;
use crate::reference::{Call, Fault};

/// One level of a heap of minima over retained lengths.
pub(in crate::reference) fn levels(call: &Call<'_>) -> Result<(), Fault> {
    level(call, call.step)
}
