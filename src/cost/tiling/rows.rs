//! Rows of a product in tiles: output positions of a convolution, whose input overlaps.
//!
//! A tile of `t` output rows reads `min((t - 1) s + r, H)` of the `H` input rows, with `s` the stride and
//! `r` what a window reaches over ([`super::halo`]). `T` tiles read
//!
//! `H + (T - 1) max(r - s, 0)`
//!
//! rows together: each cut is read from both sides. Along the columns likewise, where not even one row fits.

use super::halo;
use super::sizes::tile_sizes;

/// What the rows of a product stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rows {
    /// Rows of a matrix.
    Matrix(u64),
    /// Output positions of a convolution.
    Image(Image),
}

/// Output positions of a convolution, and the input under them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Image {
    /// Images, one after the other.
    pub samples: u64,
    /// Rows and columns of the output.
    pub output: (u64, u64),
    /// Rows and columns of the input.
    pub input: (u64, u64),
    /// Rows and columns of a window.
    pub kernel: (u64, u64),
    /// Step of the window over rows and columns.
    pub stride: (u64, u64),
    /// Distance of the points of a window.
    pub dilation: u64,
}

/// A way to cut the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowTile {
    /// Rows (positions) of the largest tile.
    pub rows: u64,
    /// Tiles.
    pub trips: u64,
    /// Input elements of the largest tile, for each step of the depth.
    pub inside: u64,
    /// Input elements of all tiles, likewise: what two tiles share comes with both.
    pub read: u64,
}

impl Rows {
    /// All of them.
    pub fn extent(&self) -> u64 {
        match self {
            Self::Matrix(rows) => *rows,
            Self::Image(image) => {
                image.output.0.saturating_mul(image.output.1).saturating_mul(image.samples)
            }
        }
    }

    /// Input elements for each step of the depth.
    pub fn elements(&self) -> u64 {
        match self {
            Self::Matrix(rows) => *rows,
            Self::Image(image) => {
                image.input.0.saturating_mul(image.input.1).saturating_mul(image.samples)
            }
        }
    }

    /// The ways to cut them, from the smallest tile to the largest.
    pub fn tiles(&self) -> Vec<RowTile> {
        match self {
            Self::Matrix(all) => {
                let all = (*all).max(1);
                let tile = |rows: u64| RowTile {
                    rows,
                    trips: all.div_ceil(rows),
                    inside: rows,
                    read: all,
                };
                tile_sizes(all).into_iter().map(tile).collect()
            }
            Self::Image(image) => image.tiles(),
        }
    }
}

impl Image {
    /// Parts of a row, whole rows, whole images.
    fn tiles(&self) -> Vec<RowTile> {
        let (height, width) = (self.output.0.max(1), self.output.1.max(1));
        let samples = self.samples.max(1);
        let mut tiles = Vec::new();
        for columns in tile_sizes(width).into_iter().filter(|columns| *columns < width) {
            tiles.push(self.tile(1, columns));
        }
        tiles.extend(tile_sizes(height).into_iter().map(|rows| self.tile(rows, width)));
        let image = self.tile(height, width);
        tiles.extend(tile_sizes(samples).into_iter().skip(1).map(|whole| RowTile {
            rows: image.rows.saturating_mul(whole),
            trips: samples.div_ceil(whole),
            inside: image.inside.saturating_mul(whole),
            ..image
        }));
        tiles
    }

    fn tile(&self, rows: u64, columns: u64) -> RowTile {
        let along = |tile: u64, output: u64, input: u64, kernel: u64, stride: u64| {
            let trips = output.max(1).div_ceil(tile.max(1));
            let shared = halo(1, kernel, stride, self.dilation).saturating_sub(stride);
            let inside = if trips > 1 { halo(tile, kernel, stride, self.dilation) } else { input };
            (trips, inside.min(input), input.saturating_add((trips - 1).saturating_mul(shared)))
        };
        let Self { output, input, kernel, stride, .. } = self;
        let (tall, inside_rows, read_rows) = along(rows, output.0, input.0, kernel.0, stride.0);
        let (wide, inside_columns, read_columns) =
            along(columns, output.1, input.1, kernel.1, stride.1);
        let samples = self.samples.max(1);
        RowTile {
            rows: rows.saturating_mul(columns),
            trips: tall.saturating_mul(wide).saturating_mul(samples),
            inside: inside_rows.saturating_mul(inside_columns),
            read: read_rows.saturating_mul(read_columns).saturating_mul(samples),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tiles_of_rows_read_what_they_share_twice() {
        let image = Image {
            samples: 2,
            output: (8, 6),
            input: (8, 6),
            kernel: (3, 3),
            stride: (1, 1),
            dilation: 1,
        };
        let tiles = Rows::Image(image).tiles();
        let of = |rows: u64| *tiles.iter().find(|t| t.rows == rows).unwrap();
        // Four tiles of two rows: 3 + 4 + 4 + 3 rows of the image, each image.
        assert_eq!(of(12), RowTile { rows: 12, trips: 8, inside: 4 * 6, read: 2 * (8 + 6) * 6 });
        assert_eq!(of(48), RowTile { rows: 48, trips: 2, inside: 48, read: 96 });
        assert_eq!(of(96), RowTile { rows: 96, trips: 1, inside: 96, read: 96 });
        // Parts of a row share columns too.
        assert_eq!(
            of(3),
            RowTile { rows: 3, trips: 32, inside: 3 * 5, read: 2 * (8 + 14) * (6 + 2) }
        );
        let strided = Image { kernel: (1, 1), stride: (2, 2), input: (15, 12), ..image };
        assert!(Rows::Image(strided).tiles().iter().all(|t| t.read == 2 * 15 * 12));
    }

    proptest! {
        /// The closed form against rows counted one by one, with what padding cuts off spread on both ends.
        #[test]
        fn what_tiles_read_together_is_the_sum_of_their_haloes(
            output in 1u64..40, kernel in 1u64..8, stride in 1u64..4, dilation in 1u64..3, rows in 1u64..40,
        ) {
            let reach = halo(1, kernel, stride, dilation);
            prop_assume!(reach >= stride);
            let rows = rows.min(output);
            // Without padding the input is what all windows reach.
            let input = halo(output, kernel, stride, dilation);
            let image = Image {
                samples: 1, output: (output, 1), input: (input, 1), kernel: (kernel, 1),
                stride: (stride, 1), dilation,
            };
            let sum: u64 = (0..output.div_ceil(rows))
                .map(|tile| halo(rows.min(output - tile * rows), kernel, stride, dilation))
                .sum();
            let found = image.tile(rows, 1);
            prop_assert_eq!(found.read, sum);
            prop_assert_eq!(found.inside, halo(rows, kernel, stride, dilation).min(input));
        }
    }
}
