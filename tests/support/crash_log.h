/* tests/support/crash_log.h - the log between crash_sys.c, which writes it, and crash_states.c, which replays it. */
#pragma once

#include "support/crash_sys.h"

#include <pthread.h>

/* A file or folder. Held open for as long as the log lives, so that its inode number is not given away again. */
typedef struct crash_node {
	dev_t dev;
	ino_t ino;
	bool folder;
	int held;
	uint8_t *bytes; /* what was in it at the beginning */
	size_t size;
} crash_node;

typedef enum crash_kind { CRASH_WRITE, CRASH_LINK, CRASH_UNLINK, CRASH_RENAME, CRASH_SYNC } crash_kind;

typedef struct crash_op {
	crash_kind kind;
	size_t where;    /* the node that a sync makes this durable of: the file written, the folder changed */
	size_t node;     /* what a name points to */
	char from[256];  /* RENAME only */
	char name[256];  /* LINK, UNLINK, RENAME: the name that is made or goes */
	uint64_t offset; /* WRITE */
	size_t len;
	uint8_t *bytes;
	char text[320];
} crash_op;

struct crash_sys {
	shd_sys sys; /* first */
	const shd_sys *below;
	pthread_mutex_t mutex;
	bool drop_file_syncs, drop_folder_syncs;
	crash_node *nodes; /* 0 is the folder itself */
	size_t node_count;
	crash_op *ops; /* the first `initial` ones are the names that stood there at the beginning */
	size_t op_count, initial;
};
