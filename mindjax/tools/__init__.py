"""Tests of Ascend devices and dumps (MindSpore: ``mindspore.tools``)."""

from mindjax.tools.ascend import get_sdc_detect_result as get_sdc_detect_result
from mindjax.tools.ascend import sdc_detect_start as sdc_detect_start
from mindjax.tools.ascend import sdc_detect_stop as sdc_detect_stop
from mindjax.tools.ascend import set_dump as set_dump
from mindjax.tools.ascend import stress_detect as stress_detect
