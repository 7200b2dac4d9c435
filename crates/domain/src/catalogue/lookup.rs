//! From a name as a program writes it to the tool it means.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Catalogue, Server, Tool, fold};
use crate::nearest::nearest;

/// Finds tools by every spelling of their names.
#[derive(Debug, Default)]
pub struct Lookup {
    catalogue: Arc<Catalogue>,
    /// `server.tool` and `tool`, exactly as the server, the tree or a program spells them.
    exact: HashMap<String, Vec<Place>>,
    /// The same, folded.
    folded: HashMap<String, Vec<Place>>,
}

type Place = (usize, usize);

/// What a name means.
#[derive(Debug)]
pub enum Resolved<'a> {
    /// One tool.
    One(&'a Server, &'a Tool),
    /// Several servers have a tool of that name; here they are as `server.tool`.
    Several(Vec<String>),
    /// None; the closest names there are, as `server.tool`.
    None(Vec<String>),
}

const NEAREST_MAX: usize = 5;

impl Lookup {
    /// Of all tools in the catalogue.
    pub fn new(catalogue: Arc<Catalogue>) -> Self {
        let mut made = Self { catalogue, ..Self::default() };
        let catalogue = Arc::clone(&made.catalogue);
        for (s, server) in catalogue.servers.iter().enumerate() {
            let prefixes = [server.offer.name.as_str(), &server.folder, &server.identifier];
            for (t, tool) in server.tools.iter().enumerate() {
                let spellings = [tool.definition.name.as_str(), &tool.stem, &tool.identifier];
                for name in spellings {
                    add(&mut made.exact, name.to_owned(), (s, t));
                    add(&mut made.folded, fold(name), (s, t));
                    for prefix in prefixes {
                        add(&mut made.exact, format!("{prefix}.{name}"), (s, t));
                        add(&mut made.folded, format!("{}.{}", fold(prefix), fold(name)), (s, t));
                    }
                }
            }
        }
        made
    }

    /// The catalogue it looks into.
    pub fn catalogue(&self) -> &Arc<Catalogue> {
        &self.catalogue
    }

    /// `tool`, `server.tool`, `server/tool` or `mcp__server__tool`, in any spelling.
    pub fn resolve(&self, name: &str) -> Resolved<'_> {
        let name = name.trim();
        let places = self.exact.get(name).or_else(|| self.folded_places(name));
        match places.map(Vec::as_slice) {
            Some([(s, t)]) => {
                let server = &self.catalogue.servers[*s];
                Resolved::One(server, &server.tools[*t])
            }
            Some(several) => Resolved::Several(several.iter().map(|place| self.full_name(*place)).collect()),
            None => Resolved::None(self.nearest(name)),
        }
    }

    fn folded_places(&self, name: &str) -> Option<&Vec<Place>> {
        let name = name.strip_prefix("mcp__").unwrap_or(name);
        let splits = ['.', '/'].into_iter().flat_map(|separator| name.match_indices(separator));
        let mut splits = splits.map(|(at, separator)| (at, separator.len())).collect::<Vec<_>>();
        splits.extend(name.match_indices("__").map(|(at, separator)| (at, separator.len())));
        let qualified = splits.into_iter().find_map(|(at, length)| {
            self.folded.get(&format!("{}.{}", fold(&name[..at]), fold(&name[at + length..])))
        });
        qualified.or_else(|| self.folded.get(&fold(name)).filter(|_| !name.contains(['.', '/'])))
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
            title: None,
            version: None,
            description: None,
            category: None,
            tools: tools
                .iter()
                .map(|tool| {
                    Arc::new(ToolDefinition::from_text(&format!(r#"{{"name":"{tool}"}}"#)).expect("a tool"))
                })
                .collect(),
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
}
