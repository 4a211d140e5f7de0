# Snapshots of runs that never were: PyTorch's caching allocator written once more, from its documentation, the slow and
# obvious way, with random requests on several streams, devices and private pools, frees that wait, releases and
# refusals. The trace is cut at its beginning as a ring would cut it. What masu's model makes of them must be the same,
# step by step.
#
#     python3 torch_allocator.py FILE SEED [expandable] [split]
import pickle
import random
import sys

MIB = 1 << 20
SMALL, LARGE = 2 * MIB, 20 * MIB


class Block:
    def __init__(self, address, size, owner, state, expandable=False):
        self.address, self.size, self.owner, self.state, self.expandable = address, size, owner, state, expandable
        self.asked, self.prev, self.next = 0, None, None


class Allocator:
    def __init__(self, rng, expandable, max_split, capacity):
        self.rng, self.expandable, self.max_split, self.capacity = rng, expandable, max_split, capacity
        self.blocks, self.reserved, self.trace, self.time, self.next_segment, self.next_space = set(), {}, {}, 0, 1 << 44, 1 << 46

    def tell(self, action, device, address, size, stream):
        self.time += self.rng.randrange(0, 3)
        entry = {"action": action, "addr": address, "size": size, "stream": stream, "time_us": 1000 + self.time, "frames": []}
        if action == "oom":
            entry["device_free"] = entry.pop("addr")
        self.trace.setdefault(device, []).append(entry)

    def of(self, owner, state):
        return [b for b in self.blocks if b.owner == owner and b.state == state]

    def whole(self, b):
        return b.prev is None and b.next is None

    def cut(self, b, size):
        rest = Block(b.address + size, b.size - size, b.owner, b.state, b.expandable)
        rest.prev, rest.next = b, b.next
        if b.next:
            b.next.prev = rest
        b.next, b.size = rest, size
        self.blocks.add(rest)
        return rest

    def join(self, b):
        while b.prev and b.prev.state == b.state and b.state in ("free", "unmapped"):
            b = b.prev
        while b.next and b.next.state == b.state and b.state in ("free", "unmapped"):
            gone = b.next
            b.size += gone.size
            b.next = gone.next
            if gone.next:
                gone.next.prev = b
            self.blocks.discard(gone)
        return b

    def page(self, owner):
        return SMALL if owner[3] else LARGE

    def map(self, b, size):
        page = self.page(b.owner)
        size = min((size + page - 1) // page * page, b.size)
        device = b.owner[0]
        if self.reserved.get(device, 0) + size > self.capacity:
            return None
        if size < b.size:
            self.cut(b, size)
        b.state = "free"
        self.reserved[device] = self.reserved.get(device, 0) + size
        self.tell("segment_map", device, b.address, size, b.owner[1])
        return self.join(b)

    def expand(self, owner, size):
        def room(b):
            total = 0
            while b and b.state in ("free", "unmapped"):
                total += b.size
                b = b.next
            return total

        found = None
        for b in sorted(self.of(owner, "unmapped"), key=lambda b: b.address):
            first = b.prev if b.prev and b.prev.state == "free" else b
            if room(first) >= size:
                found = first
                break
        if not found:
            found = Block(self.next_space, 1 << 41, owner, "unmapped", True)
            self.next_space += 1 << 42
            self.blocks.add(found)
        if found.state == "unmapped":
            found = self.map(found, size)
        while found and found.size < size:
            found = self.map(found.next, size - found.size)
        return found

    def segment(self, owner, size):
        bytes_ = SMALL if owner[3] else LARGE if size < 10 * MIB else (size + SMALL - 1) // SMALL * SMALL
        device = owner[0]
        if self.reserved.get(device, 0) + bytes_ > self.capacity:
            return None
        address = self.next_segment + self.rng.choice((0, 1, 5)) * 128 * MIB
        while any(b.owner[0] == device and not b.expandable and b.address < address + bytes_ and address < b.address + b.size for b in self.blocks):
            address += 256 * MIB
        if self.rng.random() < 0.5:
            self.next_segment += 64 * MIB
        b = Block(address, bytes_, owner, "free")
        self.blocks.add(b)
        self.reserved[device] = self.reserved.get(device, 0) + bytes_
        self.tell("segment_alloc", device, address, bytes_, owner[1])
        return b

    def release(self, device):
        def order(b):
            return (b.owner[3], b.owner[1], b.size, b.address)

        common = [b for b in self.blocks if b.owner[0] == device and b.owner[2] == 0]
        for small in (False, True):
            for stream in sorted({b.owner[1] for b in common}):
                mine = [b for b in common if b.owner[3] == small and b.owner[1] == stream and b.state == "free" and b in self.blocks]
                for b in sorted(mine, key=order):
                    if not b.expandable and self.whole(b):
                        self.blocks.discard(b)
                        self.reserved[device] -= b.size
                        self.tell("segment_free", device, b.address, b.size, stream)
                for b in sorted([b for b in mine if b.expandable], key=order):
                    base = b
                    while base.prev:
                        base = base.prev
                    page = self.page(b.owner)
                    low = base.address + (b.address - base.address + page - 1) // page * page
                    high = base.address + (b.address + b.size - base.address) // page * page
                    if low >= high:
                        continue
                    if low > b.address:
                        b = self.cut(b, low - b.address)
                    if high < b.address + b.size:
                        self.cut(b, high - b.address)
                    b.state = "unmapped"
                    self.reserved[device] -= high - low
                    self.tell("segment_unmap", device, low, high - low, stream)
                    b = self.join(b)
                    if self.whole(b):
                        self.blocks.discard(b)

    def alloc(self, device, stream, pool, asked):
        size = max(512, (asked + 511) // 512 * 512)
        owner = (device, stream, pool, size <= MIB)
        free = sorted((b.size, b.address, id(b), b) for b in self.of(owner, "free") if b.size >= size)
        b = None
        if free and not (self.max_split and size < self.max_split <= free[0][0]) and not (
                self.max_split and size >= self.max_split and free[0][0] >= size + LARGE):
            at = 0
            if self.expandable:  # how large it could become is what counts
                def could(b):
                    return b.size + (b.next.size if b.next and b.next.state == "unmapped" else 0)
                while at + 1 < len(free) and could(free[at + 1][3]) < could(free[at][3]):
                    at += 1
            b = free[at][3]
        more = self.expand if self.expandable else self.segment
        b = b or more(owner, size)
        if not b and not self.max_split:
            self.release(device)
            b = more(owner, size)
        if not b:
            self.tell("oom", device, self.capacity - self.reserved.get(device, 0), size, stream)
            return None
        rest = b.size - size
        if rest >= 512 if owner[3] or self.expandable else rest > MIB and not (self.max_split and size >= self.max_split):
            self.cut(b, size)
        b.state, b.asked = "live", asked
        self.tell("alloc", device, b.address, asked, stream)
        return b

    def request_free(self, b, wait):
        self.tell("free_requested", b.owner[0], b.address, b.asked, b.owner[1])
        b.state = "pending"
        if not wait:
            self.complete_free(b)

    def complete_free(self, b):
        self.tell("free_completed", b.owner[0], b.address, b.asked, b.owner[1])
        b.state = "free"
        self.join(b)

    def segments(self):
        found = []
        for head in self.blocks:
            if head.state == "unmapped" or (head.prev and head.prev.state != "unmapped"):
                continue
            blocks, b = [], head
            while b and b.state != "unmapped":
                state = {"live": "active_allocated", "pending": "active_pending_free", "free": "inactive"}[b.state]
                blocks.append({"address": b.address, "size": b.size, "requested_size": b.asked, "state": state, "frames": []})
                b = b.next
            found.append({"device": head.owner[0], "address": head.address, "total_size": sum(b["size"] for b in blocks),
                          "stream": head.owner[1], "segment_type": "small" if head.owner[3] else "large",
                          "segment_pool_id": (head.owner[2], 0), "is_expandable": head.expandable, "frames": [], "blocks": blocks})
        return sorted(found, key=lambda s: (s["device"], s["address"]))


def main():
    path, seed, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    rng = random.Random(seed)
    split = 48 * MIB if "split" in words else 0
    a = Allocator(rng, "expandable" in words, split, 1 << 60 if split else 700 * MIB)
    live, waiting = [], []
    for _ in range(600):
        what = rng.random()
        if what < 0.55 or not live:
            asked = max(1, int(2 ** rng.uniform(6, 26.3)))
            pool = 1 if rng.random() < 0.1 else 0
            b = a.alloc(rng.randrange(2), rng.choice((0, 7, 9)), pool, asked)
            if b:
                live.append(b)
        elif what < 0.97:
            b = live.pop(rng.randrange(len(live)))
            wait = rng.random() < 0.15
            a.request_free(b, wait)
            if wait:
                waiting.append(b)
        elif what < 0.98 and not split:
            a.release(rng.randrange(2))
        if waiting and rng.random() < 0.3:
            a.complete_free(waiting.pop(rng.randrange(len(waiting))))
    for device in a.trace:
        a.trace[device] = a.trace[device][rng.randrange(len(a.trace[device]) // 2):]
    steps = ("alloc", "segment_alloc", "segment_free", "segment_map", "segment_unmap")
    print(sum(e["action"] in steps for t in a.trace.values() for e in t), sum(a.reserved.values()))
    settings = {"expandable_segments": a.expandable, "max_split_size": split or -1, "garbage_collection_threshold": 0.0}
    with open(path, "wb") as out:
        pickle.dump({"segments": a.segments(), "device_traces": [a.trace.get(d, []) for d in range(2)],
                     "allocator_settings": settings, "external_annotations": []}, out, protocol=4)


main()
