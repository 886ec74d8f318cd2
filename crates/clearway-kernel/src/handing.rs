//! The verbs that hand leases over and that stop the agents of a repository for a while.

use crate::identity::agent_name;
use crate::mutations::{Chosen, ChosenWords, usage, with_beyond};
use crate::session::Session;
use clearway_core::agent::AgentName;
use clearway_core::command::{Command, Selection, Transfer};
use clearway_core::decide::Notice;
use clearway_core::failure::Failure;
use clearway_core::hint::Hint;
use clearway_core::ids::ScopeKey;
use clearway_core::input::freeze_span_ms;
use clearway_core::limits::FREEZE_MS;
use clearway_core::nearest::nearest;
use clearway_core::slug::Slug;
use clearway_store::Reply;
use clearway_store::contract::LeaseListing;

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
                let reply = self.heard(|session| session.command_everywhere(all.clone(), all));
                match reply {
                    // What is held here was looked at first.
                    Err(failure) if failure.slug == Slug::NotFound => {
                        let rest = format!(
                            "what belongs to this repository can be handed over by id: clearway transfer --to {to} ID…"
                        );
                        return Err(self.unless_known_machine_wide(&to, failure)?.hint(rest));
                    }
                    reply => reply?,
                }
            }
            Chosen::These { scope, selection, beyond } => {
                let command = transfer(selection);
                let reply = self.heard(|session| session.command_in(&scope, command))?;
                let mut reply = self.with_names(words, with_beyond(reply, beyond))?;
                if scope == ScopeKey::machine() && scope != self.site.key {
                    if let Err(failure) = &reply.outcome {
                        reply.outcome = Err(self.unless_known_machine_wide(&to, failure.clone())?);
                    }
                    return Ok(reply);
                }
                reply
            }
        };
        self.with_near_name(to.as_str(), reply)
    }

    /// What belongs to the machine is handed to whoever is known there, which an agent of this repository may not be.
    fn unless_known_machine_wide(&mut self, to: &AgentName, failure: Failure) -> Result<Failure, Failure> {
        let there = self.survey_in(&ScopeKey::machine(), LeaseListing::Live)?.agents();
        let known: Vec<AgentName> = there.into_iter().map(|seen| seen.view.agent.name).collect();
        if failure.slug != Slug::NotFound || known.contains(to) {
            return Ok(failure);
        }
        let message = format!("{to} is not known machine-wide, so it can hold nothing of the machine");
        let unknown = Failure { message, hints: Vec::new(), ..failure };
        let near = nearest(to.as_str(), known.iter().map(AgentName::as_str));
        let unknown =
            near.into_iter().fold(unknown, |failure, near| failure.hint(format!("did you mean {near}?")));
        let how = "it is from its first reservation or place in the queue there on: \
                   clearway reserve --queue --kind name NAME";
        let who = "see who is known machine-wide: clearway --scope machine agents";
        Ok(unknown.hint(who).hint(Hint::for_anybody(how)))
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
