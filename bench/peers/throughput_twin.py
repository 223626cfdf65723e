"""The Python half of bench/peers/throughput.mjs: training steps of SCL, CoPINet and ResNet in PyTorch.

Reads one JSON request a line from standard input and answers each with one line on standard output:
  {"describe": true}                                                    -> {"version"}
  {"system", "batch", "mode", "device", "precision", "steps"}           -> {"seconds"}
`mode` is "eager" or "graph" (CUDA), `precision` "bf16" (autocast) or "f32" (TF32 on CUDA). A training is
built at its first request, which is the warm-up. It is written to be fast as PyTorch allows: problems stay on
the device as bytes, channels last, fused optimiser, cuDNN's own choice of algorithms, nothing read back.
"""
import gc
import json
import os
import sys
import time

# As the TypeScript side does: the oneDNN of PyTorch 1.13 may use AMX where a virtual machine traps on it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

import torch

import networks

SYSTEMS = {
    "scl": (networks.Scl, 160, networks.choice_loss, lambda p, **o: torch.optim.AdamW(p, lr=0.005, weight_decay=0.01, **o)),
    "copinet": (networks.CoPINet, 80, networks.contrast_loss, lambda p, **o: torch.optim.Adam(p, lr=1e-3, **o)),
    "resnet": (networks.ResNetChoice, 80, networks.choice_loss, lambda p, **o: torch.optim.Adam(p, lr=1e-4, **o)),
}


class Training:
    def __init__(self, system, batch, mode, device, precision):
        build, side, loss, optimizer = SYSTEMS[system]
        self.batch, self.side, self.loss, self.device = batch, side, loss, device
        self.bf16 = precision == "bf16"
        self.cuda = device != "cpu"
        self.model = build().to(device).train()
        if self.cuda:
            self.model = self.model.to(memory_format=torch.channels_last)
        options = {"fused": True, "capturable": mode == "graph"} if self.cuda else {}
        self.optimizer = optimizer(self.model.parameters(), **options)
        pixels = 16 * side * side
        self.pool = 4 * batch
        self.records = torch.randint(0, 256, (self.pool, pixels), dtype=torch.uint8, device=device)
        self.answers = torch.randint(0, 8, (self.pool,), device=device)
        self.slots = torch.zeros(batch, dtype=torch.int64, device=device)
        self.results = torch.zeros(2, device=device)
        self.stream = torch.cuda.Stream() if self.cuda else None
        self.orders = []
        self.run = self.captured() if mode == "graph" else self.compute

    def compute(self):
        self.optimizer.zero_grad(set_to_none=True)
        pictures = self.records.index_select(0, self.slots).float().div_(255)
        pictures = pictures.view(self.batch, 16, self.side, self.side)
        answer = self.answers.index_select(0, self.slots)
        kind = "cuda" if self.cuda else "cpu"
        with torch.autocast(kind, dtype=torch.bfloat16, enabled=self.bf16):
            scores = self.model(pictures[:, :8], pictures[:, 8:]).float()
            loss = self.loss(scores, answer)
        loss.backward()
        self.optimizer.step()
        right = (scores.detach().argmax(1) == answer).float().mean()
        self.results.copy_(torch.stack([loss.detach(), right]))

    def captured(self):
        """The step as a CUDA graph, warmed up on a side stream as PyTorch's documentation asks."""
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            for _ in range(3):
                self.compute()
        torch.cuda.current_stream().wait_stream(self.stream)
        self.optimizer.zero_grad(set_to_none=True)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.compute()
        return graph.replay

    def next_slots(self):
        """Slots of the next batch, on the host: every problem once in a random order, then again."""
        if not self.orders:
            order = torch.randperm(self.pool, pin_memory=self.cuda)
            self.orders = list(order.split(self.batch))
        return self.orders.pop()

    def seconds(self, steps):
        start = time.perf_counter()
        for _ in range(steps):
            self.slots.copy_(self.next_slots(), non_blocking=True)
            self.run()
        if self.cuda:
            torch.cuda.synchronize()
        return time.perf_counter() - start


def main():
    torch.set_num_threads(1)
    torch.backends.cudnn.benchmark = True
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    key, training = None, None
    for line in sys.stdin:
        request = json.loads(line)
        if "describe" in request:
            answer = {"version": torch.__version__}
        else:
            steps = request.pop("steps")
            if request != key:
                training = None  # the one before makes room first
                gc.collect()
                key, training = request, Training(**request)
            answer = {"seconds": training.seconds(steps)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
