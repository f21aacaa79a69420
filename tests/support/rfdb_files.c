#include "support/fixtures.h"
#include "support/rfdb_files.h"

#include "support/scratch.h"
#include "support/source_file.h"
#include "support/test.h"

#include "base/rng.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- made by us */

static shd_u128 id_of(uint64_t number)
{
	return (shd_u128)shd_splitmix64(number) << 64 | shd_splitmix64(~number);
}

shd_rfdb_node rfdb_node(uint64_t number, char *text)
{
	static const char *const types[] = {"FUNCTION", "MODULE", "CLASS", "VARIABLE"};
	const char *type = types[number % 4];
	int name = snprintf(text, 64, "name%" PRIu64, number % 50);
	int file = snprintf(text + 64, 64, "src/d%" PRIu64 "/f%" PRIu64 ".js", number / 20 % 5, number / 7 % 11);
	int semantic = snprintf(text + 128, 128, "src->%s->n%" PRIu64, type, number);
	return (shd_rfdb_node){.id = id_of(number),
	                       .content_hash = number * 3,
	                       .semantic_id = {text + 128, (size_t)semantic},
	                       .type = shd_str_of(type),
	                       .name = {text, (size_t)name},
	                       .file = {text + 64, (size_t)file},
	                       .metadata = number % 3 ? SHD_STR("") : SHD_STR("{\"line\":1}")};
}

shd_rfdb_edge rfdb_edge(uint64_t number)
{
	return (shd_rfdb_edge){.src = id_of(number / 4),
	                       .dst = id_of(number * 7 % 61),
	                       .type = number % 3 ? SHD_STR("CALLS") : SHD_STR("IMPORTS_FROM"),
	                       .metadata = number % 5 ? SHD_STR("") : SHD_STR("{}")};
}

static int append(void *arg, const void *data, size_t len, sherd_error *err)
{
	shd_buf_append(arg, data, len);
	return shd_buf_check(arg, err);
}

void rfdb_finish(shd_rfdb_writer *w, shd_buf *out)
{
	uint64_t size;
	assert_ok(shd_rfdb_writer_finish(w, append, out, &size, err));
	assert_int_equal(size, out->len);
}

static int compare_nodes(const void *a, const void *b)
{
	shd_u128 x = id_of(*(const uint64_t *)a), y = id_of(*(const uint64_t *)b);
	return (x > y) - (x < y);
}

static int compare_edges(const void *a, const void *b)
{
	shd_rfdb_edge x = rfdb_edge(*(const uint64_t *)a), y = rfdb_edge(*(const uint64_t *)b);
	if (x.src != y.src)
		return x.src < y.src ? -1 : 1;
	if (x.dst != y.dst)
		return x.dst < y.dst ? -1 : 1;
	return shd_str_compare(x.type, y.type);
}

static uint64_t *numbers(uint64_t rows, bool sorted, int (*compare)(const void *, const void *))
{
	uint64_t *list = malloc((rows + 1) * sizeof(*list));
	assert_non_null(list);
	for (uint64_t i = 0; i < rows; i++)
		list[i] = i;
	if (sorted)
		qsort(list, rows, sizeof(*list), compare);
	return list;
}

void rfdb_make_nodes(uint64_t rows, bool sorted, shd_buf *out)
{
	shd_rfdb_writer w;
	char text[256];
	uint64_t *list = numbers(rows, sorted, compare_nodes);
	shd_rfdb_writer_init(&w, SHD_RFDB_NODES);
	for (uint64_t i = 0; i < rows; i++) {
		shd_rfdb_node node = rfdb_node(list[i], text);
		assert_ok(shd_rfdb_writer_node(&w, &node, err));
	}
	rfdb_finish(&w, out);
	shd_rfdb_writer_done(&w);
	free(list);
}

void rfdb_make_edges(uint64_t rows, bool sorted, shd_buf *out)
{
	shd_rfdb_writer w;
	uint64_t *list = numbers(rows, sorted, compare_edges);
	shd_rfdb_writer_init(&w, SHD_RFDB_EDGES);
	for (uint64_t i = 0; i < rows; i++) {
		shd_rfdb_edge edge = rfdb_edge(list[i]);
		assert_ok(shd_rfdb_writer_edge(&w, &edge, err));
	}
	rfdb_finish(&w, out);
	shd_rfdb_writer_done(&w);
	free(list);
}

/* ---- made by the real server */

char *rfdb_unpack(const char *archive)
{
	char *folder = scratch_make(), *command;
	assert_true(asprintf(&command, "tar -C '%s' -xzf '%s/rfdb/%s.rfdb.tar.gz'", folder, fixtures_folder(),
	                     archive) > 0);
	assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): tar of the system, on paths of the test's own */
	free(command);
	return folder;
}

/* nftw() passes nothing through. */
static const char *wanted;
static rfdb_file_fn *visit;
static size_t visited;

static int step(const char *path, const struct stat *st, int type, struct FTW *place)
{
	(void)st;
	(void)place;
	if (type == FTW_F && shd_str_ends(shd_str_of(path), wanted)) {
		size_t len;
		uint8_t *data = source_file_read(path, &len);
		visit(path, data, len);
		free(data);
		visited++;
	}
	return 0;
}

size_t rfdb_each_file(const char *folder, const char *suffix, rfdb_file_fn *each)
{
	wanted = suffix;
	visit = each;
	visited = 0;
	assert_int_equal(nftw(folder, step, 16, FTW_PHYS), 0);
	return visited;
}
