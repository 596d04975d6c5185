#!/bin/bash -eu
# Builds the fuzz targets of both workspaces for OSS-Fuzz. Different crates may have targets of the
# same name, so the name of a program starts with the name of the crate.

# All targets share compiled dependencies.
built=$WORK/target

for fuzz in "$SRC"/tdb/crates/*/fuzz "$SRC"/tdb/integrations/crates/*/fuzz; do
    crate=$(basename "$(dirname "$fuzz")")
    # The versions of the workspace.
    cp "$fuzz/../../../Cargo.lock" "$fuzz/Cargo.lock"
    cargo fuzz build -O --debug-assertions --fuzz-dir "$fuzz" --target-dir "$built"
    for target in $(cargo fuzz list --fuzz-dir "$fuzz"); do
        name=${crate//-/_}_$target
        cp "$built/x86_64-unknown-linux-gnu/release/$target" "$OUT/$name"
        zip -qrj "$OUT/${name}_seed_corpus.zip" "$fuzz/corpus/$target"
    done
done

# Some targets read the fixtures.
cp -r "$SRC/tdb/fixtures" "$OUT/fixtures"
