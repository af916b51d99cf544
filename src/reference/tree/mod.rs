//! Heaps of minima.

mod levels;
mod tiles;

pub(super) use levels::levels;
pub(super) use tiles::tiles;

use super::{Call, Fault};

/// The level of a heap of minima over retained lengths that is `height` above the leaves, from the one below it.
fn level(call: &Call<'_>, height: u32) -> Result<(), Fault> {
    let (retained, tree) = (call.port("retained")?, call.port("tree")?);
    let records = call.number("records")?;
    let leaves = records.next_power_of_two();
    if height == 0 {
        tree.set(0, u32::MAX)?;
        for i in 0..leaves {
            tree.set(leaves + i, if i < records { retained.get(i)? } else { u32::MAX })?;
        }
        return Ok(());
    }
    let nodes = leaves.checked_shr(height).unwrap_or(0);
    for node in nodes..2 * nodes {
        tree.set(node, tree.get(2 * node)?.min(tree.get(2 * node + 1)?))?;
    }
    Ok(())
}
