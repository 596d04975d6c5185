"""Settings and contexts. Settings without a meaning for the engine are kept and ignored."""

from __future__ import annotations

import collections
import contextlib
import contextvars
import html
import json
import os
import weakref
from collections.abc import Generator, Iterator, Mapping
from typing import Any

from ._engine import TileDBError

_DEFAULTS: dict[str, str] = {
    "config.env_var_prefix": "TILEDB_",
    "config.logging_format": "DEFAULT",
    "config.logging_level": "0",
    "py.alloc_max_bytes": "",
    "py.deduplicate": "false",
    "py.exact_init_buffer_bytes": "false",
    "py.init_buffer_bytes": "10485760",
    "py.use_arrow": "",
    "rest.server_address": "https://api.tiledb.com",
    "rest.token": "",
    "sm.allow_separate_attribute_writes": "false",
    "sm.check_coord_dups": "true",
    "sm.check_coord_oob": "true",
    "sm.check_global_order": "true",
    "sm.compute_concurrency_level": str(os.cpu_count() or 1),
    "sm.consolidation.amplification": "1.0",
    "sm.consolidation.buffer_size": "50000000",
    "sm.consolidation.max_fragment_size": "18446744073709551615",
    "sm.consolidation.mode": "fragments",
    "sm.consolidation.purge_deleted_cells": "false",
    "sm.consolidation.step_max_frags": "4294967295",
    "sm.consolidation.step_min_frags": "4294967295",
    "sm.consolidation.step_size_ratio": "0.0",
    "sm.consolidation.steps": "4294967295",
    "sm.consolidation.timestamp_end": "18446744073709551615",
    "sm.consolidation.timestamp_start": "0",
    "sm.dedup_coords": "false",
    "sm.encryption_key": "",
    "sm.encryption_type": "NO_ENCRYPTION",
    "sm.group.timestamp_end": "18446744073709551615",
    "sm.group.timestamp_start": "0",
    "sm.io_concurrency_level": str(os.cpu_count() or 1),
    "sm.max_tile_overlap_size": "314572800",
    "sm.mem.total_budget": "10737418240",
    "sm.memory_budget": "5368709120",
    "sm.memory_budget_var": "10737418240",
    "sm.query.condition_evaluator": "ast",
    "sm.query.dense.reader": "refactored",
    "sm.query.sparse_global_order.reader": "refactored",
    "sm.query.sparse_unordered_with_dups.non_overlapping_ranges": "false",
    "sm.query.sparse_unordered_with_dups.reader": "refactored",
    "sm.read_range_oob": "warn",
    "sm.skip_checksum_validation": "false",
    "sm.tile_cache_size": "10000000",
    "sm.vacuum.mode": "fragments",
    "sm.vacuum.timestamp_end": "18446744073709551615",
    "sm.vacuum.timestamp_start": "0",
    "ssl.ca_file": "",
    "ssl.ca_path": "",
    "ssl.verify": "true",
    "vfs.azure.storage_account_key": "",
    "vfs.azure.storage_account_name": "",
    "vfs.file.max_parallel_ops": "1",
    "vfs.file.posix_directory_permissions": "755",
    "vfs.file.posix_file_permissions": "644",
    "vfs.gcs.project_id": "",
    "vfs.max_parallel_ops": str(os.cpu_count() or 1),
    "vfs.min_batch_gap": "512000",
    "vfs.min_batch_size": "20971520",
    "vfs.min_parallel_size": "10485760",
    "vfs.read_ahead_size": "102400",
    "vfs.s3.aws_access_key_id": "",
    "vfs.s3.aws_secret_access_key": "",
    "vfs.s3.aws_session_token": "",
    "vfs.s3.endpoint_override": "",
    "vfs.s3.no_sign_request": "false",
    "vfs.s3.region": "",
    "vfs.s3.scheme": "https",
    "vfs.s3.use_virtual_addressing": "true",
}
_SECRETS = (
    "rest.password",
    "rest.token",
    "sm.encryption_key",
    "key",
    "secret",
    "token",
    "password",
    "username",
)

#: Settings of the C++ library for S3, and the options of the engine.
_S3 = {
    "vfs.s3.aws_access_key_id": "aws_access_key_id",
    "vfs.s3.aws_secret_access_key": "aws_secret_access_key",
    "vfs.s3.aws_session_token": "aws_session_token",
    "vfs.s3.region": "region",
}


def _is_secret(name: str) -> bool:
    last = name.rpartition(".")[2]
    return name in _SECRETS or any(
        word in last for word in ("secret", "token", "password", "access_key", "_key")
    )


class Config:
    """Settings by name. Values are text."""

    def __init__(self, params: Mapping[str, Any] | None = None, path: str | None = None) -> None:
        self._values = dict(_DEFAULTS)
        if path is not None:
            self._read(path)
        for name, value in dict(params or {}).items():
            self[name] = value

    @staticmethod
    def load(uri: str) -> Config:
        """Reads settings from a file: a name and a value per line."""
        return Config(path=uri)

    def _read(self, uri: str) -> None:
        try:
            with open(uri, encoding="utf-8") as file:
                lines = file.read().splitlines()
        except OSError as error:
            raise TileDBError(f"{uri}: cannot read the settings: {error}") from error
        for line in lines:
            words = line.partition("#")[0].split(None, 1)
            if len(words) == 2:
                self._values[words[0]] = words[1].strip()

    def save(self, uri: str) -> None:
        """Writes the settings that differ from the defaults to a file."""
        with open(uri, "w", encoding="utf-8") as file:
            for name, value in sorted(self._values.items()):
                if value and not _is_secret(name):
                    file.write(f"{name} {value}\n")

    def __setitem__(self, key: str, value: Any) -> None:
        text = "true" if value is True else "false" if value is False else str(value)
        check = _DEFAULTS.get(key, "")
        if check.isdigit() and not text.lstrip("-").isdigit():
            raise TileDBError(f"setting {key!r}: {text!r} is not an integer")
        self._values[key] = text

    def __getitem__(self, key: str) -> str:
        return self._values[key]

    def __delitem__(self, key: str) -> None:
        if key in _DEFAULTS:
            self._values[key] = _DEFAULTS[key]
        else:
            self._values.pop(key, None)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Config):
            return NotImplemented
        return self._values == other._values

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def get(self, key: str, *default: Any) -> Any:
        """Returns a setting, or the default."""
        if key in self._values:
            return self._values[key]
        if default:
            return default[0]
        raise KeyError(key)

    def dict(self, prefix: str = "") -> dict[str, str]:
        """Returns the settings whose names begin with the prefix, without it."""
        return {
            name[len(prefix) :]: value
            for name, value in sorted(self._values.items())
            if name.startswith(prefix)
        }

    def keys(self, prefix: str = "") -> list[str]:
        """Returns the names, without the prefix."""
        return list(self.dict(prefix))

    def values(self, prefix: str = "") -> list[str]:
        """Returns the values."""
        return list(self.dict(prefix).values())

    def items(self, prefix: str = "") -> list[tuple[str, str]]:
        """Returns names and values."""
        return list(self.dict(prefix).items())

    def update(self, odict: Mapping[str, Any]) -> None:
        """Sets several settings."""
        for name, value in odict.items():
            self[name] = value

    def clear(self) -> None:
        """Restores all defaults."""
        self._values = {**dict.fromkeys(self._values, ""), **_DEFAULTS}

    def _shown(self) -> list[tuple[str, str]]:
        hidden = "*" * 10
        return [
            (name, hidden if value and _is_secret(name) else value or "''")
            for name, value in sorted(self._values.items())
        ]

    def __repr__(self) -> str:
        rows = self._shown()
        width = max(len(name) for name, _ in rows)
        lines = [f" {'Parameter':<{width}} | Value", f"{'-' * (width + 2)}|{'-' * 40}"]
        return "\n".join(lines + [f" {name:<{width}} | {value}" for name, value in rows])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{name}</td><td>{html.escape(value)}</td></tr>"
            for name, value in self._shown()
        )
        return f"<table><tr><th>Parameter</th><th>Value</th></tr>{rows}</table>"


class Ctx:
    """A context: settings for operations."""

    def __init__(self, config: Config | Mapping[str, Any] | None = None) -> None:
        if config is None:
            self._config = Config()
        elif isinstance(config, Config):
            self._config = config
        elif isinstance(config, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
            self._config = Config(config)
        else:
            raise TypeError(f"unexpected type of config: {config!r}")
        self._tags: dict[str, str] = {}
        #: The requests of closed arrays, and the open arrays.
        self._closed: collections.Counter[str] = collections.Counter()
        self._arrays: weakref.WeakSet[Any] = weakref.WeakSet()

    def config(self) -> Config:
        """Returns the settings."""
        return self._config

    def set_tag(self, key: str, value: str) -> None:
        """Sets a tag. Tags have no effect."""
        self._tags[key] = value

    def get_stats(self, print_out: bool = True, json: bool = False) -> str | None:
        """Returns the requests of the arrays that were opened with this context."""
        from .stats import shown

        total = collections.Counter(self._closed)
        for array in self._arrays:
            total.update(array._counters())
        text = shown(total, json)
        if print_out:
            print(text)
            return None
        return text

    def __repr__(self) -> str:
        return "tiledb.Ctx() [see Ctx.config() for configuration]"

    def _repr_html_(self) -> str:
        return self._config._repr_html_()


_DEFAULT: contextvars.ContextVar[Ctx | None] = contextvars.ContextVar(
    "tdb.compat.ctx", default=None
)
_GLOBAL: list[Ctx] = []
_needs_fork_wrapper = False


def default_ctx(config: Config | Mapping[str, Any] | None = None) -> Ctx:
    """Returns the default context. ``config`` creates it, before any other use."""
    found = _DEFAULT.get() or (_GLOBAL[0] if _GLOBAL else None)
    if found is not None:
        if config is not None:
            raise RuntimeError("the default context is in use; settings come too late")
        return found
    _GLOBAL.append(Ctx(config))
    return _GLOBAL[0]


@contextlib.contextmanager
def scope_ctx(ctx_or_config: Any = None) -> Generator[Ctx, None, None]:
    """Replaces the default context within a ``with`` block."""
    if ctx_or_config is not None and not isinstance(ctx_or_config, (Ctx, Config, Mapping)):
        raise ValueError(
            "scope_ctx takes in `Ctx` object, `Config` object, or dictionary with config parameters"
        )
    context = ctx_or_config if isinstance(ctx_or_config, Ctx) else Ctx(ctx_or_config)
    token = _DEFAULT.set(context)
    try:
        yield context
    finally:
        _DEFAULT.reset(token)


def context(ctx: Ctx | None) -> Ctx:
    """Returns the argument, or the default context."""
    if ctx is None:
        return default_ctx()
    if not isinstance(ctx, Ctx):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"expected a Ctx, found {ctx!r}")
    return ctx


def key_of(ctx: Ctx, key: Any = None) -> bytes | None:
    """Returns the encryption key of an argument or the context."""
    config = ctx.config()
    if key is None and config["sm.encryption_type"] == "AES_256_GCM":
        key = config["sm.encryption_key"]
    if isinstance(key, str):
        key = key.encode()
    if key is None or len(key) == 0:
        return None
    if len(key) != 32:
        raise TileDBError(f"the encryption key has {len(key)} bytes; expected 32 for AES-256")
    return bytes(key)


def storage_options(ctx: Ctx, uri: str) -> dict[str, str]:
    """Returns the options of an object store."""
    if not uri.startswith("s3://"):
        return {}
    config = ctx.config()
    options = {name: config[setting] for setting, name in _S3.items() if config.get(setting, "")}
    endpoint = config.get("vfs.s3.endpoint_override", "")
    if endpoint:
        options["endpoint_url"] = (
            endpoint if "://" in endpoint else f"{config['vfs.s3.scheme']}://{endpoint}"
        )
    if config.get("vfs.s3.no_sign_request", "") == "true":
        options["skip_signature"] = "true"
    return options


def as_built(return_json_string: bool = False) -> Any:
    """Returns the features of the engine."""
    found = {
        "as_built": {
            "parameters": {
                "storage_backends": {
                    "azure": {"enabled": True},
                    "gcs": {"enabled": True},
                    "s3": {"enabled": True},
                },
                "support": {"serialization": {"enabled": False}},
            }
        }
    }
    return json.dumps(found) if return_json_string else found
