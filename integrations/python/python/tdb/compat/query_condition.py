"""Conditions: Python expressions as conditions of the engine."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ._engine import TileDBError
from .datatypes import is_text

if TYPE_CHECKING:
    from .array import Array

_OPERATORS: dict[type[ast.cmpop], str] = {
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Eq: "=",
    ast.NotEq: "!=",
}
_MIRRORED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "=", "!=": "!="}
_REFUSED: dict[type[ast.cmpop], str] = {ast.Is: "is", ast.IsNot: "is not"}


class QueryCondition:
    """A condition on attributes and dimensions, such as ``qual > 30 and chrom == 'chr1'``."""

    def __init__(self, expression: str, ctx: Any = None) -> None:
        self.expression = expression
        try:
            self.tree = (
                ast.parse(expression.strip(), mode="eval")
                if "\n" not in expression
                else ast.parse(f"({expression.strip()})", mode="eval")
            )
        except SyntaxError as error:
            raise TileDBError(
                f"Could not parse the given QueryCondition statement: {expression}"
            ) from error

    def __repr__(self) -> str:
        return f"QueryCondition(expression={self.expression!r})"


def condition_text(condition: Any, array: Array) -> str | None:
    """Returns the condition in the language of the engine."""
    if isinstance(condition, str):
        if not condition.strip():
            return None
        condition = QueryCondition(condition)
    if not isinstance(condition, QueryCondition):
        raise TileDBError(f"expected a condition as text, found {condition!r}")
    return _Translator(array).translate(condition.tree.body)


class _Field:
    """An attribute or dimension."""

    def __init__(self, name: str, array: Array) -> None:
        schema = array.schema
        self.enumeration: Any = None
        #: The bytes of a cell of fixed size.
        self.width = 0
        if schema.has_attr(name):
            attr = schema.attr(name)
            self.datatype = attr._tiledb_dtype
            self.dtype = attr.dtype
            if not attr.isvar:
                self.width = attr.dtype.itemsize
            if attr.enum_label is not None:
                self.enumeration = schema.enum(attr.enum_label).values()
        elif schema.domain.has_dim(name):
            if not schema.sparse:
                raise TileDBError("Cannot apply query condition to dimensions on dense arrays")
            dim = schema.domain.dim(name)
            self.datatype = dim._tiledb_dtype
            self.dtype = dim.dtype
        else:
            raise TileDBError(f"Attribute `{name}` not found in schema.")
        self.name = name
        escaped = (
            name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
        )
        self.text = f'"{escaped}"'

    def value(self, item: Any) -> str:
        """Returns a constant in the language of the engine."""
        if self.enumeration is not None:
            return self._of_enumeration(item)
        if is_text(self.datatype):
            if not isinstance(item, (str, bytes)):
                raise TileDBError(
                    f"Type mismatch between attribute `{self.name}` and value `{item}`"
                )
            raw = item.encode() if isinstance(item, str) else item
            # Cells of fixed size end with zeros.
            return f"x'{raw.ljust(self.width, bytes(1)).hex()}'"
        if self.dtype.kind == "M":
            unit = np.datetime_data(self.dtype)[0]
            if isinstance(item, str):
                try:
                    item = np.datetime64(item).astype(self.dtype).astype(np.int64)
                except ValueError as error:
                    raise TileDBError(
                        f"`{item}` is not a date for attribute `{self.name}`"
                    ) from error
            return f"{int(item)}{unit}"
        if isinstance(item, (str, bytes)):
            raise TileDBError(f"Cannot cast `{item!r}` to {self.dtype}.")
        if self.dtype.kind == "b":
            return "true" if item else "false"
        if self.dtype.kind in "iu":
            number = int(item)
            limits = np.iinfo(self.dtype)
            if not limits.min <= number <= limits.max:
                raise TileDBError(f"Cannot cast `{item}` to {self.dtype}.")
            return str(number)
        return repr(float(item))

    def _of_enumeration(self, item: Any) -> str:
        if isinstance(item, bytes):
            item = item.decode("utf-8", "surrogateescape")
        if isinstance(item, str):
            escaped = item.replace("'", "''")
            return f"'{escaped}'"
        if self.enumeration.dtype.kind in "iu":
            return str(int(item))
        if self.enumeration.dtype.kind in "SU":
            raise TileDBError(
                f"Type mismatch between enumeration of `{self.name}` and value `{item}`"
            )
        return repr(item) if not isinstance(item, bool) else str(item).lower()


class _Translator:
    def __init__(self, array: Array) -> None:
        self.array = array

    def translate(self, node: ast.expr) -> str:
        if isinstance(node, ast.BoolOp):
            word = " AND " if isinstance(node.op, ast.And) else " OR "
            return "(" + word.join(self.translate(part) for part in node.values) + ")"
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.BitAnd):
                word = " AND "
            elif isinstance(node.op, ast.BitOr):
                word = " OR "
            else:
                raise TileDBError(
                    f"Unsupported binary operator: {ast.dump(node.op)}. Boolean expression expected."
                )
            return f"({self.translate(node.left)}{word}{self.translate(node.right)})"
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.Invert)):
            return f"(NOT {self.translate(node.operand)})"
        if isinstance(node, ast.Compare):
            return self._compare(node)
        if isinstance(node, ast.Expression):
            return self.translate(node.body)
        raise TileDBError(
            f"Incorrect type for comparison value.: expected a comparison, found `{ast.unparse(node)}`"
        )

    def _compare(self, node: ast.Compare) -> str:
        for operator in node.ops:
            if type(operator) in _REFUSED:
                raise TileDBError(f"the `{_REFUSED[type(operator)]}` operator is not supported")
        first = node.ops[0]
        if isinstance(first, (ast.In, ast.NotIn)):
            return self._membership(node.left, first, node.comparators[0])
        sides = [node.left, *node.comparators]
        parts = [
            self._test(sides[place], node.ops[place], sides[place + 1])
            for place in range(len(node.ops))
        ]
        return parts[0] if len(parts) == 1 else "(" + " AND ".join(parts) + ")"

    def _test(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str:
        word = _OPERATORS.get(type(operator))
        if word is None:
            raise TileDBError(f"Unsupported comparator: {ast.dump(operator)}")
        field = self._name(left)
        constant = right
        if field is None:
            field, constant, word = self._name(right), left, _MIRRORED[word]
        elif self._name(right) is not None and not self._is_constant(right):
            raise TileDBError(
                f"Type mismatch between attribute `{field}` and value `{ast.unparse(right)}`:"
                " right-hand sides must be constant expressions, not variables --"
                " did you mean to quote the right-hand side as a string?"
            )
        if field is None:
            raise TileDBError(
                f"Incorrect type for attribute name: `{ast.unparse(left)}` compares no attribute"
            )
        found = _Field(field, self.array)
        item = self._constant(constant)
        if item is None:
            if word not in ("=", "!="):
                raise TileDBError(f"Null is only comparable by == and !=, not by {word}")
            return f"{found.text} IS {'NOT ' if word == '!=' else ''}NULL"
        return f"{found.text} {word} {found.value(item)}"

    def _membership(self, left: ast.expr, operator: ast.cmpop, right: ast.expr) -> str:
        if isinstance(left, ast.Attribute):
            raise TileDBError(
                f"TileDBError: cannot handle query condition left-hand side of type {type(left)}: {ast.dump(left)}"
            )
        field = self._name(left)
        if field is None:
            raise TileDBError(f"Incorrect type for attribute name: `{ast.unparse(left)}`")
        if not isinstance(right, (ast.List, ast.Tuple, ast.Set)):
            raise TileDBError(f"expected a list of values, found `{ast.unparse(right)}`")
        found = _Field(field, self.array)
        if not right.elts:
            raise TileDBError("At least one value must be provided to the set membership")
        values = ", ".join(found.value(self._constant(item)) for item in right.elts)
        return f"{found.text} {'NOT ' if isinstance(operator, ast.NotIn) else ''}IN ({values})"

    def _call(self, node: ast.expr, functions: tuple[str, ...]) -> Any:
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in functions
        ):
            if len(node.args) != 1:
                raise TileDBError(f"expected one argument: `{ast.unparse(node)}`")
            return node.args[0]
        return None

    def _name(self, node: ast.expr) -> str | None:
        """Returns the name of a field, or ``None`` for another expression."""
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute):
            raise TileDBError(
                f"TileDBError: Unhandled dot operator in {ast.dump(node)} -- if your attribute name has a dot in it,"
                f' e.g. `orig.ident`, please wrap it with `attr("...")`, e.g. `attr("orig.ident")`'
            )
        inner = self._call(node, ("attr", "dim"))
        if inner is None:
            return None
        if not (isinstance(inner, ast.Constant) and isinstance(inner.value, str)):
            raise TileDBError(f"expected a name in quotes: `{ast.unparse(node)}`")
        function = node.func.id  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType, reportUnknownMemberType]
        schema = self.array.schema
        if function == "attr" and not schema.has_attr(inner.value):
            raise TileDBError(f"{inner.value} is not an attribute.")
        if function == "dim" and not schema.domain.has_dim(inner.value):
            raise TileDBError(f"{inner.value} is not a dimension.")
        return inner.value

    def _is_constant(self, node: ast.expr) -> bool:
        return (
            not isinstance(node, (ast.Name, ast.Attribute))
            and self._call(node, ("attr", "dim")) is None
        )

    def _constant(self, node: ast.expr) -> Any:
        inner = self._call(node, ("val",))
        if inner is not None:
            return self._constant(inner)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
            value = self._constant(node.operand)
            if not isinstance(value, (int, float)):
                raise TileDBError(f"expected a number: `{ast.unparse(node)}`")
            return -value if isinstance(node.op, ast.USub) else value
        if isinstance(node, ast.Constant):
            return node.value
        raise TileDBError(f"Incorrect type for comparison value: `{ast.unparse(node)}`")


def deprecated(what: str) -> None:
    """Warns of a deprecated argument."""
    warnings.warn(f"`{what}` is deprecated", DeprecationWarning, stacklevel=3)
