//! PostgreSQL lives through every story of the storage contract.

use clearway_store::conformance::run_all;
use clearway_store_postgres::{Clock, Link, PostgresEngine, Server, Settings, install};
use std::time::Duration;

#[test]
fn postgres_conforms() {
    let server = Server::start();
    let directory = server.directory().to_owned();
    install(&directory).unwrap();
    let mut operator = Link::open(&directory).unwrap();
    run_all(|_| {
        operator.batch("TRUNCATE scopes CASCADE").unwrap();
        let settings =
            Settings { directory: directory.clone(), timeout: Duration::from_secs(5), clock: Clock::Caller };
        Box::new(PostgresEngine::connect(settings).unwrap())
    });
}
