//! The variable `__jm__<name>__idx`, which holds the number of completed rounds of a loop.

use crate::flow::visit::Visit;

impl Visit<'_, '_> {
    /// Sets a loop's index variable, if the plan mentions it.
    #[inline]
    pub(crate) fn write_index(&mut self) {
        let controller = self.controller;
        let is_named = controller.parent.is_some() && controller.name.fixed().is_none();
        if (is_named || controller.index.is_some()) && controller.kind.iterates() {
            self.write_count(is_named);
        }
    }

    fn write_count(&mut self, is_named: bool) {
        let count = self.state().count();
        if is_named {
            return self.write_named_index(count);
        }
        let Some(variable) = self.controller.index else { return };
        let text = self.cx.users.of(self.index).vars.write(variable);
        text.clear();
        text.push_str(itoa::Buffer::new().format(count));
    }

    /// Evaluates the name of a loop that is an expression, and sets its index variable.
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
