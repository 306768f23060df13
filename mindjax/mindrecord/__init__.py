"""MindRecord files: rows in pages, with an index beside them; imports neither jax nor Tensors."""

from mindjax.mindrecord.cifar_to_mr import Cifar10ToMR as Cifar10ToMR
from mindjax.mindrecord.cifar_to_mr import Cifar100ToMR as Cifar100ToMR
from mindjax.mindrecord.config import set_dec_mode as set_dec_mode
from mindjax.mindrecord.config import set_enc_key as set_enc_key
from mindjax.mindrecord.config import set_enc_mode as set_enc_mode
from mindjax.mindrecord.conversion import FAILED as FAILED
from mindjax.mindrecord.conversion import SUCCESS as SUCCESS
from mindjax.mindrecord.csv_to_mr import CsvToMR as CsvToMR
from mindjax.mindrecord.exceptions import DbConnectionError as DbConnectionError
from mindjax.mindrecord.exceptions import MindRecordException as MindRecordException
from mindjax.mindrecord.exceptions import MRMAddIndexError as MRMAddIndexError
from mindjax.mindrecord.exceptions import MRMAddSchemaError as MRMAddSchemaError
from mindjax.mindrecord.exceptions import MRMBuildSchemaError as MRMBuildSchemaError
from mindjax.mindrecord.exceptions import MRMCloseError as MRMCloseError
from mindjax.mindrecord.exceptions import MRMCommitError as MRMCommitError
from mindjax.mindrecord.exceptions import MRMDefineBlobError as MRMDefineBlobError
from mindjax.mindrecord.exceptions import MRMDefineCategoryError as MRMDefineCategoryError
from mindjax.mindrecord.exceptions import MRMDefineIndexError as MRMDefineIndexError
from mindjax.mindrecord.exceptions import (
    MRMFetchCandidateFieldsError as MRMFetchCandidateFieldsError,
)
from mindjax.mindrecord.exceptions import MRMFetchDataError as MRMFetchDataError
from mindjax.mindrecord.exceptions import MRMFinishError as MRMFinishError
from mindjax.mindrecord.exceptions import MRMGenerateIndexError as MRMGenerateIndexError
from mindjax.mindrecord.exceptions import MRMGetMetaError as MRMGetMetaError
from mindjax.mindrecord.exceptions import MRMIndexGeneratorError as MRMIndexGeneratorError
from mindjax.mindrecord.exceptions import MRMInitSegmentError as MRMInitSegmentError
from mindjax.mindrecord.exceptions import MRMInvalidHeaderSizeError as MRMInvalidHeaderSizeError
from mindjax.mindrecord.exceptions import MRMInvalidPageSizeError as MRMInvalidPageSizeError
from mindjax.mindrecord.exceptions import MRMInvalidSchemaError as MRMInvalidSchemaError
from mindjax.mindrecord.exceptions import MRMLaunchError as MRMLaunchError
from mindjax.mindrecord.exceptions import MRMOpenError as MRMOpenError
from mindjax.mindrecord.exceptions import MRMOpenForAppendError as MRMOpenForAppendError
from mindjax.mindrecord.exceptions import MRMReadCategoryInfoError as MRMReadCategoryInfoError
from mindjax.mindrecord.exceptions import MRMSetHeaderError as MRMSetHeaderError
from mindjax.mindrecord.exceptions import MRMUnsupportedSchemaError as MRMUnsupportedSchemaError
from mindjax.mindrecord.exceptions import MRMValidateDataError as MRMValidateDataError
from mindjax.mindrecord.exceptions import MRMWriteDatasetError as MRMWriteDatasetError
from mindjax.mindrecord.exceptions import ParamMissError as ParamMissError
from mindjax.mindrecord.exceptions import ParamTypeError as ParamTypeError
from mindjax.mindrecord.exceptions import ParamValueError as ParamValueError
from mindjax.mindrecord.exceptions import PathNotExistsError as PathNotExistsError
from mindjax.mindrecord.exceptions import UnknownError as UnknownError
from mindjax.mindrecord.filereader import FileReader as FileReader
from mindjax.mindrecord.filewriter import FileWriter as FileWriter
from mindjax.mindrecord.imagenet_to_mr import ImageNetToMR as ImageNetToMR
from mindjax.mindrecord.mindpage import MindPage as MindPage
from mindjax.mindrecord.mnist_to_mr import MnistToMR as MnistToMR
from mindjax.mindrecord.tfrecord_to_mr import TFRecordToMR as TFRecordToMR

__all__ = [
    "FAILED",
    "SUCCESS",
    "Cifar10ToMR",
    "Cifar100ToMR",
    "CsvToMR",
    "FileReader",
    "FileWriter",
    "ImageNetToMR",
    "MindPage",
    "MnistToMR",
    "TFRecordToMR",
    "set_dec_mode",
    "set_enc_key",
    "set_enc_mode",
]
