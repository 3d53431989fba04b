//! The inventory as text for a terminal.

use comfy_table::{CellAlignment, Table, presets};

use crate::model::drive::Inventory;

/// One line a drive, then what was left out.
#[must_use]
pub fn inventory(inventory: &Inventory) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header([
        "NAME",
        "SIZE",
        "KIND",
        "TRAN",
        "MODEL",
        "SERIAL",
        "RECORDING",
        "BASIS",
        "IN USE",
    ]);
    if let Some(size) = table.column_mut(1) {
        size.set_cell_alignment(CellAlignment::Right);
    }
    for drive in &inventory.drives {
        let usage: Vec<_> = drive.usage.iter().map(ToString::to_string).collect();
        table.add_row([
            drive.name.clone(),
            drive.capacity_bytes.decimal(),
            drive.kind.label().to_owned(),
            drive.transport.as_str().to_owned(),
            drive.model.clone().unwrap_or_else(|| "-".to_owned()),
            drive.serial.clone().unwrap_or_else(|| "-".to_owned()),
            drive.recording.state.as_str().to_owned(),
            drive.recording.basis.as_str().to_owned(),
            if usage.is_empty() { "-".to_owned() } else { usage.join("; ") },
        ]);
    }
    let mut text = if inventory.drives.is_empty() { "No drives found.\n".to_owned() } else { table.trim_fmt() + "\n" };
    for left_out in &inventory.left_out {
        text.push_str(&format!("({}: {})\n", left_out.name, left_out.why));
    }
    text
}
