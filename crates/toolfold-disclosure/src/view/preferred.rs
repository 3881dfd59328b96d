//! Hits of preferred servers before those that do the same: once, where hits are made, so that every surface, every page
//! and every length of an answer has one order.
//!
//! What a reader would get wrong: it is not the server that comes first. What does something else stays where it is, and so
//! does what fits so little that it is not among the first hits.

use toolfold_core::ServerName;
use toolfold_index::{Found, Hit, Query};

use super::View;
use super::same::Deed;
use crate::level::lines;

/// Hits that are put in order. Nobody means what is further behind.
const ORDERED: usize = 30;
/// Hits among which there are so many answers, unless hardly anything is one.
const LOOKED_AT: usize = 4 * ORDERED;

impl<'a> View<'a> {
    /// The place of a server among the preferred; a number beyond all of them where it is none.
    fn preference(&self, server: &ServerName) -> usize {
        self.preferred.iter().position(|preferred| preferred == server).unwrap_or(usize::MAX)
    }

    /// What is found, in the order of whoever prefers a server.
    pub(super) fn found_in_order(&self, query: &Query<'_>) -> Found {
        let is_preferred = self.preferred.iter().any(|server| self.of_server(server).next().is_some());
        if !is_preferred || query.text.trim().is_empty() {
            return self.index.search(self.catalog, query);
        }
        let end = query.offset.saturating_add(query.limit);
        let most = if query.answers_only { ORDERED } else { LOOKED_AT };
        let whole = Query { offset: 0, limit: end.max(most), ..query.clone() };
        let mut found = self.index.search(self.catalog, &whole);
        // What is no answer by itself is on the first page alone: the answers around it have the order of every page.
        let is_ordered = |hit: &Hit| hit.is_answer || found.answers == 0;
        let places: Vec<usize> =
            (0..found.hits.len()).filter(|at| is_ordered(&found.hits[*at])).take(ORDERED).collect();
        let mut hits: Vec<Hit> = places.iter().map(|at| found.hits[*at].clone()).collect();
        self.put_in_order(query, &mut hits);
        places.into_iter().zip(hits).for_each(|(at, hit)| found.hits[at] = hit);
        found.hits.truncate(end);
        found.hits.drain(..query.offset.min(found.hits.len()));
        found
    }

    /// What comes before another one is as likely what was asked for.
    fn put_in_order(&self, query: &Query<'_>, hits: &mut [Hit]) {
        let mut deeds: Vec<Deed<'a>> = hits.iter().map(|hit| Deed::of(self, hit.entry)).collect();
        let rank = |hit: &Hit| self.preference(self.entry(hit.entry).server());
        // A list that is broken has tools that take nothing.
        let takes_nothing = |hit: &Hit| lines(self.entry(hit.entry)).signature.as_deref() == Some("");
        for place in 1..hits.len() {
            let leads = |before: &usize| {
                let (own, other) = (&deeds[place], &deeds[*before]);
                rank(&hits[place]) < rank(&hits[*before])
                    && (takes_nothing(&hits[*before]) || !takes_nothing(&hits[place]))
                    && own.may_lead(other)
                    && !own.is_passed_over(other, query.text)
            };
            let Some(before) = (0..place).find(leads) else { continue };
            hits[before..=place].rotate_right(1);
            deeds[before..=place].rotate_right(1);
            hits[before].confidence = hits[before].confidence.max(hits[before + 1].confidence);
            hits[before].explain.preferred_to = Some(hits[before + 1].entry);
        }
    }
}
