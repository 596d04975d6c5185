"""Writes `cohort.tar.gz`: simulated variants of 24 samples, in the layout of TileDB-VCF.

    pip install tiledb==0.36.1
    python genomics.py

TileDB-VCF is not on PyPI. Therefore this script writes the documented arrays with TileDB-Py: a
sparse array of records by contig, position and sample, and an array of VCF headers. A field of
FORMAT is a type, a count and values, as TileDB-VCF writes it. The texts lack the last NUL of
TileDB-VCF, because NumPy removes it.
"""

from __future__ import annotations

import struct
import tempfile
from pathlib import Path

import numpy as np
import tiledb
from pack import pack

ANCHOR_GAP = 1000
CONTIGS = {"chr7": (55_019_000, 55_060_000), "chr17": (7_668_000, 7_690_000)}
FILTERS = ["PASS", "LowQual", "StrandBias"]
#: The type of integers in htslib.
INTEGERS = 1
SAMPLES = [f"{group}{number:02}" for group in ("EAST", "WEST") for number in range(1, 13)]
TRANSITIONS = {"A": "G", "G": "A", "C": "T", "T": "C"}

random = np.random.default_rng(1001)


def sites() -> list[dict]:
    """Creates sites with an allele frequency per group."""
    found = []
    for contig, (first, last) in CONTIGS.items():
        for position in np.sort(
            random.choice(np.arange(first, last), (last - first) // 260, False)
        ):
            reference = str(random.choice(list("ACGT")))
            kind = random.random()
            if kind < 0.62:
                alternative = TRANSITIONS[reference]
            elif kind < 0.90:
                others = set("ACGT") - {reference, TRANSITIONS[reference]}
                alternative = str(random.choice(sorted(others)))
            elif kind < 0.96:
                alternative = reference + "".join(
                    random.choice(list("ACGT"), random.integers(1, 6))
                )
            else:
                alternative = reference
                reference += "".join(random.choice(list("ACGT"), random.integers(1, 9)))
            frequency = float(np.clip(random.beta(0.5, 2.2), 0.02, 0.95))
            drift = random.normal(0, 0.08, 2)
            if random.random() < 0.05:
                # A few sites differ a lot between the groups.
                drift = np.array([0.45, -0.45]) * random.choice([-1, 1])
            found.append(
                {
                    "contig": contig,
                    "pos": int(position),
                    "alleles": f"{reference},{alternative}",
                    "id": f"rs{random.integers(10**6, 10**8)}" if random.random() < 0.7 else ".",
                    "frequency": np.clip(frequency + drift, 0.005, 0.98),
                    "filter": int(random.choice(3, p=[0.9, 0.07, 0.03])),
                }
            )
    return found


def field(*values: int) -> bytes:
    return struct.pack(f"<ii{len(values)}i", INTEGERS, len(values), *values)


def genotype(first: int, second: int) -> bytes:
    # htslib: twice the allele plus 1, and the lowest bit for a phased allele.
    return field((first + 1) << 1, (second + 1) << 1)


def records(sample: str, all_sites: list[dict]) -> list[tuple]:
    """Creates the records of a gVCF: variants, and blocks of the reference between them."""
    rows: list[tuple] = []
    group = 0 if sample.startswith("EAST") else 1
    mean_depth = random.uniform(24, 40)

    def add(contig, start, end, real_start, alleles, name, qual, flag, gt, depth, quality):
        filters = struct.pack("<ii", 1, flag)
        rows.append(
            (
                contig,
                start,
                sample,
                real_start,
                end,
                qual,
                alleles,
                name,
                np.frombuffer(filters, np.int32),
                gt,
                field(depth),
                field(quality),
            )
        )

    def reference_block(contig, first, last):
        depth = int(random.poisson(mean_depth))
        if random.random() < 0.05:
            depth = int(random.poisson(5))
        quality = min(99, depth * 3)
        base = str(random.choice(list("ACGT")))
        # A long record is repeated at each anchor, so that a query of a range finds it.
        for start in range(first, last + 1, ANCHOR_GAP):
            add(
                contig,
                start,
                last,
                first,
                f"{base},<NON_REF>",
                ".",
                np.float32(0),
                0,
                genotype(0, 0),
                depth,
                quality,
            )

    for contig, (first, last) in CONTIGS.items():
        covered = first
        for site in (site for site in all_sites if site["contig"] == contig):
            calls = random.random(2) < site["frequency"][group]
            if site["pos"] < covered or not calls.any():
                continue
            if covered < site["pos"]:
                reference_block(contig, covered, site["pos"] - 1)
            depth = int(random.poisson(mean_depth)) + 1
            good = site["filter"] == 0
            qual = np.float32(
                round(depth * (random.uniform(18, 30) if good else random.uniform(0.4, 1.1)), 1)
            )
            end = site["pos"] + len(site["alleles"].split(",")[0]) - 1
            add(
                contig,
                site["pos"],
                end,
                site["pos"],
                site["alleles"],
                site["id"],
                qual,
                site["filter"],
                genotype(*sorted(int(call) for call in calls)),
                depth,
                min(99, depth * 3 if good else depth),
            )
            covered = end + 1
        if covered < last:
            reference_block(contig, covered, last - 1)
    return rows


def header(sample: str) -> str:
    lines = ["##fileformat=VCFv4.2", *(f"##FILTER=<ID={name}>" for name in FILTERS)]
    lines += [f"##contig=<ID={contig}>" for contig in CONTIGS]
    lines += ["#CHROM POS ID REF ALT QUAL FILTER INFO FORMAT".replace(" ", "\t") + "\t" + sample]
    return "\n".join(lines) + "\n"


def create(folder: Path) -> None:
    zstd = tiledb.FilterList([tiledb.ZstdFilter(9)])
    tiledb.group_create(str(folder))
    last = 2**32 - 2
    domain = tiledb.Domain(
        tiledb.Dim("contig", (None, None), None, zstd, "ascii"),
        tiledb.Dim("start_pos", (0, last), last, zstd, np.uint32),
        tiledb.Dim("sample", (None, None), None, zstd, "ascii"),
    )
    attributes = [
        tiledb.Attr("real_start_pos", dtype=np.uint32, filters=zstd),
        tiledb.Attr("end_pos", dtype=np.uint32, filters=zstd),
        tiledb.Attr("qual", dtype=np.float32, filters=zstd),
        tiledb.Attr("alleles", dtype="ascii", var=True, filters=zstd),
        tiledb.Attr("id", dtype="ascii", var=True, filters=zstd),
        tiledb.Attr("filter_ids", dtype=np.int32, var=True, filters=zstd),
        *(
            tiledb.Attr(f"fmt_{name}", dtype=np.uint8, var=True, filters=zstd)
            for name in ("GT", "DP", "GQ")
        ),
    ]
    offsets = tiledb.FilterList([tiledb.DoubleDeltaFilter(), tiledb.ZstdFilter(9)])
    schema = tiledb.ArraySchema(
        domain,
        attributes,
        sparse=True,
        allows_duplicates=True,
        capacity=512,
        offsets_filters=offsets,
    )
    tiledb.Array.create(str(folder / "data"), schema)
    headers = tiledb.ArraySchema(
        tiledb.Domain(tiledb.Dim("sample", (None, None), None, dtype="ascii")),
        [tiledb.Attr("header", dtype="ascii", var=True, filters=zstd)],
        sparse=True,
    )
    tiledb.Array.create(str(folder / "vcf_headers"), headers)
    with tiledb.Group(str(folder), "w") as group:
        group.add("data", "data", relative=True)
        group.add("vcf_headers", "vcf_headers", relative=True)


def objects(values: list) -> np.ndarray:
    column = np.empty(len(values), object)
    column[:] = values
    return column


def ingest(folder: Path, samples: list[str], all_sites: list[dict]) -> None:
    columns = list(zip(*(row for sample in samples for row in records(sample, all_sites))))
    contig, start, sample = columns[:3]
    with tiledb.open(str(folder / "data"), "w") as array:
        array[np.array(contig, "S"), np.array(start, np.uint32), np.array(sample, "S")] = {
            "real_start_pos": np.array(columns[3], np.uint32),
            "end_pos": np.array(columns[4], np.uint32),
            "qual": np.array(columns[5], np.float32),
            "alleles": objects(columns[6]),
            "id": objects(columns[7]),
            "filter_ids": objects(columns[8]),
            **{
                f"fmt_{name}": objects([np.frombuffer(cell, np.uint8) for cell in columns[place]])
                for place, name in enumerate(("GT", "DP", "GQ"), 9)
            },
        }
    with tiledb.open(str(folder / "vcf_headers"), "w") as array:
        array[np.array(samples, "S")] = {"header": objects([header(name) for name in samples])}


with tempfile.TemporaryDirectory() as place:
    folder = Path(place) / "cohort"
    create(folder)
    all_sites = sites()
    # Samples arrive in batches: a fragment each.
    ingest(folder, SAMPLES[:12], all_sites)
    ingest(folder, SAMPLES[12:], all_sites)
    with tiledb.open(str(folder / "data"), "w") as array:
        array.meta["anchor_gap"] = ANCHOR_GAP
        array.meta["extra_attributes"] = "fmt_GT,fmt_DP,fmt_GQ"
        array.meta["version"] = 4
    pack(folder)
