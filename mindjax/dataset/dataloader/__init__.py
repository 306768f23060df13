"""Loaders of batches from Python objects (MindSpore: ``mindspore.dataset.dataloader``)."""

from mindjax.dataset.dataloader.collate import default_collate as default_collate
from mindjax.dataset.dataloader.collate import default_convert as default_convert
from mindjax.dataset.dataloader.datasets import Dataset as Dataset
from mindjax.dataset.dataloader.datasets import IterableDataset as IterableDataset
from mindjax.dataset.dataloader.datasets import TensorDataset as TensorDataset
from mindjax.dataset.dataloader.loader import DataLoader as DataLoader
from mindjax.dataset.dataloader.loader import get_worker_info as get_worker_info
from mindjax.dataset.dataloader.samplers import BatchSampler as BatchSampler
from mindjax.dataset.dataloader.samplers import DistributedSampler as DistributedSampler
from mindjax.dataset.dataloader.samplers import RandomSampler as RandomSampler
from mindjax.dataset.dataloader.samplers import Sampler as Sampler
from mindjax.dataset.dataloader.samplers import SequentialSampler as SequentialSampler
