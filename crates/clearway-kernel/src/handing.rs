//! The verbs that hand leases over and that stop the agents of a repository for a while.

use crate::identity::agent_name;
use crate::mutations::{Chosen, ChosenWords, usage, with_beyond};
use crate::session::Session;
use clearway_core::command::{Command, Selection, Transfer};
use clearway_core::decide::Notice;
use clearway_core::failure::Failure;
use clearway_core::input::freeze_span_ms;
use clearway_core::limits::FREEZE_MS;
use clearway_core::slug::Slug;
use clearway_store::Reply;

impl Session<'_> {
    /// Hands leases to another agent.
    pub fn transfer(&mut self, to: &str, words: &ChosenWords) -> Result<Reply, Failure> {
        let to = agent_name(to)?;
        let chosen = self.chosen(words)?.ok_or_else(|| {
            let everything = format!("everything you hold: clearway transfer --to {to} --all");
            usage("name what to hand over", &everything)
        })?;
        let transfer = |selection| Command::Transfer(Transfer { to: to.clone(), selection });
        let reply = match chosen {
            Chosen::Everything => {
                let all = transfer(Selection::All);
                self.heard(|session| session.command_everywhere(all.clone(), all))?
            }
            Chosen::These { scope, selection, beyond } => {
                let command = transfer(selection);
                let reply = self.heard(|session| session.command_in(&scope, command))?;
                let reply = with_beyond(reply, beyond);
                self.with_names(words, reply)?
            }
        };
        self.with_near_name(to.as_str(), reply)
    }

    /// An answer that finds nobody of a name, with the one that comes near.
    pub(crate) fn with_near_name(&mut self, name: &str, mut reply: Reply) -> Result<Reply, Failure> {
        if let Err(failure) = &mut reply.outcome
            && failure.slug == Slug::NotFound
            && let Some(Notice::UnknownAgent { near: Some(near), .. }) = self.unknown_agent(name)?
        {
            failure.hints = vec![format!("did you mean {near}?").into()];
        }
        Ok(reply)
    }

    /// Admits no new path leases of agents for a while.
    pub fn freeze(&mut self, span: Option<&str>) -> Result<Reply, Failure> {
        let for_ms = match span {
            Some(text) => freeze_span_ms(text, "--for")?,
            None => FREEZE_MS,
        };
        self.command(Command::Freeze { for_ms })
    }

    /// Admits them again.
    pub fn thaw(&mut self) -> Result<Reply, Failure> {
        self.command(Command::Thaw)
    }
}
