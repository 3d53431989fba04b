//! The command line: parse, run, and say in one line what went wrong.

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use drivescope::app;
use drivescope::config::{Cli, Command};
use tracing_subscriber::EnvFilter;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let filter = EnvFilter::try_from_env("DRIVESCOPE_LOG").unwrap_or_else(|_| EnvFilter::new("info,sqlx=warn"));
    let stderr = std::io::stderr;
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(stderr().is_terminal()).with_writer(stderr).init();
    let result = match cli.command {
        Command::Serve(serve) => app::serve(&serve),
        Command::List(list) => app::list(&list),
        Command::Record(record) => app::record(&record),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("drivescope: {error}");
            ExitCode::FAILURE
        }
    }
}
