"""The examples of the tables of operations: what src/runtime/ops.def says about them, read out of its text."""
import os
import re

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src")
TEXT = r'"((?:[^"\\]|\\.)*)"'


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def examples():
    """(name, has a gradient, operands, expression) of each entry that has an example."""
    found = []

    def add(name, smooth, example):
        if example:
            operands, _, expression = example.replace('\\"', '"').partition(": ")
            found.append((name, smooth, operands.split(), expression))

    table = read("runtime/ops.def")
    for m in re.finditer(rf"^(?:(UNARY|BINARY)\((\w+),.*?, {TEXT}, {TEXT}\)|"
                         rf"(?:TENSOR|ELEMENT)\((\w+), \(.*?\), ([^\"]*?), {TEXT}, {TEXT}\))$", table, re.M):
        if m[1] == "UNARY":
            add(m[2], True, f"a[..]{m[3]}: a.{m[2]}()")
        elif m[1] == "BINARY":
            add(m[2], True, f"a[..]{m[3]} b[*]{m[3]}: a.{m[2]}(b)")
        else:
            add(m[5], "NO_GRADIENT" not in m[6], m[7])
    for name in ("written", "more", "named"):
        for m in re.finditer(rf"^WRITTEN\((\w+)(?:<T>)?, \(.*?, (FOLLOWS|NO_GRADIENT), {TEXT}, {TEXT},",
                             read(f"language/front/ops_{name}.def"), re.M):
            add(m[1], m[2] == "FOLLOWS", m[3])
    return found
