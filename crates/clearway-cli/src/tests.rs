//! Whole commands against an engine in memory.
