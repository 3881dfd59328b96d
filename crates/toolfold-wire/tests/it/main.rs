//! What crosses the wire: frames, events, headers.

mod events;
mod frames;
mod headers;
