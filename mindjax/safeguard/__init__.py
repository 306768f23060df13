"""Obfuscated weights (MindSpore: ``mindspore.safeguard``)."""

from mindjax.safeguard.obfuscation import load_obf_params_into_net as load_obf_params_into_net
from mindjax.safeguard.obfuscation import obfuscate_ckpt as obfuscate_ckpt
