//! What the end of each help text shows: commands that work when pasted, with the names changed.

pub(super) const ROOT: &str = "\
Examples:
  clearway reserve src/parser.rs --reason \"split the lexer\"
  clearway who src/parser.rs
  clearway release --all

More: clearway help VERB, clearway help --all, clearway explain";

pub(super) const INIT: &str = "\
Examples:
  clearway init
  clearway init --dry-run
  clearway init --yes --client claude --agents-md
  clearway init --git-hooks
  clearway init --uninstall";

pub(super) const RESERVE: &str = "\
Examples:
  clearway reserve src/parser.rs
  clearway reserve src/ 'docs/**/*.md' --reason \"rename the api\" --ttl 1h
  clearway reserve Cargo.toml --shared
  clearway reserve --kind name db:migrate --max 10m
  clearway reserve src/parser.rs --wait 5m
  clearway reserve src/parser.rs --queue

A directory stands for everything below it. The lease ends after the silence
of --ttl (30m unless configured); reserve, renew and release are signs of life.
Patterns: clearway explain invalid-pattern";

pub(super) const WHO: &str = "\
Examples:
  clearway who src/parser.rs
  clearway who 'src/**'";

pub(super) const RELEASE: &str = "\
Examples:
  clearway release src/parser.rs
  clearway release k3j9x2ab
  clearway release k3j9x2ab@1099511627790
  clearway release --all
  clearway release src/ --keep src/parser.rs
  clearway release k3j9x2ab --reason \"its agent hangs\"

Naming a pattern releases your leases inside it. Releasing what is over
already is no error.";

pub(super) const WAIT: &str = "\
Examples:
  clearway wait
  clearway wait k3j9x2ab --for 5m
  clearway wait --cancel

Answers with the leases once they are yours. When the time is over first, the
place is kept and the exit code is 0: nothing has to be tried again.";

pub(super) const ASK: &str = "\
Examples:
  clearway ask src/parser.rs \"the release waits for it\"
  clearway ask src/parser.rs \"the release waits for it\" --urgent --wait 5m
  clearway ask src/parser.rs \"rename the api\" --then-reserve

Asking again for the same returns what was asked before. The holder is told at
its next tool call; a commit or a release of it answers by itself. A deadline
(10 minutes, 5 if urgent) takes nothing: it counts without any process, and
both sides are told when it passed.";

pub(super) const ANSWER: &str = "\
Examples:
  clearway answer k3j9x2ab release
  clearway answer k3j9x2ab release src/parser.rs
  clearway answer k3j9x2ab after-commit
  clearway answer k3j9x2ab later 20
  clearway answer k3j9x2ab no \"half of it is rewritten\"

Not answering is fine: it passes on when you commit or release it.";

pub(super) const WITHDRAW: &str = "\
Examples:
  clearway withdraw k3j9x2ab";

pub(super) const NEGOTIATIONS: &str = "\
Examples:
  clearway negotiations
  clearway negotiations --json";

pub(super) const FORCE: &str = "\
Examples:
  clearway force k3j9x2ab --reason \"its agent hangs, the release is due\"

Works for who asked, once the holder is proven gone, or the deadline passed,
it gave no sign of life for twice as long, and it did not answer `later`.
What it had not committed there is kept as a snapshot first.";

pub(super) const HALT: &str = "\
Examples:
  clearway halt otter --reason \"it rewrites the wrong module\"

Its next tool call is refused and its turn ended; what it changed is kept as a
snapshot and is nobody's from now on.";

pub(super) const RESUME: &str = "\
Examples:
  clearway resume otter --reason \"told it what was meant\"";

pub(super) const WAITS: &str = "\
Examples:
  clearway waits
  clearway waits --agent-name ada --json";

pub(super) const WITH: &str = "\
Examples:
  clearway with build -- cargo build
  clearway with build --wait -- cargo test
  clearway with db:migrate --wait 30m -- ./migrate.sh
  clearway with port --wait 5m -- sh -c 'serve --port $CLEARWAY_NUMBER_PORT'

How many may hold a name is in the configuration: [resources] build = 2,
\"port:3000-3009\" = { capacity = 10, scope = \"machine\" }. The command is told
CLEARWAY_SLOT_BUILD, CLEARWAY_NUMBER_PORT and CLEARWAY_LEASES. It gets the
signals sent to clearway, ends when clearway is killed, and gives its exit
code; one that a signal ended gives 128 and the signal. Beside these:
  124  the lease was lost, so the command was ended
  125  the command was not run: somebody holds the name, or the store failed
  126  the command cannot be run
  127  there is no such command
With --json only the errors of clearway are JSON, on standard error.";

pub(super) const TRANSFER: &str = "\
Examples:
  clearway transfer --to bob k3j9x2ab
  clearway transfer --to bob src/parser.rs
  clearway transfer --to bob --all
  clearway transfer --to bob k3j9x2ab --reason \"ada is on holiday\"

A lease that is handed over keeps its id and its silence (--ttl), and gets a
new fence; the silence begins anew for whoever has it now. Those who wait for
it keep their places. It is for a person who gives an agent's work to another
one (an operator, with --reason), and for the holder itself: later also for a
client that goes on in a new session, and for runs.";

pub(super) const FREEZE: &str = "\
Examples:
  clearway freeze --reason \"cutting the release\"
  clearway freeze --for 30m --reason \"cutting the release\"

Agents keep what they hold and get no new paths until it is over. People are
not kept from working. End it early: clearway thaw --reason TEXT";

pub(super) const THAW: &str = "\
Examples:
  clearway thaw --reason \"the release is out\"";

pub(super) const LEASES: &str = "\
Examples:
  clearway leases
  clearway leases --pattern src/
  clearway leases --agent-name ada --history";

pub(super) const AGENTS: &str = "\
Examples:
  clearway agents
  clearway agents --json";

pub(super) const STATUS: &str = "\
Examples:
  clearway status
  clearway -C ../other status
  clearway status --cost

An agent without a terminal gets a terse form.";

pub(super) const EVENTS: &str = "\
Examples:
  clearway events --limit 20
  clearway events -f --kind lease.granted
  clearway events --from 120 --json

With --json each line is one object. Times are UTC. An event belongs to a run
if --run names it; no event does until there are runs.";

pub(super) const AUDIT: &str = "\
Examples:
  clearway audit verify
  clearway audit anchor --export /mnt/backup/anchors
  clearway audit export > log.jsonl";

pub(super) const AUDIT_VERIFY: &str = "\
Examples:
  clearway audit verify
  clearway audit verify --anchors /mnt/backup/anchors";

pub(super) const AUDIT_ANCHOR: &str = "\
Examples:
  clearway audit anchor
  clearway audit anchor --export /mnt/backup/anchors";

pub(super) const AUDIT_EXPORT: &str = "\
Examples:
  clearway audit export > log.jsonl
  clearway audit export --from 1000";

pub(super) const DOCTOR: &str = "\
Examples:
  clearway doctor
  clearway doctor --repair";

pub(super) const SCOPE: &str = "\
Examples:
  clearway scope list
  clearway scope adopt";

pub(super) const SCOPE_LIST: &str = "\
Examples:
  clearway scope list
  clearway --store /srv/store.db scope list";

pub(super) const SCOPE_ADOPT: &str = "\
Examples:
  clearway scope adopt
  clearway scope adopt app-1f0c2d3e

A repository that was moved begins a new scope, and one at a used path finds
another's: a note and `clearway doctor` say so. What you hold in a scope that
was begun meanwhile has to be taken again.";

pub(super) const CONFIG: &str = "\
Examples:
  clearway config show
  clearway config path
  clearway config classes";

pub(super) const CONFIG_SHOW: &str = "\
Examples:
  clearway config show
  clearway config show --json";

pub(super) const CONFIG_PATH: &str = "\
Examples:
  clearway config path";

pub(super) const CONFIG_CLASSES: &str = "\
Examples:
  clearway config classes";

pub(super) const DEMO: &str = "\
Examples:
  clearway demo
  clearway demo --slow

It needs git. Real processes act in a temporary directory with a store of its
own; nothing of yours is read or changed, and everything is removed again.";

pub(super) const EXPLAIN: &str = "\
Examples:
  clearway explain reservation-held
  clearway explain";

pub(super) const CHECK: &str = "\
Examples:
  clearway check src/parser.rs && echo free
  clearway check --shared Cargo.toml --json

The answer is whether anybody is in the way. Asking takes nothing, so much of
the tree can be asked about without --broad; that to reserve as much would take
--broad is told beside the answer.";

pub(super) const RENEW: &str = "\
Examples:
  clearway renew
  clearway renew src/parser.rs
  clearway renew k3j9x2ab --ttl 2h --note \"tests are slow\"

Naming a pattern renews your leases inside it.";

pub(super) const SWEEP: &str = "\
Examples:
  clearway sweep
  clearway sweep --dry-run

Nobody has to run it: a lease whose time is over never stands in the way.";

pub(super) const MINE: &str = "\
Examples:
  prettier --write $(clearway mine)
  clearway mine -0 | xargs -0 prettier --write
  clearway mine -0 --dirty | xargs -0 git add --

Files and directories that you and your subagents hold in this checkout; a
pattern with other wildcards than DIR/** names no path and is left out. One
that begins with a dash is told as ./-NAME; where names have spaces use -0.";

pub(super) const RADAR: &str = "\
Examples:
  clearway radar
  clearway radar main release/2

Every two checkouts of the repository are merged without touching either, what
is not committed included, and the files are told that a person would have to
decide. It takes git 2.38 or newer. Whoever commits is told the same of those
at work in other checkouts, once.";

pub(super) const COMMIT: &str = "\
Examples:
  clearway commit -m \"split the lexer\"
  clearway commit -m \"split the lexer\" src/lexer.rs tests/

Takes what you and your subagents hold, and what only you are known to have
written: new files, deletions and new names too. What is nobody's is taken if
it is named. What others staged or changed stays as it is.";

pub(super) const DIFF: &str = "\
Examples:
  clearway diff
  clearway diff --stat
  clearway diff src/ --agent-name otter

Lines that agents wrote by their tools are told by their hooks. A line that no
hook told of, such as one that you typed, is nobody's: -, or unattributed.";

pub(super) const STATUSLINE: &str = "\
Examples:
  clearway statusline

Who waits for you, what is yours, who else is at work.";

pub(super) const WHERE: &str = "\
Examples:
  clearway where otter
  eval \"$(clearway where otter --json | jq -r .resume)\"

What its process tells while it lives; afterwards where it last held something.";

pub(super) const DIGEST: &str = "\
Examples:
  clearway digest
  clearway digest --since 22:00
  clearway digest --since 8h --json

Commits by author, refusals, waits and the longest, what was taken over or left
behind, what hooks told, and what needs you. Times of day are local.";

pub(super) const HOOK: &str = "\
Examples:
  clearway hook claude < payload.json
  clearway hook copilot preToolUse < payload.json

Clients call it; nobody has to type it. It answers in the client's own form:
nothing at all where there is nothing to say, and exit code 2 with a reason
where a file is with somebody else. Words that it does not know are exit code 1:
to a client 2 is a denial.";

pub(super) const GIT_HOOK: &str = "\
Examples:
  clearway git-hook prepare-commit-msg .git/COMMIT_EDITMSG
  clearway git-hook post-commit

Known are prepare-commit-msg, post-commit, pre-rebase, pre-push and
reference-transaction. Another name is told in a line and keeps nobody from git.
A commit of an agent that takes along what is with others is refused; a person
is told, and goes on. CLEARWAY_COMMIT_REASON says why an operator lets it pass.";

pub(super) const COMPLETIONS: &str = "\
Examples:
  clearway completions bash > ~/.clearway-completion.bash
  clearway completions zsh > ~/.zfunc/_clearway
  clearway completions fish > ~/.config/fish/completions/clearway.fish";

pub(super) const MAN: &str = "\
Examples:
  clearway man | man -l -
  clearway man ~/.local/share/man/man1";

pub(super) const HELP: &str = "\
Examples:
  clearway help
  clearway help --all
  clearway help reserve
  clearway help audit verify";

pub(super) const SNAPSHOT: &str = "\
Examples:
  clearway snapshot
  clearway snapshot src/ --reason \"before the big rename\"

Changed, staged, removed and untracked files are kept as a commit that no
branch leads to: your index, your stash and your files stay as they are. Small
ignored files (1 MB each, 20 MB together) are kept beside it, not in git, but
for those in directories that a build makes, such as target or node_modules.";

pub(super) const SNAPSHOTS: &str = "\
Examples:
  clearway snapshots
  clearway snapshots --json";

pub(super) const SHOW: &str = "\
Examples:
  clearway show s41";

pub(super) const RESTORE: &str = "\
Examples:
  clearway restore s41
  clearway restore s41 src/parser.rs

Files get back every byte and their mode, and what was staged is staged again.
What is written over and not committed is kept as a snapshot first.";

pub(super) const UNDO: &str = "\
Examples:
  clearway undo
  clearway undo --dry-run
  clearway undo s41 -y

A file that was changed since stays as it is and is named.";

pub(super) const SEND: &str = "\
Examples:
  clearway send otter \"the parser is split; rebase when you commit\"
  clearway send otter,heron \"who owns db:migrate?\" --ack --urgent
  clearway send otter \"done\" --thread k3j9x2ab
  git diff | clearway send otter - --subject \"what I have so far\"

The agent is told at its next tool call. Everybody who is named gets it, or
nobody does. More: clearway help inbox, clearway help ack";

pub(super) const INBOX: &str = "\
Examples:
  clearway inbox
  clearway inbox --peek --from otter
  clearway inbox --all --topic build --since 2h
  clearway inbox --json

Shows what is unread, urgent first, as much as fits 16 KB; what is shown counts
as read. The next call goes on.";

pub(super) const ACK: &str = "\
Examples:
  clearway ack k3j9x2ab
  clearway ack k3j9x2ab p0o9i8u7";

pub(super) const READ: &str = "\
Examples:
  clearway read k3j9x2ab";

pub(super) const THREAD: &str = "\
Examples:
  clearway thread k3j9x2ab
  clearway thread k3j9x2ab --before 118";

pub(super) const THREADS: &str = "\
Examples:
  clearway threads
  clearway threads --json";

pub(super) const SEARCH: &str = "\
Examples:
  clearway search migration
  clearway search parser split

Looks through your own mail, the newest 2000 messages in one call.";

pub(super) const BROADCAST: &str = "\
Examples:
  clearway broadcast --topic build \"main is red; do not merge\"
  clearway broadcast --topic build \"main is green again\" --urgent

Reaches everybody who gave a sign of life since the machine started, is not
gone, and takes your mail; at most ten times a minute.";

pub(super) const STALE_ACKS: &str = "\
Examples:
  clearway stale-acks
  clearway stale-acks --older-than 1h";

pub(super) const POLICY: &str = "\
Examples:
  clearway policy
  clearway policy contacts
  clearway policy open";

pub(super) const CONTACTS: &str = "\
Examples:
  clearway contacts
  clearway contacts --add otter
  clearway contacts --remove otter";
