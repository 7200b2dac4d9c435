//! The same question, answered line by line.

use serde::Serialize;

use super::asked::Asked;
use super::decision::{Decided, Decision};
use super::table::{Line, Policy, Source, by_token};

/// What the flow rule is about, which no line has.
const FLOW_APPLIES_TO: &str = "external servers, once untrusted and private data was read";

/// What one line has to do with a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Explained {
    pub rule: String,
    /// To which requests it applies.
    pub applies_to: String,
    pub origin: String,
    /// `None` for a line that only counts.
    pub decision: Option<Decision>,
    pub outcome: Outcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "is", content = "why")]
pub enum Outcome {
    /// It decides, unless another table is stricter.
    Decides,
    /// It fits, counts the call, and leaves the decision to a line below.
    Counts,
    /// Why it does not fit.
    No(String),
    /// It would decide, but this rule is stricter.
    Overruled(String),
    /// A line above has decided.
    NotReached,
}

impl Policy {
    /// What every line says, in order, and what was decided. What flow says counts beside the table: the stricter of
    /// both does.
    pub fn explain(&self, asked: &Asked<'_>, flow: Option<Decided>) -> (Vec<Explained>, Decided) {
        let (mut lines, by_table) = self.explain_table(asked);
        lines.extend(flow.as_ref().map(|flow| Explained {
            rule: flow.rule.to_string(),
            applies_to: FLOW_APPLIES_TO.to_owned(),
            origin: flow.origin.to_string(),
            decision: Some(flow.decision),
            outcome: Outcome::Decides,
        }));
        let decided = match flow {
            Some(flow) if by_table.decision != Decision::Deny => flow,
            Some(_) | None => by_table,
        };
        for line in &mut lines {
            if line.outcome == Outcome::Decides && *line.rule != *decided.rule {
                line.outcome = Outcome::Overruled(decided.rule.to_string());
            }
        }
        (lines, decided)
    }

    fn explain_table(&self, asked: &Asked<'_>) -> (Vec<Explained>, Decided) {
        let shortlist = self.shortlist(asked);
        let decided = self.decide_among(&shortlist, asked).decided;
        // Of the ways to read it, the one that decides.
        let readings = asked.readings();
        let decides = |reading: &&Asked<'_>| self.decide_one(&shortlist, reading).decided == decided;
        let asked = readings.iter().find(decides).unwrap_or(asked);
        let mut explained = Vec::new();
        let by_token = by_token(asked);
        if let Some(limits) = asked.token_limits.filter(|limits| !limits.is_empty()) {
            explained.push(Explained {
                rule: format!("token {}", asked.token.unwrap_or_default()),
                applies_to: limits.words(),
                origin: "gristmill token list".to_owned(),
                decision: by_token.as_ref().map(|decided| decided.decision),
                outcome: match &by_token {
                    Some(_) => Outcome::Decides,
                    None => Outcome::No("the token is good for this".to_owned()),
                },
            });
        }
        let (project, own): (Vec<&Line>, Vec<&Line>) =
            self.lines().partition(|line| line.source == Source::Project);
        for lines in [project, own] {
            let mut is_over = by_token.is_some();
            for line in lines {
                let outcome = outcome(line, asked, is_over);
                is_over |= outcome == Outcome::Decides;
                explained.push(Explained {
                    rule: line.id.to_string(),
                    applies_to: line.rule.words(),
                    origin: line.origin.to_string(),
                    decision: line.rule.decision,
                    outcome,
                });
            }
        }
        (explained, decided)
    }
}

fn outcome(line: &Line, asked: &Asked<'_>, is_over: bool) -> Outcome {
    match (is_over, line.rule.misfit(asked), line.rule.decision) {
        (true, _, _) => Outcome::NotReached,
        (false, Some(misfit), _) => Outcome::No(misfit.words()),
        (false, None, Some(_)) => Outcome::Decides,
        (false, None, None) => Outcome::Counts,
    }
}
