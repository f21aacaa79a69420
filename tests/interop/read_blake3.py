"""BLAKE3, unkeyed, 32 bytes: hashes, and values of the parts of an input. Slow and plain; written from the function's
description alone."""

import struct

START, END, PARENT, ROOT = 1, 2, 4, 8
CHUNK = 1024
FIRST = (0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19)
ORDER = (2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8)
MIXES = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15),
         (0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))
MASK = 0xFFFFFFFF


def compress(chain, words, counter, length, flags):
    s = [*chain, *FIRST[:4], counter & MASK, counter >> 32, length, flags]
    for turn in range(7):
        for at, (a, b, c, d) in enumerate(MIXES):
            for word, left, right in ((words[2 * at], 16, 12), (words[2 * at + 1], 8, 7)):
                s[a] = (s[a] + s[b] + word) & MASK
                x = s[d] ^ s[a]
                s[d] = (x >> left | x << 32 - left) & MASK
                s[c] = (s[c] + s[d]) & MASK
                x = s[b] ^ s[c]
                s[b] = (x >> right | x << 32 - right) & MASK
        words = [words[i] for i in ORDER]
    return [s[i] ^ s[i + 8] for i in range(8)]


def chunk(raw, counter, root):
    chain = list(FIRST)
    blocks = [raw[i:i + 64] for i in range(0, len(raw), 64)] or [b""]
    for number, block in enumerate(blocks):
        flags = (START if number == 0 else 0) | ((END | root) if number == len(blocks) - 1 else 0)
        words = struct.unpack("<16I", block.ljust(64, b"\0"))
        chain = compress(chain, words, counter, len(block), flags)
    return chain


def node(raw, counter, root):
    if len(raw) <= CHUNK:
        return chunk(raw, counter, root)
    left = CHUNK
    while 2 * left < len(raw):
        left *= 2
    return compress(FIRST, node(raw[:left], counter, 0) + node(raw[left:], counter + left // CHUNK, 0), 0, 64,
                    PARENT | root)


def digest(raw):
    return struct.pack("<8I", *node(raw, 0, ROOT))


def value(raw, start):
    """Of a part that begins at byte start of the input, and is not all of it."""
    return struct.pack("<8I", *node(raw, start // CHUNK, 0))


def values(raw, size):
    """Of all parts of that size; of a single one, the digest."""
    if len(raw) <= size:
        return [digest(raw)]
    return [value(raw[at:at + size], at) for at in range(0, len(raw), size)]


def join(parts):
    """The digest, of the values of all parts."""
    level = parts
    while len(level) > 1:
        root = ROOT if len(level) == 2 else 0
        pairs = [level[i:i + 2] for i in range(0, len(level), 2)]
        level = [p[0] if len(p) == 1 else
                 struct.pack("<8I", *compress(FIRST, struct.unpack("<16I", p[0] + p[1]), 0, 64, PARENT | root))
                 for p in pairs]
    return level[0]
