//! Save Responses to a file: the core evaluates names and variables; the writer thread of result files writes the
//! files.
//!
//! Parts of a name may come from a server: values of extractors, and the content type that becomes the suffix. They
//! can never select a file outside of the folder that the plan and the properties set.

use std::sync::atomic::Ordering;

use plan::element::ResponseSaver;
use plan::plan::ListenerId;
use plan::result::SampleResult;

use crate::ids::UserId;
use crate::sample::reporting::Reporting;
use crate::shared::savers::place;

impl Reporting<'_, '_> {
    /// Saves a result and its sub-results.
    pub(crate) fn save_response(
        &mut self,
        index: UserId,
        id: ListenerId,
        saver: &ResponseSaver,
        result: &mut SampleResult,
    ) {
        self.save_one(index, id, saver, result, &mut 0);
    }

    fn save_one(
        &mut self,
        index: UserId,
        id: ListenerId,
        saver: &ResponseSaver,
        result: &mut SampleResult,
        nth: &mut usize,
    ) {
        let run = self.cx.run;
        let Some(start) = run.savers.get(id.0 as usize).and_then(Option::as_ref) else { return };
        let number = || {
            // Each process of a run uses every nth number, so that numbers are unique.
            let number = start.numbers.fetch_add(1, Ordering::Relaxed);
            number * u64::from(run.shard.count.max(1)) + u64::from(run.shard.index) + 1
        };
        let mut env = self.cx.env(index, &result.label);
        let file = saver.file(result, *nth, &start.stamp, start.digits, number, &mut env);
        *nth += 1;
        if let Some(file) = file {
            let path = place(&file, &run.settings.results.base_prefix, &run.base_dir);
            if start.root.as_ref().is_none_or(|root| root.holds(&path)) {
                result.file_name = path.display().to_string();
                self.sinks.rows.save(path, result.body.clone());
            } else {
                let name = self.cx.plan.listeners.get(id.0 as usize).map_or("", |l| &*l.name);
                self.sinks.rows.refuse(format!(
                    "{name}: the response is not saved to {}: the name contains extracted or received text and leads \
                    out of the folder that the plan names; allow it with throng.save.anywhere=true",
                    path.display()
                ));
            }
        }
        for at in 0..result.sub_count {
            self.save_one(index, id, saver, &mut result.subs[at], nth);
        }
    }
}
