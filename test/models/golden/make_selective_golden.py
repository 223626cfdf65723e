"""Golden values of the eleven selective systems, by the PyTorch modules of bench/peers/networks.py.

Run with a Python that has torch and numpy (Debian: python3-torch):
    python3 test/models/golden/make_selective_golden.py
It writes selective.json beside itself. Weights, pictures and annotations are no part of it: both sides work
them out from names and places by the formula below (selective-golden.test.ts has it again), in f64.
"""
import json
import pathlib
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "bench" / "peers"))
import networks  # noqa: E402

torch.set_num_threads(1)
BLOCK = 4


def uniform(name, count):
    """Numbers in [0, 1): FNV-1a of the name, then MurmurHash3's finaliser of it and the place."""
    seed = 0x811C9DC5
    for byte in name.encode():
        seed = ((seed ^ byte) * 0x01000193) & 0xFFFFFFFF
    with np.errstate(over="ignore"):
        h = np.arange(count, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(seed)
        h ^= h >> np.uint32(16)
        h *= np.uint32(0x85EBCA6B)
        h ^= h >> np.uint32(13)
        h *= np.uint32(0xC2B2AE35)
        h ^= h >> np.uint32(16)
    return h / 2.0**32


def weight(name, shape):
    u = uniform(name, int(np.prod(shape)))
    last = name.split(".")[-1]
    if last == "running_var" or (last == "weight" and len(shape) == 1):
        values = 0.5 + u  # variances, and scales of normalisations
    elif len(shape) == 1 or last == "bias":
        values = 0.4 * u - 0.2
    else:
        values = (2 * u - 1) * np.sqrt(6 / np.prod(shape[1:]))  # He
    return torch.from_numpy(values.reshape(shape))


def pictures(name, n, side):
    """Pictures [n, 8, side, side] of random blocks, as figures have areas."""
    blocks = side // BLOCK
    u = uniform(name, n * 8 * blocks * blocks).reshape(n, 8, blocks, blocks)
    return torch.from_numpy(u.repeat(BLOCK, 2).repeat(BLOCK, 3))


def bits(name, n, count):
    return torch.from_numpy((uniform(name, n * count) < 0.5).astype(float).reshape(n, count))


def fill(model):
    state = model.state_dict()
    for name, value in state.items():
        if value.is_floating_point():
            state[name] = weight(name, tuple(value.shape))
    model.load_state_dict(state)


def choice(weights=(0.0, 0.0)):
    def loss(output, answer, n):
        told = bits("meta target", n, 9), bits("meta structure", n, 21)
        return networks.choice_loss(output, answer, *told, weights)

    return loss


def contrast(output, answer, n):
    return networks.contrast_loss(output, answer)


# Small pictures where the network averages over them, so that all of it stays quick.
CASES = [
    ("lstm", "center", {}, networks.Lstm(), 80, 3, choice()),
    ("cnn", "center", {}, networks.Cnn(dropout=0), 80, 3, choice()),
    ("resnet", "center", {}, networks.ResNetChoice(dropout=0), 64, 4, choice()),
    ("lstm-drt", "center", {}, networks.LstmDrt(two_components=False), 80, 2, choice()),
    ("lstm-drt", "left-right", {}, networks.LstmDrt(), 80, 2, choice()),
    ("cnn-drt", "center", {}, networks.CnnDrt(two_components=False, dropout=0), 80, 3, choice()),
    (
        "resnet-drt",
        "out-in-grid",
        {"metaTarget": 1, "metaStructure": 2},
        networks.ResNetDrt(dropout=0),
        64,
        3,
        choice((1, 2)),
    ),
    ("wren", "center", {}, networks.Wren(dropout=0), 80, 2, choice()),
    ("wren", "center", {"metaTarget": 10}, networks.Wren(True, dropout=0), 80, 2, choice((10, 0))),
    ("sran", "center", {"metaTarget": 1}, networks.Sran(dropout=0), 32, 1, choice((1, 0))),
    ("len", "center", {}, networks.Len(dropout=0), 160, 2, choice()),
    ("copinet", "center", {}, networks.CoPINet(), 80, 2, contrast),
    ("scl", "center", {}, networks.Scl(), 160, 2, choice()),
]


def scores_of(output):
    return (output[0] if isinstance(output, tuple) else output).tolist()


def norms(model):
    """Norms of the gradients of each part of a network, by the first word of the parameters' names."""
    sums = {}
    for name, parameter in model.named_parameters():
        part = name.split(".")[0]
        sums[part] = sums.get(part, 0.0) + parameter.grad.square().sum().item()
    return {part: total**0.5 for part, total in sums.items()}


def golden(system, configuration, network, model, side, n, loss_of):
    model.double()
    fill(model)
    context, candidates = pictures("context", n, side), pictures("candidates", n, side)
    answer = torch.from_numpy((uniform("answer", n) * 8).astype(np.int64))
    model.eval()
    with torch.no_grad():
        used = scores_of(model(context, candidates))
    model.train()
    output = model(context, candidates)
    loss = loss_of(output, answer, n)
    loss.backward()
    return {
        "system": system,
        "configuration": configuration,
        "network": network,
        "side": side,
        "problems": n,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "used": used,
        "trained": scores_of(output),
        "loss": loss.item(),
        "gradients": norms(model),
    }


def main():
    cases = [golden(*case) for case in CASES]
    lines = ",\n".join(json.dumps(case) for case in cases)
    (HERE / "selective.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
