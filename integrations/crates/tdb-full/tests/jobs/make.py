"""Creates the arrays of docs/guides/jobs.md as NAME.tar.gz in a folder.

    python make.py FOLDER              # creates the archives
    python make.py FOLDER --check      # also prints the results of other libraries

Tested with Python 3.11, tiledb 0.36.1, tiledbsoma 2.3.0, numpy 2.4.6, pandas 2.3.3, anndata
0.12.19 and scanpy 1.11.5. Values come from seeds. The libraries choose the names and times of
fragments, so the files differ in each run.
"""

import base64
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import scipy.sparse
import tiledb

warnings.filterwarnings("ignore")

# ---- Variants: the arrays of TileDB-VCF, version 4 of its data ----------------------------------------------------

ANCHOR_GAP = 1000
SAMPLES = ["HG001", "HG002", "HG003", "HG004", "HG005"]
MEN = SAMPLES[3:]
CONTIGS = {"chr1": 50_000, "chrX": 30_000}
BCF_INT = 1
EXTRA = ["fmt_GT", "fmt_DP"]


def int_field(values):
    """Encodes a VCF field like TileDB-VCF: type, number of values, values."""
    return np.array([BCF_INT, len(values), *values], dtype="<i4").tobytes()


def genotype(alleles):
    """Encodes alleles like BCF: `(allele + 1) << 1 | phased`, and 0 if missing. Alleles after the first are phased."""
    coded = [0 if allele is None else (allele + 1) << 1 for allele in alleles]
    return int_field(coded[:1] + [allele | 1 if allele else 0 for allele in coded[1:]])


def records(random):
    """Generates rows of five samples: variants at shared sites, and reference blocks in between."""
    for contig, length in CONTIGS.items():
        sites = np.sort(random.choice(np.arange(100, length - 100), length // 400, replace=False))
        for site in sites.tolist():
            bases = random.permutation(list("ACGT"))
            others = 2 if random.random() < 0.1 else 1
            frequency = random.beta(0.6, 1.5)
            for sample in SAMPLES:
                called = [int(random.random() < frequency) * int(random.integers(1, others + 1)) for _ in range(2)]
                if random.random() < 0.03:
                    called = [None, None]
                if contig == "chrX" and sample in MEN:
                    called = called[:1]
                yield dict(
                    contig=contig, sample=sample, start=site, end=site, qual=float(random.integers(10, 100)),
                    alleles=",".join(bases[: 1 + others]), id=f"rs{site}" if random.random() < 0.5 else ".",
                    genotype=None if random.random() < 0.02 else called, depth=int(random.integers(5, 60)), filters=[] if random.random() < 0.2 else [0],
                )
        # One long block of a sample, which gets an anchor every 1,000 positions.
        for sample in SAMPLES[:2]:
            yield dict(
                contig=contig, sample=sample, start=20_000, end=25_499, qual=np.float32(np.nan), alleles="N,<NON_REF>",
                id=".", genotype=[0, 0], depth=12, filters=[],
            )


def cells(rows):
    """Converts rows to cells. A long row has additional cells, `ANCHOR_GAP` apart."""
    for row in rows:
        for start in range(row["start"], row["end"] + 1, ANCHOR_GAP):
            yield start, row


def variants(folder):
    path = folder / "variants"
    zstd = tiledb.ZstdFilter(level=4)
    sha = tiledb.ChecksumSHA256Filter()
    numbers = tiledb.FilterList([tiledb.ByteShuffleFilter(), zstd, sha], chunksize=0)
    plain = tiledb.FilterList([zstd, sha], chunksize=0)
    positions = tiledb.FilterList([tiledb.DoubleDeltaFilter(), zstd, sha])
    domain = tiledb.Domain(
        tiledb.Dim("contig", dtype="ascii", filters=[tiledb.RleFilter()]),
        tiledb.Dim("start_pos", domain=(0, 2**32 - 2), tile=2**32 - 1, dtype=np.uint32, filters=positions),
        tiledb.Dim("sample", dtype="ascii", filters=[tiledb.DictionaryFilter(), zstd]),
    )
    attributes = [
        tiledb.Attr("real_start_pos", dtype=np.uint32, filters=numbers),
        tiledb.Attr("end_pos", dtype=np.uint32, filters=numbers),
        tiledb.Attr("qual", dtype=np.float32, filters=plain),
        tiledb.Attr("alleles", dtype="S0", var=True, filters=plain),
        tiledb.Attr("id", dtype="S0", var=True, filters=plain),
        tiledb.Attr("filter_ids", dtype=np.int32, var=True, filters=numbers),
        tiledb.Attr("info", dtype=np.uint8, var=True, filters=plain),
        tiledb.Attr("fmt", dtype=np.uint8, var=True, filters=plain),
        *[tiledb.Attr(name, dtype=np.uint8, var=True, filters=plain) for name in EXTRA],
    ]
    schema = tiledb.ArraySchema(
        domain, attributes, sparse=True, capacity=10_000, allows_duplicates=True, offsets_filters=positions,
        cell_order="row-major", tile_order="row-major",
    )
    tiledb.group_create(str(path))
    tiledb.group_create(str(path / "metadata"))
    tiledb.Array.create(str(path / "data"), schema)
    header = tiledb.ArraySchema(
        tiledb.Domain(tiledb.Dim("sample", dtype="ascii", filters=[zstd])),
        [tiledb.Attr("header", dtype="S0", var=True, filters=plain)], sparse=True,
    )
    tiledb.Array.create(str(path / "metadata" / "vcf_headers"), header)
    with tiledb.Group(str(path), "w") as group:
        group.meta["dataset_type"] = "vcf"
        group.add("data", name="data", relative=True)
        group.add("metadata", name="metadata", relative=True)
    with tiledb.Group(str(path / "metadata"), "w") as group:
        group.add("vcf_headers", name="vcf_headers", relative=True)
    rows = list(records(np.random.default_rng(16)))
    with tiledb.open(str(path / "metadata" / "vcf_headers"), "w") as array:
        text = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\tFORMAT\t"
        array[SAMPLES] = {"header": np.array([(text + name).encode() for name in SAMPLES], dtype="O")}
    for contig in CONTIGS:  # TileDB-VCF writes a fragment per contig
        write(path / "data", [cell for cell in cells(rows) if cell[1]["contig"] == contig])
    with tiledb.open(str(path / "data"), "w") as array:
        array.meta["version"] = 4
        array.meta["tile_capacity"] = 10_000
        array.meta["anchor_gap"] = ANCHOR_GAP
        array.meta["extra_attributes"] = base64.b64encode(",".join(EXTRA).encode()).decode()


def write(path, cells):
    def objects(values):
        column = np.empty(len(cells), dtype="O")
        column[:] = list(values)
        return column

    def blobs(values):
        return objects(np.frombuffer(value, dtype=np.uint8) for value in values)

    rows = [row for _, row in cells]
    with tiledb.open(str(path), "w") as array:
        coords = ([row["contig"] for row in rows], [start for start, _ in cells], [row["sample"] for row in rows])
        array[coords] = {
            "real_start_pos": np.array([row["start"] for row in rows], dtype=np.uint32),
            "end_pos": np.array([row["end"] for row in rows], dtype=np.uint32),
            "qual": np.array([row["qual"] for row in rows], dtype=np.float32),
            # Strings end with a zero byte, as in TileDB-VCF.
            "alleles": objects(row["alleles"].encode() + b"\0" for row in rows),
            "id": objects(row["id"].encode() + b"\0" for row in rows),
            "filter_ids": objects(np.array([len(row["filters"]), *row["filters"]], dtype=np.int32) for row in rows),
            "info": blobs(b"\0\0\0\0" for _ in rows),
            "fmt": blobs(b"\0\0\0\0" for _ in rows),
            # A field that the record lacks is one byte.
            "fmt_GT": blobs(genotype(row["genotype"]) if row["genotype"] else b"\0" for row in rows),
            "fmt_DP": blobs(int_field([row["depth"]]) for row in rows),
        }


def genotypes(folder):
    """Reads contig, start, alleles and called allele positions of records with a genotype, with the reference library."""
    with tiledb.open(str(folder / "variants" / "data")) as array:
        found = array[:]
    for at in range(len(found["contig"])):
        blob = found["fmt_GT"][at].tobytes()
        if found["start_pos"][at] == found["real_start_pos"][at] and len(blob) >= 8:
            values = np.frombuffer(blob, dtype="<i4")
            alleles = bytes(found["alleles"][at]).rstrip(b"\0").decode().split(",")
            called = [value // 2 - 1 for value in values[2 : 2 + values[1]].tolist() if value // 2 > 0]
            yield found["contig"][at].decode(), int(found["start_pos"][at]), alleles, called


def check_variants(folder):
    rows = [(contig, start, alleles[allele], allele)
            for contig, start, alleles, called in genotypes(folder) for allele in called]
    table = pd.DataFrame(rows, columns=["contig", "start_pos", "allele", "number"])
    table["alt"] = table["number"] > 0
    table["region"] = table["start_pos"] // 10_000 * 10_000
    regions = table.groupby(["contig", "region"])["alt"].agg(["sum", "count", "mean"]).round(4)
    print(regions.to_csv())
    near = table[(table["contig"] == "chrX") & table["start_pos"].between(10_000, 10_999)]
    sites = near.groupby(["start_pos", "allele"]).size().reset_index(name="copies")
    sites["called"] = sites.groupby("start_pos")["copies"].transform("sum")
    sites["frequency"] = (sites["copies"] / sites["called"]).round(3)
    print(sites.to_csv(index=False))


# ---- Cells by genes: an experiment of SOMA -------------------------------------------------------------------------

CLUSTERS = ["B", "CD4 T", "Monocyte", "Dendritic", "Platelet"]  # the last cluster has no cells


def experiment():
    random = np.random.default_rng(68)
    count, genes = 150, 40
    cluster = random.choice(4, count, p=[0.2, 0.5, 0.2, 0.1])
    level = random.gamma(0.4, 2.0, (4, genes))
    level[:, 7] = 0  # no cell expresses this gene
    counts = random.poisson(level[cluster]).astype(np.float32)
    codes = np.where(random.random(count) < 0.03, -1, cluster)  # some cells have no cluster
    obs = pd.DataFrame(
        {"cluster": pd.Categorical.from_codes(codes, CLUSTERS), "n_counts": counts.sum(axis=1)},
        index=[f"cell{at:03}" for at in range(count)],
    )
    var = pd.DataFrame({"n_cells": (counts > 0).sum(axis=0)}, index=[f"GENE{at:02}" for at in range(genes)])
    return anndata.AnnData(X=scipy.sparse.csr_matrix(counts), obs=obs, var=var)


def cells_by_genes(folder):
    import tiledbsoma.io

    tiledbsoma.io.from_anndata(str(folder / "pbmc"), experiment(), measurement_name="RNA")


def check_cells_by_genes(_folder):
    import scanpy

    data = experiment()
    data = data[data.obs["cluster"].notna()]
    means = scanpy.get.aggregate(data, by="cluster", func="mean")
    frame = pd.DataFrame(np.asarray(means.layers["mean"], dtype=float), index=means.obs_names, columns=means.var_names)
    table = frame.stack().rename("mean").reset_index()
    table.columns = ["cluster", "gene", "mean"]
    table = table[table["mean"] > 0].sort_values(["mean", "cluster", "gene"], ascending=[False, True, True])
    print(len(table), "\n", table.head(12).round(4).to_csv(index=False))


# ---- A grid: heights on 64 by 64 tiles -----------------------------------------------------------------------------


def heights():
    random = np.random.default_rng(7)
    y, x = np.mgrid[0:200, 0:300]
    return (800 + 500 * np.sin(y / 40) * np.cos(x / 60) + random.integers(0, 8, y.shape)).astype(np.int16)


def grid(folder):
    path = str(folder / "heights")
    domain = tiledb.Domain(
        tiledb.Dim("y", domain=(0, 99_999), tile=64, dtype=np.uint32),
        tiledb.Dim("x", domain=(0, 99_999), tile=64, dtype=np.uint32),
    )
    attribute = tiledb.Attr("height", dtype=np.int16, fill=-9999, filters=[tiledb.ByteShuffleFilter(), tiledb.ZstdFilter()])
    tiledb.Array.create(path, tiledb.ArraySchema(domain, [attribute]))
    with tiledb.open(path, "w") as array:
        values = heights()
        array[0:200, 0:192] = values[:, :192]
        array[0:100, 192:300] = values[:100, 192:]  # the corner stays unwritten


def check_grid(folder):
    with tiledb.open(str(folder / "heights")) as array:
        values = array[0:200, 0:300]["height"]
    rows = []
    for top in range(0, 200, 64):
        for left in range(0, 300, 64):
            tile = values[top : top + 64, left : left + 64]
            known = tile[tile != -9999]
            if known.size:
                rows.append((top // 64, left // 64, known.size, round(float(known.mean()), 3), known.max()))
    print(pd.DataFrame(rows, columns=["tile_y", "tile_x", "cells", "mean", "highest"]).to_csv(index=False))


JOBS = {"variants": (variants, check_variants), "pbmc": (cells_by_genes, check_cells_by_genes), "heights": (grid, check_grid)}


def main():
    target = Path(sys.argv[1])
    for name, (make, check) in JOBS.items():
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder))
            with tarfile.open(target / f"{name}.tar.gz", "w:gz") as archive:
                archive.add(Path(folder) / name, name)
            if "--check" in sys.argv:
                check(Path(folder))


if __name__ == "__main__":
    main()
