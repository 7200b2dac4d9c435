//! Which server of the bus is tried when a connection is lost.

use async_nats::{ReconnectToServer, Server, ServerAddr};
use parking_lot::Mutex;
use tokio::sync::watch;

/// The one that was lost comes last, since it may have fallen silent and still take connections, and each of the others
/// has its turn before any is tried again. How often a server has failed says nothing: the client doesn't count names
/// that nobody knows, and forgets no failure of a server that is back.
pub(super) struct NextServer {
    /// How often there was a connection.
    connected: watch::Receiver<u64>,
    /// Those that had their turn, the last one at the end.
    tried: Mutex<Vec<ServerAddr>>,
}

impl NextServer {
    pub fn new(connected: watch::Receiver<u64>) -> Self {
        Self { connected, tried: Mutex::default() }
    }

    /// None before the first connection: then every server is tried, in any order. `drawn` is a random number.
    pub fn choose(&self, pool: &[Server], drawn: usize) -> Option<ReconnectToServer> {
        if *self.connected.borrow() == 0 {
            return None;
        }
        let mut tried = self.tried.lock();
        if tried.is_empty() {
            // The first connection was made without us.
            tried.extend(pool.iter().find(|server| server.did_connect).map(|server| server.addr.clone()));
        }
        tried.retain(|addr| pool.iter().any(|server| server.addr == *addr));
        let untried: Vec<_> =
            pool.iter().map(|server| &server.addr).filter(|addr| !tried.contains(addr)).collect();
        let addr = match untried.len() {
            0 if tried.is_empty() => return None,
            0 => tried.remove(0),
            count => untried[drawn % count].clone(),
        };
        tried.push(addr.clone());
        // After the usual pause.
        Some(ReconnectToServer { addr, delay: None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(name: &str, failed_attempts: usize, did_connect: bool) -> Server {
        let addr = format!("nats://{name}:4222").parse().unwrap();
        // Only the client itself makes one.
        Server { addr, failed_attempts, did_connect, is_discovered: false, last_error: None }
    }

    fn chosen(next: &NextServer, pool: &[Server], drawn: &[usize]) -> Vec<String> {
        let one = |drawn: &usize| next.choose(pool, *drawn).expect("a server").addr.host().to_owned();
        drawn.iter().map(one).collect()
    }

    #[test]
    fn every_other_server_has_its_turn_before_the_one_that_was_lost() {
        let (count, connected) = watch::channel(0);
        let next = NextServer::new(connected);
        let pool = [server("a", 0, true), server("b", 0, false), server("c", 0, false)];
        assert!(next.choose(&pool, 0).is_none(), "every server is tried until one answers");
        count.send_replace(1);
        assert_eq!(chosen(&next, &pool, &[1, 1]), ["c", "b"], "`a` was lost, and `c` after it");
        assert_eq!(chosen(&next, &pool, &[5, 2, 7, 0]), ["a", "c", "b", "a"]);
    }

    #[test]
    fn failures_are_not_counted() {
        let next = NextServer::new(watch::channel(1).1);
        // Nobody knows the names of `b` and `c`: their tries end before they are counted.
        let pool = [server("a", 1, true), server("b", 0, false), server("c", 0, false)];
        assert_eq!(chosen(&next, &pool, &[0, 0, 0]), ["b", "c", "a"]);
        let pool = [server("a", 0, true), server("b", 80, true), server("c", 0, true)];
        assert_eq!(chosen(&next, &pool, &[0, 0]), ["b", "c"]);
    }

    #[test]
    fn servers_come_and_go() {
        let next = NextServer::new(watch::channel(1).1);
        let pool = [server("a", 0, true), server("b", 0, false)];
        assert_eq!(chosen(&next, &pool, &[0, 0]), ["b", "a"]);
        let pool = [server("a", 0, true), server("d", 0, false)];
        assert_eq!(chosen(&next, &pool, &[0, 0, 0]), ["d", "a", "d"]);
        let alone = [server("a", 3, true)];
        assert_eq!(chosen(&next, &alone, &[0, 1, 2]), ["a", "a", "a"]);
        assert!(next.choose(&[], 0).is_none());
    }
}
