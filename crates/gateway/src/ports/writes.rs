//! What becomes of the writes of one execution: they are sent, held (a dry run), refused (a program that was let
//! run because it only reads), or only those are sent that a person approved together (a plan).
//!
//! Walls: a write is compared by its server, its tool and all of its arguments, with sorted keys. What is
//! held is bounded; what is beyond is held all the same, and counted.

use std::sync::Arc;

use gristmill_domain::one_line;
use gristmill_domain::policy::shown_arguments;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// Writes of one dry run that are listed.
const WRITES_MAX: usize = 500;

/// What their arguments may be, together. A plan with more could not be read by a person either.
const ARGUMENT_BYTES_MAX: usize = 512 * 1024;

/// Tools of one execution whose writes were refused and that are named.
const REFUSED_MAX: usize = 50;

/// What a person or a model is shown of one write's arguments.
const SHOWN_CHARS_MAX: usize = 600;

/// See the module. Clones are the same execution's.
#[derive(Clone, Default)]
pub enum Writes {
    /// They are sent, as far as the policy lets them.
    #[default]
    Sent,
    /// None is sent.
    Held(Arc<HeldWrites>),
    /// Those of a plan are sent, and no others.
    Planned(Arc<PlannedWrites>),
    /// None is sent but those of tools that a person said yes to, and the program is told so.
    Refused(Arc<RefusedWrites>),
}

/// One call that changes something, as far as its server says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Write {
    /// As it is configured.
    pub server: String,
    /// By its server's own name.
    pub tool: String,
    /// All of them, as JSON with sorted keys.
    pub arguments: String,
    /// What the policy says of it: `allow` or `ask`.
    pub decision: String,
    /// What its server says of the tool, in words.
    pub effect: String,
    /// Of the tool's definition: what a person approved was a call of this one.
    pub definition: String,
}

impl Write {
    /// `server.tool`, on one line.
    pub fn name(&self) -> String {
        one_line(&format!("{}.{}", self.server, self.tool), 200)
    }

    /// The arguments for a person or a model: on one line, long values shortened.
    pub fn shown_arguments(&self) -> String {
        shown_arguments(&self.arguments, SHOWN_CHARS_MAX)
    }
}

/// What a dry run has held, in the order in which the program wrote.
#[derive(Default)]
pub struct HeldWrites(Mutex<Held>);

#[derive(Default)]
struct Held {
    writes: Vec<Write>,
    argument_bytes: usize,
    unlisted: usize,
}

impl HeldWrites {
    pub fn hold(&self, write: Write) {
        let mut held = self.0.lock();
        let bytes = held.argument_bytes + write.arguments.len();
        if held.unlisted > 0 || held.writes.len() >= WRITES_MAX || bytes > ARGUMENT_BYTES_MAX {
            held.unlisted += 1;
            return;
        }
        held.argument_bytes = bytes;
        held.writes.push(write);
    }

    /// What was held, and how many more there were than are listed.
    pub fn listed(&self) -> (Vec<Write>, usize) {
        let held = self.0.lock();
        (held.writes.clone(), held.unlisted)
    }
}

/// Which tools a program wanted to write with and may not.
#[derive(Default)]
pub struct RefusedWrites {
    refused: Mutex<Vec<String>>,
    /// As `server.tool`: a person said yes to these.
    except: Vec<String>,
}

impl RefusedWrites {
    /// Whether a person said yes to the tool `server.tool`.
    pub fn permits(&self, name: &str) -> bool {
        self.except.iter().any(|permitted| permitted == name)
    }

    /// `name` is `server.tool`. Each counts once, and the first ones are enough.
    pub fn refuse(&self, name: String) {
        let mut names = self.refused.lock();
        if names.len() < REFUSED_MAX && !names.contains(&name) {
            names.push(name);
        }
    }

    /// As `server.tool`, in the order of their first calls.
    pub fn names(&self) -> Vec<String> {
        self.refused.lock().clone()
    }
}

/// The writes of an approved plan, each good for one call.
pub struct PlannedWrites {
    id: String,
    writes: Mutex<Vec<Planned>>,
}

struct Planned {
    write: Write,
    state: PlannedState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlannedState {
    Left,
    /// A call is on its way with it.
    Claimed,
    /// It was sent, or may have been.
    Made,
}

/// A write that the plan does not have, or has no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotPlanned {
    /// Not with this tool at all.
    NoSuchTool,
    /// With this tool as it was: its server defines it otherwise by now.
    Changed,
    /// Exactly this one, so many times, and each was made.
    MadeAlready(usize),
    /// With other arguments: the planned write that comes closest.
    OtherArguments(Box<Write>),
}

impl PlannedWrites {
    pub fn new(id: String, writes: Vec<Write>) -> Self {
        let planned = |write| Planned { write, state: PlannedState::Left };
        Self { id, writes: Mutex::new(writes.into_iter().map(planned).collect()) }
    }

    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether there is any call of a tool in it.
    pub fn names(&self, server: &str, tool: &str) -> bool {
        let is_tool = |planned: &Planned| planned.write.server == server && planned.write.tool == tool;
        self.writes.lock().iter().any(is_tool)
    }

    /// Takes one of the writes that are left. `closeness` says how alike two texts of arguments are.
    pub fn claim(
        self: &Arc<Self>,
        (server, tool, definition): (&str, &str, &str),
        arguments: &str,
        closeness: impl Fn(&str) -> usize,
    ) -> Result<Claim, NotPlanned> {
        let mut writes = self.writes.lock();
        let is_tool = |planned: &Planned| planned.write.server == server && planned.write.tool == tool;
        if writes.iter().any(|planned| is_tool(planned) && planned.write.definition != definition) {
            return Err(NotPlanned::Changed);
        }
        let is_same = |planned: &Planned| is_tool(planned) && planned.write.arguments == arguments;
        let is_left = |planned: &Planned| planned.state == PlannedState::Left;
        if let Some(place) = writes.iter().position(|planned| is_same(planned) && is_left(planned)) {
            writes[place].state = PlannedState::Claimed;
            return Ok(Claim { plan: Arc::clone(self), place });
        }
        let same = writes.iter().filter(|planned| is_same(planned)).count();
        if same > 0 {
            return Err(NotPlanned::MadeAlready(same));
        }
        // One that is still to come is what was meant, rather than one that was made.
        let nearest = writes
            .iter()
            .filter(|planned| is_tool(planned))
            .max_by_key(|planned| (is_left(planned), closeness(&planned.write.arguments)));
        Err(nearest.map_or(NotPlanned::NoSuchTool, |planned| {
            NotPlanned::OtherArguments(Box::new(planned.write.clone()))
        }))
    }

    /// Every write with whether it was made.
    pub fn outcome(&self) -> Vec<(Write, bool)> {
        let writes = self.writes.lock();
        writes.iter().map(|planned| (planned.write.clone(), planned.state == PlannedState::Made)).collect()
    }
}

/// A planned write that a call has taken. It is given back when this is dropped, unless it was made.
pub struct Claim {
    plan: Arc<PlannedWrites>,
    place: usize,
}

impl Claim {
    /// From here on it counts as made: the server may have it.
    pub fn made(&self) {
        self.set(PlannedState::Made);
    }

    /// It did not leave us after all.
    pub fn not_made(&self) {
        self.set(PlannedState::Left);
    }

    fn set(&self, state: PlannedState) {
        if let Some(planned) = self.plan.writes.lock().get_mut(self.place) {
            planned.state = state;
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(planned) = self.plan.writes.lock().get_mut(self.place)
            && planned.state == PlannedState::Claimed
        {
            planned.state = PlannedState::Left;
        }
    }
}

impl Writes {
    /// Those of a dry run.
    pub fn held() -> Self {
        Writes::Held(Arc::default())
    }

    /// Those of a program that may only read.
    pub fn refused() -> Self {
        Writes::Refused(Arc::default())
    }

    pub fn is_dry_run(&self) -> bool {
        matches!(self, Writes::Held(_))
    }

    /// Those of a program that a person let write with these tools, as `server.tool`, and no others.
    pub fn refused_except(tools: Vec<String>) -> Self {
        Writes::Refused(Arc::new(RefusedWrites { except: tools, ..RefusedWrites::default() }))
    }

    /// Whether none may be made.
    pub fn is_refused(&self) -> bool {
        matches!(self, Writes::Refused(refused) if refused.except.is_empty())
    }

    /// The plan's id, where one is carried out.
    pub fn plan(&self) -> Option<&str> {
        match self {
            Writes::Planned(planned) => Some(planned.id()),
            Writes::Sent | Writes::Held(_) | Writes::Refused(_) => None,
        }
    }
}

impl std::fmt::Debug for Writes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Writes::Sent => "Sent",
            Writes::Held(_) => "Held",
            Writes::Planned(_) => "Planned",
            Writes::Refused(_) => "Refused",
        })
    }
}

/// Whatever becomes of it: two calls are the same call.
impl PartialEq for Writes {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(tool: &str, arguments: &str) -> Write {
        let text = str::to_owned;
        Write {
            server: text("crm"),
            tool: text(tool),
            arguments: text(arguments),
            decision: text("allow"),
            effect: text("destructive"),
            definition: text("d"),
        }
    }

    fn claim(plan: &Arc<PlannedWrites>, tool: &str, arguments: &str) -> Result<Claim, NotPlanned> {
        plan.claim(("crm", tool, "d"), arguments, str::len)
    }

    #[test]
    fn each_planned_write_is_good_for_one_call() {
        let plan = Arc::new(PlannedWrites::new(
            "p".to_owned(),
            vec![write("a", "1"), write("a", "1"), write("b", "1")],
        ));
        claim(&plan, "a", "1").unwrap().made();
        drop(claim(&plan, "a", "1").unwrap());
        claim(&plan, "a", "1").unwrap().made();
        assert_eq!(claim(&plan, "a", "1").err(), Some(NotPlanned::MadeAlready(2)));
        assert_eq!(claim(&plan, "c", "1").err(), Some(NotPlanned::NoSuchTool));
        let changed = plan.claim(("crm", "b", "e"), "1", str::len);
        assert_eq!(changed.err(), Some(NotPlanned::Changed));
        assert!(plan.names("crm", "b") && !plan.names("crm", "c"));
        let other = NotPlanned::OtherArguments(Box::new(write("b", "1")));
        assert_eq!(claim(&plan, "b", "2").err(), Some(other));
        let made: Vec<bool> = plan.outcome().into_iter().map(|(_, made)| made).collect();
        assert_eq!(made, [true, true, false]);
    }

    #[test]
    fn what_did_not_leave_us_can_be_tried_again() {
        let plan = Arc::new(PlannedWrites::new("p".to_owned(), vec![write("a", "1")]));
        let first = claim(&plan, "a", "1").unwrap();
        first.made();
        first.not_made();
        drop(first);
        claim(&plan, "a", "1").unwrap().made();
    }

    #[test]
    fn there_is_an_end_to_what_is_listed_and_none_to_what_is_held() {
        let held = HeldWrites::default();
        for _ in 0..WRITES_MAX + 3 {
            held.hold(write("a", "{}"));
        }
        let (listed, unlisted) = held.listed();
        assert_eq!((listed.len(), unlisted), (WRITES_MAX, 3));
        let large = HeldWrites::default();
        large.hold(write("a", &"x".repeat(ARGUMENT_BYTES_MAX + 1)));
        large.hold(write("a", "{}"));
        assert_eq!(large.listed(), (Vec::new(), 2), "what comes after a gap is not listed either");
    }
}
