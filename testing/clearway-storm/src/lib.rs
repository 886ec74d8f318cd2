//! Storms: real processes against one store, and what has to be true of it afterwards.
//!
//! Everything goes through the command line of the real binary, or through the real engine in processes of their own.
//! Nothing here simulates. Times are asserted by long runs alone. Start at [`histories`].

pub mod day;
pub mod fairness;
mod figures;
pub mod histories;
pub mod looper;
pub mod night;
pub mod pauses;
mod random;
pub mod resident;
mod stage;
pub mod wakeups;

pub use figures::Goals;
pub use stage::{Outcome, Programs, Reply, Stage};
