"""Random arrays for sql_judge.py. A seed determines a recipe, which TileDB-Py runs.

A recipe is a schema with steps: writes of overlapping boxes or cells, deletes, added and dropped
attributes, consolidations, vacuums. All steps except the first are optional. Failures are shrunk by
omitting steps.
"""

import dataclasses
import math
import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import tiledb

INTEGERS = "i1 i2 i4 i8 u1 u2 u4 u8".split()
WORDS = ["", "a", "ab", "abc", "b", "é漢", "zz", 'quo"te', "it's", "new\nline", "A", " ", "x" * 40]
ASCII = ["", "a", "ab", "abc", "b", "B", "zz", "~", " "]
ENUMERATIONS = {
    "letters": (False, ["z", "", "b", "a"]),
    "sizes": (True, ["s", "m", "l"]),
    "codes": (False, [7, -(2**63), 0, 2**63 - 1]),
    "flags": (False, [True, False]),
}
KINDS = {"codes": "int", "flags": "bool"}
# "No time", which is NULL in SQL.
NO_TIME = -(2**63)


@dataclasses.dataclass
class Column:
    """A dimension or an attribute. `kind` is the kind of SQL type. Values have the form of the array, and dates are numbers."""

    name: str
    kind: str  # int float str bool date stamp time
    dtype: str
    is_dimension: bool = False
    nullable: bool = False
    enumeration: str = None
    mild: bool = True  # for floats: True if sums are exact in any order
    pool: list = None
    domain: tuple = None

    def unit(self):
        return self.dtype[3:-1]

    def arrow(self):
        if self.enumeration in ("codes", "flags"):
            return pa.int64() if self.enumeration == "codes" else pa.bool_()
        if self.enumeration or self.kind == "str":
            return pa.string()
        simple = {"bool": pa.bool_(), "date": pa.date32()}
        if self.kind in simple:
            return simple[self.kind]
        if self.kind == "stamp":
            return pa.timestamp("s" if self.unit() in "hm" else self.unit())
        if self.kind == "time":
            return pa.time64("us") if self.unit() == "us" else pa.time32(self.unit())
        return pa.from_numpy_dtype(np.dtype(self.dtype))

    def for_arrow(self, value):
        """Converts a value of the array to the number of the Arrow type."""
        if self.kind == "date":
            return int(np.datetime64(value, self.unit()).astype("M8[D]").astype("i8"))
        if self.kind == "stamp" and self.unit() in "hm":
            return value * {"h": 3600, "m": 60}[self.unit()]
        return value

    def values(self):
        """Returns all values that a literal may be compared with."""
        return ENUMERATIONS[self.enumeration][1] if self.enumeration else [value for value in self.pool if value != NO_TIME or self.kind == "int"]


def pool(kind, dtype, rng, mild):
    if kind == "int":
        ends = np.iinfo(dtype)
        some = [ends.min, ends.max, 0, 1, 2, 3, rng.randint(ends.min, ends.max), rng.randint(0, 100)]
        return some if mild else some[:2] + some[6:]
    if kind == "float":
        gentle = [1.5, -2.25, 0.25, 7.0, -100.5, 3.0, math.nan, -0.0, 0.0, math.inf]
        info = np.finfo(dtype)
        hard = [float(info.max), float(info.min), float(info.tiny), float(info.smallest_subnormal), 0.1, -math.inf, math.nan, 1.5, -0.0]
        chosen = [value for value in (gentle if mild else hard) if rng.random() < 0.7] or [2.5]
        return [float(np.dtype(dtype).type(value)) for value in chosen]
    if kind == "str":
        return [word for word in (ASCII if dtype == "ascii" else WORDS) if rng.random() < 0.7] or ["only"]
    if kind == "bool":
        return rng.choice([[True, False], [True, False], [True], [False]])
    if kind == "time":
        return [0, 1, 3600, 86399 if dtype.endswith("[s]") else 86399999, 12345, NO_TIME]
    # Years 1700 to 2200, the range of nanoseconds. Other units have a larger range.
    unit = dtype[3:-1]
    texts = ["1970-01-01", "1969-12-31", "2024-02-29", "1700-03-01", "2200-12-31"] + (["0001-01-01", "9999-12-31"] if unit != "ns" else [])
    stamps = [int(np.datetime64(text, unit).astype("i8")) for text in texts] + [NO_TIME]
    return stamps + [1, -1] if kind == "stamp" else stamps


def column(name, rng, is_dense, is_dimension=False):
    if is_dimension:
        kind = rng.choice(["int", "int", "date", "stamp"] if is_dense else ["int", "int", "float", "str", "date", "stamp"])
    else:
        kind = rng.choice(["int", "int", "float", "float", "str", "bool", "date", "stamp", "time", "enum"])
    nullable = not is_dimension and rng.random() < 0.4
    if kind == "enum":
        enumeration = rng.choice(list(ENUMERATIONS))
        return Column(name, KINDS.get(enumeration, "str"), rng.choice(["i1", "u1", "i4", "u2"]), nullable=nullable, enumeration=enumeration)
    dtype = {
        "int": rng.choice(INTEGERS),
        "float": rng.choice(["f4", "f8"]),
        "str": "ascii" if is_dimension else rng.choice(["ascii", "U0", "U0"]),
        "bool": "bool",
        "date": f"M8[{rng.choice('YMWDD')}]",
        "stamp": f"M8[{rng.choice(['s', 'ms', 'us', 'ns', 'h', 'm'])}]",
        "time": f"m8[{rng.choice(['s', 'ms', 'us'])}]",
    }[kind]
    if is_dimension and kind == "date":
        dtype = "M8[D]"
    mild = rng.random() < 0.6
    made = Column(name, kind, dtype, is_dimension, nullable, None, mild)
    made.pool = places(made, rng, is_dense) if is_dimension else pool(kind, dtype, rng, mild)
    return made


def places(dimension, rng, is_dense):
    """Returns the possible coordinates of a dimension, and the domain."""
    if dimension.kind == "str":
        return ASCII
    if dimension.kind == "float":
        dimension.domain = (-1e6, 1e6)
        dimension.mild = False  # 0.1
        return [float(np.dtype(dimension.dtype).type(at)) for at in (-1e6, 1e6, -2.5, 0.0, 1.5, 0.1, 3.0)]
    temporal = dimension.kind != "int"
    ends = np.iinfo("i8" if temporal else dimension.dtype)
    if is_dense:
        first = rng.choice([0, 1, 100, ends.max - 30] + ([-5, ends.min] if ends.min else [])) if not temporal else rng.choice([0, -10, 18000])
        dimension.domain = (first, first + rng.randint(0, 9))
        return list(range(dimension.domain[0], dimension.domain[1] + 1))
    dimension.domain = (-30000, 100000) if temporal else rng.choice([(ends.min, ends.max - 100), (0, 100), (ends.max - 100, ends.max)])
    first, last = dimension.domain
    return sorted({first, last, (first + last) // 2, *(rng.randint(first, last) for _ in range(6)), *(min(last, max(first, at)) for at in range(8))})


def attribute(column, label=None):
    options = {}
    if column.dtype in ("ascii", "U0"):
        options["var"] = True
        if not column.nullable:
            options["fill"] = "?"
    dtype = np.dtype("U0") if column.dtype == "U0" else column.dtype
    return tiledb.Attr(column.name, dtype=dtype, nullable=column.nullable, enum_label=label or column.enumeration, **options)


def enumeration(which, label=None):
    ordered, values = ENUMERATIONS[which]
    return tiledb.Enumeration(label or which, ordered, np.array(values, dtype={"codes": "i8", "flags": "bool"}.get(which, "U1")))


def dimension(column, rng):
    if column.kind == "str":
        return tiledb.Dim(column.name, (None, None), None, dtype="ascii")
    first, last = column.domain
    if column.kind == "float":
        return tiledb.Dim(column.name, (first, last), 1000.0, dtype=column.dtype)
    extent = min(rng.choice([1, 3, 10, 50]), last - first + 1)
    # The last tile must end within the type.
    top = np.iinfo("i8" if column.kind != "int" else column.dtype).max
    if (last - first) // extent * extent + extent - 1 + first > top:
        extent = 1
    if column.kind == "int":
        whole = np.dtype(column.dtype).type
        return tiledb.Dim(column.name, (whole(first), whole(last)), whole(extent), dtype=column.dtype)
    unit = column.unit()
    return tiledb.Dim(column.name, (np.datetime64(first, unit), np.datetime64(last, unit)), np.timedelta64(extent, unit), dtype=column.dtype)


class Recipe:
    """The schema and steps of an array. `alive` are the columns after all steps."""

    def __init__(self, rng):
        self.is_dense = rng.random() < 0.35
        self.duplicates = not self.is_dense and rng.random() < 0.3
        count = rng.choice([1, 1, 2, 2, 3])
        self.dimensions = [column(f"d{at}", rng, self.is_dense, True) for at in range(count)]
        while self.is_dense and len({of.dtype for of in self.dimensions}) > 1:
            self.dimensions = [column(f"d{at}", rng, self.is_dense, True) for at in range(count)]
        self.attributes = [column(name, rng, self.is_dense) for name in [f"a{at}" for at in range(rng.randint(2, 6))]]
        if rng.random() < 0.3:
            self.attributes[0].name = rng.choice(["A b", "select", "ü"])
        self.capacity = rng.choice([2, 5, 10000])
        self.extents = rng.randint(0, 2**32)
        self.steps, self.kept = [], set()
        alive = list(self.attributes)
        for number in range(rng.randint(1, 6)):
            self.step(rng, alive, 1010 + 10 * number, number == 0)
        self.alive = alive

    def step(self, rng, alive, time, is_first):
        self.steps.append(("write", time, self.cells(rng, alive, is_first)))
        chance = rng.random()
        if chance < 0.15:
            self.steps.append(("consolidate", time, None))
            if rng.random() < 0.5:
                self.steps.append(("vacuum", time, None))
        elif chance < 0.4 and not self.is_dense:
            self.steps.append(("delete", time + 3, condition(rng, alive + self.dimensions, self.kept)))
        elif chance < 0.5:
            added = column(f"n{time}", rng, self.is_dense)
            alive.append(added)
            self.steps.append(("add", time + 5, added))
        elif chance < 0.57 and len(alive) > 2:
            # After the drop, the cells deleted by a condition on the attribute are unknown.
            dropped = rng.choice([of for of in alive if of.name not in self.kept] or [None])
            if dropped is not None:
                alive.remove(dropped)
                self.steps.append(("drop", time + 5, dropped.name))

    def cells(self, rng, alive, is_first):
        """Returns coordinates (a box for a dense array), and the cells of the attributes."""
        if self.is_dense:
            box = []
            for of in self.dimensions:
                first, last = sorted(rng.choices(of.pool, k=2)) if not is_first or rng.random() < 0.5 else of.domain
                box.append((first, last))
            places, count = box, math.prod(last - first + 1 for first, last in box)
        else:
            wanted = [tuple(rng.choice(of.pool) for of in self.dimensions) for _ in range(rng.choice([1, 5, 20, 60]))]
            places = wanted if self.duplicates else sorted(set(wanted))
            count = len(places)
        return places, {of.name: (of, [cell(of, rng) for _ in range(count)]) for of in alive}


def cell(column, rng):
    if column.nullable and rng.random() < 0.3:
        return None
    if column.enumeration:
        # Sometimes a position outside of the enumeration.
        return rng.choice([0, 1, 2, 2, 100] if rng.random() < 0.1 else [0, 1, 2])
    return rng.choice(column.pool)


def condition(rng, columns, kept):
    """Returns a condition of a delete, in the syntax of TileDB-Py. Adds the name of its column to a set."""
    able = [of for of in columns if of.kind in ("int", "float", "str") and not of.enumeration]
    able = [of for of in able if of.kind != "float" or not any(math.isnan(value) or math.isinf(value) for value in of.pool)]
    if not able:
        return None
    of = rng.choice(able)
    value = rng.choice(of.pool)
    text = repr(value)
    kept.add(of.name)
    return f"{'dim' if of.is_dimension else 'attr'}('{of.name}') {rng.choice(['==', '<', '>=', '!=', '>'])} {text}"


def numpy_of(column, values):
    """Converts the cells of an attribute to the form of TileDB-Py."""
    dtype = "U0" if column.dtype in ("ascii", "U0") else column.dtype
    if column.nullable:
        kind = pa.string() if dtype == "U0" else None
        if column.kind in ("date", "stamp", "time"):
            mask = np.array([value is None for value in values])
            raw = np.array([value or 0 for value in values], dtype="i8")
            return pa.array(raw, mask=mask), True
        return pa.array(values, kind or (pa.bool_() if dtype == "bool" else pa.from_numpy_dtype(np.dtype(dtype)))), False
    if dtype == "U0":
        cells = np.empty(len(values), dtype=object)
        cells[:] = values
        return cells, False
    if column.kind in ("date", "stamp", "time"):
        return np.array(values, dtype="i8").astype(dtype), False
    return np.array(values, dtype=dtype), False


def make(recipe, uri, rng):
    """Creates the array. Removes steps from the recipe that the reference library refuses."""
    shutil.rmtree(uri, ignore_errors=True)
    domain = tiledb.Domain(*(dimension(of, rng) for of in recipe.dimensions))
    used = sorted({of.enumeration for of in recipe.attributes if of.enumeration})
    options = {} if recipe.is_dense else {"capacity": recipe.capacity, "allows_duplicates": recipe.duplicates}
    fields = [attribute(of) for of in recipe.attributes]
    schema = tiledb.ArraySchema(domain, fields, sparse=not recipe.is_dense, enums=[enumeration(label) for label in used], **options)
    tiledb.Array.create(uri, schema)
    for file in Path(uri, "__schema").iterdir():
        if file.is_file():  # as if created before all writes; names are sorted as text
            file.rename(file.with_name("__1000_1000_" + file.name.rsplit("_", 1)[1]))
    for step in list(recipe.steps):
        try:
            do(recipe, uri, *step)
        except (tiledb.TileDBError, tiledb.libtiledb.TileDBError) as error:
            if step[0] in ("delete", "consolidate", "vacuum"):
                recipe.steps.remove(step)
                continue
            raise RuntimeError(f"{step[0]}: {error}") from error


def do(recipe, uri, what, time, of):
    if what == "write":
        write(recipe, uri, time, *of)
    elif what == "consolidate":
        tiledb.consolidate(uri)
    elif what == "vacuum":
        tiledb.vacuum(uri)
    elif what == "delete":
        if of is not None:
            with tiledb.open(uri, "d", timestamp=time) as array:
                array.query(cond=of).submit()
    else:
        evolution = tiledb.ArraySchemaEvolution()
        evolution.timestamp(time)
        if what == "drop":
            evolution.drop_attribute(of)
        else:
            # An existing enumeration would have to be loaded first, so added attributes get new ones.
            label = of.enumeration and f"{of.enumeration} of {of.name}"
            if label:
                evolution.add_enumeration(enumeration(of.enumeration, label))
            evolution.add_attribute(attribute(of, label))
        evolution.array_evolve(uri)


def write(recipe, uri, time, places, cells):
    with tiledb.open(uri, "w", timestamp=time) as array:
        given = {}
        for name, (of, values) in cells.items():
            if not array.schema.has_attr(name):
                continue  # the step that added the attribute was omitted
            given[name], is_raw = numpy_of(of, values)
            if is_raw:
                given[name] = given[name].cast(pa.int64())
        if recipe.is_dense:
            array.write_subarray(box(array, recipe, places), given)
        else:
            coordinates = [coordinate(of, [place[at] for place in places]) for at, of in enumerate(recipe.dimensions)]
            array[tuple(coordinates) if len(coordinates) > 1 else coordinates[0]] = given


def box(array, recipe, places):
    subarray = tiledb.Subarray(array)
    ends = lambda of, pair: tuple(np.array(pair, dtype="i8").astype(of.dtype)) if of.kind != "int" else tuple(np.array(pair, dtype=of.dtype))
    subarray.add_ranges([[ends(of, pair)] for of, pair in zip(recipe.dimensions, places)])
    return subarray


def coordinate(of, values):
    if of.kind == "str":
        return np.array([value.encode() for value in values], dtype=object)
    return np.array(values, dtype="i8").astype(of.dtype) if of.kind in ("date", "stamp") else np.array(values, dtype=of.dtype)


def read(recipe, uri, columns, time=None):
    """Reads all cells as a table of pyarrow, with the columns of the array."""
    with tiledb.open(uri, timestamp=time) as array:
        here = [of for of in columns if of.is_dimension or array.schema.has_attr(of.name)]
        ends = array.nonempty_domain()
        if ends is None:
            return pa.table({of.name: pa.array([], of.arrow()) for of in here}), here
        found = array.query(coords=True, order="C" if recipe.is_dense else "U")[:]
        cells = {of.name: arrow_of(of, found[of.name]) for of in here}
        if recipe.is_dense:
            inside = np.ones(len(next(iter(cells.values()))), dtype=bool)
            for of, (first, last) in zip(recipe.dimensions, ends):
                coordinates = np.asarray(found[of.name]).ravel()
                inside &= (coordinates >= first) & (coordinates <= last)
            cells = {name: column.filter(pa.array(inside)) for name, column in cells.items()}
        return pa.table(cells), here


def arrow_of(of, cells):
    mask = np.ma.getmaskarray(cells).ravel() if isinstance(cells, np.ma.MaskedArray) else None
    flat = np.asarray(cells.data if mask is not None else cells).ravel()
    if flat.dtype.kind in "mM":
        flat = flat.astype("i8")
    values = [None if mask is not None and mask[at] else value for at, value in enumerate(flat.tolist())]
    if of.enumeration:
        known = ENUMERATIONS[of.enumeration][1]
        values = [known[at] if at is not None and 0 <= at < len(known) else None for at in values]
        return pa.array(values, of.arrow())
    if of.kind == "str":
        return pa.array([value.decode() if isinstance(value, bytes) else value for value in values], of.arrow())
    if of.kind in ("date", "stamp", "time"):
        raw = [None if value in (None, NO_TIME) else of.for_arrow(value) for value in values]
        return pa.array(raw, pa.int32() if of.arrow().bit_width == 32 else pa.int64()).cast(of.arrow())
    if of.kind == "bool":
        return pa.array([None if value is None else bool(value) for value in values], of.arrow())
    return pa.array(values, of.arrow())
