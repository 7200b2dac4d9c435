//! Which addresses a server may send us to.
//!
//! A server can name further URLs: where its metadata is, where to log in, where to fetch tokens.
//! A public server must not use us to reach what only this machine or its network can reach. So
//! such a URL may lead to public addresses, and to the kind of address that the server itself has.
//!
//! Walls: names are judged by the addresses that are then connected to, not by an earlier lookup.
//! An address in an IPv6 coat (mapped, NAT64, 6to4) is judged as what it is inside.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::OnceCell;
use url::{Host, Url};

/// What kind of place an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressKind {
    /// Anyone can reach it.
    Public,
    Private,
    Loopback,
    /// Link-local (cloud metadata is there), multicast, unspecified, benchmarking and the like.
    Reserved,
}

impl AddressKind {
    /// The kind of an address.
    pub fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(address) => Self::of_v4(address),
            IpAddr::V6(address) => match inside(address) {
                Some(inner) => Self::of_v4(inner),
                None => Self::of_v6(address),
            },
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        let [a, b, c, _] = address.octets();
        if address.is_loopback() {
            Self::Loopback
        } else if address.is_private() || (a == 100 && (64..128).contains(&b)) {
            Self::Private
        } else if a == 0
            || a >= 224
            || address.is_link_local()
            || address.is_documentation()
            || (a == 198 && (b == 18 || b == 19))
            || (a == 192 && b == 0 && c == 0)
        {
            Self::Reserved
        } else {
            Self::Public
        }
    }

    fn of_v6(address: Ipv6Addr) -> Self {
        let segments = address.segments();
        if address.is_loopback() {
            Self::Loopback
        } else if segments[0] & 0xfe00 == 0xfc00 {
            Self::Private
        } else if segments[0] & 0xe000 != 0x2000
            // Teredo, whose inner address is not worth decoding, and documentation.
            || (segments[0] == 0x2001 && matches!(segments[1], 0 | 0xdb8))
        {
            Self::Reserved
        } else {
            Self::Public
        }
    }

    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Private => "private",
            Self::Loopback => "loopback",
            Self::Reserved => "reserved",
        }
    }
}

/// The IPv4 address inside an IPv6 one.
fn inside(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let two = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => Some(two(g, h)),
        [0, 0, 0, 0, 0, 0] if (g, h) != (0, 0) && (g, h) != (0, 1) => Some(two(g, h)),
        [0x2002, ..] => Some(two(b, c)),
        _ => None,
    }
}

/// Why a URL is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressRefusal {
    /// Neither `https`, nor `http` on this machine for a server on this machine.
    #[error("it must be https (http works only within this machine)")]
    NotHttps,
    /// User and password in the URL.
    #[error("it has a user name or a password in it")]
    Credentials,
    /// No host to judge.
    #[error("it names no host")]
    NoHost,
    /// A kind of address that this server has no business with.
    #[error("it leads to a {0} address, but the server itself isn't at one")]
    Kind(&'static str),
}

/// Looks names up. Tests answer themselves.
pub type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// Where the server at one URL may send us. Cheap to make, and made anew for each login, logout or
/// refresh: addresses of names change.
#[derive(Clone)]
pub struct AddressPolicy {
    inner: Arc<Inner>,
}

struct Inner {
    server: Url,
    /// Looked up once. From then on the server's own name must lead to this kind too: otherwise
    /// whoever owns the name could pass for a private server and speak from a public one.
    server_kind: OnceCell<AddressKind>,
    lookup: Lookup,
}

impl AddressPolicy {
    /// For the server at this URL.
    pub fn new(server: Url) -> Self {
        Self::with_lookup(server, Arc::new(|name| Box::pin(system_lookup(name))))
    }

    /// With names looked up elsewhere.
    pub fn with_lookup(server: Url, lookup: Lookup) -> Self {
        Self { inner: Arc::new(Inner { server, server_kind: OnceCell::new(), lookup }) }
    }

    /// Whether this may be requested while looking for metadata: what `check_endpoint` permits,
    /// and the server's own origin, which the user has chosen.
    pub async fn check(&self, url: &Url) -> Result<(), AddressRefusal> {
        if url.origin() == self.inner.server.origin() && url.has_host() {
            return if has_credentials(url) { Err(AddressRefusal::Credentials) } else { Ok(()) };
        }
        self.check_endpoint(url).await
    }

    /// Whether a secret may be sent there, or the user's browser. Of a name only the scheme is
    /// judged here; its addresses are when it is connected to.
    pub async fn check_endpoint(&self, url: &Url) -> Result<(), AddressRefusal> {
        let host = url.host().ok_or(AddressRefusal::NoHost)?;
        if has_credentials(url) {
            return Err(AddressRefusal::Credentials);
        }
        let is_http_at_home = || url.scheme() == "http" && is_this_machine(&host);
        if url.scheme() != "https" && !(is_http_at_home() && self.server_is_on_this_machine().await) {
            return Err(AddressRefusal::NotHttps);
        }
        match host {
            Host::Ipv4(address) => self.check_address(address.into()).await,
            Host::Ipv6(address) => self.check_address(address.into()).await,
            Host::Domain(_) => Ok(()),
        }
    }

    /// Like `check_endpoint`, with its name looked up: for URLs that a browser opens and we do not.
    /// A name that cannot be looked up here is the browser's affair.
    pub async fn check_for_browser(&self, url: &Url) -> Result<(), AddressRefusal> {
        self.check_endpoint(url).await?;
        if let Some(Host::Domain(name)) = url.host()
            && let Ok(addresses) = (self.inner.lookup)(name.to_owned()).await
        {
            for address in addresses {
                self.check_address(address).await?;
            }
        }
        Ok(())
    }

    async fn server_is_on_this_machine(&self) -> bool {
        self.server_kind().await == AddressKind::Loopback
    }

    async fn check_address(&self, address: IpAddr) -> Result<(), AddressRefusal> {
        let kind = AddressKind::of(address);
        if kind == AddressKind::Public || kind == self.server_kind().await {
            Ok(())
        } else {
            Err(AddressRefusal::Kind(kind.words()))
        }
    }

    async fn server_kind(&self) -> AddressKind {
        *self.inner.server_kind.get_or_init(|| self.look_up_server_kind()).await
    }

    /// A server with any public address is public, and so is one that cannot be looked up.
    async fn look_up_server_kind(&self) -> AddressKind {
        let addresses = match self.inner.server.host() {
            Some(Host::Ipv4(address)) => vec![address.into()],
            Some(Host::Ipv6(address)) => vec![address.into()],
            Some(Host::Domain(name)) => (self.inner.lookup)(name.to_owned()).await.unwrap_or_default(),
            None => Vec::new(),
        };
        let mut kinds = addresses.into_iter().map(AddressKind::of);
        match kinds.next() {
            Some(first) if kinds.all(|kind| kind == first) => first,
            Some(_) | None => AddressKind::Public,
        }
    }

    async fn permitted_addresses(self, name: String) -> io::Result<Vec<IpAddr>> {
        let is_server = self.inner.server.host_str().is_some_and(|host| host.eq_ignore_ascii_case(&name));
        let found = (self.inner.lookup)(name).await?;
        let mut permitted = Vec::new();
        let mut refusal = None;
        for address in found {
            let judged = match self.check_address(address).await {
                // The server's own name stays with its kind.
                Ok(()) if is_server && AddressKind::of(address) != self.server_kind().await => {
                    Err(AddressRefusal::Kind(AddressKind::of(address).words()))
                }
                judged => judged,
            };
            match judged {
                Ok(()) => permitted.push(address),
                Err(refused) => refusal = Some(refused),
            }
        }
        match refusal {
            Some(refused) if permitted.is_empty() => {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, refused))
            }
            Some(_) | None => Ok(permitted),
        }
    }
}

impl Resolve for AddressPolicy {
    fn resolve(&self, name: Name) -> Resolving {
        let permitted = self.clone().permitted_addresses(name.as_str().to_owned());
        Box::pin(async move {
            let addresses = permitted.await?;
            Ok(Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Ipv4(address) => AddressKind::of((*address).into()) == AddressKind::Loopback,
        Host::Ipv6(address) => AddressKind::of((*address).into()) == AddressKind::Loopback,
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}

/// As the system looks a name up.
pub(crate) async fn system_lookup(name: String) -> io::Result<Vec<IpAddr>> {
    let found = tokio::net::lookup_host((name, 0)).await?;
    Ok(found.map(|address| address.ip()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> Url {
        Url::parse(text).expect(text)
    }

    /// A policy that knows three names.
    fn policy(server: &str) -> AddressPolicy {
        let lookup: Lookup = Arc::new(|name| {
            Box::pin(async move {
                let addresses: &[&str] = match name.as_str() {
                    "public.example" => &["93.184.216.34"],
                    "corp.example" | "sso.example" => &["10.0.0.9", "10.0.0.10"],
                    "mixed.example" => &["10.0.0.9", "93.184.216.34"],
                    "metadata.example" => &["::ffff:169.254.169.254"],
                    "localhost" => &["127.0.0.1", "::1"],
                    other => return Err(io::Error::other(format!("no {other}"))),
                };
                Ok(addresses.iter().map(|address| address.parse().expect("an address")).collect())
            })
        });
        AddressPolicy::with_lookup(url(server), lookup)
    }

    #[test]
    fn addresses_are_of_a_kind_whatever_coat_they_wear() {
        let check = |address: &str, expected: AddressKind| {
            assert_eq!(AddressKind::of(address.parse().expect(address)), expected, "{address}");
        };
        for public in
            ["93.184.216.34", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::"]
        {
            check(public, AddressKind::Public);
        }
        for private in ["10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fd00::1", "::ffff:10.0.0.1"] {
            check(private, AddressKind::Private);
        }
        for loopback in
            ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::"]
        {
            check(loopback, AddressKind::Loopback);
        }
        let reserved = [
            "0.0.0.0",
            "169.254.169.254",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.1",
            "::",
            "fe80::1",
            "ff02::1",
            "::ffff:169.254.169.254",
            "2001:0:1::1",
            "2001:db8::1",
            "64:ff9b:1::1",
            "fec0::1",
        ];
        for reserved in reserved {
            check(reserved, AddressKind::Reserved);
        }
    }

    #[tokio::test]
    async fn a_public_server_sends_us_to_public_places_over_https_only() {
        let policy = policy("https://public.example/mcp");
        let judge = async |text: &str| policy.check(&url(text)).await;
        assert_eq!(judge("https://login.example/token").await, Ok(()));
        assert_eq!(judge("https://93.184.216.35/").await, Ok(()));
        assert_eq!(judge("http://login.example/token").await, Err(AddressRefusal::NotHttps));
        assert_eq!(judge("http://127.0.0.1/token").await, Err(AddressRefusal::NotHttps));
        assert_eq!(judge("file:///etc/passwd").await, Err(AddressRefusal::NoHost));
        assert_eq!(judge("https://me:pass@login.example/").await, Err(AddressRefusal::Credentials));
        for private in ["10.0.0.1", "[::ffff:10.0.0.1]", "192.168.0.1", "0x0a000001"] {
            assert_eq!(
                judge(&format!("https://{private}/")).await,
                Err(AddressRefusal::Kind("private")),
                "{private}"
            );
        }
        for loopback in ["127.0.0.1", "[::1]", "[::ffff:7f00:1]", "2130706433", "0177.0.0.1"] {
            assert_eq!(
                judge(&format!("https://{loopback}/")).await,
                Err(AddressRefusal::Kind("loopback")),
                "{loopback}"
            );
        }
        assert_eq!(judge("https://169.254.169.254/").await, Err(AddressRefusal::Kind("reserved")));
    }

    #[tokio::test]
    async fn names_are_judged_by_the_addresses_that_are_connected_to() {
        let addresses = async |server: &str, name: &str| {
            policy(server).permitted_addresses(name.to_owned()).await.map_err(|error| error.to_string())
        };
        let refused = |kind: &'static str| Err(AddressRefusal::Kind(kind).to_string());
        let both = Ok(vec![IpAddr::from([10, 0, 0, 9]), IpAddr::from([10, 0, 0, 10])]);
        assert_eq!(addresses("https://public.example", "sso.example").await, refused("private"));
        assert_eq!(addresses("https://public.example", "localhost").await, refused("loopback"));
        assert_eq!(addresses("https://corp.example", "metadata.example").await, refused("reserved"));
        assert_eq!(addresses("https://corp.example", "localhost").await, refused("loopback"));
        assert_eq!(addresses("https://corp.example", "sso.example").await, both);
        // Of a name with both kinds only the public address is used.
        let public = Ok(vec![IpAddr::from([93, 184, 216, 34])]);
        assert_eq!(addresses("https://public.example", "mixed.example").await, public);
        assert_eq!(addresses("https://mixed.example", "sso.example").await, refused("private"));
    }

    #[tokio::test]
    async fn a_name_that_changes_its_kind_is_not_followed() {
        let calls = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let lookup: Lookup = Arc::new(move |_| {
            let first = calls.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
            let address = if first { IpAddr::from([10, 0, 0, 9]) } else { IpAddr::from([93, 184, 216, 34]) };
            Box::pin(async move { Ok(vec![address]) })
        });
        let policy = AddressPolicy::with_lookup(url("https://turns.example/mcp"), lookup);
        assert_eq!(policy.check(&url("https://10.0.0.1/")).await, Ok(()));
        let error = policy.permitted_addresses("turns.example".to_owned()).await.expect_err("another kind");
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
    }

    #[tokio::test]
    async fn http_is_for_this_machine_and_for_the_origin_that_the_user_chose() {
        let local = policy("http://localhost:8080/mcp");
        assert_eq!(local.check_endpoint(&url("http://127.0.0.1:9000/token")).await, Ok(()));
        assert_eq!(
            local.check_endpoint(&url("http://public.example/token")).await,
            Err(AddressRefusal::NotHttps)
        );
        assert_eq!(
            local.check_endpoint(&url("https://10.0.0.1/token")).await,
            Err(AddressRefusal::Kind("private"))
        );
        let corp = policy("http://corp.example/mcp");
        assert_eq!(corp.check(&url("http://corp.example/.well-known/x")).await, Ok(()));
        assert_eq!(
            corp.check_endpoint(&url("http://corp.example/token")).await,
            Err(AddressRefusal::NotHttps)
        );
        assert_eq!(corp.check_for_browser(&url("https://sso.example/a")).await, Ok(()));
        assert_eq!(
            corp.check_for_browser(&url("https://localhost/a")).await,
            Err(AddressRefusal::Kind("loopback"))
        );
    }
}
