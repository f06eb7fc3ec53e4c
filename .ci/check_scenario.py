"""A run of a scenario, as JSON: whole, and its sums agree."""

import json
import sys

for path in sys.argv[1:]:
    with open(path) as file:
        run = json.load(file)
    metrics = run["metrics"]
    assert run["schema"] == "joulecast.scenario_run/1", path
    assert not run["incomplete"], (path, run["ending"])
    assert metrics["identity_residual"] < 1e-9, (path, metrics["identity_residual"])
    assert metrics["inferences"] > 0 and metrics["energy_j"] > 0, path
    low, high = metrics["energy_j_interval90"]
    assert low < metrics["energy_j"] < high, path
    for domain in run["domains"]:
        assert abs(sum(domain["residency"].values()) - 1) < 1e-9, (path, domain)
    print(f'{run["scenario"]}: {metrics["energy_j"]:.4g} J, {metrics["events"]} events')
