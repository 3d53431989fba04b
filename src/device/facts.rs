//! The list of everything that was looked for on a drive: what it says or why it is not known, from which file,
//! and what the user can do to learn it.

use crate::model::drive::{Fact, Reading, Unknown};

/// Facts of one drive, in the order in which they were looked for.
#[derive(Debug, Default)]
pub struct Facts(Vec<Fact>);

impl Facts {
    /// Adds what was read from `source`, shown by `show`. `remedy` is what helps when it is not known; a
    /// missing permission has its own.
    pub fn add<T>(
        &mut self,
        name: &str,
        source: impl Into<String>,
        reading: &Reading<T>,
        show: impl FnOnce(&T) -> String,
        remedy: Option<&str>,
    ) {
        let (value, unknown, remedy) = match reading {
            Reading::Known(value) => (Some(show(value)), None, None),
            Reading::Unknown(Unknown::NotPermitted) => {
                let root = "run the service as root, or give it read access to this file";
                (None, Some(Unknown::NotPermitted), Some(root.to_owned()))
            }
            Reading::Unknown(why) => (None, Some(why.clone()), remedy.map(str::to_owned)),
        };
        self.0.push(Fact { name: name.to_owned(), value, unknown, source: source.into(), remedy });
    }

    /// Adds a text as it was read.
    pub fn text(&mut self, name: &str, source: &str, reading: &Reading<String>) {
        self.add(name, source, reading, String::clone, None);
    }

    /// The list.
    #[must_use]
    pub fn into_list(self) -> Vec<Fact> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remedy_is_given_only_for_what_is_not_known() {
        let mut facts = Facts::default();
        facts.add("a", "/sys/a", &Reading::Known(1), ToString::to_string, Some("buy another"));
        facts.add("b", "/sys/b", &Reading::<u8>::Unknown(Unknown::Absent), ToString::to_string, Some("buy another"));
        facts.add("c", "/sys/c", &Reading::<u8>::Unknown(Unknown::NotPermitted), ToString::to_string, None);
        let list = facts.into_list();
        assert_eq!((list[0].value.as_deref(), list[0].remedy.as_deref()), (Some("1"), None));
        assert_eq!((list[1].value.as_deref(), list[1].remedy.as_deref()), (None, Some("buy another")));
        assert!(list[2].remedy.as_deref().unwrap().contains("root"));
    }
}
