"""Plays episodes with clients/python against the server at argv[1], which runs with --oracle."""

import json
import sys

sys.path.insert(0, sys.argv[2])  # clients/python

from fuselage_env import Action, FuselageEnv, SchedulerEnv, ServerError  # noqa: E402

url = sys.argv[1]

with FuselageEnv(url) as env:
    result = env.reset(task="task4_mixed")
    assert json.loads(result.observation)["step"] == 0
    steps = 0
    while not result.done:
        result = env.step(env.hint()["optimal"][0])
        steps += 1
    assert steps == 24, steps
    assert abs(result.score - 0.809) < 5e-4, result.score
    assert env.state()["step_count"] == 24

    drawn = dict(random=True, num_ops=12, difficulty="hard", seed=7)
    assert env.reset(**drawn).observation == env.reset(**drawn).observation
    env.step("fuse: yes, tile = 64")
    copy = env.clone()
    assert copy.step(Action(tile=32)) == env.step({"tile": 32})
    copy.step(Action(tile=32))
    assert env.state()["step_count"] == 2 and copy.state()["step_count"] == 3
    copy.close()
    replies = env.steps([Action(), Action()])
    assert len(replies) == 2 and "text" in replies[1]["observation"]
    assert env.reset(task="task3_matmul").observation  # the grid family
    for fields, code in (({"task": "none"}, "VALIDATION_ERROR"), ({"graph": {"nodes": []}}, "VALIDATION_ERROR")):
        try:
            env.reset(**fields)
        except ServerError as error:
            assert error.code == code, error
        else:
            raise AssertionError(fields)

# As a trainer uses it.
SchedulerEnv.base_url = url
rollout = SchedulerEnv()
assert json.loads(rollout.reset(prompt="ignored", task="task1_chain"))["step"] == 0
text = ""
while not rollout.done:
    text = rollout.schedule(True, 128, [])
assert "0.0845" in text and abs(rollout.score - 0.0845) < 1e-4, text
assert rollout.schedule.__doc__ and "Args:" in rollout.schedule.__doc__

# A row of `fuselage oracle --format grpo` rebuilds its state.
with open(sys.argv[3], encoding="utf-8") as rows:
    for line in rows:
        row = json.loads(line)
        assert rollout.reset(**row) == row["prompt"][-1]["content"], row["id"]
print("well")
