//! Changes of skills that wait for a person.

use super::*;
use crate::ids::{Caller, Owner};
use crate::store::BegunSave;
use gristmill_domain::policy::Seen;
use gristmill_domain::skills::SkillFiles;

/// An agent of this owner.
fn agent(owner: &str) -> SkillOrigin {
    SkillOrigin::of(&Caller::of(Owner(owner.to_owned())))
}

#[tokio::test]
async fn door_4_what_an_agent_does_to_a_skill_of_a_person_waits_and_the_skill_stays() {
    let world = World::new("skills-held");
    world.user("total/total.py", "x = 1\n");
    world.skills.look_again().await;
    world.user("total/total.py", "x = 2\n");
    let code = async || world.skills.look_again().await.find("total").map(|skill| skill.code().to_owned());
    let deleted = world.skills.delete("total", &agent("a")).await.expect("it waits");
    assert_eq!((deleted.held, code().await.as_deref()), (Some(Held::Persons), Some("x = 2\n")));
    let back = world.skills.rollback("total", 1, &agent("b")).await.expect("it waits");
    assert_eq!(back, RolledBack { version: 2, held: Some(Held::Persons) });
    assert_eq!(code().await.as_deref(), Some("x = 2\n"));
    assert_eq!(world.versions("total").await.len(), 2, "nothing has changed");
    // Another process sees the same, whatever became of this one.
    let held = World::open(world.folder.path()).held().await.expect("what waits");
    let told: Vec<_> = held.iter().map(|held| (held.proposal.how, held.proposal.origin.clone())).collect();
    let expected = [(SavedHow::Deleted, agent("a")), (SavedHow::RolledBack, agent("b"))];
    assert_eq!(told.len(), 2);
    assert!(expected.iter().all(|one| told.contains(one)), "{told:?}");

    let [one, other] = held.as_slice() else { panic!("two wait") };
    let (delete, rollback) = if one.proposal.how == SavedHow::Deleted { (one, other) } else { (other, one) };
    world.user("total/total.py", "x = 3\n");
    let refused = world.skills.approve_held(rollback, HandOver::No).await.expect_err("not what was shown");
    assert!(refused.to_string().contains("has changed since it was shown"), "{refused}");
    world.user("total/total.py", "x = 2\n");
    world.skills.reject_held(delete).await.expect("rejected");
    let number = world.skills.approve_held(rollback, HandOver::No).await.expect("approved");
    assert_eq!(code().await.as_deref(), Some("x = 1\n"));
    let history = world.skills.history("total").await.expect("a history");
    assert_eq!((history[0].version, history[0].told()), (number, "rolled back by b".to_owned()));
    assert_eq!(world.skills.held().await.expect("none"), []);
    // A yes to this was no yes to the next.
    let next = world.skills.delete("total", &agent("b")).await.expect("it waits");
    assert_eq!(next.held, Some(Held::Persons));
}

#[tokio::test]
async fn a_save_that_was_killed_after_writing_its_files_is_still_its_agents() {
    let world = World::new("skills-killed-save");
    let folder = world.skills.key_of(SkillPlace::User).expect("a folder");
    let mut files = SkillFiles::default();
    files.put("total.py", "x = 1\n").expect("a file");
    let begun = BegunSave {
        folder,
        name: "total".to_owned(),
        hash: files.hash(),
        how: SavedHow::Saved,
        origin: agent("a"),
        holder: agent("a").holder(),
    };
    world.skills.inner.store.begin_skill(begun).await.expect("noted");
    world.user("total/total.py", "x = 1\n");
    let others = world.skills.delete("total", &agent("b")).await.expect("it waits");
    assert_eq!(others.held, Some(Held::AnotherAgents));
    assert_eq!(world.versions("total").await, [(1, SavedHow::Saved)]);
    // Other content in the same place is somebody's edit.
    world.user("total/total.py", "x = 2\n");
    let own = world.skills.delete("total", &agent("a")).await.expect("it waits");
    assert_eq!(own.held, Some(Held::Persons));
}

#[tokio::test]
async fn a_folder_that_was_read_before_a_save_is_nobodys_edit() {
    let world = World::new("skills-read-before");
    let name = SkillName::new("total").expect("a name");
    world.user("total/total.py", "x = 1\n");
    world.skills.look_again().await;
    world.user("total/total.py", "x = 2\n");
    let files = world.skills.files_of(SkillPlace::User, &name).await.expect("readable").expect("there");
    let stale = FoundSkill { name, files };
    world.skills.rollback("total", 1, &SkillOrigin::Person).await.expect("a person may");
    let folder = world.skills.key_of(SkillPlace::User).expect("a folder");
    let noted = world.skills.note_edits(SkillPlace::User, &folder, &[&stale]).await.expect("looked at");
    assert_eq!(noted, []);
    let versions = world.versions("total").await;
    assert_eq!(versions.first(), Some(&(3, SavedHow::RolledBack)), "{versions:?}");
}

#[tokio::test]
async fn a_skill_that_was_handed_over_is_its_agents_until_a_person_changes_it() {
    let world = World::new("skills-handed-over");
    world.user("total/total.py", "x = 1\n");
    world.skills.look_again().await;
    world.user("total/total.py", "x = 2\n");
    world.skills.rollback("total", 1, &agent("a")).await.expect("it waits");
    let held = world.skills.held().await.expect("what waits").remove(0);
    world.skills.approve_held(&held, HandOver::Yes).await.expect("approved");
    let own = world.skills.rollback("total", 2, &agent("a")).await.expect("its own");
    assert_eq!(own.held, None);
    let others = world.skills.rollback("total", 1, &agent("b")).await.expect("it waits");
    assert_eq!(others.held, Some(Held::AnotherAgents));
    world.skills.rollback("total", 1, &SkillOrigin::Person).await.expect("a person may");
    // What was in use already is only noted, as after a kill.
    let held = world.skills.held().await.expect("what waits").remove(0);
    let versions = world.versions("total").await.len();
    world.skills.approve_held(&held, HandOver::No).await.expect("it is so");
    assert_eq!(world.versions("total").await.len(), versions);
    let now = world.skills.delete("total", &agent("a")).await.expect("it waits");
    assert_eq!(now.held, Some(Held::Persons));
}

fn marked() -> Seen {
    Seen { untrusted: Some("web".to_owned()), ..Seen::default() }
}

#[tokio::test]
async fn a_person_who_approves_a_change_takes_its_marks_away() {
    let world = World::new("skills-marked-change");
    world.user("total/total.py", "x = 1\n");
    world.skills.look_again().await;
    world.user("total/total.py", "x = 2\n");
    let agent = agent("a").with_seen(&marked());
    world.skills.rollback("total", 1, &agent).await.expect("it waits");
    let held = world.skills.held().await.expect("what waits");
    assert_eq!(held[0].proposal.origin.seen(), marked());
    world.skills.approve_held(&held[0], HandOver::No).await.expect("approved");
    let view = world.skills.look_again().await;
    assert_eq!(
        view.find("total").map(|skill| (skill.code(), skill.seen.is_empty())),
        Some(("x = 1\n", true))
    );
}

#[tokio::test]
async fn a_marked_version_stays_marked_until_somebody_edits_it() {
    let world = World::new("skills-marked");
    let folder = world.skills.key_of(SkillPlace::User).expect("a folder");
    let mut files = SkillFiles::default();
    files.put("total.py", "x = 1\n").expect("a file");
    let origin = agent("a").with_seen(&marked());
    let (name, hash, how) = ("total".to_owned(), files.hash(), SavedHow::Saved);
    let begun = BegunSave { folder, name, hash, how, holder: origin.holder(), origin };
    world.skills.inner.store.begin_skill(begun).await.expect("noted");
    world.user("total/total.py", "x = 1\n");
    let seen = async || world.skills.look_again().await.find("total").map(|skill| skill.seen.clone());
    assert_eq!(seen().await, Some(marked()), "after a kill, too");
    let nearest = async || world.skills.look_again().await.nearest("totals");
    assert_eq!(nearest().await, [""; 0], "its name is nobody's guess");
    world.user("total/total.py", "x = 2\n");
    assert_eq!((seen().await, nearest().await), (Some(Seen::default()), vec!["total".to_owned()]));
    let back = world.skills.rollback("total", 1, &SkillOrigin::Person).await.expect("it is back");
    assert_eq!((back.held, seen().await), (None, Some(Seen::default())), "a person brought it back");
}
