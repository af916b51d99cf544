//! A strict reader of the part of XML that the pictures use. It accepts less than XML allows, never more.

/// Says what is wrong with a document, if anything.
pub fn check(text: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    let mut roots = 0;
    while !rest.is_empty() {
        let (content, tag) = match rest.find('<') {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        characters(content, open.is_empty())?;
        let Some(tag) = tag else { break };
        let end = end_of_tag(tag)?;
        let inner = &tag[..end];
        rest = &tag[end + 1..];
        if let Some(name) = inner.strip_prefix('/') {
            let expected = open.pop();
            if expected != Some(name) {
                return Err(format!("</{name}> closes {expected:?}"));
            }
            continue;
        }
        let (inner, empty) = inner.strip_suffix('/').map_or((inner, false), |inner| (inner, true));
        let name = element(inner)?;
        roots += usize::from(open.is_empty());
        if !empty {
            open.push(name);
        }
    }
    match (open.is_empty(), roots) {
        (true, 1) => Ok(()),
        _ => Err(format!("{roots} roots, open: {open:?}")),
    }
}

/// The index of the `>` that ends a tag; quoted ones do not.
fn end_of_tag(tag: &str) -> Result<usize, String> {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match (quote, c) {
            (None, '"') => quote = Some(c),
            (None, '>') => return Ok(at),
            (None, '<') => return Err(format!("< in a tag: {tag:.40}")),
            (Some(q), c) if q == c => quote = None,
            _ => {}
        }
    }
    Err("a tag does not end".into())
}

/// Checks name and attributes; gives the name.
fn element(inner: &str) -> Result<&str, String> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "-:.".contains(c))
    };
    let (name, mut rest) = inner.split_once(char::is_whitespace).unwrap_or((inner, ""));
    if !is_name(name) {
        return Err(format!("not a name: {name}"));
    }
    let mut seen: Vec<&str> = Vec::new();
    while !rest.trim_start().is_empty() {
        let (attribute, after) = rest.trim_start().split_once("=\"").ok_or(format!("no value: {rest}"))?;
        let (value, after) = after.split_once('"').ok_or(format!("no end: {after}"))?;
        if !is_name(attribute) || seen.contains(&attribute) || value.contains('<') {
            return Err(format!("attribute {attribute} of {name}"));
        }
        if !(after.is_empty() || after.starts_with(char::is_whitespace)) {
            return Err(format!("no space after attribute {attribute}"));
        }
        characters(value, false)?;
        seen.push(attribute);
        rest = after;
    }
    Ok(name)
}

/// Checks references and characters; outside of the root only white space may stand.
fn characters(text: &str, outside: bool) -> Result<(), String> {
    if outside && !text.trim().is_empty() {
        return Err(format!("text outside of the root: {text}"));
    }
    for part in text.split('&').skip(1) {
        let name = part.split_once(';').map(|(name, _)| name);
        if !matches!(name, Some("amp" | "lt" | "gt" | "quot" | "#39")) {
            return Err(format!("reference &{part:.10}"));
        }
    }
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    match text.chars().find(|&c| !allowed(c)) {
        Some(c) => Err(format!("character {c:?}")),
        None => Ok(()),
    }
}

#[test]
fn the_reader_is_strict() {
    assert_eq!(check("<a b=\"1 &amp; >\"><c/>x</a>\n"), Ok(()));
    for wrong in [
        "<a>",
        "<a></b>",
        "<a/><a/>",
        "<a>&x;</a>",
        "<a>\u{1}</a>",
        "<a b=1/>",
        "<a b=\"1\" b=\"2\"/>",
        "<a b=\"<\"/>",
        "x<a/>",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}
