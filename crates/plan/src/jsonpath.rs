//! JSONPath in the dialect of Jayway.
