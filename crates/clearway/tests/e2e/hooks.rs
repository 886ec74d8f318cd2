//! The hooks of agents' clients: what is granted, refused and said when a file is about to be written.

mod attribution;
mod back;
mod bad_payloads;
mod broad;
mod circles;
mod concerned;
mod crowd;
mod elsewhere;
mod fixtures;
mod gate;
mod hot;
mod ignored;
mod lives;
mod outages;
pub(crate) mod told;
mod typed;
