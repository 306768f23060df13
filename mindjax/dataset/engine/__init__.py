"""The engine: nodes of a pipeline, samplers, iterators and workers."""
