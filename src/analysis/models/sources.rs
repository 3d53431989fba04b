//! The keys in the last column of the list of models, in words.

/// Key and meaning. Longer keys come before those they begin with.
const KEYS: [(&str, &str); 19] = [
    ("drivedb:regex-only", "smartmontools' drive database, by a pattern of names without a tested sample"),
    ("drivedb:regex", "smartmontools' drive database, by a pattern of names"),
    ("drivedb:comment", "a comment in smartmontools' drive database"),
    ("drivedb", "smartmontools' drive database"),
    ("smr-check", "the smr-check list"),
    ("wd-2020", "Western Digital's disclosure of April 2020 as the press printed it"),
    ("wd-redplus", "Western Digital's word that the Red Plus family is CMR"),
    ("toshiba-2020", "Toshiba's statement of April 2020 as Tom's Hardware printed it"),
    ("toshiba-2022", "news of 2022 about Toshiba's 2 TB disk"),
    ("seagate-list", "Seagate's own list of CMR and SMR disks, as reprinted"),
    ("catalogue", "third-party catalogues"),
    ("catalog", "third-party catalogues"),
    ("csurbhi", "measurements for the paper \"Lost in Translation\""),
    ("skylight", "measurements for the paper Skylight (FAST 2015)"),
    ("measured", "a measurement that was published"),
    ("datasheet", "its data sheet"),
    ("dmesg", "a kernel's log"),
    ("seed-002", "the measurement that was posted to the fio list in 2020"),
    ("GK", "general knowledge, for which no source can be named"),
];

/// A source column in words: `drivedb+smr-check(uncertain)` is two sources, the second with a remark.
#[must_use]
pub fn spelled(column: &str) -> String {
    atoms(column).into_iter().map(spell).collect::<Vec<_>>().join("; ")
}

fn spell(atom: &str) -> String {
    match KEYS.iter().find_map(|(key, meaning)| Some((meaning, atom.strip_prefix(key)?))) {
        Some((meaning, "")) => (*meaning).to_owned(),
        Some((meaning, rest)) if rest.starts_with('(') => format!("{meaning} {rest}"),
        Some((meaning, rest)) => format!("{meaning} ({})", rest.trim()),
        None => atom.to_owned(),
    }
}

/// The parts between `+` and `;` outside parentheses.
fn atoms(column: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let parts = column.split(|c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(c, '+' | ';')
    });
    parts.map(str::trim).filter(|atom| !atom.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_told_in_words_with_their_remarks() {
        assert_eq!(
            spelled("smr-check(uncertain) SMR; catalog CMR"),
            "the smr-check list (uncertain) SMR; third-party catalogues (CMR)"
        );
        assert_eq!(spelled("drivedb(SMR; Device managed zones)").matches(';').count(), 1, "inside the remark");
    }

    #[test]
    fn every_source_of_the_list_is_known() {
        for row in super::super::TABLE.iter() {
            for atom in atoms(&row.source) {
                assert!(KEYS.iter().any(|(key, _)| atom.starts_with(key)), "{atom} of {}", row.model_pattern);
            }
        }
    }
}
