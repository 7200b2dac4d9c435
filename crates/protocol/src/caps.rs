//! Every cap on what crosses the wire, with its reason.

/// Largest frame body: the largest payload and its envelope must fit; nothing larger has a use.
pub const FRAME_BYTES_MAX: usize = 20 * 1024 * 1024;

/// Largest program text. A model writes a few kilobytes; a pasted data table a few hundred.
pub const CODE_BYTES_MAX: usize = 1024 * 1024;

/// Largest injected context, as JSON.
pub const CONTEXT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// Largest payload of one call, in either direction: MCP clients take no longer line either.
pub const CALL_PAYLOAD_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Largest piece of output in one frame; the worker splits what is larger.
pub const OUTPUT_CHUNK_BYTES_MAX: usize = 64 * 1024;

/// Deepest JSON in any payload. Below the depth where a recursive parser gets into trouble.
pub const JSON_DEPTH_MAX: usize = 100;

/// Inputs of one analysis: data, and a few tables to join it with. Each may need a descriptor, and so
/// does the output.
pub const ANALYSIS_INPUTS_MAX: usize = 4;

/// Descriptors that may travel with one frame: one for each mount of a program.
pub const FRAME_DESCRIPTORS_MAX: usize = 8;
