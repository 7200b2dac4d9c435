//! Which tool the sentence means: every tool is tried, and one must account for the sentence better than all
//! others.

use crate::arguments::fill;
use crate::early::early;
use crate::fields::FieldKind;
use crate::kinds::{self, Parameter, ParameterKind};
use crate::lexicon;
use crate::literal::is_identifier;
use crate::operations::{Operation, Then, operation};
use crate::plan::{Call, Link, Load, Plan, load};
use crate::reading::{Problem, Reading, ToolWords};
use crate::sentence::Token;
use crate::shape::{Shape, shape};
use crate::stems::stems_of;
use crate::tokenize::tokenize;
use crate::{Candidate, Refusal, SENTENCE_CHARS_MAX, TOOLS_MAX, Task};

/// What one reading must have ahead of another one to be the one that is meant.
const MARGIN: f32 = 0.75;
/// What being found first by the search is worth.
const NEARNESS: f32 = 0.5;
/// Tools that a refusal names.
const NEAREST_MAX: usize = 3;

/// The plan that accounts for the whole sentence, or why there is none.
pub fn choose(task: &Task<'_>) -> Result<Plan, Refusal> {
    let tools = &task.tools[..task.tools.len().min(TOOLS_MAX)];
    let refuse = |reason: String| Refusal { reason, nearest: nearest(tools) };
    if task.sentence.chars().count() > SENTENCE_CHARS_MAX {
        return Err(refuse(format!("the sentence is longer than {SENTENCE_CHARS_MAX} characters")));
    }
    let tokens = tokenize(task.sentence).ok_or_else(|| refuse("the sentence is too long".to_owned()))?;
    if tokens.is_empty() {
        return Err(refuse("there is no task in the sentence".to_owned()));
    }
    if tools.is_empty() {
        return Err(refuse("no tool was found for this".to_owned()));
    }
    let known: Vec<Known<'_>> = tools.iter().map(Known::of).collect();
    let mut read: Vec<(Plan, f32)> = Vec::new();
    let mut problems: Vec<(&Candidate<'_>, Problem)> = Vec::new();
    for one in &known {
        match one.single(&tokens) {
            Ok(found) => read.push(found),
            Err(problem) => problems.push((one.tool, problem)),
        }
    }
    read.extend(linked(&known, &tokens));
    read.sort_by(|a, b| b.1.total_cmp(&a.1));
    let Some((_, best)) = read.first() else { return Err(refuse(why(&problems))) };
    let best = *best;
    let rivals: Vec<String> =
        read.iter().take_while(|(_, score)| best - score < MARGIN).map(|(plan, _)| described(plan)).collect();
    if rivals.len() > 1 {
        let listed = rivals[..rivals.len().min(NEAREST_MAX)].join(", ");
        return Err(Refusal {
            reason: format!("several tools fit equally well: {listed}"),
            nearest: nearest(tools),
        });
    }
    Ok(read.swap_remove(0).0)
}

fn described(plan: &Plan) -> String {
    match &plan.link {
        Some(link) => format!("{} with {}", plan.call.full_name, link.call.full_name),
        None => plan.call.full_name.clone(),
    }
}

fn nearest(tools: &[Candidate<'_>]) -> Vec<String> {
    tools.iter().take(NEAREST_MAX).map(Candidate::full_name).collect()
}

/// The problem of the tool that came nearest.
fn why(problems: &[(&Candidate<'_>, Problem)]) -> String {
    let nearest = problems.iter().min_by_key(|(_, problem)| problem.distance());
    match nearest {
        Some((tool, problem)) => problem.told(&tool.full_name()),
        None => "no tool was found for this".to_owned(),
    }
}

/// A tool with everything that is read of it once.
struct Known<'a> {
    tool: &'a Candidate<'a>,
    words: ToolWords,
    parameters: Vec<Parameter>,
    shape: Option<Shape>,
}

impl<'a> Known<'a> {
    fn of(tool: &'a Candidate<'a>) -> Self {
        Self {
            tool,
            words: ToolWords::of(tool),
            parameters: kinds::parameters(tool.input_schema),
            shape: tool.output_schema.and_then(|output| shape(output, tool.input_schema)),
        }
    }

    /// The sentence as a call of this tool alone.
    fn single(&self, tokens: &[Token]) -> Result<(Plan, f32), Problem> {
        if !self.tool.read_only && !self.has_verb(tokens) {
            return Err(Problem::OtherVerb);
        }
        let (mut call, operation, mut reading) = self.read(tokens, None)?;
        if !self.tool.read_only && operation.then != Then::Answer {
            return Err(Problem::TwoQuestions);
        }
        let load = load(
            self.shape.as_ref(),
            &self.parameters,
            &operation,
            &mut call.arguments,
            &mut reading.assumptions,
        )?;
        let score = reading.finish()? + NEARNESS * self.tool.nearness.clamp(0.0, 1.0);
        Ok((Plan { call, load, operation, link: None, assumptions: reading.assumptions }, score))
    }

    /// Reads tokens as a call of this tool, without the parameter that comes from elsewhere.
    fn read<'t>(
        &self,
        tokens: &'t [Token],
        linked: Option<&str>,
    ) -> Result<(Call, Operation, Reading<'t>), Problem> {
        if !is_identifier(self.tool.module) || !is_identifier(self.tool.function) {
            return Err(Problem::NoName);
        }
        if kinds::has_unknown(self.tool.input_schema) {
            return Err(Problem::TooComplex("more than it describes".to_owned()));
        }
        let mut reading = Reading::new(tokens);
        let early = early(&mut reading);
        let arguments = fill(&mut reading, &self.words, &self.parameters, linked)?;
        let given: Vec<Vec<String>> =
            arguments.iter().map(|one| one.name.as_str()).chain(linked).map(stems_of).collect();
        let operation = operation(&mut reading, &early, self.shape.as_ref(), &self.words, &given)?;
        reading.take_tool_words(&self.words, &self.reserved(), self.tool.read_only);
        let call = Call {
            full_name: self.tool.full_name(),
            module: self.tool.module.to_owned(),
            function: self.tool.function.to_owned(),
            arguments,
        };
        Ok((call, operation, reading))
    }

    /// Words that mean an argument or a field: a description that has them, too, doesn't account for them.
    fn reserved(&self) -> Vec<String> {
        let of_rows = self.shape.as_ref().and_then(|shape| shape.rows.as_ref()).map(|rows| &rows.fields);
        let fields = of_rows.into_iter().flatten().flat_map(|field| field.words.iter());
        self.parameters.iter().flat_map(|parameter| parameter.words.iter()).chain(fields).cloned().collect()
    }

    /// Whether the sentence begins with this tool's verb.
    fn has_verb(&self, tokens: &[Token]) -> bool {
        let first = tokens.iter().find(|token| !lexicon::is_before_the_verb(&token.lower));
        first.is_some_and(|token| token.is_word() && self.words.names(&token.stem))
    }
}

/// `the author of every document in the meetings folder`: one tool lists, the other is asked about each.
fn linked(known: &[Known<'_>], tokens: &[Token]) -> Vec<(Plan, f32)> {
    let is_split = |index: &usize| {
        let before = tokens[*index - 1].lower.as_str();
        matches!(tokens[*index].lower.as_str(), "every" | "each" | "all") && matches!(before, "of" | "for")
    };
    let Some(split) = (1..tokens.len()).find(is_split) else { return Vec::new() };
    let (asked, listed) = (&tokens[..split - 1], &tokens[split + 1..]);
    let readable = || known.iter().filter(|one| one.tool.read_only);
    let mut found = Vec::new();
    for list in readable() {
        for each in readable().filter(|each| !std::ptr::eq(*each, list)) {
            found.extend(link(list, each, listed, asked));
        }
    }
    found
}

fn link(list: &Known<'_>, each: &Known<'_>, listed: &[Token], asked: &[Token]) -> Option<(Plan, f32)> {
    let rows = list.shape.as_ref()?.rows.as_ref()?;
    let is_open = |parameter: &&Parameter| {
        parameter.required
            && matches!(parameter.kind, ParameterKind::Identifier | ParameterKind::Name | ParameterKind::Path)
    };
    let mut required = each.parameters.iter().filter(is_open);
    let (parameter, None) = (required.next()?, required.next()) else { return None };
    let wanted = stems_of(&parameter.name);
    let field = rows
        .fields
        .iter()
        .find(|field| field.kind == FieldKind::Text && field.always && field.all_words == wanted)?;
    let (second, picked, second_reading) = each.read(asked, Some(&parameter.name)).ok()?;
    let Then::Pick(picks) = picked.then else { return None };
    let (mut first, operation, mut reading) = list.read(listed, None).ok()?;
    if !matches!(&operation.then, Then::List(fields) if fields.is_empty()) && operation.then != Then::Answer {
        return None;
    }
    let operation = Operation { then: Then::List(Vec::new()), ..operation };
    let forced = Operation {
        then: Then::Top { count: None, field: field.clone(), direction: lexicon::Direction::Up },
        filters: Vec::new(),
    };
    let assumed = &mut reading.assumptions;
    // Every row is needed, whether the sentence computes with them or not.
    let load = load(list.shape.as_ref(), &list.parameters, &forced, &mut first.arguments, assumed).ok()?;
    let Load::Rows(_) = load else { return None };
    let nearness = list.tool.nearness.clamp(0.0, 1.0).min(each.tool.nearness.clamp(0.0, 1.0));
    let score = reading.finish().ok()? + second_reading.finish().ok()? + NEARNESS * nearness;
    let mut assumptions = reading.assumptions;
    assumptions.extend(second_reading.assumptions);
    assumptions.push(format!(
        "I called `{}` once for each `{}` that `{}` gave.",
        second.full_name, field.name, first.full_name
    ));
    let link = Link { call: second, field: field.name.clone(), parameter: parameter.name.clone(), picks };
    Some((Plan { call: first, load, operation, link: Some(link), assumptions }, score))
}
