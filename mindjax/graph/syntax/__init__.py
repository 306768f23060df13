"""The rewrite of a user's functions for GRAPH mode: control flow becomes calls that can trace."""

from mindjax.graph.syntax.convert import converted as converted
