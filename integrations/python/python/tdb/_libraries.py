"""Libraries that are imported on use only, and checks of untyped values.

Values of NumPy are ``Any`` within the package: its stubs are partly unknown to strict checkers.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any, TypeGuard

from ._errors import UsageError


def numpy() -> Any:
    """Imports NumPy."""
    import numpy

    return numpy


def pandas() -> Any:
    """Imports pandas."""
    import pandas

    return pandas


def pyarrow() -> Any:
    """Imports pyarrow."""
    import pyarrow

    return pyarrow


def polars() -> Any:
    """Imports polars."""
    import polars

    return polars


def whole(name: str, value: Any, minimum: int = 0) -> int | None:
    """Returns an argument that is an integer of 64 bits or ``None``."""
    if value is None:
        return None
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        raise UsageError(f"{name} is {value!r}; expected an integer")
    if not minimum <= number < 2**64:
        limit = f"{minimum} or more" if number < minimum else "less than 2**64"
        raise UsageError(f"{name} is {number}; expected {limit}")
    return number


def is_list(value: object) -> TypeGuard[list[Any]]:
    """Whether a value is a list."""
    return isinstance(value, list)


def is_tuple(value: object) -> TypeGuard[tuple[Any, ...]]:
    """Whether a value is a tuple."""
    return isinstance(value, tuple)


def is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is a mapping."""
    return isinstance(value, Mapping)


def is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    """Whether a value can be iterated over."""
    return isinstance(value, Iterable)
