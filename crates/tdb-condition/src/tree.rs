//! The tree of a condition, and how to build one.

use std::collections::HashSet;
use std::ops::{BitAnd, BitOr};

use crate::literal::{Literal, LiteralKind, Value};

/// What a cell must be like: comparisons of its fields with values, and combinations of them.
///
/// [`Condition::field`] begins a comparison; [`and`](Self::and), [`or`](Self::or) and [`not`](Self::not) combine.
/// Values are [`Literal`]s: of conditions that were read from a file the little-endian bytes of cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The field's value stands in this relation to `value`. It is false for null cells.
    Compare {
        /// The field's name.
        field: String,
        /// How they compare.
        operator: Operator,
        /// The value.
        value: Literal,
    },
    /// The field's value equals one of these, or none of them if negated. It is false for null cells, negated or not. In
    /// stored conditions the bytes are compared, those of floats too.
    Member {
        /// The field's name.
        field: String,
        /// Whether it must be none of these.
        negated: bool,
        /// The values.
        values: Members,
    },
    /// The cell is null.
    Null {
        /// The field's name.
        field: String,
        /// Whether it must not be null.
        negated: bool,
    },
    /// The cell is a NaN, of any bits. It is false for null cells, negated or not.
    Nan {
        /// The field's name; it holds floats.
        field: String,
        /// Whether it must not be a NaN.
        negated: bool,
    },
    /// A comparison whose result the writer knew. The format has codes for it; no release is known to store them.
    Constant {
        /// The field's name.
        field: String,
        /// The result.
        truth: bool,
        /// The bytes of the value.
        value: Vec<u8>,
    },
    /// All of these hold.
    And(Vec<Condition>),
    /// Some of these hold.
    Or(Vec<Condition>),
    /// This doesn't hold. It means the [negation](Condition::negation), so that neither this nor what it contains is true
    /// of null cells and NaNs.
    Not(Box<Condition>),
}

/// How a cell's value compares with another.
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

    /// The operator with this code.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.get(usize::from(code)).copied()
    }

    /// The code in files.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// The operator that is true where this one is false, NaNs aside.
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

    /// The usual sign.
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

    /// Whether it asks for more than equality.
    #[must_use]
    pub const fn is_inequality(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

/// The values that a field's value may be one of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Members {
    data: Vec<u8>,
    /// Where each value begins in `data`; ascending, the first one 0.
    offsets: Vec<u64>,
    /// What all of them are.
    kind: LiteralKind,
}

impl Members {
    /// From the bytes of cells back to back and where each begins; `None` unless the first begins at 0 and they ascend within
    /// the data.
    #[must_use]
    pub fn from_parts(data: Vec<u8>, offsets: Vec<u64>) -> Option<Self> {
        let starts_at_0 = offsets.first().map_or(data.is_empty(), |first| *first == 0);
        let within = offsets.last().is_none_or(|last| *last <= data.len() as u64);
        (starts_at_0 && within && offsets.is_sorted()).then_some(Self { data, offsets, kind: LiteralKind::Cell })
    }

    /// The values back to back.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// Where each value begins in [`data`](Self::data).
    #[must_use]
    pub fn offsets(&self) -> &[u64] {
        &self.offsets
    }

    /// The values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        let end = |index: usize| self.offsets.get(index + 1).map_or(self.data.len(), |end| *end as usize);
        // Checked by `from_parts`: offsets ascend within the data.
        self.offsets.iter().enumerate().map(move |(index, start)| &self.data[*start as usize..end(index)])
    }
}

/// Values, all of the same kind.
impl Members {
    /// Appends a value.
    ///
    /// # Errors
    /// The value, if it is of another kind than those before.
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

    /// Values of one kind.
    pub(crate) fn of_kind(kind: LiteralKind, values: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        Self { kind, ..values.into_iter().collect() }
    }

    /// What each value is.
    #[must_use]
    pub fn kind(&self) -> LiteralKind {
        self.kind
    }
}

/// The bytes of cells.
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

/// A field that is about to be compared; see [`Condition::field`].
#[derive(Clone, Debug)]
#[must_use = "a field alone says nothing"]
pub struct Field(String);

macro_rules! comparisons {
    ($($name:ident: $operator:ident;)*) => {$(
        #[doc = concat!("Its value compares as [`Operator::", stringify!($operator), "`] says with this one.")]
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

    /// Its value stands in this relation to `value`.
    #[must_use]
    pub fn compare(self, operator: Operator, value: impl Value) -> Condition {
        Condition::Compare { field: self.0, operator, value: value.into_literal() }
    }

    /// Its value is one of these.
    #[must_use]
    pub fn is_in<V: Value>(self, values: impl IntoIterator<Item = V>) -> Condition {
        membership(&self.0, false, values)
    }

    /// Its value is none of these.
    #[must_use]
    pub fn not_in<V: Value>(self, values: impl IntoIterator<Item = V>) -> Condition {
        membership(&self.0, true, values)
    }

    /// It is null.
    #[must_use]
    pub fn is_null(self) -> Condition {
        Condition::Null { field: self.0, negated: false }
    }

    /// It is a NaN, which equals nothing.
    #[must_use]
    pub fn is_nan(self) -> Condition {
        Condition::Nan { field: self.0, negated: false }
    }

    /// It is a number, and neither a NaN nor null.
    #[must_use]
    pub fn is_not_nan(self) -> Condition {
        Condition::Nan { field: self.0, negated: true }
    }

    /// It is not null.
    #[must_use]
    pub fn is_not_null(self) -> Condition {
        Condition::Null { field: self.0, negated: true }
    }
}

/// Values of several kinds become a list for each kind.
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

/// Begins a comparison of the attribute or dimension with this name, as [`Condition::field`] does.
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

/// Both hold.
impl BitAnd for Condition {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        self.and(other)
    }
}

/// One of them holds, or both.
impl BitOr for Condition {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        self.or(other)
    }
}

/// It doesn't hold.
impl std::ops::Not for Condition {
    type Output = Self;

    fn not(self) -> Self {
        Self::not(self)
    }
}

impl Condition {
    /// Begins a comparison of the attribute or dimension with this name.
    pub fn field(name: impl Into<String>) -> Field {
        Field(name.into())
    }

    /// Both hold.
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

    /// One of them holds, or both.
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

    /// It doesn't hold. Of a condition that is negated already it is what was negated: that means the same.
    #[allow(clippy::should_implement_trait)] // it is, and this needs no import
    #[must_use]
    pub fn not(self) -> Self {
        match self {
            Self::Not(node) => *node,
            other => Self::Not(Box::new(other)),
        }
    }

    /// The condition with every comparison turned round: true where this one is false, but for null cells and NaNs, of
    /// which neither is true. It is what a delete commit stores: cells stay that fulfil it.
    #[must_use]
    pub fn negation(&self) -> Self {
        self.pushed_down(true)
    }

    /// The same condition without [`Not`](Self::Not): negations have moved into the comparisons.
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

    /// Of how many comparisons and combinations it consists.
    #[must_use]
    pub fn node_count(&self) -> u32 {
        let within = match self {
            Self::And(nodes) | Self::Or(nodes) => nodes.iter().map(Self::node_count).fold(0, u32::saturating_add),
            Self::Not(node) => node.node_count(),
            Self::Compare { .. }
            | Self::Member { .. }
            | Self::Null { .. }
            | Self::Nan { .. }
            | Self::Constant { .. } => 0,
        };
        within.saturating_add(1)
    }

    /// How deep it nests: 1 for a comparison alone.
    #[must_use]
    pub fn depth(&self) -> u32 {
        // No recursion: this is what finds that others may not recurse.
        let (mut deepest, mut left) = (0, vec![(self, 1u32)]);
        while let Some((node, depth)) = left.pop() {
            deepest = deepest.max(depth);
            left.extend(node.nodes().iter().map(|within| (within, depth.saturating_add(1))));
        }
        deepest
    }

    /// What it combines.
    fn nodes(&self) -> &[Self] {
        match self {
            Self::And(nodes) | Self::Or(nodes) => nodes,
            Self::Not(node) => std::slice::from_ref(node),
            Self::Compare { .. }
            | Self::Member { .. }
            | Self::Null { .. }
            | Self::Nan { .. }
            | Self::Constant { .. } => &[],
        }
    }

    /// The names of the fields in it, each once, in the order of their first mention.
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
