//! Messages of the caller that hold words.

use super::{MailPage, MailSeen, Measure, TEXTS_AT_ONCE};
use crate::session::Session;
use clearway_core::failure::Failure;
use clearway_core::ids::Seq;
use clearway_core::mail::{Letter, MailRead, SEARCHED_MAX, Topic, Which};
use clearway_core::slug::Slug;

impl Session<'_> {
    /// Finds messages of the caller that hold every word, newest first.
    pub fn search(
        &mut self,
        text: &str,
        before: Option<u64>,
        measure: &Measure<'_, MailSeen>,
    ) -> Result<MailPage, Failure> {
        let words: Vec<String> = text.split_whitespace().map(str::to_lowercase).collect();
        if words.is_empty() {
            return Err(Failure::new(Slug::Usage, "name a word to look for")
                .hint("such as: clearway search migration"));
        }
        let mut before = Seq(before.unwrap_or(u64::MAX));
        let (mut searched, mut found, mut is_end) = (0, Vec::new(), false);
        let mut page = None;
        while searched < SEARCHED_MAX && !is_end {
            let read = MailRead { texts: true, ..MailRead::default() };
            let Some(look) = self.mailbox_of(Which::Before(before), TEXTS_AT_ONCE, read)? else { break };
            searched += look.letters.len();
            is_end = look.letters.len() < TEXTS_AT_ONCE;
            before = look.letters.last().map_or(before, |letter| letter.message.seq);
            found.extend(look.letters.iter().filter(|letter| holds(letter, &words)).cloned());
            page.get_or_insert(look);
        }
        let Some(look) = page else { return self.nothing() };
        let count = found.len();
        let letters = self.fitting(&look, found.into_iter(), usize::MAX, measure)?;
        let more = count.saturating_sub(letters.len()) as u64;
        let last = letters.last().map(|seen| seen.message.seq.0).filter(|_| more > 0);
        let next = last.or((!is_end).then_some(before.0));
        Ok(MailPage { more, next, searched: searched as u64, ..look.page(letters) })
    }
}

/// Whether a message holds every word, in whatever case.
fn holds(letter: &Letter, words: &[String]) -> bool {
    let message = &letter.message;
    let texts =
        [message.subject.as_deref(), letter.text.as_deref(), message.topic.as_ref().map(Topic::as_str)];
    let texts: Vec<String> = texts.into_iter().flatten().map(str::to_lowercase).collect();
    words.iter().all(|word| texts.iter().any(|text| text.contains(word.as_str())))
}
