//! `sse`: a response that stays open and sends events at a rate, or a language model's answer in pieces.
//!
//! Every request gets the same stream: `events` events, the first at once, then one every `every` milliseconds. With
//! `tokens` the events have the format in which OpenAI's API streams an answer, and `data: [DONE]` follows them.

use crate::answer::Answer;
use crate::config::Config;
use crate::error::Error;
use crate::request::Request;
use crate::service::{Nanos, Service};

const HEAD: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n\
    Transfer-Encoding: chunked\r\n\r\n";

pub(crate) struct Sse {
    events: u64,
    every: Nanos,
    name: String,
    ids: bool,
    retry: Option<u64>,
    tokens: bool,
}

impl Sse {
    pub(crate) fn new(config: &Config) -> Result<Self, Error> {
        let every: u32 = config.read("every", 0)?;
        let retry: u64 = config.read("retry", 0)?;
        Ok(Self {
            events: config.read::<u16>("events", 5)?.into(),
            every: Nanos::from(every) * 1_000_000,
            name: config.text("name").unwrap_or_default().to_owned(),
            ids: config.read("ids", false)?,
            retry: (retry > 0).then_some(retry),
            tokens: config.read("tokens", false)?,
        })
    }

    /// Formats the stream's event number `nth`, from 1.
    fn event(&self, nth: u64) -> String {
        let mut event = String::new();
        if let (1, Some(retry)) = (nth, self.retry) {
            event.push_str(&format!("retry: {retry}\n"));
        }
        if !self.name.is_empty() {
            event.push_str(&format!("event: {}\n", self.name));
        }
        if self.ids {
            event.push_str(&format!("id: {nth}\n"));
        }
        if self.tokens {
            let delta = serde_json::json!({
                "object": "chat.completion.chunk",
                "choices": [{ "index": 0, "delta": { "content": format!("token{nth} ") } }],
            });
            event.push_str(&format!("data: {delta}\n\n"));
        } else {
            event.push_str(&format!("data: event {nth}\n\n"));
        }
        event
    }
}

fn chunk(text: &str) -> Vec<u8> {
    format!("{:x}\r\n{text}\r\n", text.len()).into_bytes()
}

impl Service for Sse {
    fn request(&mut self, request: &Request<'_>, _now: Nanos, answer: &mut Answer) {
        answer.send(HEAD);
        if request.method != b"HEAD" {
            for nth in 1..=self.events {
                if nth > 1 && self.every > 0 {
                    answer.pause(self.every);
                }
                answer.send(&chunk(&self.event(nth)));
            }
            if self.tokens {
                answer.send(&chunk("data: [DONE]\n\n"));
            }
            answer.send(b"0\r\n\r\n");
        }
        if !request.keeps_alive() {
            answer.close();
        }
    }
}
