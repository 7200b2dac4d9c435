//! The walls, seen from outside: what the kernel says of a worker while a program runs in it.
#![cfg(target_os = "linux")]

mod support;

use std::collections::BTreeMap;
use std::fs;

use gristmill_gateway::domain::{Level, LimitName, Limits};
use gristmill_gateway::{ExecuteRequest, Execution, Wall, WallState};
use gristmill_testkit::World;
use gristmill_testkit::processes::{end_as_forbidden, eventually, is_alive, workers_of};
use serde_json::json;
use support::gristmill;

#[test]
fn a_running_worker_stands_behind_every_wall_that_the_machine_gives() {
    let world = World::new(gristmill()).waiting(0).start();
    let walls = world.block_on(world.gateway().ready()).unwrap();
    let stands = |wall| walls.iter().any(|status| status.wall == wall && status.state == WallState::Stands);
    let mut execution = world
        .gateway()
        .execute(ExecuteRequest::python("print('running', flush=True)\nimport time\ntime.sleep(4)"));
    world.block_on(execution.next_event()).unwrap();
    let pid = workers_of(&world)[0];
    let status: BTreeMap<String, String> = fs::read_to_string(format!("/proc/{pid}/status"))
        .unwrap()
        .lines()
        .filter_map(|line| line.split_once(":\t"))
        .map(|(name, value)| (name.to_owned(), value.trim().to_owned()))
        .collect();
    assert_eq!(status["NoNewPrivs"], "1");
    assert_eq!(status["Threads"], "1", "one thread, so that all of it is confined");
    assert_eq!(status["CapEff"].trim_start_matches('0'), "");
    assert_eq!(status["CapPrm"].trim_start_matches('0'), "");
    assert!(stands(Wall::Seccomp) && status["Seccomp"] == "2", "Seccomp {}", status["Seccomp"]);
    assert!(stands(Wall::Landlock), "the tests need a kernel with landlock");
    for (wall, name) in [
        (Wall::UserNamespace, "user"),
        (Wall::NetworkNamespace, "net"),
        (Wall::MountNamespace, "mnt"),
        (Wall::PidNamespace, "pid"),
    ] {
        let theirs = fs::read_link(format!("/proc/{pid}/ns/{name}"));
        let ours = fs::read_link(format!("/proc/self/ns/{name}")).unwrap();
        // Only root may look into a process that cannot be dumped.
        if let Ok(theirs) = theirs {
            assert_eq!(theirs != ours, stands(wall), "{name}");
        }
    }
    if let Ok(descriptors) = fs::read_dir(format!("/proc/{pid}/fd")) {
        let mut held: Vec<String> = descriptors
            .flatten()
            .map(|entry| fs::read_link(entry.path()).unwrap_or_default().display().to_string())
            .collect();
        held.sort();
        // Three standard ones that lead nowhere, the line to the gateway, the program's folders.
        assert!(held.len() <= 8, "{held:?}");
        assert!(held.iter().all(|name| name.starts_with("socket:") || name.starts_with('/')), "{held:?}");
    }
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    assert!(environment.is_empty(), "{}", String::from_utf8_lossy(&environment));
    execution.cancel();
}

#[test]
fn a_level_that_promises_more_than_the_machine_gives_is_refused_with_a_remedy() {
    use gristmill_worker::{Wall, WallState, WallStatus, first_missing};
    let walls = [WallStatus {
        wall: Wall::UserNamespace,
        state: WallState::Unavailable,
        detail: "Operation not permitted".to_owned(),
    }];
    let required = gristmill_gateway::required_walls(gristmill_gateway::domain::Level::Hardened);
    let message = first_missing(&walls, required).unwrap();
    assert!(message.contains("this isolation level needs"), "{message}");
}

/// A program that runs for a while, once it runs, and its process.
fn begin(world: &World, seconds: u32) -> (Execution, u32) {
    let before = workers_of(world);
    let code = format!("print('running', flush=True)\nimport time\ntime.sleep({seconds})\n6 * 7");
    let mut execution = world.gateway().execute(ExecuteRequest::python(code));
    world.block_on(execution.next_event()).unwrap();
    let pid = workers_of(world).into_iter().find(|pid| !before.contains(pid)).unwrap();
    (execution, pid)
}

/// Where the kernel put things; only root may look.
fn layout_of(pid: u32) -> Option<String> {
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    maps.lines().find(|line| line.contains("gristmill")).map(|line| line[..12].to_owned())
}

#[test]
fn door_8_a_forbidden_call_brings_a_fresh_zygote_and_ends_no_other_program() {
    let mut limits = Limits::of(Level::Development);
    limits.set(LimitName::WallTime, 60_000).unwrap();
    let world = World::new(gristmill()).limits(limits).waiting(0).start();
    world.block_on(world.gateway().ready()).unwrap();
    let old = world.gateway().pool().supervisor_pid().unwrap();
    let (going_on, first) = begin(&world, 8);
    let (attacker, second) = begin(&world, 50);
    let same = layout_of(first);
    assert_eq!(same, layout_of(second), "siblings are alike");
    end_as_forbidden(second);
    assert!(world.block_on(attacker.finish()).error.is_some());
    eventually("a fresh zygote", || {
        world.gateway().pool().supervisor_pid().is_some_and(|pid| pid != old).then_some(())
    });
    let (next, third) = begin(&world, 1);
    if same.is_some() {
        assert_ne!(same, layout_of(third), "nothing is where it was");
    }
    assert_eq!(world.block_on(next.finish()).result, Some(json!(42)));
    let report = world.block_on(going_on.finish());
    assert_eq!(report.result, Some(json!(42)), "{report:?}");
    eventually("the old one is gone with its last child", || (!is_alive(old)).then_some(()));
    let scratch = world.execute(ExecuteRequest::python("open('file', 'w').write('x')"));
    assert_eq!(scratch.result, Some(json!(1)), "the scratch folder is still there: {scratch:?}");
}

#[test]
fn door_8_a_zygote_forks_only_so_often() {
    let world = World::new(gristmill()).waiting(1).forks_max(3).start();
    world.block_on(world.gateway().ready()).unwrap();
    let old = world.gateway().pool().supervisor_pid().unwrap();
    eventually("a fresh zygote", || {
        assert_eq!(world.execute(ExecuteRequest::python("6 * 7")).result, Some(json!(42)));
        (world.gateway().pool().supervisor_pid() != Some(old)).then_some(())
    });
    eventually("the old one is gone", || (!is_alive(old)).then_some(()));
}
