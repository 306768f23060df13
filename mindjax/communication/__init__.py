"""Communication between processes (``mindspore.communication``)."""

from mindjax.communication import comm_func as comm_func
from mindjax.communication import management as management
from mindjax.communication.management import HCCL_WORLD_COMM_GROUP as HCCL_WORLD_COMM_GROUP
from mindjax.communication.management import MCCL_WORLD_COMM_GROUP as MCCL_WORLD_COMM_GROUP
from mindjax.communication.management import NCCL_WORLD_COMM_GROUP as NCCL_WORLD_COMM_GROUP
from mindjax.communication.management import GlobalComm as GlobalComm
from mindjax.communication.management import create_group as create_group
from mindjax.communication.management import destroy_group as destroy_group
from mindjax.communication.management import get_comm_name as get_comm_name
from mindjax.communication.management import (
    get_group_rank_from_world_rank as get_group_rank_from_world_rank,
)
from mindjax.communication.management import get_group_size as get_group_size
from mindjax.communication.management import get_local_rank as get_local_rank
from mindjax.communication.management import get_local_rank_size as get_local_rank_size
from mindjax.communication.management import get_process_group_ranks as get_process_group_ranks
from mindjax.communication.management import get_rank as get_rank
from mindjax.communication.management import (
    get_world_rank_from_group_rank as get_world_rank_from_group_rank,
)
from mindjax.communication.management import init as init
from mindjax.communication.management import release as release
