//! `wasi:sockets`: there is no network. Making a socket or resolving a name is refused; every
//! other function needs one of those first, so it is left undefined and cannot be reached.

use wasmtime::component::{ComponentType, Lift, Linker, Lower, Resource, ResourceType};

use super::interface;
use crate::engine::wasm::Host;

/// The codes of `wasi:sockets/network`; only the second is ever given.
#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "the interface fixes the whole list")]
enum SocketError {
    #[component(name = "unknown")]
    Unknown,
    #[component(name = "access-denied")]
    AccessDenied,
    #[component(name = "not-supported")]
    NotSupported,
    #[component(name = "invalid-argument")]
    InvalidArgument,
    #[component(name = "out-of-memory")]
    OutOfMemory,
    #[component(name = "timeout")]
    Timeout,
    #[component(name = "concurrency-conflict")]
    ConcurrencyConflict,
    #[component(name = "not-in-progress")]
    NotInProgress,
    #[component(name = "would-block")]
    WouldBlock,
    #[component(name = "invalid-state")]
    InvalidState,
    #[component(name = "new-socket-limit")]
    NewSocketLimit,
    #[component(name = "address-not-bindable")]
    AddressNotBindable,
    #[component(name = "address-in-use")]
    AddressInUse,
    #[component(name = "remote-unreachable")]
    RemoteUnreachable,
    #[component(name = "connection-refused")]
    ConnectionRefused,
    #[component(name = "connection-reset")]
    ConnectionReset,
    #[component(name = "connection-aborted")]
    ConnectionAborted,
    #[component(name = "datagram-too-large")]
    DatagramTooLarge,
    #[component(name = "name-unresolvable")]
    NameUnresolvable,
    #[component(name = "temporary-resolver-failure")]
    TemporaryResolverFailure,
    #[component(name = "permanent-resolver-failure")]
    PermanentResolverFailure,
}

#[derive(ComponentType, Lift, Lower, Clone, Copy, Debug)]
#[component(enum)]
#[repr(u8)]
#[expect(dead_code, reason = "only the guest makes these")]
enum IpAddressFamily {
    #[component(name = "ipv4")]
    Ipv4,
    #[component(name = "ipv6")]
    Ipv6,
}

enum TcpSocket {}
enum UdpSocket {}
enum IncomingDatagramStream {}
enum OutgoingDatagramStream {}
enum ResolveAddressStream {}
struct Network;

type Refused<T> = (Result<Resource<T>, SocketError>,);

pub fn add_to_linker(linker: &mut Linker<Host>) -> wasmtime::Result<()> {
    linker.instance(&interface("sockets/network"))?.resource(
        "network",
        ResourceType::host::<Network>(),
        |_, _| Ok(()),
    )?;
    linker.instance(&interface("sockets/instance-network"))?.func_wrap("instance-network", |_, (): ()| {
        // A token without power: nothing that takes it does anything.
        Ok((Resource::<Network>::new_own(0),))
    })?;

    linker.instance(&interface("sockets/tcp"))?.resource(
        "tcp-socket",
        ResourceType::host::<TcpSocket>(),
        |_, _| Ok(()),
    )?;
    linker
        .instance(&interface("sockets/tcp-create-socket"))?
        .func_wrap("create-tcp-socket", |_, (_,): (IpAddressFamily,)| refused::<TcpSocket>())?;

    let mut udp = linker.instance(&interface("sockets/udp"))?;
    udp.resource("udp-socket", ResourceType::host::<UdpSocket>(), |_, _| Ok(()))?;
    udp.resource("incoming-datagram-stream", ResourceType::host::<IncomingDatagramStream>(), |_, _| Ok(()))?;
    udp.resource("outgoing-datagram-stream", ResourceType::host::<OutgoingDatagramStream>(), |_, _| Ok(()))?;
    linker
        .instance(&interface("sockets/udp-create-socket"))?
        .func_wrap("create-udp-socket", |_, (_,): (IpAddressFamily,)| refused::<UdpSocket>())?;

    let mut lookup = linker.instance(&interface("sockets/ip-name-lookup"))?;
    lookup.resource("resolve-address-stream", ResourceType::host::<ResolveAddressStream>(), |_, _| Ok(()))?;
    lookup.func_wrap("resolve-addresses", |_, (_, _): (Resource<Network>, String)| {
        refused::<ResolveAddressStream>()
    })
}

fn refused<T: 'static>() -> wasmtime::Result<Refused<T>> {
    Ok((Err(SocketError::AccessDenied),))
}
