"""The loop of bench/growth.tl in PyTorch, one thread: torch.cat copies. Prints seconds."""

import sys
import time

import torch

torch.set_num_threads(1)
rows = int(sys.argv[1])
row = torch.ones(1, 4096)
start = time.perf_counter()
behind = row.clone()
for _ in range(1, rows):
    behind = torch.cat([behind, row], 0)
print(f"{time.perf_counter() - start:.6f}")
