//! The stable codes of everything that can go wrong. Never renamed, never reused; each has its
//! section in docs/errors.md.

use std::fmt;

use serde::{Serialize, Serializer};

/// One kind of failure. The number says whose fault it is: 1xxx the program's or its limits,
/// 2xxx the caller's, 3xxx an upstream server's (33xx: the policy between), 4xxx ours or the machine's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Code {
    /// The program is not valid Python. Nothing ran.
    Syntax,
    /// The program raised an exception that nobody caught.
    Exception,
    /// The program imports a module that is not there.
    MissingModule,
    /// A tool's error that nobody caught.
    Tool,
    /// A tool call was written without `await`, so it was never sent.
    UnawaitedCall,
    /// The program ended itself with a code other than 0.
    Exit,
    /// The program called itself too deep.
    Recursion,
    WallTime,
    CpuTime,
    Memory,
    OutputBytes,
    ResultBytes,
    ResultDepth,
    ToolCalls,
    /// One call's arguments or answer.
    CallBytes,
    /// Its files take more room than they may.
    WorkspaceRoom,
    /// The interpreter was lost: its stack ran out, or it was made to abort.
    EngineCrash,
    /// No tool of that name.
    UnknownTool,
    /// The arguments of a call are not what they must be.
    BadCall,
    /// An analysis that cannot be done as it was asked: a step, a field or the data does not fit.
    Analysis,
    /// A check before the run found something that the level or the configuration doesn't allow.
    Guardrail,
    /// Too many executions wait already.
    Busy,
    /// What was asked for is not possible: a bad name, a limit out of range.
    BadRequest,
    /// The caller took it back.
    Cancelled,
    /// The workspace folder cannot be used.
    Workspace,
    /// The configuration cannot be used as it is.
    Configuration,
    /// The caller's programs may not use this engine. Nothing ran.
    EngineNotAllowed,
    /// A server is not there. Nothing was sent.
    ServerDown,
    /// A server did not answer a call in time.
    CallTimeout,
    /// A server was lost while it worked on a call.
    CallLost,
    /// A server wants a login.
    LoginNeeded,
    /// A tool has changed since it was approved.
    ToolHeldBack,
    /// A server's calls per minute are used up.
    CallRate,
    /// A server answered with something that is no answer, or too large.
    BadAnswer,
    /// The policy does not allow a call. Nothing was sent.
    PolicyDenied,
    /// A person has to allow a call, and has not. Nothing was sent.
    ApprovalNeeded,
    /// A rule's number of calls is used up. Nothing was sent.
    PolicyBudget,
    /// A program does something else than its approved plan. Nothing was sent.
    PlanDiffers,
    /// A value may not go where its token was sent. Nothing was sent.
    PrivacyRefused,
    /// A program that was let run because it only reads wanted to write. Nothing was sent.
    OnlyReads,
    /// A program may not send requests to a host. Nothing was sent.
    HostNotAllowed,
    /// No worker could be started.
    WorkerUnavailable,
    /// A worker was lost in the middle of a program.
    WorkerLost,
    /// A worker said something that no worker says.
    WorkerMisbehaved,
    /// The machine that a program ran on is gone, in the middle of it.
    NodeLost,
    /// No other machine takes a program that has to run on one. Nothing ran.
    NoNode,
    /// This gateway shares its state with others, and what was done isn't safe there.
    NotShared,
}

impl Code {
    /// All of them, in the order of their numbers.
    pub const ALL: [Code; 47] = [
        Code::Syntax,
        Code::Exception,
        Code::MissingModule,
        Code::Tool,
        Code::UnawaitedCall,
        Code::Exit,
        Code::Recursion,
        Code::WallTime,
        Code::CpuTime,
        Code::Memory,
        Code::OutputBytes,
        Code::ResultBytes,
        Code::ResultDepth,
        Code::ToolCalls,
        Code::CallBytes,
        Code::WorkspaceRoom,
        Code::EngineCrash,
        Code::UnknownTool,
        Code::BadCall,
        Code::Analysis,
        Code::Guardrail,
        Code::Busy,
        Code::BadRequest,
        Code::Cancelled,
        Code::Workspace,
        Code::Configuration,
        Code::EngineNotAllowed,
        Code::ServerDown,
        Code::CallTimeout,
        Code::CallLost,
        Code::LoginNeeded,
        Code::ToolHeldBack,
        Code::CallRate,
        Code::BadAnswer,
        Code::PolicyDenied,
        Code::ApprovalNeeded,
        Code::PolicyBudget,
        Code::PlanDiffers,
        Code::PrivacyRefused,
        Code::OnlyReads,
        Code::HostNotAllowed,
        Code::WorkerUnavailable,
        Code::WorkerLost,
        Code::WorkerMisbehaved,
        Code::NodeLost,
        Code::NoNode,
        Code::NotShared,
    ];

    /// As it is printed: `GM-1201`.
    pub fn as_str(self) -> &'static str {
        match self {
            Code::Syntax => "GM-1101",
            Code::Exception => "GM-1102",
            Code::MissingModule => "GM-1103",
            Code::Tool => "GM-1104",
            Code::UnawaitedCall => "GM-1105",
            Code::Exit => "GM-1106",
            Code::Recursion => "GM-1107",
            Code::WallTime => "GM-1201",
            Code::CpuTime => "GM-1202",
            Code::Memory => "GM-1203",
            Code::OutputBytes => "GM-1204",
            Code::ResultBytes => "GM-1205",
            Code::ResultDepth => "GM-1206",
            Code::ToolCalls => "GM-1207",
            Code::CallBytes => "GM-1208",
            Code::WorkspaceRoom => "GM-1209",
            Code::EngineCrash => "GM-1301",
            Code::UnknownTool => "GM-1401",
            Code::BadCall => "GM-1402",
            Code::Analysis => "GM-1601",
            Code::Guardrail => "GM-1701",
            Code::Busy => "GM-2001",
            Code::BadRequest => "GM-2002",
            Code::Cancelled => "GM-2003",
            Code::Workspace => "GM-2004",
            Code::Configuration => "GM-2005",
            Code::EngineNotAllowed => "GM-2006",
            Code::ServerDown => "GM-3001",
            Code::CallTimeout => "GM-3002",
            Code::CallLost => "GM-3003",
            Code::LoginNeeded => "GM-3004",
            Code::ToolHeldBack => "GM-3005",
            Code::CallRate => "GM-3006",
            Code::BadAnswer => "GM-3007",
            Code::PolicyDenied => "GM-3301",
            Code::ApprovalNeeded => "GM-3302",
            Code::PolicyBudget => "GM-3303",
            Code::PlanDiffers => "GM-3304",
            Code::PrivacyRefused => "GM-3305",
            Code::OnlyReads => "GM-3306",
            Code::HostNotAllowed => "GM-3307",
            Code::WorkerUnavailable => "GM-4001",
            Code::WorkerLost => "GM-4002",
            Code::WorkerMisbehaved => "GM-4003",
            Code::NodeLost => "GM-4004",
            Code::NoNode => "GM-4005",
            Code::NotShared => "GM-4006",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_its_own_and_in_order() {
        let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        let mut sorted = codes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(codes, sorted);
    }

    #[test]
    fn every_code_has_its_section_in_the_documentation() {
        let page = include_str!("../../../docs/errors.md");
        for code in Code::ALL {
            assert!(page.contains(&format!("## {code}")), "docs/errors.md has no section {code}");
        }
    }
}
