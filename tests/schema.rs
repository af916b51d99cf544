//! The JSON Schemas: the committed ones are current, and shipped files are what they describe.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use weft::graph::schema::{FileKind, schema_text};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// `UPDATE_EXPECT=1` writes them.
#[test]
fn committed_schemas_are_current() {
    for kind in FileKind::ALL {
        let path = project(kind.committed_path());
        let text = schema_text(kind);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &text).unwrap();
        }
        let committed = fs::read_to_string(&path).unwrap_or_default();
        assert!(committed == text, "{} is not current: run with UPDATE_EXPECT=1", path.display());
    }
}

#[test]
fn shipped_files_have_the_shapes_of_their_schemas() {
    let mut seen = 0;
    for (folder, kind) in [("passes", FileKind::Pass), ("graphs", FileKind::Graph)] {
        for path in yaml_files(&project(folder)) {
            let types = path.ends_with("types.yaml");
            let kind = if types { FileKind::Types } else { kind };
            let file = read(&fs::read_to_string(&path).unwrap());
            assert_eq!(breaches(&schema(kind), &file), Vec::<String>::new(), "{}", path.display());
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} files were found");
}

#[test]
fn every_shipped_file_names_its_schema() {
    for folder in ["passes", "graphs"] {
        for path in yaml_files(&project(folder)) {
            let text = fs::read_to_string(&path).unwrap();
            let modeline = text.lines().next().unwrap_or_default();
            let named = modeline.strip_prefix("# yaml-language-server: $schema=").map(|relative| {
                let beside = path.parent().unwrap().join(relative);
                beside.is_file()
            });
            assert_eq!(named, Some(true), "{}: {modeline}", path.display());
        }
    }
}

#[test]
fn shapes_that_are_not_allowed() {
    let pass = schema(FileKind::Pass);
    let sound = "{pass: a, doc: b, host: c, ports: {p: {type: u32, len: 1, access: read}}}";
    let file = read(sound);
    assert_eq!(breaches(&pass, &file), Vec::<String>::new());
    for (from, to, breach) in [
        ("doc: b", "dog: b", "doc is missing"),
        ("host: c", "host: c, binding: 1", "binding is not allowed"),
        ("access: read", "access: reads", "ports.p.access is none of the allowed words"),
        ("len: 1", "len: [1]", "ports.p.len has the wrong type"),
        ("host: c", "host: c, shader: [x], entry: y", "not exactly one of the choices"),
        ("host: c", "steps: 1", "not exactly one of the choices"),
    ] {
        let file = read(&sound.replace(from, to));
        let found = breaches(&pass, &file);
        assert!(found.iter().any(|b| b.trim() == breach), "{to}: {found:?}");
    }
}

/// YAML 1.2, in which `n` is not a truth value.
fn read(text: &str) -> Value {
    serde_yaml::from_str_with_options(text, serde_yaml::options! { strict_booleans: true }).unwrap()
}

fn schema(kind: FileKind) -> Value {
    serde_json::from_str(&schema_text(kind)).unwrap()
}

fn yaml_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(yaml_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            files.push(path);
        }
    }
    files
}

/// How a value breaches the parts of JSON Schema that ours use; patterns are left to editors.
fn breaches(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    visit(schema, schema, value, "", &mut found);
    found
}

fn visit(root: &Value, schema: &Value, value: &Value, place: &str, found: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let definition = root.pointer(reference.trim_start_matches('#')).expect("the definition exists");
        visit(root, definition, value, place, found);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        visit(root, part, value, place, found);
    }
    let fits = |part: &&Value| {
        let mut inner = Vec::new();
        visit(root, part, value, place, &mut inner);
        inner.is_empty()
    };
    if schema["anyOf"].as_array().is_some_and(|parts| !parts.iter().any(|part| fits(&part))) {
        found.push(format!("{place} is none of the allowed shapes"));
    }
    if schema["oneOf"].as_array().is_some_and(|parts| parts.iter().filter(fits).count() != 1) {
        found.push(format!("{place} not exactly one of the choices"));
    }
    if schema["enum"].as_array().is_some_and(|words| !words.contains(value)) {
        found.push(format!("{place} is none of the allowed words"));
    }
    if !type_fits(&schema["type"], value) {
        found.push(format!("{place} has the wrong type"));
    }
    for entry in value.as_array().into_iter().flatten().filter(|_| schema["items"].is_object()) {
        visit(root, &schema["items"], entry, place, found);
    }
    if let Some(map) = value.as_object() {
        visit_map(root, schema, map, place, found);
    }
}

fn type_fits(expected: &Value, value: &Value) -> bool {
    let is = |name: &str| match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64(),
        other => panic!("the schemas have no type {other}"),
    };
    match expected {
        Value::Null => true,
        Value::String(name) => is(name),
        Value::Array(names) => names.iter().any(|name| is(name.as_str().unwrap())),
        other => panic!("{other} is not a type"),
    }
}

fn visit_map(
    root: &Value,
    schema: &Value,
    map: &serde_json::Map<String, Value>,
    place: &str,
    found: &mut Vec<String>,
) {
    for required in schema["required"].as_array().into_iter().flatten() {
        let key = required.as_str().unwrap();
        if !map.contains_key(key) {
            found.push(format!("{place}{key} is missing"));
        }
    }
    let numbered = schema["patternProperties"].get("^[0-9]+$");
    for (key, value) in map {
        let below = if place.is_empty() { key.clone() } else { format!("{place}.{key}") };
        match (schema["properties"].get(key), numbered, &schema["additionalProperties"]) {
            (Some(property), ..) => visit(root, property, value, &below, found),
            (None, Some(property), _) if key.bytes().all(|b| b.is_ascii_digit()) => {
                visit(root, property, value, &below, found);
            }
            (.., Value::Bool(false)) => found.push(format!("{below} is not allowed")),
            (.., Value::Null) => {}
            (.., additional) => visit(root, additional, value, &below, found),
        }
    }
}
