//! Arbitrary events and outcomes.

use clearway_core::agent::{Agent, AgentName, Client, Established, IdentityKey, Liveness};
use clearway_core::command::{Reserve, Want};
use clearway_core::decide::{Refused, Success};
use clearway_core::event::{Actor, Body, Event};
use clearway_core::facts::Process;
use clearway_core::failure::{Ahead, LeaseView};
use clearway_core::ids::{AgentId, Epoch, Fence, LeaseId, NegotiationId, Seq, SetId, WaitId};
use clearway_core::lease::{End, Ended, ExpiryCause, Grade, Lease, Mode, Terms};
use clearway_core::mail::{
    Answer, Importance, MailEvent, Message, MessageId, Policy, Recipient, Role, Rules, Sent, Topic,
};
use clearway_core::negotiation::{
    Negotiated, Negotiation, NegotiationEnd, NegotiationState, NegotiationView, Settled, Status, Urgency,
};
use clearway_core::path::CanonicalPath;
use clearway_core::pattern::{Fold, Pattern};
use clearway_core::slice::Freeze;
use clearway_core::snapshot::{Keeping, SnapshotCause};
use clearway_core::target::{ResourceName, Target, Worktree};
use clearway_core::time::{BootKey, Mono, Wall};
use clearway_core::wait::{Queued, Wait, WaitEnd};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

pub(crate) fn event() -> impl Strategy<Value = Event> {
    const HOW: [Established; 5] = [
        Established::Session,
        Established::Ancestry,
        Established::Claim,
        Established::Terminal,
        Established::Kernel,
    ];
    let actor = (option::of(agent_id()), select(&HOW[..])).prop_map(|(agent, how)| Actor { agent, how });
    // Boxed: the types of all of them in one frame are more than a test's stack holds.
    let body = prop_oneof![
        beginnings().boxed(),
        changes().boxed(),
        endings().boxed(),
        waiting().boxed(),
        negotiating().boxed(),
        refusals().boxed(),
        mail().prop_map(Body::Mail).boxed()
    ];
    (any::<u64>(), wall(), actor, body).prop_map(|(seq, at, actor, body)| Event {
        seq: Seq(seq),
        at,
        actor,
        body,
    })
}

pub(crate) fn success() -> impl Strategy<Value = Success> {
    let refused = (text(), vec(view(), 0..2), vec(ahead(), 0..2))
        .prop_map(|(target, blockers, ahead)| Refused { target, blockers, ahead });
    let ids = || vec(lease_id(), 0..4);
    prop_oneof![
        (vec(view(), 0..3), vec(refused, 0..3))
            .prop_map(|(leases, refused)| Success::Reserved { leases, refused }),
        vec(view(), 0..3).prop_map(Success::Renewed),
        (ids(), ids(), vec(view(), 0..2)).prop_map(|(released, already, remaining)| Success::Released {
            released,
            already,
            remaining
        }),
        ids().prop_map(|expired| Success::Swept { expired }),
        (queued().boxed(), vec(view().boxed(), 0..2), vec(ahead(), 0..2)).prop_map(
            |(queued, blockers, ahead)| Success::Queued { queued: Box::new(queued), blockers, ahead }
        ),
        vec(wait_id(), 0..3).prop_map(|waits| Success::Left { waits }),
        vec(view(), 0..3).prop_map(Success::Transferred),
        (mono(), text()).prop_map(|(until, reason)| Success::Frozen(Freeze { until, reason })),
        any::<bool>().prop_map(|was_frozen| Success::Thawed { was_frozen }),
        any::<u64>().prop_map(|number| Success::Kept { number: Seq(number) }),
        negotiated().boxed().prop_map(|outcome| Success::Negotiated(Box::new(outcome))),
        (agent_name(), any::<bool>(), ids()).prop_map(|(agent, was_halted, ended)| Success::Halted {
            agent,
            was_halted,
            ended
        }),
        (agent_name(), any::<bool>())
            .prop_map(|(agent, was_halted)| Success::Continued { agent, was_halted }),
        Just(Success::Done),
        answer().prop_map(Success::Mail),
    ]
}

fn beginnings() -> impl Strategy<Value = Body> {
    let fold = select(&[Fold::Exact, Fold::Insensitive][..]);
    prop_oneof![
        (text(), fold).prop_map(|(place, fold)| Body::ScopeOpened { place, fold }),
        (any::<u32>(), text(), any::<u64>(), proptest::option::of(text())).prop_map(
            |(epoch, boot, lost_tail, operator_reason)| Body::EpochBegan {
                epoch: Epoch(epoch),
                boot: BootKey(boot),
                lost_tail,
                operator_reason,
            }
        ),
        agent().prop_map(Body::AgentRegistered),
        (agent_id(), text(), option::of(process())).prop_map(|(agent, key, process)| Body::AgentResumed {
            agent,
            key: IdentityKey(key),
            process
        }),
        agent_id().prop_map(|agent| Body::AgentEnded { agent }),
        lease().prop_map(Body::LeaseGranted),
    ]
}

fn changes() -> impl Strategy<Value = Body> {
    prop_oneof![
        (lease_id(), terms(), option::of(text())).prop_map(|(lease, terms, operator_reason)| {
            Body::LeaseRenewed { lease, terms, operator_reason }
        }),
        (lease_id(), option::of(any::<u32>()), terms())
            .prop_map(|(lease, slot, terms)| Body::LeaseUpgraded { lease, slot, terms }),
        (lease_id(), terms()).prop_map(|(lease, terms)| Body::LeaseDowngraded { lease, terms }),
        (lease_id(), terms()).prop_map(|(lease, terms)| Body::LeaseClaimed { lease, terms }),
    ]
}

fn terms() -> impl Strategy<Value = Terms> {
    (any::<u64>(), mono(), option::of(mono()), option::of(text()))
        .prop_map(|(ttl_ms, deadline, end_max, reason)| Terms { ttl_ms, deadline, end_max, reason })
}

fn endings() -> impl Strategy<Value = Body> {
    let three = || (lease_id(), agent_id(), agent_id());
    prop_oneof![
        (lease_id(), agent_id(), option::of(text())).prop_map(|(lease, holder, operator_reason)| {
            Body::LeaseReleased { lease, holder, operator_reason }
        }),
        (lease_id(), agent_id(), cause(), option::of(mono())).prop_map(
            |(lease, holder, cause, last_seen)| Body::LeaseExpired { lease, holder, cause, last_seen }
        ),
        (lease_id(), agent_id()).prop_map(|(lease, holder)| Body::LeaseOrphaned { lease, holder }),
        three().prop_map(|(lease, holder, to)| Body::LeaseYielded { lease, holder, to }),
        (three(), target()).prop_map(|((lease, holder, to), path)| Body::LeaseSplit {
            lease,
            holder,
            path,
            to
        }),
        three().prop_map(|(lease, holder, to)| Body::LeaseTakenOver { lease, holder, to }),
    ]
}

fn waiting() -> impl Strategy<Value = Body> {
    let end = select(&WaitEnd::ALL[..]);
    prop_oneof![
        wait().boxed().prop_map(Body::WaitBegan),
        (wait_id(), option::of(process()), mono()).prop_map(|(wait, process, until)| Body::WaitAttached {
            wait,
            process,
            until
        }),
        (wait_id(), mono()).prop_map(|(wait, until)| Body::WaitOffered { wait, until }),
        wait_id().prop_map(|wait| Body::WaitPassed { wait }),
        wait_id().prop_map(|wait| Body::WaitWithdrawn { wait }),
        (wait_id(), agent_id(), end, option::of(mono()), option::of(text())).prop_map(
            |(wait, agent, cause, last_heard, operator_reason)| Body::WaitEnded {
                wait,
                agent,
                cause,
                last_heard,
                operator_reason
            }
        ),
        (lease_id(), agent_id(), agent_id(), mono(), option::of(text())).prop_map(
            |(lease, from, to, deadline, operator_reason)| Body::LeaseTransferred {
                lease,
                from,
                to,
                deadline,
                operator_reason
            }
        ),
        (mono(), text()).prop_map(|(until, reason)| Body::ScopeFrozen { until, reason }),
        text().prop_map(|reason| Body::ScopeThawed { reason }),
        (vec(text(), 0..3), vec(lease_id(), 0..3), text())
            .prop_map(|(paths, blockers, reason)| Body::CommitAllowed { paths, blockers, reason }),
        (text(), vec(text(), 0..3), vec(lease_id(), 0..3))
            .prop_map(|(commit, paths, blockers)| Body::CommitUnchecked { commit, paths, blockers }),
        (lease_id(), agent_id(), text()).prop_map(|(lease, holder, path)| Body::LeaseOverwritten {
            lease,
            holder,
            path
        }),
        keeping().prop_map(Body::SnapshotTaken),
    ]
}

fn negotiating() -> impl Strategy<Value = Body> {
    let id = negotiation_id;
    prop_oneof![
        negotiation().prop_map(Body::NegotiationAsked),
        (id(), urgency(), any::<bool>(), mono()).prop_map(
            |(negotiation, urgency, then_reserve, deadline)| {
                Body::NegotiationRaised { negotiation, urgency, then_reserve, deadline }
            }
        ),
        (id(), option::of(mono()), mono()).prop_map(|(negotiation, until, deadline)| {
            Body::NegotiationDeferred { negotiation, until, deadline }
        }),
        id().prop_map(|negotiation| Body::NegotiationOverdue { negotiation }),
        (id(), select(&NegotiationEnd::ALL[..]), any::<u64>(), option::of(text())).prop_map(
            |(negotiation, how, released, reason)| Body::NegotiationEnded {
                negotiation,
                how,
                released,
                reason
            }
        ),
        (id(), lease_id(), agent_id(), target(), text(), option::of(mono())).prop_map(
            |(negotiation, lease, holder, target, reason, last_seen)| Body::NegotiationForced {
                negotiation,
                lease,
                holder,
                target,
                reason,
                last_seen
            }
        ),
        (agent_id(), text()).prop_map(|(agent, reason)| Body::AgentHalted { agent, reason }),
        (agent_id(), text()).prop_map(|(agent, reason)| Body::AgentContinued { agent, reason }),
    ]
}

fn negotiation() -> impl Strategy<Value = Negotiation> {
    let who = (negotiation_id(), agent_id(), agent_id(), lease_id(), fence(), wait_id());
    let what = (target(), text(), text(), urgency(), any::<bool>(), any::<bool>());
    let when = (state(), mono(), mono(), wall());
    (who, what, when).prop_map(|(who, what, when)| {
        let (id, requester, holder, lease, fence, wait) = who;
        let (target, worktree, why, urgency, then_reserve, overdue) = what;
        let (state, deadline, since, created_at) = when;
        let worktree = Worktree(worktree);
        Negotiation {
            id,
            requester,
            holder,
            lease,
            fence,
            target,
            worktree,
            why,
            urgency,
            wait,
            then_reserve,
            state,
            deadline,
            overdue,
            since,
            created_at,
        }
    })
}

fn state() -> impl Strategy<Value = NegotiationState> {
    let settled = (select(&NegotiationEnd::ALL[..]), any::<u64>(), option::of(text()), wall());
    prop_oneof![
        Just(NegotiationState::Requested),
        Just(NegotiationState::AfterCommit),
        mono().prop_map(NegotiationState::Later),
        settled.prop_map(|(how, released, reason, at)| {
            NegotiationState::Over(Settled { how, released, reason, at })
        }),
    ]
}

fn negotiated() -> impl Strategy<Value = Negotiated> {
    let view = (negotiation(), agent_name(), agent_name())
        .prop_map(|(negotiation, requester, holder)| NegotiationView { negotiation, requester, holder });
    let status = select(&Status::ALL[..]);
    let rest = (vec(text(), 0..2), vec(self::view(), 0..2), option::of(queued()));
    (status, vec(view, 0..2), vec(lease_id(), 0..3), rest).prop_map(
        |(status, negotiations, released, (split, remaining, queued))| Negotiated {
            status,
            negotiations,
            released,
            split,
            remaining,
            queued: queued.map(Box::new),
        },
    )
}

fn urgency() -> impl Strategy<Value = Urgency> {
    select(&[Urgency::Normal, Urgency::Urgent][..])
}

fn negotiation_id() -> impl Strategy<Value = NegotiationId> {
    id().prop_map(|text| NegotiationId::parse(&text).unwrap())
}

fn keeping() -> impl Strategy<Value = Keeping> {
    let cause = select(&SnapshotCause::ALL[..]);
    (text(), text(), cause, option::of(text()), any::<u64>(), any::<u64>()).prop_map(
        |(commit, worktree, cause, reason, files, bytes)| Keeping {
            commit,
            worktree: Worktree(worktree),
            cause,
            reason,
            files,
            bytes,
        },
    )
}

fn wait() -> impl Strategy<Value = Wait> {
    let who = (wait_id(), agent_id(), wanted(), any::<u64>(), option::of(process()));
    let when = (mono(), option::of(mono()), any::<u32>(), mono(), wall());
    (who, when).prop_map(|(who, when)| {
        let (id, agent, wanted, place, attached) = who;
        let (until, offered_until, offers, since, created_at) = when;
        let place = Seq(place);
        let kept_until = None;
        Wait {
            id,
            agent,
            wanted,
            place,
            attached,
            until,
            kept_until,
            offered_until,
            offers,
            since,
            created_at,
        }
    })
}

fn queued() -> impl Strategy<Value = Queued> {
    (wait().boxed(), agent_name(), any::<u64>()).prop_map(|(wait, agent, position)| Queued {
        wait,
        agent,
        position,
    })
}

fn wanted() -> impl Strategy<Value = Reserve> {
    let want = (target(), any::<u32>()).prop_map(|(target, capacity)| Want { target, capacity });
    let grade = select(&[Grade::Auto, Grade::Claimed][..]);
    let what = (vec(want, 0..3), text(), mode(), grade, any::<bool>(), any::<bool>());
    let how =
        (any::<u64>(), option::of(any::<u64>()), option::of(text()), any::<bool>(), option::of(process()));
    (what, how).prop_map(|(what, how)| {
        let (wants, worktree, mode, grade, as_set, makes_way) = what;
        let (ttl_ms, max_ms, reason, best_effort, bound) = how;
        let worktree = Worktree(worktree);
        Reserve {
            wants,
            worktree,
            mode,
            grade,
            as_set,
            ttl_ms,
            max_ms,
            reason,
            best_effort,
            bound,
            makes_way,
        }
    })
}

fn ahead() -> impl Strategy<Value = Ahead> {
    (wait_id(), agent_name(), text(), any::<bool>()).prop_map(|(wait, agent, target, offered)| Ahead {
        wait,
        agent,
        target,
        offered,
    })
}

fn wait_id() -> impl Strategy<Value = WaitId> {
    id().prop_map(|text| WaitId::parse(&text).unwrap())
}

fn refusals() -> impl Strategy<Value = Body> {
    prop_oneof![
        (vec(text(), 0..4), mode(), vec(lease_id(), 0..4), any::<u64>()).prop_map(
            |(targets, mode, blockers, repeats)| Body::ReservationRefused {
                targets,
                mode,
                blockers,
                repeats
            }
        ),
        (text(), text(), text(), any::<u64>()).prop_map(|(action, subject, reason, repeats)| {
            Body::ActionDenied { action, subject, reason, repeats }
        }),
    ]
}

fn way() -> impl Strategy<Value = (bool, Vec<Target>)> {
    (any::<bool>(), vec(target(), 0..3))
}

fn lease() -> impl Strategy<Value = Lease> {
    let set = option::of(id().prop_map(|text| SetId::parse(&text).unwrap()));
    let grade = select(&[Grade::Auto, Grade::Claimed][..]);
    let what = (lease_id(), target(), set, mode(), grade, agent_id(), fence(), option::of(text()), text());
    let end_max = option::of(mono());
    let slot = (option::of(any::<u32>()), option::of(process()), option::of(agent_id()), way());
    let when = (slot, any::<u64>(), mono(), mono(), end_max, wall(), option::of(ended()));
    (what, when).prop_map(|(what, when)| {
        let (id, target, set, mode, grade, holder, fence, reason, worktree) = what;
        let (
            (slot, bound, handed_by, (makes_way, ceded)),
            ttl_ms,
            granted,
            deadline,
            end_max,
            created_at,
            ended,
        ) = when;
        Lease {
            id,
            target,
            set,
            mode,
            grade,
            holder,
            fence,
            reason,
            worktree: Worktree(worktree),
            slot,
            bound,
            handed_by,
            makes_way,
            ceded,
            ttl_ms,
            granted,
            deadline,
            end_max,
            created_at,
            ended,
        }
    })
}

fn agent() -> impl Strategy<Value = Agent> {
    let who = (agent_id(), agent_name(), select(&Client::ALL[..]), text());
    let life = (option::of(agent_id()), agent_id(), option::of(process()), wall(), option::of(wall()));
    (who, life).prop_map(|(who, life)| {
        let (id, name, client, key) = who;
        let (parent, root, process, registered_at, ended_at) = life;
        let (key, halted) = (IdentityKey(key), None);
        Agent { id, name, client, key, parent, root, process, registered_at, ended_at, halted }
    })
}

fn view() -> impl Strategy<Value = LeaseView> {
    let liveness = select(&[Liveness::Active, Liveness::Idle, Liveness::Gone][..]);
    (lease(), agent_name(), mono(), liveness, any::<bool>(), any::<u64>()).prop_map(
        |(lease, agent, deadline, liveness, is_halted, waiters)| LeaseView {
            lease,
            agent,
            deadline,
            liveness,
            is_halted,
            waiters,
            in_hand: false,
        },
    )
}

fn target() -> impl Strategy<Value = Target> {
    const PATTERNS: [&str; 8] =
        ["src/**", "**", "**/x.json", "a*/[bc]", "q?/**", "{a,b}/c", "größe/*.txt", "app/\\[id\\]/page.tsx"];
    let pattern = |text: &str| Target::Path(Pattern::parse(text, Fold::Exact).unwrap());
    let literal = "[a-zä\\[\\]*?{},.]{1,8}(/[a-z0-9]{1,5}){0,3}".prop_filter_map("not a path", |text| {
        CanonicalPath::parse(&text, Fold::Exact).ok().map(|path| Target::Path(Pattern::literal(&path)))
    });
    let name = "[a-z:0-9\\[*]{1,12}".prop_map(|text| Target::Name(ResourceName::parse(&text).unwrap()));
    prop_oneof![select(&PATTERNS[..]).prop_map(pattern), literal, name]
}

fn process() -> impl Strategy<Value = Process> {
    (text(), text(), text(), any::<u32>(), any::<u64>())
        .prop_map(|(host, boot, pid_namespace, pid, start)| Process { host, boot, pid_namespace, pid, start })
}

fn ended() -> impl Strategy<Value = Ended> {
    let fixed = select(&[End::Released, End::Yielded, End::TakenOver, End::Orphaned][..]);
    let how = prop_oneof![fixed, cause().prop_map(End::Expired)];
    (how, wall()).prop_map(|(how, at)| Ended { how, at })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{0,20}", "\\PC{0,12}", any::<String>()]
}

fn id() -> impl Strategy<Value = String> {
    "[0-9a-z]{8}"
}

fn lease_id() -> impl Strategy<Value = LeaseId> {
    id().prop_map(|text| LeaseId::parse(&text).unwrap())
}

fn agent_id() -> impl Strategy<Value = AgentId> {
    id().prop_map(|text| AgentId::parse(&text).unwrap())
}

fn agent_name() -> impl Strategy<Value = AgentName> {
    "[A-Za-z0-9][A-Za-z0-9._-]{0,20}".prop_map(|text| AgentName::parse(&text).unwrap())
}

fn mono() -> impl Strategy<Value = Mono> {
    any::<u64>().prop_map(Mono)
}

fn wall() -> impl Strategy<Value = Wall> {
    any::<i64>().prop_map(Wall)
}

fn mode() -> impl Strategy<Value = Mode> {
    select(&[Mode::Shared, Mode::Exclusive][..])
}

fn cause() -> impl Strategy<Value = ExpiryCause> {
    select(&ExpiryCause::ALL[..])
}

fn fence() -> impl Strategy<Value = Fence> {
    (0_u32..1 << 24, 0_u64..1 << 40).prop_map(|(epoch, seq)| Fence { epoch: Epoch(epoch), seq: Seq(seq) })
}

fn mail() -> impl Strategy<Value = MailEvent> {
    prop_oneof![
        message().boxed().prop_map(|message| MailEvent::Sent(Box::new(message))),
        (agent_id(), vec(any::<u64>().prop_map(Seq), 0..4))
            .prop_map(|(agent, messages)| MailEvent::Read { agent, messages }),
        (agent_id(), any::<u64>(), agent_id(), any::<bool>()).prop_map(|(agent, message, from, settled)| {
            MailEvent::Acknowledged { agent, message: Seq(message), from, settled }
        }),
        (agent_id(), rules()).prop_map(|(agent, rules)| MailEvent::RulesSet { agent, rules }),
        any::<u64>().prop_map(|up_to| MailEvent::Forgotten { up_to: Seq(up_to) }),
    ]
}

fn message() -> impl Strategy<Value = Message> {
    let recipient = (agent_id(), select(&Role::ALL[..])).prop_map(|(agent, role)| Recipient { agent, role });
    let topic = option::of("[A-Za-zÄß0-9]{1,8}".prop_filter_map("a topic", |word| Topic::parse(&word)));
    let who = (any::<u64>(), message_id(), message_id(), agent_id(), vec(recipient, 0..3), any::<bool>());
    let what = (option::of(text()), topic, select(&Importance::ALL[..]), any::<bool>());
    (who, what, any::<[u8; 32]>(), any::<u64>(), wall()).prop_map(|(who, what, digest, bytes, at)| {
        let (seq, id, thread, from, recipients, broadcast) = who;
        let (subject, topic, importance, wants_ack) = what;
        let seq = Seq(seq);
        Message {
            seq,
            id,
            thread,
            from,
            recipients,
            broadcast,
            subject,
            topic,
            importance,
            wants_ack,
            digest,
            bytes,
            at,
        }
    })
}

fn message_id() -> impl Strategy<Value = MessageId> {
    "[a-z0-9][a-z0-9._-]{0,8}".prop_filter_map("an id", |text| MessageId::parse(&text))
}

fn rules() -> impl Strategy<Value = Rules> {
    (select(&Policy::ALL[..]), vec(agent_id(), 0..3))
        .prop_map(|(policy, contacts)| Rules { policy, contacts: contacts.into_iter().collect() })
}

fn answer() -> impl Strategy<Value = Answer> {
    let ids = || vec(message_id(), 0..3);
    let names = || vec(agent_name(), 0..3);
    let sent =
        (message_id(), message_id(), any::<u64>(), (names(), names(), names(), names()), any::<bool>());
    let sent = sent.prop_map(|(id, thread, seq, (to, cc, bcc, denied), again)| {
        Answer::Sent(Box::new(Sent { id, thread, seq: Seq(seq), to, cc, bcc, denied, again }))
    });
    prop_oneof![
        sent,
        ids().prop_map(Answer::Read),
        (ids(), ids()).prop_map(|(now, already)| Answer::Acknowledged { now, already }),
        (rules(), vec((agent_id(), agent_name()), 0..3))
            .prop_map(|(rules, contacts)| Answer::Rules { rules, contacts }),
        Just(Answer::Forgotten),
    ]
}
