//! `gristmill bench sessions`: what many sessions and interpreters that stay cost, in memory, on the disk
//! and in the time of a call, with a plain program beside them.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::Context;
use serde_json::json;

use super::figures::Percentiles;
use super::machine::{self, Memory};
use super::place::{Disk, Place};
use super::row::Row;
use super::serve_client::{Call, Client};
use crate::arguments::Bench;

const SESSIONS: usize = 1_000;

/// Until the workers that wait are as many as before.
const SETTLE: Duration = Duration::from_secs(2);

/// Calls that are not counted: the gateway has started, and all workers wait.
const WARM_UP: usize = 20;

const TEN_FILES: &str = "for number in range(10):\n    \
    with open(f'file-{number}.txt', 'w') as file:\n        file.write('x' * 4096)\n";

/// How much there is of everything.
struct Size {
    sessions: usize,
    kept: usize,
    rounds: usize,
}

/// Times of single calls.
#[derive(Default)]
struct Times {
    plain: Vec<Duration>,
    by_name: Vec<Duration>,
    in_kept: Vec<Duration>,
    made: Vec<Duration>,
    written_again: Vec<Duration>,
}

/// What the gateway had, step by step.
struct Room {
    before: Memory,
    with_sessions: Memory,
    with_kept: Memory,
    disk: Disk,
}

pub async fn measure(arguments: Bench) -> anyhow::Result<ExitCode> {
    let size = Size {
        sessions: arguments.sessions.unwrap_or(SESSIONS).clamp(1, 40_000),
        kept: arguments.kept.clamp(1, 1_000),
        rounds: arguments.rounds.clamp(20, 100_000),
    };
    let (times, room) = used(&size).await?;
    let rows = rows(&size, times, &room);
    match arguments.json {
        true => {
            let figures: Vec<_> = rows.iter().map(Row::json).collect();
            println!("{:#}", json!({"machine": machine::describe(), "figures": figures}));
        }
        false => {
            println!("{}\n", machine::describe());
            for row in &rows {
                println!("{}", row.line());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// One gateway, first empty, then with its sessions, then with interpreters that stay.
async fn used(size: &Size) -> anyhow::Result<(Times, Room)> {
    // Room for all of them: one owner has half of the places at most.
    let places = 2 * (size.sessions + size.kept);
    let settings = json!({"sessions": {"max": places, "kept_interpreters": size.kept}});
    let place = Place::new(&settings)?;
    let mut client = Client::over_pipes(place.command(&[])?)?;
    let pid = client.gateway_pid().context("the gateway's process")?;
    let mut times = Times::default();
    for _ in 0..WARM_UP {
        client.call(&plain()).await?;
    }
    let before = settled(pid).await;

    eprintln!("measuring {} new sessions", size.sessions);
    for number in 0..size.sessions {
        let call = in_session(number, TEN_FILES);
        times.made.push(client.call(&call).await?);
        times.written_again.push(client.call(&call).await?);
    }
    let with_sessions = settled(pid).await;
    let disk = Disk::of(&place.data())?;

    eprintln!("measuring {} interpreters that stay", size.kept);
    for number in 0..size.kept {
        client.call(&in_kept(number, "counted = 0")).await?;
    }
    let with_kept = settled(pid).await;

    eprintln!("measuring calls, {} of each", size.rounds);
    for round in 0..size.rounds {
        times.plain.push(client.call(&plain()).await?);
        times.by_name.push(client.call(&in_session(round % size.sessions, "1 + 1")).await?);
        // A fresh interpreter does not know the name: the call would fail, and the run with it.
        times.in_kept.push(client.call(&in_kept(round % size.kept, "counted += 1")).await?);
    }
    client.close().await?;
    Ok((times, Room { before, with_sessions, with_kept, disk }))
}

fn rows(size: &Size, times: Times, room: &Room) -> Vec<Row> {
    let Size { sessions, kept, .. } = size;
    let plain_us = Percentiles::of(times.plain.clone()).p50_us;
    let time = |name: &str, times: Vec<Duration>| {
        let p50_us = Percentiles::of(times).p50_us;
        Row::plain(format!("{name}, p50"), format!("{:.2} ms, {:.2}x", p50_us / 1000.0, p50_us / plain_us))
    };
    let mb = |mb: f64| format!("{mb:.1} MB");
    let workers = |memory: &Memory| memory.mb() - memory.first_mb();
    let each = (workers(&room.with_kept) - workers(&room.with_sessions)) / *kept as f64;
    vec![
        time("plain: 1 + 1 without a session", times.plain),
        time("1 + 1 in a session, by its name", times.by_name),
        time("counted += 1 in an interpreter that stayed", times.in_kept),
        time("ten files of 4 KB in a new session", times.made),
        time("the same in a session that is there", times.written_again),
        Row::plain(format!("gateway alone, {}", room.before.what()), mb(room.before.first_mb())),
        Row::plain(format!("gateway with {sessions} sessions"), mb(room.with_sessions.first_mb())),
        Row::plain(format!("gateway with {kept} kept interpreters beside"), mb(room.with_kept.first_mb())),
        Row::plain(format!("each of the {kept} kept interpreters"), mb(each)),
        Row::plain(
            format!("disk, {sessions} sessions ({} files)", room.disk.files),
            mb(room.disk.bytes as f64 / (1024.0 * 1024.0)),
        ),
    ]
}

fn plain() -> Call {
    Call::new("execute_code", &json!({"code": "1 + 1"}))
}

fn in_session(number: usize, code: &str) -> Call {
    let session = format!("bench-{number}");
    Call::new("execute_code", &json!({"code": code, "session": session}))
}

fn in_kept(number: usize, code: &str) -> Call {
    let session = format!("bench-kept-{number}");
    Call::new("execute_code", &json!({"code": code, "session": session, "keep_variables": true}))
}

/// What a gateway and its processes have when nothing runs.
async fn settled(pid: u32) -> Memory {
    tokio::time::sleep(SETTLE).await;
    Memory::of_tree(pid)
}
