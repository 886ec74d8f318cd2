//! The hooks of agents' clients: what is granted, refused and said when a file is about to be written.

mod attribution;
mod bad_payloads;
mod broad;
mod crowd;
mod fixtures;
mod gate;
mod lives;
mod outages;
mod told;
mod typed;
