"""Networks read as statements, changed and made again (`mindjax.rewrite`)."""

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, nn, ops
from mindjax.rewrite import Node, NodeType, ScopedValue, SymbolTree, ValueType
from tests.nn import rewritten_networks as networks

X = np.random.default_rng(0).normal(size=(2, 4)).astype("f")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def name(text):
    return ScopedValue.create_naming_value(text)


def rows(tree, all_nodes=False):
    return [
        " | ".join(
            [
                node.get_name(), node.get_node_type().name,
                " ".join(map(str, [*node.get_args(), *node.get_kwargs().values()])),
                " ".join(map(str, node.get_targets())),
                " ".join(n.get_name() for n in node.get_inputs()),
            ]
        )
        for node in tree.nodes(all_nodes)
    ]  # fmt: skip


# Names, kinds, arguments, targets and inputs as MindSpore 2.10.0 gives them for these networks,
# without what stands in differences.md.
FLOW = """
input_x | Input |  | x |
compare_gt | MathOps | subscript_var 1 | compare_var | subscript_var
if_node | ControlFlow | compare_var |  | compare_gt
else_node | ControlFlow | compare_var |  | compare_gt
range | CallFunction | 3 | range_var |
for_node | ControlFlow | range_var |  | range
for_else_node | ControlFlow | range_var |  | range
relu_2 | CallCell | y | relu_var |
binop_add_4 | MathOps | relu_var 1 | add_var | relu_2
return | Output | add_var |  | binop_add_4
""".strip().split("\n")
STATEMENTS = """
constant_assign | CallMethod | 1 | a |
name_assign | CallMethod | x | b | input_x
attribute_assign | CallMethod | self.k | c |
tuple | CallMethod | x b | h i | input_x name_assign
name_assign_1 | CallMethod | x | k | input_x
name_assign_2 | CallMethod | k | j | name_assign_1
binop_pow | MathOps | x 2 | pow_var | input_x
binop_div | MathOps | pow_var 3 | div_var | binop_pow
binop_floordiv | MathOps | div_var 1 | m | binop_div
unaryop_usub | MathOps | x | n | input_x
compare_lt_lt | MathOps | 0 a 5 | q | constant_assign
""".strip().split("\n")


def test_statements_are_those_of_the_original():
    found = rows(SymbolTree.create(networks.Flow()))
    assert [
        r.rstrip() for r in found if r.partition(" ")[0] not in ("subscript_var", "while_node")
    ] == FLOW
    found = [r.rstrip() for r in rows(SymbolTree.create(networks.Statements()))]
    assert found[2 : 2 + 10] == STATEMENTS[:10]
    assert [r for r in found if r in STATEMENTS] == STATEMENTS


def test_bodies_are_among_all_nodes():
    found = rows(SymbolTree.create(networks.Flow()), all_nodes=True)
    kinds = {r.partition(" ")[0] for r in found}
    assert {"relu", "relu_1", "relu_2", "binop_add_3", "compare_eq_1", "if_node_2"} <= kinds
    found = rows(SymbolTree.create(networks.Called()), all_nodes=True)
    names = [r.partition(" ")[0] for r in found]
    # One tree for a Cell that is called twice, one body for a function.
    assert names.count("relu") == 3 and names.count("SequentialCell") == 1
    assert [n for n in names if n.startswith("binop_mult")] == ["binop_mult"]


@pytest.mark.parametrize("network", ["Simple", "Flow", "Statements", "Called", "Derived", "Deep"])
def test_an_unchanged_network_gives_the_same(network, mode, capsys):
    net = getattr(networks, network)()
    expected = net(Tensor(X))
    made = SymbolTree.create(net).get_network()
    assert type(made).__name__ == f"{network}Opt" and isinstance(made, type(net))
    got = made(Tensor(X))
    for a, b in zip(*(x if isinstance(x, tuple) else (x,) for x in (got, expected)), strict=True):
        np.testing.assert_equal(*(y.asnumpy() if isinstance(y, Tensor) else y for y in (a, b)))
    assert [p.name for p in made.get_parameters()] == [p.name for p in net.get_parameters()]
    assert all(a is b for a, b in zip(made.get_parameters(), net.get_parameters(), strict=True))


def test_order_is_that_of_python():
    net = networks.Ordered()
    made = SymbolTree.create(net).get_network()
    np.testing.assert_equal(made(Tensor(X)).asnumpy(), net(Tensor(X)).asnumpy())
    assert made.seen is net.seen and net.seen == list("abcd") * 2


def test_variables_of_functions_around_are_seen(mode):
    net = networks.local()
    made = SymbolTree.create(net).get_network()
    np.testing.assert_equal(made(Tensor(X)).asnumpy(), X + 4)


def tripled(x, by=3):
    return x * by


def test_insert_erase_and_replace(mode, folder):
    net = networks.Simple()
    tree = SymbolTree.create(net)
    tanh = Node.create_call_cell(nn.Tanh(), ["x"], [name("x")], name="relu")
    assert tree.insert(tree.after("dense"), tanh) == tanh and tanh.get_name() == "relu_1"
    call = Node.create_call_function(
        tripled, ["x"], [name("x")], {"by": ScopedValue.create_variable_value(5.0)}
    )
    assert tree.insert(tree.before("return"), call).get_name() == "tripled"
    absolute = Node.create_call_function(ops.abs, ["x"], [name("x")])
    tree.insert(tree.before("dense"), absolute)
    w, b = net.dense.weight.asnumpy(), net.dense.bias.asnumpy()
    expected = np.maximum(np.tanh(np.abs(X) @ w.T + b), 0) * 5
    made = tree.get_network()
    np.testing.assert_allclose(made(Tensor(X)).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    (file,) = (folder / "rewritten_network").iterdir()
    assert file.read_text() == tree.get_code() and "x = self.relu_1(x)" in file.read_text()
    assert not hasattr(net, "relu_1")
    tree.erase(tanh)
    new = [
        Node.create_call_cell(nn.Dense(4, 4), ["y"], [name("x")], name="first"),
        Node.create_call_cell(networks.Block(), ["x"], [name("y")], name="last", is_sub_net=True),
    ]
    assert tree.replace(tree.get_node("dense"), new).get_name() == "last"
    below = new[1].get_sub_tree()
    sigmoid = Node.create_call_cell(nn.Sigmoid(), ["x"], [name("x")])
    assert sigmoid.get_name() == "Sigmoid"
    below.insert(below.after("relu"), sigmoid)
    made = tree.get_network()
    first = new[0].get_instance()
    w, b = first.weight.asnumpy(), first.bias.asnumpy()
    expected = 5 / (1 + np.exp(-np.maximum(np.abs(X) @ w.T + b, 0)))
    np.testing.assert_allclose(made(Tensor(X)).asnumpy(), expected, rtol=1e-5, atol=1e-6)
    assert {p.name for p in made.get_parameters()} >= {"first.weight", "first.bias"}


def test_arguments(mode):
    tree = SymbolTree.create(networks.Statements())
    node = tree.get_node("binop_sub")
    node.set_arg(1, ScopedValue.create_variable_value(3))
    node.set_arg_by_node(0, tree.get_node("tuple"), 1)
    assert list(map(str, node.get_args())) == ["i", "3"]
    assert [n.get_name() for n in node.get_inputs()] == ["tuple"]
    assert [n.get_name() for n in tree.get_node("constant_assign").get_users()] == ["compare_lt_lt"]
    net = tree.get_network()
    s = (X + 1) * (X - 3)
    expected = np.maximum(np.maximum(s + 1, 0) + X, 0).sum()
    expected += X.sum() * 5 + (X**2 / 3 // 1).sum() - X.sum() + X[:1].sum() + 0
    np.testing.assert_allclose(net(Tensor(X))[0].asnumpy(), expected, rtol=1e-4)


def test_changes_in_branches_functions_and_containers(mode):
    net = networks.Flow()
    tree = SymbolTree.create(net)
    (node,) = (n for n in tree.nodes(all_nodes=True) if n.get_name() == "binop_add")
    node.set_arg(1, ScopedValue.create_variable_value(10))
    tree.erase("for_else_node")
    expected = np.maximum(np.maximum(X, 0) + 10 + 3, 0) + 1
    np.testing.assert_allclose(tree.get_network()(Tensor(X)).asnumpy(), expected, rtol=1e-6)

    net = networks.Called()
    before = net(Tensor(X)).asnumpy()
    tree = SymbolTree.create(net)
    tree.get_node("binop_mult").set_arg(0, "by")
    added = tree.get_node("binop_add_1")
    assert [str(a) for a in added.get_args()] == ["block_var", "1"]
    added.set_arg(1, ScopedValue.create_variable_value(7))
    tree.erase("Dense")
    new = Node.create_call_cell(nn.Dense(4, 4), ["x"], [name("x")], name="fresh")
    tree.insert(tree.after("SequentialCell"), new)
    made = tree.get_network()
    dense = new.get_instance()
    x = np.maximum(X, 0) @ dense.weight.asnumpy().T + dense.bias.asnumpy()
    expected = np.maximum(0 * x + 4 + 9, 0) + 7
    np.testing.assert_allclose(made(Tensor(X)).asnumpy(), expected, rtol=1e-6)
    assert [p.name for p in made.get_parameters()] == [
        "seq.fresh.weight", "seq.fresh.bias",
    ]  # fmt: skip
    np.testing.assert_equal(net(Tensor(X)).asnumpy(), before)
    assert len(net.seq) == 3


def test_networks_in_networks_are_copied():
    net = networks.Deep()
    tree = SymbolTree.create(net)
    below = tree.get_node("inner").get_sub_tree()
    below.insert(below.after("relu"), Node.create_call_cell(nn.Tanh(), ["x"], [name("x")]))
    made = tree.get_network()
    np.testing.assert_allclose(made(Tensor(X)).asnumpy(), np.tanh(np.maximum(X, 0)), rtol=1e-5)
    np.testing.assert_equal(net(Tensor(X)).asnumpy(), np.maximum(X, 0))


def test_a_changed_network_trains():
    net = networks.Simple()
    tree = SymbolTree.create(net)
    tree.erase("relu")
    made = tree.get_network()
    loss = lambda x: (made(x) ** 2).sum()  # noqa: E731
    _, slopes = ms.value_and_grad(loss, None, made.trainable_params())(Tensor(X))
    y = X @ net.dense.weight.asnumpy().T + net.dense.bias.asnumpy()
    np.testing.assert_allclose(slopes[0].asnumpy(), 2 * y.T @ X, rtol=1e-4, atol=1e-5)


def test_the_table_and_names(capsys):
    tree = SymbolTree.create(networks.Simple())
    tree.print_node_tabulate()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("node type") and lines[0].endswith("target users")
    assert lines[3].split("  ")[0] == "NodeType.CallCell" and "x = self.dense(x)" in lines[3]
    assert "{0: ('input_x', 0)}" in lines[3] and "{0: [('relu', 0)]}" in lines[3]
    assert [tree.unique_name(n) for n in ("x", "x", "output", "x_1")] == [
        "x_1", "x_2", "output", "x_1_1",
    ]  # fmt: skip
    assert tree.get_node("relu").get_symbol_tree().get_node("dense") == tree.get_node("dense")
    assert tree.get_node("dense").get_instance_type() is nn.Dense
    assert tree.get_node("return").get_instance_type() is type(None)


VALUES = [
    (1, "1", ValueType.ConstantValue),
    ("a", "a", ValueType.ConstantValue),
    (None, "None", ValueType.ConstantValue),
    ((1, 2), "(1, 2)", ValueType.TupleValue),
    ([1, "x"], "[1, x]", ValueType.ListValue),
    ({"a": 1}, "{a: 1}", ValueType.DictValue),
    (nn.ReLU, f"CustomObj: {nn.ReLU}", ValueType.CustomObjValue),
]


@pytest.mark.parametrize(("value", "text", "kind"), VALUES)
def test_values(value, text, kind):
    made = ScopedValue.create_variable_value(value)
    assert (str(made), repr(made), made.type, made.scope) == (text, text, kind, "")
    assert made == ScopedValue.create_variable_value(value)


def test_names_with_scopes():
    made = ScopedValue.create_name_values(["z", "z_1"], ["self", "self"])
    assert list(map(str, made)) == ["self.z", "self.z_1"]
    assert made[0] == ScopedValue.create_naming_value("z", "self") != made[1]
    assert made[0] != "self.z"


def of(tree, node="relu"):
    return tree.get_node(node)


def relu(*args, **kwargs):
    return Node.create_call_cell(nn.ReLU(), *args, **kwargs)


ERRORS = [
    (lambda t: SymbolTree.create(3), TypeError, "type of 'network' should be 'Cell'"),
    (lambda t: t.nodes(3), TypeError, "type of 'all_nodes' should be 'bool'"),
    (lambda t: t.get_node(3), TypeError, "type of 'node_name' should be 'str'"),
    (lambda t: t.before(3), TypeError, r"'node' should be one of '\['Node', 'str'\]'"),
    (lambda t: t.before("nope"), RuntimeError, "'nope' is not in the current SymbolTree"),
    (lambda t: t.insert(3, relu(["x"])), TypeError, "'position' should be 'Position'"),
    (lambda t: t.insert(t.after("relu"), 3), TypeError, "'node' should be 'Node'"),
    (lambda t: t.insert(t.after("relu"), of(t)), ValueError, "'relu' is in a SymbolTree"),
    (
        lambda t: t.insert(SymbolTree.create(networks.Simple()).after("relu"), relu(["x"])),
        ValueError,
        "not in the current",
    ),
    (lambda t: t.insert(t.before("input_x"), relu(["x"])), ValueError, "before the input"),
    (lambda t: t.erase(3), TypeError, "one of"),
    (lambda t: t.erase("nope"), RuntimeError, "'nope'"),
    (lambda t: t.erase("input_x"), NotImplementedError, "input"),
    (lambda t: t.replace(3, []), TypeError, "'old_node' should be 'Node'"),
    (lambda t: t.replace(of(t), 3), TypeError, r"\['list', 'tuple'\]"),
    (lambda t: t.replace(of(t), [3]), TypeError, "should be Node, but got '3'"),
    (lambda t: t.replace(of(t), []), IndexError, "empty"),
    (lambda t: t.unique_name(3), TypeError, "'name' should be 'str'"),
    (lambda t: of(t).set_arg("a", "x"), TypeError, "'index' should be 'int'"),
    (lambda t: of(t).set_arg(5, "x"), ValueError, r"\[0, 1\), but got 5"),
    (lambda t: of(t).set_arg(0, 3), TypeError, r"\['ScopedValue', 'str'\]"),
    (lambda t: of(t).set_arg(0, "a b"), ValueError, "got 'a b'"),
    (lambda t: of(t).set_arg_by_node(0, 3), TypeError, "'src_node' should be 'Node'"),
    (lambda t: of(t).set_arg_by_node(7, of(t)), ValueError, "got 7"),
    (lambda t: of(t).set_arg_by_node(0, of(t), 5), ValueError, "'out_idx' must be in range"),
    (lambda t: of(t).set_arg_by_node(0, relu(["x", "y"])), ValueError, "has 2 outputs"),
    (lambda t: of(t).get_sub_tree(), TypeError, "NodeType.Tree"),
    (lambda t: relu(["x"], is_sub_net=True).get_sub_tree(), AttributeError, "inserted"),
    (lambda t: Node.create_call_cell(3, ["x"]), TypeError, r"\['Cell', 'Primitive'\]"),
    (lambda t: relu("x"), TypeError, r"'targets' should be one of '\['list', 'tuple'\]'"),
    (lambda t: relu([3]), TypeError, "'targets' should be one of"),
    (lambda t: relu([]), ValueError, "empty"),
    (lambda t: relu(["x + 1"]), ValueError, "names of variables"),
    (lambda t: relu(["x"], ["x"]), TypeError, "'args' should be ScopedValue"),
    (lambda t: relu(["x"], None, {"a": 3}), TypeError, "'kwargs' should be ScopedValue"),
    (lambda t: relu(["x"], None, {3: name("x")}), TypeError, "'kwargs' should be str"),
    (lambda t: relu(["x"], name=3), TypeError, "'name' should be 'str'"),
    (lambda t: relu(["x"], is_sub_net=3), TypeError, "'is_sub_net' should be 'bool'"),
    (lambda t: Node.create_call_function(3, ["x"]), TypeError, "'function' should be one of"),
    (
        lambda t: relu(["x"], [ScopedValue.create_variable_value(Tensor(1))]),
        NotImplementedError,
        "'Tensor' cannot be written",
    ),
    (lambda t: ScopedValue.create_naming_value(3), TypeError, "'name' should be 'str'"),
    (lambda t: ScopedValue.create_name_values("z"), TypeError, "'names' should be one of"),
    (lambda t: ScopedValue.create_name_values(["z"], ["a", "b"]), ValueError, "1 and 2"),
]


@pytest.mark.parametrize(("wrong", "kind", "text"), ERRORS)
def test_wrong_uses(wrong, kind, text):
    tree = SymbolTree.create(networks.Simple())
    with pytest.raises(kind, match=text):
        wrong(tree)
    assert [n.get_name() for n in tree.nodes()] == ["input_x", "dense", "relu", "return"]


def test_a_cell_for_a_function_outside_the_network():
    tree = SymbolTree.create(networks.Called())
    assert tree.get_node("binop_mult").get_node_type() is NodeType.MathOps
    with pytest.raises(ValueError, match="'doubled' is not a method"):
        tree.insert(tree.after("binop_mult"), relu(["y"], [name("y")]))


def test_source_that_cannot_be_read():
    names = {"nn": nn, "__name__": "nowhere"}
    exec("class Net(nn.Cell):\n    def construct(self, x):\n        return x\n", names)
    with pytest.raises(RuntimeError, match=r"source code of 'Net.construct' cannot be read"):
        SymbolTree.create(names["Net"]())
