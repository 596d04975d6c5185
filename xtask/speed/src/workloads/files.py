"""Runs DuckDB on files, and times commands of tdb. Reads a job as JSON from standard input, and prints the measurements as JSON."""

import json
import os
import resource
import subprocess
import sys
import time

import duckdb

COLUMNS = {
    "id": "BIGINT",
    "time": "BIGINT",
    "price": "DOUBLE",
    "amount": "DOUBLE",
    "word": "VARCHAR",
    "place": "VARCHAR",
}
TYPES = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in COLUMNS.items()) + "}"


def rows_of(path):
    if path.endswith(".parquet"):
        return f"read_parquet('{path}')"
    return f"read_csv('{path}', header = true, columns = {TYPES})"


def target_of(path):
    return f"'{path}' (FORMAT parquet, COMPRESSION zstd)" if path.endswith(".parquet") else f"'{path}' (FORMAT csv, HEADER)"


def connect(threads):
    connection = duckdb.connect()
    # The progress bar would mix with the output.
    connection.execute("SET enable_progress_bar = false")
    connection.execute(f"SET threads = {threads}")
    return connection


def prepare(job):
    """Converts a file to another format."""
    connect(2).execute(f"COPY (SELECT {', '.join(COLUMNS)} FROM {rows_of(job['from'])}) TO {target_of(job['to'])}")
    return {}


def timed(repeats, act, before=lambda: None):
    runs = []
    for _ in range(repeats):
        before()
        start, cpu_start = time.perf_counter(), time.process_time()
        act()
        runs.append([time.perf_counter() - start, time.process_time() - cpu_start])
    return {"runs": runs, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}


def write(job):
    connection = connect(job["threads"])
    connection.execute(f"CREATE TABLE cells AS SELECT {', '.join(COLUMNS)} FROM {rows_of(job['from'])}")
    copy = f"COPY cells TO {target_of(job['to'])}"
    connection.execute(copy)
    return timed(job["repeats"], lambda: connection.execute(copy))


def read(job):
    connection = connect(job["threads"])
    create = f"CREATE TABLE cells AS SELECT * FROM {rows_of(job['from'])}"
    return timed(job["repeats"], lambda: connection.execute(create), lambda: connection.execute("DROP TABLE IF EXISTS cells"))


def run(job):
    """Runs and times a command. Removes the output of the previous run first."""
    runs, peak = [], 0
    environment = {**os.environ, **job["environment"]}
    for _ in range(job["repeats"]):
        subprocess.run(["rm", "-rf", job["makes"]], check=True)
        output = open(job["makes"], "wb") if job["prints"] else subprocess.DEVNULL
        start = time.perf_counter()
        child = subprocess.Popen(job["command"], env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.PIPE)
        message = child.stderr.read()
        _, status, usage = os.wait4(child.pid, 0)
        runs.append([time.perf_counter() - start, usage.ru_utime + usage.ru_stime])
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit(f"{job['command']}: {child.returncode}: {message.decode(errors='replace')}")
        peak = max(peak, usage.ru_maxrss * 1024)
    return {"runs": runs, "peak": peak}


def digest(job):
    """Computes a digest of the rows of a file that does not depend on their order."""
    hashed = f"count(*), bit_xor(hash({', '.join(COLUMNS)}))::VARCHAR"
    cells, value = connect(2).execute(f"SELECT {hashed} FROM {rows_of(job['from'])}").fetchone()
    return {"cells": cells, "digest": value}


JOBS = {"prepare": prepare, "write": write, "read": read, "run": run, "digest": digest}
job = json.load(sys.stdin)
print(json.dumps(JOBS[job["job"]](job)))
