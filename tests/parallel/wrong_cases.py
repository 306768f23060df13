"""Wrong strategies and settings: program, class of the error, words of its message.

The classes are those that the original's documentation and Python code give; what its compiler
checks raises RuntimeError there.
"""

MATMUL = "run(P.MatMul().shard({}), (16, 8), (8, 32))"

CASES = {
    "three parts on eight devices": (
        MATMUL.format("((3, 1), (1, 1))"), "RuntimeError", "divisible"),
    "sixteen parts": (MATMUL.format("((16, 1), (1, 1))"), "RuntimeError", "device number"),
    "more devices than there are": (
        MATMUL.format("((8, 2), (2, 1))"), "RuntimeError", "device number"),
    "the contracted dimension cut in two ways": (
        MATMUL.format("((2, 2), (4, 1))"), "RuntimeError", "must be equal"),
    "one strategy for two inputs": (
        MATMUL.format("((2, 2),)"), "RuntimeError", "in_strategy numbers: 1"),
    "three strategies for two inputs": (
        MATMUL.format("((1, 1), (1, 1), (1,))"), "RuntimeError", "in_strategy numbers: 3"),
    "a strategy of another rank": (
        MATMUL.format("((2, 2, 1), (2, 1))"), "RuntimeError", "in_strategy dimension: 3"),
    "zero parts": (MATMUL.format("((0, 1), (1, 1))"), "RuntimeError", "positive integer"),
    "negative parts": (MATMUL.format("((-1, 1), (1, 1))"), "RuntimeError", "positive integer"),
    "a size that does not divide": (
        "run(P.ReLU().shard(((8, 1),)), (12, 4))", "RuntimeError", "divisible"),
    "a string": ('P.MatMul().shard("abc")', "TypeError", "in_strategy must be tuple type"),
    "lists": ("P.MatMul().shard([[2, 4], [4, 1]])", "TypeError", "must be tuple type"),
    "a list inside": ("P.MatMul().shard(([2, 4], (4, 1)))", "TypeError", "tuple/Layout type"),
    "a float": ("P.MatMul().shard(((2.0, 1), (1, 1)))", "TypeError", "must be int type"),
    "a bool": ("P.MatMul().shard(((True, 1), (1, 1)))", "TypeError", "must be int type"),
    "Layout and numbers": (
        'P.MatMul().shard((Layout((8,), ("a",))("a", "None"), (1, 1)))', "TypeError", "all Layout"),
    "an out_strategy alone": (
        "P.MatMul().shard(None, ((2, 4),))", "ValueError", "need to set in_strategy"),
    "an out_strategy of the other kind": (
        'P.MatMul().shard(((2, 4), (4, 1)), (Layout((8,), ("a",))("a", "None"),))',
        "ValueError", "is not allowed"),
    "an out_strategy of another rank": (
        "run(P.MatMul().shard(((2, 1), (1, 4)), ((2,),)), (16, 8), (8, 32))",
        "RuntimeError", "in_strategy dimension: 1"),
    "an operator made of others": (
        "run(P.GatherD().shard(((2, 3), (1, 1))), (16, 8), (16, 8))", "RuntimeError", "divisible"),
    "an out_strategy of an operator made of others": (
        "P.GatherD().shard(((8, 1), (8, 1)), ((8, 1),))", "NotImplementedError", "ops.reshard"),
    "softmax along its axis": (
        "run(P.Softmax().shard(((1, 8),)), (16, 8))", "RuntimeError", "axis dimension is not 1"),
    "softmax along another axis": (
        "run(P.Softmax(axis=0).shard(((8, 1),)), (16, 8))", "RuntimeError", "axis dimension"),
    "the kernel of a convolution": (
        "run(P.Conv2D(8, 2).shard(((1, 1, 1, 1), (1, 1, 2, 1))), (4, 4, 8, 8), (8, 4, 2, 2))",
        "RuntimeError", "kernel size can not be split"),
    "channels of a convolution cut in two ways": (
        "run(P.Conv2D(8, 2).shard(((1, 2, 1, 1), (1, 4, 1, 1))), (4, 4, 8, 8), (8, 4, 2, 2))",
        "RuntimeError", "must be equal"),
    "the normalized dimension": (
        "run(P.LayerNorm(1, 1).shard(((1, 8), (8,), (8,))), (16, 8), (8,), (8,))",
        "RuntimeError", "normalized dimensions"),
    "classes of a cross entropy": (
        "run(P.SoftmaxCrossEntropyWithLogits().shard(((1, 8), (1, 8))), (16, 8), (16, 8))",
        "RuntimeError", "num_class"),
    "the axis of a concatenation": (
        "run(Call(lambda x: P.Concat(1).shard(((1, 2), (1, 2)))((x, x))), (16, 8))",
        "RuntimeError", "axis dimension"),
    "inputs of an addition cut differently": (
        "run(P.Add().shard(((8, 1), (4, 1))), (16, 8), (16, 8))", "RuntimeError", "must be equal"),
    "a bias cut unlike its channels": (
        "run(P.BiasAdd().shard(((2, 4), (2,))), (16, 8), (8,))", "RuntimeError", "must be equal"),
    "a Layout of four devices": (
        'run(P.ReLU().shard((Layout((2, 2), ("a", "b"))("a", "b"),)), (16, 8))',
        "RuntimeError", "device number of this stage is 8"),
    "a Layout of another rank": (
        'run(P.ReLU().shard((Layout((8,), ("a",))("a"),)), (16, 8))', "ValueError", "dimensions"),
    "a Layout that does not divide": (
        'run(P.ReLU().shard((Layout((8,), ("a",))("a", "None"),)), (12, 8))',
        "RuntimeError", "divisible"),
    "a Layout without names": (
        'Layout((2, 4), ("a",))', "ValueError", "length should be equal"),
    "a Layout with a name twice": ('Layout((2, 4), ("a", "a"))', "ValueError", "be different"),
    "a Layout with an empty name": ('Layout((2, 4), ("", "a"))', "ValueError", "can not be empty"),
    "a Layout with None": ('Layout((2, 4), ("None", "a"))', "ValueError", "'None'"),
    "a Layout as a list": ('Layout([2, 4], ("a", "b"))', "TypeError", "must be tuple type"),
    "a Layout of floats": ('Layout((2.0, 4), ("a", "b"))', "TypeError", "must be int type"),
    "a Layout's unknown axis": (
        'Layout((2, 4), ("a", "b"))("c", "b")', "ValueError", "axis c is not found"),
    "a Layout's axis twice": (
        'Layout((2, 4), ("a", "b"))("a", "a")', "ValueError", "set more than one"),
    "an interleaved axis in front": (
        'Layout((2, 4), ("interleaved_parallel", "b"))', "ValueError", "last dim"),
    "ranks of another number": (
        'Layout((2, 4), ("a", "b"), [0, 1])', "ValueError", "length of rank_list"),
    "ranks as a tuple": (
        'Layout((2,), ("a",), (0, 1))', "TypeError", "rank_list should be a list"),
    "a Layout that was not called": (
        'Layout((2, 4), ("a", "b")).to_dict()', "ValueError", "tensor_map of layout is None"),
    "a Cell's strategy as a list": (
        "nn.Dense(8, 8).shard([(8, 1)])", "TypeError", "should be a tuple"),
    "a Cell's plan as a list": (
        "nn.Dense(8, 8).shard(((8, 1),), parameter_plan=[1])", "TypeError", "dict or None"),
    "a Cell's plan of another rank": (
        'nn.Dense(8, 8).shard(((8, 1),), parameter_plan={"weight": (8,)})',
        "ValueError", "param_strategy"),
    "a Cell's plan that does not divide": (
        'nn.Dense(8, 8).shard(((8, 1),), parameter_plan={"weight": (3, 1)})',
        "ValueError", "divisible"),
    "more strategies than inputs of a Cell": (
        "run(nn.ReLU().shard(((8, 1), (8, 1))), (16, 8))", "ValueError", "strategies"),
    "a function's plan": (
        'ms.shard(lambda x: x, ((8, 1),), parameter_plan={"w": (1, 1)})',
        "TypeError", "mindspore.nn.Cell"),
    "no function": ("ms.shard(3, ((8, 1),))", "TypeError", "a Cell or a function"),
    "reshard of a number": (
        'ops.reshard(3, Layout((8,), ("a",))("a"))', "TypeError", "must be Tensor"),
    "reshard to a tuple": ("ops.reshard(ones(8), (8,))", "TypeError", "Layout"),
    "a ring's attribute that is no bool": (
        "ring(enable_ring_attention=1, cut=1)", "RuntimeError", "should be bool"),
    "a balanced order without a ring": (
        "ring(enable_ra_context_parallel=True, cut=1)", "RuntimeError", "needs 'enable_ring"),
    "keys cut without a ring": ("ring()", "RuntimeError", "sequence length of key"),
    "keys whole in a ring": (
        "ring(enable_ring_attention=True, cut=1)", "RuntimeError", "must be equal"),
    "a ring and exchanged heads": (
        "ring(enable_ring_attention=True, enable_ulysses=True)", "RuntimeError", "exclude"),
    "a ring in the layout SBH": (
        'ring("SBH", enable_ring_attention=True)', "RuntimeError", "layouts BSH and BNSD"),
    "a ring with a sparse mode": (
        "ring(sparse_mode=2, enable_ring_attention=True)", "RuntimeError", "sparse_mode (0,)"),
    "a balanced ring with a mask": (
        "ring(mask=True, enable_ring_attention=True, enable_ra_context_parallel=True)",
        "RuntimeError", "takes no 'attn_mask'"),
    "a ring with a band": (
        "ring(pre_tokens=2, enable_ring_attention=True)", "NotImplementedError", "'attn_mask'"),
    "more devices than heads to exchange": (
        "ring(enable_ulysses=True)", "RuntimeError", "devices must divide the 4 heads"),
    "halves of a part of odd length": (
        "ring(length=8, enable_ring_attention=True, enable_ra_context_parallel=True)",
        "RuntimeError", "must be divided by 16"),
    "a ring in auto mode": (
        'ring(enable_ring_attention=True, parallel_mode="auto_parallel")',
        "RuntimeError", "semi parallel mode"),
    "more experts a token than there are": ("MoE(8, 16, 4, 5)", "ValueError", "at most"),
    "experts that devices do not divide": (
        "MoE(8, 16, 6, groups=4, data_parallel=4, expert_parallel=4)", "ValueError", "multiple"),
    "more parts of experts than of tokens": (
        "MoE(8, 16, 8, groups=4, data_parallel=4, expert_parallel=8)",
        "ValueError", "'data_parallel' 4 must be a multiple"),
    "fewer groups than parts of tokens": (
        "MoE(8, 16, 8, groups=2, data_parallel=4)", "ValueError", "'groups' 2"),
    "hidden sizes that devices do not divide": (
        "MoE(8, 6, 8, model_parallel=4)", "ValueError", "'ffn_hidden_size' 6"),
    "a capacity of nothing": ("MoE(8, 16, 8, capacity_factor=0)", "ValueError", "above 0"),
    "an unknown activation": ('MoE(8, 16, 8, activation="x")', "ValueError", "activation"),
    "an expert and a half": ("MoE(8, 16, 8, 1.5)", "TypeError", "num_experts_chosen"),
    "a mixture for other devices": (
        "run(MoE(8, 16, 8, groups=4, data_parallel=4), (16, 8))",
        "RuntimeError", "device number of this stage is 8"),
    "tokens that groups do not divide": (
        "run(MoE(8, 16, 8, groups=3), (16, 8))", "ValueError", "divided by the 'groups' 3"),
    "tokens of another size": ("run(MoE(4, 16, 8), (16, 8))", "ValueError", "(tokens, H)"),
    "experts away from their tokens": (
        "run(mixture(((4, 1), (1, 1), (2, 1, 1), (2, 1, 1))), (16, 8))",
        "ValueError", "among those"),
    "too few dataset strategies": (
        "run(P.Add(), (16, 8), (16, 8), dataset_strategy=((8, 1),))",
        "RuntimeError", "1 elements"),
    "a dataset strategy of another rank": (
        "run(P.ReLU(), (16, 8), dataset_strategy=((8,),))", "RuntimeError", "dimension"),
    "a dataset strategy of nine parts": (
        "run(P.ReLU(), (18, 8), dataset_strategy=((9, 1),))", "RuntimeError", "device number"),
    "more devices in the context": (
        "run(P.ReLU(), (16, 8), device_num=16)", "RuntimeError", "available device number: 8"),
    "no strategy file": (
        'run(nn.Dense(8, 8), (16, 8), strategy_ckpt_load_file="/tmp/none.ckpt")',
        "ValueError", "no such strategy file: /tmp/none.ckpt"),
    "no strategy file in the settings": (
        'run(nn.Dense(8, 8), (16, 8), strategy_ckpt_config={"load_file": "/tmp/none.ckpt"})',
        "ValueError", "no such strategy file: /tmp/none.ckpt"),
    "a strategy file of four devices": (
        "run(nn.Dense(8, 8), (16, 8), strategy_ckpt_load_file=strategy_file([4], [0, -1]))",
        "RuntimeError", "for 4 devices, but the device number of this stage is 8"),
    "a strategy file that does not divide": (
        "run(nn.Dense(8, 12), (16, 8), strategy_ckpt_load_file=strategy_file([8], [0, -1]))",
        "RuntimeError", "does not fit its shape (12, 8)"),
    "a strategy file of another rank": (
        "run(nn.Dense(8, 8), (16, 8), strategy_ckpt_load_file=strategy_file([8], [0]))",
        "RuntimeError", "does not fit its shape (8, 8)"),
    "a strategy file of ranks that no mesh has": (
        "run(nn.Dense(8, 8), (16, 8), strategy_ckpt_load_file=strategy_file([8], [3, -1]))",
        "RuntimeError", "names an axis"),
    "no file of operators' strategies": (
        'loading("/tmp/none.json")', "ValueError", "no such strategy file: /tmp/none.json"),
    "a parameter file that is no path": (
        "spread().save_param_strategy_file(3)", "TypeError", "must be str"),
    "a folder that cannot be made": (
        'run(nn.Dense(8, 8), (16, 8), strategy_ckpt_save_file="/dev/null/a.ckpt")',
        "FileExistsError", "The folder of /dev/null/a.ckpt cannot be made"),
    "a stage beyond the last": ("staged([0, 2])", "RuntimeError", "must be smaller"),
    "a stage without a Cell": (
        "staged([0, 1], pipeline_stages=4)", "RuntimeError", "Nothing runs in pipeline stage 2, 3"),
    "stages that go back": ("staged([1, 0])", "RuntimeError", "which a micro batch has passed"),
    "a stage left out between two": (
        "staged([0, 3], pipeline_stages=4)", "RuntimeError", "stage 1, 2 of 4"),
    "fewer micro batches than stages": (
        "staged([0, 1, 2, 3], micros=2, pipeline_stages=4)",
        "RuntimeError", "greater than or equal"),
    "a batch that micro batches do not divide": (
        "staged([0, 1], micros=3)", "ValueError", "divided by micro size(3)"),
    "stages in no parallel mode": (
        'staged([0, 1], parallel_mode="stand_alone")', "RuntimeError", "semi_auto_parallel"),
    "stages in data parallel mode": (
        'staged([0, 1], parallel_mode="data_parallel")', "RuntimeError", "semi_auto_parallel"),
    "devices that stages do not divide": (
        "staged([0, 1, 2], pipeline_stages=3)", "RuntimeError", "divisible"),
    "a schedule without interleaving": (
        'ms.set_auto_parallel_context(pipeline_config={"pipeline_interleave": False, '
        '"pipeline_scheduler": "gpipe"})', "TypeError", "only '1f1b'"),
    "a schedule without interleaving, of AutoParallel": (
        'spread().pipeline(2, scheduler="zero_bubble_v")', "TypeError", "only '1f1b'"),
    "a schedule that there is not": (
        'staged([0, 1], pipeline_config={"pipeline_interleave": True, "pipeline_scheduler": '
        '"seqpipe"})', "NotImplementedError", "seqpipe"),
    "an unknown schedule": (
        'ms.set_auto_parallel_context(pipeline_config={"pipeline_scheduler": "x"})',
        "ValueError", "pipeline_scheduler"),
    "an unknown setting of the pipeline": (
        'ms.set_auto_parallel_context(pipeline_config={"x": 1})', "ValueError", "Unknown config"),
    "the V without segments": (
        'staged([0, 1, 1, 0], pipeline_config={"pipeline_interleave": True, '
        '"pipeline_scheduler": "zero_bubble_v"})', "RuntimeError", "stage 1 of 2 at each"),
    "no stage in the context": (
        "ms.set_auto_parallel_context(pipeline_stages=0)", "ValueError", "pipeline_stages"),
    "stages as a float": (
        "ms.set_auto_parallel_context(pipeline_stages=2.0)", "TypeError", "pipeline_stages"),
    "a stage of a Cell that there is not": (
        'nn.PipelineCell(nn.Dense(8, 8), 2, stage_config={"x": 0})', "KeyError", "not found"),
    "a negative stage": (
        'nn.PipelineCell(nn.SequentialCell(nn.ReLU()), 2, stage_config={"0": -1})',
        "ValueError", "less than 0"),
    "a stage as a bool": (
        'setattr(nn.ReLU(), "pipeline_stage", True)', "TypeError", "must be int"),
    "no micro batch": ("nn.PipelineCell(nn.ReLU(), 0)", "ValueError", "large than 0"),
    "micro batches as a float": ("nn.PipelineCell(nn.ReLU(), 2.0)", "TypeError", "integer"),
    "a pipeline of a function": (
        "nn.PipelineCell(lambda x: x, 2)", "TypeError", "must cell type"),
    "a pipeline that is cut": (
        "nn.PipelineCell(nn.ReLU(), 2).shard(((8, 1),))", "ValueError", "no 'shard'"),
    "a strategy of more devices than a stage has": (
        "staged([0, 1], strategy=((8, 1), (1, 1)))", "RuntimeError", "device number"),
    "stages with a strategy file": (
        'staged([0, 1], strategy_ckpt_save_file="/tmp/a.ckpt")',
        "NotImplementedError", "strategy files"),
    "stages with a search": (
        'staged([0, 1], parallel_mode="auto_parallel")', "NotImplementedError", "the search"),
    "a gradient of the logits of a pipeline": (
        "staged([0, 1], loss=False)", "NotImplementedError", "give its loss"),
    "stages that are no dictionary": (
        "nn.PipelineCell(nn.ReLU(), 2, stage_config=[0, 1])", "TypeError", "must be a dict"),
    "a negative threshold in the context": (
        'ms.set_auto_parallel_context(parallel_optimizer_config='
        '{"parallel_optimizer_threshold": -1})', "ValueError", "must >= 0"),
    "a shard size of 0 in the context": (
        'ms.set_auto_parallel_context(parallel_optimizer_config='
        '{"optimizer_weight_shard_size": 0})', "ValueError", "must >= 1"),
    "an unknown level in the context": (
        'ms.set_auto_parallel_context(parallel_optimizer_config={"optimizer_level": "level4"})',
        "ValueError", "level3"),
    "a level against the sharing of gradients": (
        'ms.set_auto_parallel_context(parallel_optimizer_config={"optimizer_level": "level1", '
        '"gradient_accumulation_shard": True})', "ValueError", "thus cannot set"),
    "a process a device": (
        'ms.set_auto_parallel_context(parallel_mode="hybrid_parallel")',
        "NotImplementedError", "msrun"),
    "an unknown mode": (
        'ms.set_auto_parallel_context(parallel_mode="x")', "ValueError", "parallel_mode"),
    "an unknown mode of AutoParallel": (
        'spread(parallel_mode="x")', "ValueError", "parallel_mode"),
    "an unknown level": ('spread().hsdp(optimizer_level="level4")', "ValueError", "level3"),
    "a shard size of 0": ("spread().hsdp(shard_size=0)", "ValueError", "shard_size"),
    "a negative threshold": ("spread().hsdp(threshold=-1)", "ValueError", "threshold"),
    "no dataset strategy": ("spread().dataset_strategy(None)", "ValueError", "none in config"),
    "an unknown dataset strategy": (
        'spread().dataset_strategy("x")', "ValueError", "full_batch"),
    "a dataset strategy of floats": (
        "spread().dataset_strategy(((1.0,),))", "TypeError", "tuple of int"),
    "stages as a string": ('spread().pipeline("2")', "TypeError", "must be int"),
    "no stage": ("spread().pipeline(0)", "ValueError", "larger than zero"),
    "an unknown scheduler": ('spread().pipeline(1, scheduler="x")', "ValueError", "scheduler"),
    "a relative path": (
        'spread().save_operator_strategy_file("a.json")', "KeyError", "absolute path"),
    "a path of another type": (
        'spread().save_operator_strategy_file("/a.txt")', "KeyError", ".json"),
}  # fmt: skip
