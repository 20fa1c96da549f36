//! Inter-Thread Communication PostProcessor of the jp@gc plug-ins: puts a string into a queue that all users share.

use jmx::Props;

use crate::env::Env;
use crate::template::{Template, TemplateCompiler};

/// A compiled FIFO Put Post-Processor.
#[derive(Debug)]
pub struct FifoPut {
    queue: Template,
    value: Template,
}

pub(super) fn compile(props: &Props, compiler: &mut TemplateCompiler) -> FifoPut {
    let mut text = |name: &str| Template::compile(props.str(name).unwrap_or(""), compiler);
    FifoPut { queue: text("FifoName"), value: text("Value") }
}

impl FifoPut {
    /// Runs the post-processor.
    pub fn run(&self, env: &mut Env<'_>) {
        let (mut queue, mut value) = (env.core.take(), env.core.take());
        self.queue.eval(env, &mut queue);
        self.value.eval(env, &mut value);
        env.shared.queues().put(&queue, &value);
        env.core.give(queue);
        env.core.give(value);
    }
}
