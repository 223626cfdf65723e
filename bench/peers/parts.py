"""What several of the networks in networks.py are made of."""
import torch
from torch import nn
from torch.nn import functional as F

ROWS = [(0, 1, 2), (3, 4, 5), (6, 7, 8)]
COLUMNS = [(0, 3, 6), (1, 4, 7), (2, 5, 8)]


def each_panel(network, context, candidates):
    """[N, 8, S, S] twice to what a network makes of each picture, [N, 16, ...]."""
    pictures = torch.cat([context, candidates], 1)
    n, count, side, _ = pictures.shape
    return network(pictures.reshape(n * count, 1, side, side)).unflatten(0, (n, count))


def perceptron(*widths, norm=False, last=True, dropout=None):
    """Linear layers with ReLU after each, but after the last one if `last`; dropout before that one."""
    layers = []
    hidden = list(zip(widths, widths[1:]))
    final = [hidden.pop()] if last else []
    for inputs, outputs in hidden:
        layers += [nn.Linear(inputs, outputs), *([nn.BatchNorm1d(outputs)] if norm else []), nn.ReLU()]
    layers += [] if dropout is None else [nn.Dropout(dropout)]
    return nn.Sequential(*layers, *[nn.Linear(*shape) for shape in final])


class Conv4(nn.Module):
    """Four 3x3 convolutions of stride 2 without padding: sides 80, 39, 19, 9, 4 or 160, 79, 39, 19, 9."""

    def __init__(self, inputs, channels):
        super().__init__()
        layers = []
        for start in (inputs, channels, channels, channels):
            layers += [nn.Conv2d(start, channels, 3, stride=2), nn.BatchNorm2d(channels), nn.ReLU()]
        self.layers = nn.Sequential(*layers)

    def forward(self, pictures):
        return self.layers(pictures).flatten(1)


def with_tags(features):
    """Adds nine bits to features [N, 16, d]: one for each place of the context, the ninth for candidates."""
    places = torch.tensor([*range(8), *[8] * 8], device=features.device)
    tags = F.one_hot(places, 9).to(features.dtype)
    return torch.cat([features, tags.expand(len(features), 16, 9)], 2)


def convolution(inputs, outputs, side, stride=1):
    """Without bias, padded; He's first weights by fan-out."""
    layer = nn.Conv2d(inputs, outputs, side, stride, padding=side // 2, bias=False)
    nn.init.kaiming_normal_(layer.weight, mode="fan_out", nonlinearity="relu")
    return layer


class Stem(nn.Module):
    def __init__(self, inputs, channels=64):
        super().__init__()
        self.conv = convolution(inputs, channels, 7, 2)
        self.norm = nn.BatchNorm2d(channels)

    def forward(self, x):
        return F.max_pool2d(F.relu(self.norm(self.conv(x))), 3, stride=2, padding=1)


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride, layers):
        super().__init__()
        self.layers = nn.Sequential(*layers)
        self.shortcut = None
        if stride != 1 or inputs != outputs:
            self.shortcut = nn.Sequential(convolution(inputs, outputs, 1, stride), nn.BatchNorm2d(outputs))

    def forward(self, x):
        return F.relu(self.layers(x) + (x if self.shortcut is None else self.shortcut(x)))


def basic_block(inputs, width, stride):
    layers = [convolution(inputs, width, 3, stride), nn.BatchNorm2d(width), nn.ReLU()]
    layers += [convolution(width, width, 3), nn.BatchNorm2d(width)]
    return Residual(inputs, width, stride, layers), width


def bottleneck(inputs, width, stride):
    layers = [convolution(inputs, width, 1), nn.BatchNorm2d(width), nn.ReLU()]
    layers += [convolution(width, width, 3, stride), nn.BatchNorm2d(width), nn.ReLU()]
    layers += [convolution(width, 4 * width, 1), nn.BatchNorm2d(4 * width)]
    return Residual(inputs, 4 * width, stride, layers), 4 * width


class ResNet(nn.Module):
    """Without the classifier: pictures [n, inputs, S, S] to features [n, 512] or, of 50 layers, [n, 2048]."""

    def __init__(self, depth, inputs):
        super().__init__()
        block, counts = {18: (basic_block, (2, 2, 2, 2)), 50: (bottleneck, (3, 4, 6, 3))}[depth]
        stem = Stem(inputs)
        stem.conv.reset_parameters()  # the solvers replace this layer, so it has PyTorch's default weights
        layers, self.width = [stem], 64
        for stage, count in enumerate(counts):
            for number in range(count):
                stride = 2 if stage > 0 and number == 0 else 1
                layer, self.width = block(self.width, 64 * 2**stage, stride)
                layers.append(layer)
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return F.adaptive_avg_pool2d(self.layers(x), 1).flatten(1)


class ResidualTree(nn.Module):
    """RAVEN's dynamic residual tree; `words` are the vectors of the six nodes in pre-order."""

    def __init__(self, width, two_components):
        super().__init__()
        self.two_components = two_components
        self.register_buffer("words", torch.zeros(6, 300))
        self.word = nn.Linear(300, 300)
        self.leaf, self.component, self.structure, self.root = (
            nn.Linear(300 + width, width) for _ in range(4)
        )

    def forward(self, f):
        scene, structure, first, first_layout, second, second_layout = self.word(self.words)

        def node(layer, word, below):
            return F.relu(layer(torch.cat([word.expand(len(below), -1), below], 1)))

        left = node(self.component, first, node(self.leaf, first_layout, f))
        right = node(self.component, second, node(self.leaf, second_layout, f))
        indicator = 1.0 if self.two_components else 0.0
        return f + node(self.root, scene, node(self.structure, structure, left + indicator * right))


class ResidualFeedforward(nn.Module):
    def __init__(self, width):
        super().__init__()
        first, second = nn.Linear(width, width), nn.Linear(width, width)
        for layer in (first, second):
            nn.init.normal_(layer.weight, std=0.005)
        layers = [nn.LayerNorm(width), nn.ReLU(), first, nn.LayerNorm(width), nn.ReLU(), second]
        self.layers = nn.Sequential(*layers)

    def forward(self, x):
        return x + self.layers(x)
