//! Integer `+`, `-` and `*` with overflow errors. DataFusion's operators wrap around.

use std::sync::Arc;

use datafusion::arrow::compute::kernels::numeric::{add, mul, neg, sub};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl,
    Signature, Volatility,
};
use datafusion::physical_expr_common::datum::apply;

/// Maximum number of operators per function. Longer chains nest, because a function holds all
/// operands in memory at once.
const LONGEST: usize = 64;
const PREFIX: &str = "checked_";
const NEGATE: &str = "checked_negate";

/// An operator that may overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operation {
    Add,
    Subtract,
    Multiply,
}

impl Operation {
    fn of(operator: Operator) -> Option<Self> {
        match operator {
            Operator::Plus => Some(Self::Add),
            Operator::Minus => Some(Self::Subtract),
            Operator::Multiply => Some(Self::Multiply),
            _ => None,
        }
    }

    fn from_sign(sign: char) -> Option<Self> {
        [Self::Add, Self::Subtract, Self::Multiply].into_iter().find(|operation| operation.sign() == sign)
    }

    fn sign(self) -> char {
        match self {
            Self::Add => '+',
            Self::Subtract => '-',
            Self::Multiply => '*',
        }
    }
}

/// A function, displayed as the replaced operators.
///
/// A chain `a + b - c` is one function of three operands, not a nested function. DataFusion
/// repeatedly computes the types and names of everything below a function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct CheckedArithmetic {
    name: String,
    /// Operators from left to right. `None` negates the only operand.
    chain: Option<Vec<Operation>>,
    signature: Signature,
}

impl CheckedArithmetic {
    fn new(chain: Option<Vec<Operation>>) -> Self {
        let signs = |chain: &Vec<Operation>| chain.iter().map(|operation| operation.sign()).collect::<String>();
        let name = chain.as_ref().map_or_else(|| NEGATE.to_owned(), |chain| format!("{PREFIX}{}", signs(chain)));
        let operands = chain.as_ref().map_or(0, Vec::len) + 1;
        // Type coercion has already run on the operands.
        Self { name, chain, signature: Signature::any(operands, Volatility::Immutable) }
    }

    /// Returns the function with this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        if name == NEGATE {
            return Some(Self::new(None));
        }
        let signs = name.strip_prefix(PREFIX).filter(|signs| (1..=LONGEST).contains(&signs.len()))?;
        Some(Self::new(Some(signs.chars().map(Operation::from_sign).collect::<Option<_>>()?)))
    }

    fn of(expr: &Expr) -> Option<&Self> {
        match expr {
            Expr::ScalarFunction(function) => function.func.inner().downcast_ref(),
            _ => None,
        }
    }

    /// Formats the expression with operators.
    fn written(&self, args: &[Expr], text: impl Fn(&Expr) -> String) -> String {
        let operand = |expr: &Expr| if Self::of(expr).is_some() { format!("({})", text(expr)) } else { text(expr) };
        let Some((first, rest)) = args.split_first() else { return self.name.clone() };
        let Some(chain) = &self.chain else { return format!("(- {})", text(first)) };
        let (mut written, mut is_sum) = (operand(first), false);
        for (operation, arg) in chain.iter().zip(rest) {
            if *operation == Operation::Multiply && is_sum {
                written = format!("({written})");
            }
            is_sum = *operation != Operation::Multiply;
            written.push_str(&format!(" {} {}", operation.sign(), operand(arg)));
        }
        written
    }
}

/// Returns `true` if the expression was already replaced.
pub(crate) fn is_checked(expr: &Expr) -> bool {
    CheckedArithmetic::of(expr).is_some()
}

fn call(chain: Option<Vec<Operation>>, args: Vec<Expr>) -> Expr {
    let function: ScalarUDF = CheckedArithmetic::new(chain).into();
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(function), args))
}

/// Creates a checked negation.
pub(crate) fn negated(operand: Expr) -> Expr {
    call(None, vec![operand])
}

/// Creates a checked operation. Extends the chain of the left operand. Returns `None` for operands
/// that are not integers.
pub(crate) fn combined(binary: &BinaryExpr, is_integer: impl Fn(&Expr) -> bool) -> Option<Expr> {
    let (left, right) = (binary.left.as_ref(), binary.right.as_ref());
    let operation = Operation::of(binary.op).filter(|_| is_integer(right) && is_integer(left))?;
    Some(match (left, CheckedArithmetic::of(left).and_then(|function| function.chain.as_ref())) {
        (Expr::ScalarFunction(function), Some(chain)) if chain.len() < LONGEST => {
            let args = function.args.iter().chain([right]).cloned().collect();
            call(Some(chain.iter().copied().chain([operation]).collect()), args)
        }
        _ => call(Some(vec![operation]), vec![left.clone(), right.clone()]),
    })
}

impl ScalarUDFImpl for CheckedArithmetic {
    fn name(&self) -> &str {
        &self.name
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(self.written(args, ToString::to_string))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(self.written(args, |arg| arg.schema_name().to_string()))
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        match types.first() {
            Some(data_type) => Ok(data_type.clone()),
            None => exec_err!("{}: there are no operands", self.name()),
        }
    }

    fn return_field_from_args(&self, args: ReturnFieldArgs<'_>) -> Result<FieldRef> {
        let types: Vec<DataType> = args.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let nullable = args.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, nullable)))
    }

    fn is_strict(&self) -> bool {
        true
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match (&self.chain, &args.args[..]) {
            (None, [ColumnarValue::Array(array)]) => Ok(ColumnarValue::Array(neg(array.as_ref())?)),
            (None, [ColumnarValue::Scalar(value)]) => Ok(ColumnarValue::Scalar(value.arithmetic_negate()?)),
            (Some(chain), [first, rest @ ..]) if chain.len() == rest.len() => {
                chain.iter().zip(rest).try_fold(first.clone(), |left, (operation, right)| match operation {
                    Operation::Add => apply(&left, right, add),
                    Operation::Subtract => apply(&left, right, sub),
                    Operation::Multiply => apply(&left, right, mul),
                })
            }
            (_, args) => exec_err!("{}: {} operands", self.name(), args.len()),
        }
    }
}
