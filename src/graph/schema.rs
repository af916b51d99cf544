//! JSON Schemas of pass, graph and type files, for editors. They are made from the tables that decoding uses.
//!
//! A schema knows shapes and spellings of names only: whether a name means anything, `lint` says.

use serde_json::{Map, Value, json};

use super::grammar::{self, Object, Shape};

/// The kinds of files that have a schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Pass files.
    Pass,
    /// Graph files and overlays.
    Graph,
    /// `types.yaml`.
    Types,
}

impl FileKind {
    /// All kinds.
    pub const ALL: [FileKind; 3] = [FileKind::Pass, FileKind::Graph, FileKind::Types];

    /// Where the project keeps the schema.
    pub fn committed_path(self) -> &'static str {
        match self {
            FileKind::Pass => "passes/pass.schema.json",
            FileKind::Graph => "graphs/graph.schema.json",
            FileKind::Types => "passes/types.schema.json",
        }
    }

    fn object(self) -> &'static Object {
        match self {
            FileKind::Pass => &grammar::PASS,
            FileKind::Graph => &grammar::GRAPH,
            FileKind::Types => &grammar::TYPES_FILE,
        }
    }

    fn title(self) -> &'static str {
        match self {
            FileKind::Pass => "weft pass file",
            FileKind::Graph => "weft graph file",
            FileKind::Types => "weft element types",
        }
    }
}

/// The schema of a kind of file, as text with a newline at its end. JSON Schema draft 7, which editors know best.
pub fn schema_text(kind: FileKind) -> String {
    let mut definitions = Map::new();
    let Value::Object(root) = object(kind.object(), &mut definitions) else {
        unreachable!("objects are objects")
    };
    let mut schema = Map::new();
    schema.insert("$schema".into(), json!("http://json-schema.org/draft-07/schema#"));
    schema.insert("title".into(), json!(kind.title()));
    schema.extend(root);
    if !definitions.is_empty() {
        schema.insert("definitions".into(), Value::Object(definitions));
    }
    format!("{:#}\n", Value::Object(schema))
}

fn object(object: &'static Object, definitions: &mut Map<String, Value>) -> Value {
    let mut properties = Map::new();
    for field in object.fields {
        let mut property = Map::new();
        property.insert("description".into(), json!(field.doc));
        match shape(field.shape, definitions) {
            // Draft 7 ignores what stands beside a reference.
            reference if reference.get("$ref").is_some() => {
                property.insert("allOf".into(), json!([reference]));
            }
            Value::Object(inner) => property.extend(inner),
            _ => unreachable!("shapes are objects"),
        }
        properties.insert(field.key.into(), Value::Object(property));
    }
    let required: Vec<&str> = object.fields.iter().filter(|f| f.required).map(|f| f.key).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    if !object.choice.is_empty() {
        schema["oneOf"] = object.choice.iter().map(|group| json!({ "required": group })).collect();
    }
    schema
}

fn shape(shape: Shape, definitions: &mut Map<String, Value>) -> Value {
    match shape {
        Shape::Text => json!({ "type": "string" }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Expression => json!({ "type": ["integer", "string"], "minimum": 0 }),
        Shape::Word => json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
        Shape::OneOf(words) => json!({ "enum": words }),
        Shape::Layout => json!({ "enum": grammar::LAYOUTS }),
        Shape::ElementType => json!({ "anyOf": [{ "enum": grammar::LAYOUTS }, pattern(IDENTIFIER)] }),
        Shape::Identifier => pattern(IDENTIFIER),
        Shape::Symbol => pattern(SYMBOL),
        Shape::Path => pattern(PATH),
        Shape::FileName => pattern(FILE_NAME),
        Shape::Relation => pattern("^[^<=]+(<=|<|==)[^<=]+$"),
        Shape::Port => pattern(&format!("^{NODE}\\.[a-z][a-z0-9_]*$")),
        Shape::PortElement => pattern(&format!("^{NODE}\\.[a-z][a-z0-9_]*(\\[[0-9]+\\])?$")),
        Shape::Result => pattern(PRODUCER),
        Shape::Producer => json!({ "anyOf": [pattern(PRODUCER), object(&grammar::VALUE, definitions)] }),
        Shape::Codes => json!({
            "type": "object",
            "properties": { "unit": { "type": "string", "description": "What the position counts." } },
            "patternProperties": { "^[0-9]+$": { "type": "string" } },
            "additionalProperties": false,
            "required": ["unit"],
        }),
        Shape::List(element) => json!({ "type": "array", "items": self::shape(*element, definitions) }),
        Shape::Map(key, value) => json!({
            "type": "object",
            "propertyNames": self::shape(*key, definitions),
            "additionalProperties": self::shape(*value, definitions),
        }),
        Shape::Object(inner) => reference(inner, definitions),
    }
}

const IDENTIFIER: &str = "^[a-z][a-z0-9_]*$";
const SYMBOL: &str = "^[A-Za-z][A-Za-z0-9_]*$";
const NODE: &str = "[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*";
const PATH: &str = "^[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*$";
const PRODUCER: &str = "^[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*(\\.[a-z][a-z0-9_]*)?$";
const FILE_NAME: &str = "^(\\.\\.?/.*|[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*)*)$";

fn pattern(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn reference(inner: &'static Object, definitions: &mut Map<String, Value>) -> Value {
    let name = inner.noun.split_once(' ').map_or(inner.noun, |(_, noun)| noun).replace(' ', "_");
    if !definitions.contains_key(&name) {
        // Reserved before its own parts, so that definitions stand in the order of their first use.
        definitions.insert(name.clone(), Value::Null);
        let definition = object(inner, definitions);
        definitions.insert(name.clone(), definition);
    }
    json!({ "$ref": format!("#/definitions/{name}") })
}
