#!/usr/bin/env python3
"""Runs a command in a terminal of its own (a pseudo terminal, vt100), types into it, and prints what its screen shows then.

    screen.py LINES COLUMNS KEYS COMMAND…      KEYS: what is typed, one key each 0.3 s; ~ waits, * shows the screen as it is now

What the terminal understands is what the entry vt100 of terminfo says it may get; anything else is an error, so that nothing is
passed over.
"""
import fcntl, os, pty, re, select, struct, sys, termios, time

lines, columns, keys, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:]
screen = [[" "] * columns for _ in range(lines)]
row = column = 0
top, bottom = 0, lines - 1
pending = b""
SEQUENCE = re.compile(rb"\x1b(?:\[([?0-9;]*)([A-Za-z])|[()][0-9A-Za-z]|[=>78MDEHc])")


def clear(first, last):
    for at in range(first, last):
        screen[at // columns][at % columns] = " "


def put(text):
    global row, column
    for c in text:
        if c == "\r":
            column = 0
        elif c == "\n":
            if row == bottom:
                screen.insert(bottom + 1, [" "] * columns)
                del screen[top]
            else:
                row += 1
        elif c == "\b":
            column = max(column - 1, 0)
        elif c in "\x0e\x0f\x07\x00":
            pass
        else:
            if column == columns:
                row, column = min(row + 1, lines - 1), 0
            screen[row][column] = c
            column += 1


def obey(text, parameters, letter):
    global row, column, top, bottom
    if letter is None:
        if text == b"\x1bM":
            if row == top:
                del screen[bottom]
                screen.insert(top, [" "] * columns)
            else:
                row -= 1
        return
    if parameters.startswith(b"?") or letter in (b"m", b"h", b"l"):
        return
    n = [int(p) if p else 0 for p in parameters.split(b";")]
    first = max(n[0], 1)
    here = row * columns + min(column, columns - 1)
    if letter == b"H":
        row, column = min(first, lines) - 1, min(max(n[1] if len(n) > 1 else 1, 1), columns) - 1
    elif letter == b"A":
        row = max(row - first, 0)
    elif letter == b"B":
        row = min(row + first, lines - 1)
    elif letter == b"C":
        column = min(column + first, columns - 1)
    elif letter == b"D":
        column = max(column - first, 0)
    elif letter == b"J":
        clear(*{0: (here, lines * columns), 1: (0, here + 1), 2: (0, lines * columns)}[n[0]])
    elif letter == b"K":
        clear(*{0: (here, (row + 1) * columns), 1: (row * columns, here + 1), 2: (row * columns, (row + 1) * columns)}[n[0]])
    elif letter == b"r":
        top, bottom = first - 1, (n[1] if len(n) > 1 and n[1] else lines) - 1
    else:
        sys.exit(f"screen.py: the terminal got {text!r}")


def feed(data):
    global pending
    data = pending + data
    at = 0
    while at < len(data):
        if data[at] != 0x1B:
            end = data.find(b"\x1b", at)
            end = len(data) if end < 0 else end
            put(data[at:end].decode("latin-1"))
            at = end
            continue
        found = SEQUENCE.match(data, at)
        if not found:
            if len(data) - at > 20:
                sys.exit(f"screen.py: the terminal got {data[at:at + 20]!r}")
            break
        obey(found.group(0), found.group(1) or b"", found.group(2))
        at = found.end()
    pending = data[at:]


def show():
    print("\n".join("".join(line).rstrip() for line in screen))
    print("-" * columns)


process, terminal = pty.fork()
if process == 0:
    os.environ.update(TERM="vt100", LC_ALL="C")
    for name in ("LINES", "COLUMNS"):
        os.environ.pop(name, None)
    os.execvp(command[0], command)
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))


def listen(seconds):
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                data = os.read(terminal, 65536)
            except OSError:
                data = b""
            if not data:
                return False
            feed(data)
    return True


listen(0.7)
for key in keys:
    if key == "*":
        show()
    elif key != "~":
        os.write(terminal, key.encode())
    if not listen(0.3):
        break
deadline = time.monotonic() + 10
while listen(0.1) and time.monotonic() < deadline:
    pass
while True:
    ended, status = os.waitpid(process, os.WNOHANG)
    if ended or time.monotonic() > deadline:
        break
    time.sleep(0.01)
if not ended:
    os.kill(process, 9)
    os.waitpid(process, 0)
    sys.exit("screen.py: the command did not end")
show()
sys.exit(os.waitstatus_to_exitcode(status))
