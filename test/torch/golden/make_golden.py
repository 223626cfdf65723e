#!/usr/bin/env python3
"""Writes golden.safetensors: what PyTorch computes for the cases in operators.json and modules.json.

Run with a Python that has PyTorch 1.13 (Debian: python3-torch):  /usr/bin/python3 make_golden.py
Everything is drawn from fixed seeds, one per case, so a case can be added without changing others.
Cotangents are not stored: both sides use cos(1.3 i + 0.5 + k) for element i of output k.
"""
import json
import os
import re
import struct
import zlib
from pathlib import Path

# The oneDNN in PyTorch 1.13 uses AMX where the processor names it, also in virtual machines that trap on it.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")

import numpy as np
import torch
import torch.nn.functional as F

FOLDER = Path(__file__).parent
golden = {}


def snake(name):
    return re.sub(r"([A-Z])", lambda match: "_" + match.group(1).lower(), name)


def options_of(options):
    return {snake(key): value for key, value in options.items()}


# ---- Tensors drawn from their description ---------------------------------------------------------

def draw(kind, shape, rng):
    count = int(np.prod(shape))
    if kind == "n":
        return rng.standard_normal(shape)
    if kind == "p":
        return rng.uniform(0.5, 2, shape)
    if kind == "u":
        return rng.uniform(0.05, 0.95, shape)
    if kind == "z":  # away from 0, and from the integers and halves where rounding jumps
        whole = rng.integers(0, 2, shape) + rng.uniform(0.1, 0.4, shape)
        return whole * rng.choice([-1.0, 1.0], shape)
    if kind == "d":
        return rng.permutation(np.linspace(-2, 2, count) if count > 1 else np.full(count, 0.7)).reshape(shape)
    if kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if kind == "b+":  # every row has a true
        mask = rng.integers(0, 2, shape).astype(bool)
        mask[..., 0] = True
        return mask
    if kind == "spd":
        root = rng.standard_normal(shape)
        return root @ np.swapaxes(root, -1, -2) + 2 * np.eye(shape[-1])
    if kind == "sym":  # eigenvalues well apart
        root = rng.standard_normal(shape)
        return (root + np.swapaxes(root, -1, -2)) / 2 + np.diag(3.0 * np.arange(shape[-1]))
    if kind.startswith("i"):
        return rng.integers(0, int(kind[1:]), shape)
    raise ValueError(f"unknown kind of tensor: {kind}")


def tensor_of(text, rng):
    kind, _, sizes = text[1:].partition(" ")
    shape = tuple(int(size) for size in sizes.split(",")) if sizes else ()
    values = np.asarray(draw(kind.rstrip("!"), shape, rng))
    floating = values.dtype == np.float64
    tensor = torch.from_numpy(np.ascontiguousarray(values.astype(np.float32) if floating else values).reshape(shape))
    return tensor.requires_grad_(floating and not kind.endswith("!"))


def materialize(value, rng, inputs):
    """Replaces every description in an argument by its tensor, and lists the tensors in order."""
    if isinstance(value, str) and value.startswith("@"):
        tensor = tensor_of(value, rng)
        inputs.append(tensor)
        return tensor
    if isinstance(value, list):
        return [materialize(item, rng, inputs) for item in value]
    return value


def cotangent(output, index):
    flat = torch.cos(torch.arange(output.numel(), dtype=torch.float64) * 1.3 + 0.5 + index)
    return flat.reshape(output.shape).to(output.dtype)


def gradients(outputs, inputs):
    """Gradients of the outputs against their cotangents; None where an input plays no part."""
    chosen = [(k, out) for k, out in enumerate(outputs) if out.is_floating_point() and out.requires_grad]
    wanted = [x for x in inputs if x.requires_grad]
    if not chosen or not wanted:
        return [None] * len(wanted)
    outs = [out for _, out in chosen]
    return torch.autograd.grad(outs, wanted, [cotangent(out, k) for k, out in chosen], allow_unused=True)


# ---- Operators ------------------------------------------------------------------------------------

def seeded(seed):
    return torch.Generator().manual_seed(seed)


def symmetric(matrix):
    """Only one triangle is read; moving one element must move its mirror image too."""
    return (matrix + matrix.transpose(-1, -2)) / 2


def eigh(matrix):
    """Eigenvalues and a function of the matrix: neither depends on the sign of an eigenvector."""
    values, vectors = torch.linalg.eigh(symmetric(matrix))
    return values, vectors @ torch.diag_embed(torch.exp(values / 4)) @ vectors.transpose(-1, -2)


def svd(matrix):
    """Singular values and a function of the matrix: neither depends on the signs of the vectors."""
    _, values, right = torch.linalg.svd(matrix, full_matrices=False)
    return values, right.transpose(-1, -2) @ torch.diag_embed(torch.exp(values / 4)) @ right


def qr(matrix):
    """The product, and sizes that do not depend on signs."""
    q, r = torch.linalg.qr(matrix)
    return q @ r, r.abs()


def attention(query, key, value, mask=None):
    scores = query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf")) if mask.dtype == torch.bool else scores + mask
    return torch.softmax(scores, -1) @ value


def reduced(function):
    """min, max: a tensor without dim, values and indices with one."""
    return lambda x, **options: tuple(function(x, **options)) if "dim" in options else function(x)


OPERATORS = {
    "zeros": lambda shape: torch.zeros(shape),
    "ones": lambda shape: torch.ones(shape),
    "full": lambda shape, value: torch.full(shape, value),
    "arange": lambda start, end, step: torch.arange(start, end, step, dtype=torch.float32),
    "rand": lambda shape, seed: torch.rand(shape, generator=seeded(seed)),
    "randn": lambda shape, seed: torch.randn(shape, generator=seeded(seed)),
    "randint": lambda low, high, shape, seed: torch.randint(low, high, shape, generator=seeded(seed)),
    "randperm": lambda count, seed: torch.randperm(count, generator=seeded(seed)),
    "bernoulli": lambda p, seed: torch.bernoulli(p, generator=seeded(seed)),
    "softplus": lambda x, beta=1.0, threshold=20.0: F.softplus(x, beta, threshold),
    "gelu": F.gelu,
    "silu": F.silu,
    "elu": F.elu,
    "leakyRelu": lambda x, slope=0.01: F.leaky_relu(x, slope),
    "logSigmoid": F.logsigmoid,
    "clamp": lambda x, low, high: torch.clamp(x, low, high),
    "maskedFill": lambda x, mask, value: x.masked_fill(mask, value),
    "min": reduced(torch.min),
    "max": reduced(torch.max),
    "sort": lambda x, **options: tuple(torch.sort(x, **options)),
    "topk": lambda x, k, **options: tuple(torch.topk(x, k, **options)),
    "var": lambda x, dim, correction=1, keepdim=False: torch.var(x, dim, correction=correction, keepdim=keepdim),
    "std": lambda x, dim, correction=1, keepdim=False: torch.std(x, dim, correction=correction, keepdim=keepdim),
    "norm": lambda x, dim=None: torch.linalg.vector_norm(x, 2, dim),
    "view": lambda x, shape: x.view(shape),
    "expand": lambda x, shape: x.expand(shape),
    "repeat": lambda x, counts: x.repeat(counts),
    "slice": lambda x, dim, start, end, step: torch.ops.aten.slice(x, dim, start, end, step),
    "oneHot": lambda x, classes: F.one_hot(x, classes),
    "pad": lambda x, sizes, mode="constant", value=None: F.pad(x, sizes, mode, value if mode == "constant" else None),
    "einsum": lambda equation, tensors: torch.einsum(equation, *tensors),
    "cholesky": lambda matrix: torch.linalg.cholesky(symmetric(matrix)),
    "solve": torch.linalg.solve,
    "eigh": eigh,
    "svd": svd,
    "qr": qr,
    "unique": lambda x: torch.unique(x, return_inverse=True, return_counts=True),
    "quantile": lambda x, q, dim=None: torch.quantile(x, q, dim),
    "groupNorm": F.group_norm,
    "unfold2d": F.unfold,
    "linear": F.linear,
    "batchNorm": lambda x, mean, var, weight, bias, training, eps=1e-5:
        F.batch_norm(x, mean, var, weight, bias, training, 0.1, eps),
    "layerNorm": F.layer_norm,
    "maxPool2d": F.max_pool2d,
    "avgPool2d": F.avg_pool2d,
    "adaptiveAvgPool2d": F.adaptive_avg_pool2d,
    "interpolate": F.interpolate,
    "embedding": F.embedding,
    "dropoutOff": lambda x: F.dropout(x, 0.5, training=False),
    "attention": attention,
    "softmax": lambda x, dim: torch.softmax(x, dim),
    "logSoftmax": lambda x, dim: torch.log_softmax(x, dim),
    "crossEntropy": F.cross_entropy,
    "nllLoss": F.nll_loss,
    "bce": F.binary_cross_entropy,
    "bceWithLogits": F.binary_cross_entropy_with_logits,
    "mse": F.mse_loss,
    "l1": F.l1_loss,
    "smoothL1": F.smooth_l1_loss,
    "conv2d": lambda x, weight, bias, **options: F.conv2d(x, weight, bias, **options),
    "convTranspose2d": lambda x, weight, bias, **options: F.conv_transpose2d(x, weight, bias, **options),
}


def apply_operator(op, args):
    function = OPERATORS.get(op) or getattr(torch, snake(op))
    options = options_of(args[-1]) if args and isinstance(args[-1], dict) else {}
    result = function(*(args[:-1] if options or (args and isinstance(args[-1], dict)) else args), **options)
    return list(result) if isinstance(result, (tuple, list)) else [result]


def to_bfloat16(value):
    """Rounds every floating tensor of an argument to bfloat16, held in f64 so that the results are exact."""
    if isinstance(value, torch.Tensor):
        return value.detach().bfloat16().double() if value.is_floating_point() else value
    return [to_bfloat16(item) for item in value] if isinstance(value, list) else value


def operator_cases():
    counts = {}
    for group in json.loads((FOLDER / "operators.json").read_text())["groups"]:
        for op in group["ops"]:
            for case in group["cases"]:
                index = counts[op] = counts.get(op, -1) + 1
                yield f"{op}.{index}", op, case, group.get("flags", [])


def add_operator(name, op, case, flags):
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    inputs = []
    args = materialize(case, rng, inputs)
    outputs = apply_operator(op, args)
    record(f"{name}/in", inputs)
    record(f"{name}/out", outputs)
    record(f"{name}/grad", gradients(outputs, inputs))
    if "bf16" in flags:
        exact = apply_operator(op, to_bfloat16(args))
        record(f"{name}/bf16", [out.float() for out in exact if out.is_floating_point()])


# ---- Modules --------------------------------------------------------------------------------------

def sequential():
    return torch.nn.Sequential(
        torch.nn.Conv2d(1, 2, 3, stride=1, padding=1),
        torch.nn.BatchNorm2d(2),
        torch.nn.ReLU(),
        torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(72, 3), torch.nn.Sigmoid()),
    )


MODULES = {
    "Sequential": sequential,
    "MultiheadAttention": lambda **options: torch.nn.MultiheadAttention(batch_first=True, **options),
    "LSTM": lambda **options: torch.nn.LSTM(batch_first=True, **options),
}


def run_module(kind, module, inputs):
    if kind == "MultiheadAttention":
        query, key, value = inputs if len(inputs) == 3 else inputs * 3
        return list(module(query, key, value, need_weights=True))
    if kind == "LSTM":
        output, (hidden, cell) = module(*inputs)
        return [output, hidden, cell]
    return [module(*inputs)]


def perturb(module, rng):
    with torch.no_grad():
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            if tensor.is_floating_point():
                tensor.copy_(torch.from_numpy(rng.uniform(0.5, 1.5, tensor.shape).astype(np.float32)))


def add_module(case):
    name = f"module/{case['id']}"
    seed = zlib.crc32(name.encode())
    rng = np.random.default_rng(seed)
    torch.manual_seed(seed)
    module = MODULES.get(case["kind"], getattr(torch.nn, case["kind"], None))(**options_of(case["options"]))
    golden[f"{name}/seed"] = torch.tensor(seed)
    record_state(f"{name}/initial", module)
    if case.get("perturb"):
        perturb(module, rng)
    record_state(f"{name}/before", module)
    module.train(case.get("mode") != "eval")
    inputs = []
    materialize(case["inputs"], rng, inputs)
    for _ in range(case.get("repeats", 1)):
        outputs = run_module(case["kind"], module, inputs)
    record(f"{name}/in", inputs)
    record(f"{name}/out", outputs)
    leaves = [x for x in inputs if x.requires_grad]
    grads = gradients(outputs, leaves + list(module.parameters()))
    record(f"{name}/grad", grads[: len(leaves)])
    for (key, _), grad in zip(module.named_parameters(), grads[len(leaves):]):
        golden[f"{name}/paramgrad/{key}"] = grad
    record_state(f"{name}/after", module)


def record_state(prefix, module):
    for key, tensor in module.state_dict().items():
        golden[f"{prefix}/{key}"] = tensor.detach().clone()


# ---- Optimisers -----------------------------------------------------------------------------------

def loss_of(parameters):
    """Smooth, not quadratic, and with a different curvature in every element."""
    total = 0
    for p in parameters:
        curvature = torch.arange(1, p.numel() + 1, dtype=torch.float32).reshape(p.shape) / p.numel()
        total = total + (curvature * (p - 0.3).square() + torch.sin(2 * p)).sum()
    return total


def add_optimizer(case, problem):
    name = f"optimizer/{case['id']}"
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    parameters = []
    materialize(problem["parameters"], rng, parameters)
    record(f"{name}/start", parameters)
    optimizer = getattr(torch.optim, case["kind"])(parameters, **options_of(case["options"]))
    for step in range(1, problem["steps"] + 1):
        optimizer.zero_grad()
        loss_of(parameters).backward()
        optimizer.step()
        if step in problem["keep"]:
            record(f"{name}/step{step}", parameters)


def add_clipping(case):
    rng = np.random.default_rng(zlib.crc32(b"clipping"))
    start = []
    materialize(case["gradients"], rng, start)
    record("clip/start", start)

    def fresh():
        parameters = [torch.zeros_like(g).requires_grad_() for g in start]
        for p, g in zip(parameters, start):
            p.grad = g.detach().clone()
        return parameters

    for index, limit in enumerate(case["maxNorms"]):
        parameters = fresh()
        golden[f"clip/norm{index}/total"] = torch.nn.utils.clip_grad_norm_(parameters, limit)
        record(f"clip/norm{index}", [p.grad for p in parameters])
    parameters = fresh()
    torch.nn.utils.clip_grad_value_(parameters, case["maxValue"])
    record("clip/value", [p.grad for p in parameters])


# ---- The file -------------------------------------------------------------------------------------

def record(prefix, tensors):
    for index, tensor in enumerate(tensors):
        if tensor is not None:
            golden[f"{prefix}{index}"] = tensor.detach().clone()


TAGS = {torch.float32: ("F32", 4), torch.int64: ("I64", 8), torch.bool: ("BOOL", 1)}


def write_safetensors(path, tensors):
    order = sorted(tensors, key=lambda name: (-TAGS[tensors[name].dtype][1], name))
    header, blobs, offset = {"__metadata__": {"torch": torch.__version__}}, [], 0
    for name in order:
        blob = tensors[name].contiguous().numpy().tobytes()
        shape, tag = list(tensors[name].shape), TAGS[tensors[name].dtype][0]
        header[name] = {"dtype": tag, "shape": shape, "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(blobs))


def main():
    torch.set_num_threads(1)
    for case in operator_cases():
        try:
            add_operator(*case)
        except Exception as error:
            raise RuntimeError(f"{case[0]}: {case[2]}") from error
    described = json.loads((FOLDER / "modules.json").read_text())
    for case in described["modules"]:
        add_module(case)
    for case in described["optimizers"]:
        add_optimizer(case, described["optimizerProblem"])
    add_clipping(described["clipping"])
    write_safetensors(FOLDER / "golden.safetensors", golden)
    print(f"{len(golden)} tensors, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
