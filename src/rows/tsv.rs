//! One line of TSV to one row and back.

use super::LineError;

/// Parses a line (without its line feed) into `key` and `value`; false means a tombstone.
pub(super) fn parse_line(line: &[u8], key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, LineError> {
    key.clear();
    value.clear();
    if line.is_empty() {
        return fail(0, "empty line; remove it, or write \\e for the tombstone of the empty key");
    }
    let tab = line.iter().position(|&byte| byte == b'\t');
    let key_field = &line[..tab.unwrap_or(line.len())];
    if key_field.is_empty() {
        return fail(0, "no key before the TAB; write \\e for the empty key");
    }
    if key_field != b"\\e" {
        unescape(key_field, 0, key)?;
    }
    let Some(tab) = tab else { return Ok(false) };
    let value_field = &line[tab + 1..];
    if let Some(second) = value_field.iter().position(|&byte| byte == b'\t') {
        let at = tab + 1 + second;
        return fail(at, "second TAB; a row is key TAB value, and a TAB inside either is written \\t");
    }
    unescape(value_field, tab + 1, value)?;
    Ok(true)
}

/// Appends the bytes a field stands for; `start` is where the field starts in its line.
fn unescape(field: &[u8], start: usize, out: &mut Vec<u8>) -> Result<(), LineError> {
    let mut at = 0;
    while let Some(length) = field[at..].iter().position(|&byte| byte == b'\\') {
        out.extend_from_slice(&field[at..at + length]);
        let escape = at + length;
        let (byte, taken) = unescape_one(&field[escape + 1..], start + escape)?;
        out.push(byte);
        at = escape + 1 + taken;
    }
    out.extend_from_slice(&field[at..]);
    Ok(())
}

/// Reads what follows a backslash: the byte it stands for and how many bytes were taken.
fn unescape_one(rest: &[u8], at: usize) -> Result<(u8, usize), LineError> {
    match rest.first() {
        None => fail(at, "backslash at the end of a field; a backslash is written \\\\"),
        Some(b't') => Ok((b'\t', 1)),
        Some(b'n') => Ok((b'\n', 1)),
        Some(b'r') => Ok((b'\r', 1)),
        Some(b'\\') => Ok((b'\\', 1)),
        Some(b'e') => {
            fail(at, "\\e stands for an empty key and only alone; an empty value is nothing after the TAB")
        }
        Some(b'x') => {
            let digit = |i: usize| rest.get(i).and_then(|&digit| (digit as char).to_digit(16));
            match (digit(1), digit(2)) {
                (Some(high), Some(low)) => Ok(((high * 16 + low) as u8, 3)),
                _ => fail(at, "\\x needs two hexadecimal digits, as in \\x0a"),
            }
        }
        Some(&other) => {
            let shown = other.escape_ascii();
            let known = "known are \\t \\n \\r \\\\ \\xNN, and \\e alone for the empty key";
            fail(at, &format!("unknown escape \\{shown}; {known}"))
        }
    }
}

fn fail<T>(at: usize, problem: &str) -> Result<T, LineError> {
    Err(LineError { at, problem: problem.to_owned() })
}

/// Appends a row as a line without its line feed.
///
/// Printable text in UTF-8 stays as it is; control characters and bytes that are not UTF-8 are escaped, so that
/// a terminal or an editor shows the line as it is.
pub(super) fn write_line(key: &[u8], value: Option<&[u8]>, out: &mut Vec<u8>) {
    if key.is_empty() {
        out.extend_from_slice(b"\\e");
    } else {
        escape(key, out);
    }
    if let Some(value) = value {
        out.push(b'\t');
        escape(value, out);
    }
}

fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\t' => out.extend_from_slice(b"\\t"),
                '\n' => out.extend_from_slice(b"\\n"),
                '\r' => out.extend_from_slice(b"\\r"),
                '\\' => out.extend_from_slice(b"\\\\"),
                control if control.is_control() => {
                    let mut utf8 = [0; 4];
                    control.encode_utf8(&mut utf8).bytes().for_each(|byte| escape_hex(byte, out));
                }
                text => out.extend_from_slice(text.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        chunk.invalid().iter().for_each(|&byte| escape_hex(byte, out));
    }
}

fn escape_hex(byte: u8, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.extend_from_slice(&[b'\\', b'x', DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}
