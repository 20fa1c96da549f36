//! Parameterized Controller: sets variables each time it is asked for the next sampler.

use plan::element::Parameters;

use crate::flow::search::Pull;
use crate::flow::visit::Visit;

/// Sets the controller's variables.
pub(crate) fn before(visit: &mut Visit<'_, '_>, parameters: &Parameters) -> Option<Pull> {
    parameters.set(&mut visit.env());
    None
}
