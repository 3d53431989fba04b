//! How a drive is told apart: which serials count, and the identity its id is made of.

use std::collections::HashMap;

use uuid::Uuid;

use crate::model::drive::{Drive, DriveId, Identity, IdentityBasis};

/// What a drive says of itself that can name it.
#[derive(Debug, Default, Clone)]
pub struct Names {
    /// World wide name, EUI-64 or NGUID, lower case.
    pub wwn: Option<String>,
    /// Model.
    pub model: Option<String>,
    /// A usable serial number.
    pub serial: Option<String>,
    /// NVMe namespace number: namespaces of one drive share model and serial.
    pub namespace: Option<String>,
    /// The serial is that of the USB bridge.
    pub serial_of_bridge: bool,
}

/// Whether a serial number is one that a factory forgot to fill in.
#[must_use]
pub fn is_placeholder(serial: &str) -> bool {
    const KNOWN: [&str; 14] = [
        "none",
        "n/a",
        "na",
        "null",
        "unknown",
        "serial",
        "serialnumber",
        "serial number",
        "default string",
        "not specified",
        "not available",
        "invalid",
        "default",
        "empty",
    ];
    const COUNTING: &str = "01234567890123456789ABCDEF0123456789ABCDEF";
    let serial = serial.trim();
    let lower = serial.to_ascii_lowercase();
    let mut letters = serial.chars();
    let first = letters.next();
    let all_the_same = letters.all(|letter| Some(letter) == first);
    // 0123456789ABCDEF, 123456789012, 12345678: seen on bridges and card readers of many makes.
    let counting = serial.len() >= 6 && COUNTING.contains(&serial.to_ascii_uppercase());
    serial.is_empty()
        || all_the_same
        || counting
        || KNOWN.contains(&lower.as_str())
        || lower.starts_with("to be filled")
}

/// The identity of one device, not yet compared with others.
#[must_use]
pub fn identify(names: &Names, host: Uuid, kernel_name: &str) -> Identity {
    if let Some(wwn) = &names.wwn {
        // NAA 3 is assigned by whoever runs the host (SPC-4 §7.8.6.6.3), and not world wide.
        let local = wwn.starts_with("naa.3");
        let note = local.then(|| "Its name is assigned locally (NAA 3), so another host may use the same.".to_owned());
        return Identity { basis: IdentityBasis::Wwn, key: format!("wwn:{wwn}"), unique: true, note };
    }
    if let (Some(model), Some(serial)) = (&names.model, &names.serial) {
        let namespace = names.namespace.as_ref().map(|number| format!(":{number}")).unwrap_or_default();
        let note = names.serial_of_bridge.then(|| {
            "The serial number is that of the USB bridge: another drive of the same model behind it would go unnoticed."
                .to_owned()
        });
        let key = format!("ms:{model}:{serial}{namespace}");
        return Identity { basis: IdentityBasis::ModelSerial, key, unique: true, note };
    }
    Identity {
        basis: IdentityBasis::Path,
        key: format!("path:{host}:{kernel_name}"),
        unique: true,
        note: Some("It is known only by where it is: another device in its place would go unnoticed.".to_owned()),
    }
}

/// Finds devices that claim the same identity. Each keeps its own id, by its kernel name, and says so.
pub fn mark_twins(drives: &mut [Drive]) {
    let mut claimants: HashMap<String, Vec<String>> = HashMap::new();
    for drive in drives.iter() {
        claimants.entry(drive.identity.key.clone()).or_default().push(drive.name.clone());
    }
    for drive in drives {
        let others: Vec<&str> = claimants
            .get(&drive.identity.key)
            .into_iter()
            .flatten()
            .map(String::as_str)
            .filter(|name| *name != drive.name)
            .collect();
        if others.is_empty() {
            continue;
        }
        let what = match drive.identity.basis {
            IdentityBasis::Wwn => "world wide name",
            _ => "model and serial number",
        };
        drive.identity.note = Some(format!(
            "{} reports the same {what}, and is not the same drive for certain: one of them copies its name, or both are \
             paths to one drive that does not say enough.",
            others.join(", ")
        ));
        drive.identity.unique = false;
        drive.identity.key = format!("{}:{}", drive.identity.key, drive.name);
        drive.id = DriveId::from_identity(&drive.identity.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factories_forget_serials_in_many_ways() {
        for serial in [
            "",
            " ",
            "0",
            "00000000000000000000",
            "FFFFFFFF",
            "0123456789ABCDEF",
            "0123456789abcdef",
            "123456789012",
            "12345678",
            "None",
            "To be filled by O.E.M.",
            "XXXXXXXX",
            "Default string",
            "1234567890",
        ] {
            assert!(is_placeholder(serial), "{serial:?}");
        }
        for serial in ["ZCT0AAAA", "2000", "VBLK1", "NVMESER1", "9LG12345", "WD-WX11A12345678"] {
            assert!(!is_placeholder(serial), "{serial:?}");
        }
    }

    #[test]
    fn the_best_name_wins() {
        let host = Uuid::nil();
        let mut names = Names {
            wwn: Some("naa.5000c500a1b2c3d4".into()),
            model: Some("ST8000AS0002".into()),
            serial: Some("Z840".into()),
            ..Names::default()
        };
        assert_eq!(identify(&names, host, "sda").key, "wwn:naa.5000c500a1b2c3d4");
        names.wwn = None;
        assert_eq!(identify(&names, host, "sda").key, "ms:ST8000AS0002:Z840");
        names.namespace = Some("2".into());
        assert_eq!(identify(&names, host, "sda").key, "ms:ST8000AS0002:Z840:2");
        names.serial = None;
        let by_path = identify(&names, host, "sda");
        assert_eq!(
            (by_path.basis, by_path.key.as_str()),
            (IdentityBasis::Path, "path:00000000-0000-0000-0000-000000000000:sda")
        );
        assert!(by_path.note.is_some());
    }
}
