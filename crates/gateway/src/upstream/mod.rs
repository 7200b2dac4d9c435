pub use server_log::ServerLog;
mod server_log;
