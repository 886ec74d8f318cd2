//! Mail between the agents of one scope: what a message is, who may get one, and what a mailbox holds.
//!
//! The log says who wrote to whom, when, how much and with which digest. The text itself lies beside it. Nothing here
//! decides: see `decide/mail.rs`.

mod act;
mod entry;
mod event;
mod limits;
mod message;
mod page;
mod query;
mod retention;
mod rules;
mod state;

pub use act::{Act, Answer, MailVerb, RulesChange, Send, Sent};
pub use entry::{Entry, Role, Standing};
pub use event::MailEvent;
pub use limits::*;
pub use message::{Importance, Message, MessageId, Recipient, Topic};
pub(crate) use message::{first_line, names_in};
pub use page::excerpt;
pub use query::{Letter, MailRead, MailSlice, Mailbox, Which};
pub use retention::{Retention, outlived};
pub use rules::{Policy, Rules};
pub use state::MailState;
