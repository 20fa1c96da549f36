//! Kinds of controllers at run time, one file per kind. The walk through them is in [`search`](crate::flow::search).
//!
//! A kind that needs nothing but its own state is functions of that state; none of these knows the core.

pub(crate) mod critical_section;
pub(crate) mod hosted;
pub(crate) mod parallel;
pub(crate) mod random_order;
pub(crate) mod runtime;
pub(crate) mod throughput;
pub(crate) mod weighted_switch;
pub(crate) mod while_loop;
