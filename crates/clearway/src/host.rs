//! What the command line asks of the machine beside what the kernel asks.

use crate::backstage;
use crate::machine::Machine;
use clearway_cli::{Backstage, Host, Spent, Zone};
use clearway_core::failure::Failure;
use clearway_core::slug::Slug;
use clearway_platform::environment;
use clearway_platform::input::{self, Input};
use std::time::Duration;

impl Host for Machine {
    fn zone(&self) -> Zone {
        let text = self.environment().text("TZ");
        Zone::read(environment::zone_file(self.environment()).as_deref(), text)
    }

    fn spent(&self) -> Spent {
        Spent { total_ms: self.since_start.elapsed_ms(), asking_ms: self.asking_ms }
    }

    fn input(&mut self, bytes_max: usize, patience: Duration) -> Result<Vec<u8>, Failure> {
        let unreadable = |why: &str| Failure::new(Slug::Usage, format!("standard input {why}"));
        match input::read(bytes_max, patience) {
            Ok(Input::Whole(bytes)) => Ok(bytes),
            Ok(Input::TooLong) => Err(unreadable(&format!("is longer than {bytes_max} bytes"))),
            Ok(Input::Unfinished) => Err(unreadable("did not end in time")),
            Err(error) => Err(unreadable(&format!("cannot be read: {error}"))),
        }
    }

    fn backstage(&mut self) -> Result<Box<dyn Backstage>, Failure> {
        backstage::prepare(self.environment())
    }
}
