//! Values on the stack of the pickle machine.

use super::error::Fault;
use std::cell::{Cell, OnceCell, Ref, RefCell};
use std::rc::Rc;

/// Dropping a container takes a stack frame a level: no table needs more than a handful.
const DEEPEST: u16 = 64;

/// A Python value. `D` is what the [`Sink`](super::Sink) makes of dictionaries.
#[derive(Debug)]
pub enum Value<D> {
    /// `None`.
    None,
    /// `bool`.
    Bool(bool),
    /// `int`, or a numpy integer.
    Int(i64),
    /// `float`, or a numpy float.
    Float(f64),
    /// `str`, or a numpy string.
    Text(Rc<Text>),
    /// `bytes`.
    Bytes(Rc<Vec<u8>>),
    /// `tuple`.
    Tuple(Rc<Tuple<D>>),
    /// `list`.
    List(Rc<List<D>>),
    /// `dict`.
    Dict(Rc<Dict<D>>),
    /// A class or function of the allow-list.
    Global(Global),
    /// A numpy data type.
    Dtype(Rc<Cell<Dtype>>),
}

/// A name of the allow-list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Global {
    /// `numpy.core.multiarray.scalar`, since numpy 2 `numpy._core.multiarray.scalar`.
    Scalar,
    /// `numpy.dtype`.
    Dtype,
    /// `_codecs.encode`: how protocols 0 to 2 write bytes.
    Encode,
    /// `collections.OrderedDict`.
    OrderedDict,
}

/// A numpy data type: a number, a truth value or a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dtype {
    /// numpy's letter: `f`, `i`, `u`, `b` or `U`.
    pub(super) kind: u8,
    /// Bytes of a value.
    pub(super) size: usize,
    pub(super) big_endian: bool,
}

// Derived, it would ask that `D` can be cloned as well.
impl<D> Clone for Value<D> {
    fn clone(&self) -> Self {
        match self {
            Self::None => Self::None,
            Self::Bool(value) => Self::Bool(*value),
            Self::Int(value) => Self::Int(*value),
            Self::Float(value) => Self::Float(*value),
            Self::Text(text) => Self::Text(Rc::clone(text)),
            Self::Bytes(bytes) => Self::Bytes(Rc::clone(bytes)),
            Self::Tuple(tuple) => Self::Tuple(Rc::clone(tuple)),
            Self::List(list) => Self::List(Rc::clone(list)),
            Self::Dict(dict) => Self::Dict(Rc::clone(dict)),
            Self::Global(global) => Self::Global(*global),
            Self::Dtype(dtype) => Self::Dtype(Rc::clone(dtype)),
        }
    }
}

impl<D> Value<D> {
    /// The kind of value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::None => "None",
            Self::Bool(_) => "a truth value",
            Self::Int(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Text(_) => "text",
            Self::Bytes(_) => "bytes",
            Self::Tuple(_) => "a tuple",
            Self::List(_) => "a list",
            Self::Dict(_) => "a dictionary",
            Self::Global(_) => "a class or function",
            Self::Dtype(_) => "a numpy data type",
        }
    }

    /// The text, where the value is one.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// Makes it part of another container, after which it must not change; the depth of the whole.
    pub(super) fn settle(&self) -> Result<u16, Fault> {
        let depth = match self {
            Self::Tuple(tuple) => tuple.depth,
            Self::List(list) => list.state.settle(),
            Self::Dict(dict) => dict.state.settle(),
            _ => return Ok(0),
        };
        if depth < DEEPEST {
            Ok(depth + 1)
        } else {
            Err(Fault::found(format!("a nesting deeper than {DEEPEST}")))
        }
    }

    pub(super) fn text(text: &str) -> Self {
        Self::Text(Rc::new(Text { text: text.into(), tag: OnceCell::new() }))
    }

    pub(super) fn bytes(bytes: &[u8]) -> Self {
        Self::Bytes(Rc::new(bytes.to_vec()))
    }

    pub(super) fn tuple(items: Vec<Self>) -> Result<Self, Fault> {
        let mut depth = 0;
        for item in &items {
            depth = depth.max(item.settle()?);
        }
        Ok(Self::Tuple(Rc::new(Tuple { items, depth })))
    }
}

/// A string. Where the pickle refers to it again, it is the same object again.
#[derive(Debug)]
pub struct Text {
    text: Box<str>,
    tag: OnceCell<u32>,
}

impl Text {
    /// The string itself.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// A number that the sink attaches to this object, computed once: its symbol.
    pub fn tag(&self, make: impl FnOnce(&str) -> u32) -> u32 {
        *self.tag.get_or_init(|| make(&self.text))
    }
}

/// Python's `tuple`.
#[derive(Debug)]
pub struct Tuple<D> {
    items: Vec<Value<D>>,
    depth: u16,
}

impl<D> Tuple<D> {
    /// The items in order.
    pub fn items(&self) -> &[Value<D>] {
        &self.items
    }
}

/// Python's `list`.
#[derive(Debug)]
pub struct List<D> {
    items: RefCell<Vec<Value<D>>>,
    state: State,
}

impl<D> List<D> {
    pub(super) fn new() -> Self {
        Self { items: RefCell::default(), state: State::default() }
    }

    /// The items in order.
    pub fn items(&self) -> Ref<'_, [Value<D>]> {
        Ref::map(self.items.borrow(), Vec::as_slice)
    }

    pub(super) fn push(&self, item: Value<D>) -> Result<(), Fault> {
        self.state.grow(item.settle()?)?;
        self.items.borrow_mut().push(item);
        Ok(())
    }
}

/// Python's `dict`, as the sink keeps it.
#[derive(Debug, Default)]
pub struct Dict<D> {
    content: RefCell<D>,
    state: State,
}

impl<D> Dict<D> {
    /// What the sink made of it.
    pub fn content(&self) -> Ref<'_, D> {
        self.content.borrow()
    }

    /// The content without a copy, unless the pickle refers to this dictionary again.
    pub fn take(self: Rc<Self>) -> Result<D, Rc<Self>> {
        Rc::try_unwrap(self).map(|dict| dict.content.into_inner())
    }

    /// Puts in an item of that depth (see [`Value::settle`]) through `insert`.
    pub(super) fn change(
        &self,
        depth: u16,
        insert: impl FnOnce(&mut D) -> Result<(), String>,
    ) -> Result<(), Fault> {
        self.state.grow(depth)?;
        insert(&mut self.content.borrow_mut()).map_err(Fault::found)
    }

    /// Puts in dictionaries without containers in them through `insert`, which says whether it did.
    pub(super) fn fill(&self, insert: impl FnOnce(&mut D) -> bool) -> bool {
        !self.state.settled.get()
            && insert(&mut self.content.borrow_mut())
            && self.state.grow(1).is_ok()
    }
}

/// How deep a container goes, and whether it is part of another one.
///
/// A pickler fills a container before it puts it anywhere, unless it holds itself. Refusing that
/// makes every value a finite tree, and lets the sink take a dictionary's content away.
#[derive(Debug, Default)]
struct State {
    depth: Cell<u16>,
    settled: Cell<bool>,
}

impl State {
    fn settle(&self) -> u16 {
        self.settled.set(true);
        self.depth.get()
    }

    fn grow(&self, depth: u16) -> Result<(), Fault> {
        if self.settled.get() {
            return Err(Fault::found("a change of a container that is already part of another"));
        }
        self.depth.set(self.depth.get().max(depth));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_two_words() {
        assert_eq!(size_of::<Value<Vec<u8>>>(), 16);
        assert_eq!(size_of::<Option<Value<Vec<u8>>>>(), 16);
    }
}
