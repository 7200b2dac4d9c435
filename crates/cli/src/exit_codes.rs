//! What the exit code means, in one place.

use std::process::ExitCode;

use gristmill_gateway::Report;
use gristmill_gateway::domain::Code;

/// The program ran to its end.
pub const OK: ExitCode = ExitCode::SUCCESS;
/// Something of ours, or of this machine.
pub fn internal() -> ExitCode {
    ExitCode::from(4)
}

/// The command line is wrong.
pub fn usage() -> ExitCode {
    ExitCode::from(2)
}

/// How a report ends the process: 0 ok, 1 the program failed, 2 usage, 3 a limit, 4 our fault.
pub fn of(report: &Report) -> ExitCode {
    let Some(error) = &report.error else { return OK };
    ExitCode::from(number_of(error.code))
}

/// How a tool's failure ends the process.
pub fn of_a_tool(failure: &gristmill_gateway::ports::ToolFailure) -> ExitCode {
    use gristmill_gateway::ports::ToolFailure;
    ExitCode::from(match failure {
        ToolFailure::Unknown { .. }
        | ToolFailure::Ambiguous { .. }
        | ToolFailure::BadArguments(_)
        | ToolFailure::Unfit { .. }
        | ToolFailure::UnknownOffer { .. }
        | ToolFailure::BadUri { .. } => 2,
        ToolFailure::Said(_) => 1,
        ToolFailure::Upstream { code, .. } | ToolFailure::Refused { code, .. } => number_of(*code),
    })
}

pub fn number_of(code: Code) -> u8 {
    match code {
        Code::Syntax
        | Code::Exception
        | Code::MissingModule
        | Code::Tool
        | Code::UnawaitedCall
        | Code::Exit
        | Code::Recursion
        | Code::EngineCrash
        | Code::UnknownTool
        | Code::BadCall
        | Code::Analysis
        | Code::Guardrail
        | Code::ServerDown
        | Code::CallTimeout
        | Code::CallLost
        | Code::LoginNeeded
        | Code::ToolHeldBack
        | Code::BadAnswer
        | Code::PolicyDenied
        | Code::PrivacyRefused
        | Code::HostNotAllowed
        | Code::ApprovalNeeded
        | Code::PlanDiffers
        | Code::OnlyReads
        | Code::Cancelled => 1,
        Code::BadRequest | Code::Workspace | Code::Configuration | Code::EngineNotAllowed => 2,
        Code::WallTime
        | Code::CpuTime
        | Code::Memory
        | Code::OutputBytes
        | Code::ResultBytes
        | Code::ResultDepth
        | Code::ToolCalls
        | Code::CallBytes
        | Code::WorkspaceRoom
        | Code::CallRate
        | Code::PolicyBudget
        | Code::Busy => 3,
        Code::WorkerUnavailable
        | Code::WorkerLost
        | Code::WorkerMisbehaved
        | Code::NodeLost
        | Code::NoNode
        | Code::NotShared => 4,
    }
}
