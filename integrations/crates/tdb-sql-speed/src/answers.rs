//! Comparison of rows between sides.

use serde_json::Value;

/// Relative tolerance. Sums of floats depend on the order of addition, and pandas adds 32-bit
/// floats without widening.
const TOLERANCE: f64 = 1e-6;

/// Returns the first difference between the rows of two sides, in any order.
pub(crate) fn difference(one: &[Vec<Value>], other: &[Vec<Value>]) -> Option<String> {
    if one.len() != other.len() {
        return Some(format!("{} and {} rows", one.len(), other.len()));
    }
    let (one, other) = (sorted(one), sorted(other));
    let different = one.iter().zip(&other).find(|(one, other)| !are_same(one, other))?;
    Some(format!("{:?} and {:?}", different.0, different.1))
}

fn sorted(rows: &[Vec<Value>]) -> Vec<&Vec<Value>> {
    let key = |row: &Vec<Value>| row.iter().map(key_of).collect::<Vec<_>>();
    let mut rows: Vec<_> = rows.iter().collect();
    rows.sort_by_cached_key(|row| key(row));
    rows
}

fn key_of(value: &Value) -> String {
    value.as_f64().map_or_else(|| value.to_string(), |number| format!("{number:.4e}"))
}

fn are_same(one: &[Value], other: &[Value]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => (one - other).abs() <= TOLERANCE * one.abs().max(other.abs()),
            _ => one == other,
        })
}

#[cfg(test)]
mod tests {
    use super::difference;
    use serde_json::json;

    fn rows(values: &serde_json::Value) -> Vec<Vec<serde_json::Value>> {
        values.as_array().unwrap().iter().map(|row| row.as_array().unwrap().clone()).collect()
    }

    #[test]
    fn row_order_does_not_matter() {
        let (one, other) = (json!([["a", 1, 0.5], ["b", 2, null]]), json!([["b", 2.0, null], ["a", 1, 0.500_000_01]]));
        assert_eq!(difference(&rows(&one), &rows(&other)), None);
    }

    #[test]
    fn other_values_types_and_missing_rows_differ() {
        let one = rows(&json!([["a", 1.0]]));
        for other in [json!([["a", 1.001]]), json!([["b", 1.0]]), json!([["a", null]]), json!([["a"]]), json!([])] {
            assert!(difference(&one, &rows(&other)).is_some(), "{other}");
        }
    }
}
