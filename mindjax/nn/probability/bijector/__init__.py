"""Functions with an inverse (MindSpore: ``nn.probability.bijector``)."""

from mindjax.nn.probability.bijector.bijector import Bijector as Bijector
from mindjax.nn.probability.bijector.gumbel_cdf import GumbelCDF as GumbelCDF
from mindjax.nn.probability.bijector.invert import Invert as Invert
from mindjax.nn.probability.bijector.power_transform import Exp as Exp
from mindjax.nn.probability.bijector.power_transform import PowerTransform as PowerTransform
from mindjax.nn.probability.bijector.scalar_affine import ScalarAffine as ScalarAffine
from mindjax.nn.probability.bijector.softplus import Softplus as Softplus
