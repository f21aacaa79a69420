"""Who saves together: torch.distributed, MPI, ranks that are told, or one process alone."""

from __future__ import annotations

import sys
from typing import Any, Protocol


class Collective(Protocol):
    rank: int
    world: int

    def gather(self, value: Any) -> list[Any]:
        """What every rank gave, by rank. All call it."""
        ...


class Alone:
    """One process; or ranks that know their number and do not talk to each other."""

    def __init__(self, rank: int = 0, world: int = 1) -> None:
        if not 0 <= rank < world:
            raise ValueError(f"rank {rank} is not below the world's {world}")
        self.rank = rank
        self.world = world

    def gather(self, value: Any) -> list[Any]:
        return [value]


class Torch:
    def __init__(self, group: Any = None) -> None:
        import torch.distributed as dist

        self.group = group
        self.rank = dist.get_rank(group)
        self.world = dist.get_world_size(group)

    def gather(self, value: Any) -> list[Any]:
        import torch.distributed as dist

        out: list[Any] = [None] * self.world
        dist.all_gather_object(out, value, group=self.group)
        return out


class Mpi:
    """A communicator of mpi4py."""

    def __init__(self, comm: Any) -> None:
        self.comm = comm
        self.rank = comm.Get_rank()
        self.world = comm.Get_size()

    def gather(self, value: Any) -> list[Any]:
        return list(self.comm.allgather(value))


def collective_of(rank: int | None, world: int | None, group: Any, comm: Any) -> Collective:
    if comm is not None:
        return Mpi(comm)
    if world is not None:
        return Alone(rank or 0, world)
    if "torch" in sys.modules:
        import torch.distributed as dist

        if dist.is_available() and dist.is_initialized():
            return Torch(group)
    return Alone()
