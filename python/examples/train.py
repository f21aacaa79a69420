"""Train a tiny transformer on several ranks, with a checkpoint in the background after every step.

    torchrun --nproc-per-node 2 train.py run 40     # kill it whenever you like
    torchrun --nproc-per-node 3 train.py run 40     # goes on where it was, on three ranks
"""

import sys

import sherd
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import init_device_mesh

VOCABULARY, LENGTH, BATCH = 32, 16, 12


class Tiny(nn.Module):
    def __init__(self, width=32, layers=2):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, width)
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.body(self.embed(tokens), mask=mask, is_causal=True))


def batch_of(step, rank, world):
    """The same sequences whatever the number of ranks: each counts on from a random token."""
    start = torch.randint(0, VOCABULARY, (BATCH, 1), generator=torch.Generator().manual_seed(step))
    tokens = (start + torch.arange(LENGTH + 1)) % VOCABULARY
    return tokens[rank * BATCH // world : (rank + 1) * BATCH // world]


def main(run, steps):
    if not dist.is_initialized():
        dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = Tiny()
    mesh = init_device_mesh("cpu", (world,))
    for layer in model.body.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    for parameter in model.parameters():  # so that the optimizer has its tensors before it is restored
        parameter.grad = torch.zeros_like(parameter)
    optimizer.step()

    manager = sherd.CheckpointManager(run, keep=2)
    done = manager.latest()
    if done is not None:
        manager.restore({"model": model, "optimizer": optimizer})
    losses = []
    for step in range(0 if done is None else done + 1, steps):
        tokens = batch_of(step, rank, world)
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        manager.save(step, {"model": model, "optimizer": optimizer})
        if rank == 0:
            print(f"step {step}: loss {loss.item():.3f}", flush=True)
    manager.wait(timeout=60)
    return done, losses


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
