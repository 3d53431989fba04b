//! Which questions a drive is asked, and in which order.
//!
//! As little as possible: what the kernel asked at boot and keeps in sysfs is not asked again, but for INQUIRY and page
//! 0xB1, where it matters that the kernel's memory is not out of date. A page is asked for only where the drive's own
//! list has it, an ATA command sent only to what is known as ATA, or to a fixed disk behind a USB bridge (as udev's
//! ata_id does), and vendor commands never: bridges were seen to hang on them.

use super::line::Line;
use super::{Answers, Asked, Target};
use crate::device::command::{AtaPath, Command, Identify};
use crate::device::identity::ata_log::{self, CAPABILITIES, IDENTIFY_LOG, ZONED_DEVICE};
use crate::device::identity::{AtaIdentity, ata, inquiry, pages};
use crate::device::scsi::of_this_drive;
use crate::model::drive::{DeviceKind, Reading, Transport, Unknown};
use crate::model::page::PageId;

/// VPD pages worth knowing, besides the list of pages itself.
const WANTED: [u8; 7] = [0x80, 0x83, 0x89, 0xb0, 0xb1, 0xb2, 0xb6];

/// Asks a drive. Blocks for as long as the drive does.
#[must_use]
pub fn interrogate(target: &Target) -> Answers {
    let mut line = match Line::open(&target.path, &target.number) {
        Ok(line) => line,
        Err(why) => return Answers { refused: Some(why), asked: Vec::new() },
    };
    let asked = match target.kind {
        DeviceKind::NvmeNamespace => nvme(&mut line, target),
        _ => scsi(&mut line, target),
    };
    Answers { refused: None, asked }
}

fn scsi(line: &mut Line, target: &Target) -> Vec<Asked> {
    let usb = target.transport == Transport::Usb;
    let mut asked = vec![line.ask(PageId::Inquiry, &Command::inquiry())];
    let list = match target.known(PageId::Vpd(0)) {
        Some(page) => pages::supported(page),
        None => vpd(line, 0x00, &mut asked).and_then(|page| pages::supported(&page)),
    };
    for page in WANTED {
        let offered = match &list {
            Reading::Known(list) => list.contains(&page),
            // A bridge that cannot even tell its pages is not asked for more. Others are, for what matters most.
            Reading::Unknown(_) => !usb && matches!(page, 0xb1 | 0xb6),
        };
        if offered && (page == 0xb1 || target.known(PageId::Vpd(page)).is_none()) {
            vpd(line, page, &mut asked);
        }
    }
    ata(line, target, &mut asked);
    asked
}

fn vpd(line: &mut Line, page: u8, asked: &mut Vec<Asked>) -> Reading<Vec<u8>> {
    let answer = line.ask(PageId::Vpd(page), &Command::vpd(page));
    let reading = answer.answer.clone();
    asked.push(answer);
    reading
}

/// IDENTIFY where page 0x89 does not tell it, and the pages of log 0x30 that tell of zones.
fn ata(line: &mut Line, target: &Target, asked: &mut Vec<Asked>) {
    let usb = target.transport == Transport::Usb;
    let found = |page: PageId| {
        let fresh = asked.iter().find(|asked| asked.page == page).and_then(|asked| asked.answer.known());
        fresh.map(Vec::as_slice).or_else(|| target.known(page))
    };
    let standard = match found(PageId::Inquiry) {
        Some(data) => inquiry::decode(data),
        None => Reading::Unknown(Unknown::Absent),
    };
    let from_page: Option<AtaIdentity> = found(PageId::Vpd(0x89))
        .and_then(|page| ata::decode(page).and_then(|ata| of_this_drive(ata, &standard, usb)).into_known());
    let sat = standard.known().is_some_and(|inquiry| inquiry.vendor.as_deref() == Some("ATA"));
    let fixed_usb = usb && !target.removable;
    if !sat && from_page.is_none() && !fixed_usb {
        return;
    }
    let identity = match from_page {
        Some(identity) => Some(identity),
        None => {
            let answer = line.ask(PageId::AtaIdentify, &Command::ata_identify());
            let identity = answer.answer.clone().and_then(|data| ata::decode_identify(&data)).into_known();
            asked.push(answer);
            identity
        }
    };
    let Some(identity) = identity.filter(|identity| identity.logs) else { return };
    let mut log = |log: u8, page: u8| -> Option<Vec<u8>> {
        let id = PageId::AtaLog { log, page };
        let mut answer = line.ask(id, &Command::ata_log(log, page, AtaPath::Pio));
        if answer.answer.unknown() == Some(&Unknown::Absent) && identity.dma_logs {
            answer = line.ask(id, &Command::ata_log(log, page, AtaPath::Dma));
        }
        let data = answer.answer.known().cloned();
        asked.push(answer);
        data
    };
    let has_log = log(0, 0).is_some_and(|directory| ata_log::pages_of(&directory, IDENTIFY_LOG).known() > Some(&0));
    if !has_log {
        return;
    }
    if let Some(list) = log(IDENTIFY_LOG, 0) {
        for page in [CAPABILITIES, ZONED_DEVICE] {
            if ata_log::offers(&list, page) {
                log(IDENTIFY_LOG, page);
            }
        }
    }
}

fn nvme(line: &mut Line, target: &Target) -> Vec<Asked> {
    let Some(namespace) = target.namespace else { return Vec::new() };
    let mut asked = vec![
        line.identify(PageId::NvmeController, Identify::Controller, namespace),
        line.identify(PageId::NvmeNamespace, Identify::Namespace, namespace),
    ];
    // Only where the kernel says so: a drive that does not know the command set enters the question in its error log.
    if target.zoned {
        asked.push(line.identify(PageId::NvmeZonedNamespace, Identify::ZonedNamespace, namespace));
        asked.push(line.identify(PageId::NvmeZonedController, Identify::ZonedController, namespace));
    }
    asked
}
