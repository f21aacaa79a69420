/* shelf.c - the least that a store can be: no maps, locks, folders, links or queues.
 *
 * "shelf://name/key": objects stand in a store in memory, which another program would replace by its disk or network.
 * docs/extending.md quotes this file. */
#include <sherd/shelf.h>

#include <stdlib.h>
#include <string.h>

typedef struct shelf {
	sherd_store base; /* first, as in all of these */
	sherd_store *inner;
} shelf;

typedef struct shelf_reader {
	sherd_reader base;
	sherd_reader *inner;
} shelf_reader;

typedef struct shelf_writer {
	sherd_writer base;
	sherd_writer *inner;
} shelf_writer;

static int shelf_no_memory(sherd_error *err)
{
	return sherd_fail(err, SHERD_ENOMEM, "no-memory", "out of memory");
}

/* Reading: size and identity are known from the start; every range asked for lies inside. */

static int shelf_at(const sherd_reader *reader, uint64_t offset, void *buf, size_t len, sherd_error *err)
{
	return sherd_reader_at(((const shelf_reader *)reader)->inner, offset, buf, len, err);
}

static void shelf_close_reader(sherd_reader *reader)
{
	sherd_reader_close(((shelf_reader *)reader)->inner);
	free(reader);
}

static const struct sherd_reader_ops shelf_reader_ops = {.at = shelf_at, .close = shelf_close_reader};

static int shelf_read(sherd_reader **out, sherd_store *store, const char *key, sherd_error *err)
{
	shelf_reader *r = calloc(1, sizeof(*r));
	if (!r)
		return shelf_no_memory(err);
	int rc = sherd_store_read(&r->inner, ((shelf *)store)->inner, key, err);
	if (rc < 0) {
		free(r);
		return rc;
	}
	r->base.ops = &shelf_reader_ops;
	r->base.size = sherd_reader_size(r->inner);
	memcpy(r->base.identity, sherd_reader_identity(r->inner), sizeof(r->base.identity));
	*out = &r->base;
	return SHERD_OK;
}

/* Writing: nothing can be seen before commit, and commit and abort free the writer. */

static int shelf_append(sherd_writer *writer, const void *buf, size_t len, sherd_error *err)
{
	return sherd_writer_append(((shelf_writer *)writer)->inner, buf, len, err);
}

static int shelf_fill(sherd_writer *writer, uint32_t offset, const void *buf, size_t len, sherd_error *err)
{
	return sherd_writer_fill(((shelf_writer *)writer)->inner, offset, buf, len, err);
}

static int shelf_commit(sherd_writer *writer, sherd_error *err)
{
	int rc = sherd_writer_commit(((shelf_writer *)writer)->inner, err);
	free(writer);
	return rc;
}

static void shelf_abort(sherd_writer *writer)
{
	sherd_writer_abort(((shelf_writer *)writer)->inner);
	free(writer);
}

static const struct sherd_writer_ops shelf_writer_ops = {
	.append = shelf_append, .fill = shelf_fill, .commit = shelf_commit, .abort = shelf_abort};

/* A commit holds to mode and if_identity in one step, and tells the new identity. */
static int shelf_write(sherd_writer **out, sherd_store *store, const char *key, const sherd_write_options *options,
                       sherd_error *err)
{
	shelf_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return shelf_no_memory(err);
	int rc = sherd_store_write(&w->inner, ((shelf *)store)->inner, key, options, err);
	if (rc < 0) {
		free(w);
		return rc;
	}
	w->base.ops = &shelf_writer_ops;
	*out = &w->base;
	return SHERD_OK;
}

/* The store: keys were checked. */

static int shelf_stat(sherd_stat *out, sherd_store *store, const char *key, sherd_error *err)
{
	return sherd_store_stat(out, ((shelf *)store)->inner, key, err);
}

static int shelf_list(sherd_store *store, const char *prefix, const char *after, sherd_list_fn *each, void *arg,
                      sherd_error *err)
{
	return sherd_store_list(((shelf *)store)->inner, prefix, after, each, arg, err);
}

static int shelf_remove(sherd_store *store, const char *key, const char *if_identity, sherd_error *err)
{
	sherd_store *inner = ((shelf *)store)->inner;
	return if_identity ? sherd_store_remove_if(inner, key, if_identity, err) : sherd_store_remove(inner, key, err);
}

static void shelf_close(sherd_store *store)
{
	sherd_store_close(((shelf *)store)->inner);
	free(store);
}

static const struct sherd_store_ops shelf_ops = {
	.scheme = "shelf",
	.caps = 0,
	.read = shelf_read,
	.write = shelf_write,
	.list = shelf_list,
	.stat = shelf_stat,
	.remove = shelf_remove,
	.close = shelf_close,
};

/* The scheme: what stands behind the name of the shelf is the key. */

static int shelf_open(sherd_store **out, char **key, const char *uri, const sherd_store_options *options,
                      sherd_error *err)
{
	(void)options;
	const char *slash = strchr(uri + strlen("shelf://"), '/');
	char *rest = strdup(slash ? slash + 1 : "");
	shelf *s = calloc(1, sizeof(*s));
	int rc = rest && s ? sherd_store_open_memory(&s->inner, err) : shelf_no_memory(err);
	if (rc < 0) {
		free(rest);
		free(s);
		return rc;
	}
	s->inner->around = &s->base; /* errors name the store that the caller knows */
	s->base.ops = &shelf_ops;
	*out = &s->base;
	*key = rest;
	return SHERD_OK;
}

static const sherd_scheme shelf_scheme = {.name = "shelf", .open = shelf_open};
static const sherd_scheme *const shelf_schemes[] = {&shelf_scheme, NULL};

const sherd_component *sherd_shelf_component(void)
{
	static const sherd_component component = {.name = "shelf", .schemes = shelf_schemes};
	return &component;
}
