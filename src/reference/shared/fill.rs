//! `shared/fill`

use crate::reference::{Call, Fault};

/// Every element becomes one word.
pub(in crate::reference) fn fill(call: &Call<'_>) -> Result<(), Fault> {
    let filled = call.port("filled")?;
    // Numbers of a call are at most 32 bits wide where a kernel takes them.
    let word = call.number("word")? as u32;
    (0..call.number("n")?).try_for_each(|i| filled.set(i, word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reference::call::testing::run;

    #[test]
    fn fills_exactly_n() {
        let [filled] = run(fill, &[("n", 3), ("word", 7)], &[], [("filled", 4)]).unwrap();
        assert_eq!(filled, [7, 7, 7, 0xdead_beef]);
    }
}
