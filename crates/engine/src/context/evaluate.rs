//! Evaluates a sampler's templates and its name, which expressions can read. Hot.

use plan::env::Env;
use plan::plan::SamplerId;
use plan::result::SampleResult;
use plan::template::Template;

use crate::context::Context;
use crate::ids::UserId;
use crate::time::timing::Timing;

impl Context<'_> {
    /// Runs `work` with the user's environment.
    pub(crate) fn with_env<T>(
        &mut self,
        index: UserId,
        id: SamplerId,
        work: impl FnOnce(&mut Env<'_>) -> T,
    ) -> T {
        let name = self.take_name(index, id);
        let value = work(&mut self.env(index, &name));
        self.give_name(name);
        value
    }

    /// Evaluates a template of the sampler and returns its value.
    pub(crate) fn text_of(&mut self, index: UserId, id: SamplerId, text: &Template) -> String {
        let mut value = String::new();
        self.with_env(index, id, |env| text.eval(env, &mut value));
        value
    }

    /// Returns the name of a user's sampler for use in expressions. [`Context::give_name`] returns the buffer for
    /// reuse.
    pub(crate) fn take_name(&mut self, index: UserId, id: SamplerId) -> String {
        let plan = self.plan;
        let text = &plan.samplers[id.0 as usize].name;
        if text.calls() && self.own_label(index).is_none() {
            self.texts.sampler = Some(text.clone());
        }
        let mut name = self.texts.take();
        name.push_str(self.sampler_name(index, id));
        name
    }

    pub(crate) fn give_name(&mut self, name: String) {
        self.texts.sampler = None;
        self.texts.give(name);
    }

    /// Returns the times of a sample that begins now: its start, its wait since the intended start, and an end that is
    /// preliminary unless the sample ends immediately.
    pub(crate) fn begin_timing(&mut self, index: UserId) -> Timing {
        let start = self.clock.now();
        let wait = (start - self.users[index].intended).max(0) as u64;
        Timing { start, end: start, wait, ..Timing::default() }
    }

    /// Returns an empty result with the name of a user's sampler and the start time of its sample.
    pub(crate) fn begin_result(
        &mut self,
        index: UserId,
        id: SamplerId,
        timing: &Timing,
    ) -> Box<SampleResult> {
        let mut result = self.take_named_result(index, id);
        result.start_ms = self.clock.wall_ms(timing.start);
        result
    }

    /// Evaluates the name of a sampler, and stores it for the user.
    pub(crate) fn name_sampler(&mut self, index: UserId, id: SamplerId) {
        let plan = self.plan;
        let sampler = &plan.samplers[id.0 as usize];
        let mut name = std::mem::take(&mut self.users[index].extra().sampler_name);
        name.clear();
        self.texts.naming = true;
        sampler.name.eval(&mut self.env(index, ""), &mut name);
        self.texts.naming = false;
        self.users[index].extra().sampler_name = name;
    }
}
