//! A session and its subagents.

use super::Story;
use super::stage::*;
use clearway_core::slug::Slug;

pub(super) const STORIES: &[Story] = &[
    ("an ancestor's lease is no obstacle to a descendant", descendants),
    ("siblings exclude each other, and a child excludes its parent", siblings),
    ("the root of a family may act for it, a sibling may not", root_acts),
    ("the root of a family renews and releases by pattern what its subagents hold", root_names),
];

fn descendants(stage: &mut Stage) {
    let root = stage.reserve(&in_session("s"), &[path("src/**")], How::default()).agent.unwrap().0;
    stage.register_child(&in_session("s/1"), root, "child001");
    leases(stage.reserve(&in_session("s/1"), &[path("src/a.rs")], How::default()));
    refusal(stage.reserve(&in_session("other"), &[path("src/a.rs")], How::default()), Slug::ReservationHeld);
}

fn siblings(stage: &mut Stage) {
    let root = stage.reserve(&in_session("s"), &[path("x")], How::default()).agent.unwrap().0;
    stage.register_child(&in_session("s/1"), root, "child001");
    stage.register_child(&in_session("s/2"), root, "child002");
    leases(stage.reserve(&in_session("s/1"), &[path("f")], How::default()));
    refusal(stage.reserve(&in_session("s/2"), &[path("f")], How::default()), Slug::ReservationHeld);
    refusal(stage.reserve(&in_session("s"), &[path("f")], How::default()), Slug::ReservationHeld);
}

fn root_acts(stage: &mut Stage) {
    let root = stage.reserve(&in_session("s"), &[path("x")], How::default()).agent.unwrap().0;
    stage.register_child(&in_session("s/1"), root, "child001");
    stage.register_child(&in_session("s/2"), root, "child002");
    let held = only(leases(stage.reserve(&in_session("s/1"), &[path("f")], How::default())));
    refusal(stage.release(&in_session("s/2"), by_id(&held)), Slug::NotHolder);
    leases(stage.renew(&in_session("s"), by_id(&held)));
    assert_eq!(released(stage.release(&in_session("s"), by_id(&held))).0, [held.lease.id]);
}

fn root_names(stage: &mut Stage) {
    let root = stage.reserve(&in_session("s"), &[path("x")], How::default()).agent.unwrap().0;
    stage.register_child(&in_session("s/1"), root, "child001");
    let held = only(leases(stage.reserve(&in_session("s/1"), &[path("src/f")], How::default())));
    let renewed = stage.renew_inside(&in_session("s"), "src/**");
    assert_eq!(only(leases(renewed)).lease.id, held.lease.id);
    refusal(stage.renew_inside(&in_session("other"), "src/**"), Slug::NotFound);
    assert_eq!(released(stage.release_inside(&in_session("s"), "src/**")).0, [held.lease.id]);
}
