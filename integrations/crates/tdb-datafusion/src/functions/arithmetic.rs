//! `+`, `-` and `*` of integers, which report an overflow where DataFusion's wrap around.

use std::sync::Arc;

use datafusion::arrow::compute::kernels::numeric::{add, mul, neg, sub};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::exec_err;
use datafusion::error::Result;
use datafusion::logical_expr::{
    BinaryExpr, ColumnarValue, Expr, Operator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDFImpl, Signature,
    Volatility,
};
use datafusion::physical_expr_common::datum::apply;

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Operation {
    Add,
    Subtract,
    Multiply,
    Negate,
}

impl Operation {
    pub(super) const ALL: [Self; 4] = [Self::Add, Self::Subtract, Self::Multiply, Self::Negate];

    /// The operation of an operator that may overflow without an error.
    pub(crate) fn of(operator: Operator) -> Option<Self> {
        match operator {
            Operator::Plus => Some(Self::Add),
            Operator::Minus => Some(Self::Subtract),
            Operator::Multiply => Some(Self::Multiply),
            _ => None,
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Add => "checked_add",
            Self::Subtract => "checked_subtract",
            Self::Multiply => "checked_multiply",
            Self::Negate => "checked_negate",
        }
    }

    /// The expression as it was written.
    fn written(self, args: &[Expr]) -> Option<Expr> {
        let binary = |operator| match args {
            [left, right] => {
                Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(left.clone()), operator, Box::new(right.clone()))))
            }
            _ => None,
        };
        match self {
            Self::Add => binary(Operator::Plus),
            Self::Subtract => binary(Operator::Minus),
            Self::Multiply => binary(Operator::Multiply),
            Self::Negate => args.first().map(|arg| Expr::Negative(Box::new(arg.clone()))),
        }
    }
}

/// A function that is displayed as the operator that it replaces.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct CheckedArithmetic {
    operation: Operation,
    signature: Signature,
}

impl CheckedArithmetic {
    pub(super) fn new(operation: Operation) -> Self {
        let operands = if operation == Operation::Negate { 1 } else { 2 };
        // The operands have the types that the operator had after coercion.
        Self { operation, signature: Signature::any(operands, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for CheckedArithmetic {
    fn name(&self) -> &str {
        self.operation.name()
    }

    fn display_name(&self, args: &[Expr]) -> Result<String> {
        Ok(self.operation.written(args).map_or_else(|| self.name().to_owned(), |expr| expr.to_string()))
    }

    fn schema_name(&self, args: &[Expr]) -> Result<String> {
        Ok(self.operation.written(args).map_or_else(|| self.name().to_owned(), |expr| expr.schema_name().to_string()))
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
        match (self.operation, &args.args[..]) {
            (Operation::Add, [left, right]) => apply(left, right, add),
            (Operation::Subtract, [left, right]) => apply(left, right, sub),
            (Operation::Multiply, [left, right]) => apply(left, right, mul),
            (Operation::Negate, [ColumnarValue::Array(array)]) => Ok(ColumnarValue::Array(neg(array.as_ref())?)),
            (Operation::Negate, [ColumnarValue::Scalar(value)]) => {
                Ok(ColumnarValue::Scalar(value.arithmetic_negate()?))
            }
            _ => exec_err!("{}: {} operands", self.name(), args.args.len()),
        }
    }
}
