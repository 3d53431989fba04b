//! What a drive answered, as facts with their source. The names are those of the facts from sysfs, so that the same
//! question has the same name whoever answers it.

use super::{Answers, Asked};
use crate::device::facts::Facts;
use crate::device::identity::{ata, ata_log, characteristics, designators, inquiry, nvme, pages, zoned};
use crate::device::naming;
use crate::device::scsi_facts::{self as show, PROBE};
use crate::model::drive::{DeviceKind, Drive, Fact, Reading, Transport, Unknown};
use crate::model::page::PageId;

/// The rights that asking needs.
const RIGHTS: &str = "run the service as root, or in the group disk and with CAP_SYS_RAWIO (for NVMe CAP_SYS_ADMIN)";
const NO_ANSWER: &str = "look at the kernel's log and at the cable; the drive is asked again when it has answered or was \
                         plugged in anew";

/// Every fact in the answers.
pub fn facts(drive: &Drive, answers: &Answers) -> Vec<Fact> {
    let mut facts = Facts::default();
    for asked in &answers.asked {
        page(asked, &mut facts);
    }
    answers_at_all(drive, answers, &mut facts);
    if let Some(why) = &answers.refused {
        unanswered(drive, why, &mut facts);
    }
    let mut list = facts.into_list();
    for fact in &mut list {
        match &fact.unknown {
            Some(Unknown::NotPermitted) => fact.remedy = Some(RIGHTS.to_owned()),
            Some(Unknown::NotReadable(why)) if why.starts_with("no answer") => fact.remedy = Some(NO_ANSWER.to_owned()),
            _ => {}
        }
    }
    list
}

/// Whether the drive answers now, whatever the kernel remembers of it.
fn answers_at_all(drive: &Drive, answers: &Answers, facts: &mut Facts) {
    let known = answers.asked.iter().filter(|asked| asked.answer.known().is_some()).count();
    let reading = match (&answers.refused, answers.asked.first()) {
        (Some(why), _) => Reading::Unknown(why.clone()),
        (None, Some(first)) if known == 0 => first.answer.clone().map(|_| 0),
        (None, _) => Reading::Known(known),
    };
    let source = if drive.kind == DeviceKind::NvmeNamespace { "NVMe Identify" } else { "SG_IO" };
    let say = |pages: &usize| if *pages == 1 { "yes, 1 page".to_owned() } else { format!("yes, {pages} pages") };
    facts.add("drive/answers", source, &reading, say, Some("the device takes no such commands: nothing can be asked"));
}

/// A drive that could not be asked: what it would have been asked for first.
fn unanswered(drive: &Drive, why: &Unknown, facts: &mut Facts) {
    let nothing: Reading<String> = Reading::Unknown(why.clone());
    let mut add = |name: &str, source: &str| facts.add(name, source, &nothing, String::clone, None);
    if drive.kind == DeviceKind::NvmeNamespace {
        add("nvme/mdts", "NVMe Identify CNS 01h byte 77");
        return;
    }
    add("inquiry/device-type", "SG_IO INQUIRY byte 0 bits 4:0");
    add("vpd-0/supported-pages", "SG_IO INQUIRY VPD page 00h");
    add("vpd-b1/rotation-rate", "SG_IO INQUIRY VPD page B1h bytes 4-5");
    add("vpd-b1/form-factor", "SG_IO INQUIRY VPD page B1h byte 7 bits 3:0");
    add("vpd-b1/zoned", "SG_IO INQUIRY VPD page B1h byte 8 bits 5:4");
    if drive.transport == Transport::Usb {
        add("vpd-89/word-69-zoned", "SG_IO ATA IDENTIFY DEVICE word 69 bits 1:0");
    }
}

fn page(asked: &Asked, facts: &mut Facts) {
    let bytes = &asked.answer;
    let at = |place: &str| format!("{} {place}", asked.source);
    let no_page = Some("the drive was asked and does not have this page; run a probe");
    match asked.page {
        PageId::Inquiry => {
            let standard = bytes.clone().and_then(|data| inquiry::decode(&data));
            let kind = standard.map(|inquiry| inquiry.device_type);
            facts.add("inquiry/device-type", at("byte 0 bits 4:0"), &kind, show::device_type, None);
        }
        PageId::Vpd(0x00) => {
            let list = bytes.clone().and_then(|page| pages::supported(&page));
            let remedy = Some("the drive does not tell its pages; connect it to a SATA port, or run a probe");
            facts.add("vpd-0/supported-pages", asked.source.as_str(), &list, |codes| show::page_list(codes), remedy);
        }
        PageId::Vpd(0x80) => {
            let serial = bytes.clone().and_then(|page| pages::unit_serial(&page)).and_then(|serial| match serial {
                Some(serial) if naming::is_placeholder(&serial) => {
                    Reading::Unknown(Unknown::NotTrusted(format!("`{serial}` is a placeholder")))
                }
                Some(serial) => Reading::Known(serial),
                None => Reading::Unknown(Unknown::Absent),
            });
            facts.add("vpd-80/serial", at("bytes 4-"), &serial, String::clone, no_page);
        }
        PageId::Vpd(0x83) => {
            let name = bytes.clone().and_then(|page| designators::name(&page));
            let name = name.and_then(|name| name.map_or(Reading::Unknown(Unknown::Absent), Reading::Known));
            facts.add("wwn", asked.source.as_str(), &name, String::clone, None);
        }
        PageId::Vpd(0x89) => {
            identify(&asked.source, "byte 60 on: ", &bytes.clone().and_then(|page| ata::decode(&page)), facts)
        }
        PageId::AtaIdentify => {
            identify(&asked.source, "", &bytes.clone().and_then(|data| ata::decode_identify(&data)), facts);
        }
        PageId::Vpd(0xb0) => show::note_block_limits(bytes, &asked.source, facts),
        PageId::Vpd(0xb1) => {
            let b1 = bytes.clone().and_then(|page| characteristics::decode(&page));
            show::note_characteristics(&b1, &asked.source, no_page, facts);
        }
        PageId::Vpd(0xb2) => show::note_provisioning(bytes, &asked.source, facts),
        PageId::Vpd(0xb6) => zoned_page(asked, no_page, facts),
        PageId::AtaLog { log, page } => ata_log(asked, log, page, facts),
        PageId::NvmeController | PageId::NvmeNamespace | PageId::NvmeZonedNamespace | PageId::NvmeZonedController => {
            nvme(asked, facts);
        }
        PageId::Vpd(_) => {}
    }
}

fn identify(source: &str, prefix: &str, ata: &Reading<ata::AtaIdentity>, facts: &mut Facts) {
    let at = |place: &str| format!("{source} {prefix}{place}");
    let remedy =
        Some("the drive was asked and does not answer IDENTIFY DEVICE; connect it to a SATA port, or run a probe");
    let field = |ata: &ata::AtaIdentity| ata.zoned;
    facts.add(
        "vpd-89/word-69-zoned",
        at("word 69 bits 1:0"),
        &ata.clone().map(|ata| field(&ata)),
        show::zoned_field,
        remedy,
    );
    facts.add("vpd-89/word-217-rotation", at("word 217"), &ata.clone().map(|ata| ata.rotation), show::rotation, remedy);
    facts.add("vpd-89/word-169-trim", at("word 169 bit 0"), &ata.clone().map(|ata| ata.trim), show::supported, remedy);
    // What names the drive behind a bridge, which may have put its own names into INQUIRY.
    let Reading::Known(ata) = ata else { return };
    for (name, place, text) in [
        ("identify/model", "words 27-46", &ata.model),
        ("identify/serial", "words 10-19", &ata.serial),
        ("identify/wwn", "words 108-111", &ata.wwn),
    ] {
        if let Some(text) = text {
            facts.text(name, &at(place), &Reading::Known(text.clone()));
        }
    }
}

/// A count that a drive may leave open.
fn limit<T: ToString>(limit: &Option<T>) -> String {
    limit.as_ref().map_or_else(|| "not reported, or no limit".to_owned(), ToString::to_string)
}

fn zoned_page(asked: &Asked, remedy: Option<&str>, facts: &mut Facts) {
    let b6 = asked.answer.clone().and_then(|page| zoned::characteristics(&page));
    let at = |place: &str| format!("{} {place}", asked.source);
    let extension = |code: &u8| match code {
        0 => "0 (none)".to_owned(),
        1 => "1 (host-aware)".to_owned(),
        2 => "2 (domains and realms)".to_owned(),
        other => format!("{other} (reserved)"),
    };
    facts.add("vpd-b6/zoned-extension", at("byte 4 bits 7:4"), &b6.clone().map(|b6| b6.extension), extension, remedy);
    let reads = b6.clone().map(|b6| b6.unrestricted_reads);
    facts.add("vpd-b6/unrestricted-reads", at("byte 4 bit 0"), &reads, |yes| show::yes_no(*yes), remedy);
    let open = b6.clone().map(|b6| b6.max_open);
    facts.add("vpd-b6/max-open-zones", at("bytes 16-19"), &open, limit, remedy);
    let optimal = b6.clone().map(|b6| b6.optimal_open);
    facts.add("vpd-b6/optimal-open-zones", at("bytes 8-11"), &optimal, limit, remedy);
    let random = b6.map(|b6| b6.optimal_non_sequential);
    facts.add("vpd-b6/optimal-non-sequential-zones", at("bytes 12-15"), &random, limit, remedy);
}

fn ata_log(asked: &Asked, log: u8, page: u8, facts: &mut Facts) {
    let at = |place: &str| format!("{} {place}", asked.source);
    match (log, page) {
        (ata_log::IDENTIFY_LOG, ata_log::CAPABILITIES) => {
            let zoned = asked.answer.clone().and_then(|data| ata_log::capabilities_zoned(&data));
            facts.add("log-30-03/zoned", at("bytes 104-111 bits 1:0"), &zoned, show::zoned_field, Some(PROBE));
        }
        (ata_log::IDENTIFY_LOG, ata_log::ZONED_DEVICE) => {
            let zoned = asked.answer.clone().and_then(|data| ata_log::zoned_device(&data));
            let open = zoned.clone().map(|zoned| zoned.max_open);
            facts.add("log-30-09/max-open-zones", at("bytes 40-47"), &open, limit, None);
            let optimal = zoned.clone().map(|zoned| zoned.optimal_open);
            facts.add("log-30-09/optimal-open-zones", at("bytes 24-31"), &optimal, limit, None);
            let random = zoned.map(|zoned| zoned.optimal_non_sequential);
            facts.add("log-30-09/optimal-non-sequential-zones", at("bytes 32-39"), &random, limit, None);
        }
        _ => {}
    }
}

fn nvme(asked: &Asked, facts: &mut Facts) {
    let at = |place: &str| format!("{} {place}", asked.source);
    let exponent = |pages: &Option<u8>| {
        pages.map_or_else(|| "no limit of its own".to_owned(), |n| format!("2^{n} smallest memory pages"))
    };
    match asked.page {
        PageId::NvmeController => {
            let controller = asked.answer.clone().and_then(|data| nvme::controller(&data));
            let largest = controller.clone().map(|controller| controller.max_transfer_exponent);
            facts.add("nvme/mdts", at("byte 77"), &largest, exponent, None);
            let cache = controller.map(|controller| controller.volatile_cache);
            facts.add("nvme/volatile-cache", at("byte 525 bit 0"), &cache, |yes| show::yes_no(*yes), None);
        }
        PageId::NvmeNamespace => {
            let namespace = asked.answer.clone().and_then(|data| nvme::namespace(&data));
            let say = |namespace: &nvme::Namespace| {
                let block = namespace.logical_block.map_or_else(|| "unknown".to_owned(), |bytes| format!("{bytes} B"));
                format!("{} of {} blocks of {block}", namespace.capacity_blocks, namespace.size_blocks)
            };
            facts.add("nvme/capacity", at("bytes 0-15"), &namespace, say, None);
        }
        PageId::NvmeZonedNamespace => {
            let zoned = asked.answer.clone().and_then(|data| nvme::zoned_namespace(&data, None));
            let active = zoned.clone().map(|zoned| zoned.max_active);
            facts.add("zns/max-active-zones", at("bytes 4-7 (MAR + 1)"), &active, limit, None);
            let open = zoned.clone().map(|zoned| zoned.max_open);
            facts.add("zns/max-open-zones", at("bytes 8-11 (MOR + 1)"), &open, limit, None);
            let variable = zoned.map(|zoned| zoned.variable_capacity);
            facts.add(
                "zns/variable-zone-capacity",
                at("bytes 0-1 (ZOC) bit 0"),
                &variable,
                |yes| show::yes_no(*yes),
                None,
            );
        }
        PageId::NvmeZonedController => {
            let append = asked.answer.clone().map(|data| nvme::append_limit_exponent(&data));
            facts.add("zns/zasl", at("byte 0"), &append, exponent, None);
        }
        _ => {}
    }
}
