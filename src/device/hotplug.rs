//! The kernel's own word that a block device came, went or changed: uevents by netlink, as udev hears them.
//!
//! Only a hint to look again: what is there is always read from sysfs. A container may be denied the socket or hear
//! nothing on it; whoever waits here must look by itself now and then, too.

use std::collections::BTreeSet;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, recvfrom, setsockopt, socket, sockopt,
};

use super::scanner::Fresh;

/// The multicast group of the kernel's events; 2 is udev's, which comes later and not in every host.
const KERNEL_GROUP: u32 = 1;
/// The kernel builds an event in a buffer of 2 KiB (UEVENT_BUFFER_SIZE) and puts a header before it.
const LONGEST_EVENT: usize = 8 * 1024;
/// Room for a thousand events, so that a shelf of drives that is switched on loses none.
const RECEIVE_BUFFER: usize = 4 * 1024 * 1024;

/// An open ear for block devices.
#[derive(Debug)]
pub struct HotplugMonitor {
    socket: OwnedFd,
}

impl HotplugMonitor {
    /// Begins to listen.
    ///
    /// # Errors
    /// When the kernel gives no such socket: no netlink, or a container that is not allowed one.
    pub fn open() -> io::Result<Self> {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        let protocol = SockProtocol::NetlinkKObjectUEvent;
        let socket = socket(AddressFamily::Netlink, SockType::Datagram, flags, protocol)?;
        // Without the privilege for it the kernel's usual buffer has to do.
        let _ = setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER);
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, KERNEL_GROUP))?;
        Ok(Self { socket })
    }

    /// Waits at most `timeout` for block devices to come, go or change, and tells which.
    ///
    /// # Errors
    /// What the kernel said; the monitor is of no use after that.
    pub fn wait(&self, timeout: Duration) -> io::Result<Fresh> {
        let timeout = PollTimeout::try_from(timeout).unwrap_or(PollTimeout::MAX);
        match poll(&mut [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)], timeout) {
            Ok(0) | Err(Errno::EINTR) => return Ok(Fresh::nothing()),
            Ok(_) => {}
            Err(error) => return Err(error.into()),
        }
        let mut touched = BTreeSet::new();
        let mut event = [0_u8; LONGEST_EVENT];
        loop {
            match recvfrom::<NetlinkAddr>(self.socket.as_raw_fd(), &mut event) {
                // Any process may send to this group; only the kernel has the port number 0.
                Ok((length, Some(sender))) if sender.pid() == 0 => {
                    touched.extend(block_device(event.get(..length).unwrap_or_default()));
                }
                Ok(_) | Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(Fresh::Only(touched)),
                // Events were lost, nobody knows which.
                Err(Errno::ENOBUFS) => return Ok(Fresh::All),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

/// The whole block device an event is about: `add@/devices/…/block/sda/sda1` and lines `KEY=value`, each ended by a NUL.
pub(super) fn block_device(event: &[u8]) -> Option<String> {
    let value = |key: &[u8]| {
        let line = event.split(|byte| *byte == 0).find_map(|line| line.strip_prefix(key))?;
        std::str::from_utf8(line).ok()
    };
    if value(b"SUBSYSTEM=")? != "block" {
        return None;
    }
    let mut steps = value(b"DEVPATH=")?.rsplit('/');
    let last = steps.next()?;
    let whole = if value(b"DEVTYPE=") == Some("partition") { steps.next()? } else { last };
    (!whole.is_empty()).then(|| whole.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(lines: &[&str]) -> Vec<u8> {
        lines.iter().flat_map(|line| [line.as_bytes(), b"\0"].concat()).collect()
    }

    #[test]
    fn an_event_names_the_whole_device() {
        let disk = ["add@/x", "ACTION=add", "DEVPATH=/devices/virtual/block/loop3", "SUBSYSTEM=block", "DEVTYPE=disk"];
        assert_eq!(block_device(&event(&disk)).as_deref(), Some("loop3"));
        let part = ["DEVPATH=/devices/pci0000:00/nvme/nvme0/nvme0n1/nvme0n1p2", "SUBSYSTEM=block", "DEVTYPE=partition"];
        assert_eq!(block_device(&event(&part)).as_deref(), Some("nvme0n1"));
        let net = ["DEVPATH=/devices/virtual/net/tun0", "SUBSYSTEM=net"];
        assert_eq!(block_device(&event(&net)), None);
        for garbage in [&b""[..], b"\0\0", b"SUBSYSTEM=block\0", b"SUBSYSTEM=block\0DEVPATH=\0", b"\xff=\xfe\0"] {
            assert_eq!(block_device(garbage), None);
        }
    }

    #[test]
    fn a_quiet_host_ends_the_wait_in_time() {
        // Where the socket is denied there is nothing to test.
        let Ok(monitor) = HotplugMonitor::open() else { return };
        let _ = monitor.wait(Duration::from_millis(10)).unwrap();
    }
}
