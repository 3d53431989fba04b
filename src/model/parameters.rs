//! Reading a profile's parameters: every mistake is collected, each with its field's name.

use parse_size::Config;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::units::Bytes;

const EXPECTED: &str = "must be a number of bytes: a whole number, or text such as \"4k\", \"1m\", \"64g\"";

/// Something is wrong with one field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldError {
    /// The field, as it was written: `parameters.bs`.
    pub field: String,
    /// What is wrong with it and what would be right.
    pub detail: String,
}

impl FieldError {
    /// An error of `field`.
    #[must_use]
    pub fn new(field: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { field: field.into(), detail: detail.into() }
    }
}

/// What a parameter holds, and within which bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "type")]
pub enum Kind {
    /// Bytes: a whole number, or a string with fio's suffix (`4k`, `1m`, `64g`; powers of 1024).
    Bytes {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// A whole number.
    Integer {
        /// Smallest.
        min: u64,
        /// Largest.
        max: u64,
    },
    /// One of these words.
    Choice {
        /// The words.
        words: &'static [&'static str],
    },
    /// `true` or `false`.
    Flag,
    /// Text in a form of its own, which the help tells.
    Text {
        /// Most bytes.
        max: usize,
    },
}

/// One parameter of a profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Parameter {
    /// Its name in JSON, with its unit.
    pub name: &'static str,
    /// fio's own spelling, also taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<&'static str>,
    /// What it holds.
    #[serde(flatten)]
    pub kind: Kind,
    /// What it is when absent, for a person.
    pub default: &'static str,
    /// What it does.
    pub help: &'static str,
}

/// Reads the parameters of one request against a profile's list.
pub struct Reader<'a> {
    /// The object that holds the fields: `parameters`.
    within: &'static str,
    given: &'a Map<String, Value>,
    errors: Vec<FieldError>,
}

impl<'a> Reader<'a> {
    /// Checks every given name against `known`, and each value against its bounds.
    #[must_use]
    pub fn new(given: &'a Map<String, Value>, known: &[Parameter]) -> Self {
        Self::of("parameters", given, known)
    }

    /// The same for the fields of another object of a request.
    #[must_use]
    pub fn of(within: &'static str, given: &'a Map<String, Value>, known: &[Parameter]) -> Self {
        let mut reader = Self { within, given, errors: Vec::new() };
        for (name, value) in given {
            match known.iter().find(|parameter| parameter.name == name || parameter.alias == Some(name)) {
                Some(parameter) => reader.check(name, value, parameter.kind),
                None => {
                    let names: Vec<_> = known.iter().map(|parameter| parameter.name).collect();
                    reader.refuse(name, format!("is not known here; there are {}", names.join(", ")));
                }
            }
        }
        for parameter in known {
            if let Some(alias) = parameter.alias
                && given.contains_key(alias)
                && given.contains_key(parameter.name)
            {
                reader.refuse(alias, format!("is given twice: also as {}", parameter.name));
            }
        }
        reader
    }

    fn check(&mut self, name: &str, value: &Value, kind: Kind) {
        let problem = match kind {
            Kind::Bytes { min, max } => match bytes_of(value) {
                Err(problem) => Some(problem),
                Ok(bytes) if bytes < min || bytes > max => Some(format!("is {bytes}, must be {min} to {max} bytes")),
                Ok(_) => None,
            },
            Kind::Integer { min, max } => match integer_of(value) {
                None => Some(format!("must be a whole number, {min} to {max}")),
                Some(number) if number < min || number > max => Some(format!("is {number}, must be {min} to {max}")),
                Some(_) => None,
            },
            Kind::Choice { words } => match value.as_str() {
                Some(word) if words.contains(&word) => None,
                _ => Some(format!("must be one of {}", words.join(", "))),
            },
            Kind::Flag => flag_of(value).is_none().then(|| "must be true or false".to_owned()),
            Kind::Text { max } => match value.as_str() {
                Some(text) if text.len() <= max => None,
                Some(text) => Some(format!("has {} bytes, must be at most {max}", text.len())),
                None => Some("must be text".to_owned()),
            },
        };
        if let Some(problem) = problem {
            self.refuse(name, problem);
        }
    }

    fn lookup(&self, parameter: &Parameter) -> Option<&'a Value> {
        self.given.get(parameter.name).or_else(|| self.given.get(parameter.alias?))
    }

    /// The name under which `parameter` was given (or would be), for messages.
    #[must_use]
    pub fn spelled(&self, parameter: &Parameter) -> &'static str {
        match parameter.alias {
            Some(alias) if self.given.contains_key(alias) => alias,
            _ => parameter.name,
        }
    }

    /// Whether it was given at all.
    #[must_use]
    pub fn is_given(&self, parameter: &Parameter) -> bool {
        self.lookup(parameter).is_some()
    }

    /// A number of bytes, if given and well formed.
    #[must_use]
    pub fn bytes(&self, parameter: &Parameter) -> Option<Bytes> {
        bytes_of(self.lookup(parameter)?).ok().map(Bytes)
    }

    /// A whole number, if given and well formed.
    #[must_use]
    pub fn integer(&self, parameter: &Parameter) -> Option<u64> {
        integer_of(self.lookup(parameter)?)
    }

    /// A word, if given.
    #[must_use]
    pub fn word(&self, parameter: &Parameter) -> Option<&'a str> {
        self.lookup(parameter)?.as_str()
    }

    /// `true` or `false`, if given.
    #[must_use]
    pub fn flag(&self, parameter: &Parameter) -> Option<bool> {
        flag_of(self.lookup(parameter)?)
    }

    /// A value in a form of its own, if given; a mistake in it is noted.
    pub fn parsed<T>(&mut self, parameter: &Parameter, parse: impl Fn(&str) -> Result<T, String>) -> Option<T> {
        match parse(self.word(parameter)?) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.refuse(self.spelled(parameter), problem);
                None
            }
        }
    }

    /// Adds a mistake in `name`.
    pub fn refuse(&mut self, name: &str, detail: impl Into<String>) {
        let field = format!("{}.{name}", self.within);
        // One message a field: the first says what to mend first.
        if !self.errors.iter().any(|error| error.field == field) {
            self.errors.push(FieldError::new(field, detail));
        }
    }

    /// All mistakes, or none.
    ///
    /// # Errors
    /// The mistakes found so far, if any.
    pub fn finish(self) -> Result<(), Vec<FieldError>> {
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors) }
    }

    /// Whether anything is wrong so far.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }
}

/// fio writes 0 and 1, JSON false and true; a form sends either as text.
fn flag_of(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::Number(number) => match number.as_u64() {
            Some(0) => Some(false),
            Some(1) => Some(true),
            _ => None,
        },
        Value::String(text) => match text.trim() {
            "0" | "false" => Some(false),
            "1" | "true" => Some(true),
            _ => None,
        },
        _ => None,
    }
}

fn integer_of(value: &Value) -> Option<u64> {
    match value {
        Value::Number(number) => number.as_u64(),
        // HTML forms send everything as text.
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn bytes_of(value: &Value) -> Result<u64, String> {
    match value {
        Value::Number(number) => number.as_u64().ok_or_else(|| EXPECTED.to_owned()),
        Value::String(text) => bytes_of_text(text),
        _ => Err(EXPECTED.to_owned()),
    }
}

/// A size in fio's words: `4k`, `1m`, `64g`, powers of 1024.
///
/// # Errors
/// What would be right.
pub fn bytes_of_text(text: &str) -> Result<u64, String> {
    match text.trim() {
        "" => Err(format!("is empty; {EXPECTED}")),
        // `parse_size` takes fractions and would round them; a size is exact or refused.
        text if text.contains(['.', '-', '+']) => Err(EXPECTED.to_owned()),
        trimmed => Config::new().with_binary().parse_size(trimmed).map_err(|_| format!("is {text:?}; {EXPECTED}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SIZE: Parameter = Parameter {
        name: "size_bytes",
        alias: Some("size"),
        kind: Kind::Bytes { min: 1, max: u64::MAX },
        default: "to the end",
        help: "",
    };
    const DEPTH: Parameter =
        Parameter { name: "iodepth", alias: None, kind: Kind::Integer { min: 1, max: 1024 }, default: "1", help: "" };

    fn errors(given: Value) -> Vec<FieldError> {
        let Value::Object(map) = given else { panic!("an object") };
        Reader::new(&map, &[SIZE, DEPTH]).finish().err().unwrap_or_default()
    }

    #[test]
    fn fio_suffixes_are_powers_of_1024() {
        for (text, bytes) in [("4k", 4096), ("1m", 1 << 20), ("64g", 64 << 30), ("512", 512), ("1MiB", 1 << 20)] {
            assert_eq!(bytes_of(&json!(text)), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn every_mistake_names_its_field() {
        for wrong in [json!(""), json!(0), json!(-1), json!(1.5), json!("1.5k"), json!(true), json!(null), json!("4q")]
        {
            let found = errors(json!({ "size": wrong }));
            assert_eq!(found.len(), 1, "{wrong}");
            assert_eq!(found[0].field, "parameters.size");
        }
        assert_eq!(errors(json!({ "iodepth": 0 }))[0].detail, "is 0, must be 1 to 1024");
        assert_eq!(errors(json!({ "iodepth": 1025 }))[0].field, "parameters.iodepth");
    }

    #[test]
    fn several_mistakes_come_together_and_unknown_names_are_refused() {
        let found = errors(json!({ "iodepth": "x", "speed": 3 }));
        assert_eq!(found.len(), 2);
        assert!(found.iter().any(|error| error.detail.contains("size_bytes, iodepth")));
    }

    #[test]
    fn a_flag_is_what_json_a_form_or_fio_calls_so() {
        for (value, flag) in [(json!(true), true), (json!("false"), false), (json!(1), true), (json!("0"), false)] {
            assert_eq!(flag_of(&value), Some(flag), "{value}");
        }
        for wrong in [json!(2), json!("yes"), json!(null), json!(0.5)] {
            assert_eq!(flag_of(&wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_parameter_under_both_its_names_is_refused() {
        assert!(errors(json!({ "size": 4096, "size_bytes": 4096 }))[0].detail.contains("twice"));
    }
}
