"""Tools of programs (MindSpore: ``mindspore.utils``)."""

from mindjax.tools.ascend import get_sdc_detect_result as get_sdc_detect_result
from mindjax.tools.ascend import sdc_detect_start as sdc_detect_start
from mindjax.tools.ascend import sdc_detect_stop as sdc_detect_stop
from mindjax.tools.ascend import stress_detect as stress_detect
from mindjax.utils import dryrun as dryrun
from mindjax.utils.dispatch_mode import MsDispatchMode as MsDispatchMode
from mindjax.utils.dlpack import from_dlpack as from_dlpack
from mindjax.utils.dlpack import to_dlpack as to_dlpack
from mindjax.utils.fault_tolerance import ExitByRequest as ExitByRequest
from mindjax.utils.fault_tolerance import RSCPluginHandle as RSCPluginHandle
from mindjax.utils.fault_tolerance import TFTCommValue as TFTCommValue
from mindjax.utils.fault_tolerance import _tft_handler as _tft_handler
from mindjax.utils.order import comm_exec_order_check as comm_exec_order_check
from mindjax.utils.order import runtime_execution_order_check as runtime_execution_order_check
