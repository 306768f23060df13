"""What rewritten functions call: their control flow, run by Python or made part of the program.

`graph/syntax` writes the calls; their names here are the whole protocol.
"""

from mindjax.core.values import Passing as Passing
from mindjax.graph.control.blocks import BREAK as BREAK
from mindjax.graph.control.blocks import CONTINUE as CONTINUE
from mindjax.graph.control.blocks import Return as Return
from mindjax.graph.control.branches import and_ as and_
from mindjax.graph.control.branches import choose as choose
from mindjax.graph.control.branches import compare as compare
from mindjax.graph.control.branches import end as end
from mindjax.graph.control.branches import if_ as if_
from mindjax.graph.control.branches import not_ as not_
from mindjax.graph.control.branches import or_ as or_
from mindjax.graph.control.branches import then as then
from mindjax.graph.control.calls import augment as augment
from mindjax.graph.control.calls import changing as changing
from mindjax.graph.control.calls import fn as fn
from mindjax.graph.control.calls import index as index
from mindjax.graph.control.calls import item as item
from mindjax.graph.control.calls import owner as owner
from mindjax.graph.control.calls import slice_ as slice_
from mindjax.graph.control.changes import names as names
from mindjax.graph.control.loops import for_ as for_
from mindjax.graph.control.loops import while_ as while_
from mindjax.graph.control.raising import check as check
from mindjax.graph.control.raising import error as error
from mindjax.graph.control.raising import given as given
from mindjax.graph.control.raising import trying as trying
from mindjax.graph.control.raising import use as use
