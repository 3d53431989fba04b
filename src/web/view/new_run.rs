//! Choosing a profile and its parameters.

use askama::Template;
use serde_json::{Map, Value};

use super::{Frame, format};
use crate::model::drive::Drive;
use crate::model::options::RunOptions;
use crate::model::parameters::{FieldError, Kind, Parameter};
use crate::model::profile::Profile;
use crate::model::run::RefusedReason;

/// A profile, and why it cannot be run on a drive now.
#[derive(Debug, Clone)]
pub struct ProfileChoice<'a> {
    /// The profile.
    pub profile: Profile,
    /// Everything that speaks against it; empty when it may be run.
    pub refused: &'a [RefusedReason],
}

impl ProfileChoice<'_> {
    /// Whether it overwrites what is on the drive: `None` when a parameter decides.
    #[must_use]
    pub fn writes(&self) -> Option<bool> {
        self.profile.writes()
    }
}

/// `GET /drives/{id}/runs/new?profile=…`, and again with errors when a plan was refused.
#[derive(Template)]
#[template(path = "new_run.html")]
pub struct NewRunPage<'a> {
    /// Around the page.
    pub frame: Frame<'a>,
    /// The drive.
    pub drive: &'a Drive,
    /// Every profile.
    pub profiles: &'a [ProfileChoice<'a>],
    /// The one whose form is shown.
    pub chosen: Option<Profile>,
    /// What was given before, to be shown again.
    pub given: &'a Map<String, Value>,
    /// What was wrong with it.
    pub errors: &'a [FieldError],
}

/// One field of the form.
struct Field {
    parameter: Parameter,
    given: String,
    error: Option<String>,
}

impl Field {
    fn words(&self) -> &'static [&'static str] {
        match self.parameter.kind {
            Kind::Choice { words } => words,
            Kind::Flag => &["false", "true"],
            Kind::Bytes { .. } | Kind::Integer { .. } | Kind::Text { .. } => &[],
        }
    }

    fn required(&self) -> bool {
        self.parameter.default == "required"
    }

    /// A default that is a value stands in the empty field; one in words stands below it.
    fn placeholder(&self) -> &'static str {
        if self.parameter.default.contains(' ') { "" } else { self.parameter.default }
    }

    /// The bounds in words; none where they are those of the number type.
    fn range(&self) -> Option<String> {
        let told = |number: u64| if number == 0 { "0".to_owned() } else { format::grouped(number) };
        match self.parameter.kind {
            Kind::Choice { .. } | Kind::Flag | Kind::Text { .. } => None,
            Kind::Integer { min, max: u64::MAX } => Some(format!("{} or more", told(min))),
            Kind::Integer { min, max } => Some(format!("{} to {}", told(min), told(max))),
            Kind::Bytes { .. } => Some("Bytes, or with k, m, g, t (powers of 1024)".to_owned()),
        }
    }
}

impl NewRunPage<'_> {
    fn fields(&self, profile: &Profile) -> Vec<Field> {
        let fields = profile.parameters().into_iter().map(|parameter| {
            let names = [Some(parameter.name), parameter.alias];
            let mut names = names.into_iter().flatten();
            let given = names.clone().find_map(|name| self.given.get(name)).map(text).unwrap_or_default();
            let error = names.find_map(|name| self.error_of(name));
            Field { parameter, given, error }
        });
        fields.collect()
    }

    /// When it may go, and what it may use up: the same for every profile.
    fn options(&self) -> Vec<Field> {
        let fields = RunOptions::PARAMETERS.into_iter().map(|parameter| {
            let name = format!("{OPTIONS}{}", parameter.name);
            let given = self.given.get(&name).map(text).unwrap_or_default();
            let error = self.errors.iter().find(|error| error.field == name).map(|error| error.detail.clone());
            Field { parameter, given, error }
        });
        fields.collect()
    }

    /// Whether the fields of the options are to be seen at once.
    fn options_open(&self) -> bool {
        self.options().iter().any(|field| field.error.is_some() || !field.given.is_empty())
    }

    fn error_of(&self, name: &str) -> Option<String> {
        let field = format!("parameters.{name}");
        self.errors.iter().find(|error| error.field == field).map(|error| error.detail.clone())
    }

    /// Errors that belong to no field of the form.
    fn other_errors(&self) -> Vec<&FieldError> {
        let mut fields = self.chosen.map(|profile| self.fields(&profile)).unwrap_or_default();
        fields.extend(self.options());
        let shown = |error: &FieldError| fields.iter().any(|field| field.error.as_deref() == Some(&error.detail));
        self.errors.iter().filter(|error| !shown(error)).collect()
    }
}

/// A parameter's value as it stands in a form field.
pub(super) fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// What an option's name begins with in a form.
const OPTIONS: &str = "options.";

/// The profile's parameters and the options, of what [`parameters_of_form`] gave.
#[must_use]
pub fn parted(given: &Map<String, Value>) -> (Map<String, Value>, Map<String, Value>) {
    let (mut parameters, mut options) = (Map::new(), Map::new());
    for (name, value) in given {
        match name.strip_prefix(OPTIONS) {
            Some(option) => options.insert(option.to_owned(), value.clone()),
            None => parameters.insert(name.clone(), value.clone()),
        };
    }
    (parameters, options)
}

/// The parameters and options of a submitted form: every pair but those the form needs for itself, empty
/// fields left out (an empty field asks for the default).
#[must_use]
pub fn parameters_of_form(pairs: impl IntoIterator<Item = (String, String)>) -> Map<String, Value> {
    pairs
        .into_iter()
        .filter(|(name, value)| !matches!(name.as_str(), "drive" | "profile" | "confirm") && !value.trim().is_empty())
        .map(|(name, value)| (name, Value::String(value)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_field_asks_for_the_default() {
        let pairs = [("profile", "custom"), ("rw", "read"), ("bs", " "), ("confirm", "X"), ("options.priority", "9")];
        let map = parameters_of_form(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let (parameters, options) = parted(&map);
        assert_eq!(Value::Object(parameters), serde_json::json!({ "rw": "read" }));
        assert_eq!(Value::Object(options), serde_json::json!({ "priority": "9" }));
    }
}
