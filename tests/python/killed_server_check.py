"""A server that is killed and started again: argv is the command and clients/python."""

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request

sys.path.insert(0, sys.argv[2])

from fuselage_env import FuselageEnv  # noqa: E402


def start(port):
    server = subprocess.Popen([sys.argv[1], "serve", "--port", str(port)], stdout=subprocess.PIPE, text=True)
    return server, int(server.stdout.readline().rsplit(":", 1)[1])


def post(port, path, fields):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", json.dumps(fields).encode())
    with urllib.request.urlopen(request, timeout=10) as reply:
        return json.load(reply)


server, port = start(0)
env = FuselageEnv(f"http://127.0.0.1:{port}", timeout=10)
env.reset(task="task4_mixed")
session = post(port, "/reset", {"task": "task4_mixed"})["session_id"]
server.send_signal(signal.SIGKILL)
server.wait()

try:
    env.step({"tile": 64})
except Exception as error:  # the client's library says that the connection is closed
    assert "close" in str(error).lower(), error
else:
    raise AssertionError("a step of a dead server")

again, port = start(port)
with FuselageEnv(f"http://127.0.0.1:{port}", timeout=10) as other:
    assert not other.reset(task="task4_mixed").done
try:
    post(port, "/step/" + session, {"command": "{}"})
except urllib.error.HTTPError as error:
    assert error.code == 404, error
else:
    raise AssertionError("a session outlived its server")
again.send_signal(signal.SIGTERM)
assert again.wait(10) == 0
print("well")
