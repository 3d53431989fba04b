//! Reading what a client sends. Every mistake is named; nothing is guessed.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value};

use super::problem::Problem;
use crate::model::parameters::FieldError;
use crate::model::profile::Profile;
use crate::model::run::RunRequest;
use crate::model::tunable::{self, Tunables};

/// Largest body that is read, bytes. A run request takes a few hundred.
pub const MAX_BODY_BYTES: usize = 64 * 1024;

/// A request for a run, and whether only the plan is wanted.
pub struct Submission {
    /// The run.
    pub request: RunRequest,
    /// Only the plan.
    pub dry_run: bool,
}

/// The JSON object of a body.
///
/// # Errors
/// 415 for another type (which also keeps forms of other sites out: a browser sends JSON across sites
/// only after asking), 400 for what is no JSON, 422 for what is no object.
pub fn json_object(headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Value>, Problem> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media = content_type.split(';').next().unwrap_or_default().trim();
    if !media.eq_ignore_ascii_case("application/json") {
        return Err(Problem::new(
            axum::http::StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "not-json",
            "The body must be JSON",
            format!("Content-Type is {content_type:?}, must be application/json"),
        ));
    }
    match serde_json::from_slice(body) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Problem::fields(vec![FieldError::new("", "the body must be a JSON object")])),
        Err(error) => Err(Problem::malformed(format!("the body is no JSON: {error}"))),
    }
}

/// Reads `POST runs`.
///
/// # Errors
/// 422 with every field that is missing, unknown or of the wrong type.
pub fn submission(mut body: Map<String, Value>) -> Result<Submission, Problem> {
    let mut errors = Vec::new();
    let drive = match body.remove("drive") {
        Some(Value::String(drive)) if !drive.trim().is_empty() => drive.trim().to_owned(),
        _ => {
            errors.push(FieldError::new("drive", "must be a drive's id or path, or the path of a file"));
            String::new()
        }
    };
    let names = || Profile::ALL.map(Profile::as_str).join(", ");
    let profile = match body.remove("profile") {
        Some(Value::String(name)) => Profile::parse(&name).or_else(|| {
            errors.push(FieldError::new("profile", format!("is {name:?}, must be one of {}", names())));
            None
        }),
        _ => {
            errors.push(FieldError::new("profile", format!("must be one of {}", names())));
            None
        }
    };
    let parameters = match body.remove("parameters") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(parameters)) => parameters,
        Some(_) => {
            errors.push(FieldError::new("parameters", "must be an object"));
            Map::new()
        }
    };
    let confirm = match body.remove("confirm") {
        None | Some(Value::Null) => None,
        Some(Value::String(confirm)) => Some(confirm),
        Some(_) => {
            errors.push(FieldError::new("confirm", "must be text: the plan's confirm_phrase, typed back"));
            None
        }
    };
    let dry_run = match body.remove("dry_run") {
        None | Some(Value::Null) => false,
        Some(Value::Bool(dry_run)) => dry_run,
        Some(_) => {
            errors.push(FieldError::new("dry_run", "must be true or false"));
            false
        }
    };
    let tunables = match body.remove("tunables") {
        None | Some(Value::Null) => Tunables::new(),
        Some(Value::Object(given)) => tunable::read(&given).unwrap_or_else(|wrong| {
            errors.extend(wrong);
            Tunables::new()
        }),
        Some(_) => {
            errors.push(FieldError::new("tunables", "must be an object: settings by the names that sysfs gives them"));
            Tunables::new()
        }
    };
    for name in body.keys() {
        errors.push(FieldError::new(
            name.as_str(),
            "is not a field of a run; it has drive, profile, parameters, tunables, confirm, dry_run",
        ));
    }
    match profile {
        Some(profile) if errors.is_empty() => {
            Ok(Submission { request: RunRequest { drive, profile, parameters, confirm, tunables }, dry_run })
        }
        _ => Err(Problem::fields(errors)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn fields(body: Value) -> Vec<String> {
        let Value::Object(body) = body else { panic!("an object") };
        let problem = submission(body).err().map(|problem| problem.errors).unwrap_or_default();
        problem.into_iter().map(|error| error.field).collect()
    }

    #[test]
    fn every_wrong_field_is_named_at_once() {
        assert_eq!(
            fields(json!({ "profile": 1, "dry_run": "yes", "size": 3 })),
            ["drive", "profile", "dry_run", "size"]
        );
        assert_eq!(
            fields(json!({ "drive": "", "profile": "smr-fast", "parameters": [] })),
            ["drive", "profile", "parameters"]
        );
        assert_eq!(
            fields(json!({ "drive": "sda", "profile": "inspect", "tunables": { "nomerges": 7, "depth": 1 } })),
            ["tunables.depth", "tunables.nomerges"]
        );
        assert!(fields(json!({ "drive": "sda", "profile": "inspect", "confirm": null, "tunables": {} })).is_empty());
    }

    proptest! {
        #[test]
        fn any_bytes_give_an_answer(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, "application/json".parse().unwrap());
            if let Ok(map) = json_object(&headers, &bytes) {
                let _ = submission(map);
            }
        }
    }
}
