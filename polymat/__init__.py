"""polymat: a compiler, embedded in Python, for matrix and signal pipelines on multicore CPUs.

Describe what is to be computed, compile it, call it with arrays; every name has a text, help(pm.compile):

    import numpy as np, polymat as pm
    M, K, N = (pm.Parameter(pm.Int, name) for name in ("M", "K", "N"))
    A, B = pm.Matrix(pm.Double, "A", [M, K]), pm.Matrix(pm.Double, "B", [K, N])
    pm.compile(A @ B, inputs=[A, B])(np.ones((2, 3)), np.ones((3, 4)))

compile(outputs, ...)       a callable `Compiled`: .explain() .profile() .source .save() .reference()
tune(outputs, ...)          the same in the way that measuring finds to be the quickest, for later ones, too
load(path)                  the same from what `save` wrote, without a compiler      Options(...)  choices
Matrix Vector Image Signal  inputs                       Parameter Variable Interval  sizes, indices, ranges
Function Reduction Reduce Op Case Condition Select Cast  stages by index
Sin Exp Sqrt Min Max ...    functions of expressions     einsum dot outer transpose gemm ...  algebra
fft firwin convolve stft conv2d ...  signals and images  iterate(step, start, steps=T)  a step, many times
set_num_threads threads     how many threads a call takes    PolymatError  what every error is

`A @ B` is the matrix product, and so is `A * B`, as in PolyMage; `elementwise_mul(A, B)` multiplies elements.
"""

from typing import TYPE_CHECKING

from polymat.errors import (
    ArgumentError,
    BoundsError,
    CoverageError,
    CycleError,
    DtypeError,
    InternalError,
    InvalidNameError,
    LangError,
    NameClashError,
    NoAttributeError,
    NotAffineError,
    OptionError,
    PolymatError,
    PolymatWarning,
    ShapeError,
    ToolchainError,
    UndefinedError,
)
from polymat.lang.condition import Condition
from polymat.lang.constructs import Cast, Select
from polymat.lang.conv import conv2d
from polymat.lang.conv2 import convolve2d, correlate2d
from polymat.lang.einsum import einsum
from polymat.lang.expr import Parameter, Variable
from polymat.lang.frames import frames, istft, overlap_add, stft
from polymat.lang.function import Case, Function, Image
from polymat.lang.interval import Interval
from polymat.lang.iterate import iterate
from polymat.lang.linalg import (
    dot,
    elementwise_mul,
    gemm,
    outer,
    scalar_mul,
    symm,
    syr2k,
    syrk,
    transpose,
    trmm,
)
from polymat.lang.mathfunctions import (
    I0,
    Abs,
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atan2,
    Atanh,
    Cbrt,
    Ceil,
    Clamp,
    Conj,
    Cos,
    Cosh,
    Erf,
    Exp,
    Exp2,
    Expm1,
    Floor,
    Hypot,
    Imag,
    IsNaN,
    Log,
    Log1p,
    Log2,
    Log10,
    Max,
    Min,
    Pow,
    Real,
    Round,
    Sigmoid,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
)
from polymat.lang.matrix import Matrix, Vector
from polymat.lang.padding import pad
from polymat.lang.reduction import Op, Reduce, Reduction
from polymat.lang.signal import Signal
from polymat.lang.spectra import (
    concatenate,
    convolve,
    correlate,
    fft,
    ifft,
    irfft,
    lfilter,
    resample_poly,
    rfft,
    sosfilt,
    upfirdn,
)
from polymat.lang.truths import All, Any, Count
from polymat.lang.types import (
    BFloat16,
    Bool,
    Complex,
    ComplexFloat,
    Double,
    Float,
    Half,
    Int,
    Int8,
    Long,
    Short,
    UChar,
    UInt,
    UInt16,
    UInt64,
)
from polymat.lang.whole import where
from polymat.lang.windows import firwin, get_window, kaiser, kaiser_beta
from polymat.onfirstuse import on_first_use
from polymat.options import Options
from polymat.runtime.compiled import Compiled, load
from polymat.runtime.threads import get_num_threads, set_num_threads, threads
from polymat.surface import surface_package
from polymat.userkernel import Microkernel

if TYPE_CHECKING:
    __version__: str
    from polymat.codegen.profile import Profile
    from polymat.codegen.report import Report
    from polymat.compiling import compile as compile  # not in __all__: `import *` leaves Python's own
    from polymat.search.tuning import Tuned, tune
else:
    # Imported when first used: what was saved is loaded and called without a compiler.
    __getattr__, __dir__ = on_first_use(globals())

__all__ = [
    "I0",
    "Abs",
    "Acos",
    "Acosh",
    "All",
    "Any",
    "ArgumentError",
    "Asin",
    "Asinh",
    "Atan",
    "Atan2",
    "Atanh",
    "BFloat16",
    "Bool",
    "BoundsError",
    "Case",
    "Cast",
    "Cbrt",
    "Ceil",
    "Clamp",
    "Compiled",
    "Complex",
    "ComplexFloat",
    "Condition",
    "Conj",
    "Cos",
    "Cosh",
    "Count",
    "CoverageError",
    "CycleError",
    "Double",
    "DtypeError",
    "Erf",
    "Exp",
    "Exp2",
    "Expm1",
    "Float",
    "Floor",
    "Function",
    "Half",
    "Hypot",
    "Imag",
    "Image",
    "Int",
    "Int8",
    "InternalError",
    "Interval",
    "InvalidNameError",
    "IsNaN",
    "LangError",
    "Log",
    "Log1p",
    "Log2",
    "Log10",
    "Long",
    "Matrix",
    "Max",
    "Microkernel",
    "Min",
    "NameClashError",
    "NoAttributeError",
    "NotAffineError",
    "Op",
    "OptionError",
    "Options",
    "Parameter",
    "PolymatError",
    "PolymatWarning",
    "Pow",
    "Profile",
    "Real",
    "Reduce",
    "Reduction",
    "Report",
    "Round",
    "Select",
    "ShapeError",
    "Short",
    "Sigmoid",
    "Sign",
    "Signal",
    "Sin",
    "Sinh",
    "Sqrt",
    "Tan",
    "Tanh",
    "ToolchainError",
    "Tuned",
    "UChar",
    "UInt",
    "UInt16",
    "UInt64",
    "UndefinedError",
    "Variable",
    "Vector",
    "concatenate",
    "conv2d",
    "convolve",
    "convolve2d",
    "correlate",
    "correlate2d",
    "dot",
    "einsum",
    "elementwise_mul",
    "fft",
    "firwin",
    "frames",
    "gemm",
    "get_num_threads",
    "get_window",
    "ifft",
    "irfft",
    "istft",
    "iterate",
    "kaiser",
    "kaiser_beta",
    "lfilter",
    "load",
    "outer",
    "overlap_add",
    "pad",
    "resample_poly",
    "rfft",
    "scalar_mul",
    "set_num_threads",
    "sosfilt",
    "stft",
    "symm",
    "syr2k",
    "syrk",
    "threads",
    "transpose",
    "trmm",
    "tune",
    "upfirdn",
    "where",
]

surface_package(globals(), __all__, __name__)
