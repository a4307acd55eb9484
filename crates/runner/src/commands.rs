//! One module per subcommand: its arguments, the call, and the table that is printed.

pub(crate) mod ask;
pub(crate) mod calls;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod data;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod index;
pub(crate) mod need;
pub(crate) mod oracle;
pub(crate) mod rank;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod setup;
pub(crate) mod systems;
pub(crate) mod train;
pub(crate) mod tune;
pub(crate) mod validate;
