//! Takes over the agents of a run whose coordinator has ended: they start a stream to the new coordinator.
//!
//! A takeover order is signed by the operator. It names the session of the previous coordinator: a random number that
//! only a reader of the server's traffic could know. Each agent answers in the new session, or reports that it no
//! longer works for the run. Such an agent is reserved once more by its name if it is free, because its measurements
//! are still in its folder.

use std::time::{Duration, Instant};

use super::envelope::{self, Kind, Order, OrderKind, Reply, ReplyKind};
use super::key::Public;
use super::reserve::{
    Access, CALL, Pools, Reservation, ReservedAgent, ReservedAgents, StreamHandover,
};
use super::sealed::Shared;

/// Time limit for the agents' answers to takeover orders.
const ANSWER: Duration = Duration::from_secs(10);
/// Time limit for reserving agents that refused the takeover or did not answer, but are free.
const RESEND: Duration = Duration::from_secs(5);

/// An agent of the run: its name, its zone, and the data of its previous stream.
pub(crate) type Former = (String, String, StreamHandover);

/// Takes over the agents of a run. The last session of each agent must be a new one. Returns for each agent the reason
/// if the agent could not be taken over.
pub(crate) fn take_over(
    asked: &Pools,
    access: Access,
    former: &[Former],
    patience: u32,
    cancelled: &dyn Fn() -> bool,
    note: &mut dyn FnMut(&str),
) -> Result<(ReservedAgents, Vec<Option<String>>), String> {
    let mut reservation = Reservation::start(asked, access, cancelled)?;
    reservation.connect(note)?;
    for (name, zone, found) in former {
        reservation.reserved.client.subscribe(&envelope::from(name));
        let (name, zone) = (name.clone(), zone.clone());
        let session = *found.sessions.last().ok_or("internal error: an agent has no session")?;
        let key = Public::of(found.key);
        let (half, keys) =
            (found.half, reservation.reserved.seals.keys(&found.half, (session, &name))?);
        reservation.reserved.agents.push(ReservedAgent { name, zone, key, half, keys, session });
    }
    let mut answers: Vec<Answer> = vec![None; former.len()];
    let (begun, mut ordered) = (Instant::now(), None::<Instant>);
    while answers.contains(&None) && begun.elapsed() < ANSWER {
        if ordered.is_none_or(|at| at.elapsed() >= CALL) {
            ordered = Some(Instant::now());
            order(&reservation.reserved, former, &answers, patience);
        }
        let heard = reservation.listen(note)?;
        answer(&reservation.reserved, heard, &mut answers);
    }
    reserve_restarted(&mut reservation, &mut answers, patience, note)?;
    let reason = |answer: Answer| match answer {
        Some(answer) => answer.err(),
        None => Some(format!("no answer within {} s", ANSWER.as_secs())),
    };
    Ok((reservation.reserved, answers.into_iter().map(reason).collect()))
}

/// The answer of an agent to a takeover order: `None` until it arrives, then success, or the reason for a refusal.
type Answer = Option<Result<(), String>>;

/// Records the answer in a received message of an agent.
fn answer(reserved: &ReservedAgents, heard: Option<(String, Vec<u8>)>, answers: &mut [Answer]) {
    let Some((name, bytes)) = heard else { return };
    for (agent, answer) in reserved.agents.iter().zip(answers) {
        if agent.name == name
            && let Some(word) = envelope::open(Some(&agent.key), (Kind::Reply, &name), &bytes)
            && let Reply { session, what } = word
            && session == agent.session
        {
            *answer = Some(match what {
                ReplyKind::Packet(_) => Ok(()),
                ReplyKind::Close(words) => Err(words),
            });
        }
    }
}

/// Reserves the agents that refused the takeover or did not answer, but are free.
fn reserve_restarted(
    reservation: &mut Reservation<'_>,
    answers: &mut [Answer],
    patience: u32,
    note: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let failed = |answer: &Answer| !matches!(answer, Some(Ok(())));
    let (begun, mut ordered) = (Instant::now(), None::<Instant>);
    while answers.iter().any(failed) && begun.elapsed() < RESEND {
        if ordered.is_none_or(|at| at.elapsed() >= CALL) {
            ordered = Some(Instant::now());
            reservation.reserved.client.publish(&envelope::call(reservation.pool()), Vec::new());
            let mark = reservation.reserved.seals.shared.as_ref().map(Shared::mark);
            let free = |offer: &&envelope::Offer| {
                !offer.busy && offer.program == reservation.program && offer.mark == mark
            };
            let reserved = &mut reservation.reserved;
            for (agent, _) in reserved.agents.iter_mut().zip(&*answers).filter(|(_, of)| failed(of))
            {
                let Some(offer) = reservation.offers.get(&agent.name).filter(free) else {
                    continue;
                };
                (agent.key, agent.half) = (Public::of(offer.key), offer.half);
                agent.keys = reserved.seals.keys(&offer.half, (agent.session, &agent.name))?;
                let what = OrderKind::Reserve {
                    nonce: offer.nonce,
                    patience,
                    half: reserved.seals.own.half(),
                };
                let order = Order { session: agent.session, what };
                let about = (Kind::Order, agent.name.as_str());
                let bytes = envelope::seal(reserved.operator.as_ref(), about, &order);
                reserved.client.publish(&envelope::to(&agent.name), bytes);
            }
        }
        let heard = reservation.listen(note)?;
        answer(&reservation.reserved, heard, answers);
    }
    Ok(())
}

/// Sends takeover orders to the agents that have not answered yet.
fn order(reserved: &ReservedAgents, former: &[Former], answers: &[Answer], patience: u32) {
    let rest =
        reserved.agents.iter().zip(former).zip(answers).filter(|(_, answer)| answer.is_none());
    for ((agent, (.., found)), _) in rest {
        let former = found.sessions.iter().copied().filter(|session| *session != agent.session);
        let half = reserved.seals.own.half();
        let what = OrderKind::Take { former: former.collect(), patience, half };
        let order = Order { session: agent.session, what };
        let bytes = envelope::seal(reserved.operator.as_ref(), (Kind::Order, &agent.name), &order);
        reserved.client.publish(&envelope::to(&agent.name), bytes);
    }
}
