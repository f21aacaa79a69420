/* sherd/digest.h - what bytes are verified by, where a format lets one choose. */
#ifndef SHERD_DIGEST_H
#define SHERD_DIGEST_H

/* SHA-256 is a chain: one thread makes it. BLAKE3 is a tree: all workers make and check it within one file, and a part
 * is checked against it without the rest. Where a format records nothing with the default, that is what it does.
 * Readers go by what each file says. */
typedef enum sherd_digest { SHERD_DIGEST_SHA256 = 0, SHERD_DIGEST_BLAKE3 = 1 } sherd_digest;

#endif
