//! Text for people: it fits 80 columns, colour adds meaning that the words have without it, and nothing from
//! outside can disturb the terminal.

mod events;
mod failure;
mod leases;
pub(crate) mod mail;
mod style;
mod table;
mod wrap;

pub(crate) use events::{Known, line as event_line};
pub(crate) use failure::failure;
pub(crate) use leases::{
    ago, and_more, before_you, count, holder_tone, holding, lease_table, left, machine_wide_name, notices,
    placed_pattern, placed_wants, seen_tone, wrapped,
};
pub(crate) use style::{Page, Tone};
pub(crate) use table::{Cell, Fit, Table};
pub(crate) use wrap::{wrap, wrap_hint};
