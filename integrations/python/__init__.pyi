"""The types of the module `masu`, which is written in C."""

from os import PathLike
from typing import Any, Callable, Iterator, Literal, NamedTuple, Protocol, Sequence, SupportsIndex, final

__version__: str

_Element = Literal[
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]

class _HasDLPack(Protocol):
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> tuple[Any, int]: ...

class Error(Exception):
    file: str | None
    line: int | None
    column: int | None
    status: str

@final
class Tensor:
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def strides(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def readonly(self) -> bool: ...
    @property
    def data_ptr(self) -> int: ...
    def numpy(self) -> Any: ...
    def tolist(self) -> Any: ...
    def item(self) -> bool | int | float | complex: ...
    def copy(self) -> Tensor: ...
    def __len__(self) -> int: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class Module:
    @property
    def source(self) -> str: ...
    def keys(self) -> list[str]: ...
    def __getitem__(self, name: str, /) -> Callable[..., Any]: ...
    def __contains__(self, name: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

@final
class Handle:
    @property
    def type(self) -> str: ...
    def __getattr__(self, name: str, /) -> Callable[..., Any]: ...
    def __copy__(self) -> Handle: ...

@final
class NumpyHandler:
    @property
    def wrong_sizes(self) -> int: ...
    def __enter__(self) -> NumpyHandler: ...
    def __exit__(self, *exception: Any) -> None: ...

class Plan(NamedTuple):
    offsets: list[int] | None
    height: int
    lower_bound: int
    outcome: Literal["optimal", "feasible", "infeasible", "unknown"]
    method: str
    steps: int
    seconds: float

class NumpyLine(NamedTuple):
    file: str
    line: int
    function: str
    live_bytes: int
    live_blocks: int
    peak_bytes: int
    allocations: int
    total_bytes: int

def asarray(x: Any, /, *, copy: bool | None = None) -> Tensor: ...
def from_dlpack(x: _HasDLPack | Any, /, *, copy: bool | None = None) -> Tensor: ...
def empty(shape: SupportsIndex | Sequence[SupportsIndex], dtype: _Element = "float32") -> Tensor: ...
def zeros(shape: SupportsIndex | Sequence[SupportsIndex], dtype: _Element = "float32") -> Tensor: ...
def heap_statistics() -> dict[str, int]: ...
def heap_trim() -> None: ...
def numpy_handler(*, lines: bool = False, record: str | PathLike[str] | None = None) -> NumpyHandler: ...
def numpy_statistics(*, reset: bool = False) -> list[NumpyLine]: ...
def compile(
    path: str | PathLike[str],
    /,
    *,
    seed: int = 0,
    cache: str | PathLike[str] | None = None,
    command: str | PathLike[str] | None = None,
    flags: Sequence[str] = (),
) -> Module: ...
def load(path: str | PathLike[str], /, *, seed: int = 0) -> Module: ...
def plan(
    lives: Sequence[Sequence[SupportsIndex]],
    /,
    *,
    capacity: SupportsIndex = 0,
    time_limit: float = 10.0,
    step_limit: SupportsIndex = 0,
    threads: SupportsIndex = 0,
    seed: SupportsIndex = 0,
    relations: Sequence[tuple[Literal["must_share", "must_not_share", "may_share"], int, int]] = (),
) -> Plan: ...
def report(path: str | PathLike[str], /, *, command: str | PathLike[str] | None = None) -> dict[str, Any]: ...
def whatif(
    path: str | PathLike[str], /, *, limit: SupportsIndex | None = None, command: str | PathLike[str] | None = None
) -> dict[str, Any]: ...
