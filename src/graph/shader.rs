//! The WGSL of a pass: its files joined, parsed and validated, and what can be read off its entry point.
//!
//! WGSL takes declarations in any order, so the files that a pass names are simply joined; every place in the joined text
//! can be mapped back to its file. Nothing here knows what the pass file says about the kernel.

use std::error::Error;
use std::ops::Range;

use wgpu::naga;

use naga::valid::{Capabilities, GlobalUse, ModuleInfo, ValidationFlags, Validator};
use naga::{
    AddressSpace, BuiltIn, Expression, Handle, ScalarKind, ShaderStage, Statement, StorageAccess, TypeInner,
};

use super::diagnostic::{Diagnostic, Diagnostics};
use super::document::{FileId, Scalar, Span, Spanned};
use super::source::SourceMap;

/// Stack for naga, which recurses over nested expressions.
const COMPILER_STACK_BYTES: usize = 32 << 20;

/// What kernels may use beyond the core of WGSL.
const CAPABILITIES: Capabilities = Capabilities::IMMEDIATES;

/// What they may use besides, where the device has subgroups.
const SUBGROUP_CAPABILITIES: Capabilities = Capabilities::SUBGROUP.union(Capabilities::SUBGROUP_BARRIER);

/// Several files as one text.
#[derive(Clone, Debug)]
pub struct JoinedSource {
    text: String,
    /// Where each file begins in the text.
    parts: Vec<(usize, FileId)>,
}

impl JoinedSource {
    /// Joins files in order.
    pub fn join(sources: &SourceMap, files: &[FileId]) -> JoinedSource {
        let mut joined = JoinedSource { text: String::new(), parts: Vec::new() };
        for file in files {
            joined.parts.push((joined.text.len(), *file));
            joined.text.push_str(sources.text(*file));
            joined.text.push('\n');
        }
        joined
    }

    /// The joined text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The files, in order.
    pub fn files(&self) -> impl Iterator<Item = FileId> {
        self.parts.iter().map(|(_, file)| *file)
    }

    /// The place of a range of the joined text in the file that it begins in.
    pub fn span(&self, range: Range<usize>) -> Option<Span> {
        let index = self.parts.partition_point(|(start, _)| *start <= range.start).checked_sub(1)?;
        let (start, file) = self.parts[index];
        let end = self.parts.get(index + 1).map_or(self.text.len(), |(next, _)| *next);
        Some(Span { file, start: (range.start - start) as u32, end: (range.end.min(end) - start) as u32 })
    }

    fn naga_span(&self, span: naga::Span) -> Option<Span> {
        span.to_range().and_then(|range| self.span(range))
    }

    /// The first line at a place, for declarations that run over many.
    fn first_line(&self, span: naga::Span) -> Option<Span> {
        let range = span.to_range()?;
        let line = self.text.get(range.clone())?.lines().next()?.trim_end();
        self.span(range.start..range.start + line.len())
    }

    /// The place of `attribute(name)`, outside of comments at the beginning of a line.
    fn find_builtin(&self, name: &str) -> Option<Span> {
        let found = self.text.match_indices(name).find(|(at, _)| {
            let line = self.text[..*at].rsplit('\n').next().unwrap_or("");
            line.trim_end().ends_with('(') && !line.contains("//")
        });
        found.and_then(|(at, name)| self.span(at..at + name.len()))
    }
}

/// What one element of a storage variable is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ElementShape {
    /// A scalar or vector.
    Vector {
        /// Its scalar.
        scalar: Scalar,
        /// 1 to 4.
        lanes: u8,
        /// Whether it is `atomic<...>`.
        atomic: bool,
    },
    /// Something that no port can hold.
    Other,
}

/// A storage variable that the entry point uses.
#[derive(Clone, Debug)]
pub struct StorageVariable {
    /// Its name.
    pub name: String,
    /// Its declaration.
    pub span: Option<Span>,
    /// `@group`
    pub group: u32,
    /// `@binding`
    pub binding: u32,
    /// Whether it is declared `read_write`.
    pub writable: bool,
    /// Its elements.
    pub element: ElementShape,
    /// Bytes from one element to the next.
    pub stride_bytes: u32,
    /// Whether the entry point reads it, through whatever it calls.
    pub reads: bool,
    /// Whether it writes it.
    pub writes: bool,
    handle: Handle<naga::GlobalVariable>,
}

/// An `override` that the entry point uses.
#[derive(Clone, Debug)]
pub struct OverrideDecl {
    /// Its name.
    pub name: String,
    /// Its declaration.
    pub span: Option<Span>,
    /// Whether it is a `u32` without `@id`.
    pub plain: bool,
    /// Its default, where that is a literal.
    pub default: Option<u32>,
}

/// A member of the struct of immediates.
#[derive(Clone, Debug)]
pub struct ImmediateMember {
    /// Its name.
    pub name: String,
    /// Whether it is a `u32`.
    pub is_u32: bool,
}

/// The immediates that the entry point uses.
#[derive(Clone, Debug)]
pub struct Immediates {
    /// The declaration of the variable.
    pub span: Option<Span>,
    /// The members of its struct; none if it is not a struct.
    pub members: Option<Vec<ImmediateMember>>,
    /// Bytes of it, padding included.
    pub size_bytes: u32,
}

/// Atomic functions that commute with one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AtomicFamily {
    Sum,
    And,
    Or,
    ExclusiveOr,
    Min,
    Max,
}

/// A compute kernel: a validated module that holds nothing but what its entry point reaches.
#[derive(Debug)]
pub struct Shader {
    /// The WGSL.
    pub source: JoinedSource,
    /// The module, reduced to the entry point.
    pub module: naga::Module,
    /// Naga's analysis of the module.
    pub info: ModuleInfo,
    /// The entry point.
    pub entry: String,
    /// Whether it needs a device with subgroups.
    pub needs_subgroups: bool,
    /// Whether all of its files are shipped ones, of which is known that their loops end.
    pub is_shipped: bool,
    /// Names of all storage variables of the files, used or not.
    pub declared_storage: Vec<String>,
    /// Names of all overrides of the files, used or not.
    pub declared_overrides: Vec<String>,
}

impl Shader {
    /// Joins and compiles the files for one entry point. What is wrong is reported where it stands in the WGSL.
    pub fn compile(
        sources: &SourceMap,
        files: &[FileId],
        entry: &Spanned<String>,
        diagnostics: &mut Diagnostics,
    ) -> Option<Shader> {
        let source = JoinedSource::join(sources, files);
        let compile = || compile_joined(&source, entry);
        let compiled = std::thread::scope(|scope| {
            let builder = std::thread::Builder::new().stack_size(COMPILER_STACK_BYTES);
            match builder.spawn_scoped(scope, compile) {
                Ok(thread) => thread.join().unwrap_or_else(|_| {
                    Err(Box::new(Diagnostic::at(entry.span, "the WGSL compiler failed on this shader")))
                }),
                Err(error) => {
                    Err(Box::new(Diagnostic::at(entry.span, format!("cannot start a thread: {error}"))))
                }
            }
        });
        match compiled {
            Ok(shader) => Some(Shader { source, ..shader }),
            Err(diagnostic) => {
                diagnostics.push(*diagnostic);
                None
            }
        }
    }

    fn entry_point(&self) -> &naga::EntryPoint {
        &self.module.entry_points[0]
    }

    /// The storage variables that the entry point uses, in the order of their declaration.
    pub fn storage(&self) -> Vec<StorageVariable> {
        let uses = self.info.get_entry_point(0);
        let mut variables = Vec::new();
        for (handle, variable) in self.module.global_variables.iter() {
            let (AddressSpace::Storage { access }, Some(binding)) = (variable.space, &variable.binding)
            else {
                continue;
            };
            let (element, stride_bytes) = self.element(variable.ty);
            let used = uses[handle];
            variables.push(StorageVariable {
                name: variable.name.clone().unwrap_or_default(),
                span: self.source.first_line(self.module.global_variables.get_span(handle)),
                group: binding.group,
                binding: binding.binding,
                writable: access.contains(StorageAccess::STORE),
                element,
                stride_bytes,
                reads: used.contains(GlobalUse::READ),
                writes: used.contains(GlobalUse::WRITE),
                handle,
            });
        }
        variables
    }

    /// The element type and stride of a storage variable: of an array, or of one element by itself.
    fn element(&self, ty: Handle<naga::Type>) -> (ElementShape, u32) {
        let inner = &self.module.types[ty].inner;
        let (element, stride) = match inner {
            TypeInner::Array { base, stride, .. } => (&self.module.types[*base].inner, *stride),
            other => (other, other.size(self.module.to_ctx())),
        };
        let vector = |scalar: naga::Scalar, lanes: u8, atomic: bool| {
            let scalar = match (scalar.kind, scalar.width) {
                (ScalarKind::Uint, 4) => Scalar::U32,
                (ScalarKind::Sint, 4) => Scalar::I32,
                (ScalarKind::Float, 4) => Scalar::F32,
                _ => return ElementShape::Other,
            };
            ElementShape::Vector { scalar, lanes, atomic }
        };
        let shape = match element {
            TypeInner::Scalar(scalar) => vector(*scalar, 1, false),
            TypeInner::Atomic(scalar) => vector(*scalar, 1, true),
            TypeInner::Vector { size, scalar } => vector(*scalar, *size as u8, false),
            _ => ElementShape::Other,
        };
        (shape, stride)
    }

    /// Variables that are neither ports, nor immediates, nor private to the kernel: uniforms, textures, samplers.
    pub fn foreign_resources(&self) -> Vec<(String, Option<Span>)> {
        let foreign = self.module.global_variables.iter().filter(|(_, variable)| {
            variable.binding.is_some() && !matches!(variable.space, AddressSpace::Storage { .. })
        });
        foreign
            .map(|(handle, variable)| {
                let span = self.source.first_line(self.module.global_variables.get_span(handle));
                (variable.name.clone().unwrap_or_default(), span)
            })
            .collect()
    }

    /// The overrides that the entry point uses.
    pub fn overrides(&self) -> Vec<OverrideDecl> {
        let describe = |(handle, declared): (Handle<naga::Override>, &naga::Override)| {
            let literal = declared.init.map(|init| &self.module.global_expressions[init]);
            // Naga makes an override without a name of an array length such as `8 * GROUP`.
            Some(OverrideDecl {
                name: declared.name.clone()?,
                span: self.source.first_line(self.module.overrides.get_span(handle)),
                plain: declared.id.is_none()
                    && self.module.types[declared.ty].inner == TypeInner::Scalar(naga::Scalar::U32),
                default: match literal {
                    Some(Expression::Literal(naga::Literal::U32(value))) => Some(*value),
                    _ => None,
                },
            })
        };
        self.module.overrides.iter().filter_map(describe).collect()
    }

    /// The immediates that the entry point uses.
    pub fn immediates(&self) -> Option<Immediates> {
        let mut variables = self.module.global_variables.iter();
        let (handle, variable) = variables.find(|(_, variable)| variable.space == AddressSpace::Immediate)?;
        let members = match &self.module.types[variable.ty].inner {
            TypeInner::Struct { members, .. } => Some(members),
            _ => None,
        };
        let describe = |member: &naga::StructMember| ImmediateMember {
            name: member.name.clone().unwrap_or_default(),
            is_u32: self.module.types[member.ty].inner == TypeInner::Scalar(naga::Scalar::U32),
        };
        Some(Immediates {
            span: self.source.first_line(self.module.global_variables.get_span(handle)),
            members: members.map(|members| members.iter().map(describe).collect()),
            size_bytes: self.module.types[variable.ty].inner.size(self.module.to_ctx()),
        })
    }

    /// The place of an argument with this builtin, if the entry point has one; its text is `name`.
    pub fn builtin(&self, builtin: BuiltIn, name: &str) -> Option<Option<Span>> {
        let is = |binding: &Option<naga::Binding>| *binding == Some(naga::Binding::BuiltIn(builtin));
        let used = self.entry_point().function.arguments.iter().any(|argument| {
            is(&argument.binding)
                || match &self.module.types[argument.ty].inner {
                    TypeInner::Struct { members, .. } => members.iter().any(|member| is(&member.binding)),
                    _ => false,
                }
        });
        used.then(|| self.source.find_builtin(name))
    }

    /// Invocations of a workgroup, given the values of all overrides by name.
    ///
    /// # Errors
    /// A text, if with these values something in the module has no value or an array no valid length.
    pub fn workgroup_invocations<'o>(
        &self,
        overrides: impl IntoIterator<Item = (&'o str, u32)>,
    ) -> Result<u64, String> {
        let mut constants = naga::back::PipelineConstants::default();
        let known = |name: &str| self.module.overrides.iter().any(|(_, o)| o.name.as_deref() == Some(name));
        for (name, value) in overrides.into_iter().filter(|(name, _)| known(name)) {
            constants.insert(name.to_string(), f64::from(value));
        }
        let entry = Some((ShaderStage::Compute, self.entry.as_str()));
        let resolved =
            naga::back::pipeline_constants::process_overrides(&self.module, &self.info, entry, &constants);
        match resolved {
            Ok((module, _)) => Ok(module.entry_points[0].workgroup_size.map(u64::from).iter().product()),
            Err(error) => Err(innermost(&error)),
        }
    }

    /// Atomic accesses to a variable that do not commute with one another, so that their order would matter.
    pub fn uncommutative(&self, variable: &StorageVariable) -> Vec<(String, Option<Span>)> {
        let mut finder =
            AtomicFinder { shader: self, target: variable.handle, family: None, found: Vec::new() };
        for (_, function) in self.module.functions.iter() {
            finder.block(function, &function.body);
        }
        let entry = &self.entry_point().function;
        finder.block(entry, &entry.body);
        finder.found
    }
}

struct AtomicFinder<'a> {
    shader: &'a Shader,
    target: Handle<naga::GlobalVariable>,
    family: Option<AtomicFamily>,
    found: Vec<(String, Option<Span>)>,
}

impl AtomicFinder<'_> {
    fn block(&mut self, function: &naga::Function, block: &naga::Block) {
        for (statement, span) in block.span_iter() {
            match statement {
                Statement::Block(inner) => self.block(function, inner),
                Statement::If { accept, reject, .. } => {
                    self.block(function, accept);
                    self.block(function, reject);
                }
                Statement::Switch { cases, .. } => {
                    cases.iter().for_each(|case| self.block(function, &case.body));
                }
                Statement::Loop { body, continuing, .. } => {
                    self.block(function, body);
                    self.block(function, continuing);
                }
                Statement::Store { pointer, .. } if self.is_target(function, *pointer) => {
                    self.report("a store", *span);
                }
                Statement::Atomic { pointer, fun, .. } if self.is_target(function, *pointer) => {
                    self.atomic(fun, *span);
                }
                _ => {}
            }
        }
    }

    fn atomic(&mut self, fun: &naga::AtomicFunction, span: naga::Span) {
        let family = match fun {
            naga::AtomicFunction::Add | naga::AtomicFunction::Subtract => AtomicFamily::Sum,
            naga::AtomicFunction::And => AtomicFamily::And,
            naga::AtomicFunction::InclusiveOr => AtomicFamily::Or,
            naga::AtomicFunction::ExclusiveOr => AtomicFamily::ExclusiveOr,
            naga::AtomicFunction::Min => AtomicFamily::Min,
            naga::AtomicFunction::Max => AtomicFamily::Max,
            naga::AtomicFunction::Exchange { .. } => return self.report("an exchange", span),
        };
        if *self.family.get_or_insert(family) != family {
            self.report("another atomic function than before", span);
        }
    }

    fn report(&mut self, what: &str, span: naga::Span) {
        self.found.push((what.to_string(), self.shader.source.first_line(span)));
    }

    /// Whether a pointer leads into the variable. Pointers handed to functions are not followed.
    fn is_target(&self, function: &naga::Function, mut pointer: Handle<Expression>) -> bool {
        loop {
            match &function.expressions[pointer] {
                Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => pointer = *base,
                Expression::GlobalVariable(variable) => return *variable == self.target,
                _ => return false,
            }
        }
    }
}

/// Parses, validates and reduces; the source of the result is still empty.
fn compile_joined(source: &JoinedSource, entry: &Spanned<String>) -> Result<Shader, Box<Diagnostic>> {
    let mut module = naga::front::wgsl::parse_str(source.text())
        .map_err(|error| Box::new(parse_error(source, entry, &error)))?;
    validate(&module, CAPABILITIES | SUBGROUP_CAPABILITIES)
        .map_err(|error| Box::new(validation_error(source, &module, entry, &error)))?;
    let is_entry = |ep: &naga::EntryPoint| ep.stage == ShaderStage::Compute && ep.name == entry.value;
    if !module.entry_points.iter().any(is_entry) {
        return Err(Box::new(no_entry_point(&module, entry)));
    }
    let storage =
        module.global_variables.iter().filter(|(_, v)| matches!(v.space, AddressSpace::Storage { .. }));
    let declared_storage = storage.filter_map(|(_, variable)| variable.name.clone()).collect();
    let declared_overrides = module.overrides.iter().filter_map(|(_, o)| o.name.clone()).collect();

    module.entry_points.retain(is_entry);
    naga::compact::compact(&mut module, naga::compact::KeepUnused::No);
    let plain = validate(&module, CAPABILITIES);
    let needs_subgroups = plain.is_err();
    let info = match plain {
        Ok(info) => info,
        Err(_) => validate(&module, CAPABILITIES | SUBGROUP_CAPABILITIES)
            .map_err(|error| Box::new(validation_error(source, &module, entry, &error)))?,
    };
    Ok(Shader {
        source: JoinedSource { text: String::new(), parts: Vec::new() },
        module,
        info,
        entry: entry.value.clone(),
        needs_subgroups,
        is_shipped: false,
        declared_storage,
        declared_overrides,
    })
}

type ValidationError = naga::WithSpan<naga::valid::ValidationError>;

fn validate(module: &naga::Module, capabilities: Capabilities) -> Result<ModuleInfo, Box<ValidationError>> {
    Validator::new(ValidationFlags::all(), capabilities).validate(module).map_err(Box::new)
}

fn no_entry_point(module: &naga::Module, entry: &Spanned<String>) -> Diagnostic {
    let names = module.entry_points.iter().map(|ep| ep.name.as_str());
    let message = format!("the shader has no compute entry point `{}`", entry.value);
    let mut diagnostic = Diagnostic::at(entry.span, message).suggest(&entry.value, names.clone());
    if diagnostic.help.is_none() {
        let names: Vec<&str> = names.collect();
        diagnostic = match names.is_empty() {
            true => diagnostic.help("mark a function with @compute and @workgroup_size"),
            false => diagnostic.help(format!("it has {}", names.join(", "))),
        };
    }
    diagnostic
}

fn parse_error(
    source: &JoinedSource,
    entry: &Spanned<String>,
    error: &naga::front::wgsl::ParseError,
) -> Diagnostic {
    let labels = error.labels().filter_map(|(span, text)| source.naga_span(span).map(|span| (span, text)));
    let diagnostic = shader_error(format!("WGSL: {}", error.message()), entry, labels);
    error.notes().fold(diagnostic, |diagnostic, note| diagnostic.note(note))
}

fn validation_error(
    source: &JoinedSource,
    module: &naga::Module,
    entry: &Spanned<String>,
    error: &ValidationError,
) -> Diagnostic {
    if let naga::valid::ValidationError::EntryPoint { source: cause, .. } = error.as_inner()
        && let naga::valid::EntryPointError::BindingCollision(variable) = cause
    {
        return same_binding(source, module, entry, *variable);
    }
    // The innermost cause comes with the first span.
    let places = error.spans().filter_map(|(span, text)| {
        // Some labels only name a Rust type.
        let label = if text.starts_with("naga::") { "" } else { text.as_str() };
        source.first_line(*span).map(|span| (span, label))
    });
    let message = without_handles(&innermost(error.as_inner()));
    let diagnostic = shader_error(format!("WGSL: {message}"), entry, places);
    diagnostic.note(without_handles(&error.as_inner().to_string()))
}

fn same_binding(
    source: &JoinedSource,
    module: &naga::Module,
    entry: &Spanned<String>,
    second: Handle<naga::GlobalVariable>,
) -> Diagnostic {
    let place = |handle| source.first_line(module.global_variables.get_span(handle));
    let name =
        |handle: Handle<naga::GlobalVariable>| module.global_variables[handle].name.as_deref().unwrap_or("?");
    let binding = &module.global_variables[second].binding;
    let first = module.global_variables.iter().find(|(handle, v)| *handle != second && v.binding == *binding);
    let message = match first {
        Some((first, _)) => format!("`{}` and `{}` have the same binding", name(first), name(second)),
        None => format!("the binding of `{}` is taken", name(second)),
    };
    let diagnostic = Diagnostic::at(place(second).unwrap_or(entry.span), message);
    match first.and_then(|(first, _)| place(first)) {
        Some(span) => diagnostic.also(span, "the other one"),
        None => diagnostic,
    }
}

/// Naga's messages mention indices of its arenas, as in `pointer [1]`, which mean nothing to anyone else.
fn without_handles(message: &str) -> String {
    let mut text = String::new();
    let mut rest = message;
    while let Some((before, after)) = rest.split_once(" [") {
        text.push_str(before);
        match after.split_once(']') {
            Some((index, behind)) if index.bytes().all(|b| b.is_ascii_digit()) => rest = behind,
            _ => {
                text.push_str(" [");
                rest = after;
            }
        }
    }
    text + rest
}

fn shader_error<'l>(
    message: String,
    entry: &Spanned<String>,
    mut places: impl Iterator<Item = (Span, &'l str)>,
) -> Diagnostic {
    match places.next() {
        None => Diagnostic::at(entry.span, message),
        Some((span, label)) => places
            .fold(Diagnostic::at(span, message).label(label), |diagnostic, (span, label)| {
                diagnostic.also(span, label)
            }),
    }
}

/// The text of the last cause.
fn innermost(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}
