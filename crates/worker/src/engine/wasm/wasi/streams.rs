//! `wasi:io/streams`: a program's output, and files read or written in sequence.

use std::sync::Arc;

use gristmill_protocol::Stream;
use wasmtime::component::{ComponentType, Lift, Linker, Lower, Resource, ResourceType};

use super::clocks::Pollable;
use super::error_code::ErrorCode;
use super::interface;
use super::open_file::OpenFile;
use crate::engine::wasm::Host;

/// How much one write may bring; guests split what is larger.
const WRITE_BYTES_MAX: u64 = 64 * 1024;

/// Where a program reads from.
pub enum InputStream {
    Empty,
    /// A file, from a position on.
    File {
        file: Arc<OpenFile>,
        /// Where the next read begins.
        position: u64,
    },
}

/// Where a program writes to.
pub enum OutputStream {
    /// Its standard output or error.
    Program(Stream),
    /// A file, from a position on; `None` is its end, wherever that is.
    File {
        file: Arc<OpenFile>,
        /// Where the next write begins.
        position: Option<u64>,
    },
}

/// `wasi:io/error`: remembers the code, so that a guest can ask for it.
pub struct StreamFailure(pub ErrorCode);

#[derive(ComponentType, Lift, Lower)]
#[component(variant)]
pub enum StreamError {
    #[component(name = "last-operation-failed")]
    LastOperationFailed(Resource<StreamFailure>),
    #[component(name = "closed")]
    Closed,
}

type Answer<T> = wasmtime::Result<(Result<T, StreamError>,)>;

pub fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let mut error = linker.instance(&interface("io/error"))?;
    error.resource("error", ResourceType::host::<StreamFailure>(), |mut store, rep| {
        store.data_mut().wasi.table.delete(Resource::<StreamFailure>::new_own(rep))?;
        Ok(())
    })?;
    error.func_wrap("[method]error.to-debug-string", |store, (error,): (Resource<StreamFailure>,)| {
        Ok((format!("{:?}", store.data().wasi.table.get(&error)?.0),))
    })?;

    let mut streams = linker.instance(&interface("io/streams"))?;
    streams.resource("input-stream", ResourceType::host::<InputStream>(), |mut store, rep| {
        let wasi = &mut store.data_mut().wasi;
        if let InputStream::File { file, .. } = wasi.table.delete(Resource::<InputStream>::new_own(rep))? {
            wasi.folders.release_file(file);
        }
        Ok(())
    })?;
    streams.resource("output-stream", ResourceType::host::<OutputStream>(), |mut store, rep| {
        let wasi = &mut store.data_mut().wasi;
        if let OutputStream::File { file, .. } = wasi.table.delete(Resource::<OutputStream>::new_own(rep))? {
            wasi.folders.release_file(file);
        }
        Ok(())
    })?;
    for name in ["[method]input-stream.read", "[method]input-stream.blocking-read"] {
        streams.func_wrap(name, |mut store, (stream, len): (Resource<InputStream>, u64)| {
            read(store.data_mut(), stream, len)
        })?;
    }
    for name in ["[method]input-stream.skip", "[method]input-stream.blocking-skip"] {
        streams.func_wrap(name, |mut store, (stream, len): (Resource<InputStream>, u64)| {
            Ok((read(store.data_mut(), stream, len)?.0.map(|bytes| bytes.len() as u64),))
        })?;
    }
    streams.func_wrap("[method]input-stream.subscribe", |mut store, (_,): (Resource<InputStream>,)| {
        Ok((store.data_mut().wasi.table.push(Pollable::Ready)?,))
    })?;
    streams.func_wrap("[method]output-stream.subscribe", |mut store, (_,): (Resource<OutputStream>,)| {
        Ok((store.data_mut().wasi.table.push(Pollable::Ready)?,))
    })?;
    streams.func_wrap(
        "[method]output-stream.check-write",
        |_, (_,): (Resource<OutputStream>,)| -> Answer<u64> { Ok((Ok(WRITE_BYTES_MAX),)) },
    )?;
    for name in ["[method]output-stream.write", "[method]output-stream.blocking-write-and-flush"] {
        streams.func_wrap(name, |mut store, (stream, bytes): (Resource<OutputStream>, Vec<u8>)| {
            write(store.data_mut(), stream, &bytes)
        })?;
    }
    for name in ["[method]output-stream.flush", "[method]output-stream.blocking-flush"] {
        streams.func_wrap(name, |_, (_,): (Resource<OutputStream>,)| -> Answer<()> { Ok((Ok(()),)) })?;
    }
    for name in
        ["[method]output-stream.write-zeroes", "[method]output-stream.blocking-write-zeroes-and-flush"]
    {
        streams.func_wrap(name, |mut store, (stream, len): (Resource<OutputStream>, u64)| {
            let zeroes = vec![0; len.min(WRITE_BYTES_MAX) as usize];
            write(store.data_mut(), stream, &zeroes)
        })?;
    }
    Ok(())
}

fn read(host: &mut Host, stream: Resource<InputStream>, len: u64) -> Answer<Vec<u8>> {
    let outcome = match host.wasi.table.get_mut(&stream)? {
        InputStream::Empty => return Ok((Err(StreamError::Closed),)),
        InputStream::File { file, position } => file.read_at(*position, len).inspect(|bytes| {
            *position += bytes.len() as u64;
        }),
    };
    match outcome {
        Ok(bytes) if bytes.is_empty() && len > 0 => Ok((Err(StreamError::Closed),)),
        Ok(bytes) => Ok((Ok(bytes),)),
        Err(code) => Ok((Err(failure(host, code)?),)),
    }
}

fn write(host: &mut Host, stream: Resource<OutputStream>, bytes: &[u8]) -> Answer<()> {
    let outcome = match host.wasi.table.get_mut(&stream)? {
        OutputStream::Program(stream) => {
            let stream = *stream;
            host.channel.output(stream, bytes)?;
            return Ok((Ok(()),));
        }
        OutputStream::File { file, position } => {
            let quota = match host.wasi.folders.quota_mut() {
                Ok(quota) => quota,
                Err(code) => return Ok((Err(failure(host, code)?),)),
            };
            let written = match *position {
                Some(at) => file.write_at(at, bytes, quota),
                None => file.size().and_then(|end| file.write_at(end, bytes, quota)),
            };
            if let (Ok(()), Some(at)) = (&written, position.as_mut()) {
                *at += bytes.len() as u64;
            }
            written
        }
    };
    match outcome {
        Ok(()) => Ok((Ok(()),)),
        Err(code) => Ok((Err(failure(host, code)?),)),
    }
}

fn failure(host: &mut Host, code: ErrorCode) -> wasmtime::Result<StreamError> {
    Ok(StreamError::LastOperationFailed(host.wasi.table.push(StreamFailure(code))?))
}
