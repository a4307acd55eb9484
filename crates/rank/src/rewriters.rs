//! All models that rewrite requests. A new one is a file in `rewriters/` and a line here.

mod chat;
mod gate;
mod t5;

use crate::rewrite::Rewriter;
use crate::table::Table;
use clariq_core::Result;
use std::sync::Arc;

type RewriterFactory = fn(Table) -> Result<Arc<dyn Rewriter>>;

/// Models that rewrite: the key that names one in a table `rewrite`, and what makes it of the table.
const REWRITERS: &[(&str, RewriterFactory)] = &[("chat", chat::build)];

/// Reads a table `rewrite`, whose key `when` chooses the requests. It is a T5's if it has the key of no other model.
pub(crate) fn read_rewriter(table: Table) -> Result<Arc<dyn Rewriter>> {
    let other = REWRITERS.iter().find(|(key, _)| table.has(key));
    gate::build(table, other.map_or(t5::build as RewriterFactory, |(_, build)| *build))
}
