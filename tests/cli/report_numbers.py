"""Reads the numbers of a page of `masu report` as its script does, and says what they are.

    report_numbers.py PAGE
"""
import base64, json, re, sys

page = open(sys.argv[1], encoding="utf-8").read()


def part(name):
    return re.search(f'id="{name}">(.*?)</script>', page, re.S).group(1)


def numbers(name):
    out, value, shift = [], 0, 0
    for byte in base64.b64decode(part(name), validate=True):
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value)
            value = shift = 0
    assert shift == 0, f"{name} is cut"
    return out


def signed(z):
    return -(z + 1) // 2 if z % 2 else z // 2


facts = json.loads(part("facts0"))
spans, times, segments = numbers("spans0"), numbers("times0"), numbers("segments0")
assert len(spans) == 8 * facts["span_count"] and len(times) == facts["events"] and len(segments) == 4 * facts["segment_count"]
# at most 500 ranges are said, all are counted
assert sum(end - start for start, end, _ in facts["ranges"]) == facts["shown_bytes"] or len(facts["ranges"]) == 500
assert 0 < sum(times) <= 2**32 - 1
begin = offset = blocks = live = live_bytes = 0
for at in range(0, len(spans), 8):
    born, lived, size, more, moved, high, line, _ = spans[at : at + 8]
    begin, offset = begin + born, offset + signed(moved)
    height = size + more + signed(high)
    assert 0 <= offset and 0 <= height and offset + height <= facts["height"] + 1, (offset, height)
    if line & 2:
        continue
    assert height == size + more  # all of a block is on the map
    blocks += 1
    if begin + lived == facts["events"]:
        live, live_bytes = live + 1, live_bytes + size
print(f"{blocks} blocks, {live} at the end with {live_bytes} bytes; the map is as high as it says")
