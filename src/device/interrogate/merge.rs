//! What a drive answered, joined with what the kernel knew of it. Pure.
//!
//! | the kernel's memory | the drive now | kept |
//! |---|---|---|
//! | known | the same, or nothing | the kernel's fact |
//! | unknown | known | the drive's fact |
//! | known | something else | both facts, and a disagreement; the declaration follows the drive |
//! | unknown | unknown | the drive's reason, unless the kernel's says more |

use super::{Answers, told};
use crate::device::identity::{ata, ata_log, characteristics, inquiry, nvme, zoned};
use crate::device::scsi::of_this_drive;
use crate::model::drive::{Declared, Disagreement, Drive, Fact, Reading, Rotation, Said, Transport, Unknown};
use crate::model::page::{PageId, RawPage};

/// Adds the answers to a drive.
pub fn merge(drive: &mut Drive, answers: &Answers) {
    let facts = told::facts(drive, answers);
    declared(drive, answers);
    for fact in facts {
        join(fact, &mut drive.facts, &mut drive.disagreements);
    }
    for asked in &answers.asked {
        if let Reading::Known(bytes) = &asked.answer {
            drive.pages.prefer(asked.page, RawPage { source: asked.source.clone(), bytes: bytes.clone() });
        }
    }
}

fn join(fact: Fact, facts: &mut Vec<Fact>, disagreements: &mut Vec<Disagreement>) {
    let Some(position) = facts.iter().position(|known| known.name == fact.name) else {
        facts.push(fact);
        return;
    };
    let Some(known) = facts.get_mut(position) else { return };
    match (&known.value, &fact.value) {
        (None, Some(_)) => *known = fact,
        (Some(_), None) => {}
        (None, None) => {
            // "The kernel does not show it" says less than why the drive does not; what was seen and not believed, more.
            if !(fact.unknown == Some(Unknown::Absent) && matches!(known.unknown, Some(Unknown::NotTrusted(_)))) {
                *known = fact;
            }
        }
        (Some(before), Some(now)) if before == now => {}
        (Some(before), Some(now)) => {
            let said = |source: &str, value: &str| Said { source: source.to_owned(), value: value.to_owned() };
            disagreements.push(Disagreement {
                fact: fact.name.clone(),
                said: vec![said(&fact.source, now), said(&known.source, before)],
            });
            facts.insert(position + 1, fact);
        }
    }
}

/// The declaration follows what the drive answers now.
fn declared(drive: &mut Drive, answers: &Answers) {
    let answer = |page: PageId| answers.asked.iter().find(|asked| asked.page == page).map(|asked| asked.answer.clone());
    let standard = match answer(PageId::Inquiry) {
        Some(data) => data.and_then(|data| inquiry::decode(&data)),
        None => Reading::Unknown(Unknown::Absent),
    };
    let declared = &mut drive.declared;
    declared.asked = answers.asked.iter().any(|asked| asked.answer.known().is_some());
    if let Some(why) = &answers.refused {
        // What the kernel does not show and the drive could not be asked is not absent: it is not known for this reason.
        if drive.kind == crate::model::drive::DeviceKind::Disk {
            better(&mut declared.vpd_b1, Reading::Unknown(why.clone()));
        }
        return;
    }
    better(&mut declared.device_type, standard.clone().map(|inquiry| inquiry.device_type));
    if let Some(page) = answer(PageId::Vpd(0xb1)) {
        better(&mut declared.vpd_b1, page.and_then(|page| characteristics::decode(&page)));
    }
    if let Some(page) = answer(PageId::Vpd(0xb6)) {
        better(&mut declared.vpd_b6, page.and_then(|page| zoned::characteristics(&page)));
    }
    let usb = drive.transport == Transport::Usb;
    let identify = match (answer(PageId::AtaIdentify), answer(PageId::Vpd(0x89))) {
        (Some(data), _) => Some(data.and_then(|data| ata::decode_identify(&data))),
        (None, Some(page)) => Some(page.and_then(|page| ata::decode(&page))),
        (None, None) => None,
    };
    let identify = identify.map(|identity| identity.and_then(|ata| of_this_drive(ata, &standard, usb)));
    if let Some(identity) = &identify {
        better(&mut declared.ata_zoned, identity.clone().map(|identity| identity.zoned));
    }
    let capabilities = PageId::AtaLog { log: ata_log::IDENTIFY_LOG, page: ata_log::CAPABILITIES };
    if let Some(data) = answer(capabilities) {
        better(&mut declared.ata_log_zoned, data.and_then(|data| ata_log::capabilities_zoned(&data)));
    }
    if let Some(data) = answer(PageId::NvmeZonedNamespace) {
        // Only a namespace of this command set answers.
        better(&mut declared.nvme_csi, data.and_then(|data| nvme::zoned_namespace(&data, None)).map(|_| 2));
    }
    rotation(drive, identify.and_then(Reading::into_known).map(|identity| identity.rotation));
}

/// A known answer replaces anything, a reason only another reason that says less.
fn better<T>(known: &mut Reading<T>, now: Reading<T>) {
    let replace = match (&*known, &now) {
        (_, Reading::Known(_)) => true,
        (Reading::Known(_), Reading::Unknown(_)) => false,
        (Reading::Unknown(before), Reading::Unknown(now)) => {
            !(*now == Unknown::Absent && matches!(before, Unknown::NotTrusted(_)))
        }
    };
    if replace {
        *known = now;
    }
}

fn rotation(drive: &mut Drive, identify: Option<Rotation>) {
    let Declared { vpd_b1, .. } = &drive.declared;
    let rates = [vpd_b1.known().map(|b1| b1.rotation), identify];
    let rpm = rates.into_iter().flatten().find_map(|rotation| match rotation {
        Rotation::Rpm(rpm) => Some(rpm),
        _ => None,
    });
    drive.rotation_rpm = rpm.or(drive.rotation_rpm);
}
