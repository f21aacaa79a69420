/* format/ckpt/about.h - what a checkpoint says about itself: the part of the metadata that rank 0's index repeats.
 * docs/formats/checkpoint.md, "Metadata". */
#pragma once

#include "base/arena.h"
#include "codec/json.h"

#include <sherd/ckpt.h>

/* Collects members while an object is read; texts lie in the arena. */
typedef struct shd_ckpt_about_reader {
	shd_arena *arena;
	sherd_ckpt_about about;
	bool has_sharding;
	bool has_shard_count;
	uint64_t shard_count, shard_count_where;
	shd_buf extra; /* unknown members of the outer object */
} shd_ckpt_about_reader;

/* Takes the value of a member whose key was taken: a known one into about, any other one into extra. */
int shd_ckpt_about_member(shd_ckpt_about_reader *r, shd_json *j, shd_str key, sherd_error *err);
/* Moves the unknown members into about. */
int shd_ckpt_about_finish(shd_ckpt_about_reader *r, sherd_error *err);
void shd_ckpt_about_done(shd_ckpt_about_reader *r);

/* From and to the JSON object that stands in rank 0's index. */
int shd_ckpt_about_decode(shd_str text, const sherd_limits *limits, shd_arena *arena, sherd_ckpt_about *out,
                          sherd_error *err);
void shd_ckpt_about_encode(const sherd_ckpt_about *about, shd_buf *out);

/* The members in their place within the metadata; shard_count is part of sharding there, 0 leaves it out. */
void shd_ckpt_about_put_front(const sherd_ckpt_about *about, uint64_t shard_count, shd_json_writer *w);
void shd_ckpt_about_put_back(const sherd_ckpt_about *about, shd_json_writer *w);
/* The objects of the metadata that keep members which we do not know. */
typedef enum shd_ckpt_object {
	SHD_CKPT_OBJECT_TOP = 0,
	SHD_CKPT_OBJECT_SHARDING,
	SHD_CKPT_OBJECT_TRAINING,
	SHD_CKPT_OBJECT_TENSOR
} shd_ckpt_object;
/* Members as text must parse, and have no key that we write into that object ourselves: it would be there twice.
 * NULL is fine. Fails with the code given; limits may be NULL. */
int shd_ckpt_members_check(const char *members, shd_ckpt_object object, const sherd_limits *limits, sherd_status code,
                           sherd_error *err);
/* Writes members kept as text, `"key": value, ...`. */
void shd_ckpt_members_put(const char *members, shd_json_writer *w);
/* Keeps one more unknown member: takes its value. */
int shd_ckpt_members_take(shd_buf *members, shd_json *j, shd_str key, sherd_error *err);

/* Texts are UTF-8, JSON texts are objects, numbers are finite. SHERD_EINVAL names what is wrong. */
int shd_ckpt_about_check(const sherd_ckpt_about *about, sherd_error *err);
