//! A long answer on its way to where whoever asked has offered to put it. What is written there may wait for a disk, so it is
//! done in large pieces and on another thread.

use toolfold_wire::{Intake, Taken};

use crate::apart::apart;

/// What has more bytes is put away while it comes in, and in pieces of about so many.
pub(crate) const SPOOLED_OVER: usize = 1 << 20;

/// The answer to one request.
pub(crate) struct Spooling {
    pub(crate) id: u64,
    /// `None` where somebody stopped waiting in the middle: then it is lost.
    intake: Option<Box<dyn Intake>>,
}

impl Spooling {
    pub(crate) fn new(id: u64, intake: Box<dyn Intake>) -> Self {
        Spooling { id, intake: Some(intake) }
    }

    /// Puts more there. Where that has no room, everything comes back, if it can.
    pub(crate) async fn take(&mut self, bytes: Vec<u8>) -> Result<(), Option<Vec<u8>>> {
        let mut intake = self.intake.take().ok_or(None)?;
        let taking = move || {
            if intake.take(&bytes) {
                return Ok(intake);
            }
            let given = intake.give_back();
            Err(given.map(|mut all| {
                all.extend_from_slice(&bytes);
                all
            }))
        };
        self.intake = Some(apart(SPOOLED_OVER, taking).await?);
        Ok(())
    }

    /// The message, now that its last piece is there; `None` where it is lost.
    pub(crate) async fn finish(mut self, rest: Vec<u8>) -> Option<Taken> {
        if let Err(given) = self.take(rest).await {
            return given.map(Taken::Whole);
        }
        let intake = self.intake?;
        apart(SPOOLED_OVER, move || intake.end()).await
    }
}
