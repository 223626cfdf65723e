"""A PyTorch Dataset on files of `crab generate --format parquet`."""

import io

import numpy as np
import pandas as pd
import torch
from PIL import Image
from torch.utils.data import Dataset


class CrabParquet(Dataset):
    """Context [8, 160, 160] and candidates [8, 160, 160] in [0, 1], 1 = white paper, and the answer's index."""

    def __init__(self, *files):
        self.rows = pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows.iloc[i]
        images = [[np.asarray(Image.open(io.BytesIO(p["bytes"]))) for p in row[k]] for k in ("panels", "choices")]
        return (*(torch.from_numpy(np.stack(x).astype("float32") / 255) for x in images), int(row.target))
