//! Takes over the agents of a run whose coordinator has ended: they start a stream to the new coordinator.
//!
//! A takeover order is signed by the operator. It names the session of the previous coordinator: a random number that
//! only a reader of the server's traffic could know. Each agent answers in the new session, or reports that it no
//! longer works for the run. Such an agent is hired once more by its name if it is free, because its measurements are
//! still in its folder.

use std::time::{Duration, Instant};

use super::air::{self, Kind, Order, Ordered, Said, Word};
use super::hire::{Access, CALL, Crew, Found, Hired, Hiring, Pools};
use super::key::Public;
use super::sealed::Shared;

/// Time limit for answers. Then the time limit for hiring agents that no longer work for the run.
const ANSWER: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_secs(5);

/// An agent of the run: its name, its zone, and the data of its previous stream.
pub(crate) type Former = (String, String, Found);

/// Takes over agents, each with the last of its sessions. Returns the reason for each agent that could not be taken
/// over.
pub(crate) fn take(
    asked: &Pools,
    access: Access,
    former: &[Former],
    patience: u32,
    cancelled: &dyn Fn() -> bool,
    note: &mut dyn FnMut(&str),
) -> Result<(Crew, Vec<Option<String>>), String> {
    let mut hiring = Hiring::start(asked, access, cancelled)?;
    hiring.connect(note)?;
    for (name, zone, found) in former {
        hiring.crew.client.subscribe(&air::from(name));
        let (name, zone) = (name.clone(), zone.clone());
        let session = *found.sessions.last().ok_or("internal error: an agent has no session")?;
        let key = Public::of(found.key);
        let (half, keys) = (found.half, hiring.crew.seals.keys(&found.half, (session, &name))?);
        hiring.crew.hired.push(Hired { name, zone, key, half, keys, session });
    }
    let mut answers: Vec<Answer> = vec![None; former.len()];
    let (begun, mut ordered) = (Instant::now(), None::<Instant>);
    while answers.contains(&None) && begun.elapsed() < ANSWER {
        if ordered.is_none_or(|at| at.elapsed() >= CALL) {
            ordered = Some(Instant::now());
            order(&hiring.crew, former, &answers, patience);
        }
        let heard = hiring.listen(note)?;
        answer(&hiring.crew, heard, &mut answers);
    }
    hire_again(&mut hiring, &mut answers, patience, note)?;
    let reason = |answer: Answer| match answer {
        Some(answer) => answer.err(),
        None => Some(format!("no answer within {} s", ANSWER.as_secs())),
    };
    Ok((hiring.crew, answers.into_iter().map(reason).collect()))
}

/// The answer of an agent, if it has arrived: it starts a stream, or the reason why not.
type Answer = Option<Result<(), String>>;

/// Handles a message of an agent.
fn answer(crew: &Crew, heard: Option<(String, Vec<u8>)>, answers: &mut [Answer]) {
    let Some((name, bytes)) = heard else { return };
    for (hired, answer) in crew.hired.iter().zip(answers) {
        if hired.name == name
            && let Some(word) = air::open(Some(&hired.key), (Kind::Word, &name), &bytes)
            && let Word { session, what } = word
            && session == hired.session
        {
            *answer = Some(match what {
                Said::Packet(_) => Ok(()),
                Said::Close(words) => Err(words),
            });
        }
    }
}

/// Hires the free agents among those that could not be taken over.
fn hire_again(
    hiring: &mut Hiring<'_>,
    answers: &mut [Answer],
    patience: u32,
    note: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let failed = |answer: &Answer| !matches!(answer, Some(Ok(())));
    let (begun, mut ordered) = (Instant::now(), None::<Instant>);
    while answers.iter().any(failed) && begun.elapsed() < AGAIN {
        if ordered.is_none_or(|at| at.elapsed() >= CALL) {
            ordered = Some(Instant::now());
            hiring.crew.client.publish(&air::call(hiring.pool()), Vec::new());
            let mark = hiring.crew.seals.shared.as_ref().map(Shared::mark);
            let free = |offer: &&air::Offer| {
                !offer.busy && offer.program == hiring.program && offer.mark == mark
            };
            let crew = &mut hiring.crew;
            for (hired, _) in crew.hired.iter_mut().zip(&*answers).filter(|(_, of)| failed(of)) {
                let Some(offer) = hiring.offers.get(&hired.name).filter(free) else { continue };
                (hired.key, hired.half) = (Public::of(offer.key), offer.half);
                hired.keys = crew.seals.keys(&offer.half, (hired.session, &hired.name))?;
                let what =
                    Ordered::Hire { nonce: offer.nonce, patience, half: crew.seals.own.half() };
                let order = Order { session: hired.session, what };
                let about = (Kind::Order, hired.name.as_str());
                let bytes = air::seal(crew.operator.as_ref(), about, &order);
                crew.client.publish(&air::to(&hired.name), bytes);
            }
        }
        let heard = hiring.listen(note)?;
        answer(&hiring.crew, heard, answers);
    }
    Ok(())
}

/// Sends takeover orders to the agents that have not answered.
fn order(crew: &Crew, former: &[Former], answers: &[Answer], patience: u32) {
    let rest = crew.hired.iter().zip(former).zip(answers).filter(|(_, answer)| answer.is_none());
    for ((hired, (.., found)), _) in rest {
        let former = found.sessions.iter().copied().filter(|session| *session != hired.session);
        let half = crew.seals.own.half();
        let what = Ordered::Take { former: former.collect(), patience, half };
        let order = Order { session: hired.session, what };
        let bytes = air::seal(crew.operator.as_ref(), (Kind::Order, &hired.name), &order);
        crew.client.publish(&air::to(&hired.name), bytes);
    }
}
