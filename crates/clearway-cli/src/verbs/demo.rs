//! `demo`: the kernel at work in a throw-away repository.

use super::{Outcome, answer};
use crate::Host;
use crate::arguments::DemoFlags;
use crate::console::{Answer, Console, document};
use crate::demo::{Director, Pace, Played};
use crate::given::Given;
use crate::render::Page;
use clearway_wire::json::{DemoReply, Told};

/// Plays the story. Whatever went wrong is kept where it happened.
pub(super) fn demo(host: &mut dyn Host, flags: &DemoFlags, console: &mut Console<'_, '_>) -> Outcome {
    let mut backstage = host.backstage()?;
    let (page, json) = (console.page.clone(), console.json);
    let is_watched = page.is_terminal && !json;
    let can_type = host.surroundings().stdin_is_terminal;
    let pace = Pace { slow: flags.slow, is_watched };
    let mut show = |text: &str| if json { Ok(true) } else { console.line(text) };
    let enter = if is_watched && can_type { "Enter goes on at once.\n" } else { "" };
    show(&format!("A throw-away repository; ada, bob and cy are agents with a shell each.\n{enter}\n"))?;
    match Director::new(&mut *backstage, page, pace, &mut show).play() {
        Ok(Played::Whole(reply)) => answer(Shown(reply)),
        Ok(Played::LeftAlone) => Ok(super::Told::Already(0)),
        Err(problem) => {
            backstage.keep()?;
            Err(problem)
        }
    }
}

/// The answer of `demo`.
#[derive(Debug)]
struct Shown(DemoReply);

impl Answer for Shown {
    fn json(&self, _: &Given) -> String {
        document(&Told::new(&self.0))
    }

    fn text(&self, _page: &Page) -> String {
        "All of it was real, and all of it is removed again. In a repository of yours:\n  \
         clearway reserve PATH, clearway status, clearway help\n"
            .to_owned()
    }
}
