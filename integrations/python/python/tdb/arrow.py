"""Arrays as datasets of pyarrow, for DuckDB and DataFusion.

>>> import tdb.arrow
>>> calls = tdb.arrow.dataset("path/to/array")                           # doctest: +SKIP
>>> duckdb.sql("SELECT avg(qual) FROM calls WHERE pos < 500")            # doctest: +SKIP
"""

# pyarrow has no stubs.
# pyright: reportUntypedBaseClass=false, reportUnknownArgumentType=false, reportUnknownLambdaType=false
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false, reportUnknownVariableType=false

from __future__ import annotations

import json
import operator
import os
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from ._array import Array
from ._expr import Condition
from ._pushdown import NEGATED, compared, is_date, joined, read_of, replaced, restricted
from ._read import Read

__all__ = ["ReadDataset", "condition", "dataset"]


def dataset(source: Read | Array | str | os.PathLike[str]) -> ReadDataset:
    """Returns a read, an array, or the array at a path or URL, as a dataset.

    The columns and the filter of a scan reach the array, and skip its tiles.
    """
    return ReadDataset(read_of(source))


class ReadDataset(ds.Dataset):
    """A dataset whose scans are reads of an array: see :func:`dataset`."""

    # The methods of the base class use a dataset of C++ that does not exist here, except for those
    # that call `scanner`.
    def __init__(self, read: Read, filter: pc.Expression | None = None) -> None:
        self._read = read
        self._filter = filter
        self._schema = _reader(replaced(read, limit=0)).schema

    def __reduce__(self) -> tuple[Any, ...]:
        return (ReadDataset, (self._read, self._filter))

    @property
    def schema(self) -> pa.Schema:
        """The names and types of the columns."""
        return self._schema

    @property
    def partition_expression(self) -> pc.Expression:
        """A condition of all rows: true."""
        return pc.scalar(True)

    def scanner(
        self, columns: Any = None, filter: pc.Expression | None = None, **_: Any
    ) -> ds.Scanner:
        """Starts a scan. Options of threads and batches have no effect."""
        filters = [part for part in (self._filter, filter) if part is not None]
        both = filters[0] & filters[1] if len(filters) == 2 else next(iter(filters), None)
        reader = _reader(self._part(columns, both))
        return ds.Scanner.from_batches(reader, columns=columns, filter=both)

    def _part(self, columns: Any, filter: pc.Expression | None) -> Read:
        """Returns the read of a scan."""
        read = self._read
        if columns is not None:
            texts = [
                str(filter),
                *(map(str, columns.values()) if isinstance(columns, Mapping) else ()),
            ]
            named = set(() if isinstance(columns, Mapping) else columns)
            # A filter does not list its fields: a word in its text may be one.
            words = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in self._schema.names]
            found = [any(word.search(text) for text in texts) for word in words]
            needed = [
                name
                for name, is_found in zip(self._schema.names, found)
                if is_found or name in named
            ]
            read = replaced(read, columns=needed or self._schema.names[:1])
        return read if filter is None else restricted(read, lambda: condition(filter, read._owner))

    def get_fragments(self, filter: pc.Expression | None = None) -> Iterator[Any]:
        """Returns the only fragment."""
        yield _Fragment(self if filter is None else self.filter(filter))

    def filter(self, expression: pc.Expression) -> ReadDataset:
        """Returns the rows of a filter."""
        both = expression if self._filter is None else self._filter & expression
        return ReadDataset(self._read, both)

    def _missing(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError("use to_table() first")

    join = join_asof = replace_schema = sort_by = _missing


class _Fragment:
    """The rows of a dataset, as DataFusion scans them."""

    def __init__(self, dataset: ReadDataset) -> None:
        self._dataset = dataset

    def scanner(self, schema: pa.Schema | None = None, **options: Any) -> ds.Scanner:
        return self._dataset.scanner(**options)


def _reader(read: Read) -> pa.RecordBatchReader:
    return pa.RecordBatchReader.from_stream(read)


def condition(filter: pc.Expression, array: Array) -> Condition | None:
    """Translates a filter to a condition that holds for at least the rows of the filter.

    Returns ``None`` if no part of the filter has a translation.
    """
    parser = _Parser(str(filter), array)
    try:
        parsed, translate = parser.test()
    except _Unknown:
        return None
    # pyarrow shows the parts of a filter as text alone, and two filters may have the same text.
    return translate(False) if parsed.equals(filter) else None


class _Unknown(Exception):
    """The text of a filter has a part without a translation."""


#: A filter, and its translation, which is negated if the argument is set.
_Test = tuple[pc.Expression, Callable[[bool], Condition | None]]

_OPERATORS: dict[str, Callable[[Any, Any], pc.Expression]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_OPERATOR = re.compile(r" (==|!=|<=|>=|<|>) ")
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"|([-+.:\w]+(?: [0-9:.]+)?)')
_VALUES = re.compile(
    r", \{value_set=[\w\[\]]+:\[\n(.*?)\n\], null_matching_behavior=MATCH\}\)", re.DOTALL
)


class _Parser:
    """A parser of the texts of filters."""

    def __init__(self, text: str, array: Array) -> None:
        self._text = text
        self._place = 0
        self._schema = _reader(array.read(limit=0)).schema
        self._array = array

    def _accepts(self, text: str) -> bool:
        found = self._text.startswith(text, self._place)
        self._place += len(text) if found else 0
        return found

    def _expects(self, text: str) -> None:
        if not self._accepts(text):
            raise _Unknown

    def _matches(self, pattern: re.Pattern[str]) -> re.Match[str]:
        found = pattern.match(self._text, self._place)
        if found is None:
            raise _Unknown
        self._place = found.end()
        return found

    def test(self) -> _Test:
        if self._accepts("("):
            return self._comparison() or self._combination()
        if self._accepts("invert("):
            inner, translate = self.test()
            self._expects(")")
            return (~inner, lambda negated: translate(not negated))
        if self._accepts("is_valid("):
            return (self._field(")").is_valid(), lambda _: None)
        if self._accepts("is_null("):
            return (self._field(", {nan_is_null=false})").is_null(), lambda _: None)
        if self._accepts("if_else("):
            # DuckDB selects the values of a list this way.
            valid, _ = self.test()
            self._expects(", ")
            inner, translate = self.test()
            self._expects(", null[bool])")
            chosen = pc.if_else(valid, inner, pa.scalar(None, pa.bool_()))  # pyright: ignore[reportAttributeAccessIssue]
            return (chosen, translate)
        if self._accepts("is_in("):
            return self._membership()
        raise _Unknown

    def _name(self, follows: str | re.Pattern[str]) -> str | None:
        pattern = follows if isinstance(follows, re.Pattern) else re.compile(re.escape(follows))
        # Longer names first: a name may be the start of another.
        for name in sorted(self._schema.names, key=len, reverse=True):
            end = self._place + len(name)
            if self._text.startswith(name, self._place) and pattern.match(self._text, end):
                self._place = end
                return name
        return None

    def _field(self, follows: str) -> pc.Expression:
        name = self._name(follows)
        if name is None:
            raise _Unknown
        self._expects(follows)
        return pc.field(name)

    def _combination(self) -> _Test:
        left, left_condition = self.test()
        is_and = self._accepts(" and ")
        if not is_and:
            self._expects(" or ")
        right, right_condition = self.test()
        self._expects(")")
        return (
            left & right if is_and else left | right,
            lambda negated: joined(
                left_condition(negated), right_condition(negated), both=is_and != negated
            ),
        )

    def _comparison(self) -> _Test | None:
        name = self._name(_OPERATOR)
        if name is None:
            return None
        sign = self._matches(_OPERATOR)[1]
        value = self._value(name, self._matches(_LITERAL))
        self._expects(")")
        return (
            _OPERATORS[sign](pc.field(name), value),
            lambda negated: self._compared(name, sign, value, negated),
        )

    def _membership(self) -> _Test:
        name = self._name(_VALUES)
        if name is None:
            raise _Unknown
        texts = self._matches(_VALUES)[1].split(",\n")
        found = [_LITERAL.fullmatch(text.strip()) for text in texts]
        if None in found:
            raise _Unknown
        values = [self._value(name, text) for text in found if text is not None]

        def translate(negated: bool) -> Condition | None:
            tests = [self._compared(name, "==", value, negated) for value in values]
            known = [test.text for test in tests if test is not None]
            return (
                Condition(" or ".join(known)) if len(known) == len(values) and not negated else None
            )

        return (pc.field(name).isin(pa.array(values, values[0].type)), translate)

    def _value(self, name: str, literal: re.Match[str]) -> pa.Scalar:
        """Returns a literal in the type of a field."""
        kind = self._schema.field(name).type
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind
        try:
            if literal[1] is not None:
                return pa.scalar(json.loads(literal[0]), kind)
            return pa.scalar(literal[2]).cast(kind)
        except (pa.ArrowException, ValueError) as error:
            raise _Unknown from error

    def _compared(self, name: str, sign: str, value: pa.Scalar, negated: bool) -> Condition | None:
        field = self._array.field(name)
        if negated and field.datatype.startswith("float"):
            # NaN is neither less nor greater.
            return None
        sign = "=" if sign == "==" else sign
        plain = (
            pa.array([value]).to_numpy(zero_copy_only=False)[0] if is_date(field) else value.as_py()
        )
        return compared(field, NEGATED[sign] if negated else sign, plain)
