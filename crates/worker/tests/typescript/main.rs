//! The TypeScript engine as a child has it, with a scripted host in place of the gateway. Programs come as
//! the gateway prepares them: a script whose value is an async function.

mod errors;
mod fetch;
mod files;
mod hostile;
mod limits;
mod modules;
mod programs;
mod results;
mod tools;
mod world;
