//! Regular expressions as JMeter understands them.
