"""A client of `fuselage serve`: episodes of scheduling tensor graphs, over one WebSocket.

    from fuselage_env import Action, FuselageEnv

    with FuselageEnv("http://127.0.0.1:7860") as env:
        result = env.reset(task="task4_mixed")
        while not result.done:
            result = env.step(Action(fuse_with_prev=True, tile=128))
        print(result.score)

It speaks OpenEnv's protocol and needs nothing but `websockets` (Debian: python3-websockets). `SchedulerEnv` is
the same as a class that TRL's trainers take for an environment: `environment_factory=SchedulerEnv`.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import threading
import urllib.parse
from typing import Any, Dict, List, Optional, Sequence, Union

import websockets

__all__ = ["Action", "FuselageEnv", "SchedulerEnv", "ServerError", "StepResult"]


class ServerError(RuntimeError):
    """What the server refused: its message, and `code`, one of OpenEnv's (VALIDATION_ERROR, ...)."""

    def __init__(self, message: str, code: str = ""):
        super().__init__(f"{code}: {message}" if code else message)
        self.code = code


@dataclasses.dataclass
class Action:
    """One decision about the current node of a walk episode."""

    fuse_with_prev: bool = False
    tile: int = 128
    retain: Sequence[int] = ()


@dataclasses.dataclass
class StepResult:
    """What came of a reset or a step."""

    observation: str  # the environment's text
    reward: float
    done: bool
    info: Dict[str, Any] = dataclasses.field(default_factory=dict)
    score: Optional[float] = None  # at the end of an episode


ActionLike = Union[Action, Dict[str, Any], str]


def _action_fields(action: ActionLike) -> Dict[str, Any]:
    if isinstance(action, str):
        return {"command": action}
    if isinstance(action, Action):
        return {"fuse_with_prev": action.fuse_with_prev, "tile": action.tile, "retain": list(action.retain)}
    return dict(action)


def _result(data: Dict[str, Any]) -> StepResult:
    metadata = data.get("metadata") or {}
    return StepResult(
        observation=data["observation"]["text"],
        reward=data["reward"],
        done=data["done"],
        info=metadata.get("info", metadata),
        score=metadata.get("score"),
    )


class _Connection:
    """A WebSocket with a thread of its own, so that it also works where an event loop runs already."""

    def __init__(self, url: str, token: Optional[str], timeout: float):
        self._timeout = timeout
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._lock = threading.Lock()
        try:
            self._socket = self._run(self._connect(url, token))
        except BaseException:
            self._stop()
            raise

    async def _connect(self, url: str, token: Optional[str]):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        # Replies are as large as graphs are; the server pings by itself.
        options = dict(max_size=None, ping_interval=None, compression=None)
        try:
            return await websockets.connect(url, extra_headers=headers, **options)
        except TypeError:  # websockets 14 and later
            return await websockets.connect(url, additional_headers=headers, **options)

    def _run(self, coroutine):
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result(self._timeout)
        except BaseException:
            future.cancel()  # an answer that comes late would be taken for the next one: close the connection
            raise

    def ask(self, message: Dict[str, Any]) -> Dict[str, Any]:
        async def exchange() -> str:
            await self._socket.send(json.dumps(message))
            return await self._socket.recv()

        with self._lock:
            reply = json.loads(self._run(exchange()))
        data = reply.get("data", {})
        if reply.get("type") == "error":
            raise ServerError(data.get("message", "unknown error"), data.get("code", ""))
        return data

    def close(self) -> None:
        if self._loop.is_closed():
            return
        try:
            self._run(self._socket.close())
        finally:
            self._stop()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class FuselageEnv:
    """Episodes on a server. Not for several threads at once; `clone()` and more clients are for that."""

    def __init__(self, base_url: str = "http://127.0.0.1:7860", token: Optional[str] = None, timeout: float = 60.0):
        """Connects. `timeout` is of one request, in seconds."""
        parts = urllib.parse.urlsplit(base_url if "//" in base_url else f"http://{base_url}")
        scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
        url = f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}/ws?dialect=openenv"
        self._connection: _Connection = _Connection(url, token, timeout)
        self._session = 0

    def _ask(self, kind: str, data: Optional[Dict[str, Any]] = None) -> Dict[str, Any]:
        message: Dict[str, Any] = {"type": kind}
        if data is not None:
            message["data"] = data
        if self._session:
            message["session"] = self._session
        return self._connection.ask(message)

    def reset(self, **fields: Any) -> StepResult:
        """Begins an episode: task="task4_mixed"; or random=True with curriculum_level, or num_ops and difficulty,
        and seed; or graph={...}; with rules, max_steps, family, lookahead, retention_cost if wanted."""
        return _result(self._ask("reset", fields))

    def step(self, action: ActionLike) -> StepResult:
        """An Action, its fields as a dict, or the text of a model."""
        return _result(self._ask("step", _action_fields(action)))

    def steps(self, actions: Sequence[ActionLike], observations: bool = False) -> List[Dict[str, Any]]:
        """Several actions in one message: the replies, each with reward and done, and the last (or with
        `observations` every) one with the observation."""
        data = {"actions": [_action_fields(a) for a in actions], "observations": observations}
        return self._ask("steps", data)["results"]

    def state(self) -> Dict[str, Any]:
        """episode_id, step_count, and the whole state of the episode."""
        return self._ask("state")

    def hint(self) -> Dict[str, Any]:
        """Optimal actions and the value of every action, from a server that runs with --oracle."""
        return self._ask("hint")

    def clone(self) -> "FuselageEnv":
        """Another episode that goes on from where this one is; it shares the connection."""
        copy = object.__new__(FuselageEnv)
        copy._session = self._ask("clone")["session"]
        copy._connection = self._connection
        return copy

    def close(self) -> None:
        """Frees a clone; of the first environment, ends the connection."""
        if self._session:
            self._ask("close")
        else:
            self._connection.close()

    def __enter__(self) -> "FuselageEnv":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class SchedulerEnv:
    """One rollout of a trainer: `reset` is called with the columns of a row of the data set (those that a
    reset understands are used: task, seed, rules, graph_json, played, ...), `schedule` is a tool of the model. Of walk graphs only.
    Where the server is, and the token, are class attributes, to be set before training."""

    base_url = "http://127.0.0.1:7860"
    token: Optional[str] = None

    _reset_fields = ("task", "random", "curriculum_level", "num_ops", "difficulty", "family", "rules", "graph",
                     "max_steps", "lookahead", "retention_cost")

    def __init__(self) -> None:
        self._env: Optional[FuselageEnv] = None
        self.reward = 0.0  # sum of the rewards of the episode
        self.score: Optional[float] = None  # the environment's, at the end
        self.done = False

    def reset(self, **columns: Any) -> str:
        if self._env is None:
            self._env = FuselageEnv(self.base_url, self.token)
        fields = {key: columns[key] for key in self._reset_fields if columns.get(key) is not None}
        if columns.get("graph_json"):
            fields["graph"] = json.loads(columns["graph_json"])
            fields["graph"].pop("name", None)
        elif "task" not in fields and "seed" in columns:
            fields.update(random=True, seed=columns["seed"])
        self.reward, self.score, self.done = 0.0, None, False
        result = self._env.reset(**fields)
        for command in json.loads(columns.get("played") or "[]"):
            result = self._env.step(command)
        return result.observation

    def schedule(self, fuse_with_prev: bool, tile: int, retain: List[int]) -> str:
        """Decide how the current node of the graph runs.

        Args:
            fuse_with_prev: Whether the node joins the kernel that is open.
            tile: Tile size of the kernel: 32, 64, 128 or 256.
            retain: Ids of tensors to keep in fast memory when the kernel ends.

        Returns:
            The next observation, or how the episode ended.
        """
        if self._env is None:
            raise ValueError("schedule before reset")
        if self.done:
            raise ValueError("The episode is over.")
        result = self._env.step({"fuse_with_prev": fuse_with_prev, "tile": tile, "retain": retain})
        self.reward += result.reward
        self.done = result.done
        if not result.done:
            return result.observation
        self.score = result.score
        return f"The episode is over; its score is {result.score:.4f}."

    def close(self) -> None:
        """Ends the connection."""
        if self._env is not None:
            self._env.close()
            self._env = None
