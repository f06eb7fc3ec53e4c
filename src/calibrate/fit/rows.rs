//! Rows of a Jacobian of which most entries are zero.

use nalgebra::DMatrix;

/// A row: columns, rising, with their entries.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row(Vec<(usize, f64)>);

impl Row {
    /// Of entries in any order; those of one column add up.
    pub fn of(entries: impl IntoIterator<Item = (usize, f64)>) -> Self {
        let mut sorted: Vec<(usize, f64)> = entries.into_iter().filter(|e| e.1 != 0.0).collect();
        sorted.sort_by_key(|entry| entry.0);
        let mut row: Vec<(usize, f64)> = Vec::with_capacity(sorted.len());
        for (column, entry) in sorted {
            match row.last_mut() {
                Some(last) if last.0 == column => last.1 += entry,
                _ => row.push((column, entry)),
            }
        }
        Self(row)
    }

    /// Columns with their entries.
    pub fn entries(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.0.iter().copied()
    }

    /// The entry of a column.
    pub fn get(&self, column: usize) -> f64 {
        let found = self.0.binary_search_by_key(&column, |entry| entry.0);
        found.ok().and_then(|at| self.0.get(at)).map_or(0.0, |entry| entry.1)
    }

    /// The product with another row.
    pub fn dot(&self, other: &Self) -> f64 {
        let (mut one, mut two) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut sum = 0.0;
        while let (Some((column, a)), Some((of, b))) = (one.peek(), two.peek()) {
            match column.cmp(of) {
                std::cmp::Ordering::Less => drop(one.next()),
                std::cmp::Ordering::Greater => drop(two.next()),
                std::cmp::Ordering::Equal => {
                    sum += a * b;
                    one.next();
                    two.next();
                }
            }
        }
        sum
    }

    /// The product with a column that is zero where it has no entry.
    pub fn times(&self, column: &[f64]) -> f64 {
        self.0.iter().filter_map(|(at, entry)| Some(entry * column.get(*at)?)).sum()
    }

    /// The row with each entry times `factor` of its column.
    pub fn scaled(&self, factor: impl Fn(usize) -> f64) -> Self {
        Self(self.0.iter().map(|(column, entry)| (*column, entry * factor(*column))).collect())
    }
}

/// Rows of a matrix.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows(pub Vec<Row>);

impl Rows {
    /// `Aᵀ y`, of `columns` entries.
    pub fn transposed_times(&self, y: &[f64], columns: usize) -> Vec<f64> {
        let mut sum = vec![0.0; columns];
        for (row, y) in self.0.iter().zip(y) {
            for (column, entry) in row.entries() {
                if let Some(sum) = sum.get_mut(column) {
                    *sum += entry * y;
                }
            }
        }
        sum
    }

    /// `A x`.
    pub fn times(&self, x: &[f64]) -> Vec<f64> {
        self.0.iter().map(|row| row.times(x)).collect()
    }

    /// `A Aᵀ`, by a full matrix of the columns that have entries: rows of hundreds of entries have most columns
    /// in common.
    pub fn gram(&self) -> DMatrix<f64> {
        let width =
            self.0.iter().filter_map(|row| row.0.last()).map(|(column, _)| column + 1).max();
        let mut place = vec![None; width.unwrap_or(0)];
        let mut columns = 0;
        for (column, _) in self.0.iter().flat_map(Row::entries) {
            place[column].get_or_insert_with(|| {
                columns += 1;
                columns - 1
            });
        }
        let mut full = DMatrix::zeros(columns, self.0.len());
        for (at, row) in self.0.iter().enumerate() {
            for (column, entry) in row.entries() {
                if let Some(place) = place[column] {
                    full[(place, at)] = entry;
                }
            }
        }
        let mut gram = DMatrix::zeros(self.0.len(), self.0.len());
        for (i, one) in full.column_iter().enumerate() {
            for (j, other) in full.column_iter().enumerate().take(i + 1) {
                let product = one.dot(&other);
                gram[(i, j)] = product;
                gram[(j, i)] = product;
            }
        }
        gram
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_full_matrix() {
        let rows = Rows(vec![
            Row::of([(4, 2.0), (0, 1.0), (4, 1.0)]),
            Row::of([(1, 5.0), (4, -1.0)]),
            Row::of([]),
        ]);
        assert_eq!(rows.0[0].entries().collect::<Vec<_>>(), [(0, 1.0), (4, 3.0)]);
        assert_eq!((rows.0[0].get(4), rows.0[0].get(3)), (3.0, 0.0));
        assert_eq!(rows.0[0].dot(&rows.0[1]), -3.0);
        assert_eq!(rows.times(&[1.0, 1.0, 1.0, 1.0, 2.0]), [7.0, 3.0, 0.0]);
        assert_eq!(rows.transposed_times(&[1.0, 2.0, 9.0], 5), [1.0, 10.0, 0.0, 0.0, 1.0]);
        let gram = rows.gram();
        assert_eq!((gram[(0, 0)], gram[(0, 1)], gram[(1, 1)]), (10.0, -3.0, 26.0));
    }
}
