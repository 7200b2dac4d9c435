//! Which server of the bus is tried when a connection is lost.

use async_nats::{ReconnectToServer, Server, ServerAddr};
use parking_lot::Mutex;
use tokio::sync::watch;

/// Another one than that which was lost comes first. A server that fell silent may still take connections, and whoever
/// waits for its word is missed meanwhile.
pub(super) struct NextServer {
    /// How often there was a connection.
    connected: watch::Receiver<u64>,
    last: Mutex<Option<ServerAddr>>,
}

impl NextServer {
    pub fn new(connected: watch::Receiver<u64>) -> Self {
        Self { connected, last: Mutex::default() }
    }

    /// None before the first connection: then every server is tried, in any order. `drawn` is a random number.
    pub fn choose(&self, pool: &[Server], drawn: usize) -> Option<ReconnectToServer> {
        if *self.connected.borrow() == 0 {
            return None;
        }
        let mut last = self.last.lock();
        // The first connection was made without us.
        let lost = last
            .clone()
            .or_else(|| pool.iter().find(|server| server.did_connect).map(|server| server.addr.clone()));
        let others: Vec<_> = pool.iter().filter(|server| Some(&server.addr) != lost.as_ref()).collect();
        let others = if others.is_empty() { pool.iter().collect() } else { others };
        let fewest = others.iter().map(|server| server.failed_attempts).min()?;
        let best: Vec<_> = others.into_iter().filter(|server| server.failed_attempts == fewest).collect();
        let addr = best.get(drawn % best.len())?.addr.clone();
        *last = Some(addr.clone());
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

    #[test]
    fn the_server_that_was_lost_is_tried_last() {
        let (count, connected) = watch::channel(0);
        let next = NextServer::new(connected);
        let chosen = |pool: &[Server], drawn| next.choose(pool, drawn).map(|to| to.addr.host().to_owned());
        let pool = [server("a", 0, true), server("b", 0, false), server("c", 0, false)];
        assert_eq!(chosen(&pool, 0), None, "every server is tried until one answers");
        count.send_replace(1);
        assert_eq!(chosen(&pool, 1).as_deref(), Some("c"), "`a` was lost");
        assert_eq!(chosen(&pool, 0).as_deref(), Some("a"), "`c` was lost");
        // It didn't answer.
        let pool = [server("a", 1, true), server("b", 0, false), server("c", 0, true)];
        assert_eq!(chosen(&pool, 1).as_deref(), Some("c"));
        assert_eq!(chosen(&pool, 7).as_deref(), Some("b"));
    }

    #[test]
    fn a_bus_of_one_server_is_tried_again_and_again() {
        let next = NextServer::new(watch::channel(1).1);
        let pool = [server("a", 3, true)];
        for drawn in 0..3 {
            assert_eq!(next.choose(&pool, drawn).map(|to| to.addr), Some(pool[0].addr.clone()));
        }
        assert!(next.choose(&[], 0).is_none());
    }
}
