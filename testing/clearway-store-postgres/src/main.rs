//! Starts a private server with the tables in it, says where, and ends it at the end of its input: for looking at a
//! store by hand (`psql -h DIRECTORY -U clearway postgres`), and for tests that kill its owner.

use clearway_store_postgres::{Server, install};

fn main() {
    let server = Server::start();
    install(server.directory()).unwrap_or_else(|error| panic!("no tables: {error}"));
    println!("{} {}", server.directory().display(), server.keeper());
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}
