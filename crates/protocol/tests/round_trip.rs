//! What one end says the other end hears, and no bytes at all can make a decoder panic.
//!
//! Messages come from strategies, one function for each type. A failure prints its smallest
//! message; it then becomes a named test, so nothing is persisted beside this file.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use gristmill_protocol::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde::Serialize;
use serde::de::DeserializeOwned;

// ---- messages ----

fn to_zygote() -> impl Strategy<Value = ToZygote> {
    prop_oneof![
        (any::<u32>(), engine(), vec(wall(), 0..12), proptest::option::of(native())).prop_map(
            |(version, engine, required, native)| ToZygote::Hello { version, engine, required, native }
        ),
        Just(ToZygote::Fork),
        any::<u64>().prop_map(|id| ToZygote::Kill { id }),
        Just(ToZygote::ForkAnalysis),
    ]
}

fn from_zygote() -> impl Strategy<Value = FromZygote> {
    prop_oneof![
        (any::<u32>(), engine(), text(), vec(wall_status(), 0..12)).prop_map(
            |(version, engine, description, walls)| FromZygote::Ready { version, engine, description, walls }
        ),
        text().prop_map(|message| FromZygote::Failed { message }),
        (any::<u64>(), any::<i32>(), child_kind()).prop_map(|(id, pid, kind)| FromZygote::Child {
            id,
            pid,
            kind
        }),
        (any::<u64>(), child_exit(), process_use()).prop_map(|(id, exit, used)| FromZygote::Exited {
            id,
            exit,
            used
        }),
        (child_kind(), text()).prop_map(|(kind, message)| FromZygote::ForkFailed { kind, message }),
    ]
}

fn to_worker() -> impl Strategy<Value = ToWorker> {
    prop_oneof![
        confinement().prop_map(|confinement| ToWorker::Confine(Box::new(confinement))),
        program().prop_map(|program| ToWorker::Run(Box::new(program))),
        completion().prop_map(ToWorker::Completed),
        analysis_job().prop_map(|job| ToWorker::Analyze(Box::new(job))),
    ]
}

fn from_worker() -> impl Strategy<Value = FromWorker> {
    prop_oneof![
        (any::<u32>(), any::<u64>()).prop_map(|(version, cpu_us)| FromWorker::Hello { version, cpu_us }),
        (stream(), vec(any::<u8>(), 0..300)).prop_map(|(stream, bytes)| FromWorker::Output { stream, bytes }),
        (any::<u64>(), call_kind(), text()).prop_map(|(id, kind, payload)| FromWorker::Call {
            id,
            kind,
            payload
        }),
        any::<u64>().prop_map(|id| FromWorker::CancelCall { id }),
        (outcome(), run_stats()).prop_map(|(outcome, stats)| FromWorker::Done { outcome, stats }),
    ]
}

// ---- their parts ----

fn native() -> impl Strategy<Value = NativeStart> {
    (text(), proptest::option::of(text()), vec(text(), 0..3), vec(text(), 0..3))
        .prop_map(|(python, packages, path, preload)| NativeStart { python, packages, path, preload })
}

fn engine() -> impl Strategy<Value = EngineId> {
    select(EngineId::ALL)
}

fn call_kind() -> impl Strategy<Value = CallKind> {
    select(CallKind::ALL)
}

fn wall() -> impl Strategy<Value = Wall> {
    select(vec![
        Wall::Wasm,
        Wall::Process,
        Wall::Landlock,
        Wall::Seccomp,
        Wall::NoNewPrivileges,
        Wall::UserNamespace,
        Wall::NetworkNamespace,
        Wall::MountNamespace,
        Wall::PidNamespace,
        Wall::Rlimits,
    ])
}

fn wall_status() -> impl Strategy<Value = WallStatus> {
    (wall(), wall_state(), text()).prop_map(|(wall, state, detail)| WallStatus { wall, state, detail })
}

fn wall_state() -> impl Strategy<Value = WallState> {
    select(vec![WallState::Stands, WallState::Unavailable, WallState::NotOnThisPlatform])
}

fn child_exit() -> impl Strategy<Value = ChildExit> {
    prop_oneof![any::<i32>().prop_map(ChildExit::Code), any::<i32>().prop_map(ChildExit::Signal)]
}

fn process_use() -> impl Strategy<Value = ProcessUse> {
    (any::<u64>(), any::<u64>())
        .prop_map(|(cpu_us, resident_peak_bytes)| ProcessUse { cpu_us, resident_peak_bytes })
}

fn child_kind() -> impl Strategy<Value = ChildKind> {
    select(vec![ChildKind::Programs, ChildKind::Analysis])
}

fn analysis_job() -> impl Strategy<Value = AnalysisJob> {
    (any::<u32>(), text(), vec(job_input(), 0..ANALYSIS_INPUTS_MAX), analysis_limits())
        .prop_map(|(version, request, inputs, limits)| AnalysisJob { version, request, inputs, limits })
}

fn job_input() -> impl Strategy<Value = JobInput> {
    (text(), proptest::option::of(data_format()), proptest::option::of(text()))
        .prop_map(|(name, format, inline)| JobInput { name, format, inline })
}

fn data_format() -> impl Strategy<Value = DataFormat> {
    select(vec![DataFormat::Json, DataFormat::JsonLines, DataFormat::Csv, DataFormat::Parquet])
}

fn analysis_limits() -> impl Strategy<Value = AnalysisLimits> {
    (any::<u64>(), any::<u64>(), any::<u64>()).prop_map(|(memory_bytes, cpu_ms, output_bytes)| {
        AnalysisLimits { memory_bytes, cpu_ms, output_bytes }
    })
}

fn confinement() -> impl Strategy<Value = Confinement> {
    let mounts = vec(mount(), 0..FRAME_DESCRIPTORS_MAX);
    (any::<u32>(), program_limits(), mounts).prop_map(|(version, limits, mounts)| Confinement {
        version,
        limits,
        mounts,
    })
}

fn program() -> impl Strategy<Value = Program> {
    (any::<u32>(), engine(), text(), text(), text(), program_limits(), any::<bool>()).prop_map(
        |(version, engine, code, filename, context, limits, stay)| Program {
            version,
            engine,
            code,
            filename,
            context,
            limits,
            stay,
        },
    )
}

prop_compose! {
    fn program_limits()(
        memory_bytes: u64,
        cpu_ms: u64,
        result_bytes: u64,
        large_result_bytes: u64,
        result_depth: u32,
        open_files: u32,
        file_bytes: u64,
        workspace_bytes: u64,
        workspace_files: u64,
        workspace_bytes_used: u64,
        workspace_files_used: u64,
    ) -> ProgramLimits {
        ProgramLimits {
            memory_bytes,
            cpu_ms,
            result_bytes,
            large_result_bytes,
            result_depth,
            open_files,
            file_bytes,
            workspace_bytes,
            workspace_files,
            workspace_bytes_used,
            workspace_files_used,
        }
    }
}

fn mount() -> impl Strategy<Value = Mount> {
    (text(), mount_access()).prop_map(|(name, access)| Mount { name, access })
}

fn mount_access() -> impl Strategy<Value = MountAccess> {
    select(vec![MountAccess::ReadOnly, MountAccess::ReadWrite, MountAccess::ByName])
}

fn completion() -> impl Strategy<Value = Completion> {
    (any::<u64>(), any::<bool>(), text()).prop_map(|(id, ok, payload)| Completion { id, ok, payload })
}

fn stream() -> impl Strategy<Value = Stream> {
    select(vec![Stream::Stdout, Stream::Stderr])
}

fn outcome() -> impl Strategy<Value = Outcome> {
    prop_oneof![
        text().prop_map(Outcome::Returned),
        trap().prop_map(Outcome::Trapped),
        text().prop_map(Outcome::Refused),
    ]
}

fn trap() -> impl Strategy<Value = Trap> {
    (trap_kind(), text()).prop_map(|(kind, message)| Trap { kind, message })
}

fn trap_kind() -> impl Strategy<Value = TrapKind> {
    select(vec![TrapKind::StackOverflow, TrapKind::Exit, TrapKind::Crash])
}

fn worker_limit() -> impl Strategy<Value = WorkerLimit> {
    select(vec![
        WorkerLimit::Memory,
        WorkerLimit::OpenFiles,
        WorkerLimit::FileBytes,
        WorkerLimit::WorkspaceBytes,
        WorkerLimit::WorkspaceFiles,
    ])
}

fn run_stats() -> impl Strategy<Value = RunStats> {
    (any::<u64>(), any::<u64>(), vec(worker_limit(), 0..5), any::<u64>(), any::<u64>()).prop_map(
        |(memory_peak_bytes, cpu_us, limits_hit, workspace_bytes_used, workspace_files_used)| RunStats {
            memory_peak_bytes,
            cpu_us,
            limits_hit,
            workspace_bytes_used,
            workspace_files_used,
        },
    )
}

/// Any characters, control characters and NUL included; long enough for a length of two bytes.
fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..80).prop_map(String::from_iter)
}

// ---- bytes ----

fn frame<M: Debug + Serialize>(messages: impl Strategy<Value = M>) -> impl Strategy<Value = Vec<u8>> {
    messages.prop_map(|message| encode_frame(&message).unwrap())
}

fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![frame(to_zygote()), frame(from_zygote()), frame(to_worker()), frame(from_worker())]
}

/// Frames that were right once: random bytes alone seldom get past the first field.
fn spoilt_frame() -> impl Strategy<Value = Vec<u8>> {
    (any_frame(), vec((any::<Index>(), any::<u8>()), 1..6)).prop_map(|(mut bytes, changes)| {
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        bytes
    })
}

/// The body of a spoilt frame, or bytes that were never a message.
fn garbage_body() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        spoilt_frame().prop_map(|frame| frame[FRAME_HEADER_BYTES..].to_vec()),
        vec(any::<u8>(), 0..200),
        vec(0..4u8, 0..60),
    ]
}

/// A spoilt frame among whole ones, or bytes that were never a frame.
fn garbage_line() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(prop_oneof![any_frame(), spoilt_frame()], 1..4).prop_map(|frames| frames.concat()),
        vec(any::<u8>(), 0..200),
    ]
}

fn body_of(frame: &[u8]) -> &[u8] {
    let (header, body) = frame.split_first_chunk::<FRAME_HEADER_BYTES>().unwrap();
    assert_eq!(decode_frame_len(*header), Ok(body.len()));
    body
}

// ---- what must hold ----

fn settings() -> ProptestConfig {
    ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() }
}

fn survives<M: Serialize + DeserializeOwned + PartialEq + Debug>(message: &M) {
    let frame = encode_frame(message).unwrap();
    assert_eq!(decode_body::<M>(body_of(&frame)).as_ref(), Ok(message));
}

/// Whatever `body` is taken for, saying it again says the same, in no more bytes.
fn is_refused_or_means_one_thing<M: Serialize + DeserializeOwned + PartialEq + Debug>(body: &[u8]) {
    let Ok(message) = decode_body::<M>(body) else { return };
    let frame = encode_frame(&message).unwrap();
    let again = body_of(&frame);
    assert!(again.len() <= body.len(), "{message:?} grew from {} to {} bytes", body.len(), again.len());
    assert_eq!(decode_body::<M>(again), Ok(message));
}

/// Writes `bytes` in pieces that the reader gets one at a time: a descriptor rides on each piece,
/// and the system does not join what carries descriptors.
fn write_in_pieces(socket: &UnixStream, bytes: &[u8], cuts: &[Index]) -> usize {
    let nothing = File::open("/dev/null").unwrap();
    let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
    ends.push(bytes.len());
    ends.sort_unstable();
    ends.dedup();
    let mut begin = 0;
    let mut pieces = 0;
    for end in ends {
        if begin < end {
            assert_eq!(
                send_with_descriptors(socket, &bytes[begin..end], &[nothing.as_fd()]).unwrap(),
                end - begin
            );
            pieces += 1;
        }
        begin = end;
    }
    pieces
}

fn cuts() -> impl Strategy<Value = Vec<Index>> {
    vec(any::<Index>(), 0..FRAME_DESCRIPTORS_MAX)
}

proptest! {
    #![proptest_config(settings())]

    #[test]
    fn what_the_gateway_tells_the_zygote_arrives(message in to_zygote()) {
        survives(&message);
    }

    #[test]
    fn what_the_zygote_tells_the_gateway_arrives(message in from_zygote()) {
        survives(&message);
    }

    #[test]
    fn what_the_gateway_tells_a_worker_arrives(message in to_worker()) {
        survives(&message);
    }

    #[test]
    fn what_a_worker_tells_the_gateway_arrives(message in from_worker()) {
        survives(&message);
    }

    #[test]
    fn any_bytes_are_refused_or_mean_one_thing(body in garbage_body()) {
        is_refused_or_means_one_thing::<ToZygote>(&body);
        is_refused_or_means_one_thing::<FromZygote>(&body);
        is_refused_or_means_one_thing::<ToWorker>(&body);
        is_refused_or_means_one_thing::<FromWorker>(&body);
    }

    #[test]
    fn any_header_is_refused_or_within_the_cap(header: [u8; FRAME_HEADER_BYTES]) {
        match decode_frame_len(header) {
            Ok(bytes) => prop_assert!((1..=FRAME_BYTES_MAX).contains(&bytes)),
            Err(FrameError::Empty) => prop_assert_eq!(header, [0; FRAME_HEADER_BYTES]),
            Err(FrameError::TooLarge { bytes }) => prop_assert!(bytes > FRAME_BYTES_MAX),
            Err(FrameError::Malformed(_) | FrameError::Trailing(_)) => prop_assert!(false, "not of a header"),
        }
    }

    #[test]
    fn a_message_cut_short_is_malformed(message in from_worker(), cut: Index) {
        let frame = encode_frame(&message).unwrap();
        let body = body_of(&frame);
        let cut = &body[..cut.index(body.len())];
        prop_assert!(matches!(decode_body::<FromWorker>(cut), Err(FrameError::Malformed(_))));
    }

    #[test]
    fn a_program_cut_short_is_malformed(message in to_worker(), cut: Index) {
        let frame = encode_frame(&message).unwrap();
        let body = body_of(&frame);
        let cut = &body[..cut.index(body.len())];
        prop_assert!(matches!(decode_body::<ToWorker>(cut), Err(FrameError::Malformed(_))));
    }

    #[test]
    fn a_message_that_goes_on_is_refused(message in from_worker(), stray in vec(any::<u8>(), 1..20)) {
        let frame = encode_frame(&message).unwrap();
        let body = [body_of(&frame), &stray].concat();
        prop_assert_eq!(decode_body::<FromWorker>(&body), Err(FrameError::Trailing(stray.len())));
    }

    #[test]
    fn a_line_cut_short_is_closed(message in from_worker(), keep: Index, cuts in cuts()) {
        let frame = encode_frame(&message).unwrap();
        let (left, right) = UnixStream::pair().unwrap();
        write_in_pieces(&left, &frame[..keep.index(frame.len())], &cuts);
        drop(left);
        let received = recv_frame::<FromWorker>(&right, &mut Vec::new());
        prop_assert!(matches!(received, Err(ReceiveError::Closed)), "{:?}", received);
    }

    #[test]
    fn messages_arrive_whole_however_the_line_cuts_them(messages in vec(from_worker(), 1..4), cuts in cuts()) {
        let line: Vec<u8> = messages.iter().flat_map(|message| encode_frame(message).unwrap()).collect();
        let (left, right) = UnixStream::pair().unwrap();
        let pieces = write_in_pieces(&left, &line, &cuts);
        drop(left);
        let mut descriptors = Vec::new();
        for message in messages {
            prop_assert_eq!(recv_frame::<FromWorker>(&right, &mut descriptors).unwrap(), message);
        }
        prop_assert_eq!(descriptors.len(), pieces);
        let after = recv_frame::<FromWorker>(&right, &mut descriptors);
        prop_assert!(matches!(after, Err(ReceiveError::Closed)), "{:?}", after);
    }

    #[test]
    fn garbage_on_the_line_ends_in_an_error(line in garbage_line(), cuts in cuts()) {
        let (left, right) = UnixStream::pair().unwrap();
        write_in_pieces(&left, &line, &cuts);
        drop(left);
        // Each message takes bytes from the line, so an error comes at the latest where it ends.
        let error = loop {
            if let Err(error) = recv_frame::<FromWorker>(&right, &mut Vec::new()) {
                break error;
            }
        };
        prop_assert!(matches!(error, ReceiveError::Closed | ReceiveError::Frame(_)), "{:?}", error);
    }
}

// ---- the strategies leave nothing out ----

/// The variants that the decoder of `M` knows, by their numbers: zeros complete any of them.
fn variants_known<M: DeserializeOwned>() -> BTreeSet<u8> {
    let knows = |variant: u8| {
        let mut body = [0; 64];
        body[0] = variant;
        matches!(decode_body::<M>(&body), Ok(_) | Err(FrameError::Trailing(_)))
    };
    (0..127).filter(|&variant| knows(variant)).collect()
}

fn all_variants_come_from<M: Serialize + DeserializeOwned + Debug>(messages: impl Strategy<Value = M>) {
    let mut runner = TestRunner::deterministic();
    let mut draw = || {
        let message = messages.new_tree(&mut runner).unwrap().current();
        encode_frame(&message).unwrap()[FRAME_HEADER_BYTES]
    };
    let drawn: BTreeSet<u8> = (0..200).map(|_| draw()).collect();
    assert_eq!(drawn, variants_known::<M>(), "{}", std::any::type_name::<M>());
}

#[test]
fn every_variant_is_tried() {
    all_variants_come_from(to_zygote());
    all_variants_come_from(from_zygote());
    all_variants_come_from(to_worker());
    all_variants_come_from(from_worker());
    all_variants_come_from(wall());
    all_variants_come_from(wall_state());
    all_variants_come_from(child_exit());
    all_variants_come_from(mount_access());
    all_variants_come_from(stream());
    all_variants_come_from(outcome());
    all_variants_come_from(trap_kind());
    all_variants_come_from(child_kind());
    all_variants_come_from(data_format());
}
