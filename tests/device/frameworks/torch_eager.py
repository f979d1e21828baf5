# SPDX-License-Identifier: MIT
"""Three steps of training, as PyTorch's users write them: a convolution, attention, dropout by a seed, AdamW."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Conv2d(3, 32, 3, padding=1)
        self.block = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.1, batch_first=True)
        self.last = nn.Linear(32, 10)

    def forward(self, x):
        x = F.gelu(self.image(x)).flatten(2).transpose(1, 2)
        return self.last(self.block(x).mean(1))


net = Net().cuda()
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
images, classes = torch.randn(8, 3, 16, 16).cuda(), torch.arange(8).cuda()
for _ in range(3):
    optimizer.zero_grad()
    loss = F.cross_entropy(net(images), classes)
    loss.backward()
    optimizer.step()
print(f"{loss.item():.2f}")
