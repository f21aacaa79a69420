#include "engine/graph/disk/run.h"

#include "format/rfdb/name.h"

#include <stdlib.h>

SHD_AUTO_DEFINE(graph_run, shd_graph_run_close)

void shd_graph_run_close(graph_run *r)
{
	if (!r)
		return;
	shd_rfdb_run_done(&r->head);
	sherd_reader_close(r->reader);
	for (int t = 0; t < SHD_RFDB_RUN_TABLES; t++)
		free(atomic_load(&r->fences[t]));
	free(r->checked);
	pthread_mutex_destroy(&r->making);
	free(r);
}

static int disk_run_map(graph_run *r, const graph_place *p, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	const void *data;
	shd_rfdb_run_name(r->number, name);
	TRY(shd_graph_place_key(p, name, &key, err));
	TRY(sherd_store_read(&r->reader, p->store, key.text, err));
	uint64_t size = sherd_reader_size(r->reader);
	if (!size || size > SIZE_MAX)
		return shd_fail(err, SHERD_ECORRUPT, "truncated", "the run is empty");
	memcpy(r->identity, sherd_reader_identity(r->reader), sizeof(r->identity));
	TRY(sherd_reader_map(&data, r->reader, 0, (size_t)size, err));
	TRY(shd_rfdb_run_open(data, size, &r->head, err));
	sherd_reader_advise(r->reader, 0, size, SHERD_ADVICE_APART);
	r->checked = calloc((size_t)(size / SHD_RFDB_RUN_PAGE / 8) + 1, 1);
	return r->checked ? SHERD_OK : shd_fail_nomem(err);
}

int shd_graph_run_load(graph_run **out, const graph_place *p, uint64_t number, sherd_error *err)
{
	SHD_AUTO(graph_run, shd_graph_run_close) r = calloc(1, sizeof(*r));
	if (!r)
		return shd_fail_nomem(err);
	pthread_mutex_init(&r->making, NULL);
	r->number = number;
	TRY(disk_run_map(r, p, err));
	*out = TAKE(r);
	return SHERD_OK;
}

int shd_graph_run_open(graph_run **out, const graph_place *p, uint64_t number, sherd_error *err)
{
	*out = NULL;
	return shd_graph_run_load(out, p, number, NULL) == SHERD_ENOMEM ? shd_fail_nomem(err) : SHERD_OK;
}

/* ---- all that are there */

static bool see_run(void *arg, const char *name, const sherd_stat *stat)
{
	graph_run_numbers *numbers = arg;
	uint64_t number;
	(void)stat;
	if (shd_rfdb_run_parse(shd_str_of(name), &number))
		shd_vec_push(numbers, number);
	return !numbers->failed;
}

static int compare_down(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;
	return *a > *b ? -1 : *a < *b;
}

int shd_graph_runs_list(const graph_place *p, graph_run_numbers *out, sherd_error *err)
{
	TRY(shd_graph_place_list(p, SHD_RFDB_RUNS, see_run, out, err));
	TRY(shd_vec_check(out, err));
	if (out->count)
		qsort(out->items, out->count, sizeof(uint64_t), compare_down);
	return SHERD_OK;
}

static int open_listed(graph_runs *out, const graph_place *p, const graph_run_numbers *numbers, sherd_error *err)
{
	for (size_t i = 0; i < numbers->count; i++) {
		graph_run *r;
		TRY(shd_graph_run_open(&r, p, numbers->items[i], err));
		if (!r)
			continue;
		shd_vec_push(out, r);
		if (out->failed) {
			shd_graph_run_close(r);
			return shd_fail_nomem(err);
		}
	}
	return SHERD_OK;
}

int shd_graph_runs_open(graph_runs *out, const graph_place *p, sherd_error *err)
{
	graph_run_numbers numbers = {0};
	/* Runs are for maps: where bytes are fetched, a question would cost more by them than without. */
	if (!(sherd_store_caps(p->store) & SHERD_CAP_MAP) || sherd_store_caps(p->store) & SHERD_CAP_REMOTE)
		return SHERD_OK;
	int rc = shd_graph_runs_list(p, &numbers, err);
	if (rc == SHERD_OK)
		rc = open_listed(out, p, &numbers, err);
	shd_vec_done(&numbers);
	return rc;
}

void shd_graph_runs_done(graph_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		shd_graph_run_close(runs->items[i]);
	shd_vec_done(runs);
}

int shd_graph_runs_highest(const graph_place *p, uint64_t *number, sherd_error *err)
{
	graph_run_numbers numbers = {0};
	int rc = shd_graph_runs_list(p, &numbers, err);
	*number = numbers.count ? numbers.items[0] : 0;
	shd_vec_done(&numbers);
	return rc;
}

/* ---- asking */

/* The fences of a table; NULL when they are damaged. */
static int fences_of(graph_run *r, shd_rfdb_run_table table, uint32_t **out, sherd_error *err)
{
	int rc = SHERD_OK;
	*out = atomic_load_explicit(&r->fences[table], memory_order_acquire);
	if (*out)
		return SHERD_OK;
	pthread_mutex_lock(&r->making);
	*out = atomic_load(&r->fences[table]);
	if (!*out) {
		rc = shd_rfdb_run_fences(&r->head, table, out, NULL);
		if (rc == SHERD_OK)
			atomic_store_explicit(&r->fences[table], *out, memory_order_release);
	}
	pthread_mutex_unlock(&r->making);
	return rc == SHERD_ENOMEM ? shd_fail_nomem(err) : SHERD_OK;
}

static bool page_is_whole(const graph_run *r, shd_rfdb_run_table table, uint64_t page)
{
	uint64_t at = r->head.tables[table].first + page;
	uint8_t bit = (uint8_t)(1u << at % 8);
	if (atomic_load_explicit(&r->checked[at / 8], memory_order_relaxed) & bit)
		return true;
	if (!shd_rfdb_run_whole(&r->head, table, page))
		return false;
	atomic_fetch_or_explicit(&r->checked[at / 8], bit, memory_order_relaxed);
	return true;
}

static int ask_page(const graph_run *r, shd_rfdb_run_table table, uint64_t hash, uint64_t page, graph_run_fn *each,
                    void *arg, sherd_error *err)
{
	const uint8_t *p = shd_rfdb_run_page(&r->head, table, page);
	size_t at = 0;
	uint32_t row;
	uint64_t inside;
	while (shd_rfdb_run_next(p, hash, &at, &row)) {
		const shd_rfdb_member *m = shd_rfdb_run_member(&r->head, shd_rfdb_run_kind(table), row, &inside);
		if (m)
			TRY(each(arg, m, inside, err));
	}
	return SHERD_OK;
}

int shd_graph_run_each(graph_run *r, shd_rfdb_run_table table, uint64_t hash, graph_run_fn *each, void *arg,
                       sherd_error *err)
{
	uint32_t *fences;
	uint64_t from, to;
	TRY(fences_of(r, table, &fences, err));
	bool whole = fences != NULL;
	if (whole)
		shd_rfdb_run_seek(&r->head.tables[table], fences, hash, &from, &to);
	for (; whole && from < to; from++) {
		whole = page_is_whole(r, table, from);
		if (whole)
			TRY(ask_page(r, table, hash, from, each, arg, err));
	}
	if (!whole)
		atomic_store(&r->broken, true);
	return whole;
}
