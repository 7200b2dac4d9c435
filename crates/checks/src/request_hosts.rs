//! Which hosts a program's requests go to, as far as its text says.

use std::collections::{BTreeMap, BTreeSet};

use gristmill_domain::{HTTP_SERVER, WebAddress};

use crate::named_tools::NamedTools;

/// Tools that send requests.
const METHODS: [&str; 6] = ["get", "head", "post", "put", "patch", "delete"];

/// The beginning of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beginning<'a> {
    pub text: &'a str,
    /// Nothing follows.
    pub is_whole: bool,
}

/// What is found on the way through a program.
#[derive(Default)]
pub(crate) struct RequestHosts {
    named: BTreeMap<String, BTreeSet<String>>,
    /// Tools of which at least one use may go anywhere.
    elsewhere: BTreeSet<String>,
}

impl RequestHosts {
    /// A request with a method to a URL that begins like this. Gives its tool, if both are certain.
    pub fn request(&mut self, method: &str, url: Beginning<'_>) -> Option<String> {
        let method = method.to_ascii_lowercase();
        // A name that a language keeps for itself has a line behind it.
        METHODS.contains(&method.trim_end_matches('_')).then_some(())?;
        let (tool, host) = (format!("{HTTP_SERVER}.{method}"), host_of(url)?);
        self.named.entry(tool.clone()).or_default().insert(host);
        Some(tool)
    }

    /// A tool is used in another way.
    pub fn used_otherwise(&mut self, tool: &str) {
        if is_request(tool) {
            self.elsewhere.insert(tool.to_owned());
        }
    }

    /// Adds what is certain.
    pub fn settle(self, found: &mut NamedTools) {
        let Self { named, elsewhere } = self;
        found.hosts = named.into_iter().filter(|(tool, _)| !elsewhere.contains(tool)).collect();
    }
}

/// Whether a tool, as `server.tool`, sends requests to hosts.
pub(crate) fn is_request(tool: &str) -> bool {
    tool.split('.').next() == Some(HTTP_SERVER)
}

/// The host that a URL leads to, whatever follows its beginning.
fn host_of(url: Beginning<'_>) -> Option<String> {
    let (scheme, rest) = url.text.split_once("://")?;
    let end = rest.find(['/', '?', '#', '\\']);
    if end.is_none() && !url.is_whole {
        return None;
    }
    let host = &rest[..end.unwrap_or(rest.len())];
    let origin = WebAddress::read(&format!("{scheme}://{host}/")).ok()?.origin();
    Some(origin.strip_prefix("https://").unwrap_or(&origin).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_once_nothing_can_be_added_to_it() {
        let check = |text: &str, is_whole: bool, expected: Option<&str>| {
            let host = host_of(Beginning { text, is_whole });
            assert_eq!(host.as_deref(), expected, "{text}");
        };
        check("https://api.example.com", true, Some("api.example.com"));
        check("https://API.example.com/items/", false, Some("api.example.com"));
        check("https://api.example.com?x=", false, Some("api.example.com"));
        check("https://api.example.com:8443/", false, Some("api.example.com:8443"));
        check("http://127.0.0.1:9/x", true, Some("http://127.0.0.1:9"));
        check("https://api.example.com", false, None);
        check("https://", false, None);
        check("https://me:pw@api.example.com/", true, None);
        check("/items", true, None);
        check("file:///etc/passwd", true, None);
        check("", true, None);
    }

    #[test]
    fn a_tool_that_is_used_in_another_way_may_go_anywhere() {
        let url = Beginning { text: "https://a.example/", is_whole: true };
        let mut hosts = RequestHosts::default();
        assert_eq!(hosts.request("GET", url).as_deref(), Some("http.get"));
        assert_eq!(hosts.request("post", url).as_deref(), Some("http.post"));
        assert_eq!(hosts.request("get_", url).as_deref(), Some("http.get_"));
        assert_eq!(hosts.request("connect", url), None);
        hosts.used_otherwise("http.post");
        hosts.used_otherwise("crm.get");
        let mut found = NamedTools::default();
        hosts.settle(&mut found);
        let tools: Vec<&str> = found.hosts.keys().map(String::as_str).collect();
        assert_eq!(tools, ["http.get", "http.get_"]);
        assert_eq!(found.hosts["http.get"], BTreeSet::from(["a.example".to_owned()]));
    }
}
