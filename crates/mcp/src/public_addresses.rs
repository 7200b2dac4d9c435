//! Names that lead to public addresses, and to no other: for requests that programs make.
//!
//! Walls: the addresses that are looked up here are those that are connected to, so that a name can't be one
//! thing when it is judged and another when it is used. Of a name with addresses of both kinds the public ones
//! are used. An address that is written in the place of a name is not looked up: its owner judges it with
//! [`AddressKind::of`].

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::addresses::{AddressKind, Lookup, system_lookup};

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct PublicAddresses {
    lookup: Lookup,
    /// Whether this machine may be reached by the name that every machine has for itself.
    allows_localhost: bool,
}

/// A name that leads nowhere that may be reached. Nothing was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} leads to a {kind} address, and requests by name go to public addresses only")]
pub struct NotPublic {
    name: String,
    kind: &'static str,
}

impl PublicAddresses {
    pub fn new(allows_localhost: bool) -> Self {
        Self::with_lookup(allows_localhost, Arc::new(|name| Box::pin(system_lookup(name))))
    }

    /// With names looked up elsewhere.
    pub fn with_lookup(allows_localhost: bool, lookup: Lookup) -> Self {
        Self { lookup, allows_localhost }
    }

    async fn permitted(self, name: String) -> io::Result<Vec<IpAddr>> {
        let found = (self.lookup)(name.clone()).await?;
        let allows_loopback = self.allows_localhost && name == "localhost";
        let is_permitted = |address: &IpAddr| match AddressKind::of(*address) {
            AddressKind::Public => true,
            AddressKind::Loopback => allows_loopback,
            AddressKind::Private | AddressKind::Reserved => false,
        };
        let (permitted, others): (Vec<IpAddr>, Vec<IpAddr>) = found.into_iter().partition(is_permitted);
        match (permitted.is_empty(), others.first()) {
            (true, Some(other)) => {
                let refusal = NotPublic { name, kind: AddressKind::of(*other).words() };
                Err(io::Error::new(io::ErrorKind::PermissionDenied, refusal))
            }
            (true, None) | (false, _) => Ok(permitted),
        }
    }
}

impl Resolve for PublicAddresses {
    fn resolve(&self, name: Name) -> Resolving {
        let permitted = self.clone().permitted(name.as_str().to_owned());
        Box::pin(async move {
            let addresses = permitted.await?;
            Ok(Box::new(addresses.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn permitted(name: &str, found: &[&str], allows_localhost: bool) -> Result<Vec<String>, String> {
        let found: Vec<IpAddr> = found.iter().map(|address| address.parse().expect("an address")).collect();
        let lookup: Lookup = Arc::new(move |_| {
            let found = found.clone();
            Box::pin(async move { Ok(found) })
        });
        let addresses = PublicAddresses::with_lookup(allows_localhost, lookup);
        let permitted = addresses.permitted(name.to_owned()).await.map_err(|error| error.to_string())?;
        Ok(permitted.iter().map(IpAddr::to_string).collect())
    }

    #[tokio::test]
    async fn a_name_leads_to_public_addresses_only() {
        let public = Ok(vec!["93.184.216.34".to_owned()]);
        assert_eq!(permitted("a.example", &["93.184.216.34"], false).await, public);
        assert_eq!(permitted("a.example", &["10.0.0.9", "93.184.216.34"], false).await, public);
        for (inside, kind) in [
            ("10.0.0.9", "private"),
            ("192.168.1.1", "private"),
            ("127.0.0.1", "loopback"),
            ("::1", "loopback"),
            ("169.254.169.254", "reserved"),
            ("::ffff:169.254.169.254", "reserved"),
            ("64:ff9b::7f00:1", "loopback"),
            ("fe80::1", "reserved"),
            ("0.0.0.0", "reserved"),
        ] {
            for allows_localhost in [false, true] {
                let refused = permitted("rebound.example", &[inside], allows_localhost).await.unwrap_err();
                let expected = format!("rebound.example leads to a {kind} address");
                assert!(refused.starts_with(&expected), "{refused}");
            }
        }
    }

    #[tokio::test]
    async fn this_machine_is_reached_by_its_own_name_if_that_is_allowed() {
        let found = ["127.0.0.1", "::1"];
        assert_eq!(permitted("localhost", &found, true).await.map(|found| found.len()), Ok(2));
        assert!(permitted("localhost", &found, false).await.is_err());
        assert!(permitted("localhost", &["10.0.0.1"], true).await.is_err());
    }
}
