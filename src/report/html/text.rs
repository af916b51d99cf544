//! Numbers as people read them in reports.

use indicatif::{BinaryBytes, HumanCount};

/// A time in three digits and the unit that suits it.
pub fn time(seconds: f64) -> String {
    let (number, unit) = match seconds.abs() {
        1.0.. => (seconds, "s"),
        1e-3.. => (seconds * 1e3, "ms"),
        1e-6.. => (seconds * 1e6, "µs"),
        _ => (seconds * 1e9, "ns"),
    };
    format!("{} {unit}", digits(number))
}

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

/// A number with its thousands apart.
pub fn count(number: u64) -> String {
    HumanCount(number).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        let times = [1.5, 0.99951, 0.0123456, 0.00001, 0.000_000_5].map(time);
        assert_eq!(times, ["1.50 s", "1000 ms", "12.3 ms", "10.0 µs", "500 ns"]);
        assert_eq!((percent(0.0567), percent(1.0)), ("5.7 %".to_owned(), "100 %".to_owned()));
    }
}
