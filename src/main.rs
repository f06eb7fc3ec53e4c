//! Parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    joulecast::cli::main()
}
