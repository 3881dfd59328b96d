//! Where what must outlive the process is kept: a file of this machine, or a database that several replicas share.
//!
//! What a reader would get wrong: the address of a database holds a password. It is shown without it, however it is
//! printed, and only whoever connects may see it whole.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::Secret;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorePlace {
    File(PathBuf),
    Database(DatabaseUrl),
}

impl StorePlace {
    pub fn file(&self) -> Option<&Path> {
        match self {
            StorePlace::File(path) => Some(path),
            StorePlace::Database(_) => None,
        }
    }

    pub fn database(&self) -> Option<&DatabaseUrl> {
        match self {
            StorePlace::File(_) => None,
            StorePlace::Database(url) => Some(url),
        }
    }
}

impl From<PathBuf> for StorePlace {
    fn from(path: PathBuf) -> Self {
        StorePlace::File(path)
    }
}

impl fmt::Display for StorePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StorePlace::File(path) => write!(f, "{}", path.display()),
            StorePlace::Database(url) => write!(f, "{url}"),
        }
    }
}

/// `postgres://user:password@host:port/database?…`
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(Secret);

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

impl DatabaseUrl {
    /// `None` where the text is no address of a database, but perhaps a path.
    pub fn parse(text: &str) -> Option<Self> {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme)).then(|| DatabaseUrl(Secret::new(text)))
    }

    /// The whole of it, for whoever connects.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// The password in it, so that it can be kept out of everything that is written down.
    pub fn password(&self) -> Option<Secret> {
        let (authority, _) = self.parts();
        let (user, _) = authority.rsplit_once('@')?;
        let (_, password) = user.split_once(':')?;
        (!password.is_empty()).then(|| Secret::new(password))
    }

    /// Who and where, and the path; what is behind a question mark may hold a password too, and is in neither.
    fn parts(&self) -> (&str, &str) {
        let text = self.expose();
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        // A password may hold a slash or a question mark that nobody escaped: everything before the last `@` is who.
        let host = rest.rfind('@').map_or(0, |at| at + 1);
        let end = rest[host..].find(['/', '?']).map_or(rest.len(), |end| host + end);
        let path = rest[end..].split('?').next().unwrap_or_default();
        (&rest[..end], path)
    }
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (authority, path) = self.parts();
        match authority.rsplit_once('@') {
            Some((user, host)) => {
                let user = user.split(':').next().unwrap_or_default();
                write!(f, "postgres://{user}@{host}{path}")
            }
            None => write!(f, "postgres://{authority}{path}"),
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for (whole, shown) in [
            ("postgres://ada:sesame@db.example:5432/tools?sslmode=require", "postgres://ada@db.example:5432/tools"),
            ("postgresql://ada:ses@me/x?y@db/tools", "postgres://ada@db/tools"),
            ("postgres://ada@db/tools?password=sesame", "postgres://ada@db/tools"),
            ("postgres:///tools?host=/run/postgresql&password=sesame", "postgres:///tools"),
            ("postgres://:sesame@db", "postgres://@db"),
        ] {
            let url = DatabaseUrl::parse(whole).unwrap();
            assert_eq!((url.to_string().as_str(), format!("{url:?}").as_str()), (shown, shown));
            assert!(!format!("{:?}", StorePlace::Database(url.clone())).contains("ses"), "{whole}");
            assert_eq!(url.expose(), whole);
        }
        assert_eq!(DatabaseUrl::parse("postgres://a:b@c/d").unwrap().password().unwrap().expose(), "b");
        assert_eq!(DatabaseUrl::parse("/var/lib/toolfold.db"), None);
    }
}
