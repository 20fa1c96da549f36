//! Parses the description of messages into blocks with entries, or into an error with its line.

/// A block of the description: an enum, flags, a number, a record or a shape.
#[derive(Debug)]
pub enum Block {
    Enum(Numbers),
    Flags(Numbers),
    /// A constant with a special meaning, such as "no limit".
    Number {
        name: String,
        number: String,
        value: i64,
        meaning: String,
    },
    Record(Record),
    /// A record whose code is written by hand.
    Shape(Record),
}

/// Named numbers of an enum or of flags.
#[derive(Debug)]
pub struct Numbers {
    pub name: String,
    /// Integer type of the numbers, such as `u8`.
    pub number: String,
    pub attributes: Vec<String>,
    pub meaning: String,
    pub entries: Vec<Named>,
    /// Reason why the engine refuses a message with any other number; `None` if the engine does not read these numbers.
    pub otherwise: Option<String>,
}

/// A named number of an enum or of flags.
#[derive(Debug)]
pub struct Named {
    pub name: String,
    pub value: i64,
    pub meaning: String,
}

/// A record: named fields in the order of the message.
#[derive(Debug)]
pub struct Record {
    pub name: String,
    pub attributes: Vec<String>,
    pub meaning: String,
    pub fields: Vec<Field>,
}

/// A field of a record in a message.
#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub kind: Type,
    /// True if Java skips the field.
    pub unread: bool,
    /// Condition under which the field is present, in words; empty if it always is.
    pub condition: String,
    pub meaning: String,
}

/// The type of a field in a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Type {
    /// A basic type such as `u8` or `str`.
    Plain(String),
    Maybe(Box<Type>),
    List(Box<Type>),
    /// The name of another block: an enum, flags or a record.
    Block(String),
}

const PLAIN: &[&str] = &["u8", "u16", "u32", "u64", "i32", "i64", "bool", "str", "bytes"];

impl Type {
    fn read(text: &str) -> Self {
        let inner = |start| text.strip_prefix(start).and_then(|rest| rest.strip_suffix('>'));
        if let Some(inner) = inner("opt<") {
            Self::Maybe(Box::new(Self::read(inner)))
        } else if let Some(inner) = inner("list<") {
            Self::List(Box::new(Self::read(inner)))
        } else if PLAIN.contains(&text) {
            Self::Plain(text.into())
        } else {
            Self::Block(text.into())
        }
    }

    /// Returns the type of the values inside nested optional values and lists.
    pub fn innermost(&self) -> &Self {
        match self {
            Self::Maybe(inner) | Self::List(inner) => inner.innermost(),
            plain => plain,
        }
    }
}

impl std::fmt::Display for Type {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Plain(name) | Self::Block(name) => out.write_str(name),
            Self::Maybe(inner) => write!(out, "opt<{inner}>"),
            Self::List(inner) => write!(out, "list<{inner}>"),
        }
    }
}

impl Block {
    pub fn name(&self) -> &str {
        match self {
            Self::Enum(numbers) | Self::Flags(numbers) => &numbers.name,
            Self::Number { name, .. } => name,
            Self::Record(record) | Self::Shape(record) => &record.name,
        }
    }
}

impl Numbers {
    pub fn is(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|one| one == attribute)
    }
}

impl Record {
    pub fn is(&self, attribute: &str) -> bool {
        self.attributes.iter().any(|one| one == attribute)
    }
}

/// Returns the block of the description with that name; panics if there is none.
pub fn find<'a>(blocks: &'a [Block], name: &str) -> &'a Block {
    let found = blocks.iter().find(|block| block.name() == name);
    found.unwrap_or_else(|| panic!("messages.txt has no block {name}"))
}

/// Parses the description, and checks that names are unique and types are defined.
pub fn read(text: &str) -> Result<Vec<Block>, String> {
    let mut blocks = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.split_once('#').map_or(line, |(before, _)| before).trim_end();
        if line.is_empty() {
            continue;
        }
        let (head, meaning) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
        let added = match head.strip_prefix("    ") {
            Some(entry) => add_entry(blocks.last_mut(), entry, meaning),
            None => block(head, meaning).map(|block| blocks.push(block)),
        };
        added.map_err(|why| format!("line {}: {why}: {line}", at + 1))?;
    }
    verify(&blocks)?;
    Ok(blocks)
}

fn block(head: &str, meaning: &str) -> Result<Block, String> {
    let mut words = head.split(' ').map(str::to_owned);
    let kind = words.next().unwrap_or_default();
    let name = words.next().ok_or("a block needs a name")?;
    let meaning = meaning.to_owned();
    if matches!(&*kind, "record" | "shape") {
        let record = Record { name, attributes: words.collect(), meaning, fields: Vec::new() };
        return Ok(if kind == "record" { Block::Record(record) } else { Block::Shape(record) });
    }
    let number = words.next().ok_or("an enum, flags or number needs a type")?;
    if kind == "number" {
        let value =
            words.nth(1).and_then(|value| value.parse().ok()).ok_or("the number is missing")?;
        return Ok(Block::Number { name, number, value, meaning });
    }
    let (attributes, entries) = (words.collect(), Vec::new());
    let numbers = Numbers { name, number, attributes, meaning, entries, otherwise: None };
    match &*kind {
        "enum" => Ok(Block::Enum(numbers)),
        "flags" => Ok(Block::Flags(numbers)),
        _ => Err("unknown kind of block; expected enum, flags, number, record or shape".into()),
    }
}

fn add_entry(block: Option<&mut Block>, entry: &str, meaning: &str) -> Result<(), String> {
    match block {
        Some(Block::Enum(numbers)) if entry == "else" => numbers.otherwise = Some(meaning.into()),
        Some(Block::Enum(numbers) | Block::Flags(numbers)) => {
            let (name, value) =
                entry.split_once(" = ").ok_or("expected an entry of the form: name = number")?;
            let value = value.parse().map_err(|_| "the value is not a number")?;
            numbers.entries.push(Named { name: name.into(), value, meaning: meaning.into() });
        }
        Some(Block::Record(record) | Block::Shape(record)) => {
            let (entry, condition) = entry.split_once(" if ").unwrap_or((entry, ""));
            let (kind, name) = entry.split_once(' ').ok_or("a field needs a type and a name")?;
            let (name, unread) = match name.strip_suffix(" unread") {
                Some(name) => (name, true),
                None => (name, false),
            };
            record.fields.push(Field {
                name: name.into(),
                kind: Type::read(kind),
                unread,
                condition: condition.into(),
                meaning: meaning.into(),
            });
        }
        _ => return Err("an entry without a block".into()),
    }
    Ok(())
}

/// Checks that names and numbers are unique, and that types are defined.
fn verify(blocks: &[Block]) -> Result<(), String> {
    for (at, block) in blocks.iter().enumerate() {
        let name = block.name();
        if blocks[..at].iter().any(|other| other.name() == name) {
            return Err(format!("two blocks are called {name}"));
        }
        match block {
            Block::Enum(numbers) | Block::Flags(numbers) => verify_numbers(block, numbers)?,
            Block::Record(record) | Block::Shape(record) => {
                for (at, field) in record.fields.iter().enumerate() {
                    if record.fields[..at].iter().any(|other| other.name == field.name) {
                        return Err(format!("{name} has two fields called {}", field.name));
                    }
                    if let Type::Block(of) = field.kind.innermost()
                        && !blocks.iter().any(|block| block.name() == of)
                    {
                        return Err(format!("{name}: unknown type {of}"));
                    }
                }
            }
            Block::Number { .. } => {}
        }
    }
    Ok(())
}

fn verify_numbers(block: &Block, numbers: &Numbers) -> Result<(), String> {
    for (at, entry) in numbers.entries.iter().enumerate() {
        let mut before = numbers.entries[..at].iter();
        if before.any(|other| other.name == entry.name || other.value == entry.value) {
            return Err(format!("{}: duplicate entry {}", numbers.name, entry.name));
        }
        let is_bit = entry.value > 0 && entry.value & (entry.value - 1) == 0;
        if matches!(block, Block::Flags(_)) && !is_bit {
            return Err(format!("{}: {} is not a single bit", numbers.name, entry.name));
        }
    }
    Ok(())
}

/// Converts a name to upper camel case: `next_of_loop` becomes `NextOfLoop`.
pub fn camel(name: &str) -> String {
    name.split('_')
        .map(|word| {
            let mut letters = word.chars();
            let first = letters.next().map(|letter| letter.to_ascii_uppercase());
            first.into_iter().chain(letters).collect::<String>()
        })
        .collect()
}
