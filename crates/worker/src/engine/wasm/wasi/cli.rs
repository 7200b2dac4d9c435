//! `wasi:cli`: an environment of our making, an empty input, output that goes to the gateway.

use wasmtime::component::{Linker, Resource, ResourceType};

use super::interface;
use super::streams::{InputStream, OutputStream};
use crate::engine::wasm::{GuestExit, Host};
use gristmill_protocol::Stream;

/// All that a program finds in its environment.
const ENVIRONMENT: [(&str, &str); 4] =
    [("HOME", "/workspace"), ("PWD", "/workspace"), ("TMPDIR", "/tmp"), ("LANG", "C.UTF-8")];

enum TerminalInput {}
enum TerminalOutput {}

pub fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    let mut environment = linker.instance(&interface("cli/environment"))?;
    environment.func_wrap("get-environment", |_, (): ()| {
        Ok((ENVIRONMENT.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec(),))
    })?;
    environment.func_wrap("get-arguments", |_, (): ()| Ok((Vec::<String>::new(),)))?;
    environment.func_wrap("initial-cwd", |_, (): ()| Ok((Some("/workspace".to_owned()),)))?;

    let mut exit = linker.instance(&interface("cli/exit"))?;
    exit.func_wrap("exit", |_, (_,): (Result<(), ()>,)| -> wasmtime::Result<()> { Err(GuestExit.into()) })?;
    exit.func_wrap("exit-with-code", |_, (_,): (u8,)| -> wasmtime::Result<()> { Err(GuestExit.into()) })?;

    linker.instance(&interface("cli/stdin"))?.func_wrap("get-stdin", |mut store, (): ()| {
        Ok((store.data_mut().wasi.table.push(InputStream::Empty)?,))
    })?;
    linker.instance(&interface("cli/stdout"))?.func_wrap("get-stdout", |mut store, (): ()| {
        Ok((store.data_mut().wasi.table.push(OutputStream::Program(Stream::Stdout))?,))
    })?;
    linker.instance(&interface("cli/stderr"))?.func_wrap("get-stderr", |mut store, (): ()| {
        Ok((store.data_mut().wasi.table.push(OutputStream::Program(Stream::Stderr))?,))
    })?;

    linker.instance(&interface("cli/terminal-input"))?.resource(
        "terminal-input",
        ResourceType::host::<TerminalInput>(),
        |_, _| Ok(()),
    )?;
    linker.instance(&interface("cli/terminal-output"))?.resource(
        "terminal-output",
        ResourceType::host::<TerminalOutput>(),
        |_, _| Ok(()),
    )?;
    linker
        .instance(&interface("cli/terminal-stdin"))?
        .func_wrap("get-terminal-stdin", |_, (): ()| Ok((None::<Resource<TerminalInput>>,)))?;
    linker
        .instance(&interface("cli/terminal-stdout"))?
        .func_wrap("get-terminal-stdout", |_, (): ()| Ok((None::<Resource<TerminalOutput>>,)))?;
    linker
        .instance(&interface("cli/terminal-stderr"))?
        .func_wrap("get-terminal-stderr", |_, (): ()| Ok((None::<Resource<TerminalOutput>>,)))
}
