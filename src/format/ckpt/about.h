/* format/ckpt/about.h - what a checkpoint says about itself: the part of the metadata that rank 0's index repeats.
 * docs/formats/checkpoint.md, "Metadata". */
#ifndef SHERD_FORMAT_CKPT_ABOUT_H
#define SHERD_FORMAT_CKPT_ABOUT_H

#include "base/arena.h"
#include "codec/json.h"

#include <sherd/ckpt.h>

/* Collects members while an object is read; texts lie in the arena. */
typedef struct sherd_ckpt_about_reader {
	sherd_arena *arena;
	sherd_ckpt_about about;
	bool has_sharding;
	bool has_shard_count;
	uint64_t shard_count, shard_count_where;
	sherd_buf extra; /* unknown members of the outer object */
} sherd_ckpt_about_reader;

/* Takes the value of a member whose key was taken: a known one into about, any other one into extra. */
int sherd_ckpt_about_member(sherd_ckpt_about_reader *r, sherd_json *j, sherd_str key, sherd_error *err);
/* Moves the unknown members into about. */
int sherd_ckpt_about_finish(sherd_ckpt_about_reader *r, sherd_error *err);
void sherd_ckpt_about_done(sherd_ckpt_about_reader *r);

/* From and to the JSON object that stands in rank 0's index. */
int sherd_ckpt_about_decode(sherd_str text, const sherd_limits *limits, sherd_arena *arena, sherd_ckpt_about *out,
                            sherd_error *err);
void sherd_ckpt_about_encode(const sherd_ckpt_about *about, sherd_buf *out);

/* The members in their place within the metadata; shard_count is part of sharding there, 0 leaves it out. */
void sherd_ckpt_about_put_front(const sherd_ckpt_about *about, uint64_t shard_count, sherd_json_writer *w);
void sherd_ckpt_about_put_back(const sherd_ckpt_about *about, sherd_json_writer *w);
/* The objects of the metadata that keep members which we do not know. */
typedef enum sherd_ckpt_object {
	SHERD_CKPT_OBJECT_TOP = 0,
	SHERD_CKPT_OBJECT_SHARDING,
	SHERD_CKPT_OBJECT_TRAINING,
	SHERD_CKPT_OBJECT_TENSOR
} sherd_ckpt_object;
/* Members as text must parse, and have no key that we write into that object ourselves: it would be there twice.
 * NULL is fine. Fails with the code given; limits may be NULL. */
int sherd_ckpt_members_check(const char *members, sherd_ckpt_object object, const sherd_limits *limits,
                             sherd_status code, sherd_error *err);
/* Writes members kept as text, `"key": value, ...`. */
void sherd_ckpt_members_put(const char *members, sherd_json_writer *w);
/* Keeps one more unknown member: takes its value. */
int sherd_ckpt_members_take(sherd_buf *members, sherd_json *j, sherd_str key, sherd_error *err);

/* Texts are UTF-8, JSON texts are objects, numbers are finite. SHERD_EINVAL names what is wrong. */
int sherd_ckpt_about_check(const sherd_ckpt_about *about, sherd_error *err);

#endif
