//! The model lives through every story.

use clearway_store::conformance::run_all;
use clearway_store::memory::MemoryEngine;

#[test]
fn the_memory_model_conforms() {
    run_all(|_| Box::new(MemoryEngine::default()));
}

#[test]
fn an_engine_that_loads_more_than_was_asked_for_conforms_too() {
    run_all(|_| Box::new(MemoryEngine::generous()));
}
