"""A compiled pipeline over an array that is larger than memory wants to hold: dask's blocks, in processes.

Compiled pipelines pickle, so dask sends this one to its workers, each of which opens it once.  Blocks share
as many rows and columns with their neighbours as the stencil reads beside a point; dask cuts them off the
results.  The workers are the parallelism: the pipeline itself uses one thread.
Needs dask and distributed: pip install "dask[array,distributed]".
"""

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

import polymat as pm
from polymat import Condition, Double, Function, Image, Int, Interval, Options, Parameter, Variable

REACH = 2  # points beside one that its result depends on: two passes that each read one


def smoothing() -> pm.Compiled[np.ndarray, pm.Report]:
    """Two passes of a five-point mean; beside the border the image goes on as it ends."""
    H, W = Parameter(Int, "H"), Parameter(Int, "W")
    y, x = Variable(Int, "y"), Variable(Int, "x")
    image = Image(Double, "image", [H, W])
    values: Image | Function = image
    for name in ("once", "twice"):
        wide = pm.pad(values, 1, mode="edge")
        mean = Function(([y, x], [Interval(Int, 0, H - 1), Interval(Int, 0, W - 1)]), Double, name)
        near = wide(y, x + 1) + wide(y + 2, x + 1) + wide(y + 1, x) + wide(y + 1, x + 2)
        mean.defn = [0.2 * (wide(y + 1, x + 1) + near)]
        values = mean
    there = [Condition(H, ">=", 1), Condition(W, ">=", 1)]  # an edge to go on from
    return pm.compile(mean, name="smooth", inputs=[image], constraints=there, options=Options(threads=1))


def main() -> None:
    smooth = smoothing()
    whole = np.random.default_rng(0).standard_normal((1200, 900))
    blocks = da.from_array(whole, chunks=(400, 300))
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster):
        result = da.map_overlap(smooth, blocks, depth=REACH, boundary="none", dtype=whole.dtype).compute()
    difference = np.abs(result - smooth(whole)).max()
    print(f"{blocks.npartitions} blocks in 2 processes, largest difference to the whole: {difference:.1e}")
    assert difference == 0.0


if __name__ == "__main__":  # the workers import this file
    main()
