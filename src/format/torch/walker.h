/* format/torch/walker.h - a walk through the values of a pickle, which counts what it does. */
#pragma once

#include "base/limits.h"
#include "base/map.h"
#include "format/torch/state.h"

enum { SHD_TORCH_UNSEEN = 0, SHD_TORCH_ON_THE_WAY, SHD_TORCH_NO_TENSORS, SHD_TORCH_TENSORS };

typedef struct shd_torch_walker {
	const shd_pickle *pickle;
	sherd_limits limits;
	shd_arena *arena;
	uint64_t spent, most;
	uint8_t *marks; /* of each node: are there tensors below it? */
	bool *on_path;  /* of each node: the walk is below it */
	uint32_t depth;
	bool quiet; /* inside of objects: only tensors are told */
	shd_buf name;
	SHD_VEC(sherd_tensor) tensors;
	SHD_VEC(shd_torch_view) views;
	SHD_VEC(shd_torch_storage) storages;
	SHD_VEC(sherd_value) values;
	shd_map tensor_names, storage_names, value_names;
} shd_torch_walker;

/* Counts work and memory; SHERD_ELIMIT when it is more than the pickle justifies. */
int shd_torch_spend(shd_torch_walker *w, uint64_t bytes, sherd_error *err);
__attribute__((format(printf, 4, 5))) int shd_torch_bad(shd_pickle_value v, const char *reason, sherd_error *err,
                                                        const char *fmt, ...);

/* The name of what a call or object calls, or of a global; "" when that is no global. */
const char *shd_torch_name_of(const shd_torch_walker *w, shd_pickle_value v);

/* 1 when there are tensors in the value, 0 when not. */
int shd_torch_has_tensors(shd_torch_walker *w, shd_pickle_value v, sherd_error *err);
/* 1 and what it is when the value is a tensor, 0 when it is something else. The tensor has no name yet. */
int shd_torch_rebuild(shd_torch_walker *w, shd_pickle_value v, sherd_tensor *t, shd_torch_view *out, sherd_error *err);
/* Whole numbers of a tuple, a list or a torch.Size, in the arena. */
int shd_torch_numbers(shd_torch_walker *w, shd_pickle_value v, const uint64_t **out, size_t *count, sherd_error *err);

/* The value as JSON. */
int shd_torch_put_json(shd_torch_walker *w, shd_pickle_value v, shd_buf *out, sherd_error *err);
/* The value as one with a type, whose key is filled in by others. */
int shd_torch_value_of(shd_torch_walker *w, shd_pickle_value v, sherd_value *out, sherd_error *err);
