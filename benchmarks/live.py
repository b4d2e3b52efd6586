#!/usr/bin/env python3
"""What viewers of the live page cost a run: nobody, good ones, and those that mean harm.

    benchmarks/live.py [--hearsay build/release/cli/hearsay] [--repeats 9] [--epochs 60] [--raise]

Viewers sit on another machine. Here that is another core: the run (one thread) and its server have core 0, the
clients core 1. Each case is measured against the same run without --live, while the same clients ask another server
on their own core: so all that differs is that the run's server has work. Pairs alternate in order. Printed are, over
repeats, median (least .. greatest):

    rounds/s        of the run, against the one without
    CPU per round   of the process that trains, likewise: what interrupts and caches cost it, and what neighbours on
                    the same chip do
    share           of its core that the run had, likewise: the product of the two; what the server took from it
    server's CPU    of the server, in percent of the run's duration: by no more can it have kept the run from its core

--raise, for root on a Linux with other guests: gives this session the highest priority among all sessions
(/proc/self/autogroup; start it with setsid). How the run and its server stand to each other stays as it is.

Needs two cores. Exits with an error if the models of any two runs differ.
"""

import argparse
import json
import multiprocessing
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

CASES = {
    "nobody": "nobody, and no `--live`: twice the same",
    "idle": "`--live`, nobody looks",
    "reading": "8 viewers that follow events",
    "silent": "16 viewers that never read",
    "pages": "the page again and again, 4 at a time",
    "slow": "500 connections, a byte per second each",
    "headers": "headers without end, 4 at a time",
    "garbage": "random bytes, 4 at a time",
}


class Viewers:
    """The acts of one viewer, who is killed in the end."""

    def __init__(self, port):
        self.port = port

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), 5.0)

    def ask(self, path, connection):
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n\r\n".encode())

    def take_all(self, connection):
        while connection.recv(65536):
            pass

    def reading(self):
        with self.connect() as connection:
            self.ask("/events", connection)
            self.take_all(connection)

    def silent(self):
        with self.connect() as connection:
            self.ask("/events", connection)
            time.sleep(600)

    def pages(self):
        with self.connect() as connection:
            self.ask("/", connection)
            self.take_all(connection)

    def headers(self):
        with self.connect() as connection:
            connection.sendall(b"GET / HTTP/1.1\r\n")
            while True:
                connection.sendall(b"A: " + b"b" * 65533)

    def garbage(self):
        with self.connect() as connection:
            connection.sendall(os.urandom(65536))
            self.take_all(connection)

    def slow(self):
        """500 connections at once, in one thread; those that are closed come back."""
        connections = []
        while True:
            while len(connections) < 500:
                connection = socket.socket()
                connection.setblocking(False)
                connection.connect_ex(("127.0.0.1", self.port))
                connections.append(connection)
            connections = [c for c in connections if self.sends(c)]
            time.sleep(1)

    def sends(self, connection):
        try:
            connection.send(b"G")
        except BlockingIOError:
            pass
        except OSError as error:
            if error.errno != 107:  # ENOTCONN: not yet
                connection.close()
                return False
        return True


def be_viewers(kind, port):
    os.sched_setaffinity(0, {1})

    def again_and_again():
        while True:
            try:
                getattr(Viewers(port), kind)()
            except OSError:
                time.sleep(0.001)

    for _ in range({"reading": 8, "silent": 16, "slow": 1}.get(kind, 4)):
        threading.Thread(target=again_and_again, daemon=True).start()
    time.sleep(600)


def cpu_seconds(pid):
    """Of a process; also of one that has ended, but nobody has waited for."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def server_of(pid):
    """The process that serves a run, or None."""
    children = open(f"/proc/{pid}/task/{pid}/children").read().split()
    return int(children[0]) if children else None


class OtherServer:
    """Of a run that has begun and never ends, on the core of the clients."""

    def __init__(self, hearsay, directory):
        subprocess.run([hearsay, "train", "--epochs", "2", "--compare", "no", "--out", directory, "--quiet"], check=True)
        os.remove(f"{directory}/summary.json")
        self.process = subprocess.Popen([hearsay, "watch", directory], stdout=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: os.sched_setaffinity(0, {1}))
        self.port = port_in(self.process.stdout.readline())


def port_in(line):
    return int(re.search(r"127\.0\.0\.1:(\d+)", line)[1])


def measure(options, kind, live, other, out):
    """One run: rounds/s, CPU seconds per round, CPU of the server over the duration, and the models' hash."""
    words = [options.hearsay, "train", "--threads", "1", "--epochs", str(options.epochs), "--compare", "no",
             "--evaluate", "100", "--out", out, "--quiet"] + (["--live"] if live else [])
    begin = time.monotonic()
    run = subprocess.Popen(words, stderr=subprocess.PIPE, text=True,
                           preexec_fn=lambda: os.sched_setaffinity(0, {0}))
    port = port_in(run.stderr.readline()) if live else other.port
    viewers = multiprocessing.Process(target=be_viewers, args=(kind, port), daemon=True)
    if kind not in ("nobody", "idle"):
        viewers.start()
    while not os.path.exists(f"{out}/summary.json") and run.poll() is None:
        time.sleep(0.02)
    duration = time.monotonic() - begin  # then the server has the core to itself
    server = cpu_seconds(server_of(run.pid)) if live else 0
    os.waitid(os.P_PID, run.pid, os.WEXITED | os.WNOWAIT)
    own = cpu_seconds(run.pid)
    if viewers.pid:
        viewers.kill()
        viewers.join()
    if run.wait() != 0:
        sys.exit(f"the run failed: {run.stderr.read()}")
    summary = json.load(open(f"{out}/summary.json"))
    return (summary["rounds"] / summary["seconds"], own / summary["rounds"], server / duration,
            summary["models_sha256"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hearsay", default="build/release/cli/hearsay")
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--epochs", type=int, default=60)
    parser.add_argument("--raise", action="store_true", dest="raised")
    options = parser.parse_args()
    if options.raised:
        with open("/proc/self/autogroup", "w", encoding="ascii") as group:
            group.write("-20")
    pairs, models = {kind: [] for kind in CASES}, set()
    with tempfile.TemporaryDirectory() as work:
        other = OtherServer(options.hearsay, f"{work}/other")
        for repeat in range(options.repeats):
            for kind in CASES:
                pair = {}
                for live in (False, True) if repeat % 2 == 0 else (True, False):
                    out = f"{work}/{repeat}-{kind}-{live}"
                    pair[live] = measure(options, kind, live and kind != "nobody", other, out)
                    models.add(pair[live][3])
                pairs[kind].append((pair[True], pair[False]))
                print(f"# {repeat} {kind}: {pair[True][0]:.1f} / {pair[False][0]:.1f} rounds/s, "
                      f"{1e3 * pair[True][1]:.3f} / {1e3 * pair[False][1]:.3f} ms CPU per round, server "
                      f"{100 * pair[True][2]:.2f} %", file=sys.stderr, flush=True)
        other.process.terminate()
        other.process.wait()
    if len(models) != 1:
        sys.exit("the models differ")

    def shown(values):
        return f"{statistics.median(values):.3f} ({min(values):.3f} .. {max(values):.3f})"

    print("| viewers | rounds/s | CPU per round | share of its core | server's CPU |\n| --- | --- | --- | --- | --- |")
    for kind, name in CASES.items():
        ratios = [shown([of(a) / of(b) for a, b in pairs[kind]])
                  for of in (lambda r: r[0], lambda r: r[1], lambda r: r[0] * r[1])]
        server = statistics.median(100 * a[2] for a, _ in pairs[kind])
        print(f"| {name} | {' | '.join(ratios)} | {'-' if kind == 'nobody' else f'{server:.2f} %'} |")


main()
