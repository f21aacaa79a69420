"""What goes over the real server's socket: frames of MessagePack, standard library only."""

import struct

# Lengths behind a type byte, by how many bytes they take.
LENGTHS = {1: ">B", 2: ">H", 4: ">I"}


def head(kinds, size):
    """The type byte and the length, with the shortest of the kinds (type byte, bytes of the length) that holds it."""
    for byte, width in kinds:
        if size < 1 << (8 * width):
            return bytes([byte]) + struct.pack(LENGTHS[width], size)
    raise ValueError(f"{size} is too long")


def pack_number(value):
    if 0 <= value < 128:
        return bytes([value])
    return struct.pack(">BQ", 0xCF, value) if value >= 0 else struct.pack(">Bq", 0xD3, value)


def pack(value):
    if value is None or isinstance(value, bool):
        return {None: b"\xc0", False: b"\xc2", True: b"\xc3"}[value]
    if isinstance(value, int):
        return pack_number(value)
    if isinstance(value, str):
        data = value.encode()
        short = bytes([0xA0 | len(data)]) if len(data) < 32 else None
        return (short or head(((0xD9, 1), (0xDA, 2), (0xDB, 4)), len(data))) + data
    if isinstance(value, (list, tuple)):
        return head(((0xDC, 2), (0xDD, 4)), len(value)) + b"".join(map(pack, value))
    if isinstance(value, dict):
        pairs = (pack(k) + pack(v) for k, v in value.items())
        return head(((0xDE, 2), (0xDF, 4)), len(value)) + b"".join(pairs)
    raise TypeError(type(value))


class Unpacker:
    SIMPLE = {0xC0: None, 0xC2: False, 0xC3: True}
    NUMBERS = {0xCA: ">f", 0xCB: ">d", 0xCC: ">B", 0xCD: ">H", 0xCE: ">I", 0xCF: ">Q",
               0xD0: ">b", 0xD1: ">h", 0xD2: ">i", 0xD3: ">q"}
    SIZED = {0xC4: ("bytes", 1), 0xC5: ("bytes", 2), 0xC6: ("bytes", 4), 0xD9: ("text", 1), 0xDA: ("text", 2),
             0xDB: ("text", 4), 0xDC: ("list", 2), 0xDD: ("list", 4), 0xDE: ("map", 2), 0xDF: ("map", 4)}

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, form):
        return struct.unpack(form, self.take(struct.calcsize(form)))[0]

    def sized(self, kind, count):
        if kind == "text":
            return self.take(count).decode()
        if kind == "bytes":
            return self.take(count)
        if kind == "list":
            return [self.value() for _ in range(count)]
        return {self.value(): self.value() for _ in range(count)}

    def value(self):
        byte = self.number(">B")
        if byte < 0x80:
            return byte
        if byte >= 0xE0:
            return byte - 256
        if byte < 0xC0:
            kind = "map" if byte < 0x90 else "list" if byte < 0xA0 else "text"
            return self.sized(kind, byte & (0x1F if kind == "text" else 0x0F))
        if byte in self.SIMPLE:
            return self.SIMPLE[byte]
        if byte in self.NUMBERS:
            return self.number(self.NUMBERS[byte])
        kind, width = self.SIZED[byte]
        return self.sized(kind, self.number(LENGTHS[width]))


def unpack(data):
    return Unpacker(data).value()
