"""The real server as a child process, asked over its socket."""

import pathlib
import socket
import struct
import subprocess
import tempfile
import time

import wire


class Refused(Exception):
    pass


TIMEOUT = 120  # seconds without a byte from the server, or to it


def frame(cmd, **fields):
    """A request as it goes over the socket."""
    data = wire.pack({"requestId": "r", "cmd": cmd, **fields})
    return struct.pack(">I", len(data)) + data


def checked(cmd, data):
    """What a reply to the command says, unless that is an error."""
    reply = wire.unpack(data)
    if "error" in reply:
        raise Refused(f"{cmd}: {reply['error']}")
    return reply


class Server:
    """Has one database open until the end of the with-block, then ends as its operator would end it."""

    def __init__(self, program, database):
        self.folder = tempfile.TemporaryDirectory(prefix="rfdb-")
        path = str(pathlib.Path(self.folder.name) / "socket")
        self.log = open(pathlib.Path(self.folder.name) / "log", "w+b")
        # Whatever ends this process ends the server.
        command = ["setpriv", "--pdeathsig", "KILL", program, str(database), "--socket", path, "--no-ui"]
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        self.socket = self.connect(path)

    def connect(self, path):
        for _ in range(600):
            link = socket.socket(socket.AF_UNIX)
            try:
                link.connect(path)
                link.settimeout(TIMEOUT)
                return link
            except OSError:
                link.close()
            if self.child.poll() is not None:
                break
            time.sleep(0.05)
        self.child.kill()
        self.child.wait()
        self.log.seek(0)
        raise Refused(f"the server does not answer: {self.log.read().decode(errors='replace')[-2000:]}")

    def receive(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise Refused("the server hung up")
            data += part
        return data

    def reply(self):
        """The next one, packed."""
        try:
            return self.receive(struct.unpack(">I", self.receive(4))[0])
        except OSError as problem:
            raise Refused(f"no reply: {problem}") from problem

    def exchange(self, request):
        """A frame for a reply, packed."""
        try:
            self.socket.sendall(request)
        except OSError as problem:
            raise Refused(f"the server takes nothing: {problem}") from problem
        return self.reply()

    def ask(self, cmd, **fields):
        return checked(cmd, self.exchange(frame(cmd, **fields)))

    def query(self, **wanted):
        """Every node that matches; long answers come in pieces."""
        reply = self.ask("queryNodes", query=wanted)
        nodes = list(reply["nodes"])
        while reply.get("done") is False:
            reply = checked("queryNodes", self.reply())
            nodes += reply["nodes"]
        return nodes

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.child.terminate()
        try:
            self.child.wait(30)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.log.close()
        self.folder.cleanup()
