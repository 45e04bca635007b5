"""A plugin of millrace. It reads its arguments as JSON from standard input, and writes its outputs as lines to the file
MILLRACE_OUTPUT."""

import json
import os
import sys


class PatchError(Exception):
    """The patch does not fit the document."""


def steps_of(pointer):
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]


def position(items, step, last):
    if step == "-" and last == len(items):
        return last
    if not step.isdigit() or int(step) > last:
        raise PatchError(f"there is no item {step}")
    return int(step)


def find(document, steps):
    for step in steps:
        if isinstance(document, list):
            document = document[position(document, step, len(document) - 1)]
        elif isinstance(document, dict) and step in document:
            document = document[step]
        else:
            raise PatchError(f"there is no {step}")
    return document


def change(document, op, steps, value):
    if not steps:
        return value
    parent, last = find(document, steps[:-1]), steps[-1]
    if isinstance(parent, list):
        at = position(parent, last, len(parent) if op == "add" else len(parent) - 1)
        if op == "remove":
            del parent[at]
        elif op == "add":
            parent.insert(at, value)
        else:
            parent[at] = value
    elif isinstance(parent, dict):
        if op != "add" and last not in parent:
            raise PatchError(f"there is no {last}")
        if op == "remove":
            del parent[last]
        else:
            parent[last] = value
    else:
        raise PatchError(f"{'/'.join(steps[:-1])} is neither a list nor a map")
    return document


def main():
    args = json.load(sys.stdin)
    with open(args["file"], encoding="utf-8") as file:
        document = json.load(file)
    changes = 0
    for number, each in enumerate(args["patch"], start=1):
        op, steps = each["op"], steps_of(each["path"])
        try:
            if op == "test":
                if find(document, steps) != each.get("value"):
                    raise PatchError(f"{each['path']} has another value")
                continue
            document = change(document, op, steps, each.get("value"))
        except PatchError as error:
            sys.exit(f"change {number} ({op}): {error}; nothing is written")
        changes += 1
    with open(args["file"], "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2)
        file.write("\n")
    print(f"{args['file']}: {changes} changes")
    with open(os.environ["MILLRACE_OUTPUT"], "a", encoding="utf-8") as outputs:
        outputs.write(f"changes={changes}\n")


main()
