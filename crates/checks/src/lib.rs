//! What can be said about a program before it runs.
