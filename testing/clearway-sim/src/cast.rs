//! Who takes part in a life: agents, and the processes they run commands with.

use crate::world::SimWorld;
use clearway_core::agent::{AgentName, Caller, Client, ClientSession};
use clearway_core::command::{LeaseRef, Reserve};
use clearway_core::facts::Process;
use clearway_core::ids::WaitId;

/// Every agent of a life, by position.
#[derive(Debug)]
pub(crate) struct Cast {
    pub(crate) members: Vec<Member>,
    sessions: u32,
}

/// One process of one agent, by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ShellRef {
    pub(crate) member: usize,
    pub(crate) shell: usize,
}

/// An agent.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) role: Role,
    pub(crate) caller: Caller,
    /// The client program, evidence of the agent's death.
    pub(crate) client: Option<Process>,
    pub(crate) shells: Vec<Shell>,
    /// A subagent that nobody registered yet does nothing.
    pub(crate) is_here: bool,
}

/// What kind of agent it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// A name somebody chose; there is no process to tell its death by.
    Named(&'static str),
    /// A client program on this machine.
    Session,
    /// A client program whose process cannot be asked about.
    FarSession,
    /// A subagent of the member at this position.
    Child(usize),
    /// A person at a terminal, who may act for others.
    Person,
}

/// A process that runs commands of an agent.
#[derive(Debug)]
pub(crate) struct Shell {
    pub(crate) process: Process,
    /// The process that started it, where that runs a command of the same agent.
    pub(crate) above: Option<Process>,
    pub(crate) paused: bool,
    /// It was paused once: what it believes may be old.
    pub(crate) resumed: bool,
    pub(crate) waiting: Option<Waiting>,
    /// Leases it was granted, with the fences it was told.
    pub(crate) refs: Vec<LeaseRef>,
}

/// What a process waits for.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) id: WaitId,
    pub(crate) wanted: Reserve,
    pub(crate) attached: bool,
}

/// How many commands of one agent run at once.
const SHELLS: usize = 2;

const ROLES: [Role; 9] = [
    Role::Named("ann"),
    Role::Named("bob"),
    Role::Named("cyd"),
    Role::Session,
    Role::Child(3),
    Role::Child(3),
    Role::Session,
    Role::FarSession,
    Role::Person,
];

impl Cast {
    pub(crate) fn new(world: &mut SimWorld) -> Self {
        let mut cast = Self { members: Vec::new(), sessions: 0 };
        for role in ROLES {
            let member = cast.born(role, world);
            cast.members.push(member);
        }
        cast
    }

    /// Somebody takes the place of a member that is gone.
    pub(crate) fn replace(&mut self, index: usize, world: &mut SimWorld) {
        self.members[index] = self.born(self.members[index].role, world);
        for child in 0..self.members.len() {
            if self.members[child].role == Role::Child(index) {
                self.members[child] = self.born(Role::Child(index), world);
            }
        }
    }

    /// A process takes the place of one that is gone.
    pub(crate) fn restart(&mut self, at: ShellRef, world: &mut SimWorld) {
        let far = self.members[at.member].role == Role::FarSession;
        self.members[at.member].shells[at.shell] = Shell::new(world, far, None);
    }

    pub(crate) fn shell(&mut self, at: ShellRef) -> &mut Shell {
        &mut self.members[at.member].shells[at.shell]
    }

    /// Every process that could run a command now.
    pub(crate) fn running(&self) -> Vec<ShellRef> {
        self.shells(|member, shell| member.is_here && !shell.paused)
    }

    pub(crate) fn paused(&self) -> Vec<ShellRef> {
        self.shells(|_, shell| shell.paused)
    }

    fn shells(&self, wanted: impl Fn(&Member, &Shell) -> bool) -> Vec<ShellRef> {
        let mut found = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            let shells = member.shells.iter().enumerate();
            let chosen = shells.filter(|(_, shell)| wanted(member, shell));
            found.extend(chosen.map(|(shell, _)| ShellRef { member: index, shell }));
        }
        found
    }

    fn born(&mut self, role: Role, world: &mut SimWorld) -> Member {
        self.sessions += 1;
        let far = role == Role::FarSession;
        let process = world.start(far, None);
        let client = matches!(role, Role::Session | Role::FarSession | Role::Person).then_some(process);
        let session = |client: &Option<Process>| ClientSession {
            client: Client::ClaudeCode,
            session: format!("s{}", self.sessions),
            subagent: None,
            process: client.clone(),
        };
        let caller = match role {
            Role::Named(name) => Caller { claim: AgentName::parse(name), ..Caller::default() },
            Role::Person => Caller { terminal: client.clone(), ..Caller::default() },
            _ => Caller { session: Some(session(&client)), ..Caller::default() },
        };
        // Of every second agent, one command runs inside of the other.
        let is_nested = self.sessions.is_multiple_of(2);
        let mut shells: Vec<Shell> = Vec::with_capacity(SHELLS);
        for _ in 0..SHELLS {
            let above = shells.first().map(|outer| outer.process.clone()).filter(|_| is_nested);
            shells.push(Shell::new(world, far, above));
        }
        Member { role, caller, client, shells, is_here: !matches!(role, Role::Child(_)) }
    }
}

impl Shell {
    fn new(world: &mut SimWorld, far: bool, above: Option<Process>) -> Self {
        let process = world.start(far, above.as_ref());
        Self { process, above, paused: false, resumed: false, waiting: None, refs: Vec::new() }
    }
}
