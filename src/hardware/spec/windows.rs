//! Which convolution windows a datapath takes.

use crate::evidence::described;
use crate::model::Window;

described! {
    /// Windows and strides that a datapath takes. What it does not take goes to another engine.
    pub struct WindowLimits {
        /// Heights and widths that it takes; empty means all.
        #[serde(default)]
        pub sizes: Vec<(u64, u64)>,
        /// Largest height and width.
        #[serde(default)]
        pub largest: Option<(u64, u64)>,
        /// Largest stride, either way.
        #[serde(default)]
        pub largest_stride: Option<u64>,
    }
}

impl WindowLimits {
    /// Whether a window is within them.
    pub fn take(&self, window: &Window) -> bool {
        let size = (window.kernel_height, window.kernel_width);
        let stride = window.stride_height.max(window.stride_width);
        (self.sizes.is_empty() || self.sizes.contains(&size))
            && self.largest.is_none_or(|most| size.0 <= most.0 && size.1 <= most.1)
            && self.largest_stride.is_none_or(|most| stride <= most)
    }
}
