//! The condition tree and its builder.

use std::collections::HashSet;
use std::ops::{BitAnd, BitOr};

use crate::literal::{Literal, LiteralKind, Value};

/// A condition on a cell: comparisons of fields with values, and combinations of comparisons.
///
/// Start a comparison with [`Condition::field`]. Combine conditions with [`and`](Self::and),
/// [`or`](Self::or) and [`not`](Self::not). Values are [`Literal`]s. In conditions parsed from a
/// file, values are the little-endian bytes of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// A comparison of the field with `value`. Always `false` for null cells, except for the stored
    /// tests for null that [`bind_stored`](Self::bind_stored) describes.
    Compare {
        /// The name of the field.
        field: String,
        /// The comparison operator.
        operator: Operator,
        /// The value.
        value: Literal,
    },
    /// A test for membership in `values`. Always `false` for null cells, also if negated. In stored
    /// conditions, values compare by bytes, including floats.
    Member {
        /// The name of the field.
        field: String,
        /// `true` to match cells that are not members.
        negated: bool,
        /// The values.
        values: Members,
    },
    /// A test for null.
    Null {
        /// The name of the field.
        field: String,
        /// `true` to match cells that are not null.
        negated: bool,
    },
    /// A test for NaN, of any bit pattern. Always `false` for null cells, also if negated.
    Nan {
        /// The name of the field, which must have floats.
        field: String,
        /// `true` to match numbers that are not NaN.
        negated: bool,
    },
    /// A comparison with a result known to the writer. The format has codes for this case, but no
    /// known release stores them.
    Constant {
        /// The name of the field.
        field: String,
        /// The result.
        truth: bool,
        /// The bytes of the value.
        value: Vec<u8>,
    },
    /// `true` if all operands are true.
    And(Vec<Condition>),
    /// `true` if at least one operand is true.
    Or(Vec<Condition>),
    /// The [negation](Condition::negation) of the operand. A comparison and its negation are both
    /// false for null cells and NaNs, except that `!=` is true for NaNs.
    Not(Box<Condition>),
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
}

impl Operator {
    /// All operators, in the order of their codes.
    pub const ALL: [Self; 6] =
        [Self::Less, Self::LessOrEqual, Self::Greater, Self::GreaterOrEqual, Self::Equal, Self::NotEqual];

    /// Returns the operator with this code, or `None` for other codes.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// Returns the code in files.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the inverse operator, which has the opposite result except for NaNs and null cells.
    #[must_use]
    pub const fn negation(self) -> Self {
        match self {
            Self::Less => Self::GreaterOrEqual,
            Self::LessOrEqual => Self::Greater,
            Self::Greater => Self::LessOrEqual,
            Self::GreaterOrEqual => Self::Less,
            Self::Equal => Self::NotEqual,
            Self::NotEqual => Self::Equal,
        }
    }

    /// Returns the symbol.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }

    /// Returns `true` for all operators except `==` and `!=`.
    #[must_use]
    pub const fn is_inequality(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

/// The values of a membership test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    data: Vec<u8>,
    /// The start of each value in `data`: ascending, beginning with 0.
    offsets: Vec<u64>,
    /// The kind of all values.
    kind: LiteralKind,
}

impl Members {
    /// Creates a list from the concatenated bytes of cells and the start of each value.
    ///
    /// Returns `None` unless the offsets begin with 0 and ascend within `data`.
    #[must_use]
    pub fn from_parts(data: Vec<u8>, offsets: Vec<u64>) -> Option<Self> {
        let starts_at_0 = offsets.first().map_or(data.is_empty(), |first| *first == 0);
        let within = offsets.last().is_none_or(|last| *last <= data.len() as u64);
        (starts_at_0 && within && offsets.is_sorted()).then_some(Self { data, offsets, kind: LiteralKind::Cell })
    }

    /// Returns the concatenated values.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Returns the start of each value in [`data`](Self::data).
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// Iterates over the values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let end = |index: usize| self.offsets.get(index + 1).map_or(self.data.len(), |end| *end as usize);
        // `from_parts` has checked that offsets ascend within the data.
        self.offsets.iter().enumerate().map(move |(index, start)| &self.data[*start as usize..end(index)])
    }
}

impl Members {
    /// Appends a value.
    ///
    /// # Errors
    /// Returns the value if its kind differs from the kind of the previous values.
    pub fn push(&mut self, value: Literal) -> Result<(), Literal> {
        if self.offsets.is_empty() {
            self.kind = value.kind();
        } else if self.kind != value.kind() {
            return Err(value);
        }
        self.offsets.push(self.data.len() as u64);
        self.data.extend_from_slice(value.bytes());
        Ok(())
    }

    /// Creates a list of values of one kind.
    pub(crate) fn of_kind(kind: LiteralKind, values: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        Self { kind, ..values.into_iter().collect() }
    }

    /// Returns the kind of the values.
    #[must_use]
    pub fn kind(&self) -> LiteralKind {
        self.kind
    }
}

/// Creates a list from the bytes of cells.
impl<V: AsRef<[u8]>> FromIterator<V> for Members {
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Self {
        let mut members = Self::default();
        for value in values {
            members.offsets.push(members.data.len() as u64);
            members.data.extend_from_slice(value.as_ref());
        }
        members
    }
}

/// A field to compare. See [`Condition::field`].
#[derive(Clone, Debug)]
#[must_use = "a field is not a condition; compare it with a value"]
pub struct Field(String);

macro_rules! comparisons {
    ($($name:ident: $operator:ident;)*) => {$(
        #[doc = concat!("Compares the field with a value by [`Operator::", stringify!($operator), "`].")]
        #[must_use]
        pub fn $name(self, value: impl Value) -> Condition {
            self.compare(Operator::$operator, value)
        }
    )*};
}

impl Field {
    comparisons! {
        lt: Less;
        le: LessOrEqual;
        gt: Greater;
        ge: GreaterOrEqual;
        eq: Equal;
        ne: NotEqual;
    }

    /// Compares the field with `value` by `operator`.
    #[must_use]
    pub fn compare(self, operator: Operator, value: impl Value) -> Condition {
        Condition::Compare { field: self.0, operator, value: value.into_literal() }
    }

    /// Tests whether the field is one of `values`.
    #[must_use]
    pub fn is_in<V: Value>(self, values: impl IntoIterator<Item = V>) -> Condition {
        membership(&self.0, false, values)
    }

    /// Tests whether the field is none of `values`.
    #[must_use]
    pub fn not_in<V: Value>(self, values: impl IntoIterator<Item = V>) -> Condition {
        membership(&self.0, true, values)
    }

    /// Tests whether the field is null.
    #[must_use]
    pub fn is_null(self) -> Condition {
        Condition::Null { field: self.0, negated: false }
    }

    /// Tests whether the field is a NaN.
    #[must_use]
    pub fn is_nan(self) -> Condition {
        Condition::Nan { field: self.0, negated: false }
    }

    /// Tests whether the field is a number: neither NaN nor null.
    #[must_use]
    pub fn is_not_nan(self) -> Condition {
        Condition::Nan { field: self.0, negated: true }
    }

    /// Tests whether the field is not null.
    #[must_use]
    pub fn is_not_null(self) -> Condition {
        Condition::Null { field: self.0, negated: true }
    }
}

/// Builds a membership test, with a list for each kind of value.
fn membership<V: Value>(field: &str, negated: bool, values: impl IntoIterator<Item = V>) -> Condition {
    let mut lists = vec![Members::default()];
    for value in values {
        let mut value = value.into_literal();
        let is_taken = lists.iter_mut().any(|list| match list.push(std::mem::take(&mut value)) {
            Ok(()) => true,
            Err(other) => {
                value = other;
                false
            }
        });
        if !is_taken {
            let mut list = Members::default();
            if list.push(value).is_ok() {
                lists.push(list);
            }
        }
    }
    let mut lists = lists.into_iter().map(|values| Condition::Member { field: field.to_owned(), negated, values });
    match (lists.len(), lists.next()) {
        (1, Some(only)) => only,
        (_, first) if negated => Condition::And(first.into_iter().chain(lists).collect()),
        (_, first) => Condition::Or(first.into_iter().chain(lists).collect()),
    }
}

/// Starts a comparison of an attribute or dimension, like [`Condition::field`].
///
/// ```
/// use tdb_condition::field;
///
/// let wanted = field("qual").gt(30.0) & field("chrom").is_in(["chr1", "chr2"]) & !field("filter").is_null();
/// assert_eq!(wanted.to_string(), r#"qual > 30 and chrom in ("chr1", "chr2") and not filter is null"#);
/// ```
pub fn field(name: impl Into<String>) -> Field {
    Field(name.into())
}

/// The conjunction: both conditions are true.
impl BitAnd for Condition {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.and(other)
    }
}

/// The disjunction: at least one condition is true.
impl BitOr for Condition {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.or(other)
    }
}

/// The negation of the condition.
impl std::ops::Not for Condition {
    type Output = Self;

    fn not(self) -> Self {
        Self::not(self)
    }
}

impl Condition {
    /// Starts a comparison of an attribute or dimension.
    pub fn field(name: impl Into<String>) -> Field {
        Field(name.into())
    }

    /// Returns a condition that is true if both are true.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let mut all = match self {
            Self::And(all) => all,
            one => vec![one],
        };
        match other {
            Self::And(more) => all.extend(more),
            one => all.push(one),
        }
        Self::And(all)
    }

    /// Returns a condition that is true if at least one is true.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let mut any = match self {
            Self::Or(any) => any,
            one => vec![one],
        };
        match other {
            Self::Or(more) => any.extend(more),
            one => any.push(one),
        }
        Self::Or(any)
    }

    /// Negates the condition. Negating twice returns the original condition.
    #[allow(clippy::should_implement_trait)] // the trait is implemented, and this method needs no import
    #[must_use]
    pub fn not(self) -> Self {
        match self {
            Self::Not(node) => *node,
            other => Self::Not(Box::new(other)),
        }
    }

    /// Returns the negation without [`Not`](Self::Not): every comparison is inverted.
    ///
    /// A comparison and its negation are both false for null cells and NaNs, except that `!=` is
    /// true for NaNs. Delete commits store the negation, which is true of the cells to keep.
    #[must_use]
    pub fn negation(&self) -> Self {
        self.pushed_down(true)
    }

    /// Returns an equivalent condition without [`Not`](Self::Not). Negations move into the
    /// comparisons.
    #[must_use]
    pub fn without_not(&self) -> Self {
        self.pushed_down(false)
    }

    fn pushed_down(&self, negate: bool) -> Self {
        let each = |nodes: &[Self]| nodes.iter().map(|node| node.pushed_down(negate)).collect();
        match self {
            Self::Compare { field, operator, value } => Self::Compare {
                field: field.clone(),
                operator: if negate { operator.negation() } else { *operator },
                value: value.clone(),
            },
            Self::Member { field, negated, values } => {
                Self::Member { field: field.clone(), negated: *negated != negate, values: values.clone() }
            }
            Self::Null { field, negated } => Self::Null { field: field.clone(), negated: *negated != negate },
            Self::Nan { field, negated } => Self::Nan { field: field.clone(), negated: *negated != negate },
            Self::Constant { field, truth, value } => {
                Self::Constant { field: field.clone(), truth: *truth != negate, value: value.clone() }
            }
            Self::And(nodes) if negate => Self::Or(each(nodes)),
            Self::Or(nodes) if negate => Self::And(each(nodes)),
            Self::And(nodes) => Self::And(each(nodes)),
            Self::Or(nodes) => Self::Or(each(nodes)),
            Self::Not(node) => node.pushed_down(!negate),
        }
    }

    /// Returns the number of comparisons and combinations.
    #[must_use]
    pub fn node_count(&self) -> u32 {
        self.nodes().iter().map(Self::node_count).fold(1, u32::saturating_add)
    }

    /// Returns the nesting depth, 1 for a single comparison.
    #[must_use]
    pub fn depth(&self) -> u32 {
        // Uses no recursion, because the result determines whether recursion is safe.
        let (mut deepest, mut left) = (0, vec![(self, 1u32)]);
        while let Some((node, depth)) = left.pop() {
            deepest = deepest.max(depth);
            left.extend(node.nodes().iter().map(|within| (within, depth.saturating_add(1))));
        }
        deepest
    }

    /// Returns the operands of a combination.
    fn nodes(&self) -> &[Self] {
        match self {
            Self::And(nodes) | Self::Or(nodes) => nodes,
            Self::Not(node) => std::slice::from_ref(node),
            _ => &[],
        }
    }

    /// Returns the names of all fields, each once, in the order of first use.
    #[must_use]
    pub fn fields(&self) -> Vec<&str> {
        let (mut names, mut known, mut left) = (Vec::new(), HashSet::new(), vec![self]);
        while let Some(node) = left.pop() {
            left.extend(node.nodes().iter().rev());
            if let Self::Compare { field, .. }
            | Self::Member { field, .. }
            | Self::Null { field, .. }
            | Self::Nan { field, .. }
            | Self::Constant { field, .. } = node
                && known.insert(field.as_str())
            {
                names.push(field.as_str());
            }
        }
        names
    }
}
