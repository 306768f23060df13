"""An article's import: ToTensor and Normalize beside Compose, out of one module."""

import mindspore.dataset as ds
import numpy as np
from mindspore.dataset.transforms import Compose, Normalize, ToTensor

images = np.random.RandomState(0).randint(0, 256, (8, 28, 28, 1), dtype=np.uint8)
transform = Compose([ToTensor(), Normalize(mean=[0.1307], std=[0.3081], is_hwc=False)])

dataset = ds.NumpySlicesDataset(images, column_names=["image"], shuffle=False)
dataset = dataset.map(transform, input_columns="image").batch(4)

for (batch,) in dataset.create_tuple_iterator():
    print(batch.shape, batch.dtype, f"mean {float(batch.mean()):.3f}")
