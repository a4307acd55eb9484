//! Rows of figures, several items of a dictionary at once.

use super::batch::{Batch, Row};
use super::plan::Plan;
use super::value::{Text, Value};

/// Items `key: {name: figure, …}` of a dictionary, none of whose values the pickle refers to again.
pub struct Rows<'a, D> {
    /// What the machine remembers; the keys and names of the batch are positions in it.
    memo: &'a [Option<Value<D>>],
    batch: &'a Batch,
}

impl<'a, D> Rows<'a, D> {
    /// Puts positions in place of a batch's slots; `None` where a slot holds something other than text.
    pub(super) fn new(
        memo: &'a [Option<Value<D>>],
        plan: &Plan,
        batch: &'a mut Batch,
    ) -> Option<Self> {
        let position = |slot: u32| {
            let position = plan.place(slot)?;
            matches!(memo[position], Some(Value::Text(_))).then_some(position as u32)
        };
        for row in &mut batch.rows {
            row.key = position(row.key)?;
        }
        // Row after row has the same few names.
        let mut known = [None; 8];
        for (name, _) in &mut batch.figures {
            let known = &mut known[*name as usize % 8];
            *name = match *known {
                Some((slot, position)) if slot == *name => position,
                _ => {
                    let found = position(*name)?;
                    *known = Some((*name, found));
                    found
                }
            };
        }
        Some(Self { memo, batch })
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.batch.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.batch.rows.is_empty()
    }

    /// The items in order, each with its figures, of which there is at least one.
    pub fn iter(&self) -> impl Iterator<Item = (&'a Text, impl Iterator<Item = (&'a Text, f64)>)> {
        let (memo, batch) = (self.memo, self.batch);
        let text = move |position: u32| match &memo[position as usize] {
            Some(Value::Text(text)) => Some(&**text),
            _ => None,
        };
        let mut start = 0;
        batch.rows.iter().filter_map(move |&Row { key, end, .. }| {
            let figures = batch.figures[start..end].iter();
            start = end;
            Some((text(key)?, figures.filter_map(move |&(name, value)| Some((text(name)?, value)))))
        })
    }
}
