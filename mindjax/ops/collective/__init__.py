"""Collectives: operators and functions over a group of processes."""

from mindjax.ops.collective.base import ReduceOp as ReduceOp
from mindjax.ops.collective.exchange import Barrier as Barrier
from mindjax.ops.collective.exchange import BatchISendIRecv as BatchISendIRecv
from mindjax.ops.collective.exchange import NeighborExchange as NeighborExchange
from mindjax.ops.collective.exchange import NeighborExchangeV2 as NeighborExchangeV2
from mindjax.ops.collective.exchange import Receive as Receive
from mindjax.ops.collective.exchange import Send as Send
from mindjax.ops.collective.exchange import _AllSwap as _AllSwap
from mindjax.ops.collective.groups import destroy_process_group as destroy_process_group
from mindjax.ops.collective.groups import get_backend as get_backend
from mindjax.ops.collective.groups import get_global_rank as get_global_rank
from mindjax.ops.collective.groups import get_group_rank as get_group_rank
from mindjax.ops.collective.groups import get_process_group_ranks as get_process_group_ranks
from mindjax.ops.collective.groups import get_rank as get_rank
from mindjax.ops.collective.groups import get_world_size as get_world_size
from mindjax.ops.collective.groups import init_process_group as init_process_group
from mindjax.ops.collective.groups import is_available as is_available
from mindjax.ops.collective.groups import is_initialized as is_initialized
from mindjax.ops.collective.groups import new_group as new_group
from mindjax.ops.collective.inplace import barrier as barrier
from mindjax.ops.collective.operators import AllGather as AllGather
from mindjax.ops.collective.operators import AllGatherV as AllGatherV
from mindjax.ops.collective.operators import AllReduce as AllReduce
from mindjax.ops.collective.operators import AlltoAll as AlltoAll
from mindjax.ops.collective.operators import AlltoAllV as AlltoAllV
from mindjax.ops.collective.operators import AlltoAllVC as AlltoAllVC
from mindjax.ops.collective.operators import Broadcast as Broadcast
from mindjax.ops.collective.operators import CollectiveGather as CollectiveGather
from mindjax.ops.collective.operators import CollectiveScatter as CollectiveScatter
from mindjax.ops.collective.operators import Reduce as Reduce
from mindjax.ops.collective.operators import ReduceScatter as ReduceScatter
from mindjax.ops.collective.operators import ReduceScatterV as ReduceScatterV
from mindjax.ops.collective.peers import P2POp as P2POp
from mindjax.ops.collective.peers import irecv as irecv
from mindjax.ops.collective.peers import isend as isend
from mindjax.ops.collective.peers import recv as recv
from mindjax.ops.collective.peers import send as send
from mindjax.ops.collective.resharding import Reshard as Reshard
from mindjax.ops.collective.resharding import reshard as reshard
from mindjax.ops.collective.store import TCPStore as TCPStore
from mindjax.ops.collective.switched import all_gather as all_gather
from mindjax.ops.collective.switched import all_gather_into_tensor as all_gather_into_tensor
from mindjax.ops.collective.switched import (
    all_gather_into_tensor_uneven as all_gather_into_tensor_uneven,
)
from mindjax.ops.collective.switched import all_gather_object as all_gather_object
from mindjax.ops.collective.switched import all_reduce as all_reduce
from mindjax.ops.collective.switched import all_to_all as all_to_all
from mindjax.ops.collective.switched import all_to_all_single as all_to_all_single
from mindjax.ops.collective.switched import all_to_all_v_c as all_to_all_v_c
from mindjax.ops.collective.switched import batch_isend_irecv as batch_isend_irecv
from mindjax.ops.collective.switched import broadcast as broadcast
from mindjax.ops.collective.switched import broadcast_object_list as broadcast_object_list
from mindjax.ops.collective.switched import gather_into_tensor as gather_into_tensor
from mindjax.ops.collective.switched import gather_object as gather_object
from mindjax.ops.collective.switched import recv_object_list as recv_object_list
from mindjax.ops.collective.switched import reduce as reduce
from mindjax.ops.collective.switched import reduce_scatter as reduce_scatter
from mindjax.ops.collective.switched import reduce_scatter_tensor as reduce_scatter_tensor
from mindjax.ops.collective.switched import (
    reduce_scatter_tensor_uneven as reduce_scatter_tensor_uneven,
)
from mindjax.ops.collective.switched import scatter_object_list as scatter_object_list
from mindjax.ops.collective.switched import scatter_tensor as scatter_tensor
from mindjax.ops.collective.switched import send_object_list as send_object_list
from mindjax.ops.collective.switched import set_comm_ops_inplace as set_comm_ops_inplace
