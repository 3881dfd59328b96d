//! The check against another implementation, and against schemas that are meant to never end.

mod agreement;
mod hostile;
mod table;
