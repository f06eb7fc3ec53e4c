//! Ctrl-C: the first asks for what is known so far, the second ends the program.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A flag that Ctrl-C sets from now on. Pressed again, it ends the program as it does by itself.
pub(super) fn flag() -> io::Result<Arc<AtomicBool>> {
    let pressed = Arc::new(AtomicBool::new(false));
    let signal = signal_hook::consts::SIGINT;
    signal_hook::flag::register_conditional_default(signal, Arc::clone(&pressed))?;
    signal_hook::flag::register(signal, Arc::clone(&pressed))?;
    Ok(pressed)
}
