"""Writing down an ONNX graph as equations: values that are added, gathered and reduced.

    graph = Graph()
    words = graph.input("word_ids", np.int64, "words")
    graph.output("vectors", graph.constant(table).take(words), ("words", "size"))
    model = graph.model()

A number beside a value is a constant of its kind: whole numbers are int64, others float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ConfigError

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["Graph", "Value"]

OPSET = 18
"""The version of the operators: the first in which a scatter can take the largest."""
FORMAT = 9
"""The version of the file, which ONNX Runtime reads from 1.14 on."""

LARGEST = (1 << 31) - (1 << 24)
"""Bytes of weights that fit into a file."""

Number = int | float
Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Value:
    """What some node of a graph gives."""

    graph: Graph
    name: str

    def __add__(self, other: Value | Number) -> Value:
        return self.graph.op("Add", self, other)

    def __sub__(self, other: Value | Number) -> Value:
        return self.graph.op("Sub", self, other)

    def __mul__(self, other: Value | Number) -> Value:
        return self.graph.op("Mul", self, other)

    def __truediv__(self, other: Value | Number) -> Value:
        """Divide; whole numbers give the whole number below."""
        return self.graph.op("Div", self, other)

    def __and__(self, other: Value) -> Value:
        return self.graph.op("And", self, other)

    def __matmul__(self, other: Value) -> Value:
        return self.graph.op("MatMul", self, other)

    def above(self, other: Value | Number) -> Value:
        """Whether it is greater."""
        return self.graph.op("Greater", self, other)

    def equals(self, other: Value | Number) -> Value:
        """Whether it is the same number."""
        return self.graph.op("Equal", self, other)

    def take(self, index: Value | int, axis: int = 0) -> Value:
        """Its rows of these numbers, or its columns."""
        return self.graph.op("Gather", self, index, axis=axis)

    def part(self, start: int, end: int | None = None) -> Value:
        """Its rows from one place to another, counted from the end where negative."""
        last = np.iinfo(np.int64).max if end is None else end
        edges = (self.graph.constant(np.array([edge])) for edge in (start, last))
        return self.graph.op("Slice", self, *edges, self.graph.constant(np.array([0])))

    def first(self, count: Value, axis: int = 0) -> Value:
        """So many of its rows, or of its columns."""
        return self.graph.op("Slice", self, np.array([0]), count.shaped(1), np.array([axis]))

    def size(self) -> Value:
        """How many rows it has, as a single number."""
        shape = self.graph.op("Shape", self, end=1)
        return self.graph.op("Squeeze", shape)

    def shaped(self, *sizes: int) -> Value:
        """The same numbers in another shape; a size of -1 is found out."""
        return self.graph.op("Reshape", self, self.graph.constant(np.array(sizes, np.int64)))

    def columns(self) -> Value:
        """The same numbers one below the other, (numbers, 1)."""
        return self.shaped(-1, 1)

    def filling(self, *sizes: Value) -> Value:
        """The same number over and over, in an array of these sizes."""
        return self.graph.op("Expand", self, self.graph.joined(*(one.shaped(1) for one in sizes)))

    def as_kind(self, kind: type[np.generic]) -> Value:
        """The same numbers of another kind."""
        return self.graph.op("Cast", self, to=_kind(kind))

    def apply(self, name: str, **attributes: Any) -> Value:
        """What an operator makes of it alone, such as ``Exp``."""
        return self.graph.op(name, self, **attributes)

    def running(self, *, exclusive: bool = False) -> Value:
        """The sums of its rows up to each of them, without the row itself where exclusive."""
        axis = self.graph.constant(np.array(0))
        return self.graph.op("CumSum", self, axis, exclusive=int(exclusive))

    def largest(self, least: int) -> Value:
        """The largest of its whole numbers, or the least where there is none above it."""
        return self.graph.joined(self, np.array([least])).apply("ReduceMax", keepdims=0)

    def put(self, index: Value, given: Value, reduction: str = "none", axis: int = 0) -> Value:
        """Itself with other numbers in these places; several in one are added, or the like."""
        return self.graph.op("ScatterElements", self, index, given, axis=axis, reduction=reduction)


class Graph:
    """Nodes, constants, inputs and outputs in the order in which they were written down."""

    def __init__(self) -> None:
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}
        self._inputs: list[Any] = []
        self._outputs: list[Any] = []
        self._scope: list[str] = []
        self._known: dict[str, Value] = {}
        self._count = 0

    @contextmanager
    def within(self, name: str) -> Iterator[None]:
        """Let the names of what is written down inside begin with this one."""
        self._scope.append(name)
        yield
        self._scope.pop()

    def input(self, name: str, kind: type[np.generic], size: str, about: str) -> Value:
        """Declare an input of one dimension, whose size is named."""
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, _kind(kind), [size], about))
        return Value(self, name)

    def output(self, name: str, value: Value, sizes: Sequence[str | int], about: str) -> None:
        """Declare a value of single precision as an output."""
        from onnx import helper

        self._nodes.append(helper.make_node("Identity", [value.name], [name], name=name))
        info = helper.make_tensor_value_info(name, _kind(np.float32), list(sizes), about)
        self._outputs.append(info)

    def constant(self, array: Array, name: str = "constant") -> Value:
        """Keep an array in the graph; the same small array is kept once."""
        from onnx import numpy_helper

        whole = np.asarray(array, order="C")
        key = "" if whole.nbytes > 64 else repr((whole.dtype, whole.shape, whole.tolist()))
        if key and key in self._known:
            return self._known[key]
        named = f"constant_{len(self._constants)}" if key else self._named(name)
        self._constants[named] = numpy_helper.from_array(whole, named)
        made = Value(self, named)
        if key:
            self._known[key] = made
        return made

    def op(self, name: str, *given: Value | Number | Array, **attributes: Any) -> Value:
        """Write down a node with one output."""
        return self.ops(name, 1, *given, **attributes)[0]

    def ops(
        self, name: str, count: int, *given: Value | Number | Array, **attributes: Any
    ) -> tuple[Value, ...]:
        """Write down a node with several outputs."""
        from onnx import helper

        inputs = [self._value(one).name for one in given]
        called = self._named(name)
        outputs = [called if place == 0 else f"{called}:{place}" for place in range(count)]
        self._nodes.append(helper.make_node(name, inputs, outputs, name=called, **attributes))
        return tuple(Value(self, output) for output in outputs)

    def joined(self, *parts: Value | Array, axis: int = 0) -> Value:
        """Lay arrays end to end."""
        return self.op("Concat", *parts, axis=axis)

    def counting(self, count: Value) -> Value:
        """0, 1, 2, ... up to below a count."""
        return self.op("Range", 0, count, 1)

    def either(self, condition: Value, one: Value | Number, other: Value | Number) -> Value:
        """The one where the condition holds, and else the other."""
        return self.op("Where", condition, one, other)

    def model(self, name: str, about: str, facts: Mapping[str, str]) -> ModelProto:
        """Return the whole as a model, checked for what can be told without running it."""
        from onnx import checker, helper

        size = sum(len(one.raw_data) for one in self._constants.values())
        if size > LARGEST:
            raise ConfigError(
                f"the weights take {size / 1e9:.1f} GB, and a file of ONNX holds 2 GB; train with "
                "a smaller vocabulary, --set text.max_size=100000"
            )
        graph = helper.make_graph(
            self._nodes,
            name,
            self._inputs,
            self._outputs,
            list(self._constants.values()),
            doc_string=about,
        )
        made = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=FORMAT,
            producer_name="regard",
        )
        helper.set_model_props(made, dict(facts))
        checker.check_model(made)
        return made

    def _value(self, given: Value | Number | Array) -> Value:
        if isinstance(given, Value):
            return given
        kind = np.float32 if isinstance(given, float) else None
        return self.constant(np.asarray(given, kind))

    def _named(self, name: str) -> str:
        self._count += 1
        return "/".join([*self._scope, f"{name}_{self._count}"])


def _kind(kind: type[np.generic]) -> int:
    from onnx import helper

    return helper.np_dtype_to_tensor_dtype(np.dtype(kind))
