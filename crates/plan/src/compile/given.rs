//! Compiles a native sampler during the run, because scripts have changed its Java object.
//!
//! Java sends the object's properties as an XML element with all expressions evaluated. The compiler of the sampler's
//! class reads it like an element of the plan, but treats each expression as literal. State that belongs to the plan
//! (filters, heartbeat, cookie jar, data kept for a user) is taken from the planned sampler. HTTP Requests have a
//! separate format ([`crate::http::ScriptedRequest`]). Cost: one pass over a few hundred bytes for each sample that a
//! script has changed.

use super::Context;
use crate::element;
use crate::http::Header;
use crate::java_backed::Owner;
use crate::plan::{Managers, Plan, SamplerId, SamplerKind};
use crate::template::Template;
use crate::websocket::Around;

/// A sampler as changed by scripts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptedSampler {
    /// XML of the element with its properties.
    pub xml: String,
    /// Headers of the sampler, if a Header Manager is in its scope.
    pub headers: Option<Vec<(String, String)>>,
    /// Name of the sample, if scripts have changed it.
    pub name: Option<String>,
    /// True if headers that several samplers share now differ from the plan.
    pub lasting: bool,
}

/// Compiles the sampler from its object in Java. If the changed sampler has no native form, its own class runs it.
/// `None` if the sampler runs as planned.
pub fn given(plan: &Plan, id: SamplerId, given: &ScriptedSampler) -> Option<SamplerKind> {
    let owner = plan.java_backed.owner(id)?;
    let planned = &plan.samplers[id.0 as usize].kind;
    match planned {
        SamplerKind::Http(_) | SamplerKind::Parallel(_) | SamplerKind::JavaBacked(_) => {
            return None;
        }
        // A hold sampler consists of the children of its action, which scripts cannot change.
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

fn compiled(plan: &Plan, owner: &Owner, given: &ScriptedSampler) -> Option<SamplerKind> {
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
