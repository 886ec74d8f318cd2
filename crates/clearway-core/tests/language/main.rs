//! The pattern language and canonical paths from outside: recorded cases, laws, and two independent
//! opinions on overlap.

mod corpus;
mod exhaustive;
mod laws;
mod oracle;
mod paths;
mod reference;
mod support;
