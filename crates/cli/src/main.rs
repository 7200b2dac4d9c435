//! The `gristmill` binary.

fn main() -> std::process::ExitCode {
    gristmill_cli::main()
}
