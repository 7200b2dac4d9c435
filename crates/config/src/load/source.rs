//! One file of the configuration: read, judged by its approval, with the `.env` beside it.

use std::path::Path;

use gristmill_files::Surroundings;
use gristmill_gateway::domain::{ServerSettings, Transport, VariableOwner};

use crate::alerts_table::AlertsTable;
use crate::approvals::{Approvals, Status};
use crate::approvals_table::ApprovalsTable;
use crate::audit_table::AuditTable;
use crate::cluster_table::ClusterTable;
use crate::dashboard_table::DashboardTable;
use crate::document::Document;
use crate::engines_table::EnginesTable;
use crate::env_file::{self, Variables, env_path};
use crate::guardrails_table::GuardrailsTable;
use crate::history_table::HistoryTable;
use crate::learning_table::LearningTable;
use crate::llm_table::LlmTable;
use crate::locations::{Location, Role};
use crate::needs;
use crate::network_table::NetworkTable;
use crate::origin::Origin;
use crate::problem::{Place, Problem, ProblemKind, Problems, Severity};
use crate::project_values::{self, without_line_end};
use crate::read_file::FileText;
use crate::resolved::{Approval, ReadFile};
use crate::results_table::ResultsTable;
use crate::search_table::SearchTable;
use crate::serve_table::ServeTable;
use crate::sessions_table::SessionsTable;
use crate::watch_table::WatchTable;

pub(super) fn of_file(severity: Severity, path: &Path, kind: ProblemKind) -> Problem {
    Problem { severity, place: Place { file: Some(path.to_owned()), line: None, key: None }, kind }
}

/// A file that was read.
pub(super) struct Source {
    pub file: ReadFile,
    pub document: Document,
    pub variables: Variables,
    env: EnvFile,
}

/// How the `.env` beside a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EnvFile {
    /// There is none, or what it says may be used.
    Usable,
    /// A project's that was never approved: the file was approved without it.
    Ignored,
    /// A project's that was approved, and is another or gone now.
    Changed,
}

impl Source {
    /// `None` if it cannot be read at all.
    pub fn read(
        location: &Location,
        surroundings: &Surroundings,
        approvals: &Approvals,
        problems: &mut Vec<Problem>,
    ) -> Option<Self> {
        let Location { role, path } = location;
        let text = match FileText::read(path) {
            Ok(text) => text,
            Err(error) => {
                problems.push(of_file(Severity::Error, path, error.into()));
                return None;
            }
        };
        let approval = match role {
            Role::User | Role::Named => Approval::Given,
            Role::Project => approvals.status(path, &text.bytes).into(),
        };
        match approval {
            Approval::Given => {}
            Approval::Missing => problems.push(of_file(Severity::Warning, path, ProblemKind::NotApproved)),
            Approval::Outdated => {
                problems.push(of_file(Severity::Warning, path, ProblemKind::ApprovalOutdated))
            }
        }
        if *role == Role::User && text.writable_by_others {
            problems.push(of_file(Severity::Warning, path, ProblemKind::WritableByOthers));
        }
        let mut document = Document::read(&text, surroundings.home().as_deref());
        if *role == Role::Project {
            start_in(path.parent(), &mut document);
            leave_out_user_tables(path, &mut document, problems);
        }
        // The mistakes of a file that is not used must not stop us.
        let severity_max = if approval == Approval::Given { Severity::Error } else { Severity::Warning };
        problems.extend(document.problems.drain(..).map(|mut problem| {
            problem.severity = problem.severity.min(severity_max);
            problem
        }));
        let (variables, env) = match approval {
            Approval::Given => read_env_file(path, *role, approvals, problems),
            Approval::Missing | Approval::Outdated => (Variables::default(), EnvFile::Usable),
        };
        Some(Self { file: ReadFile { path: path.clone(), role: *role, approval }, document, variables, env })
    }

    /// Whether a server of this file may be used, and the project's files that it takes texts of.
    pub fn approval_of(
        &self,
        server: &ServerSettings,
        approvals: &Approvals,
        problems: &mut Vec<Problem>,
    ) -> (Approval, Variables) {
        let mut texts = Variables::default();
        if self.file.role != Role::Project || self.file.approval != Approval::Given {
            return (self.file.approval, texts);
        }
        let mut approval = match self.env {
            // What the command line comes to is no longer what was shown.
            EnvFile::Changed if !needs::all_variables_of(server).is_empty() => Approval::Outdated,
            EnvFile::Changed | EnvFile::Usable | EnvFile::Ignored => Approval::Given,
        };
        for file in project_values::files_of(server, &self.file.path) {
            let read = match file.read {
                Ok(read) => read,
                // Whatever is there later was not approved.
                Err(error) => {
                    problems.push(of_file(Severity::Warning, &file.path, error.into()));
                    approval = Approval::Outdated;
                    continue;
                }
            };
            if approvals.status(&read.path, &read.bytes) != Status::Approved {
                problems.push(of_file(Severity::Warning, &read.path, ProblemKind::ApprovalOutdated));
                approval = Approval::Outdated;
                continue;
            }
            if let Ok(text) = read.text() {
                texts.set(&file.written, without_line_end(text));
            }
        }
        (approval, texts)
    }

    /// Whose the variables beside the file are.
    pub fn variable_owner(&self) -> VariableOwner {
        match self.file.role {
            Role::User | Role::Named => VariableOwner::User,
            Role::Project => VariableOwner::Project,
        }
    }

    pub fn place(&self, key: String, line: usize) -> Place {
        Place { file: Some(self.file.path.clone()), line: Some(line), key: Some(key) }
    }

    pub fn origin(&self, line: usize) -> Origin {
        Origin::File { path: self.file.path.clone(), line }
    }
}

/// A project's programs start in its folder, wherever in it we were called.
fn start_in(folder: Option<&Path>, document: &mut Document) {
    for (server, _) in &mut document.servers {
        if let Transport::Stdio { cwd: cwd @ None, .. } = &mut server.transport {
            *cwd = folder.map(Path::to_owned);
        }
    }
}

/// How long sessions, the history, the audit and results are kept is the user's to say, even after an approval: the data
/// folder holds those of all projects. So is what programs are refused for.
fn leave_out_user_tables(path: &Path, document: &mut Document, problems: &mut Vec<Problem>) {
    for (table, line) in document.user_tables.drain(..) {
        let place = Place { file: Some(path.to_owned()), line: Some(line), key: Some(table.to_owned()) };
        problems.push(Problem { severity: Severity::Warning, place, kind: ProblemKind::UserOnly });
    }
    document.sessions = SessionsTable::default();
    document.history = HistoryTable::default();
    document.audit = AuditTable::default();
    document.results = ResultsTable::default();
    document.approvals = ApprovalsTable::default();
    document.dashboard = DashboardTable::default();
    document.watch = WatchTable::default();
    document.alerts = AlertsTable::default();
    document.guardrails = GuardrailsTable::default();
    document.engines = EnginesTable::default();
    document.learning = LearningTable::default();
    document.search = SearchTable::default();
    document.network = NetworkTable::default();
    document.serve = ServeTable::default();
    document.llm = LlmTable::default();
    document.cluster = ClusterTable::default();
}

/// The `.env` beside a file. A project's needs approval like the file itself: it can change what a
/// `${VAR}` in a command means.
fn read_env_file(
    beside: &Path,
    role: Role,
    approvals: &Approvals,
    problems: &mut Vec<Problem>,
) -> (Variables, EnvFile) {
    let path = env_path(beside);
    let nothing = |env: EnvFile| (Variables::default(), env);
    let file = match FileText::read_if_there(&path) {
        Ok(Some(file)) => file,
        Ok(None) if role == Role::Project && approvals.status(&path, b"") != Status::New => {
            problems.push(of_file(Severity::Warning, &path, ProblemKind::ApprovalOutdated));
            return nothing(EnvFile::Changed);
        }
        Ok(None) => return nothing(EnvFile::Usable),
        Err(error) => {
            problems.push(of_file(Severity::Warning, &path, error.into()));
            return nothing(if role == Role::Project { EnvFile::Changed } else { EnvFile::Usable });
        }
    };
    if role == Role::Project {
        let (what, env) = match approvals.status(&path, &file.bytes) {
            Status::Approved => (None, EnvFile::Usable),
            Status::New => (Some(ProblemKind::NotApproved), EnvFile::Ignored),
            Status::Changed => (Some(ProblemKind::ApprovalOutdated), EnvFile::Changed),
        };
        if let Some(what) = what {
            problems.push(of_file(Severity::Warning, &path, what));
            return nothing(env);
        }
    }
    match file.text() {
        Ok(text) => {
            let (variables, found) = env_file::parse(text, &path);
            problems.extend(Problems::into_vec(found));
            (variables, EnvFile::Usable)
        }
        Err(error) => {
            problems.push(of_file(Severity::Warning, &path, error.into()));
            nothing(EnvFile::Usable)
        }
    }
}
