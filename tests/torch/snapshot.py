# A snapshot as Python reads it: segments are filled by their blocks and share no address, the trace leads to the blocks
# that are there.
#
#     python3 snapshot.py FILE BYTES      BYTES: alive at the end, as requested
import pickle
import sys

with open(sys.argv[1], "rb") as file:
    snapshot = pickle.load(file)
assert sorted(snapshot) == ["allocator_settings", "device_traces", "external_annotations", "segments"], sorted(snapshot)
alive, waiting, spans = {}, {}, []
for segment in snapshot["segments"]:
    at = segment["address"]
    spans.append((segment["device"], at, at + segment["total_size"]))
    requested = 0
    for block in segment["blocks"]:
        assert block["address"] == at and block["size"] > 0
        assert block["state"] in ("active_allocated", "active_awaiting_free", "inactive")
        if block["state"] != "inactive":
            assert 0 < block["requested_size"] <= block["size"]
            (alive if block["state"] == "active_allocated" else waiting)[segment["device"], at] = block["requested_size"]
            requested += block["requested_size"] * (block["state"] == "active_allocated")
        at += block["size"]
    assert at == spans[-1][2] and segment["allocated_size"] == requested
spans.sort()
assert all(a[0] != b[0] or a[2] <= b[1] for a, b in zip(spans, spans[1:]))
assert sum(alive.values()) == int(sys.argv[2]), (sum(alive.values()), sys.argv[2])

followed, freed, segments, last = {}, {}, {}, 0
for device, trace in enumerate(snapshot["device_traces"]):
    last = 0
    for entry in trace:
        assert entry["time_us"] >= last
        last, key, action = entry["time_us"], (device, entry.get("addr")), entry["action"]
        if action == "alloc":
            assert key not in followed and key not in freed
            assert any(d == device and a <= key[1] and key[1] + entry["size"] <= a + n for (d, a), n in segments.items())
            followed[key] = entry["size"]
        elif action == "free_requested":
            freed[key] = followed.pop(key)
        elif action == "free_completed":
            assert freed.pop(key) == entry["size"]
        elif action == "segment_alloc":
            assert key not in segments
            segments[key] = entry["size"]
        elif action == "segment_free":
            assert segments.pop(key) == entry["size"]
            assert not any(d == device and key[1] <= a < key[1] + entry["size"] for d, a in list(followed) + list(freed))
        else:
            assert action == "oom" and entry["size"] == 1 << 45
assert followed == alive and freed == waiting
assert {(d, a): b - a for d, a, b in spans} == segments
assert waiting or snapshot["allocator_settings"]["MASU_TORCH"] == "vm", "the test shows nothing of blocks that wait"
