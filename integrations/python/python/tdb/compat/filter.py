"""Filters of fields."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from . import libtiledb as lt
from .datatypes import DataType, base_dtype, by_engine_name, engine_name


class Filter:
    """A filter that a writer applies to tiles."""

    _type: ClassVar[lt.FilterType]
    _name: ClassVar[str]

    @property
    def filter_name(self) -> str:
        """The name of the filter in the C++ library."""
        return self._type.name

    def _options(self) -> dict[str, Any]:
        """The options of the engine."""
        return {}

    def _shown(self) -> dict[str, Any]:
        """The arguments of the constructor."""
        return {}

    def _spec(self) -> Any:
        options = {name: value for name, value in self._options().items() if value is not None}
        return {"filter": self._name, **options} if options else self._name

    def __repr__(self) -> str:
        arguments = ",".join(f"{name}={value}" for name, value in self._shown().items())
        return f"{type(self).__name__}({arguments})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Filter):
            return NotImplemented
        return type(self) is type(other) and self._shown() == other._shown()

    def __hash__(self) -> int:
        return hash(repr(self))

    def _attrs_(self) -> dict[str, Any]:
        return self._shown()

    def _repr_html_row_only_(self) -> str:
        shown = self._shown() or {"-": "-"}
        cells = "".join(f"<td>{name}</td><td>{value}</td>" for name, value in shown.items())
        return f"<tr><td>{type(self).__name__}</td>{cells}</tr>"

    def _repr_html_(self) -> str:
        return f"<table><tr><th>Name</th><th>Option</th><th>Value</th></tr>{self._repr_html_row_only_()}</table>"


class CompressionFilter(Filter):
    """A filter that compresses."""

    def __init__(self, level: int = -1) -> None:
        if not isinstance(level, (int, np.integer)):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"expected an integer level, found {level!r}")
        self.level = int(level)

    def _options(self) -> dict[str, Any]:
        return {"level": None if self.level == -1 else self.level}

    def _shown(self) -> dict[str, Any]:
        return {"level": self.level}


class NoOpFilter(Filter):
    """A filter without an effect."""

    _type = lt.FilterType.NONE
    _name = "none"


class GzipFilter(CompressionFilter):
    """The compressor gzip."""

    _type = lt.FilterType.GZIP
    _name = "gzip"


class ZstdFilter(CompressionFilter):
    """The compressor Zstandard."""

    _type = lt.FilterType.ZSTD
    _name = "zstd"


class LZ4Filter(CompressionFilter):
    """The compressor LZ4."""

    _type = lt.FilterType.LZ4
    _name = "lz4"


class Bzip2Filter(CompressionFilter):
    """The compressor bzip2."""

    _type = lt.FilterType.BZIP2
    _name = "bzip2"


class _Plain(CompressionFilter):
    def __init__(self, level: int = -1) -> None:
        super().__init__(level)

    def _options(self) -> dict[str, Any]:
        return {}

    def _shown(self) -> dict[str, Any]:
        return {}


class RleFilter(_Plain):
    """Run-length encoding."""

    _type = lt.FilterType.RLE
    _name = "rle"


class DictionaryFilter(_Plain):
    """Dictionary encoding of texts."""

    _type = lt.FilterType.DICTIONARY
    _name = "dictionary"


class _Reinterpreting(CompressionFilter):
    def __init__(self, level: int = -1, reinterp_dtype: Any = None) -> None:
        super().__init__(level)
        if isinstance(reinterp_dtype, lt.DataType):
            self._datatype: lt.DataType | None = reinterp_dtype
        elif reinterp_dtype is None:
            self._datatype = None
        else:
            self._datatype = DataType.from_numpy(reinterp_dtype).tiledb_type

    @property
    def reinterp_dtype(self) -> Any:
        """The type as which values are compressed. ``None`` is the type of the field."""
        return None if self._datatype is None else base_dtype(self._datatype)

    def _options(self) -> dict[str, Any]:
        return {"reinterpret": None if self._datatype is None else engine_name(self._datatype)}

    def _shown(self) -> dict[str, Any]:
        dtype = self.reinterp_dtype
        return {"reinterp_dtype": None if dtype is None else repr(dtype.name)}


class DeltaFilter(_Reinterpreting):
    """Differences of consecutive values."""

    _type = lt.FilterType.DELTA
    _name = "delta"


class DoubleDeltaFilter(_Reinterpreting):
    """Differences of consecutive differences."""

    _type = lt.FilterType.DOUBLE_DELTA
    _name = "double_delta"


class _Windowed(Filter):
    _default: ClassVar[int]

    def __init__(self, window: int = -1) -> None:
        self.window = int(window) if window >= 0 else self._default

    def _options(self) -> dict[str, Any]:
        return {"max_window": None if self.window == self._default else self.window}

    def _shown(self) -> dict[str, Any]:
        return {"window": self.window}


class BitWidthReductionFilter(_Windowed):
    """Fewer bits for integers of a window."""

    _type = lt.FilterType.BIT_WIDTH_REDUCTION
    _name = "bit_width_reduction"
    _default = 256


class PositiveDeltaFilter(_Windowed):
    """Differences of increasing integers."""

    _type = lt.FilterType.POSITIVE_DELTA
    _name = "positive_delta"
    _default = 1024


class BitShuffleFilter(Filter):
    """Transposes the bits of values."""

    _type = lt.FilterType.BITSHUFFLE
    _name = "bitshuffle"


class ByteShuffleFilter(Filter):
    """Transposes the bytes of values."""

    _type = lt.FilterType.BYTESHUFFLE
    _name = "byteshuffle"


class XORFilter(Filter):
    """XOR of consecutive values."""

    _type = lt.FilterType.XOR
    _name = "xor"


class ChecksumMD5Filter(Filter):
    """A checksum by MD5."""

    _type = lt.FilterType.CHECKSUM_MD5
    _name = "md5"


class ChecksumSHA256Filter(Filter):
    """A checksum by SHA-256."""

    _type = lt.FilterType.CHECKSUM_SHA256
    _name = "sha256"


class FloatScaleFilter(Filter):
    """Stores floats as integers: ``round((value - offset) / factor)``."""

    _type = lt.FilterType.SCALE_FLOAT
    _name = "float_scale"

    def __init__(self, factor: float = 1.0, offset: float = 0.0, bytewidth: int = 8) -> None:
        self.factor = float(factor)
        self.offset = float(offset)
        self.bytewidth = int(bytewidth)

    def _options(self) -> dict[str, Any]:
        return {"scale": self.factor, "offset": self.offset, "byte_width": self.bytewidth}

    def _shown(self) -> dict[str, Any]:
        return {"factor": self.factor, "offset": self.offset, "bytewidth": self.bytewidth}


class WebpFilter(Filter):
    """The image format WebP."""

    _type = lt.FilterType.WEBP
    _name = "webp"
    WebpInputFormat = lt.WebpInputFormat

    def __init__(
        self,
        input_format: Any = lt.WebpInputFormat.WEBP_NONE,
        quality: float = 100.0,
        lossless: bool = False,
    ) -> None:
        self.input_format = lt.WebpInputFormat(input_format)
        self.quality = float(quality)
        self.lossless = bool(lossless)
        #: Options that follow from the tile extents of a stored array.
        self._extents: dict[str, Any] = {}

    def _options(self) -> dict[str, Any]:
        form = self.input_format.name.removeprefix("WEBP_").lower()
        return {"format": form, "quality": self.quality, "lossless": self.lossless, **self._extents}

    def _shown(self) -> dict[str, Any]:
        return {
            "input_format": self.input_format,
            "quality": self.quality,
            "lossless": int(self.lossless),
        }

    def __repr__(self) -> str:
        return (
            f"WebpFilter(input_format=WebpInputFormat.{self.input_format.name},"
            f"quality={self.quality},lossless={int(self.lossless)})"
        )


_BY_NAME: dict[str, type[Filter]] = {
    kind._name: kind
    for kind in (
        NoOpFilter, GzipFilter, ZstdFilter, LZ4Filter, Bzip2Filter, RleFilter, DictionaryFilter, DeltaFilter,
        DoubleDeltaFilter, BitWidthReductionFilter, PositiveDeltaFilter, BitShuffleFilter, ByteShuffleFilter,
        XORFilter, ChecksumMD5Filter, ChecksumSHA256Filter, FloatScaleFilter, WebpFilter,
    )
}  # fmt: skip


def _of_spec(spec: Any) -> Filter:
    options: dict[str, Any] = {"filter": spec} if isinstance(spec, str) else dict(spec)
    name = options.pop("filter")
    kind = _BY_NAME.get(name)
    if kind is None:
        raise NotImplementedError(f"the filter {name!r} has no class in this module")
    if issubclass(kind, _Reinterpreting):
        datatype = options.get("reinterpret")
        return kind(-1, None if datatype is None else by_engine_name(datatype))
    if issubclass(kind, _Plain):
        return kind()
    if issubclass(kind, CompressionFilter):
        return kind(options.get("level", -1))
    if issubclass(kind, _Windowed):
        return kind(options.get("max_window", -1))
    if kind is FloatScaleFilter:
        return FloatScaleFilter(
            options.get("scale", 1.0), options.get("offset", 0.0), options.get("byte_width", 8)
        )
    if kind is WebpFilter:
        form = lt.WebpInputFormat[f"WEBP_{options.pop('format', 'none').upper()}"]
        found = WebpFilter(form, options.pop("quality", 100.0), options.pop("lossless", False))
        found._extents = options
        return found
    return kind()


class FilterList:
    """Filters that a writer applies in order."""

    def __init__(
        self,
        filters: Iterable[Filter] | None = None,
        chunksize: int | None = None,
        ctx: Any = None,
    ) -> None:
        self._filters: list[Filter] = []
        self._chunksize = 65536 if chunksize is None else int(chunksize)
        for item in filters or ():
            self.append(item)

    @property
    def chunksize(self) -> int:
        """The bytes per chunk."""
        return self._chunksize

    def append(self, filter: Filter) -> None:
        """Adds a filter to the end."""
        if not isinstance(filter, Filter):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ValueError("filter argument must be a TileDB filter object")
        self._filters.append(filter)

    @property
    def nfilters(self) -> int:
        """The number of filters."""
        return len(self._filters)

    def __len__(self) -> int:
        return len(self._filters)

    def __iter__(self) -> Iterator[Filter]:
        return iter(self._filters)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return [self._filters[place] for place in range(*idx.indices(len(self._filters)))]
        if not isinstance(idx, (int, np.integer)):
            raise TypeError(f"filter list index must be an integer or a slice, found {idx!r}")
        place = int(idx) + (len(self._filters) if idx < 0 else 0)
        if not 0 <= place < len(self._filters):
            raise IndexError(f"filter index {idx} is out of range for {len(self._filters)} filters")
        return self._filters[place]

    def __eq__(self, other: object) -> bool:
        if other is None:
            return False
        if isinstance(other, FilterList):
            return self._filters == other._filters and self._chunksize == other._chunksize
        if isinstance(other, Sequence):
            others: Sequence[Any] = other
            return self._filters == list(others)
        return NotImplemented

    def __hash__(self) -> int:
        return hash((tuple(self._filters), self._chunksize))

    def __repr__(self) -> str:
        shown = ",\n       ".join(repr(item) for item in self._filters)
        return f"FilterList([{shown}])"

    def _in_line(self) -> str:
        """Returns the form within attributes and dimensions."""
        return "FilterList([" + "".join(f"{item!r}, " for item in self._filters) + "])"

    def _repr_html_(self) -> str:
        if not self._filters:
            return "-"
        rows = "".join(item._repr_html_row_only_() for item in self._filters)
        return f"<section><table><tr><th>Name</th><th>Option</th><th>Level</th></tr>{rows}</table></section>"

    def _spec(self) -> Any:
        specs = [item._spec() for item in self._filters]
        return (
            specs
            if self._chunksize == 65536
            else {"max_chunk_size": self._chunksize, "filters": specs}
        )

    @classmethod
    def _of_spec(cls, spec: Any) -> FilterList:
        if isinstance(spec, dict):
            return cls([_of_spec(item) for item in spec["filters"]], spec["max_chunk_size"])
        return cls([_of_spec(item) for item in spec or ()])


def filter_list(filters: Any) -> FilterList:
    """Returns a list of filters for the argument of a constructor."""
    if filters is None:
        return FilterList()
    if isinstance(filters, FilterList):
        return filters
    if isinstance(filters, Filter):
        return FilterList([filters])
    if not isinstance(filters, Iterable):
        raise TypeError(f"expected a FilterList or a sequence of filters, found {filters!r}")
    items: Iterable[Any] = filters
    return FilterList(items)
