#include "engine/model/samediff.h"

#include "base/buf.h"
#include "engine/model/nd4j.h"

#include <stdlib.h>

#define FOLDER "_external/"
#define SUFFIX ".bin"

/* Could the variable have an array that the file does not hold? Those that operations make never do. */
static bool is_wanting(const sherd_model_variable *v)
{
	return v->array == SHERD_NO_ARRAY && v->kind != SHERD_VARIABLE_ARRAY && v->kind != SHERD_VARIABLE_SEQUENCE;
}

/* <key without its last extension>_external/ */
static void put_folder(shd_buf *out, const char *key)
{
	const char *name = shd_str_leaf(key), *dot = strrchr(name, '.');
	shd_buf_append(out, key, dot && dot > name ? (size_t)(dot - key) : strlen(key));
	shd_buf_str(out, FOLDER);
}

/* What lies in the folder: the names of variables. */
typedef struct search {
	size_t prefix;
	shd_arena *arena;
	shd_map found;
	bool failed;
} search;

static bool outside_see(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	search *s = arg;
	shd_str name = shd_str_of(key + s->prefix);
	if (!shd_str_ends(name, SUFFIX))
		return true;
	name.len -= strlen(SUFFIX);
	const char *copy = shd_arena_str(s->arena, name);
	bool ok = copy != NULL;
	if (ok)
		(void)shd_map_add(&s->found, shd_str_of(copy), 0, &ok);
	s->failed = !ok;
	return ok;
}

static int open_one(shd_samediff_model *m, sherd_store *store, shd_buf *folder, const char *name,
                    const sherd_limits *limits, shd_nd4j_array *array, sherd_error *err)
{
	size_t len = folder->len;
	shd_buf_str(folder, name);
	shd_buf_append(folder, SUFFIX, sizeof(SUFFIX));
	TRY(shd_buf_check(folder, err));
	TRY(shd_nd4j_open(&m->outside[m->outside_count], store, (const char *)folder->data, limits, &m->base.arena,
	                  array, err));
	m->outside_count++;
	folder->len = len;
	return SHERD_OK;
}

static int outside_open_found(shd_samediff_model *m, sherd_store *store, shd_buf *folder, const search *s,
                              const sherd_limits *limits, shd_samediff_graph *graph, sherd_error *err)
{
	size_t most = s->found.count;
	m->outside = calloc(most, sizeof(sherd_reader *));
	shd_nd4j_array *arrays = shd_arena_alloc(&m->base.arena, m->inside + most, sizeof(*arrays));
	if (!arrays || !m->outside)
		return shd_fail_nomem(err);
	if (m->inside)
		memcpy(arrays, m->arrays, m->inside * sizeof(*arrays));
	for (size_t i = 0; i < graph->graph.variable_count; i++) {
		sherd_model_variable *v = &graph->variables[i];
		if (!is_wanting(v) || shd_map_find(&s->found, shd_str_of(v->name)) == SHD_MAP_NONE)
			continue;
		size_t index = m->inside + m->outside_count;
		TRY(open_one(m, store, folder, v->name, limits, &arrays[index], err));
		v->array = index;
	}
	m->arrays = arrays;
	return SHERD_OK;
}

enum { NAMED = 4 /* missing arrays that a message names, beside the first */ };

/* Where the array of a variable should be, and what the store says of that place. */
static int look_where_it_should_be(shd_samediff_model *m, sherd_store *store, const shd_buf *folder, const char *name,
                                   shd_buf *text, sherd_error *err)
{
	SHD_AUTO_BUF key = {0};
	sherd_stat stat;
	sherd_error failure = {0};
	shd_buf_printf(&key, "%.*s%s" SUFFIX, (int)folder->len, (const char *)folder->data, name);
	TRY(shd_buf_end(&key, err));
	int rc = sherd_store_stat(&stat, store, (const char *)key.data, &failure);
	if (rc == SHERD_EIO || rc == SHERD_ENOMEM)
		return shd_pass(err, rc, &failure);
	bool absent = rc == SHERD_ENOTFOUND || rc == SHERD_EINVAL || rc == SHERD_OK;
	shd_buf_printf(text, "the array of %.64s is missing: %s", name, absent ? "nothing is there" : failure.message);
	m->base.missing_at = shd_arena_str(&m->base.arena, shd_str_of((const char *)key.data));
	return m->base.missing_at ? SHERD_OK : shd_fail_nomem(err);
}

/* Variables and constants that have no array, neither in the file nor beside it. */
static int note_missing(shd_samediff_model *m, sherd_store *store, const shd_buf *folder,
                        const shd_samediff_graph *graph, sherd_error *err)
{
	SHD_AUTO_BUF text = {0};
	size_t count = 0;
	for (size_t i = 0; i < graph->graph.variable_count; i++) {
		const sherd_model_variable *v = &graph->variables[i];
		if (!is_wanting(v) || v->kind == SHERD_VARIABLE_PLACEHOLDER)
			continue;
		if (!count)
			TRY(look_where_it_should_be(m, store, folder, v->name, &text, err));
		else if (count <= NAMED)
			shd_buf_printf(&text, "%s%.64s", count > 1 ? ", " : "; so are those of ", v->name);
		count++;
	}
	if (!count)
		return SHERD_OK;
	if (count > NAMED + 1)
		shd_buf_printf(&text, " and %zu more", count - NAMED - 1);
	TRY(shd_buf_end(&text, err));
	m->base.missing = shd_arena_str(&m->base.arena, shd_str_of((const char *)text.data));
	return m->base.missing ? SHERD_OK : shd_fail_nomem(err);
}

int shd_samediff_find_outside(shd_samediff_model *m, sherd_store *store, const char *key, const sherd_limits *limits,
                              shd_samediff_graph *graph, sherd_error *err)
{
	SHD_AUTO_BUF folder = {0};
	search s = {.arena = &m->base.arena};
	size_t wanting = 0;
	for (size_t i = 0; i < graph->graph.variable_count; i++)
		wanting += is_wanting(&graph->variables[i]);
	if (!wanting)
		return SHERD_OK;
	put_folder(&folder, key);
	s.prefix = folder.len;
	TRY(shd_buf_end(&folder, err));
	folder.len--;
	sherd_error failure = {0};
	int rc = sherd_store_list(store, (const char *)folder.data, "", outside_see, &s, &failure);
	if (rc == SHERD_EINVAL) /* too long for a key: nothing can be there */
		rc = SHERD_OK;
	if (rc < 0 && err)
		*err = failure;
	if (rc == SHERD_OK && s.failed)
		rc = shd_fail_nomem(err);
	if (rc == SHERD_OK && s.found.count)
		rc = outside_open_found(m, store, &folder, &s, limits, graph, err);
	shd_map_done(&s.found);
	return rc < 0 ? rc : note_missing(m, store, &folder, graph, err);
}
