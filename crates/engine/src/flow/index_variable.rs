//! The variable `__jm__<name>__idx`, which tells samplers in a loop how often that has run.

use crate::flow::visit::Visit;

impl Visit<'_, '_> {
    /// Sets a loop's index variable, if the plan mentions it.
    pub(crate) fn write_index(&mut self) {
        if !self.controller.kind.iterates() {
            return;
        }
        let count = self.state().count();
        if self.controller.name.fixed().is_none() && self.controller.parent.is_some() {
            return self.write_named_index(count);
        }
        let Some(variable) = self.controller.index else { return };
        let text = self.cx.users.of(self.index).vars.write(variable);
        text.clear();
        text.push_str(itoa::Buffer::new().format(count));
    }

    /// Sets the index variable of a loop whose name is an expression, which is evaluated for it.
    fn write_named_index(&mut self, count: i32) {
        let mut name = self.cx.texts.take();
        name.push_str("__jm__");
        self.controller.name.eval(&mut self.env(), &mut name);
        name.push_str("__idx");
        if !self.cx.has_thrown() {
            let value = itoa::Buffer::new().format(count).to_owned();
            self.cx.users.of(self.index).vars.set_named(&self.cx.plan.names, &name, &value);
        }
        self.cx.texts.give(name);
    }
}
