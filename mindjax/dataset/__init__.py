"""Data pipelines (MindSpore: ``mindspore.dataset``); imports neither jax nor Tensors."""

from typing import TYPE_CHECKING, Any

from mindjax.dataset import audio as audio
from mindjax.dataset import callback as callback
from mindjax.dataset import config as config
from mindjax.dataset import dataloader as dataloader
from mindjax.dataset import debug as debug
from mindjax.dataset import text as text
from mindjax.dataset import transforms as transforms
from mindjax.dataset import utils as utils
from mindjax.dataset import vision as vision
from mindjax.dataset.config import ErrorSamplesMode as ErrorSamplesMode
from mindjax.dataset.engine import operations as _operations
from mindjax.dataset.engine.absent import DatasetCache as DatasetCache
from mindjax.dataset.engine.absent import OBSMindDataset as OBSMindDataset
from mindjax.dataset.engine.absent import sync_wait_for_dataset as sync_wait_for_dataset
from mindjax.dataset.engine.batching import BatchDataset as BatchDataset
from mindjax.dataset.engine.batching import BatchInfo as BatchInfo
from mindjax.dataset.engine.batching import PaddedBatchDataset as PaddedBatchDataset
from mindjax.dataset.engine.bucketing import (
    BucketBatchByLengthDataset as BucketBatchByLengthDataset,
)
from mindjax.dataset.engine.callbacks import DSCallback as DSCallback
from mindjax.dataset.engine.dataset import Dataset as Dataset
from mindjax.dataset.engine.iterators import DictIterator as DictIterator
from mindjax.dataset.engine.iterators import TupleIterator as TupleIterator
from mindjax.dataset.engine.mapping import FilterDataset as FilterDataset
from mindjax.dataset.engine.mapping import MapDataset as MapDataset
from mindjax.dataset.engine.operations import ConcatDataset as ConcatDataset
from mindjax.dataset.engine.operations import ProjectDataset as ProjectDataset
from mindjax.dataset.engine.operations import RenameDataset as RenameDataset
from mindjax.dataset.engine.operations import RepeatDataset as RepeatDataset
from mindjax.dataset.engine.operations import ShuffleDataset as ShuffleDataset
from mindjax.dataset.engine.operations import SkipDataset as SkipDataset
from mindjax.dataset.engine.operations import TakeDataset as TakeDataset
from mindjax.dataset.engine.operations import ZipDataset as ZipDataset
from mindjax.dataset.engine.samplers import BuiltinSampler as BuiltinSampler
from mindjax.dataset.engine.samplers import DistributedSampler as DistributedSampler
from mindjax.dataset.engine.samplers import IterSampler as IterSampler
from mindjax.dataset.engine.samplers import PKSampler as PKSampler
from mindjax.dataset.engine.samplers import RandomSampler as RandomSampler
from mindjax.dataset.engine.samplers import Sampler as Sampler
from mindjax.dataset.engine.samplers import SequentialSampler as SequentialSampler
from mindjax.dataset.engine.samplers import Shuffle as Shuffle
from mindjax.dataset.engine.samplers import SubsetRandomSampler as SubsetRandomSampler
from mindjax.dataset.engine.samplers import SubsetSampler as SubsetSampler
from mindjax.dataset.engine.samplers import WeightedRandomSampler as WeightedRandomSampler
from mindjax.dataset.sources.attributes import CelebADataset as CelebADataset
from mindjax.dataset.sources.attributes import FlickrDataset as FlickrDataset
from mindjax.dataset.sources.attributes import Food101Dataset as Food101Dataset
from mindjax.dataset.sources.attributes import ManifestDataset as ManifestDataset
from mindjax.dataset.sources.attributes import SBUDataset as SBUDataset
from mindjax.dataset.sources.cifar import Cifar10Dataset as Cifar10Dataset
from mindjax.dataset.sources.cifar import Cifar100Dataset as Cifar100Dataset
from mindjax.dataset.sources.coco import CocoDataset as CocoDataset
from mindjax.dataset.sources.detection import KITTIDataset as KITTIDataset
from mindjax.dataset.sources.detection import WIDERFaceDataset as WIDERFaceDataset
from mindjax.dataset.sources.digits import EMnistDataset as EMnistDataset
from mindjax.dataset.sources.digits import KMnistDataset as KMnistDataset
from mindjax.dataset.sources.digits import QMnistDataset as QMnistDataset
from mindjax.dataset.sources.digits import SemeionDataset as SemeionDataset
from mindjax.dataset.sources.digits import STL10Dataset as STL10Dataset
from mindjax.dataset.sources.digits import SVHNDataset as SVHNDataset
from mindjax.dataset.sources.digits import USPSDataset as USPSDataset
from mindjax.dataset.sources.faces import LFWDataset as LFWDataset
from mindjax.dataset.sources.faces import PhotoTourDataset as PhotoTourDataset
from mindjax.dataset.sources.fake import FakeImageDataset as FakeImageDataset
from mindjax.dataset.sources.folders import Caltech101Dataset as Caltech101Dataset
from mindjax.dataset.sources.folders import Caltech256Dataset as Caltech256Dataset
from mindjax.dataset.sources.folders import LSUNDataset as LSUNDataset
from mindjax.dataset.sources.folders import OmniglotDataset as OmniglotDataset
from mindjax.dataset.sources.folders import Places365Dataset as Places365Dataset
from mindjax.dataset.sources.folders import RenderedSST2Dataset as RenderedSST2Dataset
from mindjax.dataset.sources.folders import SUN397Dataset as SUN397Dataset
from mindjax.dataset.sources.generator import GeneratorDataset as GeneratorDataset
from mindjax.dataset.sources.generator import NumpySlicesDataset as NumpySlicesDataset
from mindjax.dataset.sources.generator import PaddedDataset as PaddedDataset
from mindjax.dataset.sources.image_folder import ImageFolderDataset as ImageFolderDataset
from mindjax.dataset.sources.lines import CSVDataset as CSVDataset
from mindjax.dataset.sources.lines import TextFileDataset as TextFileDataset
from mindjax.dataset.sources.mappable import MappableDataset as MappableDataset
from mindjax.dataset.sources.mappable import SourceDataset as SourceDataset
from mindjax.dataset.sources.mindrecord import MindDataset as MindDataset
from mindjax.dataset.sources.mnist import FashionMnistDataset as FashionMnistDataset
from mindjax.dataset.sources.mnist import MnistDataset as MnistDataset
from mindjax.dataset.sources.random_rows import RandomDataset as RandomDataset
from mindjax.dataset.sources.schema import Schema as Schema
from mindjax.dataset.sources.text_sets import AGNewsDataset as AGNewsDataset
from mindjax.dataset.sources.text_sets import AmazonReviewDataset as AmazonReviewDataset
from mindjax.dataset.sources.text_sets import CLUEDataset as CLUEDataset
from mindjax.dataset.sources.text_sets import CoNLL2000Dataset as CoNLL2000Dataset
from mindjax.dataset.sources.text_sets import DBpediaDataset as DBpediaDataset
from mindjax.dataset.sources.text_sets import EnWik9Dataset as EnWik9Dataset
from mindjax.dataset.sources.text_sets import PennTreebankDataset as PennTreebankDataset
from mindjax.dataset.sources.text_sets import SogouNewsDataset as SogouNewsDataset
from mindjax.dataset.sources.text_sets import SQuADDataset as SQuADDataset
from mindjax.dataset.sources.text_sets import SST2Dataset as SST2Dataset
from mindjax.dataset.sources.text_sets import UDPOSDataset as UDPOSDataset
from mindjax.dataset.sources.text_sets import WikiTextDataset as WikiTextDataset
from mindjax.dataset.sources.text_sets import YahooAnswersDataset as YahooAnswersDataset
from mindjax.dataset.sources.text_sets import YelpReviewDataset as YelpReviewDataset
from mindjax.dataset.sources.tfrecord import TFRecordDataset as TFRecordDataset
from mindjax.dataset.sources.translations import IMDBDataset as IMDBDataset
from mindjax.dataset.sources.translations import IWSLT2016Dataset as IWSLT2016Dataset
from mindjax.dataset.sources.translations import IWSLT2017Dataset as IWSLT2017Dataset
from mindjax.dataset.sources.translations import Multi30kDataset as Multi30kDataset

if TYPE_CHECKING:
    from mindjax.dataset.callback import WaitedDSCallback as WaitedDSCallback
from mindjax.dataset.sources.recordings import CMUArcticDataset as CMUArcticDataset
from mindjax.dataset.sources.recordings import GTZANDataset as GTZANDataset
from mindjax.dataset.sources.recordings import LibriTTSDataset as LibriTTSDataset
from mindjax.dataset.sources.recordings import LJSpeechDataset as LJSpeechDataset
from mindjax.dataset.sources.recordings import SpeechCommandsDataset as SpeechCommandsDataset
from mindjax.dataset.sources.recordings import TedliumDataset as TedliumDataset
from mindjax.dataset.sources.recordings import YesNoDataset as YesNoDataset
from mindjax.dataset.sources.segmentation import CityscapesDataset as CityscapesDataset
from mindjax.dataset.sources.segmentation import DIV2KDataset as DIV2KDataset
from mindjax.dataset.sources.segmentation import Flowers102Dataset as Flowers102Dataset
from mindjax.dataset.sources.segmentation import SBDataset as SBDataset
from mindjax.dataset.sources.voc import VOCDataset as VOCDataset

zip = _operations.zip_datasets


def __getattr__(name: str) -> Any:
    if name == "WaitedDSCallback":
        return callback.WaitedDSCallback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
