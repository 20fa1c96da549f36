//! Parser of expressions. The parser reproduces JMeter's parser with its peculiarities, because plans rely on them.
//!
//! - A string is scanned for `${`. The rest up to `}` is a variable, or up to `(` a function if a function of that
//!   name exists. An unknown function is a variable whose name contains parentheses.
//! - Parameters are split at commas outside `${…}` (even inside parentheses), and each is parsed as a string.
//! - `}` must follow a function's `)`, with only spaces between; otherwise the whole string is invalid.
//!
//! Cost: each level of nesting scans its content once more; the number of levels is limited.

use super::{Part, Problem, Reason, Template, TemplateCompiler};
use crate::condition::is_comparison;
use crate::function::jexl;
use crate::function::{self, Call, Spec, Support};
use crate::java_backed::TextId;
use crate::script::{self, Role, Script, ScriptKind};
use crate::vars::Names;

/// Maximum number of nesting levels. More levels would exhaust the stack.
const DEEPEST: u32 = 64;

/// The context in which a string is compiled.
pub(super) enum Scope<'a> {
    /// A string of the plan: new variable names get slots, and calls may keep state.
    Plan(&'a mut TemplateCompiler),
    /// A string that was built at run time by a function such as `__eval`: variables without a slot are looked up
    /// by name, and calls keep no state.
    Run { names: &'a Names, problems: &'a mut Vec<Problem> },
}

/// The error for a string that JMeter cannot parse.
#[derive(Debug)]
pub(super) struct Invalid {
    pub(super) function: String,
    pub(super) message: String,
}

/// The compilation of one string.
pub(super) struct Build<'a> {
    scope: Scope<'a>,
    depth: u32,
}

/// Reader of characters with a position.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let found = self.text[self.at..].chars().next()?;
        self.at += found.len_utf8();
        Some(found)
    }

    /// Returns the character after a backslash, or the backslash itself at the end of the string.
    fn escaped(&mut self) -> char {
        self.next().unwrap_or('\\')
    }
}

impl<'a> Build<'a> {
    pub(super) fn new(scope: Scope<'a>) -> Self {
        Self { scope, depth: 0 }
    }

    /// Splits a string into its parts.
    pub(super) fn parts(&mut self, text: &str) -> Result<Vec<Part>, Invalid> {
        let mut reader = Reader { text, at: 0 };
        let mut parts = Vec::new();
        let mut buffer = String::new();
        let mut previous = ' ';
        while let Some(current) = reader.next() {
            if current == '\\' {
                let escaped = reader.escaped();
                if !matches!(escaped, '$' | ',' | '\\') {
                    buffer.push('\\');
                }
                buffer.push(escaped);
                previous = ' ';
            } else if current == '{' && previous == '$' {
                buffer.pop();
                if !buffer.is_empty() {
                    parts.push(Part::Literal(std::mem::take(&mut buffer).into()));
                }
                parts.push(self.expression(&mut reader)?);
                previous = ' ';
            } else {
                buffer.push(current);
                previous = current;
            }
        }
        if !buffer.is_empty() {
            parts.push(Part::Literal(buffer.into()));
        }
        Ok(parts)
    }

    /// Parses the expression after `${`: a variable or a function. Without a closing brace, the string is literal
    /// and loses its `${`.
    fn expression(&mut self, reader: &mut Reader<'_>) -> Result<Part, Invalid> {
        let start = reader.at - 2;
        let mut buffer = String::new();
        let mut previous = ' ';
        while let Some(current) = reader.next() {
            if current == '\\' {
                buffer.push(reader.escaped());
                previous = ' ';
            } else if current == '(' && previous != ' ' {
                let before = self.java_backed();
                let Some(spec) = function::find(java_trim(&buffer)) else {
                    if let Some(part) = self.foreign(&buffer, start, reader) {
                        return Ok(part);
                    }
                    // The parenthesis is part of a variable's name. `previous` keeps the character before it.
                    buffer.push(current);
                    continue;
                };
                let args = self.params(reader)?;
                check_count(spec, args.len())?;
                if first_non_space(reader) != Some('}') {
                    let head: String = reader.text.chars().take(100).collect();
                    return Err(Invalid {
                        function: spec.name.into(),
                        message: format!("Expected }} after {buffer} function call in {head}"),
                    });
                }
                return Ok(self.call(spec, args, &reader.text[start..reader.at], before));
            } else if current == '}' {
                let Some(spec) = function::find(&buffer) else {
                    return Ok(self.variable(&buffer, &reader.text[start..reader.at]));
                };
                check_count(spec, 0)?;
                let before = self.java_backed();
                return Ok(self.call(spec, Vec::new(), &reader.text[start..reader.at], before));
            } else {
                buffer.push(current);
                previous = current;
            }
        }
        Ok(Part::Literal(buffer.into()))
    }

    /// Parses the parameters up to the closing parenthesis and compiles each as a string.
    fn params(&mut self, reader: &mut Reader<'_>) -> Result<Vec<Template>, Invalid> {
        let mut args = Vec::new();
        let mut buffer = String::new();
        let mut previous = ' ';
        let (mut braces, mut parens) = (0u32, 0u32);
        while let Some(current) = reader.next() {
            match current {
                '\\' => {
                    buffer.push(current);
                    buffer.push(reader.escaped());
                    previous = ' ';
                    continue;
                }
                ',' if braces == 0 => {
                    args.push(self.param(&buffer)?);
                    buffer.clear();
                    continue;
                }
                ')' if braces == 0 && parens == 0 => {
                    if !(buffer.is_empty() && args.is_empty()) {
                        args.push(self.param(&buffer)?);
                    }
                    return Ok(args);
                }
                '{' if previous == '$' => braces += 1,
                '}' if braces > 0 => braces -= 1,
                ')' if braces == 0 => parens -= 1,
                '(' if braces == 0 => parens += 1,
                _ => {}
            }
            buffer.push(current);
            previous = current;
        }
        args.push(self.param(&buffer)?);
        Ok(args)
    }

    fn param(&mut self, source: &str) -> Result<Template, Invalid> {
        if self.depth == DEEPEST {
            return Err(Invalid {
                function: String::new(),
                message: format!("Expressions are nested more than {DEEPEST} deep"),
            });
        }
        self.depth += 1;
        let parts = self.parts(source)?;
        self.depth -= 1;
        Ok(Template::parameter(source, parts))
    }

    fn variable(&mut self, name: &str, source: &str) -> Part {
        if let Some(function) = function_name(name) {
            self.problem(function, Reason::Unknown, source);
        }
        match &mut self.scope {
            Scope::Plan(compiler) => Part::Variable(compiler.names.intern(name)),
            Scope::Run { names, .. } => match names.find(name) {
                Some(id) => Part::Variable(id),
                None => Part::Named(name.into()),
            },
        }
    }

    /// Returns the number of calls in the plan that have been passed to Java so far.
    fn java_backed(&self) -> usize {
        match &self.scope {
            Scope::Plan(compiler) => compiler.java_backed.len(),
            Scope::Run { .. } => 0,
        }
    }

    /// Passes a call with all its parameters to Java. `before` is the number of calls passed to Java before the
    /// parameters were parsed; this call replaces the calls in its parameters.
    fn host(&mut self, source: &str, before: usize) -> Option<Part> {
        let Scope::Plan(compiler) = &mut self.scope else { return None };
        compiler.hosts.then(|| {
            compiler.java_backed.truncate(before);
            compiler.java_backed.push(source.into());
            Part::Java(TextId(before as u32))
        })
    }

    /// Parses a call of a function that JMeter itself does not have, but that a plug-in in Java may have. If no plug-in
    /// has the function, JMeter interprets the call as a variable, and so does Java.
    fn foreign(&mut self, name: &str, start: usize, reader: &mut Reader<'_>) -> Option<Part> {
        let before = self.java_backed();
        let name = java_trim(name);
        let hosts = matches!(&self.scope, Scope::Plan(compiler) if compiler.hosts);
        if !hosts || !is_function_name(name) {
            return None;
        }
        let mut ahead = Reader { text: reader.text, at: reader.at };
        let depth = self.depth;
        let closed = self.params(&mut ahead).is_ok() && first_non_space(&mut ahead) == Some('}');
        self.depth = depth;
        if !closed {
            if let Scope::Plan(compiler) = &mut self.scope {
                compiler.java_backed.truncate(before);
            }
            return None;
        }
        reader.at = ahead.at;
        let source = &reader.text[start..reader.at];
        self.problem(name, Reason::Unknown, source);
        self.host(source, before)
    }

    /// Builds a function call. `before` is the number of calls passed to Java before the parameters were parsed.
    fn call(
        &mut self,
        spec: &'static Spec,
        args: Vec<Template>,
        source: &str,
        before: usize,
    ) -> Part {
        let mut script = None;
        let run = match spec.support {
            Support::Native(run) => run,
            Support::Script(dialect, run) if is_comparison(args[0].raw(), dialect) => run,
            Support::Jexl(run) if jexl::is_known(args[0].raw()) => run,
            Support::Jvm | Support::Script(..) | Support::Jexl(_) => {
                script = self.simple(spec, &args);
                if script.is_none() {
                    self.problem(spec.name, Reason::NeedsJvm, source);
                    let java = self.host(source, before);
                    return java.unwrap_or_else(|| Part::Foreign(source.into()));
                }
                function::SCRIPT
            }
        };
        if let Some(words) = spec.complaint(&args) {
            if let Some(part) = self.host(source, before) {
                self.problem(spec.name, Reason::NeedsJvm, source);
                return part;
            }
            self.problem(spec.name, Reason::Unsupported(words), source);
        }
        let mut call = Call::new(spec, run, args);
        call.script = script.map(Box::new);
        match &mut self.scope {
            Scope::Plan(compiler) => {
                compiler.asks_for_sampler |= spec.name == "__samplerName";
                if spec.keeps_state() {
                    call.site = Some(compiler.site());
                }
                call.target = call.variable_name().map(|name| compiler.names.intern(name));
                match call.property().map(Template::fixed) {
                    None => {}
                    Some(Some(name)) => _ = compiler.properties.insert(name.to_owned()),
                    Some(None) => compiler.any_property = true,
                }
            }
            Scope::Run { names, .. } => {
                call.target = call.variable_name().and_then(|name| names.find(name));
                call.late = true;
            }
        }
        Part::Call(Box::new(call))
    }

    /// Compiles the script of a function call. Returns `None` if the script is not simple.
    fn simple(&mut self, spec: &Spec, args: &[Template]) -> Option<Script> {
        let language = spec.simple?;
        let source = args[0].fixed()?;
        let place = ScriptKind { language, role: Role::Function, jsr223: false };
        let mut late = TemplateCompiler::default();
        let compiler = match &mut self.scope {
            Scope::Plan(compiler) => &mut **compiler,
            Scope::Run { .. } => &mut late,
        };
        if compiler.leaves_scripts {
            return None;
        }
        script::compile(source, place, compiler).ok()
    }

    fn problem(&mut self, function: &str, reason: Reason, source: &str) {
        let problem = Problem { function: function.into(), reason, source: source.into() };
        match &mut self.scope {
            Scope::Plan(compiler) => compiler.problems.push(problem),
            Scope::Run { problems, .. } => problems.push(problem),
        }
    }
}

fn check_count(spec: &Spec, count: usize) -> Result<(), Invalid> {
    let (min, max) = (usize::from(spec.min), usize::from(spec.max));
    if (min..=max).contains(&count) {
        return Ok(());
    }
    let expected = match () {
        () if min == max => format!(". Expected: {min}."),
        () if spec.max == Spec::ANY => format!(". Expected at least: {min}."),
        () => format!(". Expected: >= {min} and <= {max}"),
    };
    Err(Invalid {
        function: spec.name.into(),
        message: format!(
            "{} called with wrong number of parameters. Actual: {count}{expected}",
            spec.name
        ),
    })
}

/// Returns the next character that is not a space according to Java's `Character.isSpaceChar`. Tabs and line ends
/// are not spaces.
fn first_non_space(reader: &mut Reader<'_>) -> Option<char> {
    let is_space = |c: &char| c.is_whitespace() && !matches!(c, '\t'..='\r' | '\u{85}');
    std::iter::from_fn(|| reader.next()).find(|c| !is_space(c))
}

/// Removes the characters that Java's `String.trim` removes.
fn java_trim(text: &str) -> &str {
    text.trim_matches(|c| c <= ' ')
}

/// Returns the function that the author probably wanted to call with this variable name. Only a name that begins
/// with `__` and has a parenthesis counts, because JMeter itself has variables that begin with two underscores.
fn function_name(name: &str) -> Option<&str> {
    let (name, _) = name.split_once('(')?;
    is_function_name(name).then_some(name)
}

fn is_function_name(name: &str) -> bool {
    name.strip_prefix("__").is_some_and(|word| {
        !word.is_empty() && word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}
