//! What a job of the benchmark is: a task, the servers that are connected, how a model does it by
//! calling tools, and how it does it with a program.

use serde_json::Value;

use super::direct::Direct;
use super::jobs;

/// What kind of job it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Ten tools, one call: where a gateway has the least to give.
    Control,
    /// A few calls with small answers, about thirty tools.
    Small,
    /// Hundreds of tools, a few of which are needed.
    LargeCatalogue,
    /// Answers of thousands of rows or lines.
    LargeData,
    /// Tens of calls, up to a hundred.
    ManyCalls,
}

impl Group {
    pub const ALL: [Self; 5] =
        [Self::Control, Self::Small, Self::LargeCatalogue, Self::LargeData, Self::ManyCalls];

    pub fn name(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Small => "small",
            Self::LargeCatalogue => "large catalogue",
            Self::LargeData => "large data",
            Self::ManyCalls => "many calls",
        }
    }
}

/// Tools that a model lets our own search show for a query.
const SHOWN: usize = 2;

/// Words to find a tool by.
#[derive(Clone, Copy)]
pub struct Query {
    pub words: &'static str,
    /// The server that a model would look at, because the task names it.
    pub server: Option<&'static str>,
    /// Tools that a model lets our own search show.
    pub shown: usize,
}

/// A query over all servers.
pub const fn find(words: &'static str) -> Query {
    Query { words, server: None, shown: SHOWN }
}

/// A query over one server.
pub const fn find_in(server: &'static str, words: &'static str) -> Query {
    Query { words, server: Some(server), shown: SHOWN }
}

impl Query {
    /// For two or more tools in one query.
    pub const fn showing(self, shown: usize) -> Self {
        Self { shown, ..self }
    }
}

/// A program that looks at the shape of answers that no definition describes. It may use what is known
/// by then, and no more.
#[derive(Clone, Copy)]
pub struct Look {
    pub program: &'static str,
    /// How the gateway is asked to shape its answer.
    pub shape: Option<&'static str>,
    pub tells: Tells,
}

/// What a model takes from a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tells {
    /// The names of fields: a type would say the same.
    Fields,
    /// Also values, or how a text is written.
    Values,
}

impl Look {
    /// A program whose answer is taken as it is.
    pub const fn of(program: &'static str) -> Self {
        Self { program, shape: None, tells: Tells::Values }
    }
}

/// A look at fields and kinds of values.
pub const fn look_at_shape(program: &'static str) -> Option<Look> {
    Some(Look { program, shape: Some("schema"), tells: Tells::Fields })
}

/// A look at one item, for its fields.
pub const fn look_at_item(program: &'static str) -> Option<Look> {
    Some(Look { program, shape: None, tells: Tells::Fields })
}

/// A look at values or at the beginning of a text.
pub const fn look_at_one(program: &'static str) -> Option<Look> {
    Some(Look { program, shape: None, tells: Tells::Values })
}

/// What a model writes for a job in one language.
#[derive(Clone, Copy)]
pub struct Programs {
    pub first_look: Option<Look>,
    /// The program that does the job.
    pub program: &'static str,
}

pub struct Job {
    pub name: &'static str,
    pub group: Group,
    /// What the user asks for.
    pub task: &'static str,
    pub servers: &'static [&'static str],
    /// What is looked for first, all in one turn.
    pub queries: Vec<Query>,
    /// Tools whose whole definition our way reads in the same turn: `server.tool`.
    pub definitions: &'static [&'static str],
    /// In Python.
    pub first_look: Option<Look>,
    /// The program that does the job, in Python; in TypeScript it is in `typescript.rs`.
    pub program: &'static str,
    /// The same by calling tools. Gives what the program's result must be.
    pub direct: fn(&mut Direct<'_>) -> anyhow::Result<Value>,
    /// What the model says at the end, whichever way it went.
    pub closing: fn(&Value) -> String,
}

impl Job {
    /// What a model that writes Python would write.
    pub fn in_python(&self) -> Programs {
        Programs { first_look: self.first_look, program: self.program }
    }

    /// The same of one that knows the fields of answers; `None` if it has to look first even then.
    pub fn with_known_fields(&self) -> Option<Programs> {
        let program = match (self.name, self.first_look) {
            // Their first look is also for an id, which a program finds by itself if it knows where.
            ("incident", _) => include_str!("programs/incident.known.py"),
            ("latency-peaks", _) => include_str!("programs/latency-peaks.known.py"),
            (_, Some(Look { tells: Tells::Values, .. })) => return None,
            (_, Some(_) | None) => self.program,
        };
        Some(Programs { first_look: None, program })
    }
}

/// All jobs, group by group.
pub fn all() -> Vec<Job> {
    let mut all = jobs::control::jobs();
    all.extend(jobs::small::jobs());
    all.extend(jobs::large_catalogue::jobs());
    all.extend(jobs::large_data::jobs());
    all.extend(jobs::many_calls::jobs());
    all
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_jobs_of_every_kind_under_names_of_their_own() {
        let all = all();
        assert!(all.len() >= 24, "{}", all.len());
        let names: HashSet<&str> = all.iter().map(|job| job.name).collect();
        assert_eq!(names.len(), all.len());
        for group in Group::ALL {
            assert!(all.iter().filter(|job| job.group == group).count() >= 2, "{}", group.name());
        }
    }

    #[test]
    fn every_job_is_asked_for_in_a_sentence_and_ends_with_a_result() {
        for job in all() {
            assert!(job.task.len() > 30 && job.task.ends_with(['.', '?']), "{}", job.name);
            assert!(job.program.contains("result = ") && !job.queries.is_empty(), "{}", job.name);
            assert!(job.servers.is_sorted(), "{}", job.name);
        }
    }
}
