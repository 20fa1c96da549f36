//! A Java machine, in the process or beside it, for what of a plan only Java can do.
//!
//! | module | holds |
//! |---|---|
//! | `settings` | what a run asks for, as properties |
//! | `java`, `home`, `cache` | which Java and which JMeter there are |
//! | `artefacts`, `repository`, `install` | the set of jars that is fetched once |
//! | `bridge`, `class_path`, `options` | what the machine is started with |
//! | `listing` | which classes a class path has |
//! | `machine`, `child`, `carrier` | the machine in this process or in one of its own, and the way of bytes to it |
//! | `workers`, `seats`, `replies` | threads that run jobs, where they rest, when they wake cores |
//! | `tend`, `states` | who looks after them, and what he sees |
//! | `start` | all of it together |
//!
//! What the bytes mean is known to the engine and to the Java side (`java/`), not here. A plan that needs no Java loads nothing of it.

mod artefacts;
mod bridge;
mod cache;
mod carrier;
mod child;
mod class_path;
mod home;
mod install;
mod java;
mod listing;
mod machine;
mod options;
mod replies;
mod repository;
mod seats;
mod settings;
mod start;
mod states;
mod tend;
mod workers;

pub use artefacts::{VERSION, artefacts, plugins};
pub use cache::folder as cache_folder;
pub use class_path::ClassPath;
pub use home::{Home, HomeOrigin, NoHome, installed, variable as jmeter_home};
pub use install::{Installed, Progress, install, install_plugins, missing, missing_plugins};
pub use java::{Java, NoJava, OLDEST, Origin};
pub use repository::Repository;
pub use settings::{LEVELS, PROPERTIES, SEPARATOR, SYSTEM, Settings, THREADS};
pub use start::{Ready, Refusal, home, java, ready};
pub use workers::{EXITS, Workers};
