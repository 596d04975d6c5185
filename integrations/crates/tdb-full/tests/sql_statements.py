"""Random SQL statements over the columns of an array, in the dialects of DataFusion and DuckDB.

Differences between the dialects are written «DataFusion¦DuckDB». `words` selects a dialect.

The statements avoid semantic differences between DuckDB and DataFusion that do not concern arrays:
- DataFusion treats zeros of both signs as equal in comparisons, joins and groups, but as distinct in
  count(DISTINCT …) and ORDER BY. DuckDB treats them as equal everywhere. Floats are therefore neither
  counted as DISTINCT nor used for ORDER BY. The sign of a zero that is a group key, minimum or maximum
  is undefined. Names of such results end with "zero".
- In both, NaN equals itself and is greater than all numbers, and is compared like other numbers.
- Sums of integers have 64 bits in DataFusion, where an overflow is an error, and 128 bits in DuckDB.
- DataFusion computes avg of integers in floats, and DuckDB from an exact sum. The results are equal
  within 1e-12 of the maximum value.
- DataFusion compares times of day only in the same unit, and TIME '…' has nanoseconds. Literals are
  cast.
- Floats are summed only if any order of addition gives the same bits.
"""

import math
import re

import numpy as np


def words(text, side):
    """Returns the statement for DataFusion (1) or DuckDB (2)."""
    return re.sub("«(.*?)¦(.*?)»", rf"\{side}", text, flags=re.DOTALL)


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def literal(column, value):
    if value is None:
        return "NULL"
    if column.kind == "float":
        text = "NaN" if math.isnan(value) else repr(float(value))
        return f"CAST('{text}' AS {'REAL' if column.dtype == 'f4' else 'DOUBLE'})"
    if column.kind == "str":
        return "'" + value.replace("'", "''") + "'"
    if column.kind == "bool":
        return "true" if value else "false"
    if column.kind == "date":
        return f"DATE '{np.datetime64(value, column.unit()).astype('M8[D]')}'"
    if column.kind == "stamp":
        unit = "ns" if column.unit() == "ns" else "us"
        text = "'" + str(np.datetime64(value, column.unit()).astype(f"M8[{unit}]")).replace("T", " ") + "'"
        return f"«TIMESTAMP {text}¦TIMESTAMP_NS {text}»" if unit == "ns" else f"TIMESTAMP {text}"
    if column.kind == "time":
        at = int(np.timedelta64(value, column.unit()).astype("m8[us]").astype("i8"))
        text = f"{at // 3600000000:02}:{at // 60000000 % 60:02}:{at // 1000000 % 60:02}.{at % 1000000:06}"
        kind = {"s": "Time32(s)", "ms": "Time32(ms)", "us": "Time64(µs)"}[column.unit()]
        return f"«arrow_cast('{text}', '{kind}')¦TIME '{text}'»"
    return str(value)


def shown(column):
    """A column of GROUP BY, and the kind of comparison."""
    return quoted(column.name), "zero" if column.kind == "float" else "_"


class Statements:
    """A generator of statements on the columns `columns` of a table. `table` is its name in SQL."""

    def __init__(self, rng, columns, recipe, table):
        self.rng, self.columns, self.recipe, self.table = rng, columns, recipe, table
        self.dimensions = [of for of in columns if of.is_dimension]

    # Conditions are trees: ("and", [..]), ("not", tree) or text.
    def tree(self, depth=0, prefix=""):
        chance = self.rng.random()
        if depth < 3 and chance < 0.4:
            return (self.rng.choice(["and", "or"]), [self.tree(depth + 1, prefix) for _ in range(self.rng.choice([2, 2, 3]))])
        if depth < 3 and chance < 0.5:
            return ("not", [self.tree(depth + 1, prefix)])
        return self.leaf(prefix)

    def leaf(self, prefix=""):
        rng = self.rng
        column = rng.choice(self.columns)
        name = prefix + quoted(column.name)
        values = column.values()
        kinds = ["null", "null2"] + (["compare"] * 6 + ["in"] * 2 + ["between"] * 2 + ["distinct"] if values else [])
        if column.kind == "str":
            kinds += ["like"] * 3
        if column.kind == "bool":
            kinds += ["plain"] * 3
        kind = rng.choice(kinds)
        pick = lambda: self.value(column, values)
        if kind.startswith("null"):
            return f"{name} IS {'NOT ' if kind == 'null2' else ''}NULL"
        if kind == "plain":
            return name
        if kind == "compare":
            sides = [name, pick()]
            operator = rng.choice(["=", "<>", "<", "<=", ">", ">="])
            return f" {operator} ".join(sides if rng.random() < 0.85 else sides[::-1])
        if kind == "in":
            return f"{name} {rng.choice(['', 'NOT '])}IN ({', '.join(pick() for _ in range(rng.choice([1, 2, 3, 5])))}{', NULL' if rng.random() < 0.1 else ''})"
        if kind == "between":
            return f"{name} {rng.choice(['', '', 'NOT '])}BETWEEN {pick()} AND {pick()}"
        if kind == "distinct":
            return f"{name} IS {rng.choice(['', 'NOT '])}DISTINCT FROM {rng.choice([pick(), pick(), 'NULL'])}"
        start = rng.choice([value for value in values if len(value) < 5] or ["a"])
        pattern = rng.choice([start + "%", start[:1] + "%", "%" + start, "%" + start + "%", start[:1] + "_"])
        return f"{name} {rng.choice(['', '', 'NOT '])}LIKE {literal(column, pattern)}"

    def value(self, column, values):
        """Returns a literal: mostly an existing value or a neighbor. Integers are sometimes beyond the type."""
        value = self.rng.choice(values)
        if column.enumeration and column.kind != "bool" and self.rng.random() < 0.2:
            # A value that the enumeration lacks.
            value = "nope" if column.kind == "str" else 5
        elif column.kind == "int" and self.rng.random() < 0.2:
            value += self.rng.choice([-1, 1])
            # Beyond 64 bits the dialects have different types.
            value = max(-(2**63), min(2**64 - 1 if column.dtype == "u8" else 2**63 - 1, value))
        return literal(column, value)

    def where(self):
        return self.tree() if self.rng.random() < 0.85 else None

    def statement(self):
        """Returns the parts of a statement, which `render` converts to text."""
        rng = self.rng
        kind = rng.choice(["rows", "rows", "whole", "group", "top", "join", "bare", "bare", "limit", "distinct"])
        parts = {"kind": kind, "where": None if kind == "bare" else self.where(), "items": []}
        if kind == "rows":
            parts["items"] = [(quoted(of.name), "_") for of in rng.sample(self.columns, rng.randint(1, len(self.columns)))]
        elif kind in ("whole", "bare"):
            parts["items"] = [self.aggregate() for _ in range(rng.randint(1, 5))]
        elif kind == "group":
            keys = rng.sample(self.columns, min(len(self.columns), rng.choice([1, 1, 2])))
            parts["keys"] = [quoted(of.name) for of in keys]
            parts["items"] = [shown(of) for of in keys] + [self.aggregate() for _ in range(rng.randint(1, 3))]
            parts["having"] = rng.choice([None, None, "count(*) > 1"])
        elif kind == "distinct":
            parts["items"] = [shown(of) for of in rng.sample(self.columns, min(len(self.columns), rng.choice([1, 2])))]
        elif kind == "top":
            self.top(parts)
        elif kind == "join":
            self.join(parts)
        else:
            parts["limit"] = f"LIMIT {rng.choice([0, 1, 5, 1000])}"
        return parts

    def aggregate(self, prefix=""):
        """Returns an aggregate, and the kind of comparison of its results."""
        rng = self.rng
        column = rng.choice(self.columns)
        name = prefix + quoted(column.name)
        able = ["count(*)", f"count({name})", f"count({name})", "min", "min", "max", "max"]
        if column.kind != "float":
            able.append(f"count(DISTINCT {name})")
        if column.kind == "int" or (column.kind == "float" and column.mild):
            able += ["sum", "avg"]
        chosen = rng.choice(able)
        if chosen == "sum":
            return (f"«sum({name})¦CAST(sum({name}) AS VARCHAR)»", "sum") if column.kind == "int" else (f"sum({name})", "_")
        if chosen == "avg":
            return (f"avg({name})", "near")
        return (f"{chosen}({name})" if chosen in ("min", "max") else chosen, "zero" if column.kind == "float" else "_")

    def top(self, parts):
        rng = self.rng
        keys = [of for of in rng.sample(self.dimensions, len(self.dimensions))]
        unique = not self.recipe.duplicates
        others = [of for of in self.columns if not of.is_dimension and of.kind != "float"]
        if unique and others and rng.random() < 0.5:
            keys.insert(0, rng.choice(others))
        # Cells with equal keys have no defined order, so only the keys are selected.
        asked = rng.sample(self.columns, rng.randint(1, len(self.columns))) if unique else keys
        parts["items"] = [(quoted(of.name), "_") for of in asked]
        parts["order"] = [f"{quoted(of.name)} {rng.choice(['ASC', 'DESC'])} NULLS {rng.choice(['FIRST', 'LAST'])}" for of in keys]
        parts["limit"] = rng.choice(["", "LIMIT 1", "LIMIT 5", "LIMIT 5", "LIMIT 1000", "LIMIT 3 OFFSET 2", "LIMIT 0"])

    def join(self, parts):
        rng = self.rng
        keys = rng.sample(self.columns, min(len(self.columns), rng.choice([1, 1, 2])))
        parts["join"] = rng.choice(["JOIN", "JOIN", "LEFT JOIN"])
        parts["on"] = " AND ".join(f"a.{quoted(of.name)} = b.{quoted(of.name)}" for of in keys)
        parts["where"] = self.tree(1, rng.choice(["a.", "b."])) if rng.random() < 0.8 else None
        parts["items"] = [self.aggregate(rng.choice(["a.", "b."])) for _ in range(rng.randint(1, 3))]
        parts["items"] = [item for item in parts["items"] if not item[0].startswith(("avg", "sum"))] or [("count(*)", "_")]


def condition(tree):
    if isinstance(tree, str):
        return tree
    what, parts = tree
    if what == "not":
        return f"NOT ({condition(parts[0])})"
    return f" {what.upper()} ".join(f"({condition(part)})" for part in parts)


def render(parts, table, number=0):
    """Returns the statement as text. Names of results begin with a number, and end with the kind of comparison."""
    items = ", ".join(f"{text} AS q{number}_{at}_{how}" for at, (text, how) in enumerate(parts["items"]))
    where = f" WHERE {condition(parts['where'])}" if parts["where"] is not None else ""
    if parts["kind"] == "limit":
        return f"SELECT count(*) AS q{number}_0__ FROM (SELECT * FROM {table}{where} {parts['limit']})"
    if parts["kind"] == "join":
        return f"SELECT {items} FROM {table} a {parts['join']} {table} b ON {parts['on']}{where}"
    text = f"SELECT {'DISTINCT ' if parts['kind'] == 'distinct' else ''}{items} FROM {table}{where}"
    if parts.get("keys"):
        text += f" GROUP BY {', '.join(parts['keys'])}"
        text += f" HAVING {parts['having']}" if parts.get("having") else ""
    if parts.get("order"):
        text += f" ORDER BY {', '.join(parts['order'])} {parts['limit']}"
    return text


def smaller(parts):
    """Returns simpler statements."""
    tree = parts["where"]
    if tree is not None:
        yield {**parts, "where": None}
        yield from ({**parts, "where": less} for less in smaller_tree(tree))
    if len(parts["items"]) > 1 and not parts.get("keys"):
        for at in range(len(parts["items"])):
            yield {**parts, "items": [parts["items"][at]]}
    if parts.get("having"):
        yield {**parts, "having": None}


def smaller_tree(tree):
    if isinstance(tree, str):
        return
    what, parts = tree
    yield from parts
    for at, part in enumerate(parts):
        if len(parts) > 2:
            yield (what, parts[:at] + parts[at + 1 :])
        for less in smaller_tree(part):
            yield (what, [*parts[:at], less, *parts[at + 1 :]])
