//! What is true of a server and not of a file: others are inside at the same time, a connection can be cut anywhere,
//! the time is the server's, and every question is a journey.

mod clock;
mod cuts;
mod fold;
mod proxy;
mod queue;
mod servers;
mod support;
mod together;
