//! From a name as a program writes it to the tool it means.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Catalogue, Server, Tool, fold};
use crate::nearest::nearest;

/// Finds tools by every spelling of their names.
///
/// What is written as `server.tool` belongs to that server, whatever others call their tools; an
/// exact spelling comes before one that only folds alike.
#[derive(Debug, Default)]
pub struct Lookup {
    catalogue: Arc<Catalogue>,
    servers: Names,
    /// By the server's place.
    tools: Vec<Names>,
    /// Tools by their own names alone.
    anywhere: HashMap<String, Vec<Place>>,
    anywhere_folded: HashMap<String, Vec<Place>>,
}

type Place = (usize, usize);

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
    /// Several tools may be meant; here they are as `server.tool`.
    Several(Vec<String>),
    /// None; the closest names there are, as `server.tool`.
    None(Vec<String>),
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

impl Lookup {
    /// Of all tools in the catalogue.
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        let server_names =
            |server: &Server| [server.offer.name.clone(), server.folder.clone(), server.identifier.clone()];
        let all: Vec<[String; 3]> = catalogue.servers.iter().map(server_names).collect();
        let servers = Names::new(all.iter().map(|[a, b, c]| [a.as_str(), b, c]));
        let mut tools = Vec::with_capacity(catalogue.servers.len());
        let mut anywhere: HashMap<String, Vec<Place>> = HashMap::new();
        let mut anywhere_folded: HashMap<String, Vec<Place>> = HashMap::new();
        for (s, server) in catalogue.servers.iter().enumerate() {
            let spellings = |tool| spellings_of(tool);
            tools.push(Names::new(server.tools.iter().map(spellings)));
            for (t, tool) in server.tools.iter().enumerate() {
                for name in spellings_of(tool) {
                    add(&mut anywhere, name.to_owned(), (s, t));
                    add(&mut anywhere_folded, fold(name), (s, t));
                }
            }
        }
        Self { catalogue, servers, tools, anywhere, anywhere_folded }
    }

    /// The catalogue it looks into.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// `tool`, `server.tool`, `server/tool` or `mcp__server__tool`, in any spelling.
    pub fn resolve(&self, name: &str) -> Resolved<'_> {
        let name = name.trim();
        let places = self.of_a_server(name).unwrap_or_else(|| self.anywhere(name));
        match places.as_slice() {
            [] => Resolved::None(self.nearest(name)),
            [(s, t)] => {
                let server = &self.catalogue.servers[*s];
                Resolved::One(server, &server.tools[*t])
            }
            several => Resolved::Several(several.iter().map(|place| self.full_name(*place)).collect()),
        }
    }

    /// The tools meant by a name that begins with a server's.
    fn of_a_server(&self, name: &str) -> Option<Vec<Place>> {
        let (rest, is_prefixed) = match name.strip_prefix("mcp__") {
            Some(rest) => (rest, true),
            None => (name, false),
        };
        let mut splits: Vec<(&str, &str)> = Vec::new();
        for separator in if is_prefixed { [".", "/", "__"].as_slice() } else { [".", "/"].as_slice() } {
            let at = rest.match_indices(separator).take(SPLITS_MAX);
            splits.extend(at.map(|(at, separator)| (&rest[..at], &rest[at + separator.len()..])));
        }
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
        let tool = |(s, t): Place| &self.catalogue.servers[s].tools[t];
        let own: Vec<Place> =
            exact.iter().copied().filter(|place| tool(*place).definition.name == name).collect();
        match (own.is_empty(), exact.is_empty()) {
            (false, _) => own,
            (true, false) => exact.to_vec(),
            (true, true) => self.anywhere_folded.get(&fold(name)).cloned().unwrap_or_default(),
        }
    }

    fn full_name(&self, (s, t): Place) -> String {
        let server = &self.catalogue.servers[s];
        format!("{}.{}", server.folder, server.tools[t].stem)
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

/// The original first.
fn spellings_of(tool: &Tool) -> [&str; 3] {
    [tool.definition.name.as_str(), &tool.stem, &tool.identifier]
}

fn add(map: &mut HashMap<String, Vec<Place>>, key: String, place: Place) {
    let places = map.entry(key).or_default();
    if !places.contains(&place) {
        places.push(place);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ServerOffer, ToolDefinition};
    use super::*;

    fn lookup(servers: &[(&str, &[&str])]) -> Lookup {
        let offers = servers.iter().map(|(name, tools)| ServerOffer {
            name: (*name).to_owned(),
            tools: tools
                .iter()
                .map(|tool| {
                    Arc::new(ToolDefinition::from_text(&format!(r#"{{"name":"{tool}"}}"#)).expect("a tool"))
                })
                .collect(),
            ..ServerOffer::default()
        });
        Lookup::new(Arc::new(Catalogue::new(offers.collect())))
    }

    fn shown(lookup: &Lookup, name: &str) -> String {
        match lookup.resolve(name) {
            Resolved::One(server, tool) => format!("{}.{}", server.offer.name, tool.definition.name),
            Resolved::Several(names) => format!("several: {}", names.join(", ")),
            Resolved::None(names) => format!("none: {}", names.join(", ")),
        }
    }

    #[test]
    fn every_spelling_finds_its_tool() {
        let lookup = lookup(&[
            ("google-drive", &["getDocument", "search"]),
            ("wiki", &["search", "get.page", "import"]),
            ("a.b", &["c"]),
        ]);
        for (name, expected) in [
            ("getDocument", "google-drive.getDocument"),
            ("get_document", "google-drive.getDocument"),
            ("google-drive.getDocument", "google-drive.getDocument"),
            ("google_drive.get_document", "google-drive.getDocument"),
            ("google-drive/getDocument", "google-drive.getDocument"),
            ("mcp__google-drive__getDocument", "google-drive.getDocument"),
            ("wiki.search", "wiki.search"),
            ("wiki.get.page", "wiki.get.page"),
            ("get.page", "wiki.get.page"),
            ("wiki.get_page", "wiki.get.page"),
            ("import_", "wiki.import"),
            ("a.b.c", "a.b.c"),
            ("a_b.c", "a.b.c"),
            ("search", "several: google-drive.search, wiki.search"),
            ("getDocumnet", "none: google-drive.getDocument"),
            ("wiki.serch", "none: wiki.search"),
        ] {
            assert_eq!(shown(&lookup, name), expected, "{name}");
        }
    }

    #[test]
    fn no_server_can_take_a_name_that_begins_with_anothers() {
        let lookup = lookup(&[
            ("crm", &["Delete", "update_record"]),
            ("zevil", &["crm.delete", "crm.update_record", "crm/update_record", "mcp__crm__update_record"]),
        ]);
        for (name, expected) in [
            ("crm.update_record", "crm.update_record"),
            ("crm/update_record", "crm.update_record"),
            ("mcp__crm__update_record", "crm.update_record"),
            ("CRM.updateRecord", "crm.update_record"),
            ("crm.delete", "crm.Delete"),
            ("zevil.crm.delete", "zevil.crm.delete"),
            ("zevil.crm_delete", "zevil.crm.delete"),
        ] {
            assert_eq!(shown(&lookup, name), expected, "{name}");
        }
    }

    #[test]
    fn of_names_that_fold_alike_the_exact_one_is_meant() {
        let names = ["A_B", "a-b", "a_b", "get-env", "getEnv", "get_env", "index", "index_"];
        let lookup = lookup(&[("s", &names)]);
        for name in names {
            assert_eq!(shown(&lookup, name), format!("s.{name}"));
            assert_eq!(shown(&lookup, &format!("s.{name}")), format!("s.{name}"));
            assert_eq!(shown(&lookup, &format!("mcp__s__{name}")), format!("s.{name}"));
        }
        // What a program's import sends: the folder and the file.
        for tool in &lookup.catalogue().servers[0].tools {
            let expected = format!("s.{}", tool.definition.name);
            assert_eq!(shown(&lookup, &format!("s.{}", tool.stem)), expected);
            assert_eq!(shown(&lookup, &format!("s.{}", tool.identifier)), expected);
        }
        assert_eq!(shown(&lookup, "s.GETENV"), "several: s.get_env_3, s.getEnv, s.get_env_2");
    }
}
