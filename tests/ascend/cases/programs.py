"""Small programs of jax: `name | arguments | body`, one a line; the body sees x, y, z and jax's names."""

# Arguments are made by `arrays`: a type and a shape each, f is float32, i int32, u uint32, b bool,
# h bfloat16, e float16, d float64, l int64, c complex64, p a float32 above zero, n int8.
ELEMENTWISE = """
add | f4,5 f4,5 | x + y
add_scalar | f4,5 | x + 1
subtract | f4,5 f4,5 | x - y
multiply | f4,5 f4,5 | x * y
divide | f4,5 p4,5 | x / y
maximum | f4,5 f4,5 | jnp.maximum(x, y)
minimum | f4,5 f4,5 | jnp.minimum(x, y)
maximum_nan | f6 | jnp.maximum(jnp.where(x > 0, jnp.nan, x), 0.0)
minimum_nan | f6 | jnp.minimum(jnp.where(x > 0, jnp.nan, x), 0.0)
power | p4,5 f4,5 | x ** y
power_integer | f4,5 | x ** 3
power_of_integers | i9 | jnp.abs(x) ** 3
remainder | f9 p9 | x % y
remainder_integers | i9 | x % 4
fmod | f9 p9 | lax.rem(x, y)
divide_integers | i9 | x // 3
divide_by_zero | i5 | lax.div(x, jnp.zeros_like(x))
remainder_by_zero | i5 | lax.rem(x, jnp.zeros_like(x))
atan2 | f9 f9 | jnp.arctan2(x, y)
abs | f9 | jnp.abs(x)
abs_integers | i9 | jnp.abs(x)
negate | f9 | -x
sign | f9 | jnp.sign(x)
sign_integers | i9 | jnp.sign(x)
exp | f64 | jnp.exp(x)
exp_large | f64 | jnp.exp(x * 60)
exp_of_infinities | f3 | jnp.exp(jnp.array([jnp.inf, -jnp.inf, jnp.nan]) + 0 * x)
exp2 | f64 | jnp.exp2(x)
expm1 | f64 | jnp.expm1(x)
log | p64 | jnp.log(x)
log_of_small | p64 | jnp.log(x * 1e-30)
log_of_others | f3 | jnp.log(jnp.array([0.0, -1.0, jnp.inf]) + 0 * x)
log1p | p64 | jnp.log1p(x)
log2 | p64 | jnp.log2(x)
tanh | f64 | jnp.tanh(x)
tanh_large | f64 | jnp.tanh(x * 30)
sigmoid | f64 | jax.nn.sigmoid(x)
sin | f64 | jnp.sin(x)
cos | f64 | jnp.cos(x)
tan | f64 | jnp.tan(x)
asin | f64 | jnp.arcsin(jnp.tanh(x))
acos | f64 | jnp.arccos(jnp.tanh(x))
atan | f64 | jnp.arctan(x)
sinh | f64 | jnp.sinh(x)
cosh | f64 | jnp.cosh(x)
asinh | f64 | jnp.arcsinh(x)
acosh | p64 | jnp.arccosh(x + 1)
atanh | f64 | jnp.arctanh(jnp.tanh(x) * 0.9)
sqrt | p64 | jnp.sqrt(x)
rsqrt | p64 | lax.rsqrt(x)
cbrt | f64 | jnp.cbrt(x)
square | f64 | jnp.square(x)
reciprocal | p64 | 1 / x
floor | f64 | jnp.floor(x * 3)
ceil | f64 | jnp.ceil(x * 3)
round | f64 | jnp.round(x * 2) / 2
round_half_even | f5 | jnp.round(jnp.array([0.5, 1.5, 2.5, -0.5, -1.5]) + 0 * x)
round_away | f64 | lax.round(x * 2, lax.RoundingMethod.AWAY_FROM_ZERO)
trunc | f64 | jnp.trunc(x * 3)
erf | f64 | lax.erf(x)
erfc | f64 | lax.erfc(x)
erf_inv | f64 | lax.erf_inv(jnp.tanh(x))
lgamma | p64 | lax.lgamma(x)
digamma | p64 | lax.digamma(x)
igamma | p9 p9 | lax.igamma(x, y)
betainc | p9 p9 | jax.scipy.special.betainc(x, y, jnp.full_like(x, 0.3))
bessel | f9 | lax.bessel_i0e(x)
zeta | p9 | jax.scipy.special.zeta(x + 1.5, 1.0)
polygamma | p9 | jax.scipy.special.polygamma(1, x + 0.5)
relu | f64 | jax.nn.relu(x)
gelu | f64 | jax.nn.gelu(x)
gelu_exact | f64 | jax.nn.gelu(x, approximate=False)
silu | f64 | jax.nn.silu(x)
softplus | f64 | jax.nn.softplus(x)
elu | f64 | jax.nn.elu(x)
selu | f64 | jax.nn.selu(x)
leaky | f64 | jax.nn.leaky_relu(x)
hard_swish | f64 | jax.nn.hard_swish(x)
isfinite | f6 | jnp.isfinite(x / jnp.array([1.0, 0, 1, 0, 1, 0]))
isnan | f4 | jnp.isnan(jnp.sqrt(x))
compare | f9 f9 | (x < y, x <= y, x > y, x >= y, x == y, x != y)
compare_integers | i9 i9 | (x < y, x <= y, x > y, x >= y, x == y, x != y)
compare_unsigned | u9 u9 | (x < y, x <= y, x > y, x >= y)
logical | b9 b9 | (x & y, x | y, x ^ y, ~x)
bits | i9 i9 | (x & y, x | y, x ^ y, ~x)
shifts | i9 | (x << 3, x >> 2, lax.shift_right_logical(x, jnp.full_like(x, 2)))
shifts_unsigned | u9 | (x << 3, x >> 2)
shifts_too_far | i9 | (x << 32, lax.shift_right_logical(x, jnp.full_like(x, 40)), x >> 33)
popcount | i9 | lax.population_count(x)
clz | i9 | lax.clz(x)
clz_bytes | n9 | lax.clz(x)
select | b4,5 f4,5 f4,5 | jnp.where(x, y, z)
select_scalar | f4,5 | jnp.where(x.sum() > 0, x, -x)
select_n | i6 f6 f6 | lax.select_n(x > 0, y, z)
clamp | f9 | jnp.clip(x, -0.5, 0.5)
clamp_arrays | f9 f9 p9 | lax.clamp(-z, x, z)
nextafter | f9 f9 | jnp.nextafter(x, y)
copysign | f9 f9 | jnp.copysign(x, y)
hypot | f9 f9 | jnp.hypot(x, y)
logaddexp | f9 f9 | jnp.logaddexp(x, y)
wrap_around | i9 | x * 2000000011 + 2000000000
bytes_wrap | n9 n9 | (x + y, x * y, x - y)
half_add | h4,5 h4,5 | x + y
half_chain | h64 | jnp.exp(x) * 2 - x
float16 | e64 | jnp.tanh(x) + x
double | d16 | jnp.exp(x) + jnp.sin(x)
long | l9 | x * 3 + 1
fused_chain | f7,9 f7,9 p7,9 | jnp.tanh(x * y + 1) / jnp.sqrt(z) - jnp.exp(-x) * jnp.maximum(y, z)
long_chain | f33 | [x := jnp.sin(x) * 0.9 + jnp.cos(x) * 0.1 for _ in range(40)][-1]
shared_parts | f8 | (lambda t: t * t + t)(jnp.exp(x))
many_blocks | f70001 | jnp.exp(x) * 2 + x
two_results | f8 | (x + 1, x * 2)
"""
CONVERSIONS = """
f_to_i | f9 | (x * 10).astype(jnp.int32)
f_to_i_saturates | f4 | (x * 1e20).astype(jnp.int32)
f_to_u8 | p9 | (x * 10).astype(jnp.uint8)
i_to_f | i9 | x.astype(jnp.float32)
i_to_b | i9 | x.astype(jnp.bool_)
b_to_f | b9 | x.astype(jnp.float32)
f_to_b | f9 | x.astype(jnp.bool_)
f_to_h | f9 | x.astype(jnp.bfloat16)
h_to_f | h9 | x.astype(jnp.float32)
f_to_e | f9 | x.astype(jnp.float16)
i_to_n | i9 | x.astype(jnp.int8)
u_to_f | u9 | x.astype(jnp.float32)
f_to_d | f9 | x.astype(jnp.float64)
bitcast | f9 | lax.bitcast_convert_type(x, jnp.int32)
bitcast_narrow | f9 | lax.bitcast_convert_type(x, jnp.uint8)
bitcast_wide | n8,4 | lax.bitcast_convert_type(x, jnp.int32)
f_to_c | f9 | x.astype(jnp.complex64)
f8 | f9 | x.astype(jnp.float8_e4m3fn).astype(jnp.float32)
"""
SHAPES = """
reshape | f4,6 | x.reshape(3, 8)
ravel | f4,6 | x.ravel() + 1
transpose | f3,4,5 | x.T
transpose_axes | f3,4,5 | x.transpose(1, 0, 2)
swap_and_add | f4,5 f5,4 | x + y.T
broadcast | f5 f4,5 | x + y
broadcast_column | f4,1 f4,5 | x * y
broadcast_to | f1,5 | jnp.broadcast_to(x, (3, 4, 5))
outer | f4 f5 | x[:, None] * y[None, :]
concatenate | f2,3 f4,3 | jnp.concatenate([x, y])
concatenate_axis | f2,3 f2,4 | jnp.concatenate([x, y], 1)
stack | f3 f3 | jnp.stack([x, y], 1)
split | f6,4 | jnp.split(x, 3)
pad | f3,4 | jnp.pad(x, ((1, 2), (0, 3)), constant_values=7)
pad_interior | f3,4 | lax.pad(x, 0.0, ((1, 0, 2), (0, 1, 1)))
pad_negative | f5,6 | lax.pad(x, 0.0, ((-1, 2, 0), (1, -2, 0)))
pad_negative_interior | f5 | lax.pad(x, 1.0, ((-3, 1, 2),))
pad_edge | f3,4 | jnp.pad(x, 2, mode='edge')
pad_reflect | f5 | jnp.pad(x, 3, mode='reflect')
slice | f6,7 | x[1:5, 2:7]
slice_strided | f9,7 | x[::2, 1::3]
slice_negative | f6 | x[::-1]
reverse_axes | f3,4 | jnp.flip(x, (0, 1))
roll | f7 | jnp.roll(x, 2)
tile | f2,3 | jnp.tile(x, (2, 2))
repeat | f4 | jnp.repeat(x, 3)
squeeze | f1,4,1 | jnp.squeeze(x)
expand | f4 | x[:, None, None]
iota | f4 | jnp.arange(4) + x
iota_2d | f4 | lax.broadcasted_iota(jnp.int32, (3, 4), 0)
iota_half | f4 | lax.iota(jnp.bfloat16, 4)
eye | f3,3 | jnp.eye(3) @ x
tril | f4,4 | jnp.tril(x)
triu | f4,4 | jnp.triu(x, 1)
diag | f4,4 | jnp.diag(x)
diagonal_of | f4 | jnp.diag(x)
trace | f4,4 | jnp.trace(x)
meshgrid | f3 f4 | jnp.meshgrid(x, y)
full | f1 | jnp.full((3, 4), 2.5) + x
zero_size | f0,3 | (x + 1, x.sum(0))
zero_size_slice | f3,2 | (x[:0], x[3:])
scalar | f | x + 1
identity | f4 | x
constant_result | f4 | jnp.arange(5.0)
same_result_twice | f4 | (x + 1, x + 1, x)
argument_twice | f4 | (x, x)
moveaxis | f2,3,4,5 | jnp.moveaxis(x, 1, 3)
einsum_transpose | f2,3,4 | jnp.einsum('abc->cab', x)
rot90 | f3,4 | jnp.rot90(x)
kron | f2,2 f2,3 | jnp.kron(x, y)
"""
INDEXING = """
take_rows | f6,4 i3 | x[jnp.abs(y) % 6]
take_columns | f6,4 i3 | x[:, jnp.abs(y) % 4]
take_pairs | f6,4 i3 | x[jnp.abs(y) % 6, jnp.abs(y) % 4]
take_clip | f6 i9 | jnp.take(x, y, mode='clip')
take_fill | f6 i9 | jnp.take(x, y, mode='fill', fill_value=-1.0)
take_along | f4,6 i4,2 | jnp.take_along_axis(x, jnp.abs(y) % 6, 1)
embedding | f10,8 i2,3 | x[jnp.abs(y) % 10]
boolean_where | f6 | jnp.where(x > 0, x, 0).sum()
dynamic_slice | f6,7 i1 | lax.dynamic_slice(x, (y[0], 2), (3, 4))
dynamic_slice_clamped | f6 | lax.dynamic_slice(x, (jnp.int32(5),), (3,))
dynamic_update | f6,7 f2,3 i1 | lax.dynamic_update_slice(x, y, (z[0], 1))
dynamic_index | f6,3 i1 | x[jnp.abs(y[0]) % 6]
set_item | f6 | x.at[2].set(9.0)
set_row | f6,4 f4 | x.at[3].set(y)
add_at | f6 i9 f9 | x.at[jnp.abs(y) % 6].add(z)
add_at_rows | f6,4 i3 f3,4 | x.at[jnp.abs(y) % 6].add(z)
multiply_at | f6 i3 f3 | x.at[jnp.array([0, 2, 4])].multiply(z)
max_at | f6 i9 f9 | x.at[jnp.abs(y) % 6].max(z)
min_at | f6 i9 f9 | x.at[jnp.abs(y) % 6].min(z)
set_dropped | f6 f3 | x.at[jnp.array([1, 9, 3])].set(y, mode='drop')
set_slice | f6,7 f2,3 | x.at[1:3, 2:5].set(y)
add_integers_at | i6 i9 | x.at[jnp.abs(y) % 6].add(1)
gather_grad | f6,4 i3 | jax.grad(lambda a: (a[jnp.abs(y) % 6] ** 2).sum())(x)
slice_grad | f6,4 | jax.grad(lambda a: (a[1:4, ::2] ** 2).sum())(x)
vmap_gather | f3,6 i3,2 | jax.vmap(lambda a, i: a[jnp.abs(i) % 6])(x, y)
vmap_scatter | f3,6 i3,2 f3,2 | jax.vmap(lambda a, i, v: a.at[jnp.abs(i) % 6].add(v))(x, y, z)
vmap_dynamic_slice | f3,6 i3 | jax.vmap(lambda a, i: lax.dynamic_slice(a, (i,), (2,)))(x, y)
one_hot | i5 | jax.nn.one_hot(jnp.abs(x) % 4, 4)
searchsorted | f9 f5 | jnp.searchsorted(jnp.sort(x), y)
nonzero | f6 | jnp.nonzero(x > 0, size=6, fill_value=-1)[0]
bincount | i20 | jnp.bincount(jnp.abs(x) % 5, length=5)
segment_sum | f9 i9 | jax.ops.segment_sum(x, jnp.abs(y) % 4, 4)
"""
REDUCTIONS = """
sum | f4,5 | x.sum()
sum_axis | f4,5,6 | (x.sum(0), x.sum(1), x.sum(2), x.sum((0, 2)))
sum_long | f70001 | x.sum()
sum_half | h300 | x.sum()
sum_integers | i4,5 | x.sum(0)
mean | f4,5 | x.mean(1)
var | f4,5 | x.var(0)
std | f4,5 | x.std()
max | f4,5 | (x.max(), x.max(0), x.max(1))
min | f4,5 | (x.min(), x.min(0))
max_nan | f6 | jnp.where(x > 0.5, jnp.nan, x).max()
prod | f4,5 | x.prod(0)
any_all | b4,5 | (x.any(0), x.all(1), x.any(), x.all())
argmax | f4,5 | (jnp.argmax(x), jnp.argmax(x, 0), jnp.argmax(x, 1))
argmin | f4,5 | (jnp.argmin(x), jnp.argmin(x, 0))
argmax_integers | i9 | jnp.argmax(x)
cumsum | f4,9 | jnp.cumsum(x, 1)
cumsum_reverse | f9 | lax.cumsum(x, reverse=True)
cumprod | f9 | jnp.cumprod(x)
cummax | f9 | lax.cummax(x)
cumlogsumexp | f9 | lax.cumlogsumexp(x)
logsumexp | f4,5 | jax.nn.logsumexp(x, 1)
softmax | f4,5 | jax.nn.softmax(x)
log_softmax | f4,5 | jax.nn.log_softmax(x)
layer_norm | f4,8 f8 f8 | (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5) * y + z
norm | f4,5 | jnp.linalg.norm(x)
bits_reduced | i4,5 | (jnp.bitwise_and.reduce(x), jnp.bitwise_or.reduce(x, 1))
several_results | f9 f9 | lax.reduce((x, y), (0.0, 1.0), lambda a, b: (a[0] + b[0], a[1] * b[1]), (0,))
sort | f9 | jnp.sort(x)
sort_nan | f9 | jnp.sort(jnp.where(x > 0.5, jnp.nan, x))
sort_axis | f5,6 | (jnp.sort(x, 0), jnp.sort(x, 1))
sort_integers | i9 | jnp.sort(x)
argsort | f9 | jnp.argsort(x)
sort_pairs | i9 f9 | lax.sort((jnp.abs(x) % 3, y), num_keys=2)
sort_descending | f9 | jnp.sort(x, descending=True)
top_k | f4,9 | lax.top_k(x, 3)
median | f9 | jnp.median(x)
percentile | f9 | jnp.percentile(x, 30)
unique | i9 | jnp.unique(jnp.abs(x) % 4, size=4)
reduce_window | f1,8,8,2 | lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID')
reduce_window_padded | f1,7,7,2 | lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), 'SAME')
reduce_window_dilated | f9 | lax.reduce_window(x, 0.0, lax.add, (3,), (1,), 'VALID', window_dilation=(2,))
reduce_window_min | f2,9 | lax.reduce_window(x, jnp.inf, lax.min, (1, 3), (1, 1), 'SAME')
max_pool_grad | f1,8,8,2 | jax.grad(lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID') ** 2).sum())(x)
max_pool_grad_padded | f1,7,7,2 | jax.grad(lambda a: (lax.reduce_window(a, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), 'SAME') ** 2).sum())(x)
avg_pool_grad | f1,8,8,2 | jax.grad(lambda a: (lax.reduce_window(a, 0.0, lax.add, (1, 2, 2, 1), (1, 2, 2, 1), 'VALID') ** 2).sum())(x)
"""
PRODUCTS = """
dot | f4 f4 | x @ y
matrix_vector | f4,5 f5 | x @ y
vector_matrix | f4 f4,5 | x @ y
matmul | f4,5 f5,6 | x @ y
matmul_large | f130,270 f270,50 | x @ y
matmul_wide | f3,400 f400,300 | x @ y
matmul_transposed | f5,4 f6,5 | x.T @ y.T
matmul_batched | f3,4,5 f3,5,6 | x @ y
matmul_batched_many | f2,3,4,5 f2,3,5,6 | x @ y
matmul_half | h4,5 h5,6 | x @ y
matmul_float16 | e4,5 e5,6 | x @ y
matmul_integers | i4,5 i5,6 | x @ y
matmul_bytes | n4,5 n5,6 | lax.dot(x, y, preferred_element_type=jnp.int32)
matmul_double | d4,5 d5,6 | x @ y
matmul_mixed | h4,5 h5,6 | lax.dot(x, y, preferred_element_type=jnp.float32)
einsum | f2,3,4 f4,5,3 | jnp.einsum('abc,cdb->ad', x, y)
einsum_batch | f2,3,4 f2,5,3 | jnp.einsum('abc,adb->acd', x, y)
einsum_attention | f2,5,3,4 f2,6,3,4 | jnp.einsum('bqhd,bkhd->bhqk', x, y)
tensordot | f2,3,4 f4,3,5 | jnp.tensordot(x, y, ((2, 1), (0, 1)))
outer_product | f3 f4 | jnp.outer(x, y)
matmul_empty | f4,0 f0,3 | x @ y
matmul_grad | f4,5 f5,6 | jax.grad(lambda a, b: ((a @ b) ** 2).sum(), (0, 1))(x, y)
attention | f2,5,8 f2,6,8 f2,6,8 | jax.nn.softmax(x @ y.transpose(0, 2, 1) / 8 ** 0.5) @ z
conv_1d | f2,3,9 f4,3,3 | lax.conv(x, y, (1,), 'VALID')
conv_same | f2,3,8,8 f4,3,3,3 | lax.conv(x, y, (1, 1), 'SAME')
conv_strided | f2,3,9,9 f4,3,3,3 | lax.conv(x, y, (2, 2), 'SAME')
conv_nhwc | f2,8,8,3 f3,3,3,4 | lax.conv_general_dilated(x, y, (1, 1), 'VALID', dimension_numbers=('NHWC', 'HWIO', 'NHWC'))
conv_dilated | f1,2,9,9 f3,2,3,3 | lax.conv_general_dilated(x, y, (1, 1), 'VALID', rhs_dilation=(2, 2))
conv_transposed | f1,2,4,4 f3,2,3,3 | lax.conv_general_dilated(x, y, (1, 1), ((2, 2), (2, 2)), lhs_dilation=(2, 2))
conv_groups | f1,4,6,6 f6,2,3,3 | lax.conv_general_dilated(x, y, (1, 1), 'SAME', feature_group_count=2)
conv_depthwise | f1,4,6,6 f4,1,3,3 | lax.conv_general_dilated(x, y, (1, 1), 'SAME', feature_group_count=4)
conv_batch_groups | f4,2,6,6 f6,2,3,3 | lax.conv_general_dilated(x, y, (1, 1), 'SAME', batch_group_count=2)
conv_3d | f1,2,5,5,5 f3,2,2,2,2 | lax.conv(x, y, (1, 1, 1), 'VALID')
conv_half | h1,3,6,6 h4,3,3,3 | lax.conv(x, y, (1, 1), 'VALID')
conv_grad | f2,3,8,8 f4,3,3,3 | jax.grad(lambda a, b: (lax.conv(a, b, (1, 1), 'SAME') ** 2).sum(), (0, 1))(x, y)
conv_grad_strided | f2,3,9,9 f4,3,3,3 | jax.grad(lambda a, b: (lax.conv(a, b, (2, 2), 'VALID') ** 2).sum(), (0, 1))(x, y)
conv_grad_groups | f1,4,6,6 f6,2,3,3 | jax.grad(lambda a, b: (lax.conv_general_dilated(a, b, (1, 1), 'SAME', feature_group_count=2) ** 2).sum(), (0, 1))(x, y)
"""
CONTROL = """
fori | f4 | lax.fori_loop(0, 5, lambda i, c: c * 1.1 + i, x)
while | f4 | lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2 + 1, jnp.abs(x))
while_swap | f4 f4 | lax.fori_loop(0, 5, lambda i, c: (c[1] + 1, c[0] * 2), (x, y))
while_rotate | f3 f3 f3 | lax.fori_loop(0, 4, lambda i, c: (c[2], c[0], c[1]), (x, y, z))
while_never | f4 | lax.while_loop(lambda c: c.sum() > 1e9, lambda c: c + 1, x)
nested_loops | f4 | lax.fori_loop(0, 3, lambda i, a: lax.fori_loop(0, i + 1, lambda j, b: b * 1.1 + j, a), x)
loop_captures | f4 f4 | lax.fori_loop(0, 3, lambda i, c: c + y * i, x)
loop_updates | f6 | lax.fori_loop(0, 6, lambda i, c: c.at[i].set(c[i] * 2 + c[(i + 1) % 6]), x)
cond | f4 | lax.cond(x.sum() > 0, lambda a: a + 1, lambda a: a * 2, x)
cond_captures | f4 f4 | lax.cond(x.sum() > 0, lambda: x + y, lambda: y)
switch | i1 f4 | lax.switch(jnp.abs(x[0]) % 3, [lambda a: a, lambda a: a * 2, lambda a: -a], y)
switch_clamped | f4 | lax.switch(jnp.int32(9), [lambda a: a, lambda a: a * 2], x)
scan | f5,4 | lax.scan(lambda c, a: (c + a, c * a), jnp.zeros(4), x)
scan_reverse | f5,4 | lax.scan(lambda c, a: (c * 0.5 + a, c), jnp.zeros(4), x, reverse=True)
scan_grad | f5,4 | jax.grad(lambda a: lax.scan(lambda c, v: (jnp.tanh(c + v), c), jnp.zeros(4), a)[0].sum())(x)
scan_lengths | f4 | lax.scan(lambda c, _: (c * 1.5, c.sum()), x, None, length=7)
map | f5,4 | lax.map(lambda a: a.sum() * a, x)
associative_scan | f9 | lax.associative_scan(jnp.add, x)
rnn | f6,3 f4,3 f4,4 | lax.scan(lambda h, v: (jnp.tanh(y @ v + z @ h),) * 2, jnp.zeros(4), x)
vmap | f3,4 f3,4 | jax.vmap(jnp.dot)(x, y)
vmap_while | f3 | jax.vmap(lambda a: lax.while_loop(lambda c: c < 10, lambda c: c * 2 + 1, jnp.abs(a)))(x)
vmap_cond | f4 | jax.vmap(lambda a: lax.cond(a > 0, jnp.sin, jnp.cos, a))(x)
jit_in_jit | f4 | jax.jit(lambda a: a * 2)(x) + jax.jit(lambda a: a + 1)(x)
checkpoint | f4 | jax.grad(lambda a: jax.checkpoint(lambda b: jnp.sin(b) ** 2)(a).sum())(x)
custom_jvp | f9 | jax.grad(lambda a: jax.nn.silu(a).sum())(x)
hessian | f3 | jax.hessian(lambda a: (a ** 3).sum() + a.prod())(x)
jacobian | f3 | jax.jacfwd(lambda a: jnp.sin(a) * a.sum())(x)
jvp | f4 f4 | jax.jvp(lambda a: jnp.exp(a).sum() * a, (x,), (y,))
vjp | f4 f4 | jax.vjp(lambda a: jnp.tanh(a) * a, x)[1](y)
linearize | f4 f4 | jax.linearize(jnp.sin, x)[1](y)
optimization_barrier | f4 | lax.optimization_barrier(x + 1) * 2
stop_gradient | f4 | jax.grad(lambda a: (lax.stop_gradient(a) * a).sum())(x)
platform | f4 | lax.platform_dependent(x, default=lambda a: a + 1)
"""
RANDOM = """
bits | u2 | jax.random.bits(jax.random.key(3), (9,))
uniform | f1 | jax.random.uniform(jax.random.key(3), (9,))
normal | f1 | jax.random.normal(jax.random.key(3), (3, 4))
normal_half | f1 | jax.random.normal(jax.random.key(3), (9,), jnp.bfloat16)
randint | f1 | jax.random.randint(jax.random.key(3), (9,), 0, 10)
bernoulli | f1 | jax.random.bernoulli(jax.random.key(3), 0.3, (20,))
categorical | f3,4 | jax.random.categorical(jax.random.key(3), x)
permutation | f1 | jax.random.permutation(jax.random.key(3), 9)
gamma | f1 | jax.random.gamma(jax.random.key(3), 2.0, (4,))
truncated | f1 | jax.random.truncated_normal(jax.random.key(3), -1.0, 1.0, (9,))
split | f1 | jax.random.key_data(jax.random.split(jax.random.key(3), 3))
fold_in | f1 | jax.random.key_data(jax.random.fold_in(jax.random.key(3), 7))
dropout | f40 | jnp.where(jax.random.bernoulli(jax.random.key(1), 0.5, x.shape), x * 2, 0)
rbg | f1 | jax.random.bits(jax.random.key(3, impl='rbg'), (9,)).shape[0]
"""
LINALG = """
cholesky | f4,4 | jnp.linalg.cholesky(x @ x.T + 4 * jnp.eye(4))
qr | f5,3 | [jnp.abs(a) for a in jnp.linalg.qr(x)]
svd | f5,3 | jnp.linalg.svd(x, compute_uv=False)
eigh | f4,4 | jnp.linalg.eigvalsh(x + x.T)
solve | f4,4 f4 | jnp.linalg.solve(x + 4 * jnp.eye(4), y)
inverse | f4,4 | jnp.linalg.inv(x + 4 * jnp.eye(4))
det | f4,4 | jnp.linalg.det(x)
triangular_solve | f4,4 f4,2 | jax.scipy.linalg.solve_triangular(x + 4 * jnp.eye(4), y, lower=True)
expm | f3,3 | jax.scipy.linalg.expm(x)
matrix_power | f3,3 | jnp.linalg.matrix_power(x, 3)
fft | f8 | jnp.abs(jnp.fft.fft(x))
rfft | f8 | jnp.abs(jnp.fft.rfft(x))
ifft | f8 | jnp.fft.irfft(jnp.fft.rfft(x))
complex_add | c5 c5 | x + y * 2
complex_parts | c5 | (x.real, x.imag, jnp.abs(x))
"""
GROUPS = {
    "elementwise": ELEMENTWISE,
    "conversions": CONVERSIONS,
    "shapes": SHAPES,
    "indexing": INDEXING,
    "reductions": REDUCTIONS,
    "products": PRODUCTS,
    "control": CONTROL,
    "random": RANDOM,
    "linalg": LINALG,
}
# The groups whose programs may go to the delegate: they call LAPACK, or are complex.
DELEGATED = {
    *("linalg-cholesky", "linalg-qr", "linalg-svd", "linalg-eigh", "linalg-solve"),
    *("linalg-inverse", "linalg-det", "linalg-triangular_solve", "linalg-expm", "linalg-fft"),
    *("linalg-rfft", "linalg-ifft", "linalg-complex_add", "linalg-complex_parts"),
    *("conversions-f_to_c", "conversions-f8", "reductions-cumlogsumexp"),
}


def rows():
    """List the programs: identifier, arguments, body."""
    listed = []
    for group, table in GROUPS.items():
        for line in table.strip().splitlines():
            name, arguments, body = (part.strip() for part in line.split(" | ", 2))
            listed.append((f"{group}-{name}", arguments.split(), body))
    return listed
