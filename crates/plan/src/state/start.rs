//! The variables with which users start: first the variables that JMeter sets, then User Defined Variables.

use crate::env::Env;
use crate::plan::Plan;
use crate::template::Template;
use crate::vars::Initial;

/// Names of the variables that JMeter sets for every user. `__jmv_SAME_USER` says that users stay the same between
/// iterations.
pub(crate) const START_VARIABLES: [&str; 5] =
    ["START.MS", "START.YMD", "START.HMS", "TESTSTART.MS", "__jmv_SAME_USER"];

/// JMeter property with the start time of the test, in ms since 1970.
const TEST_START: &str = "TESTSTART.MS";

/// Templates of the values of [`START_VARIABLES`], in the same order. A property with the name of the variable takes
/// precedence.
const VALUES: [&str; 5] =
    ["${__time()}", "${__time(yyyyMMdd)}", "${__time(HHmmss)}", "${__time()}", "true"];

impl Plan {
    /// Evaluates User Defined Variables, block by block. Their values also remain in the variables of `env`, so
    /// that later evaluations for the run can read them.
    pub fn initial_variables(&self, env: &mut Env<'_>) -> Initial {
        self.initial_variables_after(env, |_, _| {})
    }

    /// Evaluates User Defined Variables like `initial_variables`, but calls `before` with the index of each block of
    /// [`Plan::variables`] before evaluating it.
    pub fn initial_variables_after(
        &self,
        env: &mut Env<'_>,
        mut before: impl FnMut(usize, &mut Env<'_>),
    ) -> Initial {
        let mut initial = Initial::default();
        env.shared.set_property(TEST_START, &env.now_ms().to_string());
        for (name, source) in START_VARIABLES.iter().zip(VALUES) {
            let Some(id) = env.names.find(name) else { continue };
            let mut value = String::new();
            match env.shared.property(name) {
                Some(of_start) => value.push_str(&of_start),
                None => {
                    let text = Template::compile_late(source, env.names, &mut Vec::new());
                    text.eval(env, &mut value);
                }
            }
            env.vars.set(id, &value);
            initial.set(id, &value);
        }
        let mut values = Vec::new();
        for (at, block) in self.variables.iter().enumerate() {
            before(at, env);
            values.clear();
            for (_, text) in block {
                let mut value = String::new();
                text.eval(env, &mut value);
                values.push(value);
            }
            for ((id, _), value) in block.iter().zip(&values) {
                env.vars.set(*id, value);
                initial.set(*id, value);
            }
        }
        initial
    }
}
