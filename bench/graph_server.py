"""Puts a graph into the real server and asks it, when bench/graph_server.c wants: graph_server.py SERVER GRAPH

GRAPH.nodes and GRAPH.edges are JSON Lines with the fields of the server's requests. Reads lines, tabs between words,

    load DATABASE       starts a server on a database that is not there, loads the graph; answers seconds
    look node|out|in    of nodes at random: themselves, edges from them, to them; answers microseconds, p50 and p99
    commit NAME FILE    replaces what belongs to FILE by NAME.nodes and NAME.edges; answers milliseconds
    close               ends the server

and answers each with one line, "failed: ..." if so. Requests are packed before the clock starts and answers are looked
into after it has stopped: it is the server that is measured, not this client."""

import collections
import contextlib
import os
import pathlib
import random
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "interop" / "rfdb"))

import graphs
from server import Refused, Server, checked, frame

PROGRAM, GRAPH = sys.argv[1:3]
BATCH = 5000  # records a request, as our own load has them
LOOKUPS = 500
COMMANDS = {"node": "getNode", "out": "getOutgoingEdges", "in": "getIncomingEdges"}


def read(path):
    return graphs.read_lines(pathlib.Path(path).read_text(encoding="utf-8"))


def batches(records):
    return (records[i:i + BATCH] for i in range(0, len(records), BATCH))


def sync(folder):
    """Every file and folder below."""
    for path, _, names in os.walk(folder):
        for name in [".", *names]:
            handle = os.open(os.path.join(path, name), os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)


class Client:
    def __init__(self, stack):
        self.stack, self.server = stack, None
        nodes, edges = read(GRAPH + ".nodes"), read(GRAPH + ".edges")
        # The quickest of the ways that its clients load: all nodes, all edges, one flush. Its bulk mode takes longer;
        # committing file by file writes a version for each.
        self.requests = [("addNodes", frame("addNodes", nodes=some)) for some in batches(nodes)]
        self.requests += [("addEdges", frame("addEdges", edges=some)) for some in batches(edges)]
        self.requests.append(("flush", frame("flush")))
        self.nodes = random.Random(1).sample(nodes, min(LOOKUPS, len(nodes)))
        self.degrees = {"out": collections.Counter(e["src"] for e in edges),
                        "in": collections.Counter(e["dst"] for e in edges)}

    def load(self, database):
        self.server = self.stack.enter_context(Server(PROGRAM, database))
        start = time.monotonic()
        for cmd, request in self.requests:
            checked(cmd, self.server.exchange(request))
        # A flush of it syncs the manifest but not the segments that it names; ours is durable when it returns.
        sync(database)
        return f"{time.monotonic() - start:.6f}"

    def look(self, what):
        requests = [frame(COMMANDS[what], id=node["id"]) for node in self.nodes]
        for request in requests:
            self.server.exchange(request)
        replies, times = [], []
        for request in requests:
            start = time.perf_counter()
            replies.append(self.server.exchange(request))
            times.append((time.perf_counter() - start) * 1e6)
        for node, reply in zip(self.nodes, replies):
            self.compare(what, node, checked(COMMANDS[what], reply))
        times.sort()
        return f"{times[len(times) // 2]:.3f} {times[len(times) * 99 // 100]:.3f}"

    def compare(self, what, node, reply):
        if what == "node":
            same = reply["node"] and graphs.record(reply["node"]) == graphs.record(node)
        else:
            same = len(reply["edges"]) == self.degrees[what][node["id"]]
        if not same:
            raise Refused(f"{COMMANDS[what]}: not what was put in")

    def commit(self, name, path):
        request = frame("commitBatch", changedFiles=[path], nodes=read(name + ".nodes"), edges=read(name + ".edges"))
        start = time.monotonic()
        reply = self.server.exchange(request)
        milliseconds = (time.monotonic() - start) * 1e3
        checked("commitBatch", reply)
        return f"{milliseconds:.6f}"

    def close(self):
        self.stack.close()
        return "closed"


def main():
    with contextlib.ExitStack() as stack:
        client = Client(stack)
        print("ready", flush=True)
        for line in sys.stdin:
            verb, *arguments = line.rstrip("\n").split("\t")
            try:
                answer = getattr(client, verb)(*arguments)
            except (OSError, Refused) as problem:
                answer = "failed: " + " ".join(str(problem).split())
            print(answer[:200], flush=True)


if __name__ == "__main__":
    main()
