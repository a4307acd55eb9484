//! The stack machine that Python's `pickle` describes, for data alone.

use super::batch::{Batch, Memo, Rows};
use super::error::{Fault, PickleError};
use super::globals;
use super::opcode::{Op, Opcodes};
use super::plan::Plan;
use super::value::{Dict, List, Value};
use std::io::Read;
use std::rc::Rc;

/// Picklers write a thousand items at a time: only a few thousand values are ever unfinished.
const MOST_VALUES: usize = 1 << 20;

/// What a reader makes of dictionaries.
///
/// Items arrive from the inside out: when a dictionary goes into another one, it is complete. So a
/// sink can turn it into something smaller there and then, or hand it on and forget it.
pub trait Sink {
    /// What it keeps of one dictionary.
    type Dict: Default;

    /// Puts an item in a dictionary. The error says what is wrong with it.
    fn insert(
        &mut self,
        dict: &mut Self::Dict,
        key: &Value<Self::Dict>,
        value: Value<Self::Dict>,
    ) -> Result<(), String>;

    /// Puts several items that are dictionaries of figures in a dictionary, which saves the time of
    /// making each of them. False where nothing was done: then the items are inserted one by one.
    /// What comes of them must be the same.
    fn insert_rows(&mut self, _dict: &mut Self::Dict, _rows: &Rows<Self::Dict>) -> bool {
        false
    }
}

/// Runs a pickle whose plan was made from the same bytes.
pub fn fold<S: Sink>(
    reader: impl Read,
    plan: &Plan,
    sink: &mut S,
) -> Result<Value<S::Dict>, PickleError> {
    let mut opcodes = Opcodes::new(reader);
    let memo = vec![None; plan.kept()];
    let mut machine =
        Machine { stack: Vec::new(), marks: Vec::new(), memo, memoized: 0, plan, sink };
    let mut batch = Batch::default();
    loop {
        let op = opcodes.next()?;
        if op == Op::Stop {
            return machine.pop().map_err(|fault| opcodes.fail(fault));
        }
        machine.step(op, opcodes.payload()).map_err(|fault| opcodes.fail(fault))?;
        if op == Op::Mark && machine.fills_dictionary() {
            let length = opcodes.find_batch(&mut batch)?;
            if length > 0 && machine.insert_batch(&mut batch) {
                opcodes.take_batch(length);
            }
        }
    }
}

struct Machine<'a, S: Sink> {
    stack: Vec<Value<S::Dict>>,
    /// Heights of the stack at the open marks. Nothing is popped from below the last.
    marks: Vec<usize>,
    memo: Vec<Option<Value<S::Dict>>>,
    /// The next slot of `MEMOIZE`.
    memoized: u32,
    plan: &'a Plan,
    sink: &'a mut S,
}

type Val<S> = Value<<S as Sink>::Dict>;

impl<S: Sink> Machine<'_, S> {
    fn step(&mut self, op: Op, payload: &[u8]) -> Result<(), Fault> {
        match op {
            Op::None => self.push(Value::None),
            Op::Bool(value) => self.push(Value::Bool(value)),
            Op::Int(value) => self.push(Value::Int(value)),
            Op::Float(value) => self.push(Value::Float(value)),
            Op::Text => self.push(Value::text(utf8(payload)?)),
            Op::Bytes => self.push(Value::bytes(payload)),
            Op::EmptyList => self.push(Value::List(Rc::new(List::new()))),
            Op::EmptyDict => self.push(Value::Dict(Rc::default())),
            Op::Tuple | Op::TupleOf(_) | Op::List | Op::Dict => self.build_from_stack(op),
            Op::Append | Op::Appends | Op::SetItem | Op::SetItems => self.extend(op),
            Op::Get(_) | Op::Put(_) | Op::Memoize => self.remember(op),
            Op::Global | Op::StackGlobal | Op::Reduce | Op::Build => self.object(op, payload),
            Op::Header | Op::Stop => Ok(()),
            Op::Mark | Op::Pop | Op::PopMark | Op::Dup => self.shuffle(op),
        }
    }

    #[inline]
    fn push(&mut self, value: Val<S>) -> Result<(), Fault> {
        if self.stack.len() >= MOST_VALUES {
            return Err(too_many());
        }
        self.stack.push(value);
        Ok(())
    }

    fn floor(&self) -> usize {
        self.marks.last().copied().unwrap_or(0)
    }

    fn pop(&mut self) -> Result<Val<S>, Fault> {
        if self.stack.len() <= self.floor() {
            return Err(Fault::underflow());
        }
        self.stack.pop().ok_or_else(Fault::underflow)
    }

    fn top(&self) -> Result<&Val<S>, Fault> {
        self.stack[self.floor()..].last().ok_or_else(Fault::underflow)
    }

    /// Where the topmost values begin.
    fn above(&self, count: usize) -> Result<usize, Fault> {
        self.stack
            .len()
            .checked_sub(count)
            .filter(|&from| from >= self.floor())
            .ok_or_else(Fault::underflow)
    }

    /// Where the values above the last mark begin. The mark goes.
    fn unmark(&mut self) -> Result<usize, Fault> {
        self.marks.pop().ok_or_else(|| Fault::found("an operation without a mark"))
    }

    fn shuffle(&mut self, op: Op) -> Result<(), Fault> {
        match op {
            Op::Mark if self.marks.len() >= MOST_VALUES => Err(too_many()),
            Op::Mark => {
                self.marks.push(self.stack.len());
                Ok(())
            }
            // A mark is popped like a value.
            Op::Pop if self.marks.last() == Some(&self.stack.len()) => self.unmark().map(drop),
            Op::Pop => self.pop().map(drop),
            Op::PopMark => {
                let from = self.unmark()?;
                self.stack.truncate(from);
                Ok(())
            }
            _ => {
                let top = self.top()?.clone();
                self.push(top)
            }
        }
    }

    fn build_from_stack(&mut self, op: Op) -> Result<(), Fault> {
        let value = match op {
            Op::TupleOf(count) => {
                let from = self.above(count.into())?;
                Value::tuple(self.stack.split_off(from))?
            }
            Op::Tuple => {
                let from = self.unmark()?;
                Value::tuple(self.stack.split_off(from))?
            }
            Op::List => {
                let (list, from) = (List::new(), self.unmark()?);
                self.stack.drain(from..).try_for_each(|item| list.push(item))?;
                Value::List(Rc::new(list))
            }
            _ => {
                let (dict, from) = (Rc::default(), self.unmark()?);
                self.insert_from(&dict, from)?;
                Value::Dict(dict)
            }
        };
        self.push(value)
    }

    fn extend(&mut self, op: Op) -> Result<(), Fault> {
        let from = match op {
            Op::Append => self.above(1)?,
            Op::SetItem => self.above(2)?,
            _ => self.unmark()?,
        };
        let target = self.stack[self.floor()..from].last().ok_or_else(Fault::underflow)?.clone();
        match (op, target) {
            (Op::Append | Op::Appends, Value::List(list)) => {
                self.stack.drain(from..).try_for_each(|item| list.push(item))
            }
            (Op::SetItem | Op::SetItems, Value::Dict(dict)) => self.insert_from(&dict, from),
            (Op::Append | Op::Appends, other) => Err(Fault::wrong("a list", other.kind())),
            (_, other) => Err(Fault::wrong("a dictionary", other.kind())),
        }
    }

    /// Takes keys and values in turn from the end of the stack.
    fn insert_from(&mut self, dict: &Rc<Dict<S::Dict>>, from: usize) -> Result<(), Fault> {
        let mut items = self.stack.drain(from..);
        while let Some(key) = items.next() {
            let value = items.next().ok_or_else(Fault::underflow)?;
            if matches!(key, Value::List(_) | Value::Dict(_)) {
                return Err(Fault::found(format!("{} as a key", key.kind())));
            }
            let depth = value.settle()?;
            dict.change(depth, |content| self.sink.insert(content, &key, value))?;
        }
        Ok(())
    }

    /// Whether what follows the mark just set goes into a dictionary, and no check of
    /// [`push`](Self::push) can fail until a batch ends.
    fn fills_dictionary(&self) -> bool {
        let filled = self.marks.last().and_then(|mark| mark.checked_sub(1));
        let below = self.marks.len().checked_sub(2).map_or(0, |at| self.marks[at]);
        let filled = filled.filter(|&at| at >= below).map(|at| &self.stack[at]);
        matches!(filled, Some(Value::Dict(_)))
            && self.stack.len().max(self.marks.len()) < MOST_VALUES / 2
    }

    /// Runs a batch from its mark to its `SETITEMS`; false where nothing was done.
    fn insert_batch(&mut self, batch: &mut Batch) -> bool {
        let mut memoized = self.memoized;
        for row in &batch.rows {
            let slot = match row.memo {
                Memo::Not => continue,
                Memo::Next => memoized,
                Memo::Slot(slot) => slot,
            };
            if self.plan.place(slot).is_some() {
                return false;
            }
            memoized = memoized.max(slot.saturating_add(1));
        }
        let filled = self.marks.last().and_then(|mark| self.stack.get(mark.checked_sub(1)?));
        let rows = Rows::new(&self.memo, |slot| self.plan.place(slot), batch);
        let (Some(Value::Dict(dict)), Some(rows)) = (filled, rows) else {
            return false;
        };
        if !dict.fill(|content| self.sink.insert_rows(content, &rows)) {
            return false;
        }
        self.memoized = memoized;
        self.marks.pop();
        true
    }

    fn remember(&mut self, op: Op) -> Result<(), Fault> {
        let slot = match op {
            Op::Get(slot) => {
                let value = self.plan.place(slot).and_then(|place| self.memo[place].clone());
                let Some(value) = value else {
                    return Err(Fault::found(format!(
                        "a use of memo slot {slot}, which is empty,"
                    )));
                };
                return self.push(value);
            }
            Op::Put(slot) => slot,
            _ => self.memoized,
        };
        // Python counts the slots in use: the same where a writer leaves no gaps.
        self.memoized = self.memoized.max(slot.saturating_add(1));
        let value = self.top()?;
        if let Some(place) = self.plan.place(slot) {
            self.memo[place] = Some(value.clone());
        }
        Ok(())
    }

    fn object(&mut self, op: Op, payload: &[u8]) -> Result<(), Fault> {
        match op {
            Op::Global => {
                let (module, name) = utf8(payload)?.split_once('\n').unwrap_or_default();
                self.push(Value::Global(globals::lookup(module, name)?))
            }
            Op::StackGlobal => match (self.pop()?, self.pop()?) {
                (Value::Text(name), Value::Text(module)) => {
                    self.push(Value::Global(globals::lookup(module.as_str(), name.as_str())?))
                }
                (name, _) => Err(Fault::wrong("a module and a name", name.kind())),
            },
            Op::Reduce => match (self.pop()?, self.pop()?) {
                (Value::Tuple(arguments), Value::Global(global)) => {
                    self.push(globals::call(global, &arguments)?)
                }
                (_, callee) => Err(Fault::wrong("a function and its arguments", callee.kind())),
            },
            _ => {
                let state = self.pop()?;
                match self.top()? {
                    Value::Dtype(dtype) => dtype.set(dtype.get().with_state(&state)?),
                    other => {
                        return Err(Fault::wrong("a numpy data type", other.kind()));
                    }
                }
                Ok(())
            }
        }
    }
}

fn utf8(payload: &[u8]) -> Result<&str, Fault> {
    str::from_utf8(payload).map_err(|_| Fault::text("UTF-8"))
}

#[cold]
fn too_many() -> Fault {
    Fault::found(format!("more than {MOST_VALUES} unfinished values"))
}
