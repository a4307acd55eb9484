"""Runs and grids of jobs on a Ray cluster. Needs ``pip install clariq[ray]``.

>>> import clariq.ray
>>> clariq.ray.run("bm25-multi-turn", "shards/plan.json", "s3://bucket/multi.run")  # doctest: +SKIP
Result(url='s3://bucket/multi.run', made=64, found=0, nodes=4)

Where no cluster is running, Ray is started on this machine and ended again.
"""

from .._extras import extra

with extra("ray"):
    from ._files import Unreachable
    from ._jobs import Table, jobs
    from ._shards import Result, run

__all__ = ["Result", "Table", "Unreachable", "jobs", "run"]
