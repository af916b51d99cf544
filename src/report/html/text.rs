//! Numbers as people read them in reports.

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

/// Bytes in three digits and the unit that suits them.
pub fn bytes(number: u64) -> String {
    let (mut number, mut unit) = (number as f64, "B");
    for larger in ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"] {
        // What would be written as 1000 of the smaller unit or more takes the larger.
        if number < 999.5 {
            break;
        }
        (number, unit) = (number / 1024.0, larger);
    }
    if unit == "B" { format!("{number:.0} B") } else { format!("{} {unit}", digits(number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits() {
        assert_eq!([1.234, 12.34, 1234.5].map(digits), ["1.23", "12.3", "1234"]);
        assert_eq!(
            [0, 999, 1000, 1 << 20, 123_456_789].map(bytes),
            ["0 B", "999 B", "0.98 KiB", "1.00 MiB", "118 MiB"]
        );
        assert_eq!((percent(0.0567), percent(1.0)), ("5.7 %".to_owned(), "100 %".to_owned()));
    }
}
