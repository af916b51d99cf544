//! Numbers as people read them in reports.

use indicatif::BinaryBytes;

/// A number in three digits.
pub fn digits(number: f64) -> String {
    match number.abs() {
        99.95.. => format!("{number:.0}"),
        9.995.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}

/// A part of one in percent.
pub fn percent(part: f64) -> String {
    let percent = part * 100.0;
    if percent.abs() >= 99.95 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// Bytes in the unit that suits them.
pub fn bytes(number: u64) -> String {
    BinaryBytes(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        assert_eq!([1.234, 12.34, 1234.5].map(digits), ["1.23", "12.3", "1234"]);
        assert_eq!((percent(0.0567), percent(1.0)), ("5.7 %".to_owned(), "100 %".to_owned()));
    }
}
