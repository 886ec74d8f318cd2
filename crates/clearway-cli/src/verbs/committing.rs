//! `commit`: what is the caller's, and nothing else.

use super::queueing::watched;
use crate::arguments::CommitFlags;
use crate::console::{Answer, Console, Problem, document};
use crate::given::Given;
use crate::render::{Page, Tone, and_more, count, notices};
use clearway_core::text::shown;
use clearway_kernel::{CommitWords, Committed, Session};
use clearway_wire::json::{Acted, Actor, CommitReply};

/// Digits of a commit that people are shown.
const COMMIT_DIGITS: usize = 9;
/// Paths that people are shown.
const PATHS_SHOWN: usize = 12;

pub(super) fn commit(
    session: &mut Session<'_>,
    flags: CommitFlags,
    console: &mut Console<'_, '_>,
) -> Result<Made, Problem> {
    let words = CommitWords { messages: flags.messages, paths: flags.paths };
    Ok(Made(watched(console, |watch| session.commit(&words, watch))?))
}

/// The answer of `commit`.
#[derive(Debug)]
pub(super) struct Made(Committed);

impl Answer for Made {
    fn json(&self, given: &Given) -> String {
        let Committed { commit, paths, left, clash, reply } = &self.0;
        let body = CommitReply {
            commit: commit.id.clone(),
            branch: commit.branch.clone(),
            paths: paths.clone(),
            left: *left,
            clash: clash.clone(),
        };
        let (actor, notices) = (Actor::new(reply.agent.as_ref()), given.notices(&reply.notices));
        document(&Acted { ok: true, rev: reply.rev.0, actor, replayed: false, notices, body })
    }

    fn text(&self, page: &Page) -> String {
        let Committed { commit, paths, left, clash, reply } = &self.0;
        let as_whom = reply.agent.as_ref().map(|(_, name)| format!(" as {name}")).unwrap_or_default();
        let place = commit.branch.as_deref().map_or("a detached head".to_owned(), shown);
        let files = count(paths.len() as u64, "path", "paths");
        let id = commit.id.get(..COMMIT_DIGITS).unwrap_or(&commit.id);
        let head = page.paint(Tone::Good, "committed");
        let mut text = format!("{head}{as_whom}: {files} as {id} on {place}\n");
        paths.iter().take(PATHS_SHOWN).for_each(|path| text.push_str(&format!("  {}\n", shown(path))));
        text.extend(and_more(paths.len(), PATHS_SHOWN).map(|more| format!("  {more}\n")));
        if *left > 0 {
            text.push_str(&format!("left as they are: {}\n", count(*left, "other change", "other changes")));
        }
        text.extend(clash.iter().map(|clash| format!("{}\n", page.paint(Tone::Care, clash))));
        text + &notices(&reply.notices, page)
    }
}
