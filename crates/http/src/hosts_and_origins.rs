//! Under which names we may be reached, and from which web pages. Without the first, a web page
//! could reach us by a name of its own that leads to this machine; without the second, by ours.

use std::net::SocketAddr;

use http::header::{HOST, ORIGIN};
use http::uri::Authority;
use http::{HeaderMap, HeaderValue, Uri};

use crate::error::HttpError;

/// A name, and a port if it matters.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    name: String,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    /// Pages without one, such as files.
    Null,
    Page {
        scheme: String,
        name: String,
        port: Port,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Port {
    Any,
    Exactly(Option<u16>),
}

#[derive(Clone, Debug)]
pub(crate) struct Allowed {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
}

/// Whether a request's origin is allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum OriginVerdict {
    /// Not from a page.
    None,
    /// As it was written.
    Allowed(HeaderValue),
    Foreign,
}

/// Whether a request's host is allowed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum HostVerdict {
    Allowed,
    /// None, several, or not one.
    Unreadable,
    Foreign,
}

/// The names of this machine that lead to itself.
pub(crate) const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// The names under which a server at this address is reached on the same machine, and by its
/// address.
pub fn default_hosts(address: SocketAddr) -> Vec<String> {
    let mut hosts = LOOPBACK.map(str::to_owned).to_vec();
    let itself = host_text(address);
    if !address.ip().is_unspecified() && !hosts.contains(&itself) {
        hosts.push(itself);
    }
    hosts
}

/// Pages that this very server could have served.
pub fn default_origins(address: SocketAddr) -> Vec<String> {
    default_hosts(address).iter().map(|host| format!("http://{host}:{}", address.port())).collect()
}

fn host_text(address: SocketAddr) -> String {
    match address {
        SocketAddr::V4(address) => address.ip().to_string(),
        SocketAddr::V6(address) => format!("[{}]", address.ip()),
    }
}

impl Allowed {
    pub(crate) fn read(hosts: &[String], origins: &[String]) -> Result<Self, HttpError> {
        let host = |text: &String| read_host(text).ok_or_else(|| HttpError::Host(text.clone()));
        let origin = |text: &String| read_allowed_origin(text).ok_or_else(|| HttpError::Origin(text.clone()));
        Ok(Self {
            hosts: hosts.iter().map(host).collect::<Result<_, _>>()?,
            origins: origins.iter().map(origin).collect::<Result<_, _>>()?,
        })
    }

    /// A request's host, by its header and, where it has one, by its address.
    pub(crate) fn host(&self, uri: &Uri, headers: &HeaderMap) -> HostVerdict {
        let mut given = headers.get_all(HOST).iter();
        let (Some(host), None) = (given.next(), given.next()) else { return HostVerdict::Unreadable };
        let Some(host) = host.to_str().ok().and_then(read_host) else { return HostVerdict::Unreadable };
        let named = uri.authority().map(|authority| read_host(authority.as_str()));
        match named {
            Some(Some(named)) if named != host => HostVerdict::Unreadable,
            Some(None) => HostVerdict::Unreadable,
            Some(Some(_)) | None if self.has_host(&host) => HostVerdict::Allowed,
            Some(Some(_)) | None => HostVerdict::Foreign,
        }
    }

    fn has_host(&self, host: &Host) -> bool {
        self.hosts
            .iter()
            .any(|allowed| allowed.name == host.name && (allowed.port.is_none() || allowed.port == host.port))
    }

    pub(crate) fn origin(&self, headers: &HeaderMap) -> OriginVerdict {
        let mut given = headers.get_all(ORIGIN).iter();
        let Some(value) = given.next() else { return OriginVerdict::None };
        let origin = value.to_str().ok().and_then(read_origin);
        match origin {
            Some(origin) if given.next().is_none() && self.has_origin(&origin) => {
                OriginVerdict::Allowed(value.clone())
            }
            Some(_) | None => OriginVerdict::Foreign,
        }
    }

    fn has_origin(&self, origin: &Origin) -> bool {
        self.origins.iter().any(|allowed| match (allowed, origin) {
            (Origin::Null, Origin::Null) => true,
            (
                Origin::Page { scheme, name, port },
                Origin::Page { scheme: from_scheme, name: from_name, port: from_port },
            ) => scheme == from_scheme && name == from_name && (*port == Port::Any || port == from_port),
            (Origin::Null, Origin::Page { .. }) | (Origin::Page { .. }, Origin::Null) => false,
        })
    }
}

fn read_host(text: &str) -> Option<Host> {
    let authority = Authority::try_from(text).ok()?;
    let port = match authority.port() {
        Some(port) => Some(port.as_u16()),
        // `localhost:` and `localhost:99999` are none.
        None if authority.as_str().ends_with(authority.host()) => None,
        None => return None,
    };
    if authority.as_str().contains('@') || authority.host().is_empty() {
        return None;
    }
    Some(Host { name: authority.host().to_ascii_lowercase(), port })
}

fn read_allowed_origin(text: &str) -> Option<Origin> {
    match text.strip_suffix(":*") {
        Some(without) => match read_origin(without)? {
            Origin::Page { scheme, name, port: _ } if !has_port(without) => {
                Some(Origin::Page { scheme, name, port: Port::Any })
            }
            Origin::Page { .. } | Origin::Null => None,
        },
        None => read_origin(text),
    }
}

fn has_port(origin: &str) -> bool {
    let host = origin.split_once("://").map_or(origin, |(_, host)| host);
    read_host(host).is_none_or(|host| host.port.is_some())
}

fn read_origin(text: &str) -> Option<Origin> {
    if text == "null" {
        return Some(Origin::Null);
    }
    let (scheme, rest) = text.split_once("://")?;
    let scheme = scheme.to_ascii_lowercase();
    if scheme.is_empty() || !scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    {
        return None;
    }
    if rest.contains(['/', '?', '#']) {
        return None;
    }
    let host = read_host(rest)?;
    let default = match scheme.as_str() {
        "http" => Some(80),
        "https" => Some(443),
        _ => None,
    };
    Some(Origin::Page { scheme, name: host.name, port: Port::Exactly(host.port.or(default)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: http::HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (name.clone(), HeaderValue::from_str(value).expect("a header"))).collect()
    }

    #[test]
    fn hosts_are_compared_by_name_and_where_it_matters_by_port() {
        let allowed = Allowed::read(&["localhost", "[::1]", "gm.example:8770"].map(str::to_owned), &[]);
        let allowed = allowed.expect("good");
        let check = |uri: &str, hosts: &[&str], expected: HostVerdict| {
            let uri: Uri = uri.parse().expect("a URI");
            assert_eq!(allowed.host(&uri, &headers(HOST, hosts)), expected, "{uri} {hosts:?}");
        };
        check("/mcp", &["localhost:8770"], HostVerdict::Allowed);
        check("/mcp", &["LOCALHOST"], HostVerdict::Allowed);
        check("/mcp", &["[::1]:1"], HostVerdict::Allowed);
        check("/mcp", &["gm.example:8770"], HostVerdict::Allowed);
        check("/mcp", &["gm.example"], HostVerdict::Foreign);
        check("/mcp", &["evil.example"], HostVerdict::Foreign);
        check("/mcp", &["localhost.evil.example"], HostVerdict::Foreign);
        check("/mcp", &["127.0.0.1"], HostVerdict::Foreign);
        check("/mcp", &[], HostVerdict::Unreadable);
        check("/mcp", &["localhost", "localhost"], HostVerdict::Unreadable);
        check("/mcp", &["user@localhost"], HostVerdict::Unreadable);
        check("/mcp", &["localhost:99999"], HostVerdict::Unreadable);
        check("/mcp", &["localhost/x"], HostVerdict::Unreadable);
        check("http://localhost/mcp", &["localhost"], HostVerdict::Allowed);
        check("http://evil.example/mcp", &["localhost"], HostVerdict::Unreadable);
    }

    #[test]
    fn origins_are_compared_by_scheme_name_and_port() {
        let allowed =
            ["https://app.example", "http://localhost:*", "http://127.0.0.1:8770"].map(str::to_owned);
        let allowed = Allowed::read(&[], &allowed).expect("good");
        let check = |origins: &[&str], is_allowed: bool| {
            let verdict = allowed.origin(&headers(ORIGIN, origins));
            assert_eq!(matches!(verdict, OriginVerdict::Allowed(_)), is_allowed, "{origins:?}");
        };
        check(&["https://app.example"], true);
        check(&["https://app.example:443"], true);
        check(&["HTTPS://App.Example"], true);
        check(&["http://localhost:5173"], true);
        check(&["http://127.0.0.1:8770"], true);
        check(&["http://app.example"], false);
        check(&["https://app.example:444"], false);
        check(&["https://localhost:5173"], false);
        check(&["http://127.0.0.1:8771"], false);
        check(&["https://app.example.evil.example"], false);
        check(&["https://app.example/x"], false);
        check(&["null"], false);
        check(&[""], false);
        check(&["https://app.example", "https://evil.example"], false);
        assert_eq!(allowed.origin(&HeaderMap::new()), OriginVerdict::None);
    }

    #[test]
    fn what_is_no_origin_or_host_cannot_be_allowed() {
        for wrong in ["", "*", "localhost", "http://", "http://a:80:*", "null:*", "http://a/x", "://a"] {
            let read = Allowed::read(&[], &[wrong.to_owned()]).map(|_| ()).map_err(|error| error.to_string());
            assert!(read.is_err_and(|error| error.contains("is not an origin")), "{wrong}");
        }
        for wrong in ["", "a/b", "http://a", "a b", "a:99999", "u@a"] {
            assert!(Allowed::read(&[wrong.to_owned()], &[]).is_err(), "{wrong}");
        }
    }

    #[test]
    fn by_default_only_this_machine_and_this_server() {
        let address: SocketAddr = "127.0.0.1:8770".parse().expect("an address");
        assert_eq!(default_hosts(address), ["localhost", "127.0.0.1", "[::1]"]);
        assert_eq!(
            default_origins(address),
            ["http://localhost:8770", "http://127.0.0.1:8770", "http://[::1]:8770"]
        );
        let address: SocketAddr = "192.0.2.7:80".parse().expect("an address");
        assert_eq!(default_hosts(address), ["localhost", "127.0.0.1", "[::1]", "192.0.2.7"]);
    }
}
