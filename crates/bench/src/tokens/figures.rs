//! The figures of a run: each job, each group and all together, and the goals that they are held
//! against.

use serde_json::{Value, json};

use super::job::{Group, Job};
use super::transcript::Cost;
use super::ways::Ways;

/// What a context holds at most; what needs more could not be done so.
pub const CONTEXT_MAX: u64 = 200_000;

const CATALOGUE_GOAL: f64 = 99.0;
const DATA_GOAL: f64 = 99.3;
/// Of what direct calls with tool search take.
const SEARCH_LOSS_GOAL: f64 = 10.0;

/// The costs of something in each way.
#[derive(Clone, Copy, Default)]
pub struct Costs {
    pub direct: Cost,
    pub searched: Cost,
    pub code: Cost,
    /// With programs in TypeScript.
    pub typescript: Cost,
}

impl Costs {
    fn plus(self, other: Self) -> Self {
        Self {
            direct: self.direct.plus(other.direct),
            searched: self.searched.plus(other.searched),
            code: self.code.plus(other.code),
            typescript: self.typescript.plus(other.typescript),
        }
    }

    /// Percent of the direct way that the program saves; less than nothing if it costs more.
    pub fn saved(&self) -> f64 {
        saved(self.direct.paid, self.code.paid)
    }

    pub fn saved_against_search(&self) -> f64 {
        saved(self.searched.paid, self.code.paid)
    }

    /// The same with programs in TypeScript in the place of Python.
    pub fn in_typescript(&self) -> Self {
        Self { code: self.typescript, ..*self }
    }

    /// If repetition were free.
    pub fn saved_fresh(&self) -> f64 {
        saved(self.direct.fresh, self.code.fresh)
    }

    fn json(&self) -> Value {
        json!({
            "direct": self.direct.json(),
            "tool_search": self.searched.json(),
            "code": self.code.json(),
            "code_typescript": self.typescript.json(),
            "saved_percent": rounded(self.saved()),
            "saved_percent_typescript": rounded(self.in_typescript().saved()),
            "saved_percent_against_tool_search": rounded(self.saved_against_search()),
            "saved_percent_fresh": rounded(self.saved_fresh()),
        })
    }
}

pub struct JobFigures {
    pub name: &'static str,
    pub group: Group,
    pub costs: Costs,
    /// With `call_tool` in the place of a program.
    pub single: Option<Cost>,
    /// For someone who has done all jobs before.
    pub after_use: Option<Cost>,
    pub result: Value,
}

impl JobFigures {
    pub fn of(job: &Job, ways: &Ways) -> Self {
        Self {
            name: job.name,
            group: job.group,
            costs: Costs {
                direct: ways.direct.cost(),
                searched: ways.searched.cost(),
                code: ways.code.cost(),
                typescript: ways.typescript.cost(),
            },
            single: ways.single.as_ref().map(|transcript| transcript.cost()),
            after_use: ways.after_use.as_ref().map(|transcript| transcript.cost()),
            result: ways.result.clone(),
        }
    }

    /// Whether it takes more turns than the other way that takes fewer tokens.
    fn takes_more_turns(&self) -> bool {
        let Costs { direct, searched, code, .. } = &self.costs;
        let cheaper = if direct.paid < searched.paid { direct } else { searched };
        code.turns > cheaper.turns
    }

    pub fn json(&self) -> Value {
        let mut value = self.costs.json();
        value["name"] = json!(self.name);
        value["group"] = json!(self.group.name());
        value["direct_fits"] = json!(self.costs.direct.peak <= CONTEXT_MAX);
        value["tool_search_fits"] = json!(self.costs.searched.peak <= CONTEXT_MAX);
        if let Some(single) = self.single {
            value["call_tool"] = single.json();
        }
        if let Some(after_use) = self.after_use {
            value["code_after_use"] = after_use.json();
        }
        value["result"] = self.result.clone();
        value
    }
}

/// Something that we want to be true, with what was measured.
#[derive(Debug, PartialEq)]
pub struct Goal {
    pub what: &'static str,
    pub goal: String,
    pub measured: Measured,
    pub is_kept: bool,
    /// The jobs that miss it, where each job is held against it.
    pub missed_by: Vec<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measured {
    /// In percent.
    Saved(f64),
    /// The worst, in percent; less than nothing if something is saved.
    Lost(f64),
    Jobs(usize),
}

impl Goal {
    fn at_least(what: &'static str, measured: f64, percent: f64) -> Self {
        Self {
            what,
            goal: format!("at least {percent} %"),
            measured: Measured::Saved(measured),
            is_kept: measured >= percent,
            missed_by: Vec::new(),
        }
    }

    /// What none of these jobs may lose more of.
    fn at_most<'a>(
        what: &'static str,
        jobs: impl Iterator<Item = &'a JobFigures>,
        lost: impl Fn(&JobFigures) -> f64,
        percent: f64,
    ) -> Self {
        let lost: Vec<(&'static str, f64)> = jobs.map(|job| (job.name, lost(job))).collect();
        let worst = lost.iter().map(|(_, lost)| *lost).max_by(f64::total_cmp).unwrap_or_default();
        let missed_by = lost.iter().filter(|(_, lost)| *lost > percent).map(|(name, _)| *name).collect();
        Self {
            what,
            goal: format!("at most {percent} % lost"),
            measured: Measured::Lost(worst),
            is_kept: worst <= percent,
            missed_by,
        }
    }

    /// What is true of no job.
    fn none<'a>(
        what: &'static str,
        jobs: impl Iterator<Item = &'a JobFigures>,
        is_missed: fn(&JobFigures) -> bool,
    ) -> Self {
        let missed_by: Vec<&'static str> = jobs.filter(|job| is_missed(job)).map(|job| job.name).collect();
        Self {
            what,
            goal: "no job".to_owned(),
            measured: Measured::Jobs(missed_by.len()),
            is_kept: missed_by.is_empty(),
            missed_by,
        }
    }

    pub fn line(&self) -> String {
        let verdict = match (self.is_kept, self.missed_by.is_empty()) {
            (true, _) => "kept".to_owned(),
            (false, true) => "MISSED".to_owned(),
            (false, false) => format!("MISSED by {}", self.missed_by.join(", ")),
        };
        let measured = match self.measured {
            // A loss below nothing is a saving, and is called one.
            Measured::Lost(lost) if lost < 0.0 => format!("{:.2} % saved", -lost),
            Measured::Lost(lost) => format!("{lost:.2} % lost"),
            Measured::Saved(saved) => format!("{saved:.2} %"),
            Measured::Jobs(count) => format!("{count} jobs"),
        };
        format!("{:<62} {measured:>15}  {}: {verdict}", self.what, self.goal)
    }

    fn json(&self) -> Value {
        let mut value =
            json!({"name": self.what, "goal": self.goal, "kept": self.is_kept, "missed_by": self.missed_by});
        match self.measured {
            Measured::Saved(percent) | Measured::Lost(percent) => {
                value["measured_percent"] = json!(rounded(percent));
            }
            Measured::Jobs(count) => value["measured_jobs"] = json!(count),
        }
        value
    }
}

/// Programs against direct calls with tool search.
pub struct AgainstSearch {
    jobs: usize,
    /// In how many of them a program takes more.
    pub dearer: usize,
    worst: &'static str,
    worst_saved: f64,
    saved: f64,
}

impl AgainstSearch {
    pub fn line(&self) -> String {
        let worst = match self.dearer {
            0 => String::new(),
            _ => format!(
                ", the worst {} times as much ({})",
                rounded(1.0 - self.worst_saved / 100.0),
                self.worst
            ),
        };
        format!(
            "against direct calls with tool search: {} of {} jobs take more{worst}; together {}",
            self.dearer,
            self.jobs,
            in_words(self.saved)
        )
    }

    fn json(&self) -> Value {
        json!({
            "jobs": self.jobs,
            "jobs_that_take_more": self.dearer,
            "worst_job": self.worst,
            "worst_saved_percent": rounded(self.worst_saved),
            "saved_percent": rounded(self.saved),
        })
    }
}

/// A saving, or a loss, in words.
pub fn in_words(saved: f64) -> String {
    if saved < 0.0 { format!("{:.0} % lost", -saved) } else { format!("{saved:.1} % saved") }
}

pub struct Figures {
    pub jobs: Vec<JobFigures>,
    /// Goals are for whole groups: some jobs alone say nothing about them.
    pub is_whole: bool,
}

impl Figures {
    pub fn of_group(&self, group: Group) -> impl Iterator<Item = &JobFigures> {
        self.jobs.iter().filter(move |job| job.group == group)
    }

    pub fn sum(&self, group: Option<Group>) -> Costs {
        let of_group = self.jobs.iter().filter(|job| group.is_none_or(|group| job.group == group));
        of_group.fold(Costs::default(), |sum, job| sum.plus(job.costs))
    }

    pub fn goals(&self) -> Vec<Goal> {
        if !self.is_whole {
            return Vec::new();
        }
        let by_search = |job: &JobFigures| -job.costs.saved_against_search();
        vec![
            Goal::at_least(
                "saved on the large-catalogue jobs",
                self.sum(Some(Group::LargeCatalogue)).saved(),
                CATALOGUE_GOAL,
            ),
            Goal::at_least(
                "saved on the large-data jobs",
                self.sum(Some(Group::LargeData)).saved(),
                DATA_GOAL,
            ),
            Goal::at_most(
                "the worst job against direct calls with tool search",
                self.jobs.iter(),
                by_search,
                SEARCH_LOSS_GOAL,
            ),
            Goal::at_most(
                "the worst control, ten tools, against direct calls",
                self.of_group(Group::Control),
                |job| -job.costs.saved(),
                0.0,
            ),
            Goal::none(
                "more turns than the cheaper of the other ways",
                self.jobs.iter(),
                JobFigures::takes_more_turns,
            ),
        ]
    }

    /// How programs do against direct calls that search for their tools; `None` without a job.
    pub fn against_search(&self) -> Option<AgainstSearch> {
        let worst = self.jobs.iter().min_by(|one, other| {
            one.costs.saved_against_search().total_cmp(&other.costs.saved_against_search())
        })?;
        Some(AgainstSearch {
            jobs: self.jobs.len(),
            dearer: self.jobs.iter().filter(|job| job.costs.code.paid > job.costs.searched.paid).count(),
            worst: worst.name,
            worst_saved: worst.costs.saved_against_search(),
            saved: self.sum(None).saved_against_search(),
        })
    }

    /// The same with what programs take after use in the place of what they take at first; `None` if that wasn't
    /// measured.
    pub fn after_use(&self) -> Option<Self> {
        let jobs = self.jobs.iter().map(|job| {
            let costs = Costs { code: job.after_use?, ..job.costs };
            Some(JobFigures { costs, single: None, after_use: None, result: Value::Null, ..*job })
        });
        Some(Self { jobs: jobs.collect::<Option<_>>()?, is_whole: self.is_whole })
    }

    pub fn json(&self) -> Value {
        let groups =
            Group::ALL.into_iter().filter(|group| self.of_group(*group).next().is_some()).map(|group| {
                let mut value = self.sum(Some(group)).json();
                value["name"] = json!(group.name());
                value["jobs"] = json!(self.of_group(group).count());
                value
            });
        json!({
            "jobs": self.jobs.iter().map(JobFigures::json).collect::<Vec<_>>(),
            "groups": groups.collect::<Vec<_>>(),
            "total": self.sum(None).json(),
            "goals": self.goals().iter().map(Goal::json).collect::<Vec<_>>(),
            "against_tool_search": self.against_search().map(|against| against.json()),
            "after_use": self.after_use().map(|figures| json!({
                "total": figures.sum(None).json(),
                "goals": figures.goals().iter().map(Goal::json).collect::<Vec<_>>(),
                "against_tool_search": figures.against_search().map(|against| against.json()),
            })),
            "context_tokens_max": CONTEXT_MAX,
        })
    }
}

fn saved(direct: u64, ours: u64) -> f64 {
    match direct {
        0 => 0.0,
        direct => (1.0 - ours as f64 / direct as f64) * 100.0,
    }
}

fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A job that costs so much directly, with a search, and with a program.
    pub fn job(name: &'static str, group: Group, paid: [u64; 3]) -> JobFigures {
        let [direct, searched, code] = paid.map(|paid| Cost { paid, fresh: paid / 2, peak: paid, turns: 2 });
        let single = (group == Group::Control).then_some(Cost { paid: code.paid / 2, ..code });
        let typescript = Cost { paid: code.paid + 100, ..code };
        let costs = Costs { direct, searched, code, typescript };
        let after_use = Some(Cost { paid: code.paid / 4, ..code });
        JobFigures { name, group, costs, single, after_use, result: Value::Null }
    }

    /// One job of each group; the control loses.
    pub fn figures() -> Figures {
        let jobs = vec![
            job("control-one", Group::Control, [2_000, 1_500, 4_200]),
            job("small <one>", Group::Small, [9_000, 3_000, 4_500]),
            job("large-one", Group::LargeCatalogue, [500_000, 20_000, 5_000]),
            job("data-one", Group::LargeData, [2_000_000, 1_000_000, 40_000]),
            job("many-one", Group::ManyCalls, [90_000, 70_000, 6_000]),
        ];
        Figures { jobs, is_whole: true }
    }

    #[test]
    fn goals_are_judged_by_groups_and_losses_are_shown() {
        let goals = figures().goals();
        let judged: Vec<bool> = goals.iter().map(|goal| goal.is_kept).collect();
        assert_eq!(judged, [true, false, false, false, true]);
        let measured =
            ["99.00 %  at least 99 %", "98.00 %", "180.00 % lost", "110.00 % lost", "0 jobs  no job: kept"];
        for (goal, words) in goals.iter().zip(measured) {
            assert!(goal.line().contains(words), "{}", goal.line());
        }
        assert!(goals[1].line().ends_with("at least 99.3 %: MISSED"), "{}", goals[1].line());
        let missed = "180.00 % lost  at most 10 % lost: MISSED by control-one, small <one>";
        assert!(goals[2].line().ends_with(missed), "{}", goals[2].line());
    }

    #[test]
    fn what_tool_search_does_better_is_said() {
        let against = figures().against_search().expect("jobs");
        assert_eq!(
            against.line(),
            "against direct calls with tool search: 2 of 5 jobs take more, the worst 2.8 times as much \
             (control-one); together 94.5 % saved"
        );
    }

    #[test]
    fn what_use_brings_is_held_against_the_same_goals() {
        let after = figures().after_use().expect("it was measured");
        assert!(after.goals().iter().filter(|goal| !goal.missed_by.is_empty()).count() == 0);
        assert_eq!((after.sum(None).code.paid, after.sum(None).direct.paid), (14_925, 2_601_000));
        let mut some = figures();
        some.jobs[0].after_use = None;
        assert!(some.after_use().is_none());
    }

    #[test]
    fn some_jobs_alone_are_not_held_against_the_goals() {
        assert!(Figures { is_whole: false, ..figures() }.goals().is_empty());
    }

    #[test]
    fn the_total_is_the_sum_of_all_jobs() {
        let total = figures().sum(None);
        assert_eq!((total.direct.paid, total.code.paid, total.direct.turns), (2_601_000, 59_700, 10));
        assert_eq!(figures().json()["total"]["saved_percent"], json!(97.7));
        assert_eq!(total.typescript.paid, 60_200);
        assert_eq!(figures().json()["total"]["saved_percent_typescript"], json!(97.69));
    }
}
