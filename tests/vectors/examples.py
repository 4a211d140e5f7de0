"""The examples of the tables of operations: what src/runtime/ops.def and the comments of src/language/library say."""
import os
import re

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src")
TEXT = r'"((?:[^"\\]|\\.)*)"'


def read(name):
    with open(os.path.join(SOURCE, name), encoding="utf-8") as file:
        return file.read()


def read_lines(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), name), encoding="utf-8") as file:
        return file.read().splitlines()


def written_examples():
    """(name, has a gradient, example) of each operation in src/language/library/tensor, out of the comments above it."""
    folder = os.path.join(SOURCE, "language/library/tensor")
    for file in sorted(os.listdir(folder)):
        smooth, example = True, ""
        for line in read(f"language/library/tensor/{file}").splitlines():
            line = line.strip()
            if line == "/// gradient: no":
                smooth = False
            elif line.startswith("/// example: "):
                example = line[len("/// example: "):]
            elif line.startswith("fn "):
                if example:
                    yield re.match(r"fn (\w+)", line)[1], smooth, example
                smooth, example = True, ""


def examples():
    """(name, has a gradient, operands, expression) of each entry that has an example: first of the table, then of the
    library in the order of recorded.txt, since the operands of a case depend on its number. New ones come at its end."""
    found = []

    def add(name, smooth, example):
        if example:
            operands, _, expression = example.replace('\\"', '"').partition(": ")
            found.append((name, smooth, operands.split(), expression))

    written = {(name, example): smooth for name, smooth, example in written_examples()}
    in_library = {example for _, example in written} # the library's operations are drawn under the names of programs
    table = read("runtime/ops.def")
    for m in re.finditer(rf"^(?:(UNARY|BINARY)\((\w+),.*?, {TEXT}, {TEXT}\)|"
                         rf"(?:TENSOR|ELEMENT)\((\w+), \(.*?\), ([^\"]*?), {TEXT}, {TEXT}\))$", table, re.M):
        if m[1] == "UNARY":
            add(m[2], True, f"a[..]{m[3]}: a.{m[2]}()")
        elif m[1] == "BINARY":
            add(m[2], True, f"a[..]{m[3]} b[*]{m[3]}: a.{m[2]}(b)")
        elif m[7] not in in_library:
            add(m[5], "NO_GRADIENT" not in m[6], m[7])
    for line in read_lines("recorded.txt"):
        name, _, example = line.partition(" ")
        if (name, example) not in written:
            raise ValueError(f"recorded.txt: the library has no longer an example `{example}` of {name}")
        add(name, written[name, example], example)
    return found
