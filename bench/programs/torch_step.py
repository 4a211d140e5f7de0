"""Forty training steps of a small convolution net in PyTorch, one thread: how much the allocator below it costs. `bench/programs.py none BUILD torch`
runs it with each allocator preloaded. Prints the last loss: the same numbers are computed with each."""
import torch
from torch import nn

torch.manual_seed(1)
torch.set_num_threads(1)
net = nn.Sequential(nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
                    nn.MaxPool2d(2), nn.Flatten(), nn.Linear(32 * 7 * 7, 128), nn.ReLU(), nn.Linear(128, 10))
optimiser = torch.optim.Adam(net.parameters())
for step in range(40):
    images, labels = torch.randn(64 - step % 8, 1, 28, 28), torch.randint(0, 10, (64 - step % 8,))
    loss = nn.functional.cross_entropy(net(images), labels)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
print(float(loss))
