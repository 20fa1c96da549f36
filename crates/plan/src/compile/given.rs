//! A native sampler as scripts have left its object in Java, compiled while the run goes on.
//!
//! Java sends the object's properties as an element, with all expressions evaluated; the compiler of the sampler's class reads it like one of a plan, but takes each text as it
//! is. What belongs to the plan and not to the element (filters, heartbeat, jar, what a user keeps) comes from the planned sampler. HTTP Requests have a form of their own
//! ([`crate::http::Given`]). Costs one pass over a few hundred bytes for each sample that a script has changed.

use super::Context;
use crate::element;
use crate::http::Header;
use crate::java_backed::Owner;
use crate::plan::{Managers, Plan, SamplerId, SamplerKind};
use crate::template::Template;
use crate::websocket::Around;

/// A sampler as scripts have left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenSampler {
    /// The element with its properties, as XML.
    pub xml: String,
    /// Its headers, if it has a header manager in scope.
    pub headers: Option<Vec<(String, String)>>,
    /// The name of the sample, if scripts have changed it.
    pub name: Option<String>,
    /// Headers that samplers share are not the plan's any more.
    pub lasting: bool,
}

/// The sampler that an object in Java has become. Where there is no native form of that its own class runs it. `None`: it runs as planned.
pub fn given(plan: &Plan, id: SamplerId, given: &GivenSampler) -> Option<SamplerKind> {
    let owner = plan.java_backed.owner(id)?;
    let planned = &plan.samplers[id.0 as usize].kind;
    match planned {
        SamplerKind::Http(_) | SamplerKind::Parallel(_) | SamplerKind::JavaBacked(_) => {
            return None;
        }
        // A hold is made of what stands below the action.
        SamplerKind::WebSocket(socket) if socket.is_hold() => return None,
        SamplerKind::Script(_) => return Some(SamplerKind::JavaBacked(owner.element)),
        _ => {}
    }
    let mut made = compiled(plan, owner, given)?;
    match (&mut made, planned) {
        (SamplerKind::WebSocket(made), SamplerKind::WebSocket(planned)) => {
            let headers = given.headers.as_ref().map(|headers| {
                headers.iter().map(|(name, value)| Header {
                    name: Template::Fixed(name.as_str().into()),
                    value: Template::Fixed(value.as_str().into()),
                    inherited: false,
                })
            });
            made.stands_for(planned, headers.map(Iterator::collect));
        }
        (SamplerKind::Java(made), SamplerKind::Java(planned)) => made.stands_for(planned),
        _ => {}
    }
    Some(made)
}

fn compiled(plan: &Plan, owner: &Owner, given: &GivenSampler) -> Option<SamplerKind> {
    let settings = plan.java_backed.settings.as_ref()?;
    let text = format!(
        "<jmeterTestPlan version=\"1.2\" properties=\"5.0\"><hashTree>{}<hashTree/></hashTree></jmeterTestPlan>",
        given.xml
    );
    let (doc, _) = jmx::parse("", text.into_bytes()).ok()?;
    let root = *doc.roots().first()?;
    let mut ctx = Context::new(&doc, settings);
    ctx.text.literal = true;
    let made = element::sampler(&mut ctx, root, &[], Managers::default(), Around::default());
    made.or(Some(SamplerKind::JavaBacked(owner.element)))
}
