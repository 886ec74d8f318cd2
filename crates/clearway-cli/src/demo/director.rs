//! Plays the story, shows each command with its real answer, and stops at the first that is not what it should be.

use super::story::{Act, REMEMBERED, STORY, Scene, Step};
use super::{Backstage, By, Ran};
use crate::console::Problem;
use crate::render::{Page, Tone, wrap};
use clearway_core::failure::{Details, Failure};
use clearway_core::shell;
use clearway_core::slug::Slug;
use clearway_wire::hex;
use clearway_wire::json::{DemoReply, DemoStep};
use serde_json::Value;

/// After a step, for those who read along.
const STEP_PAUSE_MS: u64 = 1_400;
/// The same for those who asked for it to be slow.
const SLOW_STEP_PAUSE_MS: u64 = 3_000;
/// A character of an explanation takes so long to be read.
const READ_MS_PER_CHAR: u64 = 45;
/// How often to look whether the one that was started waits, and at most how many times.
const LOOK_MS: u64 = 20;
const LOOKS_MAX: usize = 500;

/// For whom it is played.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Whether each scene is explained.
    pub(crate) slow: bool,
    /// Whether somebody reads along.
    pub(crate) is_watched: bool,
}

/// How far it came.
#[derive(Debug)]
pub(crate) enum Played {
    /// To its end.
    Whole(DemoReply),
    /// Nobody reads any more.
    LeftAlone,
}

/// Shows a text. False if nobody reads any more.
type Show<'a> = dyn FnMut(&str) -> Result<bool, Problem> + 'a;

/// Plays the story.
pub(crate) struct Director<'a> {
    backstage: &'a mut dyn Backstage,
    page: Page,
    pace: Pace,
    show: &'a mut Show<'a>,
    remembered: String,
    scene: &'static str,
    steps: Vec<DemoStep>,
    wake_up_ms: u64,
    is_read: bool,
}

impl<'a> Director<'a> {
    pub(crate) fn new(
        backstage: &'a mut dyn Backstage,
        page: Page,
        pace: Pace,
        show: &'a mut Show<'a>,
    ) -> Self {
        Self {
            backstage,
            page,
            pace,
            show,
            remembered: String::new(),
            scene: "",
            steps: Vec::new(),
            wake_up_ms: 0,
            is_read: true,
        }
    }

    /// Plays all of it.
    pub(crate) fn play(mut self) -> Result<Played, Problem> {
        let slow = self.pace.slow;
        let scenes = STORY.iter().filter(|scene| slow || !scene.only_slow);
        for (number, scene) in (1..).zip(scenes) {
            self.scene(number, scene)?;
            if !self.is_read {
                return Ok(Played::LeftAlone);
            }
        }
        let duration_ms = self.steps.iter().map(|step| step.duration_ms).sum();
        Ok(Played::Whole(DemoReply { steps: self.steps, wake_up_ms: self.wake_up_ms, duration_ms }))
    }

    fn scene(&mut self, number: usize, scene: &'static Scene) -> Result<(), Problem> {
        self.scene = scene.title;
        let title = self.page.paint(Tone::Strong, &format!("{number}. {}", scene.title));
        self.say(&format!("{title}\n"))?;
        if self.pace.slow {
            self.say(&(wrap(scene.why, self.page.columns, "   ", "   ").join("\n") + "\n"))?;
            self.pause(READ_MS_PER_CHAR * scene.why.len() as u64);
        }
        scene.steps.iter().try_for_each(|step| self.step(step))?;
        self.say("\n")
    }

    fn step(&mut self, step: &'static Step) -> Result<(), Problem> {
        match &step.act {
            Act::Run(words) => self.run(step, words)?,
            Act::Start(words) => self.start(step, words)?,
            Act::Hear => self.hear(step)?,
            Act::Remember(pattern) => return self.remember(step.by, pattern),
            Act::KillWindow => self.kill_window(step)?,
            Act::Flip(text) => self.flip(step, text)?,
        }
        self.pause(if self.pace.slow { SLOW_STEP_PAUSE_MS } else { STEP_PAUSE_MS });
        Ok(())
    }

    fn run(&mut self, step: &Step, words: &[&str]) -> Result<(), Problem> {
        let words = self.filled(words);
        let typed = line(&words);
        self.prompt(step.by, &typed)?;
        let ran = self.backstage.run(step.by, &words);
        let ran = self.told(&typed, ran)?;
        self.say(&ran.output)?;
        self.settle(step, typed, ran)
    }

    fn start(&mut self, step: &Step, words: &[&str]) -> Result<(), Problem> {
        let words = self.filled(words);
        let typed = line(&words) + " &";
        self.prompt(step.by, &typed)?;
        let started = self.backstage.start(step.by, &words);
        self.told(&typed, started)?;
        for _ in 0..LOOKS_MAX {
            let looked = self.ask(step.by, &["waits", "--json"])?;
            if looked["waits"].as_array().is_some_and(|waits| !waits.is_empty()) {
                self.note(step.by, typed, None, 0, String::new());
                return Ok(());
            }
            self.backstage.pause(LOOK_MS);
        }
        Err(self.wrong(&typed, "it was started and is not seen to wait", "").into())
    }

    fn hear(&mut self, step: &Step) -> Result<(), Problem> {
        let typed = "the command that waited";
        let heard = self.backstage.hear();
        let ran = self.told(typed, heard)?;
        self.wake_up_ms = ran.took_ms;
        let name = step.by.name();
        let told = format!("{name}'s wait is over, {} ms after the release was typed:", ran.took_ms);
        self.say(&format!("{}\n{}", self.page.paint(Tone::Faint, &told), ran.output))?;
        self.settle(step, typed.to_owned(), ran)
    }

    fn kill_window(&mut self, step: &Step) -> Result<(), Problem> {
        let killed = self.backstage.kill_window();
        let pid = self.told("kill", killed)?;
        let typed = format!("kill -9 {pid}");
        self.prompt(step.by, &typed)?;
        self.note(step.by, typed, Some(0), 0, String::new());
        Ok(())
    }

    fn flip(&mut self, step: &Step, text: &str) -> Result<(), Problem> {
        let typed = "flip a byte";
        let exported = self.backstage.run(By::Nobody, &["audit".to_owned(), "export".to_owned()]);
        let exported = self.told(typed, exported)?;
        let Some((seq, bytes)) = recorded(&exported.output, text) else {
            return Err(self.wrong(typed, "no event has recorded the reason", &exported.output).into());
        };
        let flipped = self.backstage.flip(&bytes);
        self.told(typed, flipped)?;
        let told = format!("(one byte of event {seq} is changed in the files of the store)");
        self.say(&format!("{}\n", self.page.paint(Tone::Faint, &told)))?;
        self.note(step.by, typed.to_owned(), Some(0), 0, String::new());
        Ok(())
    }

    fn remember(&mut self, by: By, pattern: &str) -> Result<(), Problem> {
        let found = self.ask(by, &["leases", "--json", "--pattern", pattern])?;
        let lease = &found["leases"][0];
        match (lease["id"].as_str(), lease["fence"].as_u64()) {
            (Some(id), Some(fence)) => self.remembered = format!("{id}@{fence}"),
            _ => return Err(self.wrong("leases", "the lease is not there", &found.to_string()).into()),
        }
        Ok(())
    }

    /// Asks for JSON without showing it.
    fn ask(&mut self, by: By, words: &[&str]) -> Result<Value, Problem> {
        let ran = self.backstage.run(by, &self.filled(words));
        let ran = self.told(&words.join(" "), ran)?;
        match serde_json::from_str(&ran.output) {
            Ok(value) if ran.code == 0 => Ok(value),
            _ => Err(self.wrong(&words.join(" "), "it does not answer", &ran.output).into()),
        }
    }

    /// Holds what came of a step against what has to.
    fn settle(&mut self, step: &Step, typed: String, ran: Ran) -> Result<(), Problem> {
        let Ran { code, output, took_ms } = ran;
        if code != step.exit_code {
            let why = format!("its exit code is {code}, and should be {}", step.exit_code);
            return Err(self.wrong(&typed, &why, &output).into());
        }
        if let Some(missing) = step.says.iter().find(|text| !output.contains(**text)) {
            return Err(self.wrong(&typed, &format!("it does not say {missing:?}"), &output).into());
        }
        self.note(step.by, typed, Some(code), took_ms, output);
        Ok(())
    }

    fn note(&mut self, by: By, command: String, exit_code: Option<i32>, duration_ms: u64, output: String) {
        let (scene, who) = (self.scene.to_owned(), by.name().to_owned());
        self.steps.push(DemoStep { scene, who, command, exit_code, duration_ms, output });
    }

    /// What could not even be tried went wrong as well.
    fn told<T>(&self, typed: &str, tried: Result<T, Failure>) -> Result<T, Failure> {
        tried.map_err(|failure| self.wrong(typed, &failure.message, ""))
    }

    fn wrong(&self, typed: &str, why: &str, output: &str) -> Failure {
        let place = self.backstage.place().display().to_string();
        let fields = vec![
            ("scene", self.scene.to_owned().into()),
            ("command", typed.to_owned().into()),
            ("output", output.to_owned().into()),
            ("directory", place.clone().into()),
        ];
        Failure::new(Slug::Internal, format!("in \"{}\", `{typed}` went wrong: {why}", self.scene))
            .hint(format!("everything is kept in {place}; remove it when you are done"))
            .hint(format!("with XDG_STATE_HOME={place}/state, in {place}/app, see: clearway events"))
            .details(Details::Fields(fields))
    }

    fn filled(&self, words: &[&str]) -> Vec<String> {
        words.iter().map(|word| word.replace(REMEMBERED, &self.remembered)).collect()
    }

    fn prompt(&mut self, by: By, typed: &str) -> Result<(), Problem> {
        let prompt = self.page.paint(Tone::Good, &format!("{}$", by.name()));
        self.say(&format!("{prompt} {typed}\n"))
    }

    fn say(&mut self, text: &str) -> Result<(), Problem> {
        self.is_read = self.is_read && (self.show)(text)?;
        Ok(())
    }

    fn pause(&mut self, span_ms: u64) {
        if self.pace.is_watched && self.is_read {
            self.backstage.pause(span_ms);
        }
    }
}

/// The words as somebody types them.
fn line(words: &[String]) -> String {
    let word = |word: &String| match word.contains(' ') {
        true => format!("\"{word}\""),
        false if word.starts_with("--") => word.clone(),
        false => shell::word(word),
    };
    let words: Vec<String> = words.iter().map(word).collect();
    format!("clearway {}", words.join(" "))
}

/// The event of an exported log that recorded a text: its number and bytes.
fn recorded(exported: &str, text: &str) -> Option<(u64, Vec<u8>)> {
    let events = exported.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let event = events.into_iter().find(|event| event["data"].to_string().contains(text))?;
    Some((event["seq"].as_u64()?, hex::decode_all(event["bytes"].as_str()?)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::demo::story::REASON;
    use crate::given::Given;
    use std::path::Path;

    /// A stage on which everything goes as the story says, but for one command.
    #[derive(Default)]
    struct Fake {
        slow: bool,
        /// The place in the story that the next command has.
        next: usize,
        /// Which command answers wrongly, and how.
        wrong: Option<(usize, Wrong)>,
        paused_ms: Vec<u64>,
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Wrong {
        Code,
        Words,
        Never,
    }

    /// The steps that are answered for.
    fn answered(slow: bool) -> Vec<&'static Step> {
        let scenes = STORY.iter().filter(|scene| slow || !scene.only_slow);
        let steps = scenes.flat_map(|scene| scene.steps);
        steps.filter(|step| matches!(step.act, Act::Run(_) | Act::Hear)).collect()
    }

    impl Fake {
        fn answer(&mut self) -> Result<Ran, Failure> {
            let step = answered(self.slow)[self.next];
            let wrong = self.wrong.filter(|(at, _)| *at == self.next).map(|(_, wrong)| wrong);
            self.next += 1;
            let output = if wrong == Some(Wrong::Words) { String::new() } else { step.says.join(" ") + "\n" };
            match wrong {
                Some(Wrong::Never) => Err(Failure::new(Slug::Internal, "no process can be started")),
                _ => Ok(Ran {
                    code: step.exit_code + i32::from(wrong == Some(Wrong::Code)),
                    output,
                    took_ms: 7,
                }),
            }
        }
    }

    impl Backstage for Fake {
        fn place(&self) -> &Path {
            Path::new("/tmp/somewhere")
        }

        fn run(&mut self, _by: By, words: &[String]) -> Result<Ran, Failure> {
            let said = |output: String| Ok(Ran { code: 0, output, took_ms: 0 });
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["waits", "--json"] => said("{\"waits\":[{}]}".to_owned()),
                ["leases", "--json", ..] => {
                    said("{\"leases\":[{\"id\":\"abcdefgh\",\"fence\":9}]}".to_owned())
                }
                ["audit", "export"] => {
                    said(format!("{{\"seq\":4,\"bytes\":\"00ff\",\"data\":\"{REASON}\"}}\n"))
                }
                _ => self.answer(),
            }
        }

        fn start(&mut self, _by: By, _words: &[String]) -> Result<(), Failure> {
            Ok(())
        }

        fn hear(&mut self) -> Result<Ran, Failure> {
            self.answer()
        }

        fn kill_window(&mut self) -> Result<u32, Failure> {
            Ok(4242)
        }

        fn flip(&mut self, bytes: &[u8]) -> Result<(), Failure> {
            assert_eq!(bytes, [0x00, 0xff]);
            Ok(())
        }

        fn pause(&mut self, span_ms: u64) {
            self.paused_ms.push(span_ms);
        }

        fn keep(self: Box<Self>) -> Result<(), Failure> {
            Ok(())
        }
    }

    const UNWATCHED: Pace = Pace { slow: true, is_watched: false };
    const PAGE: Page =
        Page { columns: 80, room: 80, colour: false, is_terminal: false, given: Given::NOTHING, here: None };

    fn played(fake: &mut Fake, pace: Pace) -> (Result<Played, Problem>, String) {
        fake.slow = pace.slow;
        let mut shown = String::new();
        let mut show = |text: &str| {
            shown.push_str(text);
            Ok(true)
        };
        let played = Director::new(fake, PAGE, pace, &mut show).play();
        (played, shown)
    }

    #[test]
    fn the_whole_story_is_shown_with_what_was_typed_and_what_was_said() {
        let (outcome, shown) = played(&mut Fake::default(), UNWATCHED);
        let Ok(Played::Whole(reply)) = outcome else { panic!("{outcome:?}") };
        assert_eq!(reply.wake_up_ms, 7);
        assert!(reply.steps.len() > answered(true).len(), "{reply:?}");
        for scene in STORY {
            assert!(shown.contains(&format!(". {}\n", scene.title)), "{}", scene.title);
        }
        for line in [
            "ada$ clearway reserve src/parser.rs --reason \"split the lexer\"\n",
            "bob$ clearway reserve 'src/**' --wait 1m &\n",
            "bob's wait is over, 7 ms after the release was typed:\n",
            "ada$ clearway renew abcdefgh@9\n",
            "$ kill -9 4242\n",
            "(one byte of event 4 is changed in the files of the store)\n",
        ] {
            assert!(shown.contains(line), "{line:?} in\n{shown}");
        }
    }

    #[test]
    fn every_step_that_goes_wrong_in_any_way_is_named_and_ends_it() {
        for at in 0..answered(true).len() {
            for wrong in [Wrong::Code, Wrong::Words, Wrong::Never] {
                let mut fake = Fake { wrong: Some((at, wrong)), ..Fake::default() };
                let (outcome, _) = played(&mut fake, UNWATCHED);
                let failure = outcome.expect_err("it is noticed").failure;
                assert_eq!(failure.slug, Slug::Internal, "{at} {wrong:?}");
                assert_eq!(fake.next, at + 1, "nothing is done after it");
                let Details::Fields(fields) = &failure.details else { panic!("{failure:?}") };
                assert!(fields.contains(&("directory", "/tmp/somewhere".to_owned().into())), "{fields:?}");
                let scene = STORY.iter().find(|scene| failure.message.contains(scene.title));
                assert!(scene.is_some(), "{}", failure.message);
            }
        }
    }

    #[test]
    fn only_a_reader_is_paused_for_and_longer_where_things_are_explained() {
        let paused_ms = |slow, is_watched| {
            let mut fake = Fake::default();
            let (outcome, _) = played(&mut fake, Pace { slow, is_watched });
            assert!(matches!(outcome, Ok(Played::Whole(_))), "{outcome:?}");
            fake.paused_ms
        };
        assert!(paused_ms(true, false).is_empty());
        assert!(paused_ms(false, false).is_empty());
        let brief = paused_ms(false, true);
        assert!(!brief.is_empty() && brief.iter().all(|ms| *ms == STEP_PAUSE_MS), "{brief:?}");
        let slow = paused_ms(true, true);
        assert!(slow.len() > brief.len() && slow.iter().all(|ms| *ms >= SLOW_STEP_PAUSE_MS), "{slow:?}");
    }

    #[test]
    fn it_stops_when_nobody_reads_any_more() {
        let mut fake = Fake { slow: true, ..Fake::default() };
        let mut show = |_: &str| Ok(false);
        let outcome = Director::new(&mut fake, PAGE, UNWATCHED, &mut show).play();
        assert!(matches!(outcome, Ok(Played::LeftAlone)), "{outcome:?}");
        assert_eq!(fake.next, 1);
    }
}
