//! Reading what a client sends. Every mistake is named; nothing is guessed.

use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use serde_json::{Map, Value};

use super::problem::Problem;
use crate::model::options::RunOptions;
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
    let options = match body.remove("options") {
        None | Some(Value::Null) => RunOptions::default(),
        Some(Value::Object(options)) => RunOptions::read(&options).unwrap_or_else(|wrong| {
            errors.extend(wrong);
            RunOptions::default()
        }),
        Some(_) => {
            errors.push(FieldError::new("options", "must be an object"));
            RunOptions::default()
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
            "is not a field of a run; it has drive, profile, parameters, options, tunables, confirm, dry_run",
        ));
    }
    match profile {
        Some(profile) if errors.is_empty() => {
            let request = RunRequest { drive, profile, parameters, options, confirm, tunables };
            Ok(Submission { request, dry_run })
        }
        _ => Err(Problem::fields(errors)),
    }
}

/// Most drives that one request may name.
const MOST_DRIVES: usize = 1_000;

/// A request for runs of one profile on several drives, wave after wave.
pub struct Matrix {
    /// The runs; those of a wave go side by side.
    pub waves: Vec<Vec<RunRequest>>,
    /// Only the plans.
    pub dry_run: bool,
}

/// Reads `POST runs/matrix`: the fields of [`submission`], but `waves`, a list of lists of drives, in place of `drive`, and
/// `confirm` as an object from each of those drives to its phrase.
///
/// # Errors
/// 422 with every field that is missing, unknown or of the wrong type.
pub fn matrix(mut body: Map<String, Value>) -> Result<Matrix, Problem> {
    let mut errors = Vec::new();
    let drives = |wave: &Value| -> Option<Vec<String>> {
        let names = wave.as_array()?.iter().map(|name| name.as_str().map(str::trim).filter(|name| !name.is_empty()));
        names.map(|name| name.map(str::to_owned)).collect::<Option<Vec<_>>>().filter(|names| !names.is_empty())
    };
    let waves = body.remove("waves");
    let waves: Vec<Vec<String>> = waves
        .as_ref()
        .and_then(Value::as_array)
        .and_then(|waves| waves.iter().map(drives).collect::<Option<Vec<_>>>())
        .filter(|waves| !waves.is_empty() && waves.iter().map(Vec::len).sum::<usize>() <= MOST_DRIVES)
        .unwrap_or_else(|| {
            let detail = format!(
                "must be a list of lists of drives, at most {MOST_DRIVES} in all: [[\"sda\", \"sdb\"], [\"sdc\"]]"
            );
            errors.push(FieldError::new("waves", detail));
            Vec::new()
        });
    let confirms = match body.remove("confirm") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(confirms)) if confirms.values().all(Value::is_string) => confirms,
        Some(_) => {
            errors.push(FieldError::new("confirm", "must be an object: for each drive, as named in waves, its phrase"));
            Map::new()
        }
    };
    // The rest is that of a single run, whatever its drive.
    body.insert("drive".to_owned(), Value::String("each".to_owned()));
    match submission(body) {
        Ok(Submission { request, dry_run }) if errors.is_empty() => {
            let of = |drive: String| RunRequest {
                confirm: confirms.get(&drive).and_then(Value::as_str).map(str::to_owned),
                drive,
                ..request.clone()
            };
            let waves = waves.into_iter().map(|wave| wave.into_iter().map(of).collect()).collect();
            Ok(Matrix { waves, dry_run })
        }
        Ok(_) => Err(Problem::fields(errors)),
        Err(problem) => {
            errors.extend(problem.errors);
            Err(Problem::fields(errors))
        }
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
            fields(json!({ "profile": 1, "dry_run": "yes", "size": 3, "options": { "priority": "high" } })),
            ["drive", "profile", "options.priority", "dry_run", "size"]
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

    #[test]
    fn a_matrix_is_read_wave_by_wave_with_each_drive_s_phrase() {
        let Value::Object(body) =
            json!({ "waves": [["sda", "sdb"], ["sdc"]], "profile": "inspect", "confirm": { "sdb": "B" } })
        else {
            panic!("an object")
        };
        let waves = matrix(body).ok().unwrap().waves;
        let told: Vec<Vec<_>> = waves
            .iter()
            .map(|wave| wave.iter().map(|request| (request.drive.as_str(), request.confirm.as_deref())).collect())
            .collect();
        assert_eq!(told, [vec![("sda", None), ("sdb", Some("B"))], vec![("sdc", None)]]);
        for wrong in [json!([]), json!([[]]), json!(["sda"]), json!([["sda", 1]]), json!([[" "]])] {
            let Value::Object(body) = json!({ "waves": wrong, "profile": "none", "confirm": [] }) else {
                panic!("an object")
            };
            let fields: Vec<_> = matrix(body).err().unwrap().errors.into_iter().map(|error| error.field).collect();
            assert_eq!(fields, ["waves", "confirm", "profile"]);
        }
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
