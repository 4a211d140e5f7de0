"""The loss of examples/n_queens.tl in PyTorch eager on the CPU, one thread: the other side of bench/n_queens.

usage: n_queens_torch.py EPOCHS [FORM]

Prints one line: seconds spent in the training loop, the processor's seconds in it, and the last loss. Start-up
(import, first calls) is outside the clock; 50 epochs warm the caches up.

FORM says how the sums along the diagonals are taken, the only part for which PyTorch has no one obvious spelling:

    mask    multiply by a stack of 15 masks and sum: what most people write
    matmul  a [15, 64] matrix of masks times the flattened board: the fastest we know
"""

import sys
import time

import torch
from torch import Tensor

N = 8
DIAGONALS = 2 * N - 1
RATE = 1.0
SHARPNESS = 0.1


def diagonal_masks() -> tuple[Tensor, Tensor]:
    """masks[d, r, c] is 1 where square (r, c) lies on diagonal d: rising, then falling diagonals."""
    rising = torch.zeros(DIAGONALS, N, N)
    falling = torch.zeros(DIAGONALS, N, N)
    for r in range(N):
        for c in range(N):
            rising[r + c, r, c] = 1.0
            falling[r - c + N - 1, r, c] = 1.0
    return rising, falling


def epoch(board: Tensor, rising: Tensor, falling: Tensor, form: str) -> tuple[Tensor, Tensor]:
    probs = board.softmax(1)
    columns = probs.sum(0)
    if form == "mask":
        up = (probs * rising).sum((1, 2))
        down = (probs * falling).sum((1, 2))
    else:
        flat = probs.view(N * N)
        up = rising.view(DIAGONALS, N * N) @ flat
        down = falling.view(DIAGONALS, N * N) @ flat

    off = columns - 1.0
    crowd_up = (up - 1.0).relu()
    crowd_down = (down - 1.0).relu()
    spread = N - (probs * probs).sum()
    loss = (off * off).sum() + (crowd_up * crowd_up).sum() + (crowd_down * crowd_down).sum() + spread * SHARPNESS

    loss.backward()
    g = board.grad
    board = board - g * RATE
    board = board.detach()
    board.requires_grad_(True)
    return board, loss


def main() -> None:
    epochs = int(sys.argv[1])
    form = sys.argv[2] if len(sys.argv) > 2 else "matmul"
    torch.set_num_threads(1)
    torch.manual_seed(1)
    rising, falling = diagonal_masks()
    board = torch.randn(N, N, requires_grad=True)
    for _ in range(50):
        board, loss = epoch(board, rising, falling, form)
    start, start_cpu = time.perf_counter(), time.process_time()
    for _ in range(epochs):
        board, loss = epoch(board, rising, falling, form)
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - start_cpu
    print(f"{seconds:.9f} {cpu_seconds:.9f} {loss.item():.6f}")


main()
