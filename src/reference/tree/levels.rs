//! `tree/levels`

use crate::reference::{Call, Fault};

/// One level of a heap of minima over retained lengths: the leaves, then one level above the other.
pub(in crate::reference) fn levels(call: &Call<'_>) -> Result<(), Fault> {
    let (retained, tree) = (call.port("retained")?, call.port("tree")?);
    let records = call.number("records")?;
    let leaves = records.next_power_of_two();
    if call.step == 0 {
        tree.set(0, u32::MAX)?;
        for i in 0..leaves {
            tree.set(leaves + i, if i < records { retained.get(i)? } else { u32::MAX })?;
        }
        return Ok(());
    }
    let nodes = leaves.checked_shr(call.step).unwrap_or(0);
    for node in nodes..2 * nodes {
        tree.set(node, tree.get(2 * node)?.min(tree.get(2 * node + 1)?))?;
    }
    Ok(())
}
