//! The JVM for the elements of a plan that only Java can run, in this process or in a child process.
//!
//! | module | holds |
//! |---|---|
//! | `settings` | the run's settings, as properties |
//! | `java`, `home`, `cache` | search for a Java and a JMeter |
//! | `artefacts`, `repository`, `install` | the set of jars that is fetched once |
//! | `bridge`, `class_path`, `options` | the bridge's jar, and the class path and options of the JVM |
//! | `listing` | the classes on a class path |
//! | `machine`, `child`, `carrier` | the JVM in this process or in a child process, and the transport of bytes to either |
//! | `workers`, `parked`, `wake_batch` | threads that run jobs, the stack of parked ones, batching of core wake-ups |
//! | `supervisor`, `thread_states` | the supervisor of the pool, and the thread states it reads |
//! | `memory` | the heap and its garbage collections, read twice a second |
//! | `start` | finding Java and JMeter, and starting the JVM |
//! | `window` | the plug-in for JMeter's window, installed into a JMeter |
//!
//! The bytes of messages have a meaning for the engine and for the Java side (`java/`) only, not for this crate. A plan
//! that needs no Java loads none of this.

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
mod memory;
mod options;
mod parked;
mod repository;
mod settings;
mod start;
mod supervisor;
mod thread_states;
mod wake_batch;
mod window;
mod workers;

pub use artefacts::{VERSION, artefacts, plugins};
pub use cache::folder as cache_folder;
pub use class_path::ClassPath;
pub use home::{Home, HomeOrigin, NoHome, installed, variable as jmeter_home};
pub use install::{Installed, Progress, install, install_plugins, missing, missing_plugins};
pub use java::{Java, NoJava, OLDEST, Origin};
pub use repository::Repository;
pub use settings::{LEVELS, OPTIONS, PROPERTIES, SEPARATOR, SYSTEM, Settings, THREADS};
pub use start::{Ready, Refusal, home, java, ready};
pub use window::{Change, Window, install_plugin, remove_plugin};
pub use workers::{EXITS, Workers};
