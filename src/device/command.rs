//! The commands that may be sent to a drive. Each asks, none changes anything: there is no way to make one with a
//! data-out direction or an operation code that is not listed here.

/// A SCSI command that returns data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    cdb: [u8; 16],
    cdb_length: u8,
    allocation: usize,
    name: String,
}

/// A REPORT ZONES answer begins with a header of this size. An emulated drive was seen to overrun its own buffer when
/// given less room than that, so no command ever gives less.
pub const ZONES_HEADER: usize = 64;
/// One zone descriptor.
pub const ZONE_DESCRIPTOR: usize = 64;

/// Sectors of 512 bytes are the unit of ATA logs and of IDENTIFY.
const SECTOR: usize = 512;

/// The data path of an ATA command behind SAT (SAT-3 §12.2.2.2, the PROTOCOL field).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtaPath {
    /// READ LOG EXT (0x2F), PIO data-in.
    Pio,
    /// READ LOG DMA EXT (0x47).
    Dma,
}

impl Command {
    /// INQUIRY (0x12) for standard data.
    #[must_use]
    pub fn inquiry() -> Self {
        // 96 bytes are what Linux asks for second, after 36: bridges that choke on more than they know exist.
        Self::six([0x12, 0, 0, 0, 96, 0], 96, "INQUIRY".to_owned())
    }

    /// INQUIRY (0x12) with EVPD for one vital product data page.
    #[must_use]
    pub fn vpd(page: u8) -> Self {
        // Page 0x89 is 572 bytes, and 0x00 to 0xB9 are shorter; more is asked only where more is needed.
        let allocation: u16 = if page == 0x89 { 572 } else { 252 };
        let [high, low] = allocation.to_be_bytes();
        let name = format!("INQUIRY VPD page {page:02X}h");
        Self::six([0x12, 1, page, high, low, 0], usize::from(allocation), name)
    }

    /// ATA PASS-THROUGH(16) (0x85) of IDENTIFY DEVICE (0xEC).
    #[must_use]
    pub fn ata_identify() -> Self {
        let mut cdb = [0_u8; 16];
        cdb[0] = 0x85;
        cdb[1] = PIO_IN << 1;
        cdb[2] = TO_HOST;
        cdb[6] = 1;
        cdb[14] = 0xec;
        Self { cdb, cdb_length: 16, allocation: SECTOR, name: "ATA IDENTIFY DEVICE".to_owned() }
    }

    /// ATA PASS-THROUGH(16) (0x85) of one page of a general purpose log (ACS-4 §7.22).
    #[must_use]
    pub fn ata_log(log: u8, page: u8, path: AtaPath) -> Self {
        let (protocol, command) = match path {
            AtaPath::Pio => (PIO_IN, 0x2f),
            AtaPath::Dma => (DMA, 0x47),
        };
        let mut cdb = [0_u8; 16];
        cdb[0] = 0x85;
        // Bit 0, EXTEND: a 48-bit command.
        cdb[1] = protocol << 1 | 1;
        cdb[2] = TO_HOST;
        cdb[6] = 1;
        cdb[8] = log;
        cdb[10] = page;
        cdb[14] = command;
        Self { cdb, cdb_length: 16, allocation: SECTOR, name: format!("ATA READ LOG {log:02X}h page {page:02X}h") }
    }

    /// REPORT ZONES (0x95, service action 0) from the zone at `start_block` on, for as many as fit in a buffer for `zones`.
    #[must_use]
    pub fn report_zones(start_block: u64, zones: u16) -> Self {
        /// Byte 14 bit 7, PARTIAL: the length that is reported is that of the answer, not that of all zones.
        const PARTIAL: u8 = 0x80;
        let allocation = ZONES_HEADER + ZONE_DESCRIPTOR * usize::from(zones);
        let mut cdb = [0_u8; 16];
        cdb[0] = 0x95;
        cdb[2..10].copy_from_slice(&start_block.to_be_bytes());
        // 64 + 64 × 65535 is less than 2^32.
        let length = u32::try_from(allocation).unwrap_or(u32::MAX);
        cdb[10..14].copy_from_slice(&length.to_be_bytes());
        cdb[14] = PARTIAL;
        Self { cdb, cdb_length: 16, allocation, name: "REPORT ZONES".to_owned() }
    }

    fn six(bytes: [u8; 6], allocation: usize, name: String) -> Self {
        let mut cdb = [0_u8; 16];
        cdb[..6].copy_from_slice(&bytes);
        Self { cdb, cdb_length: 6, allocation, name }
    }

    /// The command descriptor block.
    #[must_use]
    pub fn cdb(&self) -> &[u8] {
        self.cdb.get(..usize::from(self.cdb_length)).unwrap_or(&self.cdb)
    }

    /// How many bytes it may return.
    #[must_use]
    pub fn allocation(&self) -> usize {
        self.allocation
    }

    /// What it is called in the source of a fact.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// PROTOCOL values of ATA PASS-THROUGH (SAT-3 §12.2.2.2).
const PIO_IN: u8 = 4;
const DMA: u8 = 6;
/// Byte 2: T_DIR to the host, BYT_BLOK and T_LENGTH 2 (the count field tells sectors).
const TO_HOST: u8 = 0x0e;

/// What an NVMe identify command asks for (NVMe base 2.0 §5.17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Identify {
    /// CNS 00h: the namespace.
    Namespace,
    /// CNS 01h: the controller.
    Controller,
    /// CNS 05h, CSI 02h: the namespace in the terms of the Zoned Namespace command set.
    ZonedNamespace,
    /// CNS 06h, CSI 02h: the controller in those terms.
    ZonedController,
}

impl Identify {
    /// Command dwords 10 and 11.
    #[must_use]
    pub fn dwords(self) -> (u32, u32) {
        /// Dword 11 bits 31:24: command set 2.
        const ZONED: u32 = 2 << 24;
        match self {
            Self::Namespace => (0, 0),
            Self::Controller => (1, 0),
            Self::ZonedNamespace => (5, ZONED),
            Self::ZonedController => (6, ZONED),
        }
    }

    /// Whether it is about one namespace.
    #[must_use]
    pub fn is_of_namespace(self) -> bool {
        matches!(self, Self::Namespace | Self::ZonedNamespace)
    }

    /// What it is called in the source of a fact.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Namespace => "NVMe Identify CNS 00h",
            Self::Controller => "NVMe Identify CNS 01h",
            Self::ZonedNamespace => "NVMe Identify CNS 05h CSI 02h",
            Self::ZonedController => "NVMe Identify CNS 06h CSI 02h",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_asks_and_none_has_another_operation_code() {
        let zones = Command::report_zones(0x1_0000_0001, 1023);
        for command in [Command::inquiry(), Command::vpd(0xb1), Command::ata_identify(), zones.clone()] {
            assert!(matches!(command.cdb()[0], 0x12 | 0x85 | 0x95));
        }
        for path in [AtaPath::Pio, AtaPath::Dma] {
            let log = Command::ata_log(0x30, 0x09, path);
            assert_eq!((log.cdb()[2], log.cdb()[8], log.cdb()[10]), (0x0e, 0x30, 0x09));
            assert!(matches!(log.cdb()[14], 0x2f | 0x47));
        }
        assert_eq!(zones.cdb()[2..14], [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0]);
    }

    #[test]
    fn a_report_of_zones_always_has_room_for_its_header() {
        for zones in [0, 1, 1023, u16::MAX] {
            assert!(Command::report_zones(0, zones).allocation() >= ZONES_HEADER);
        }
    }

    #[test]
    fn inquiry_tells_its_allocation_length() {
        assert_eq!(Command::vpd(0x89).cdb(), [0x12, 1, 0x89, 0x02, 0x3c, 0]);
        assert_eq!((Command::vpd(0xb1).allocation(), Command::vpd(0x89).allocation()), (252, 572));
        assert_eq!(Command::inquiry().cdb(), [0x12, 0, 0, 0, 96, 0]);
    }
}
