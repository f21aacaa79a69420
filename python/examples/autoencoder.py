"""Dump activations of a model, then train a sparse autoencoder on them, out of core.

    python autoencoder.py acts
"""

import sys

import torch
from sherd.rows import Dataset, Loader, Writer
from torch import nn

WIDTH = 64


def dump(path, batches=40):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, WIDTH), nn.GELU())
    with Writer(path, WIDTH, "BF16") as writer, torch.no_grad():
        for _ in range(batches):
            writer.append(model(torch.randn(256, 16)).bfloat16())


class Autoencoder(nn.Module):
    def __init__(self, hidden=256):
        super().__init__()
        self.encode = nn.Linear(WIDTH, hidden)
        self.decode = nn.Linear(hidden, WIDTH)

    def forward(self, rows):
        code = torch.relu(self.encode(rows))
        return self.decode(code), code


def train(path, epochs=3):
    torch.manual_seed(1)
    model = Autoencoder()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    loader = Loader(Dataset(path, batch=512, shuffle=True, dtype="F32", to="torch"))
    losses = []
    for epoch in range(epochs):
        for rows in loader:
            back, code = model(rows)
            loss = (back - rows).square().mean() + 1e-4 * code.abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch}: loss {losses[-1]:.4f}")
    return losses


if __name__ == "__main__":
    dump(sys.argv[1])
    train(sys.argv[1])
