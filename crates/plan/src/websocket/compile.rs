//! Compiles elements to WebSocket samplers, frame filters, heartbeats and holds.
//!
//! A property that is missing or empty in the sampler is taken from the nearest Simple Config Element that defines
//! it, as in JMeter. Enumeration values are read once; expressions in them are not supported.

use jmx::{ElementId, Prop};

use super::filter::{Comparison, Test};
use super::heartbeat::{is_one as is_heartbeat, knows as heartbeat_knows};
use super::{
    Act, ExpectedFrame, FilterId, Form, FrameFilter, HeartbeatId, Payload, Peer, WebSocket, hold,
    zaleski,
};
use crate::compile::{Context, scope};
use crate::http::{self, Header};
use crate::pattern::Pattern;
use crate::support::Level;
use crate::template::Template;
use crate::template::flag::{self, Flag};

const PACKAGE: &str = "eu.luminis.jmeter.wssampler.";

/// Indexes of the filters and the heartbeat in a sampler's scope.
#[derive(Debug, Default)]
pub(crate) struct Around {
    pub(crate) filters: Vec<FilterId>,
    pub(crate) heartbeat: Option<HeartbeatId>,
    pub(crate) cookies: Option<u32>,
}

/// Compiles a sampler with the config elements in its scope, nearest first; `None` if the element is not a
/// WebSocket sampler.
pub(crate) fn compile(
    ctx: &mut Context<'_>,
    id: ElementId,
    configs: &[ElementId],
    around: Around,
) -> Option<WebSocket> {
    let class = scope::class(ctx.doc, id);
    let mut of = Reader { chain: vec![id] };
    of.chain.extend(configs.iter().filter(|id| scope::class(ctx.doc, **id) == "ConfigTestElement"));
    let (act, creates) = match class.strip_prefix(PACKAGE) {
        Some("OpenWebSocketSampler") => (Act::Open, true),
        Some("RequestResponseWebSocketSampler") => {
            let want = if of.form(ctx) == Form::Binary {
                ExpectedFrame::Binary
            } else {
                ExpectedFrame::Text
            };
            (Act::RequestResponse(want), true)
        }
        Some("SingleReadWebSocketSampler") => (Act::Read(of.want(ctx)), false),
        Some("SingleWriteWebSocketSampler") => (Act::Write, false),
        Some("PingPongSampler") => (of.ping(ctx), false),
        Some("CloseWebSocketSampler") => (Act::Close, false),
        _ if class == ZALESKI => (Act::Exchange(Box::new(zaleski::compile(ctx, id))), true),
        _ => return None,
    };
    let opens = !matches!(act, Act::PingPong | Act::Pong | Act::Close);
    let mut sampler = WebSocket {
        cookies: around.cookies.filter(|_| opens && !matches!(act, Act::Exchange(_))),
        filters: around.filters,
        heartbeat: around.heartbeat.filter(|_| opens),
        peer: Peer {
            creates: of.flag(ctx, "createNewConnection", creates),
            secure: of.flag(ctx, "TLS", false),
            server: of.text(ctx, "server", ""),
            port: of.text(ctx, "port", "80"),
            path: of.text(ctx, "path", ""),
        },
        headers: if opens { http::headers(ctx, configs) } else { Vec::new() },
        payload: Payload {
            form: of.form(ctx),
            data: of.text(ctx, "requestData", ""),
            from_file: of.flag(ctx, "loadDataFromFile", false),
            file: of.text(ctx, "dataFile", ""),
        },
        connect_timeout: of.text(ctx, "connectTimeout", "20000"),
        read_timeout: of.text(ctx, "readTimeout", "6000"),
        optional: of.flag(ctx, "optional", false),
        close_status: of.text(ctx, "statusCode", "1000"),
        fixed: false,
        act,
    };
    sampler.fixed = sampler.nothing_varies();
    Some(sampler)
}

pub(crate) const ZALESKI: &str = "JMeter.plugins.functional.samplers.websocket.WebSocketSampler";

/// True if samplers of this class inherit properties from Simple Config Elements in their scope.
pub(crate) fn takes_defaults(class: &str) -> bool {
    class.starts_with(PACKAGE) || class == ZALESKI
}

/// Compiles a hold sampler from a Flow Control Action; `None` if the action does not pause or has no settings of a hold
/// sampler.
pub(crate) fn hold_of(ctx: &mut Context<'_>, id: ElementId, around: Around) -> Option<WebSocket> {
    if !is_pause(ctx, id) {
        return None;
    }
    let settings = hold::settings_below(ctx, id)?;
    let hold = hold::compile(ctx, id, settings);
    Some(WebSocket {
        act: Act::Hold(Box::new(hold)),
        cookies: None,
        filters: around.filters,
        heartbeat: None,
        peer: Peer::default(),
        headers: Vec::new(),
        payload: Payload::default(),
        connect_timeout: Template::default(),
        read_timeout: Template::default(),
        optional: Flag::Fixed(false),
        close_status: Template::default(),
        fixed: false,
    })
}

/// True if the element is a Flow Control Action that pauses.
fn is_pause(ctx: &Context<'_>, id: ElementId) -> bool {
    const PAUSE: i64 = 1;
    scope::class(ctx.doc, id) == "TestAction"
        && ctx.props(id).int("ActionProcessor.action") == Some(PAUSE)
}

/// Adds a remark for the user if the action is a hold sampler.
pub(crate) fn review_action(ctx: &mut Context<'_>, id: ElementId) {
    if is_pause(ctx, id) && hold::settings_below(ctx, id).is_some() {
        ctx.remark(id, Level::Native, "holds the user's WebSocket connection and records a sample");
    }
}

/// Compiles a frame filter; `None` if the element is not a frame filter.
pub(crate) fn filter(ctx: &mut Context<'_>, id: ElementId) -> Option<FrameFilter> {
    let class = scope::class(ctx.doc, id).strip_prefix(PACKAGE)?;
    let of = Reader { chain: vec![id] };
    let test = match class {
        "TextFrameFilter" => of.text_test(ctx, id),
        "BinaryFrameFilter" => match of.comparison(ctx) {
            Ok((comparison, None)) => Test::Binary {
                comparison,
                value: of.text(ctx, "matchValue", ""),
                at: of.text(ctx, "matchPosition", ""),
            },
            Ok(_) => Test::Unknown("java.lang.RuntimeException: unknown comparison type".into()),
            Err(unknown) => Test::Unknown(unknown),
        },
        "PingFrameFilter" => {
            let reply = of.flag(ctx, "replyToPing", false);
            match of.word(ctx, "filterType", "FilterAll").as_str() {
                "FilterAll" => Test::Ping { pings: true, pongs: true, reply },
                "FilterPingOnly" => Test::Ping { pings: true, pongs: false, reply },
                "FilterPongOnly" => Test::Ping { pings: false, pongs: true, reply },
                other => Test::Unknown(no_constant("PingFrameFilter.PingFilterType", other)),
            }
        }
        _ => return None,
    };
    let name = ctx.doc.element(id).name.clone();
    let filter = FrameFilter { name: ctx.text(id, &name), test };
    if let Some(complaint) = filter.complaint() {
        let help = "samplers in its scope will fail when they receive, as in JMeter";
        ctx.warn(id, "cannot-work", complaint, help);
    }
    Some(filter)
}

/// Returns Java's message about an unknown enumeration value.
fn no_constant(of: &str, word: &str) -> String {
    format!("java.lang.IllegalArgumentException: No enum constant {PACKAGE}{of}.{word}")
}

/// Reads properties of an element and of the elements that it inherits from, nearest first.
struct Reader {
    chain: Vec<ElementId>,
}

impl Reader {
    /// Returns a property, and the element that defines it: the nearest element with a non-empty value.
    fn find<'a>(&self, ctx: &Context<'a>, name: &str) -> Option<(ElementId, &'a Prop)> {
        let mut last = None;
        for id in &self.chain {
            let Some(prop) = ctx.props(*id).get(name) else { continue };
            last = Some((*id, prop));
            if prop.text() != Some("") {
                break;
            }
        }
        last
    }

    fn text(&self, ctx: &mut Context<'_>, name: &str, default: &str) -> Template {
        match self.find(ctx, name) {
            Some((id, prop)) => ctx.text(id, prop.text().unwrap_or("")),
            None => Template::Fixed(default.into()),
        }
    }

    fn flag(&self, ctx: &mut Context<'_>, name: &str, default: bool) -> Flag {
        match self.find(ctx, name) {
            Some((id, prop)) => flag::of_prop(ctx, id, prop),
            None => Flag::Fixed(default),
        }
    }

    /// Returns the value of a property that must not contain expressions; `default` if the property is missing.
    fn word(&self, ctx: &mut Context<'_>, name: &str, default: &str) -> String {
        let Some((id, prop)) = self.find(ctx, name) else { return default.into() };
        let word = prop.text().unwrap_or("");
        if word.contains("${") {
            let what = format!("{name} contains an expression, which is not evaluated");
            ctx.remark(id, Level::Unsupported, what);
        }
        word.into()
    }

    fn form(&self, ctx: &mut Context<'_>) -> Form {
        let Some(_) = self.find(ctx, "payloadType") else {
            let binary = matches!(self.flag(ctx, "binaryPayload", false), Flag::Fixed(true));
            return if binary { Form::Binary } else { Form::Text };
        };
        match self.word(ctx, "payloadType", "").as_str() {
            "Binary" => Form::Binary,
            "TextStomp" => Form::Stomp,
            // The plug-in treats unknown types as strings.
            _ => Form::Text,
        }
    }

    fn want(&self, ctx: &mut Context<'_>) -> ExpectedFrame {
        match self.word(ctx, "dataType", "").as_str() {
            "Template" => ExpectedFrame::Text,
            "Binary" => ExpectedFrame::Binary,
            "Any" => ExpectedFrame::Any,
            other => {
                if !other.is_empty() && !other.contains("${") {
                    let message =
                        format!("unknown dataType {other}; expected Template, Binary or Any");
                    let help = "it is treated as Template; in JMeter each sample would fail";
                    ctx.warn(self.chain[0], "unknown-word", message, help);
                }
                let binary = matches!(self.flag(ctx, "binaryPayload", false), Flag::Fixed(true));
                if binary { ExpectedFrame::Binary } else { ExpectedFrame::Text }
            }
        }
    }

    fn ping(&self, ctx: &mut Context<'_>) -> Act {
        if self.word(ctx, "type", "PingPong") == "Pong" { Act::Pong } else { Act::PingPong }
    }

    /// Returns the comparison of a filter. If the comparison is a pattern, the `bool` is true if the pattern must match
    /// the whole string.
    fn comparison(&self, ctx: &mut Context<'_>) -> Result<(Comparison, Option<bool>), String> {
        let word = self.word(ctx, "comparisonType", "IsPlain");
        let (not, bare) = match word.strip_prefix("Not") {
            Some(bare) => (true, bare),
            None => (false, word.as_str()),
        };
        Ok(match bare {
            "IsPlain" if !not => (Comparison::Any, None),
            "Equals" => (Comparison::Equals { not }, None),
            "EqualsRegex" => (Comparison::Equals { not }, Some(true)),
            "Contains" => (Comparison::Contains { not }, None),
            "ContainsRegex" => (Comparison::Contains { not }, Some(false)),
            "StartsWith" => (Comparison::StartsWith { not }, None),
            "EndsWith" => (Comparison::EndsWith { not }, None),
            _ => return Err(no_constant("ComparisonType", &word)),
        })
    }

    fn text_test(&self, ctx: &mut Context<'_>, id: ElementId) -> Test {
        match self.comparison(ctx) {
            Ok((comparison, None)) => Test::Text(comparison, self.text(ctx, "matchValue", "")),
            Ok((comparison, Some(whole))) => {
                let not = matches!(
                    comparison,
                    Comparison::Equals { not: true } | Comparison::Contains { not: true }
                );
                let source = ctx.props(id).str("matchValue").unwrap_or("");
                let pattern = Pattern::compile(source, &mut ctx.text);
                ctx.settle(id);
                Test::Pattern { whole, not, pattern }
            }
            Err(unknown) => Test::Unknown(unknown),
        }
    }
}

impl WebSocket {
    /// True if the sampler is a hold sampler.
    pub(crate) fn is_hold(&self) -> bool {
        matches!(self.act, Act::Hold(_))
    }

    /// Copies cookie manager, filters, heartbeat and headers from `planned`, the sampler of the plan that this sampler
    /// replaces. `headers` replace the plan's headers unless this sampler sends a ping, a pong or a close frame.
    pub(crate) fn stands_for(&mut self, planned: &Self, headers: Option<Vec<Header>>) {
        self.cookies = planned.cookies;
        self.filters.clone_from(&planned.filters);
        self.heartbeat = planned.heartbeat;
        let sends = !matches!(self.act, Act::PingPong | Act::Pong | Act::Close);
        self.headers = match headers {
            Some(headers) if sends => headers,
            _ => planned.headers.clone(),
        };
        self.fixed = false;
    }

    fn nothing_varies(&self) -> bool {
        let texts = [
            &self.peer.server,
            &self.peer.port,
            &self.peer.path,
            &self.payload.data,
            &self.connect_timeout,
            &self.read_timeout,
            &self.close_status,
        ];
        let flags = [&self.peer.creates, &self.peer.secure, &self.optional];
        !matches!(self.act, Act::Exchange(_) | Act::Hold(_))
            && matches!(self.payload.from_file, Flag::Fixed(false))
            && texts.iter().all(|text| text.fixed().is_some())
            && flags.iter().all(|flag| matches!(flag, Flag::Fixed(_)))
            && self.headers.iter().all(|h| h.name.fixed().is_some() && h.value.fixed().is_some())
    }
}

/// Adds remarks for the user about the WebSocket heartbeat or hold that an element configures, and about unknown
/// properties of heartbeats and holds.
pub(crate) fn review(ctx: &mut Context<'_>, id: ElementId) {
    let (heart, hold) = (is_heartbeat(ctx, id), hold::is_one(ctx, id));
    if heart {
        ctx.remark(id, Level::Native, "a heartbeat for WebSocket connections; JMeter ignores it");
    }
    if hold {
        let above = ctx.doc.element(id).parent.filter(|above| is_pause(ctx, *above));
        if above.is_some() {
            let what = "the parent pause holds a WebSocket connection";
            ctx.remark(id, Level::Native, what);
        } else {
            let message = "these settings of a WebSocket hold are not below a pause";
            let help = "move them below a Flow Control Action with the action Pause";
            ctx.warn(id, "no-hold", message, help);
        }
    }
    for prop in ctx.props(id).iter().filter(|prop| prop.name.starts_with("throng.websocket.")) {
        if !heartbeat_knows(&prop.name) && !hold::knows(&prop.name) {
            let message = format!("{} is not a property of a heartbeat or a hold", prop.name);
            ctx.warn(
                id,
                "unknown-property",
                message,
                "throng explain websocket lists the properties",
            );
        }
    }
}
