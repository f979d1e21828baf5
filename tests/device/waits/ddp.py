# SPDX-License-Identifier: MIT
"""Two processes, a GPU each, average gradients with NCCL: each one's kernels wait for the other's."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29533", NCCL_NVLS_ENABLE="0")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    torch.manual_seed(0)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(256, 256).cuda(), device_ids=[rank])
    for _ in range(3):
        loss = model(torch.full((64, 256), 0.5, device="cuda")).square().mean()
        loss.backward()
    torch.cuda.synchronize()
    if rank == 0:
        print(f"{loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
