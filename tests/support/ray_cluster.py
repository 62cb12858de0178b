"""Tasks on a Ray cluster of two nodes, one of which is lost while both are at work. Prints what the engine said."""

import json
import os
import sys
from pathlib import Path

import engine_tasks
import tiny_study

from blindsave.engine import Task, open_engine

if __name__ == "__main__":
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    from ray.cluster_utils import Cluster

    site = tiny_study.site(Path(sys.argv[1]))
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    second = cluster.add_node(num_cpus=1)
    heard, lost = [], []

    def listen(event) -> None:
        heard.append(event.what)
        if not lost and len(list(site.work.glob("waiting-*"))) == 2:
            lost.append(second)
            cluster.remove_node(second, allow_graceful=False)
        if event.what == "fault":
            (site.work / "go").touch()

    with open_engine("ray", address=cluster.address) as engine:
        tasks = [Task(name, engine_tasks.wait, {"name": name}) for name in ("a", "b")]
        found = engine.run(site, tasks, listen)
        again = engine.run(site, [Task("sum", engine_tasks.add, {"a": 1, "b": 2})], listen)
    cluster.shutdown()
    names = [output.result["name"] for output in found]
    print(json.dumps({"names": names, "sum": again[0].result["sum"], "faults": heard.count("fault")}))
