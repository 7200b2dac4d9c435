//! Hosts that programs may send requests to, and what leads there: `[network]`.
//!
//! An address is read once, into the form in which it is sent, so that a rule, a record and the request
//! itself have the same text. A host is allowed by an entry that names its scheme, its name and its port.

use std::net::IpAddr;

use url::{Host, Url};

use crate::secret_text::SecretText;
use crate::visible_text::one_line;

/// Under which name its tools are found, and rules name it.
pub const HTTP_SERVER: &str = "http";

/// Longer addresses are data in disguise, and servers refuse them.
const URL_BYTES_MAX: usize = 8 * 1024;

/// Entries that a refusal names.
const TOLD_MAX: usize = 10;

/// A name is not longer.
const HOST_BYTES_MAX: usize = 253;

/// What is configured about requests of programs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostsSettings {
    pub allowed: Vec<AllowedHost>,
    pub credentials: Vec<HostCredential>,
    /// What one request may send.
    pub request_bytes: u64,
}

/// A header that the gateway adds to requests to a host. Programs never see its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostCredential {
    pub host: AllowedHost,
    pub header: String,
    pub value: SecretText,
}

/// A host as `api.example.com`, `*.example.org:8443` or `http://127.0.0.1:8080`. Without a scheme it is `https`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    written: String,
    is_https: bool,
    name: HostName,
    port: u16,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum HostName {
    Exact(String),
    /// `*.example.org`: everything that ends with this, dot included.
    Below(String),
    Address(IpAddr),
}

/// An `http` or `https` URL in the form in which it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebAddress(Url);

/// Why nothing is sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HostRefusal {
    #[error("the URL can't be read: {0}; write one such as https://api.example.com/path")]
    Unreadable(String),
    #[error("the URL must begin with https:// (or http://, where the user allows that)")]
    Scheme,
    #[error(
        "the URL has a user name or a password in it; the user can set up a credential for the host instead"
    )]
    Credentials,
    #[error("the URL has {bytes} bytes; at most {URL_BYTES_MAX} can be sent: put data into the body")]
    Long { bytes: usize },
    #[error(
        "requests to {host} aren't allowed: it isn't in `allowed_hosts`{}. Use an allowed host or a tool, or tell the \
         user, who can add it under [network] in their configuration", told(.allowed)
    )]
    NotAllowed { host: String, allowed: Vec<String> },
}

fn told(allowed: &[String]) -> String {
    match allowed {
        [] => String::new(),
        entries => {
            let more = entries.len().saturating_sub(TOLD_MAX);
            let shown = entries[..entries.len() - more].join(", ");
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            format!(" (allowed: {shown}{more})")
        }
    }
}

impl HostsSettings {
    /// Reads a URL, if requests may go there.
    pub fn admit(&self, text: &str) -> Result<WebAddress, HostRefusal> {
        let address = WebAddress::read(text)?;
        if self.allowed.iter().any(|entry| entry.fits(&address)) {
            return Ok(address);
        }
        let allowed = self.allowed.iter().map(AllowedHost::with_scheme).collect();
        Err(HostRefusal::NotAllowed { host: one_line(&address.origin(), HOST_BYTES_MAX), allowed })
    }

    /// The credential that goes with requests to an address: its place and itself.
    pub fn credential_for(&self, address: &WebAddress) -> Option<(usize, &HostCredential)> {
        self.credentials.iter().enumerate().find(|(_, credential)| credential.host.fits(address))
    }

    /// Whether this machine's own name is allowed, which leads to a loopback address.
    pub fn allows_localhost(&self) -> bool {
        self.allowed.iter().any(|entry| entry.name == HostName::Exact("localhost".to_owned()))
    }
}

impl AllowedHost {
    /// Reads an entry; `None` if it is none. A star stands for the beginning of a name with two more parts at
    /// least, so that nobody allows the whole of `*.com`.
    pub fn read(text: &str) -> Option<Self> {
        let (is_https, rest) = match text.split_once("://") {
            Some(("https", rest)) => (true, rest),
            Some(("http", rest)) => (false, rest),
            Some(_) => return None,
            None => (true, text),
        };
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':')?)),
            // An IPv6 address without brackets has no port.
            None if rest.parse::<IpAddr>().is_ok() => (rest, None),
            None => match rest.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        let port = match port {
            Some(port) => port.parse().ok().filter(|port| *port > 0)?,
            None if is_https => 443,
            None => 80,
        };
        let name = HostName::read(&host.to_ascii_lowercase())?;
        Some(Self { written: text.to_owned(), is_https, name, port })
    }

    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// With the scheme that an entry without one means.
    fn with_scheme(&self) -> String {
        match self.written.contains("://") {
            true => self.written.clone(),
            false => format!("https://{}", self.written),
        }
    }

    /// Whether both mean the same, however they are written.
    pub fn is_same_as(&self, other: &Self) -> bool {
        (self.is_https, &self.name, self.port) == (other.is_https, &other.name, other.port)
    }

    /// Whether what is sent there is read by nobody on the way.
    pub fn keeps_secrets(&self) -> bool {
        self.is_https
            || match &self.name {
                HostName::Exact(name) => name == "localhost",
                HostName::Below(_) => false,
                HostName::Address(address) => address.is_loopback(),
            }
    }

    fn fits(&self, address: &WebAddress) -> bool {
        self.is_https == (address.0.scheme() == "https")
            && self.port == address.port()
            && match (&self.name, address.0.host()) {
                (HostName::Exact(name), Some(Host::Domain(host))) => host == name,
                (HostName::Below(end), Some(Host::Domain(host))) => {
                    host.len() > end.len() && host.ends_with(end.as_str())
                }
                (HostName::Address(listed), Some(Host::Ipv4(address))) => *listed == IpAddr::from(address),
                (HostName::Address(listed), Some(Host::Ipv6(address))) => *listed == IpAddr::from(address),
                (HostName::Exact(_) | HostName::Below(_) | HostName::Address(_), _) => false,
            }
    }
}

impl HostName {
    fn read(host: &str) -> Option<Self> {
        if let Ok(address) = host.parse() {
            return Some(Self::Address(address));
        }
        match host.strip_prefix("*.") {
            Some(end) => (end.contains('.') && is_name(end)).then(|| Self::Below(format!(".{end}"))),
            None => is_name(host).then(|| Self::Exact(host.to_owned())),
        }
    }
}

/// Whether it is a name that a URL can have and that is no address in disguise.
fn is_name(host: &str) -> bool {
    let is_part = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
    };
    let is_number = |part: &str| part.starts_with("0x") || part.chars().all(|c| c.is_ascii_digit());
    host.len() <= HOST_BYTES_MAX
        && host.split('.').all(is_part)
        && !host.rsplit('.').next().is_some_and(is_number)
}

/// A path in which no letter, digit or other plain character hides behind a percent sign: rules see the spelling that
/// a server understands.
fn plainly_spelled(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(at) = rest.find('%') {
        let (before, encoded) = rest.split_at(at);
        plain.push_str(before);
        let code = encoded.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let length = if code.is_some() { 3 } else { 1 };
        let (written, after) = encoded.split_at(length);
        match code.map(char::from) {
            Some(one) if one.is_ascii_alphanumeric() || matches!(one, '-' | '.' | '_' | '~') => {
                plain.push(one)
            }
            _ => plain.push_str(&written.to_ascii_uppercase()),
        }
        rest = after;
    }
    plain.push_str(rest);
    plain
}

/// How often a text may be encoded: nobody decodes more often.
const DECODED_MAX: usize = 8;

/// A text with everything behind its percent signs in the open.
pub(crate) fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%').and_then(|digits| str::from_utf8(digits).ok());
        let is_hex = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        match digits.filter(is_hex).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A path as servers walk it: one slash between two names, no dots, nothing behind a semicolon.
fn walked(path: &str) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut ends_open = false;
    for part in path.split(['/', '\\']) {
        let name = part.split(';').next().unwrap_or_default();
        ends_open = matches!(name, "" | "." | "..");
        match name {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name),
        }
    }
    let end = if ends_open && !names.is_empty() { "/" } else { "" };
    format!("/{}{end}", names.join("/"))
}

impl WebAddress {
    /// Other texts that a server may take it for: `%2F` as a slash, `//` as one, `a;b` as `a`, and so on, decoded as
    /// often as there is anything to decode. A rule about URLs holds for each of them.
    pub fn other_readings(&self) -> Vec<String> {
        let (mut path, mut query) = (self.0.path().to_owned(), self.0.query().map(str::to_owned));
        let mut readings = Vec::new();
        for _ in 0..=DECODED_MAX {
            let asked = query.as_ref().map(|query| format!("?{query}")).unwrap_or_default();
            let reading = format!("{}{}{asked}", self.origin(), walked(&path));
            if reading != self.as_str() && !readings.contains(&reading) {
                readings.push(reading);
            }
            let further = (decoded(&path), query.as_deref().map(decoded));
            if (&further.0, &further.1) == (&path, &query) {
                break;
            }
            (path, query) = further;
        }
        readings
    }

    pub fn read(text: &str) -> Result<Self, HostRefusal> {
        if text.len() > URL_BYTES_MAX {
            return Err(HostRefusal::Long { bytes: text.len() });
        }
        let mut url = Url::parse(text).map_err(|error| HostRefusal::Unreadable(error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(HostRefusal::Scheme);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(HostRefusal::Credentials);
        }
        // It is never sent.
        url.set_fragment(None);
        let path = plainly_spelled(url.path());
        url.set_path(&path);
        Ok(Self(url))
    }

    /// As it is sent.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn url(&self) -> &Url {
        &self.0
    }

    /// The name or the address, without a port.
    pub fn host(&self) -> &str {
        self.0.host_str().unwrap_or_default()
    }

    pub fn port(&self) -> u16 {
        self.0.port_or_known_default().unwrap_or(0)
    }

    /// Without the query.
    pub fn path(&self) -> &str {
        self.0.path()
    }

    /// The address, if it is written in the place of a name.
    pub fn literal_address(&self) -> Option<IpAddr> {
        match self.0.host() {
            Some(Host::Ipv4(address)) => Some(address.into()),
            Some(Host::Ipv6(address)) => Some(address.into()),
            Some(Host::Domain(_)) | None => None,
        }
    }

    /// Scheme, host and port, as an entry of `allowed_hosts` would have them.
    pub fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(entries: &[&str]) -> HostsSettings {
        let allowed = entries.iter().map(|entry| AllowedHost::read(entry).expect(entry)).collect();
        HostsSettings { allowed, ..HostsSettings::default() }
    }

    #[test]
    fn an_entry_is_a_scheme_a_name_and_a_port() {
        let check = |entry: &str, url: &str, expected: bool| {
            assert_eq!(settings(&[entry]).admit(url).is_ok(), expected, "{entry} and {url}");
        };
        check("api.example.com", "https://api.example.com/v1?x=1", true);
        check("api.example.com", "https://API.example.com:443", true);
        check("api.example.com", "http://api.example.com/", false);
        check("api.example.com", "https://api.example.com:8443/", false);
        check("api.example.com", "https://api.example.com.evil.net/", false);
        check("api.example.com", "https://api.example.com./", false);
        check("api.example.com", "https://evil.net/https://api.example.com/", false);
        check("api.example.com", "https://evil.net\\@api.example.com/", false);
        check("https://api.example.com/", "https://api.example.com/", true);
        check("http://api.example.com", "http://api.example.com/", true);
        check("*.example.org:8443", "https://a.b.example.org:8443/", true);
        check("*.example.org:8443", "https://example.org:8443/", false);
        check("*.example.org:8443", "https://notexample.org:8443/", false);
        check("http://127.0.0.1:8080", "http://127.0.0.1:8080/", true);
        check("http://127.0.0.1:8080", "http://2130706433:8080/", true);
        check("http://127.0.0.1:8080", "http://127.0.0.1:8081/", false);
        check("http://[::1]:80", "http://[::1]/", true);
        for wrong in [
            "",
            "*",
            "*.com",
            "a.*.com",
            "ftp://a.b",
            "a b",
            "a/b",
            "user@a.b",
            "a.b:0",
            "a.b:99999",
            "a..b",
            ".a.b",
            "a.b.",
            "0x7f.1",
            "127.1",
            "https://a.b/path",
            "a.b?x",
        ] {
            assert_eq!(AllowedHost::read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_address_has_the_form_in_which_it_is_sent() {
        let hosts = settings(&["api.example.com"]);
        let check = |url: &str, expected: &str| {
            assert_eq!(hosts.admit(url).map(|address| address.as_str().to_owned()), Ok(expected.to_owned()));
        };
        check("https://API.example.com", "https://api.example.com/");
        check("https://api.example.com/public/../admin#x", "https://api.example.com/admin");
        check("https://api.example.com/%61dm%69n/%2fx%zz%2", "https://api.example.com/admin/%2Fx%zz%2");
        check("https://api.example.com/public/%2e%2e/admin", "https://api.example.com/admin");
        check("https://api.example.com:443/a b?c=d e", "https://api.example.com/a%20b?c=d%20e");
        check("ht\ntps://api.example.com\\x", "https://api.example.com/x");
    }

    #[test]
    fn an_address_is_read_in_every_way_that_a_server_may() {
        let check = |path: &str, expected: &[&str]| {
            let address = WebAddress::read(&format!("https://h.example{path}")).expect(path);
            let expected: Vec<String> =
                expected.iter().map(|path| format!("https://h.example{path}")).collect();
            assert_eq!(address.other_readings(), expected, "{path}");
        };
        check("/", &[]);
        check("/a/b?c=d", &[]);
        check("/a/", &[]);
        check("/public%2F..%2Fadmin", &["/admin"]);
        check("/public%5c..%5cadmin", &["/admin"]);
        check("/public/..%2fadmin/", &["/admin/"]);
        check("//admin///x", &["/admin/x"]);
        check("/admin;x=1/y;z", &["/admin/y"]);
        check("/a%252Fb", &["/a%2Fb", "/a/b"]);
        check("/a?%74oken=%31", &["/a?token=1"]);
        check("/a%zz%2", &[]);
        check("/%C3%A9", &["/é"]);
        check("/..%2f..%2f", &["/"]);
        // However often it is encoded, there is an end.
        let often = format!("/a%{}2Fb", "25".repeat(100));
        let address = WebAddress::read(&format!("https://h.example{often}")).expect("an address");
        assert!(address.other_readings().len() <= DECODED_MAX);
    }

    #[test]
    fn a_refusal_says_what_is_allowed_and_which_key_to_set() {
        let hosts = settings(&["api.example.com", "http://127.0.0.1:80"]);
        let refused = |url: &str| hosts.admit(url).unwrap_err().to_string();
        let told = refused("https://evil.net/x?secret=1");
        assert!(told.contains("requests to https://evil.net aren't allowed"), "{told}");
        assert!(told.contains("(allowed: https://api.example.com, http://127.0.0.1:80)"), "{told}");
        assert!(told.contains("`allowed_hosts`") && told.contains("[network]"), "{told}");
        assert!(!told.contains("secret"), "{told}");
        assert_eq!(hosts.admit("file:///etc/passwd"), Err(HostRefusal::Scheme));
        assert_eq!(hosts.admit("https://me:pw@api.example.com/"), Err(HostRefusal::Credentials));
        let long = format!("https://api.example.com/{}", "x".repeat(URL_BYTES_MAX));
        assert_eq!(hosts.admit(&long), Err(HostRefusal::Long { bytes: long.len() }));
        assert!(matches!(hosts.admit("api.example.com"), Err(HostRefusal::Unreadable(_))));
    }
}
