"""The graph network of bench/graph.tl in PyTorch, one thread. Prints both losses, the loop's processor time in seconds
and by how many MiB the process grew."""

import resource
import sys
import time

import torch

torch.set_num_threads(1)
steps, nodes, edges = int(sys.argv[1]), 2000, 20000
torch.manual_seed(1)
x, wanted = torch.randn(nodes, 64), torch.randn(nodes, 64)
start, end = torch.randint(0, nodes, (edges,)), torch.randint(0, nodes, (edges,))
first = (torch.randn(64, 64) * 0.1).requires_grad_()
second = (torch.randn(64, 64) * 0.1).requires_grad_()
adam = torch.optim.Adam([first, second], 0.01)


def spread(h):
    return torch.zeros(nodes, 64).index_add(0, end, h.index_select(0, start)) * 0.1


before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
began = time.process_time()
for step in range(steps):
    adam.zero_grad()
    loss = (spread(spread(x @ first).relu() @ second) - wanted).square().mean()
    if step in (0, steps - 1):
        print(f"{loss.item():.4f}")
    loss.backward()
    adam.step()
print(f"{time.process_time() - began:.3f} s, {(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024:.1f} MiB")
