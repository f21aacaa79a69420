/* engine/torch/view.h - the bytes of a tensor that is a view of a storage. */
#pragma once

#include "engine/tensors/bundle.h"
#include "engine/tensors/report.h"
#include "format/torch/state.h"

#include <sherd/store.h>

/* Where a storage lies. */
typedef struct shd_torch_place {
	const sherd_reader *reader;
	uint64_t at;
	bool big; /* in big-endian order */
} shd_torch_place;

/* Fills buf with bytes of the tensor, in C order, little-endian; the range was checked. */
int shd_torch_view_read(const shd_torch_view *view, uint32_t ndim, const shd_torch_place *place, uint64_t offset,
                        void *buf, size_t len, sherd_error *err);
/* Do its bytes lie in the file as they are handed out? */
bool shd_torch_view_is_plain(const shd_torch_view *view, bool big);

/* Makes tensors, pairs and globals of a bundle from what a pickle holds; ending: of the file's name, for a tensor that
 * has no name. What is dangerous stands first among the globals. */
int shd_torch_fill_bundle(sherd_bundle *bundle, const shd_pickle *pickle, const shd_torch_state *state, const char *key,
                          sherd_error *err);
/* Values as the pairs of a bundle. */
int shd_torch_fill_pairs(sherd_bundle *bundle, const sherd_value *values, size_t count, sherd_error *err);
/* What loading it with Python would do, for who is about to: a warning for each dangerous global. */
int shd_torch_warn_globals(sherd_report *r, const sherd_bundle *bundle, const char *key, sherd_error *err);
int shd_torch_fill_globals(sherd_bundle *bundle, const shd_pickle *pickle, sherd_error *err);
