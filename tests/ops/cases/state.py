"""Parameters written by ops, optimizer steps as primitives, and ops that only order or combine."""

from tests.ops.table import Case, f32, pos

W = "p = ms.Parameter(a * 1, name='p'); "
X = f32(3)
AB = [f32(3), f32(3)]
ONE = "ms.float32"

CASES = [
    Case("assign", AB, W + "ops.assign(p, b); return p * 1", W + "ops.Assign()(p, b); return p * 1", W + "p.set_data(b); return p * 1", W + "p.assign_value(b); return p * 1", graph=False, grad=False),
    Case("assign_add", AB, W + "ops.assign_add(p, b); return p * 1", W + "ops.AssignAdd()(p, b); return p * 1", W + "ops.assign(p, p + b); return p * 1", graph=False, grad=False),
    Case("assign_sub", AB, W + "ops.assign_sub(p, b); return p * 1", W + "ops.AssignSub()(p, b); return p * 1", graph=False, grad=False),
    Case("assign_result", AB, W + "return ops.assign(p, b) * 1", W + "return ops.assign_add(p, b - p) * 1", graph=False, grad=False),
    Case("assign_number", [X], W + "ops.assign(p, 3.0); return p * 1", raises=True, grad=False),
    Case("momentum", AB, W + "v = ms.Parameter(b * 1, name='v'); ops.ApplyMomentum()(p, v, 0.1, b * 2, 0.9); return p * 1, v * 1", W + "v = ms.Parameter(b * 1, name='v'); ops.ApplyMomentum()(p, v, Tensor(0.1, ms.float32), b * 2, Tensor(0.9, ms.float32)); return p * 1, v * 1", graph=False, grad=False),
    Case("nesterov", AB, W + "v = ms.Parameter(b * 1, name='v'); ops.ApplyMomentum(use_nesterov=True)(p, v, 0.1, b * 2, 0.9); return p * 1, v * 1", graph=False, grad=False, judge="math", math="a - 0.2 * b - 0.09 * 2.9 * b, 2.9 * b"),
    Case("sgd", AB, W + "v = ms.Parameter(b * 1, name='v'); s = ms.Parameter(ops.ones_like(a), name='s'); ops.SGD(0.0, 0.0, False)(p, b * 2, Tensor(0.1, ms.float32), v, Tensor(0.9, ms.float32), s); return p * 1, v * 1", graph=False, grad=False),
    Case("adam", [X, f32(3), pos(3), f32(3)], W + "m = ms.Parameter(b * 1, name='m'); v = ms.Parameter(c * 1, name='v'); ops.Adam()(p, m, v, 0.9, 0.99, 0.01, 0.9, 0.999, 1e-8, d); return p * 1, m * 1, v * 1", graph=False, grad=False),
    Case("adam_nesterov", [X, f32(3), pos(3), f32(3)], W + "m = ms.Parameter(b * 1, name='m'); v = ms.Parameter(c * 1, name='v'); ops.Adam(use_nesterov=True)(p, m, v, 0.9, 0.99, 0.01, 0.9, 0.999, 1e-8, d); return p * 1, m * 1, v * 1", graph=False, grad=False),
    Case("rmsprop", [X, pos(3), f32(3), f32(3)], W + "m = ms.Parameter(b * 1, name='m'); v = ms.Parameter(c * 1, name='v'); ops.ApplyRMSProp()(p, m, v, 0.01, d, 0.9, 0.9, 1e-8); return p * 1, m * 1, v * 1", graph=False, grad=False),
    Case("adagrad", [X, pos(3), f32(3)], W + "v = ms.Parameter(b * 1, name='v'); ops.ApplyAdagrad()(p, v, 0.01, c); return p * 1, v * 1", graph=False, grad=False),
    Case("lazy_read", AB, W + "q = p + 1; ops.assign(p, b); return q, p * 1", graph=False, grad=False),
    Case("depend", AB, "ops.depend(a * 2, b)", "ops.Depend()(a * 2, b)"),
    Case("stop_gradient", AB, "ops.stop_gradient(a) * b", "ops.stop_gradient(a * 1) * b"),
    Case("stop_gradient_part", [X], "ops.stop_gradient(a * a) * a", "ops.square(ops.stop_gradient(a)) * a"),
    Case("stop_gradient_factor", [X], "a * a * ops.stop_gradient(a)"),
    Case("identity", [X], "ops.identity(a)", "ops.Identity()(a)", "nn.Identity()(a)", "a * 1"),
    Case("load", [X], "ops.Identity()(a) + 0"),
    Case("map", AB, "ops.Map()(ops.add, (a, b), (b, a))", "ops.HyperMap()(ops.add, (a, b), (b, a))", "tuple(map(ops.add, (a, b), (b, a)))"),
    Case("hyper_map_nested", AB, "ops.HyperMap()(ops.square, ((a, b), a))"),
    Case("hyper_map_partial", AB, "ops.HyperMap()(ops.partial(ops.add, a), (a, b))", "ops.Map()(ops.Partial()(ops.add, a), (a, b))"),
    Case("partial", AB, "ops.partial(ops.sub, a)(b)", "ops.Partial()(ops.sub, a)(b)"),
    Case("clip_list", AB, "ops.clip_by_value([a, b], -1.0, 1.0)", grad=False),
    Case("zeros_map", AB, "ops.HyperMap()(ops.zeros_like, (a, b))", grad=False),
    Case("scalar_cast", [], "ops.scalar_cast(3.7, ms.int64)", "int(3.7)"),
    Case("mixed_tree", AB, "a, (b, [a + b, 3]), None, 'x', 2.5, True", grad=False),
    Case("dict_values", AB, "list({'x': a, 'y': b}.values())", grad=False),
    Case("size_product", [f32(2, 3)], "a.shape[0] * a.shape[1], a.shape + (1,), len(a.shape)", grad=False),
    Case("flow_if", [X], "x = a * 1; y = x * 2 if x.shape[0] > 2 else x; return y", both=True),
    Case("lossscale", [X], "a * 1024.0 / 1024.0", "ops.mul(a, Tensor(1024.0)) / Tensor(1024.0)"),
    Case("cumulative_loop", [f32(4)], "s = a * 0; s = s + a * 1; s = s + a * 2; return s"),
    Case("grad_accumulation", AB, "(a * b + a).sum()", "ops.sum(a * b) + ops.sum(a)"),
    Case("assign_shape_error", [X], W + "ops.assign(p, Tensor([1.0, 2.0])); return p * 1", raises=True, grad=False),
]
