//! What the gateway and its workers say to each other, and how the bytes travel.
//!
//! Two conversations use the same frames:
//! - *control*, between the gateway and the zygote: fork, here is a child, it ended;
//! - *work*, between the gateway and one child: one program in, output, calls and an outcome back; or
//!   one analysis in, and an outcome back.
//!
//! This crate knows no engine and no policy. Whatever a worker sends is hostile, so every
//! decoder here is total: any bytes give a message or an error, never a panic. What a message takes
//! in memory is bounded by its frame, and the frame by a cap.

mod call_kind;
mod caps;
mod engine_id;
mod frame;
mod message;
mod server_sandbox;
mod socket;

pub use call_kind::CallKind;
pub use caps::{
    ANALYSIS_INPUTS_MAX, CALL_PAYLOAD_BYTES_MAX, CODE_BYTES_MAX, CONTEXT_BYTES_MAX, FRAME_BYTES_MAX,
    FRAME_DESCRIPTORS_MAX, JSON_DEPTH_MAX, OUTPUT_CHUNK_BYTES_MAX,
};
pub use engine_id::{EngineId, NoSuchEngine};
pub use frame::{FRAME_HEADER_BYTES, FrameError, decode_body, decode_frame_len, encode_frame};
pub use gristmill_json_text::{JsonCapError, JsonCaps, has_reserved_key};
pub use message::{
    AnalysisJob, AnalysisLimits, ChildExit, ChildKind, Completion, Confinement, DataFormat, FromWorker,
    FromZygote, JobInput, Mount, MountAccess, NativeStart, Outcome, PROTOCOL_VERSION, ProcessUse, Program,
    ProgramLimits, RunStats, Stream, ToWorker, ToZygote, Trap, TrapKind, Wall, WallState, WallStatus,
    WorkerLimit,
};
pub use server_sandbox::{
    SANDBOX_PROXY_PORT, SandboxedAccess, SandboxedNetwork, SandboxedPath, ServerSandbox,
};
pub use socket::{ReceiveError, recv_frame, recv_some, send_frame, send_with_descriptors};
