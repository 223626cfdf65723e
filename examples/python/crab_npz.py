"""A PyTorch Dataset on a set of `crab generate --format npz`."""

import numpy as np
import torch
from torch.utils.data import Dataset


class CrabSet(Dataset):
    """Context [8, 64, 64] and candidates [8, 64, 64] in [0, 1], 1 = white paper, and the answer's index."""

    def __init__(self, file):
        arrays = np.load(file)
        self.panel, self.selection, self.answer = (arrays[k] for k in ("panel", "selection", "answer"))

    def __len__(self):
        return len(self.answer)

    def __getitem__(self, i):
        images = [torch.from_numpy(a[i, :8].astype("float32") / 255) for a in (self.panel, self.selection)]
        return (*images, int(self.answer[i]))
