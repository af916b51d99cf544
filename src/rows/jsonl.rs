//! One line of JSON to one row and back.

use std::io;

use serde::{Deserialize, Deserializer, Serialize};

use super::LineError;

/// A row as JSON. `Some(None)` is a field given as null.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct JsonRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    value: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "given")]
    value_hex: Option<Option<String>>,
}

/// Keeps a field given as null apart from a field not given.
fn given<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Option<String>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// Parses a line (without its line feed) into `key` and `value`; false means a tombstone.
pub(super) fn parse_line(line: &[u8], key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, LineError> {
    key.clear();
    value.clear();
    if line.trim_ascii().is_empty() {
        return fail("empty line; remove it");
    }
    // Checked here because serde also reads a struct from an array.
    if line.trim_ascii_start().first() != Some(&b'{') {
        return fail("not a JSON object; a row is {\"key\": \"...\", \"value\": \"...\" or null}");
    }
    let row: JsonRow = serde_json::from_slice(line).map_err(syntax_error)?;
    match (row.key, row.key_hex) {
        (Some(text), None) => key.extend_from_slice(text.as_bytes()),
        (None, Some(digits)) => decode_hex("key_hex", &digits, key)?,
        (Some(_), Some(_)) => return fail("both \"key\" and \"key_hex\"; give one of them"),
        (None, None) => return fail("no key; give \"key\" (text) or \"key_hex\" (any bytes)"),
    }
    match (row.value, row.value_hex) {
        (Some(Some(text)), None) => value.extend_from_slice(text.as_bytes()),
        (None, Some(Some(digits))) => decode_hex("value_hex", &digits, value)?,
        (Some(None), None) | (None, Some(None)) => return Ok(false),
        (Some(_), Some(_)) => return fail("both \"value\" and \"value_hex\"; give one of them"),
        (None, None) => {
            return fail(
                "no value; give \"value\" (text), \"value_hex\" (any bytes), or \"value\": null for a tombstone",
            );
        }
    }
    Ok(true)
}

fn fail<T>(problem: &str) -> Result<T, LineError> {
    Err(LineError { at: 0, problem: problem.to_owned() })
}

/// Turns a JSON error into ours: its column counts within the line, and its own place is cut from its text.
fn syntax_error(error: serde_json::Error) -> LineError {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let problem = text.strip_suffix(&place).unwrap_or(&text).to_owned();
    LineError { at: error.column().saturating_sub(1), problem }
}

fn decode_hex(field: &str, digits: &str, out: &mut Vec<u8>) -> Result<(), LineError> {
    if let Some(wrong) = digits.chars().find(|digit| !digit.is_ascii_hexdigit()) {
        return fail(&format!("\"{field}\" holds {wrong:?}, which is not a hexadecimal digit"));
    }
    if !digits.len().is_multiple_of(2) {
        return fail(&format!(
            "\"{field}\" holds an odd number of digits; two hexadecimal digits make a byte"
        ));
    }
    let value = |digit: u8| (digit as char).to_digit(16).unwrap_or(0) as u8;
    out.extend(digits.as_bytes().chunks_exact(2).map(|pair| value(pair[0]) << 4 | value(pair[1])));
    Ok(())
}

/// Appends a row as a line without its line feed: text where the bytes are UTF-8, hexadecimal otherwise.
pub(super) fn write_line(key: &[u8], value: Option<&[u8]>, out: &mut Vec<u8>) -> io::Result<()> {
    let mut row = JsonRow::default();
    match std::str::from_utf8(key) {
        Ok(text) => row.key = Some(text.to_owned()),
        Err(_) => row.key_hex = Some(encode_hex(key)),
    }
    match value.map(|value| (value, std::str::from_utf8(value))) {
        None => row.value = Some(None),
        Some((_, Ok(text))) => row.value = Some(Some(text.to_owned())),
        Some((value, Err(_))) => row.value_hex = Some(Some(encode_hex(value))),
    }
    serde_json::to_writer(out, &row).map_err(io::Error::from)
}

fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
