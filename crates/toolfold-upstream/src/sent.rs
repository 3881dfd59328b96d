//! A request as its connection is given it.

use toolfold_core::Principal;
use toolfold_wire::{Object, Raw};

use crate::owner::Owner;

/// The parameters of a request.
#[derive(Default)]
pub(crate) enum Params<'a> {
    #[default]
    None,
    Lent(&'a Object),
    /// Gone once the server has them: its answer may take long, and they may be large.
    Given(&'a mut Option<Object>),
}

impl Params<'_> {
    pub(crate) fn get(&self) -> Option<&Object> {
        match self {
            Params::None => None,
            Params::Lent(params) => Some(params),
            Params::Given(params) => params.as_ref(),
        }
    }

    pub(crate) fn let_go(&mut self) {
        if let Params::Given(params) = self {
            **params = None;
        }
    }
}

impl<'a> From<Option<&'a Object>> for Params<'a> {
    fn from(params: Option<&'a Object>) -> Self {
        params.map_or(Params::None, Params::Lent)
    }
}

#[derive(Default)]
pub(crate) struct Request<'a> {
    pub(crate) method: &'a str,
    pub(crate) params: Params<'a>,
    pub(crate) capabilities: Option<&'a Raw>,
    pub(crate) owner: Option<Owner>,
    /// Who asks; `None`: Toolfold itself.
    pub(crate) principal: Option<&'a Principal>,
    pub(crate) background: bool,
}
