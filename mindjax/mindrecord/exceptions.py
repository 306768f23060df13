"""Errors of MindRecord (MindSpore: ``mindspore.mindrecord.common.exceptions``)."""

from __future__ import annotations

from mindjax.core.errors import located

# Class -> its number and what it says without details.
_KINDS: dict[str, tuple[int, str]] = {
    "UnknownError": (0, "Unknown Error."),
    "ParamTypeError": (1, "Param type is error."),
    "ParamValueError": (2, "Param value is error."),
    "ParamMissError": (3, "Param missing."),
    "PathNotExistsError": (4, "Path does not exist."),
    "DbConnectionError": (5, "Db connection is error."),
    "MRMOpenError": (100, "MindRecord File could not open successfully."),
    "MRMOpenForAppendError": (101, "MindRecord File could not open successfully for append."),
    "MRMInvalidPageSizeError": (102, "Failed to set page size."),
    "MRMInvalidHeaderSizeError": (103, "Failed to set header size."),
    "MRMSetHeaderError": (104, "Failed to set header."),
    "MRMWriteDatasetError": (105, "Failed to write dataset."),
    "MRMCommitError": (107, "Failed to commit."),
    "MRMLaunchError": (108, "Failed to launch."),
    "MRMFinishError": (109, "Failed to finish."),
    "MRMCloseError": (110, "Failed to close."),
    "MRMAddSchemaError": (111, "Failed to add schema."),
    "MRMAddIndexError": (112, "Failed to add index field."),
    "MRMBuildSchemaError": (113, "Failed to build schema."),
    "MRMGetMetaError": (114, "Failed to get meta info."),
    "MRMIndexGeneratorError": (115, "Failed to create index generator."),
    "MRMGenerateIndexError": (116, "Failed to generate index."),
    "MRMInitSegmentError": (117, "Failed to initialize segment."),
    "MRMFetchCandidateFieldsError": (118, "Failed to fetch candidate category fields."),
    "MRMReadCategoryInfoError": (119, "Failed to read category information."),
    "MRMFetchDataError": (120, "Failed to fetch data by category."),
    "MRMInvalidSchemaError": (200, "Schema is error."),
    "MRMValidateDataError": (201, "Raw data is valid."),
    "MRMDefineIndexError": (202, "Index field is error."),
    "MRMDefineBlobError": (203, "Blob field is error."),
    "MRMUnsupportedSchemaError": (204, "Schema is not supported."),
    "MRMDefineCategoryError": (205, "Category field is error."),
}


class MindRecordException(Exception):
    """Base of the errors of MindRecord."""

    _opening = ""

    def __init__(self, *details: object) -> None:
        super().__init__(*details)
        number, text = _KINDS.get(type(self).__name__, _KINDS["UnknownError"])
        # MindSpore: 1 in bits 30 and 28, 42 from bit 17, the hundreds + 1 from bit 12.
        self._error_code = 1 << 30 | 1 << 28 | 42 << 17 | (number // 100 + 1) << 12 | number
        self._error_msg = f"{self._opening} {details[0]}".strip() if details else text

    def __str__(self) -> str:
        return f"[{type(self).__name__}]: {self._error_msg}"

    @property
    def error_msg(self) -> str:
        """Give what went wrong."""
        return self._error_msg

    @error_msg.setter
    def error_msg(self, msg: str) -> None:
        self._error_msg = msg

    @property
    def error_code(self) -> int:
        """Give the number of this kind of error."""
        return self._error_code


class UnknownError(MindRecordException):
    """It is not known what went wrong."""


class ParamValueError(MindRecordException):
    """An argument has a wrong value."""

    _opening = "Invalid parameter value."


class ParamTypeError(MindRecordException):
    """An argument has a wrong type.

    Args:
        param_name: the argument.
        expected_type: the type that it should have.
    """

    def __init__(self, param_name: str, expected_type: str) -> None:
        super().__init__(param_name, expected_type)
        self.error_msg = f"Invalid parameter type. '{param_name}' expect {expected_type} type."


class ParamMissError(MindRecordException):
    """An argument is missing.

    Args:
        param_name: the argument.
    """

    def __init__(self, param_name: str) -> None:
        super().__init__(param_name)
        self.error_msg = f"Param missing. '{param_name}' is required."


class PathNotExistsError(MindRecordException):
    """A file or a folder does not exist."""

    _opening = "Invalid path."


class DbConnectionError(MindRecordException):
    """The index cannot be opened."""

    _opening = "Db connection is error. Detail:"


class MRMOpenError(MindRecordException):
    """A file cannot be opened."""


class MRMOpenForAppendError(MindRecordException):
    """A file cannot be opened for appending."""


class MRMInvalidPageSizeError(MindRecordException):
    """The size of pages cannot be set."""


class MRMInvalidHeaderSizeError(MindRecordException):
    """The size of the header cannot be set."""


class MRMSetHeaderError(MindRecordException):
    """The header cannot be set."""


class MRMWriteDatasetError(MindRecordException):
    """Rows cannot be written."""


class MRMCommitError(MindRecordException):
    """What was written cannot be committed."""


class MRMLaunchError(MindRecordException):
    """Readers cannot be started."""


class MRMFinishError(MindRecordException):
    """Readers cannot be finished."""


class MRMCloseError(MindRecordException):
    """A file cannot be closed."""


class MRMAddSchemaError(MindRecordException):
    """A schema cannot be added."""


class MRMAddIndexError(MindRecordException):
    """An index field cannot be added."""


class MRMBuildSchemaError(MindRecordException):
    """A schema cannot be built."""


class MRMGetMetaError(MindRecordException):
    """There is no schema yet."""


class MRMIndexGeneratorError(MindRecordException):
    """The index cannot be created."""


class MRMGenerateIndexError(MindRecordException):
    """The index cannot be written."""


class MRMInitSegmentError(MindRecordException):
    """Paging cannot be started."""


class MRMFetchCandidateFieldsError(MindRecordException):
    """The fields that rows can be grouped by cannot be read."""


class MRMReadCategoryInfoError(MindRecordException):
    """The groups cannot be read."""


class MRMFetchDataError(MindRecordException):
    """The rows of a group cannot be read."""


class MRMInvalidSchemaError(MindRecordException):
    """A schema is wrong."""

    _opening = "Schema format is error. Detail:"


class MRMValidateDataError(MindRecordException):
    """Rows do not fit the schema."""

    _opening = "Raw data do not match the schema. Detail:"


class MRMDefineIndexError(MindRecordException):
    """A field cannot be an index field."""

    _opening = "Failed to define index field. Detail:"


class MRMDefineBlobError(MindRecordException):
    """A field cannot be a blob field."""

    _opening = "Failed to define blob field. Detail:"


class MRMUnsupportedSchemaError(MindRecordException):
    """A row does not have the shape that the schema says."""

    _opening = "Schema is not supported. Detail:"


class MRMDefineCategoryError(MindRecordException):
    """Rows cannot be grouped by a field."""

    _opening = "Failed to define category field. Detail:"


def damaged(path: str, text: str) -> RuntimeError:
    """Build the error for a file that cannot be read as MindRecord.

    Args:
        path: the file.
        text: what is wrong with it.

    Returns:
        The error; its message ends with the user's file and line.
    """
    return located(RuntimeError, f"Invalid file, {text}. Please check mindrecord file: {path}")
