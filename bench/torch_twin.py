"""The Python half of bench/torch.mjs: the same networks in PyTorch, timed on request.

Reads one JSON request a line from standard input and answers each with one line on standard output:
  {"describe": true}                                        -> {"version", "cuda"}
  {"case", "device", "mode", "threads", "iterations"}       -> {"seconds", "cpu"}
`mode` is "eager" or "graph" (CUDA). A case is built once for each device and mode, and warmed up then;
`cpu` is the process's own time, which says more than the clock on a busy machine.
"""
import json
import os
import sys
import time

# As the TypeScript side does: the oneDNN of PyTorch 1.13 may use AMX where a virtual machine traps on it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

import torch
from torch import nn

CONCEPT_FEATURES = 4 * 32  # M = 4 concepts of d_z = 32


def mlp():
    return nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))


def encoder():
    """The paper's Appendix C."""
    layers, previous = [], 1
    for channels in (32, 64, 128, 256):
        layers += [nn.Conv2d(previous, channels, 4, 2, 1), nn.BatchNorm2d(channels), nn.ReLU()]
        previous = channels
    layers += [nn.Conv2d(previous, 512, 4), nn.BatchNorm2d(512), nn.ReLU()]
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(512, CONCEPT_FEATURES))


def decoder():
    """The paper's Appendix C."""
    layers = [nn.ConvTranspose2d(CONCEPT_FEATURES, 128, 1), nn.BatchNorm2d(128), nn.LeakyReLU(0.02)]
    layers += [nn.ConvTranspose2d(128, 64, 4), nn.BatchNorm2d(64), nn.LeakyReLU(0.02)]
    previous = 64
    for channels in (64, 32, 32):
        layers += [nn.ConvTranspose2d(previous, channels, 4, 2, 1), nn.BatchNorm2d(channels), nn.LeakyReLU(0.02)]
        previous = channels
    return nn.Sequential(*layers, nn.ConvTranspose2d(previous, 1, 4, 2, 1), nn.Sigmoid())


NETWORKS = {"mlp": (mlp, [256]), "encoder": (encoder, [1, 64, 64]), "decoder": (decoder, [CONCEPT_FEATURES, 1, 1])}


def tiny_step(device):
    a, b = torch.ones(1, device=device), torch.ones(1, device=device)

    def step():
        for _ in range(100):
            torch.add(a, b)

    return step


def network_step(name, batch, device):
    build, shape = NETWORKS[name]
    module = build().to(device)
    x = torch.rand([batch, *shape], device=device, requires_grad=True)
    parameters = list(module.parameters())

    def step():
        for p in parameters:
            p.grad = None
        x.grad = None
        module(x).square().mean().backward()

    return step


def optimizer_step(device, capturable):
    """RMSprop, the paper's optimiser, on the encoder's parameters."""
    parameters = list(encoder().to(device).parameters())
    for p in parameters:
        p.grad = torch.full_like(p, 1e-3)
    options = {"capturable": True} if capturable else {}
    return torch.optim.RMSprop(parameters, lr=1e-4, **options).step


def captured(step):
    """The step as a CUDA graph, warmed up on a side stream as PyTorch's documentation asks."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


class Bench:
    def __init__(self):
        self.steps = {}

    def step_of(self, request):
        key = (request["case"], request["batch"], request["device"], request["mode"])
        if key not in self.steps:
            name, batch, device, mode = key
            if name == "tiny":
                step = tiny_step(device)
            elif name == "rmsprop":
                step = optimizer_step(device, mode == "graph")
            else:
                step = network_step(name, batch, device)
            if mode == "graph":
                step = captured(step)
            for _ in range(3):
                step()
            self.steps[key] = step
        return self.steps[key]

    def measure(self, request):
        step = self.step_of(request)
        if torch.get_num_threads() != request["threads"]:
            torch.set_num_threads(request["threads"])
            step()
        cuda = request["device"] == "cuda"
        if cuda:
            torch.cuda.synchronize()
        start, cpu_start = time.perf_counter(), time.process_time()
        for _ in range(request["iterations"]):
            step()
        if cuda:
            torch.cuda.synchronize()
        return {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu_start}


def main():
    torch.set_num_threads(1)
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    bench = Bench()
    for line in sys.stdin:
        request = json.loads(line)
        if "describe" in request:
            cuda = torch.cuda.get_device_name() if torch.cuda.is_available() else None
            answer = {"version": torch.__version__, "cuda": cuda}
        else:
            answer = bench.measure(request)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
