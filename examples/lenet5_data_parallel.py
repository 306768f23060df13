"""Train LeNet-5 on several processes: ``msrun --worker_num 2 --local_worker_num 2 --join True``.

Each process takes its part of every batch, and the gradients are averaged over all of them: the
losses are those of one process with the whole batch. Without msrun the program is that one process.
"""

import argparse

import mindspore as ms
from lenet5_mnist import LeNet5, create_dataset
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init
from mindspore.train import Callback, Model


class MeanLoss(Callback):
    """Print the mean of the processes' losses, on rank 0."""

    def __init__(self, every):
        super().__init__()
        self.every, self.mean = every, ops.AllReduce()

    def on_train_step_end(self, run_context):
        params = run_context.original_args()
        if params.cur_step_num % self.every:
            return
        loss = self.mean(Tensor(params.net_outputs.asnumpy())) / get_group_size()
        if get_rank() == 0:
            print(f"step {params.cur_step_num}: loss {float(loss.asnumpy()):.7f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mode", choices=["graph", "pynative"], default="graph")
    parser.add_argument("--data", default=".data/mnist", help="folder of the four IDX files")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32, help="rows of all processes together")
    parser.add_argument("--steps", type=int, default=0, help="end an epoch after so many steps")
    parser.add_argument(
        "--every", type=int, default=10, help="steps from one printed loss to the next"
    )
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()

    ms.set_context(mode=ms.GRAPH_MODE if args.mode == "graph" else ms.PYNATIVE_MODE)
    init()
    rank, size = get_rank(), get_group_size()
    ms.set_auto_parallel_context(
        parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True, parameter_broadcast=True
    )
    # Each process would begin with weights of its own: those of rank 0 are broadcast.
    ms.set_seed(args.seed + rank)

    # Rank r reads every size-th digit from the r-th on, so that the parts make the whole's batches.
    shard = {"num_shards": size, "shard_id": rank}
    train_set = create_dataset(args.data, "train", args.batch // size, shuffle=False, **shard)
    if args.steps:
        train_set = train_set.take(args.steps)
    network = LeNet5()
    loss_fn = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(network.trainable_params(), learning_rate=0.01, momentum=0.9)
    model = Model(network, loss_fn, optimizer, metrics={"accuracy"})
    model.train(args.epochs, train_set, callbacks=[MeanLoss(args.every)], dataset_sink_mode=False)
    if rank == 0:
        result = model.eval(create_dataset(args.data, "test"), dataset_sink_mode=False)
        print(f"test accuracy: {result['accuracy']:.4f}")


if __name__ == "__main__":
    main()
