//! The scalar reference of every pass: what its kernel means, as plain loops over plain numbers.
//!
//! A reference stands where its pass stands: `passes/scan/apply.yaml`, `shaders/scan/apply.wgsl`, `scan/apply.rs`. It
//! computes one whole dispatch and follows the definition, not the kernel: no workgroups, no tiles unless they show in
//! a port. [`find`] gives it by the pass's name.
//!
//! Nothing here knows about graphs, plans or devices. A reference sees a [`Call`]: numbers and ports by name. Every
//! access to a port is checked, and sums that a kernel would let wrap around wrap here too, so that neither a wrong
//! reference nor hostile input can panic or touch memory outside the port.

mod call;
mod collision;
mod ef;
mod emit;
mod input;
mod keys;
mod layout;
mod order;
mod output;
mod payload;
mod prefix;
mod rank;
mod roof;
mod scan;
mod shared;
mod size;
mod sort;
mod staging;
mod tree;

pub use call::{Call, Fault, Port};

/// Computes one dispatch of a pass.
///
/// # Errors
///
/// A [`Fault`] where the call lacks a port or number that the pass has, or an element outside a port was asked for.
pub type Reference = fn(&Call<'_>) -> Result<(), Fault>;

/// References by the name of their pass, or of the function where the host runs it, in the order of names.
const REFERENCES: &[(&str, Reference)] = &[
    ("collision/compact_older", collision::compact_older),
    ("collision/mark", collision::mark),
    ("collision/mark_tiled", collision::mark_tiled),
    ("collision/merge_live", order::merge_live),
    ("collision/scatter", collision::scatter),
    ("collision/scatter_tiled", collision::scatter_tiled),
    ("ef/exceptions", ef::exceptions),
    ("ef/highs", ef::highs),
    ("ef/lows", ef::lows),
    ("ef/samples", ef::samples),
    ("ef/select", ef::select),
    ("ef/sparse", ef::sparse),
    ("ef_build", ef::build_on_host),
    ("emit/bits", emit::words),
    ("emit/bytes", emit::bytes),
    ("emit/words", emit::words),
    ("emit/words_arena", emit::words),
    ("input/parse", input::parse),
    ("input/parse_bytes", input::parse_bytes),
    ("keys/word_counts", keys::word_counts),
    ("keys/write_out", keys::write_out),
    ("order/ascending", order::ascending),
    ("order/ascending_arena", order::ascending),
    ("order/ascending_uncached", order::ascending),
    ("order/compact", order::compact),
    ("order/keep", order::keep),
    ("order/keep_arena", order::keep),
    ("order/keep_uncached", order::keep),
    ("order/merge_path", order::merge_path),
    ("order/merge_path_arena", order::merge_path),
    ("order/merge_path_uncached", order::merge_path),
    ("output/plan", output::layout),
    ("output_layout", output::layout),
    ("prefix/common", prefix::common),
    ("prefix/least_retained", prefix::least_retained),
    ("prefix/window_scan", prefix::window_scan),
    ("prefix/window_tiles", prefix::window_tiles),
    ("prefix/windows", prefix::windows),
    ("rank/checkpoints", rank::checkpoints),
    ("rank/classes_of_bits", rank::classes_of_bits),
    ("rank/classes_of_bytes", rank::classes_of_bytes),
    ("rank/classes_of_origins", rank::classes_of_origins),
    ("rank/finish", rank::finish),
    ("rank/probe", rank::probe),
    ("rank/rank2048_count", rank::rank2048_count),
    ("rank/rank512_count", rank::rank512_count),
    ("roof/copy", roof::copy),
    ("scan/apply", scan::apply),
    ("scan/apply_subgroup", scan::apply),
    ("scan/span_sums", scan::span_sums),
    ("scan/span_sums_subgroup", scan::span_sums),
    ("scan/tile_sums", scan::tile_sums),
    ("scan/tile_sums_subgroup", scan::tile_sums),
    ("shared/fill", shared::fill),
    ("size/records", size::records),
    ("size/records_arena", size::records),
    ("size/records_bytes", size::records_bytes),
    ("size/records_uncached", size::records),
    ("size/widths", size::widths),
    ("size/widths_bytes", size::widths_bytes),
    ("sort/digit_counts", sort::digit_counts),
    ("sort/scatter", sort::scatter),
    ("staging_decode", staging::decode),
    ("staging_measure", staging::measure),
    ("tree/levels", tree::levels),
    ("tree/tiles", tree::tiles),
];

/// The reference of the pass called `name`, if it has one.
pub fn find(name: &str) -> Option<Reference> {
    REFERENCES.binary_search_by_key(&name, |&(name, _)| name).ok().map(|index| REFERENCES[index].1)
}

/// Names of all passes that have a reference, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    REFERENCES.iter().map(|&(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_found() {
        assert!(REFERENCES.is_sorted_by_key(|&(name, _)| name));
        assert!(names().all(|name| find(name).is_some()));
        assert!(find("scan/no_such_pass").is_none());
    }
}
