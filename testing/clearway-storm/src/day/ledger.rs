//! What is true of the files, whatever the hook says: whose lines are in them, which of them are committed, who has a
//! call running, who claimed what. Every edit is one line that nobody else writes.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

/// The books of one day.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// Lines that are not committed, with file and author.
    open: BTreeMap<String, (String, String)>,
    /// Files that a tool call is about to write.
    running: BTreeMap<String, String>,
    /// Files that somebody reserved by name.
    claimed: BTreeMap<String, String>,
    /// Who was refused a file and promised that it would be told, and waits for its turn.
    promised: BTreeSet<(String, String)>,
    /// Sessions that are over or whose client is dead.
    gone: BTreeSet<String>,
    /// Bytes of lines that vanished before they were committed, by somebody else's edit.
    pub(super) lost_bytes: usize,
}

impl Ledger {
    /// A file was written: who wrote it, what it held before, what it holds now. Which lines of others are lost by
    /// that.
    pub(super) fn wrote(&mut self, session: &str, file: &str, before: &str, after: &str) -> Vec<String> {
        let now: BTreeSet<&str> = after.lines().collect();
        let mut lost = Vec::new();
        for line in before.lines().filter(|line| !now.contains(line)) {
            if self.open.remove(line).is_some_and(|(_, author)| author != session) {
                self.lost_bytes += line.len() + 1;
                lost.push(line.to_owned());
            }
        }
        let known: BTreeSet<&str> = before.lines().collect();
        for line in now.into_iter().filter(|line| !known.contains(line)) {
            self.open.insert(line.to_owned(), (file.to_owned(), session.to_owned()));
        }
        lost
    }

    /// All that a file holds was committed.
    pub(super) fn committed(&mut self, file: &str) {
        self.open.retain(|_, (of, _)| of != file);
    }

    /// A tool call is about to write these files.
    pub(super) fn begins(&mut self, session: &str, files: &[String]) {
        self.promised.retain(|(of, file)| of != session || !files.contains(file));
        self.running.extend(files.iter().map(|file| (file.clone(), session.to_owned())));
    }

    /// Somebody was refused these files and is to be told when it is its turn.
    pub(super) fn promises(&mut self, session: &str, files: &[String]) {
        self.promised.extend(files.iter().map(|file| (session.to_owned(), file.clone())));
    }

    /// It is over.
    pub(super) fn is_done(&mut self, session: &str) {
        self.running.retain(|_, of| of != session);
    }

    /// Somebody reserved a file by name.
    pub(super) fn claims(&mut self, session: &str, file: &str) {
        self.claimed.insert(file.to_owned(), session.to_owned());
    }

    /// And gave it back.
    pub(super) fn gives_back(&mut self, session: &str) {
        self.claimed.retain(|_, of| of != session);
    }

    /// A session ended or its client died; whatever it had running or claimed is over.
    pub(super) fn goes(&mut self, session: &str) {
        self.is_done(session);
        self.gives_back(session);
        self.promised.retain(|(of, _)| of != session);
        self.gone.insert(session.to_owned());
    }

    /// It goes on after all.
    pub(super) fn comes_back(&mut self, session: &str) {
        self.gone.remove(session);
    }

    /// It goes on under another name.
    pub(super) fn goes_on_as(&mut self, session: &str, new: &str) {
        let books = self.running.values_mut().chain(self.claimed.values_mut());
        let authors = self.open.values_mut().map(|(_, author)| author);
        books.chain(authors).filter(|of| *of == session).for_each(|of| new.clone_into(of));
        let name = |of: String| if of == session { new.to_owned() } else { of };
        self.promised = take(&mut self.promised).into_iter().map(|(of, file)| (name(of), file)).collect();
    }

    /// Whether a refusal was needed: somebody else has the file, or waits for it in front.
    pub(super) fn is_in_the_way(&self, session: &str, file: &str) -> bool {
        self.is_taken(session, file) || self.promised.iter().any(|(of, what)| of != session && what == file)
    }

    /// Whether anybody else who is there has work in a file, is about to, or claimed it.
    pub(super) fn is_taken(&self, session: &str, file: &str) -> bool {
        let other = |of: &String| of != session && !self.gone.contains(of);
        self.open.values().any(|(of, author)| of == file && other(author))
            || [&self.running, &self.claimed].iter().any(|books| books.get(file).is_some_and(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_somebody_else_that_vanishes_before_it_is_committed_is_lost() {
        let mut ledger = Ledger::default();
        ledger.wrote("one", "a.rs", "x\n", "x\nby one\n");
        ledger.wrote("one", "a.rs", "x\nby one\n", "x\nby one, better\n");
        assert_eq!(ledger.lost_bytes, 0, "one's own");
        ledger.wrote("two", "a.rs", "x\nby one, better\n", "x\nby two\n");
        assert_eq!(ledger.lost_bytes, "by one, better\n".len());
        ledger.committed("a.rs");
        ledger.wrote("one", "a.rs", "x\nby two\n", "x\n");
        assert_eq!(ledger.lost_bytes, "by one, better\n".len(), "committed before");
    }

    #[test]
    fn whoever_waits_in_front_is_in_the_way_until_it_has_its_turn_or_goes() {
        let mut ledger = Ledger::default();
        let files = ["a.rs".to_owned()];
        ledger.promises("one", &files);
        assert!(ledger.is_in_the_way("two", "a.rs") && !ledger.is_in_the_way("one", "a.rs"));
        assert!(!ledger.is_taken("two", "a.rs"), "nobody has it");
        ledger.begins("one", &files);
        ledger.is_done("one");
        assert!(!ledger.is_in_the_way("two", "a.rs"));
        ledger.promises("one", &files);
        ledger.goes_on_as("one", "three");
        ledger.goes("three");
        assert!(!ledger.is_in_the_way("two", "a.rs"));
    }

    #[test]
    fn a_file_is_taken_by_work_a_running_call_or_a_claim_of_others_who_are_there() {
        let mut ledger = Ledger::default();
        assert!(!ledger.is_taken("two", "a.rs"));
        ledger.wrote("one", "a.rs", "", "by one\n");
        ledger.begins("one", &["b.rs".to_owned()]);
        ledger.claims("one", "c.rs");
        for file in ["a.rs", "b.rs", "c.rs"] {
            assert!(ledger.is_taken("two", file) && !ledger.is_taken("one", file), "{file}");
        }
        ledger.goes("one");
        assert!(["a.rs", "b.rs", "c.rs"].iter().all(|file| !ledger.is_taken("two", file)));
        ledger.comes_back("one");
        assert!(ledger.is_taken("two", "a.rs") && !ledger.is_taken("two", "b.rs"));
    }
}
