"""Clients of all kinds at once, for as long as it is told: trainers, plain HTTP, and hostile ones.

Usage: mixed_load.py CLIENTS_PYTHON FUSELAGE SECONDS. Starts `FUSELAGE serve` with short time-outs, and ends it by
SIGTERM. Exit code 1 if the server did not end in order (a sanitizer's finding ends it), or if trainers were cut.
"""

import collections
import http.client
import json
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.path.insert(0, sys.argv[1])

from fuselage_env import FuselageEnv, ServerError  # noqa: E402

COUNTS = collections.Counter()
UPGRADE = (
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)


def draw_reset(dice):
    if dice.random() < 0.4:
        task = dice.choice(["task1_chain", "task4_mixed", "task5_adversarial"])
        return {"task": task, "rules": dice.choice(["seed", "seed-honest"])}
    if dice.random() < 0.5:
        return {"random": True, "curriculum_level": dice.random()}
    return {"task": dice.choice(["task1_linear", "task2_diamond", "task3_matmul"])}


def move(env, dice):
    """One move of a trainer; is the episode over?"""
    kind = dice.random()
    if kind < 0.2:
        best = env.hint()["optimal"]
        return not best or env.step(best[0]).done
    if kind < 0.3:
        clone = env.clone()
        clone.step("fuse: yes")
        clone.state()
        clone.close()
        return False
    if kind < 0.4:
        env.steps([{"tile": 64}] * 3, observations=True)
        return False
    action = {
        "fuse_with_prev": dice.random() < 0.6,
        "tile": dice.choice([32, 64, 128, 256, 7]),
        "retain": [dice.randrange(30) for _ in range(dice.randrange(4))],
    }
    return env.step(action).done


def train(url, until, dice):
    with FuselageEnv(url, timeout=30) as env:
        for _ in range(5):
            env.reset(**draw_reset(dice))
            for _ in range(12):
                try:
                    COUNTS["moves"] += 1
                    if time.time() > until or move(env, dice):
                        break
                except ServerError:
                    COUNTS["refused moves"] += 1


def ask(url, until, dice):
    connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=20)

    def call(method, path, fields=None):
        connection.request(method, path, body=None if fields is None else json.dumps(fields))
        COUNTS["HTTP requests"] += 1
        return connection.getresponse().read()

    session = json.loads(call("POST", "/reset", {"random": True, "num_ops": 20, "difficulty": "hard"}))["session_id"]
    paths = ["/", "/tasks", "/state/", "/hint/", "/metrics", "/x", "/state/..", "/openapi.json", "/web", "/mcp", "/clone/"]
    for _ in range(25):
        command = dice.choice(["{}", "fuse=yes", "[1]", '{"tile":64,"retain":[1]}'])
        call("POST", "/step/" + session, {"command": command})
        path = dice.choice(paths)
        fields = dice.choice([None, {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}])
        call(dice.choice(["GET", "POST", "DELETE", "PUT"]), path + (session if path.count("/") == 2 else ""), fields)
    connection.close()


def annoy(url, until, dice):
    host, port = url.removeprefix("http://").split(":")
    bait = socket.create_connection((host, int(port)), timeout=5)
    kind = dice.randrange(5)
    if kind == 0:
        bait.send(b"GET / HTTP/1.1\r\nHo")
        time.sleep(dice.random())
    elif kind == 1:
        bait.send(dice.randbytes(500))
    elif kind == 2:
        bait.send(b"POST /reset HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n" + b"x" * 1000)
    else:
        bait.send(UPGRADE)
        bait.recv(1000)
        messages = [b'{"type":"reset"}', b'{"type":"steps","commands":[]}', b'{"type":"reset","graph":' + b"[" * 50,
                    b'{"type":"step","session":-1}', b"\xff" * 20]
        message = dice.choice(messages)
        bait.send(b"\x81" + bytes([0x80 | len(message)]) + bytes(4) + message if kind == 3 else dice.randbytes(300))
        bait.recv(3000)
    if dice.random() < 0.5:  # a reset instead of a proper end
        bait.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    bait.close()
    COUNTS["hostile connections"] += 1


def repeat(client, url, until, seed):
    dice = random.Random(seed)
    while time.time() < until:
        try:
            client(url, until, dice)
        except Exception as error:  # the hostile are cut, which is as it should be
            COUNTS[f"{client.__name__}: {type(error).__name__}"] += 1


def main():
    limits = ["--threads", "2", "--request-time", "2", "--ping", "5", "--idle", "20"]
    command = [sys.argv[2], "serve", "--port", "0", "--oracle", *limits]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    url = "http://127.0.0.1:" + server.stdout.readline().rsplit(":", 1)[1].strip()
    until = time.time() + float(sys.argv[3])
    clients = [train] * 3 + [ask] * 2 + [annoy] * 2
    threads = [threading.Thread(target=repeat, args=(c, url, until, i)) for i, c in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    alive = server.poll() is None
    server.send_signal(signal.SIGTERM)
    code = server.wait(timeout=60)
    print(", ".join(f"{name} {count:,}" for name, count in sorted(COUNTS.items())))
    cut = sum(count for name, count in COUNTS.items() if name.startswith(("train:", "ask:")))
    print(f"the server {'ended' if alive else 'broke down'} with {code}; {cut} good clients cut")
    sys.exit(0 if alive and code == 0 and cut == 0 else 1)


main()
