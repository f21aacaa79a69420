#!/usr/bin/env python3
"""Takes TLS off before a server on the loopback: tls.py FOLDER http://127.0.0.1:PORT

Makes an authority (FOLDER/ca.pem) and a certificate of it for localhost, prints the port that it listens on, and passes
bytes on until it is killed."""
import os
import socket
import ssl
import subprocess
import sys
import threading

folder, endpoint = sys.argv[1:]
server = ("127.0.0.1", int(endpoint.rsplit(":", 1)[1]))


def openssl(*words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
openssl("req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=Sherd tests", "-days", "2")
openssl("req", *key, "-keyout", "host.key", "-out", "host.csr", "-subj", "/CN=localhost")
with open(os.path.join(folder, "host.ext"), "w", encoding="ascii") as f:
    f.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
openssl("x509", "-req", "-in", "host.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out", "host.pem",
        "-days", "2", "-extfile", "host.ext")
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(os.path.join(folder, "host.pem"), os.path.join(folder, "host.key"))


def pump(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(plain):
    try:
        near = context.wrap_socket(plain, server_side=True)
    except (ssl.SSLError, OSError):
        return
    far = socket.create_connection(server)
    threading.Thread(target=pump, args=(far, near), daemon=True).start()
    pump(near, far)


listening = socket.socket()
listening.bind(("127.0.0.1", 0))
listening.listen(64)
print(listening.getsockname()[1], flush=True)
os.close(1)
while True:
    threading.Thread(target=serve, args=(listening.accept()[0],), daemon=True).start()
