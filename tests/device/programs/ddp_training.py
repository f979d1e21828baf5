# SPDX-License-Identifier: MIT
"""The example of docs/report.md: two processes, a GPU each, train one network and average its gradients with NCCL."""

import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29534", NCCL_NVLS_ENABLE="0")
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", rank=rank, world_size=2)
    torch.manual_seed(0)
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(4096, 4096), torch.nn.ReLU())]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers).cuda(), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for step in range(20):
        batch = torch.randn(2048, 4096).cuda()  # the CPU makes it, and the GPU waits
        with torch.cuda.nvtx.range(f"step {step}"):
            optimizer.zero_grad()
            loss = model(batch).square().mean()
            loss.backward()
            optimizer.step()
    torch.cuda.synchronize()
    if rank == 0:
        print(f"loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(train, nprocs=2)
