#!/usr/bin/env python3
"""Loads a data set that `fuselage oracle` made as its users do, with json and with pandas, and checks that each
format has one schema in all its files, the one that TRL's trainers expect. Prints a table; exit code 1 if there
is a fault. Uses Debian's python3-pandas, and python3-zstandard for .zst files."""

import argparse
import io
import json
import pathlib
import resource
import sys
import time

import pandas

TEXT, BOOL, INTEGER, FLOAT = "text", "bool", "integer", "float"
MESSAGES = "list of {role: text, content: text}"
# By format: the columns that a trainer reads, each with the types that it may have.
TRL = {
    "sft": {"messages": {MESSAGES}},
    "prompt-completion": {"prompt": {MESSAGES, TEXT}, "completion": {MESSAGES, TEXT}},
    "dpo": {"prompt": {MESSAGES, TEXT}, "chosen": {MESSAGES, TEXT}, "rejected": {MESSAGES, TEXT}},
    "kto": {"prompt": {MESSAGES, TEXT}, "completion": {MESSAGES, TEXT}, "label": {BOOL}},
    "grpo": {"prompt": {MESSAGES, TEXT}, "graph_json": {TEXT}, "seed": {INTEGER}, "rules": {TEXT}},
    "prm": {"prompt": {TEXT}, "completions": {"list of text"}, "labels": {"list of bool"}},
    "raw": {"observation": {TEXT}, "answers": {"list of text"}, "q": {"list of float"}},
    "graphs": {"graph_json": {TEXT}, "episodes": {TEXT}},
}


def type_of(value):
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return INTEGER
    if isinstance(value, float):
        return FLOAT
    if isinstance(value, str):
        return TEXT
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {type_of(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        kinds = {type_of(inner) for inner in value}
        return "list of " + (kinds.pop() if len(kinds) == 1 else f"{sorted(kinds)}")
    return "null"


def open_text(path):
    if path.suffix != ".zst":
        return open(path, encoding="utf-8")
    import zstandard

    return io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(open(path, "rb")), encoding="utf-8")


def pandas_type(column):
    """Of a column as pandas made it: its own type, or that of the Python objects in it."""
    if column.dtype != object:
        return {"b": BOOL, "i": INTEGER, "u": INTEGER, "f": FLOAT}.get(column.dtype.kind, str(column.dtype))
    return " or ".join(sorted({type_of(value) for value in column}))


def json_schema(path):
    """Column names in order with their types, of all rows; and the number of rows."""
    schema, rows = None, 0
    with open_text(path) as lines:
        for line in lines:
            rows += 1
            found = {key: type_of(value) for key, value in json.loads(line).items()}
            if schema is None:
                schema = found
            elif list(found.items()) != list(schema.items()):
                different = {k: (schema.get(k), found.get(k)) for k in schema | found if schema.get(k) != found.get(k)}
                raise ValueError(f"{path}: line {rows}: {different or 'another order of keys'}")
    return schema, rows


def check_file(path, format_name, faults):
    schema, rows = json_schema(path)
    for column, types in TRL[format_name].items():
        if schema.get(column) not in types:
            faults.append(f"{path}: {column} is {schema.get(column)}; expected {' or '.join(sorted(types))}")
    for column, kind in schema.items():
        if "null" in kind or "[" in kind:
            faults.append(f"{path}: {column} is {kind}")
    # By default pandas guesses: whole floats become integers, digits in quotes numbers. dtype=False keeps types.
    table = pandas.read_json(path, lines=True, dtype=False)
    if len(table) != rows or list(table.columns) != list(schema):
        faults.append(f"{path}: pandas reads {len(table)} rows of {list(table.columns)}")
    for column, kind in schema.items():
        if pandas_type(table[column]) != kind:
            faults.append(f"{path}: {column} is {kind}, pandas reads {pandas_type(table[column])}")
    if len(pandas.read_json(path, lines=True)) != rows:
        faults.append(f"{path}: pandas cannot guess")
    return schema, rows


def check_format(folder, manifest, faults):
    """Rows by split, and the one schema of all files."""
    rows, schemas = {}, []
    for path in sorted(folder.iterdir()):
        split = path.name.split("-")[0]
        schema, count = check_file(path, folder.name, faults)
        rows[split] = rows.get(split, 0) + count
        if schema not in schemas:
            schemas.append(schema)
    if len(schemas) > 1:
        faults.append(f"{folder}: has {len(schemas)} schemas")
    expected = sum(f["rows"] for s in manifest["shards"] for f in s["files"] if f["format"] == folder.name)
    if sum(rows.values()) != expected:
        faults.append(f"{folder}: has {sum(rows.values())} rows, the manifest says {expected}")
    return rows, schemas[0] if schemas else {}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--schemas", action="store_true", help="print the type of every column")
    arguments = parser.parse_args()
    manifest = json.loads((arguments.directory / "manifest.json").read_text())
    faults = []
    print(f"{'format':<18}{'train':>9}{'validation':>12}{'test':>8}{'columns':>9}{'seconds':>9}")
    for folder in sorted(p for p in arguments.directory.iterdir() if p.is_dir()):
        begin = time.monotonic()
        try:
            rows, schema = check_format(folder, manifest, faults)
        except ValueError as error:
            faults.append(str(error))
            continue
        counts = [rows.get(split, 0) for split in ("train", "validation", "test")]
        seconds = time.monotonic() - begin
        print(f"{folder.name:<18}{counts[0]:>9}{counts[1]:>12}{counts[2]:>8}{len(schema):>9}{seconds:>9.1f}")
        if arguments.schemas:
            for column, kind in schema.items():
                print(f"  {column}: {kind}")
    print(f"most memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MiB")
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
