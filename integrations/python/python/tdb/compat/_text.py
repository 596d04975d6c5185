"""Schemas as TOML, the form in which the native module takes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import libtiledb as lt
from .datatypes import base_dtype, engine_name, is_text, physical_dtype


def quoted(text: str) -> str:
    """Returns a TOML string."""
    escaped: list[str] = []
    for character in text:
        if character in '"\\':
            escaped.append("\\" + character)
        elif ord(character) < 32 or ord(character) == 127:
            escaped.append(f"\\u{ord(character):04x}")
        else:
            escaped.append(character)
    return '"' + "".join(escaped) + '"'


def value(item: Any) -> str:
    """Returns a TOML value."""
    if isinstance(item, (bool, np.bool_)):
        return "true" if item else "false"
    if isinstance(item, (int, np.integer)):
        number = int(item)
        return str(number) if -(2**63) <= number < 2**63 else quoted(str(number))
    if isinstance(item, (float, np.floating)):
        text = repr(float(item))
        return text if "." in text or "e" in text or "n" in text else text + ".0"
    if isinstance(item, bytes):
        return "{ hex = " + quoted(item.hex()) + " }"
    if isinstance(item, str):
        return quoted(item)
    if isinstance(item, dict):
        pairs: dict[str, Any] = item
        return "{ " + ", ".join(f"{key} = {value(part)}" for key, part in pairs.items()) + " }"
    items: list[Any] = list(item)
    return "[" + ", ".join(value(part) for part in items) + "]"


def section(title: str, keys: dict[str, Any]) -> str:
    """Returns a table of an array of tables, or the top without a title. ``None`` is left out."""
    lines = [f"[[{title}]]"] if title else []
    lines += [f"{key} = {value(item)}" for key, item in keys.items() if item is not None]
    return "\n".join(lines) + "\n\n"


def cell_bytes(datatype: lt.DataType, item: Any) -> bytes:
    """Converts a value of a parsed schema to the bytes of a cell."""
    if isinstance(item, dict):
        found: dict[str, Any] = item
        return bytes.fromhex(found["hex"])
    if isinstance(item, str) and is_text(datatype):
        return item.encode()
    if isinstance(item, list):
        parts: list[Any] = item
        return b"".join(cell_bytes(datatype, part) for part in parts)
    if isinstance(item, str):
        item = int(item)
    return np.array(item, dtype=physical_dtype(datatype)).tobytes()


def scalar(datatype: lt.DataType, item: Any) -> Any:
    """Converts a number of a parsed schema to a Python or NumPy scalar."""
    if item is None:
        return None
    base = base_dtype(datatype)
    if isinstance(item, dict):
        return np.frombuffer(cell_bytes(datatype, item), dtype=base)[0]
    if base.kind in "mM":
        return base.type(int(item), np.datetime_data(base)[0])
    if base.kind == "f":
        return base.type(item)
    return int(item) if base.kind in "iu" else item


def default_fill(datatype: lt.DataType, ncells: int) -> bytes:
    """Returns the default fill value of a cell."""
    name = datatype.name
    count = 1 if ncells == lt.VAR_NUM else ncells
    physical = physical_dtype(datatype)
    if name == "CHAR":
        one = b"\x80"
    elif is_text(datatype) or name == "BOOL":
        one = b"\x00"
    elif physical.kind == "f":
        one = np.array(np.nan, dtype=physical).tobytes()
    elif physical.kind == "i":
        one = np.array(np.iinfo(physical).min, dtype=physical).tobytes()
    elif name.startswith("STRING"):
        one = np.array(0, dtype=physical).tobytes()
    else:
        one = np.array(np.iinfo(physical).max, dtype=physical).tobytes()
    return one * count


def name_of(datatype: lt.DataType) -> str:
    """Returns the name of a datatype in the engine."""
    return engine_name(datatype)
