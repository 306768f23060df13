"""Random ops beyond the everyday ones: distributions, samplers, candidate sampling."""
