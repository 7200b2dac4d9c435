//! On a gateway that stands by: a client's connection is passed on to the leader.

use std::future::pending;
use std::sync::Arc;

use async_nats::Subscriber;
use bytes::Bytes;
use futures_util::StreamExt;
use gristmill_gateway::domain::one_line;
use gristmill_replica::seal::Seal;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::error::RelayError;
use super::limits::{LINGER_WITHIN, READ_BYTES};
use super::message::Said;
use super::opening::Opening;
use super::passage::{Cut, Finish, Passage, Side};
use super::sealed_talk::SealedTalk;
use super::signs::Signs;
use crate::bus::{Broken, Bus, BusError, Conversation, PACKETS_MAX};
use crate::names::{LinkId, NodeName};
use crate::wire::{WHY_CHARS_MAX, WIRE_VERSION};

/// Passes one accepted connection on to `leader`, until either end is done with it or `lost` says that another gateway
/// leads. A client that hangs up is no error.
///
/// The stream is neither read nor written before the leader has taken the connection. Give `&mut stream` to keep it
/// for another try; one that was read is of no use. A socket should send at once (`TCP_NODELAY`).
pub async fn pass_on<S>(
    (bus, seal): (&Bus, &Arc<Seal>),
    own: &NodeName,
    leader: &NodeName,
    mut stream: S,
    opening: Opening,
    lost: CancellationToken,
) -> Result<(), RelayError>
where
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    opening.check()?;
    let link = LinkId::new().map_err(BusError::from)?;
    let mut arriving = bus.subscribe(bus.subjects().relayed(own, leader, link)).await?;
    let (packets, received) = mpsc::channel(PACKETS_MAX);
    let signs = Arc::new(Signs::default());
    let talk = Conversation::new(bus, bus.subjects().relayed(leader, own, link), received);
    let talk = SealedTalk::new(talk, Arc::clone(seal), link, &Side::Client);
    let mut passage = Passage::new(talk, Arc::clone(&signs), Side::Client);
    let mut was_taken = false;
    let passing = async {
        open(&mut passage, opening).await?;
        was_taken = true;
        passage.run(&mut stream).await
    };
    let outcome = tokio::select! {
        biased;
        () = lost.cancelled() => None,
        () = hear(&mut arriving, &packets, &signs) => None,
        outcome = passing => Some(outcome),
    };
    if !matches!(outcome, Some(Ok(Finish::Agreed) | Err(Cut::LetGo))) {
        passage.let_go().await;
    }
    match outcome {
        Some(Ok(Finish::ByOtherEnd)) => {
            linger(&mut stream).await;
            Ok(())
        }
        Some(Ok(Finish::Agreed | Finish::ByClient)) => Ok(()),
        Some(Err(cut)) => Err(failed(cut, leader.clone(), was_taken)),
        None => Err(RelayError::LeaderChanged { leader: leader.clone(), was_taken }),
    }
}

/// Asks the leader, and waits for its yes.
async fn open(passage: &mut Passage, opening: Opening) -> Result<(), Cut> {
    passage.talk.say(&Said::Open { wire: WIRE_VERSION, opening })?;
    match passage.next().await? {
        Said::Taken(taking) => {
            passage.talk.bind(taking);
            // The leader serves the connection once it has heard something on this one: an opening can be sent again by
            // whoever has recorded it.
            passage.talk.say(&Said::StillHere)?;
            Ok(())
        }
        Said::Refused(why) => Err(Cut::Refused(why)),
        Said::Open { .. } | Said::Bytes(_) | Said::End | Said::Close | Said::StillHere => {
            Err(Broken::Message.into())
        }
    }
}

/// Hands in what the bus brings, as fast as it is taken.
async fn hear(arriving: &mut Subscriber, packets: &mpsc::Sender<Bytes>, signs: &Signs) {
    while let Some(message) = arriving.next().await {
        signs.heard();
        if packets.send(message.payload).await.is_err() {
            break;
        }
    }
    // The bus is closed: silence says the rest.
    pending().await
}

/// The client has its answer, and may still be sending.
async fn linger(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) {
    let lingering = async {
        if stream.shutdown().await.is_err() {
            return;
        }
        let mut scrap = vec![0; READ_BYTES];
        while let Ok(1..) = stream.read(&mut scrap).await {}
    };
    let _ = tokio::time::timeout(LINGER_WITHIN, lingering).await;
}

fn failed(cut: Cut, leader: NodeName, was_taken: bool) -> RelayError {
    let why = match (cut, was_taken) {
        (Cut::Refused(why), _) => one_line(&why, WHY_CHARS_MAX),
        (Cut::Silent, false) => "it doesn't answer".to_owned(),
        (Cut::LetGo, false) => "it let go of it".to_owned(),
        (Cut::Broken(broken), false) => broken.to_string(),
        (Cut::Silent, true) => return RelayError::Silent { leader },
        (Cut::LetGo, true) => return RelayError::LetGo { leader },
        (Cut::Broken(broken), true) => return RelayError::Broken { leader, why: broken.to_string() },
        (Cut::Stuck, _) => return RelayError::ClientStuck,
    };
    RelayError::NotTaken { leader, why }
}
