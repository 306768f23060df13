"""Products of matrices and vectors."""

from tests.ops.table import Case, f32, i32

AB = [f32(2, 3), f32(3, 4)]
BB = [f32(2, 3, 4), f32(2, 4, 5)]

CASES = [
    Case("matmul", AB, "ops.matmul", "mint.matmul", "Tensor.matmul", "ops.MatMul()", "a @ b", "ops.mm", "mint.mm", "Tensor.mm", dtypes="f16 f64 bf16", math="a @ b"),
    Case("matmul_int", [i32(2, 3), i32(3, 2)], "ops.matmul", "ops.MatMul()"),
    Case("matmul_vector", [f32(2, 3), f32(3)], "ops.matmul", "a @ b", "mint.matmul", "ops.mv", "mint.mv", "mint.mul(a, b).sum(1)", math="a @ b"),
    Case("vector_matmul", [f32(3), f32(3, 4)], "ops.matmul", "a @ b"),
    Case("dot", [f32(3), f32(3)], "ops.matmul", "mint.dot", "a @ b", "mint.matmul", math="np.dot(a, b)"),
    Case("dot_2d", AB, "ops.dot"),
    Case("matmul_batch", BB, "ops.matmul", "a @ b", "mint.matmul", "ops.BatchMatMul()", "ops.bmm", "mint.bmm", "Tensor.bmm", dtypes="f16", math="a @ b"),
    Case("matmul_broadcast", [f32(2, 1, 2, 3), f32(4, 3, 2)], "ops.matmul", "a @ b", "mint.matmul"),
    Case("matmul_broadcast_2d", [f32(2, 2, 3), f32(3, 4)], "ops.matmul", "a @ b"),
    Case("matmul_ta", [f32(3, 2), f32(3, 4)], "ops.MatMul(transpose_a=True)(a, b)", "ops.MatMul(True)(a, b)", "ops.matmul(a.T, b)"),
    Case("matmul_tb", [f32(2, 3), f32(4, 3)], "ops.MatMul(transpose_b=True)(a, b)", "ops.MatMul(False, True)(a, b)", "ops.matmul(a, b.T)", dtypes="f16"),
    Case("matmul_tab", [f32(3, 2), f32(4, 3)], "ops.MatMul(True, True)(a, b)"),
    Case("bmm_ta", [f32(2, 4, 3), f32(2, 4, 5)], "ops.BatchMatMul(transpose_a=True)(a, b)"),
    Case("bmm_tb", [f32(2, 3, 4), f32(2, 5, 4)], "ops.BatchMatMul(transpose_b=True)(a, b)", "ops.BatchMatMul(False, True)(a, b)"),
    Case("bmm_4d", [f32(2, 2, 3, 4), f32(2, 2, 4, 2)], "ops.BatchMatMul()", "ops.matmul", "a @ b"),
    Case("outer", [f32(3), f32(4)], "ops.outer", "mint.outer", "ops.ger", "Tensor.outer", "ops.Ger()", math="np.outer(a, b)"),
    Case("inner", [f32(2, 3), f32(4, 3)], "ops.inner", "ops.inner(a, b)", math="np.inner(a, b)"),
    Case("einsum", AB, "ops.einsum('ij,jk->ik', a, b)", "mint.einsum('ij,jk->ik', a, b)", math="a @ b"),
    Case("einsum_batch", BB, "ops.einsum('bij,bjk->bik', a, b)", "mint.einsum('bij,bjk->bik', a, b)", math="a @ b"),
    Case("einsum_attention", [f32(2, 3, 2, 4), f32(2, 5, 2, 4)], "mint.einsum('bqhd,bkhd->bhqk', a, b)", math="np.einsum('bqhd,bkhd->bhqk', a, b)"),
    Case("einsum_trace", [f32(3, 3)], "mint.einsum('ii', a)", math="np.trace(a)"),
    Case("tensor_dot", [f32(2, 3, 4), f32(4, 3, 2)], "ops.tensor_dot(a, b, ((1, 2), (1, 0)))", math="np.tensordot(a, b, ((1, 2), (1, 0)))"),
    Case("addmm", [f32(2, 4), f32(2, 3), f32(3, 4)], "ops.addmm", "mint.addmm", "Tensor.addmm", math="a + b @ c"),
    Case("addmm_scaled", [f32(2, 4), f32(2, 3), f32(3, 4)], "ops.addmm(a, b, c, beta=0.5, alpha=2.0)", "mint.addmm(a, b, c, beta=0.5, alpha=2.0)", math="0.5 * a + 2 * (b @ c)"),
    Case("baddbmm", [f32(2, 3, 5), *BB], "ops.baddbmm", "mint.baddbmm", "Tensor.baddbmm", math="a + b @ c"),
    Case("dense", [f32(2, 3), f32(4, 3), f32(4)], "ops.dense", "mint.nn.functional.linear", "ops.Dense()", "ops.matmul(a, b.T) + c", math="a @ b.T + c"),
    Case("cross", [f32(2, 3), f32(2, 3)], "ops.cross(a, b, 1)", "mint.cross(a, b, 1)" , math="np.cross(a, b)", grad=False),
    Case("kron", [f32(2, 2), f32(1, 2)], "ops.kron", math="np.kron(a, b)"),
    Case("inverse", [f32(3, 3)], "ops.inverse", "mint.inverse" , math="np.linalg.inv(a)", tol=(1e-3, 1e-3), grad=False),
    Case("matmul_error", [f32(2, 3), f32(2, 3)], "ops.matmul", "a @ b", "mint.matmul", "ops.MatMul()", raises=True),
    Case("bmm_error", [f32(2, 3, 4), f32(2, 3, 4)], "ops.bmm", "ops.BatchMatMul()", raises=True),
]
