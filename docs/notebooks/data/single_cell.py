"""Writes `pbmc.tar.gz`: simulated blood cells of two donors, as a SOMA experiment.

    pip install tiledbsoma==2.3.0
    python single_cell.py

The counts are random numbers with the structure of a stimulation experiment: cell types have
marker genes, and stimulated cells express the genes of the interferon response.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import scipy.sparse
import tiledbsoma.io
from pack import pack

MARKERS = {
    "CD4 T": ["CD3D", "CD3E", "IL7R", "CD4", "LTB", "TCF7"],
    "CD8 T": ["CD3D", "CD3E", "CD8A", "CD8B", "GZMK", "CCL5"],
    "NK": ["NKG7", "GNLY", "KLRD1", "GZMB", "PRF1", "CCL5"],
    "B": ["MS4A1", "CD79A", "CD79B", "CD74", "BANK1", "TCL1A"],
    "CD14 monocyte": ["CD14", "LYZ", "S100A8", "S100A9", "FCN1", "VCAN"],
    "dendritic": ["FCER1A", "CST3", "CLEC10A", "CD74", "HLA-DRA", "CD1C"],
}
#: The centres of the cell types in the embedding.
CENTRES = np.array([[0, 0], [4, -2], [8, -5], [-5, 6], [9, 6], [5, 9]])
SHARES = [0.36, 0.16, 0.12, 0.14, 0.18, 0.04]
#: The response is stronger in monocytes and dendritic cells.
INTERFERON = {"ISG15": 14, "IFI6": 9, "IFIT1": 6, "IFIT3": 6, "ISG20": 5, "MX1": 4, "OAS1": 3}
MYELOID = {"CXCL10": 16, "CCL8": 8}
MITOCHONDRIAL = ["MT-CO1", "MT-CO2", "MT-CO3", "MT-ND1", "MT-ND4", "MT-CYB", "MT-ATP6"]
COMMON = ["ACTB", "B2M", "GAPDH", "MALAT1", "TMSB4X", "EEF1A1", "FTL", "FTH1", "PTMA", "UBC"]
RIBOSOMAL = [f"RPL{number}" for number in range(3, 40)] + [
    f"RPS{number}" for number in range(2, 30)
]
CELLS = 640


def experiment() -> anndata.AnnData:
    random = np.random.default_rng(20180101)
    specific = sorted({gene for genes in MARKERS.values() for gene in genes})
    genes = [*specific, *INTERFERON, *MYELOID, *MITOCHONDRIAL, *COMMON, *RIBOSOMAL]
    place = {gene: position for position, gene in enumerate(genes)}

    types = np.array(list(MARKERS))[random.choice(len(MARKERS), CELLS, p=SHARES)]
    stimulated = random.random(CELLS) < 0.5
    means = np.full((CELLS, len(genes)), 0.03)
    means[:, [place[gene] for gene in COMMON]] = random.gamma(4, 1.2, len(COMMON))
    means[:, [place[gene] for gene in RIBOSOMAL]] = random.gamma(1.2, 0.5, len(RIBOSOMAL))
    means[:, [place[gene] for gene in MITOCHONDRIAL]] = 0.8
    for name, markers in MARKERS.items():
        for gene in markers:
            means[types == name, place[gene]] = random.gamma(6, 0.6)
    myeloid = np.isin(types, ["CD14 monocyte", "dendritic"])
    for gene, strength in INTERFERON.items():
        means[:, place[gene]] = 0.12
        means[stimulated, place[gene]] = strength * 0.35
        means[stimulated & myeloid, place[gene]] = strength
    for gene, strength in MYELOID.items():
        means[stimulated & myeloid, place[gene]] = strength
    # Dying cells lose cytoplasm: mitochondrial genes are most of what is left.
    dying = random.random(CELLS) < 0.06
    means[dying] *= 0.35
    means[np.ix_(dying, [place[gene] for gene in MITOCHONDRIAL])] = 9
    depth = random.lognormal(0, 0.3, CELLS)
    counts = random.poisson(random.gamma(3, means * depth[:, None] / 3))

    bases = random.choice(list("ACGT"), (CELLS, 14))
    embedding = CENTRES[[list(MARKERS).index(name) for name in types]]
    embedding = embedding + random.normal(0, 0.7, (CELLS, 2)) + stimulated[:, None] * [1.6, 0.8]
    obs = pd.DataFrame(
        {
            "donor": pd.Categorical(random.choice(["D101", "D107"], CELLS)),
            "condition": pd.Categorical(np.where(stimulated, "stimulated", "control")),
            "cell_type": pd.Categorical(types),
            "n_counts": counts.sum(axis=1).astype(np.int32),
            "pct_mito": np.float32(0),
        },
        index=["".join(barcode) + "-1" for barcode in bases],
    )
    mitochondrial = counts[:, [place[gene] for gene in MITOCHONDRIAL]].sum(axis=1)
    obs["pct_mito"] = (100 * mitochondrial / counts.sum(axis=1)).astype(np.float32)
    kinds = np.repeat("other", len(genes)).astype(object)
    for gene, position in place.items():
        kinds[position] = (
            "interferon"
            if gene in INTERFERON or gene in MYELOID
            else "mitochondrial"
            if gene in MITOCHONDRIAL
            else "ribosomal"
            if gene in RIBOSOMAL
            else "marker"
            if gene in specific
            else "common"
        )
    var = pd.DataFrame({"kind": pd.Categorical(kinds)}, index=genes)
    return anndata.AnnData(
        scipy.sparse.csr_matrix(counts.astype(np.float32)),
        obs,
        var,
        obsm={"X_umap": embedding.astype(np.float32)},
    )


with tempfile.TemporaryDirectory() as place:
    folder = Path(place) / "pbmc"
    # Small tiles, so that the small example has many.
    layout = {"tiledb": {"create": {"capacity": 2048}}}
    tiledbsoma.io.from_anndata(str(folder), experiment(), "RNA", platform_config=layout)
    pack(folder)
