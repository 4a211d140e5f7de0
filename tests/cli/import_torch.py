"""Networks that PyTorch exports, as programs: what they compute is compared with what PyTorch computed.

    import_torch.py MASU FOLDER
"""
import os
import subprocess
import sys
import warnings

import numpy as np
import torch
from torch import nn

from tensor_bytes import read_tensors, write_tensors

warnings.simplefilter("ignore")
masu, folder = sys.argv[1:3]
made, program = os.path.join(folder, "torch.onnx"), os.path.join(folder, "torch.tl")


def judge(net, *inputs, **options):
    net.eval()
    with torch.no_grad():
        want = net(*inputs)
    names = [f"x{i}" for i in range(len(inputs))]
    torch.onnx.export(net, inputs, made, input_names=names, output_names=["y"], **options)
    done = subprocess.run([masu, "import", made, "-o", program], capture_output=True, text=True)
    assert done.returncode == 0, (type(net).__name__, done.stderr)
    write_tensors(folder + "/in.safetensors", {n: x.numpy() for n, x in zip(names, inputs)})
    done = subprocess.run([masu, "run", program, folder + "/in.safetensors", folder + "/out.safetensors"], capture_output=True, text=True)
    assert done.returncode == 0, (type(net).__name__, done.stderr, open(program).read())
    got = read_tensors(folder + "/out.safetensors")["y"]
    assert got.shape == want.shape and np.allclose(got, want.numpy(), rtol=1e-4, atol=1e-5), (type(net).__name__, got, want)


class Block(nn.Module):
    """A residual block with steps, groups and a padded pool; then a classifier."""

    def __init__(self):
        super().__init__()
        self.a = nn.Conv2d(3, 8, 3, stride=2, padding=1, bias=False)
        self.n = nn.BatchNorm2d(8)
        self.b = nn.Conv2d(8, 8, (3, 5), padding=(1, 2), groups=4)
        self.up = nn.ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1)
        self.linear = nn.Linear(4, 5)
        self.n.running_mean += torch.randn(8)
        self.n.running_var *= 2

    def forward(self, x):
        h = torch.relu(self.n(self.a(x)))
        h = nn.functional.max_pool2d(h + nn.functional.hardswish(self.b(h)), 3, 2, 1)
        h = nn.functional.leaky_relu(self.up(nn.functional.avg_pool2d(h, 2)))
        return self.linear(nn.functional.adaptive_avg_pool2d(h, 1).flatten(1)).log_softmax(1)


class Attention(nn.Module):
    """An encoder's layer over words: embedding, heads, a mask, both norms."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(11, 8)
        self.norm, self.more = nn.LayerNorm(8), nn.LayerNorm(8)
        self.all, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.wide, self.narrow = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, words, mask):
        x = self.words(words)
        n, t, d = x.shape
        q, k, v = self.all(self.norm(x)).reshape(n, t, 3, 2, d // 2).permute(2, 0, 3, 1, 4).unbind(0)
        scores = (q @ k.transpose(-1, -2) / (d // 2) ** 0.5).masked_fill(~mask, -1e9)
        x = x + self.out((scores.softmax(-1) @ v).transpose(1, 2).reshape(n, t, d))
        return x + self.narrow(nn.functional.gelu(self.wide(self.more(x))))


class Words(nn.Module):
    """Two kinds of cells one after the other, both ways, and the last state."""

    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTM(3, 4, bidirectional=True), nn.GRU(8, 5, 2), nn.RNN(5, 2, bias=False)

    def forward(self, x):
        h, (_, cell) = self.lstm(x)
        h, _ = self.gru(torch.relu(h))
        _, last = self.rnn(h)
        return torch.cat([last.flatten(1), cell.flatten(1)[:1]], 1)


torch.manual_seed(3)
judge(Block(), torch.randn(2, 3, 16, 16))
mask = torch.tril(torch.ones(5, 5)).bool()
judge(Attention(), torch.randint(0, 11, (2, 5)), mask, dynamic_axes={"x0": {0: "batch"}})
judge(Attention(), torch.randint(0, 11, (2, 5)), mask, opset_version=9)
judge(Words(), torch.randn(6, 2, 3))
judge(nn.Sequential(nn.Conv1d(2, 3, 3, dilation=2), nn.ELU(), nn.InstanceNorm1d(3, affine=True), nn.AvgPool1d(2, ceil_mode=True)), torch.randn(2, 2, 11))
around = [nn.ReflectionPad2d((1, 2, 0, 1)), nn.ConstantPad1d((2, 0), 0.5), nn.ReplicationPad2d(1)]  # margins that the file computes
judge(nn.Sequential(*around), torch.randn(1, 2, 8, 8))
