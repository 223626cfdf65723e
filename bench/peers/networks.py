"""The eleven selective systems a second time, in PyTorch, written from the papers and released codes.

They check the TypeScript ones (test/models/golden/make_selective_golden.py) and race them
(bench/peers/throughput.mjs). Every module takes context and candidates, [N, 8, S, S] each, and gives scores
[N, 8]; one that also guesses annotations gives a tuple: scores, logits of the meta target [N, 9] and, from
ResNet-DRT, of the meta structure [N, 21]. Parameters have the names they have in TypeScript. With
`dropout` 0 a training step is the same on both sides.
"""
from itertools import combinations

import torch
from torch import nn
from torch.nn import functional as F

from parts import (
    COLUMNS,
    ROWS,
    Conv4,
    ResidualFeedforward,
    ResidualTree,
    ResNet,
    Stem,
    basic_block,
    convolution,
    each_panel,
    perceptron,
    with_tags,
)


class Lstm(nn.Module):
    def __init__(self, channels=8, hidden=96):
        super().__init__()
        self.features = Conv4(1, channels)
        self.memory = nn.LSTM(channels * 16 + 9, hidden, batch_first=True)
        self.classifier = nn.Linear(hidden, 8)

    def forward(self, context, candidates):
        steps, _ = self.memory(with_tags(each_panel(self.features, context, candidates)))
        return self.classifier(steps[:, -1])


class Cnn(nn.Module):
    def __init__(self, dropout=0.5):
        super().__init__()
        self.features = Conv4(16, 32)
        self.classifier = perceptron(512, 512, 8, dropout=dropout)

    def forward(self, context, candidates):
        return self.classifier(self.embed(torch.cat([context, candidates], 1)))

    def embed(self, panels):
        return self.features(panels)


class ResNetChoice(nn.Module):
    def __init__(self, depth=50, dropout=0.5):
        super().__init__()
        self.features = ResNet(depth, 16)
        self.classifier = perceptron(self.features.width, 512, 8, dropout=dropout)

    def forward(self, context, candidates):
        return self.classifier(self.features(torch.cat([context, candidates], 1)))


class LstmDrt(nn.Module):
    def __init__(self, two_components=True):
        super().__init__()
        self.features = Conv4(1, 16)
        self.tree = ResidualTree(256, two_components)
        self.memory = nn.LSTM(256, 96, batch_first=True)
        self.classifier = nn.Linear(96, 8)

    def forward(self, context, candidates):
        panels = each_panel(lambda x: self.tree(self.features(x)), context, candidates)
        steps, _ = self.memory(panels)
        return self.classifier(steps[:, -1])


class CnnDrt(Cnn):
    def __init__(self, two_components=True, dropout=0.5):
        super().__init__(dropout)
        self.tree = ResidualTree(512, two_components)

    def embed(self, panels):
        return self.tree(self.features(panels))


class ResNetDrt(nn.Module):
    def __init__(self, two_components=True, dropout=0.5):
        super().__init__()
        self.features = ResNet(18, 16)
        self.tree = ResidualTree(512, two_components)
        self.classifier = perceptron(512, 512, 8 + 9 + 21, dropout=dropout)

    def forward(self, context, candidates):
        features = self.tree(self.features(torch.cat([context, candidates], 1)))
        return self.classifier(features).split([8, 9, 21], 1)


class Wren(nn.Module):
    """Plainly: all 80 pairs for every candidate."""

    def __init__(self, guesses_rules=False, dropout=0.5):
        super().__init__()
        self.guesses_rules = guesses_rules
        self.features = Conv4(1, 32)
        self.describe = nn.Linear(512 + 9, 256)
        self.relate = perceptron(512, 512, 512, 512, 256, last=False)
        self.judge = perceptron(256, 256, 256, 10 if guesses_rules else 1, dropout=dropout)

    def forward(self, context, candidates):
        panels = self.describe(with_tags(each_panel(self.features, context, candidates)))
        known = panels[:, :8]
        outputs = []
        for candidate in range(8, 16):
            offered = panels[:, candidate, None].expand_as(known)
            pairs = [torch.cat([known[:, [i] * 8], known], 2) for i in range(8)]
            pairs += [torch.cat([offered, known], 2), torch.cat([known, offered], 2)]
            outputs.append(self.judge(self.relate(torch.cat(pairs, 1)).sum(1)))
        outputs = torch.stack(outputs, 1)  # [N, 8, 1 or 10]
        scores = outputs[:, :, 0]
        return (scores, outputs[:, :, 1:].sum(1)) if self.guesses_rules else scores


class Sran(nn.Module):
    def __init__(self, dropout=0.5):
        super().__init__()
        self.panel, self.row, self.pair = ResNet(18, 1), ResNet(18, 3), ResNet(18, 6)
        self.row_fusion = perceptron(1536, 1536, 512, last=False)
        self.pair_fusion = perceptron(2048, 2048, 512, last=False)
        self.rule = perceptron(1024, 1024, 512, 512, 512 + 9, dropout=dropout)

    def forward(self, context, candidates):
        pictures = torch.cat([context, candidates], 1)  # [N, 16, S, S]
        features = each_panel(self.panel, context, candidates)  # [N, 16, 512]
        rows = [(0, 1, 2), (3, 4, 5), *[(6, 7, 8 + c) for c in range(8)]]
        stacks = torch.stack([pictures[:, row] for row in rows], 1)  # [N, 10, 3, S, S]
        n = len(stacks)
        fused = self.row_fusion(torch.stack([features[:, row].flatten(1) for row in rows], 1))
        lines = torch.cat([fused, self.row(stacks.flatten(0, 1)).unflatten(0, (n, 10))], 2)  # [N, 10, 1024]
        pairs = [(0, 1), *[(0, 2 + c) for c in range(8)], *[(1, 2 + c) for c in range(8)]]
        evidence = 0
        for order in (pairs, [(b, a) for a, b in pairs]):
            by_lines = self.pair_fusion(torch.stack([lines[:, pair].flatten(1) for pair in order], 1))
            six = torch.stack([stacks[:, pair].flatten(1, 2) for pair in order], 1)  # [N, 17, 6, S, S]
            by_pictures = self.pair(six.flatten(0, 1)).unflatten(0, (n, 17))
            evidence = evidence + torch.cat([by_lines, by_pictures], 2)
        rules = self.rule(evidence)  # [N, 17, 521]
        r = rules[:, :, :512]
        similar = torch.einsum("nd,nkd->nk", r[:, 0], r[:, 1:])  # [N, 16]
        return similar[:, :8] + similar[:, 8:], rules[:, 0, 512:]


class Len(nn.Module):
    def __init__(self, dropout=0.5):
        super().__init__()

        def embedding(inputs):
            head = perceptron(2592, 256, norm=True, last=False)
            return nn.Sequential(Conv4(inputs, 32), nn.Identity(), head)

        def relation():
            module = nn.Module()
            module.layers = perceptron(1024, 1024, 768, 512, 512, norm=True, last=False, dropout=dropout)
            return module

        self.panel, self.whole = embedding(1), embedding(16)
        self.lines, self.others = relation(), relation()
        self.judge = perceptron(512, 256, 256, 1, norm=True, dropout=dropout)

    def forward(self, context, candidates):
        panels = each_panel(self.panel, context, candidates)
        whole = self.whole(torch.cat([context, candidates], 1))
        triples = list(combinations(range(9), 3))
        is_line = set(ROWS) | set(COLUMNS)
        total = 0
        for relation, mine in (
            (self.lines, [t for t in triples if t in is_line]),
            (self.others, [t for t in triples if t not in is_line]),
        ):
            total = total + self.summed(relation.layers, mine, panels, whole)
        return self.judge(total.flatten(0, 1)).view(-1, 8)

    def summed(self, layers, triples, panels, whole):
        """Outputs of a relation for these triples (8 is the candidate), summed: [N, 8, 512]."""
        known = [t for t in triples if 8 not in t]
        offered = [t[:2] for t in triples if 8 in t]
        places = known + [(a, b, 8 + c) for c in range(8) for a, b in offered]
        seen = torch.stack([torch.cat([*panels[:, place].unbind(1), whole], 1) for place in places], 1)
        outputs = layers(seen.flatten(0, 1)).unflatten(0, (len(panels), len(places)))
        shared = outputs[:, : len(known)].sum(1, keepdim=True)
        return shared + outputs[:, len(known) :].unflatten(1, (8, len(offered))).sum(2)


def line_layers(epsilon):
    return nn.Sequential(convolution(64, 64, 3), nn.BatchNorm2d(64, eps=epsilon), nn.ReLU())


def line_sums(panels, lines):
    """Maps of panels [N, P, c, s, s] summed along each line: [N, lines, c, s, s]."""
    return torch.stack([panels[:, a] + panels[:, b] + panels[:, c] for a, b, c in lines], 1)


def on_each(layers, maps):
    return layers(maps.flatten(0, 1)).unflatten(0, maps.shape[:2])


class Inference(nn.Module):
    def __init__(self, epsilon):
        super().__init__()
        self.stem = Stem(1)
        self.row, self.column = line_layers(epsilon), line_layers(epsilon)
        self.rules = nn.Linear(64, 60)
        self.basis = nn.Linear(6, 64, bias=False)

    def forward(self, context):
        panels = on_each(self.stem, context.unsqueeze(2))
        rows = on_each(self.row, line_sums(panels, ROWS[:2]))
        columns = on_each(self.column, line_sums(panels, COLUMNS[:2]))
        logits = self.rules((rows + columns).sum(1).mean((2, 3))).unflatten(1, (10, 6))
        return self.basis(logits.softmax(2)).sum(1)


class Contrast(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.rules = perceptron(64, 64, 64)
        self.common = nn.Sequential(convolution(channels + 64, channels, 3), nn.BatchNorm2d(channels))

    def forward(self, maps, rules):
        told = self.rules(rules)[:, :, None, None].expand(-1, -1, *maps.shape[3:])
        return maps - self.common(torch.cat([maps.sum(1), told], 1)).unsqueeze(1)


class CoPINet(nn.Module):
    def __init__(self, line_epsilon=64.0):
        super().__init__()
        self.inference = Inference(line_epsilon)
        self.stem = Stem(1)
        self.row, self.column = line_layers(line_epsilon), line_layers(line_epsilon)
        self.contrasts = nn.ModuleList([Contrast(64), Contrast(128)])
        self.blocks = nn.ModuleList([basic_block(64, 128, 2)[0], basic_block(128, 256, 2)[0]])
        self.judge = perceptron(256, 256, 1)

    def forward(self, context, candidates):
        rules = self.inference(context)
        panels = each_panel(self.stem, context, candidates)
        known, offered = panels[:, :8], panels[:, 8:]
        maps = 0
        for layers, lines in ((self.row, ROWS), (self.column, COLUMNS)):
            a, b, _ = lines[2]
            third = offered + (known[:, a] + known[:, b]).unsqueeze(1)
            lined = on_each(layers, torch.cat([line_sums(known, lines[:2]), third], 1))
            maps = maps + lined[:, 2:] + lined[:, :2].sum(1, keepdim=True)
        for contrast, block in zip(self.contrasts, self.blocks):
            maps = on_each(block, contrast(maps, rules))
        return self.judge(maps.mean((3, 4))).squeeze(2)


class Expert(nn.Module):
    """One layer of all five experts."""

    def __init__(self, inputs, outputs):
        super().__init__()
        bound = inputs**-0.5
        self.weight = nn.Parameter(torch.empty(5, inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(5, 1, outputs).uniform_(-bound, bound))

    def forward(self, x):
        return torch.baddbmm(self.bias, x, self.weight)


class Relations(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([Expert(9, 64), Expert(64, 32), Expert(32, 1)])
        # R(1): layer normalisation of one number leaves a constant.
        self.offset = nn.Parameter(torch.empty(5).uniform_(-1, 1))

    def forward(self, values):
        x = values.flatten(0, 2).expand(5, -1, -1)  # [5, N * 8 * 80, 9]
        first, second, third = self.layers
        logits = third(F.relu(second(F.relu(first(x))))).squeeze(2).t() + self.offset
        return logits.softmax(1).view(*values.shape[:3], 5)


class Scl(nn.Module):
    def __init__(self):
        super().__init__()
        layers = []
        for inputs, outputs in ((1, 16), (16, 16), (16, 32), (32, 32)):
            layers += [nn.Conv2d(inputs, outputs, 3, 2, 1), nn.BatchNorm2d(outputs), nn.ReLU()]
        self.convolutions = nn.Sequential(*layers)
        self.scatter = nn.Linear(100, 80)
        self.part = nn.Sequential(perceptron(256, 128, 8), ResidualFeedforward(8))
        self.attributes = ResidualFeedforward(80)
        self.relations = Relations()
        self.judge = perceptron(400, 128, 1)

    def describe(self, pictures):
        scattered = self.scatter(self.convolutions(pictures).flatten(2))  # [n, 32, 80]
        groups = torch.stack(scattered.split(8, 2), 1).flatten(2)  # [n, 10, 256]
        return self.attributes(self.part(groups).flatten(1))  # [n, 80]

    def forward(self, context, candidates):
        values = each_panel(self.describe, context, candidates)  # [N, 16, 80]
        known = values[:, None, :8].expand(-1, 8, -1, -1)  # [N, 8, 8, 80]
        matrices = torch.cat([known, values[:, 8:, None]], 2)  # [N, 8, 9, 80]
        return self.judge(self.relations(matrices.transpose(2, 3)).flatten(2)).squeeze(2)


def choice_loss(output, answer, meta_target=None, meta_structure=None, weights=(0.0, 0.0)):
    """Softmax cross-entropy, and if told the annotations, their mean binary ones times weights."""
    scores, *guesses = output if isinstance(output, tuple) else (output,)
    loss = F.cross_entropy(scores, answer)
    for weight, logits, bits in zip(weights, guesses, (meta_target, meta_structure)):
        if weight > 0:
            loss = loss + weight * F.binary_cross_entropy_with_logits(logits, bits)
    return loss


def contrast_loss(scores, answer):
    """CoPINet's: each candidate by itself is right or wrong."""
    target = torch.zeros_like(scores).scatter_(1, answer.unsqueeze(1), 1.0)
    return F.binary_cross_entropy_with_logits(scores, target)
