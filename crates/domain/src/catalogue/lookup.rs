//! From a name as a program writes it to the tool it means.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::{Catalogue, Reserved, ReservedName, Server, Tool, fold};
use crate::nearest::nearest;
use crate::visible_text::one_line;

/// Finds tools by every spelling of their names.
///
/// What is written as `server.tool` belongs to that server, whatever others call their tools; an
/// exact spelling comes before one that only folds alike. Tools that are only names count like the others:
/// nothing else is reached by their names. Its indexes are made when a name is looked for.
#[derive(Debug, Default)]
pub struct Lookup {
    catalogue: Arc<Catalogue>,
    approved: OnceLock<NameIndex>,
    /// Looked into only if no approved tool is meant.
    new: OnceLock<NameIndex>,
    has_servers_not_reached: bool,
}

/// The place of a server among all, and that of a name among its names.
type Place = (usize, usize);

/// Names of tools, each in three spellings, the original first.
#[derive(Debug, Default)]
struct NameIndex {
    servers: Names,
    /// By the server's place.
    tools: Vec<Names>,
    /// Own names, by place.
    own: Vec<Vec<String>>,
    /// Tools by their own names alone.
    anywhere: HashMap<String, Vec<Place>>,
    anywhere_folded: HashMap<String, Vec<Place>>,
}

/// The names of the members of one folder.
#[derive(Debug, Default)]
struct Names {
    exact: HashMap<String, usize>,
    folded: HashMap<String, Vec<usize>>,
}

/// What a name means.
#[derive(Debug)]
pub enum Resolved<'a> {
    One(&'a Server, &'a Tool),
    /// A tool that nobody can call now.
    Reserved(&'a Server, &'a ReservedName),
    /// Several tools may be meant; here they are as `server.tool`, those that can be called first.
    Several(Vec<String>),
    /// None; the closest names there are, as `server.tool`.
    None(Vec<String>),
}

/// One member of a server, whether it can be called or not.
enum Member<'a> {
    Tool(&'a Tool),
    Reserved(&'a ReservedName),
}

const NEAREST_MAX: usize = 5;

/// More parts than any name has.
const SPLITS_MAX: usize = 16;

impl Names {
    /// `spellings` of each member, the original first: where two members share one, it belongs to
    /// the member whose original it is.
    fn new<'a>(members: impl Iterator<Item = [&'a str; 3]>) -> Self {
        let members: Vec<[&str; 3]> = members.collect();
        let mut made = Self::default();
        for kind in 0..3 {
            for (place, spellings) in members.iter().enumerate() {
                made.exact.entry(spellings[kind].to_owned()).or_insert(place);
                let places = made.folded.entry(fold(spellings[kind])).or_default();
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        made
    }

    fn find(&self, name: &str) -> &[usize] {
        match self.exact.get(name) {
            Some(place) => std::slice::from_ref(place),
            None => self.folded.get(&fold(name)).map_or(&[], Vec::as_slice),
        }
    }
}

impl NameIndex {
    /// Of the tools that give way to others, or of the rest.
    fn of(catalogue: &Catalogue, is_new: bool) -> Self {
        Self::new(catalogue.all_servers().map(|server| {
            let tools = server.tools.iter().filter(|_| !is_new).map(spellings_of);
            let reserved = reserved_of(server, is_new).map(|reserved| {
                [reserved.name.as_str(), reserved.stem.as_str(), reserved.identifier.as_str()]
            });
            (server, tools.chain(reserved).collect())
        }))
    }

    fn new<'a>(servers: impl Iterator<Item = (&'a Server, Vec<[&'a str; 3]>)>) -> Self {
        let mut made = Self::default();
        let mut own_names: Vec<[&str; 3]> = Vec::new();
        for (s, (server, members)) in servers.enumerate() {
            own_names.push([&server.offer.name, &server.folder, &server.identifier]);
            for (t, spellings) in members.iter().enumerate() {
                for name in spellings {
                    add(&mut made.anywhere, (*name).to_owned(), (s, t));
                    add(&mut made.anywhere_folded, fold(name), (s, t));
                }
            }
            made.own.push(members.iter().map(|[own, ..]| (*own).to_owned()).collect());
            made.tools.push(Names::new(members.into_iter()));
        }
        made.servers = Names::new(own_names.into_iter());
        made
    }

    /// The tools meant by a name that begins with a server's.
    fn of_a_server(&self, splits: &[(&str, &str)]) -> Option<Vec<Place>> {
        let exact = |server: &str| self.servers.exact.get(server).copied();
        let folded = |server: &str| match self.servers.find(server) {
            [only] => Some(*only),
            _ => None,
        };
        let find = |server: usize, tool: &str| {
            let found = self.tools[server].find(tool);
            (!found.is_empty()).then(|| found.iter().map(|t| (server, *t)).collect())
        };
        let of_exact = splits.iter().find_map(|(server, tool)| find(exact(server)?, tool));
        of_exact.or_else(|| splits.iter().find_map(|(server, tool)| find(folded(server)?, tool)))
    }

    /// The tools of that name, whatever their server. One whose own name it is comes first.
    fn anywhere(&self, name: &str) -> Vec<Place> {
        let exact = self.anywhere.get(name).map_or(&[][..], Vec::as_slice);
        let own: Vec<Place> = exact.iter().copied().filter(|(s, t)| self.own[*s][*t] == name).collect();
        match (own.is_empty(), exact.is_empty()) {
            (false, _) => own,
            (true, false) => exact.to_vec(),
            (true, true) => self.anywhere_folded.get(&fold(name)).cloned().unwrap_or_default(),
        }
    }
}

impl Lookup {
    /// Of all tools in the catalogue.
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        let is_not_reached = |reserved: &ReservedName| reserved.why == Reserved::NotReached;
        let has_servers_not_reached =
            catalogue.all_servers().any(|server| server.reserved.iter().any(is_not_reached));
        Self { catalogue, approved: OnceLock::new(), new: OnceLock::new(), has_servers_not_reached }
    }

    fn approved(&self) -> &NameIndex {
        self.approved.get_or_init(|| NameIndex::of(&self.catalogue, false))
    }

    fn new_names(&self) -> &NameIndex {
        self.new.get_or_init(|| NameIndex::of(&self.catalogue, true))
    }

    /// The catalogue it looks into.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// `tool`, `server.tool`, `server/tool` or `mcp__server__tool`, in any spelling.
    pub fn resolve(&self, name: &str) -> Resolved<'_> {
        self.find(name).unwrap_or_else(|| Resolved::None(self.nearest(name.trim())))
    }

    /// The same, if it means anything: nobody looks for the closest names, which is most of the work.
    pub fn find(&self, name: &str) -> Option<Resolved<'_>> {
        let mut members = self.members(name);
        match members.as_slice() {
            [] => None,
            [(server, Member::Tool(tool))] => Some(Resolved::One(server, tool)),
            [(server, Member::Reserved(reserved))] => Some(Resolved::Reserved(server, reserved)),
            [..] => {
                members.sort_by_key(|(_, member)| matches!(member, Member::Reserved(_)));
                Some(Resolved::Several(members.into_iter().map(candidate).collect()))
            }
        }
    }

    /// Whether a tool may be meant of a server that was not reached yet.
    pub fn may_mean_one_not_reached(&self, name: &str) -> bool {
        let is_not_reached = |member: &Member<'_>| match member {
            Member::Tool(_) => false,
            Member::Reserved(reserved) => reserved.why == Reserved::NotReached,
        };
        self.has_servers_not_reached && self.members(name).iter().any(|(_, member)| is_not_reached(member))
    }

    /// All that a name may mean.
    fn members(&self, name: &str) -> Vec<(&Server, Member<'_>)> {
        let name = name.trim();
        let splits = splits_of(name);
        let found = |index: &NameIndex, is_new: bool| {
            let places = index.of_a_server(&splits)?;
            Some(places.into_iter().filter_map(|place| self.member(place, is_new)).collect())
        };
        if let Some(members) = found(self.approved(), false).or_else(|| found(self.new_names(), true)) {
            return members;
        }
        // With a server's name before it, it is of no other server.
        if splits.iter().any(|(server, _)| !self.approved().servers.find(server).is_empty()) {
            return Vec::new();
        }
        let anywhere = |index: &NameIndex, is_new: bool| -> Vec<_> {
            index.anywhere(name).into_iter().filter_map(|place| self.member(place, is_new)).collect()
        };
        let members = anywhere(self.approved(), false);
        if members.is_empty() { anywhere(self.new_names(), true) } else { members }
    }

    fn member(&self, (s, t): Place, is_new: bool) -> Option<(&Server, Member<'_>)> {
        let server = self.catalogue.all_servers().nth(s)?;
        let tools = if is_new { &[][..] } else { server.tools.as_slice() };
        let member = match tools.get(t) {
            Some(tool) => Member::Tool(tool),
            None => Member::Reserved(reserved_of(server, is_new).nth(t - tools.len())?),
        };
        Some((server, member))
    }

    fn nearest(&self, name: &str) -> Vec<String> {
        let (server, tool) =
            name.rsplit_once('.').map_or((None, name), |(server, tool)| (Some(server), tool));
        let wanted_server = server.map(fold);
        let servers = self.catalogue.servers.iter();
        let same_server: Vec<&Server> =
            servers.filter(|server| Some(fold(&server.folder)) == wanted_server).collect();
        let within: Vec<&Server> =
            if same_server.is_empty() { self.catalogue.servers.iter().collect() } else { same_server };
        let names = within.iter().flat_map(|server| {
            server.tools.iter().map(|tool| (format!("{}.{}", server.folder, tool.stem), tool))
        });
        let pairs: Vec<(String, &str)> = names.map(|(full, tool)| (full, tool.stem.as_str())).collect();
        let found = nearest(tool, pairs.iter().map(|(full, stem)| (*stem, full.as_str())), NEAREST_MAX);
        found.into_iter().map(str::to_owned).collect()
    }
}

/// Where a name may be split into a server's and a tool's.
fn splits_of(name: &str) -> Vec<(&str, &str)> {
    let (rest, is_prefixed) = match name.strip_prefix("mcp__") {
        Some(rest) => (rest, true),
        None => (name, false),
    };
    let mut splits: Vec<(&str, &str)> = Vec::new();
    let split = |(at, separator): (usize, &str)| (&rest[..at], &rest[at + separator.len()..]);
    for separator in ['.', '/'] {
        splits.extend(rest.match_indices(separator).take(SPLITS_MAX).map(split));
    }
    if is_prefixed {
        splits.extend(rest.match_indices("__").take(SPLITS_MAX).map(split));
    }
    splits
}

/// The names of a server that are only names: those that give way to others, or the rest.
fn reserved_of(server: &Server, is_new: bool) -> impl Iterator<Item = &ReservedName> {
    server.reserved.iter().filter(move |reserved| reserved.why.gives_way() == is_new)
}

/// The original first.
fn spellings_of(tool: &Tool) -> [&str; 3] {
    [tool.definition.name.as_str(), &tool.stem, &tool.identifier]
}

/// One of several that may be meant, as it is offered for a choice.
fn candidate((server, member): (&Server, Member<'_>)) -> String {
    match member {
        Member::Tool(tool) => format!("{}.{}", server.folder, tool.stem),
        Member::Reserved(reserved) => {
            let why = match reserved.why {
                Reserved::HeldBack | Reserved::New => "held back until the user approves it",
                Reserved::NotReached => "its server is down",
                Reserved::OutOfUse => "its server is not in use",
                Reserved::Excluded | Reserved::NotIncluded => "excluded in the user's configuration",
            };
            format!("{}.{} ({why})", server.folder, one_line(&reserved.stem, 100))
        }
    }
}

fn add(map: &mut HashMap<String, Vec<Place>>, key: String, place: Place) {
    let places = map.entry(key).or_default();
    if !places.contains(&place) {
        places.push(place);
    }
}

#[cfg(test)]
mod tests;
