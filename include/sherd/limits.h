/* sherd/limits.h - how much a file from outside may ask for.
 *
 * A zero field means its default. Whatever the limit, nothing is allocated that
 * the object's own size does not justify. */
#ifndef SHERD_LIMITS_H
#define SHERD_LIMITS_H

#include <sherd/export.h>

#include <stdint.h>

SHERD_BEGIN_DECLS

typedef struct sherd_limits {
	uint64_t metadata_bytes; /* one JSON document or index; default 512 MiB */
	uint32_t depth;          /* nesting of JSON; default 64 */
	uint32_t number_bytes;   /* text of one number; default 64 */
	uint32_t name_bytes;     /* one tensor's name; default 64 KiB */
	uint32_t dims;           /* dimensions of one tensor; default and maximum 32 */
	uint32_t shards;         /* shards of one set; default 1,048,576 */
} sherd_limits;

#define SHERD_MAX_DIMS 32

SHERD_END_DECLS

#endif
