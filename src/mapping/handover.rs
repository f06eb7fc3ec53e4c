//! A result that its reader takes from another memory than the one that it was written to.
//!
//! It is read from the one and written to the other, over the link that joins them, before the reader
//! starts: `T = max_c (t_c + B / BW_c)` over both memories and the link. Assumed: something moves it (a
//! DMA controller) that costs no energy of its own.

use super::duration::transfer_time;
use super::place::Price;
use super::plan::Transfer;
use super::traffic::{Sum, transfer};
use crate::cost::Setting;
use crate::evidence::Kind;
use crate::units::{Bytes, Joules};

/// The transfers of a handover.
pub(super) fn handover(
    bytes: Bytes,
    from: usize,
    to: usize,
    setting: Setting<'_>,
) -> Vec<Transfer> {
    let profile = setting.profile;
    let link = profile.link_between(from, to).map(|link| profile.link_channel(link));
    let none = Bytes::ZERO;
    let passes = [(from, bytes, none), (to, none, bytes)].into_iter();
    let passes = passes.chain(link.map(|link| (link, bytes, none)));
    let made = passes.map(|(channel, read, write)| {
        let (bytes_kind, count_kind) = (Kind::STRONGEST, Kind::STRONGEST);
        let sum = Sum { channel, read, write, requests: 1.0, bytes_kind, count_kind };
        transfer(sum, setting)
    });
    made.collect()
}

/// Time and energy of a handover.
pub(super) fn price(bytes: f64, from: usize, to: usize, setting: Setting<'_>) -> Price {
    let transfers = handover(Bytes(bytes), from, to, setting);
    let time = transfers.iter().map(|t| transfer_time(t, setting).0.0).fold(0.0, f64::max);
    let energy: Joules = transfers.iter().map(|t| t.energy).sum();
    Price { time, energy: energy.0 }
}
