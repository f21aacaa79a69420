/* engine/model/model.h - what a format gives so that its files can be opened as models.
 *
 * A format embeds sherd_model as the first member of its own struct, makes it with shd_model_new(), fills in graph,
 * arrays and pairs, and ends with shd_model_finish(). */
#pragma once

#include "base/arena.h"
#include "base/error.h"
#include "base/map.h"
#include "engine/tensors/evidence.h"

#include <sherd/model.h>

/* Index and range were checked; len is not 0. All must be safe to call from several threads at once. */
typedef struct shd_model_ops {
	int (*read)(const sherd_model *, size_t array, uint64_t offset, void *buf, size_t len, sherd_error *err);
	/* The same bytes with the first dimension varying fastest, where they are stored so; NULL, or
	 * SHERD_EUNSUPPORTED, where they are not. */
	int (*read_fortran)(const sherd_model *, size_t array, uint64_t offset, void *buf, size_t len,
	                    sherd_error *err);
	/* All bytes of an array that has some, wherever they lie. */
	int (*map)(const void **out, const sherd_model *, size_t array, sherd_error *err);
	/* Frees what the embedding struct owns outside the arena, also when it is half-built; NULL: nothing. */
	void (*close)(sherd_model *);
} shd_model_ops;

struct sherd_model {
	const shd_model_ops *ops;
	sherd_format format;
	shd_arena arena; /* everything below, and what the format keeps */
	sherd_model_graph graph;
	size_t array_count;
	const sherd_tensor *arrays; /* with the names that the bundle gives them */
	size_t pair_count;
	const sherd_pair *pairs;
	const char *place; /* what a save has to name to replace it: its key, or the base of its files; NULL: none */
	uint32_t files;    /* how many it is in; 0: one */
	bool stream;      /* arrays are had without going back only in order, by one thread: they are packed together */
	sherd_pool *pool; /* lent for reading; or NULL */
	shd_map names;    /* of variables to their indices */
	const char
		*missing; /* names of variables and constants whose arrays should lie somewhere and do not; or NULL */
	const char *missing_at; /* where the first of them should */
	uint64_t checked;       /* bytes that opening looked at: all but the elements of arrays */
};

SHD_AUTO_DEFINE(sherd_model, sherd_model_close)

/* A zeroed struct of size bytes, which begins with a sherd_model; sherd_model_close() frees it. */
int shd_model_new(sherd_model **out, size_t size, const shd_model_ops *ops, sherd_format format, sherd_error *err);
/* Takes the names of the variables, of which no two are alike. */
int shd_model_finish(sherd_model *model, sherd_error *err);

/* Calls visit() for the index of each array that the graph and the graphs inside of it name, in the order of
 * docs/formats/samediff-legacy.md, Names. The index may be changed where the graph may be. */
typedef int shd_model_visit_fn(size_t *array, void *arg, sherd_error *err);
int shd_model_visit_arrays(const sherd_model_graph *graph, shd_model_visit_fn *visit, void *arg, sherd_error *err);

/* Gives the arrays that belong to no variable names that no variable has (docs/formats/samediff-legacy.md, Names).
 * SHERD_ELIMIT, "too-large", when these take more than `most` bytes together; 0: sixteen times what their owners are
 * called, and a little for each array. */
int shd_model_name_arrays(const sherd_model_graph *graph, sherd_tensor *arrays, size_t count, uint64_t most,
                          shd_arena *arena, sherd_error *err);

/* One opener for each format, called when detection has chosen it. */
typedef int shd_model_open_fn(sherd_model **out, shd_evidence *e, const sherd_limits *limits, sherd_error *err);
shd_model_open_fn shd_model_open_samediff;
shd_model_open_fn shd_model_open_container;
shd_model_open_fn shd_model_open_sdnb;
shd_model_open_fn shd_model_open_sdz;
