//! Secrets do not pass the server in plain text, and agents without the shared key are not reserved.

use super::super::reserve::Reservation;
use super::super::sealed::Shared;
use super::super::{envelope, start};
use super::*;
use crate::frame::Incoming;
use crate::remote::ToAgent;

const SECRET: &str = "password=opensesame";

#[test]
fn what_goes_to_an_agent_is_read_by_it_alone() {
    let Some(bus) = Bus::new() else { return };
    let (listener, overheard) = bus.client();
    listener.subscribe(">");
    until(&overheard, up);
    let ([a1, _], reserved) = reserved_agents(&bus, ["a1", "a2"]);
    let (say, _heard) = channel();
    let lines = start(reserved, (Instant::now(), say)).expect("streams");
    let piece = ToAgent::Piece { hash: SECRET.into(), bytes: SECRET.repeat(2_000).into_bytes() };
    lines[0].send(&piece).expect("it is sent");
    let keys = a1.keys.lock().expect("keys").take().expect("it was reserved");
    let (mut incoming, mut sealed) = (Incoming::of_at_most(1 << 20), 0);
    let message = until(&overheard, |event| {
        let Event::Message { subject, payload, .. } = event else { return None };
        let holds = payload.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
        assert!(!holds, "{subject} has the secret in the clear");
        let order: Order = envelope::open(None, (Kind::Order, "a1"), &payload)?;
        let OrderKind::Packet(packet) = order.what else { return None };
        sealed += packet.bytes.len();
        incoming.add(&keys.open(packet)?.bytes);
        incoming.next::<ToAgent>().expect("a frame")
    });
    assert!(sealed > SECRET.len() * 2_000, "{sealed} bytes were overheard");
    let ToAgent::Piece { hash, bytes } = message else { panic!("another message") };
    assert_eq!((hash.as_str(), bytes), (SECRET, SECRET.repeat(2_000).into_bytes()));
}

#[test]
fn an_agent_without_the_shared_key_is_not_hired() {
    let Some(bus) = Bus::new() else { return };
    let pools = Pools {
        server: bus.address(),
        agents: Some(1),
        zones: vec![],
        labels: vec![],
        names: vec![],
    };
    let (shared, end) = (Shared::new().expect("a key"), Instant::now() + LONG);
    let go_on = || false;
    let mut reservation =
        Reservation::start(&pools, access(Some(shared)), &go_on).expect("a client");
    reservation.connect(&mut |_| {}).expect("the server");
    let liar = Liar::new(&bus, "a1");
    while reservation.offers.is_empty() {
        liar.offer();
        reservation.listen(&mut |_| {}).expect("the server");
        assert!(Instant::now() < end, "no offer");
    }
    let words = reservation.missing();
    assert!(words.contains("a1 has no shared key (THRONG_SEAL_KEY)"), "{words}");
}
