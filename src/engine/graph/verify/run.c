/* engine/graph/verify/run.c - every index over many segments. For the same members there is exactly one right run: it
 * is made anew, and compared on the way. */
#include "engine/graph/disk/run.h"
#include "engine/graph/verify/check.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct run_check {
	graph_checking *checking;
	const graph_run *run;
	graph_segment **segments; /* of the members */
	shd_rfdb_run_part *parts;
	uint64_t at; /* bytes that were compared */
	bool proved; /* all of it was, if nothing failed */
} run_check;

/* As a version describes it, and whole; NULL when there is none. */
static const graph_checked *described(const graph_checking *c, const shd_rfdb_member *m)
{
	for (size_t i = 0; i < c->descriptors.count; i++) {
		const graph_checked *one = graph_checked_at(c, i);
		const shd_rfdb_descriptor *d = &one->about;
		if (d->id == m->id && d->kind == m->kind && d->has_sha256 && d->bytes == m->size &&
		    d->rows == m->rows && memcmp(d->sha256, m->sha256, sizeof(m->sha256)) == 0 && !one->missing &&
		    !one->damaged)
			return one;
	}
	return NULL;
}

/* 1 when all members are there; or 0. */
static int open_members(run_check *k, sherd_error *err)
{
	const shd_rfdb_table_run *head = &k->run->head;
	k->segments = calloc(head->member_count + 1, sizeof(*k->segments));
	k->parts = calloc(head->member_count + 1, sizeof(*k->parts));
	if (!k->segments || !k->parts)
		return shd_fail_nomem(err);
	for (size_t i = 0; i < head->member_count; i++) {
		const graph_checked *one = described(k->checking, &head->members[i]);
		if (!one)
			return 0;
		TRY(shd_graph_segment_open_rows(&k->segments[i], &k->checking->place, &one->about, false, err));
		shd_graph_segment_scan(k->segments[i]);
		k->parts[i] = (shd_rfdb_run_part){.about = head->members[i], .rows = &k->segments[i]->rows};
		if (head->members[i].shard != k->segments[i]->shard || !shd_rfdb_segment_sorted(k->parts[i].rows))
			return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", 128 + 64 * (uint64_t)i,
			                   "segment %" PRIu64 " is not in that shard, or not sorted",
			                   head->members[i].id);
	}
	return 1;
}

static int compare_bytes(const run_check *k, uint64_t at, const uint8_t *made, size_t len, sherd_error *err)
{
	const uint8_t *there = k->run->head.data + at;
	if (at > k->run->head.size || len > k->run->head.size - at)
		return shd_fail_at(err, SHERD_ECORRUPT, "truncated", k->run->head.size, "entries are missing");
	if (memcmp(there, made, len) == 0)
		return SHERD_OK;
	size_t i = 0;
	while (there[i] == made[i])
		i++;
	return shd_fail_at(err, SHERD_ECORRUPT, "bad-index", at + i, "not what its segments hold");
}

static int compare_made(void *arg, const void *data, size_t len, sherd_error *err)
{
	run_check *k = arg;
	const uint8_t *made = data;
	uint64_t at = k->at;
	/* The head is complete at the end only. */
	size_t skip = at < SHD_RFDB_RUN_HEAD ? (size_t)(SHD_RFDB_RUN_HEAD - at) : 0;
	skip = skip < len ? skip : len;
	k->at += len;
	return compare_bytes(k, at + skip, made + skip, len - skip, err);
}

/* Every checksum, for a start: it says more about damage than a difference does. */
static int check_pages(const shd_rfdb_table_run *r, sherd_error *err)
{
	for (shd_rfdb_run_table t = 0; t < SHD_RFDB_RUN_TABLES; t++) {
		uint32_t *fences = NULL;
		TRY(shd_rfdb_run_fences(r, t, &fences, err));
		free(fences);
		for (uint64_t page = 0; page < r->tables[t].count; page++)
			if (!shd_rfdb_run_whole(r, t, page))
				return shd_fail_at(err, SHERD_ECORRUPT, "bad-crc",
				                   (r->tables[t].first + page) * SHD_RFDB_RUN_PAGE,
				                   "a page of the index is damaged");
	}
	return SHERD_OK;
}

static int run_asked(void *arg, sherd_error *err)
{
	return shd_meter_ask(arg, err);
}

static int check_whole(run_check *k, sherd_error *err)
{
	uint8_t head[SHD_RFDB_RUN_HEAD];
	uint64_t size;
	graph_checking *c = k->checking;
	sherd_reader_advise(k->run->reader, 0, k->run->head.size, SHERD_ADVICE_ONWARD);
	TRY(check_pages(&k->run->head, err));
	int there = open_members(k, err);
	if (there <= 0)
		return there;
	k->proved = true;
	const shd_rfdb_run_plan plan = {.parts = k->parts,
	                                .count = k->run->head.member_count,
	                                .pool = c->options->pool,
	                                .asked = run_asked,
	                                .arg = &c->meter};
	TRY(shd_rfdb_run_build(&plan, compare_made, k, head, &size, err));
	return compare_bytes(k, 0, head, sizeof(head), err);
}

static void check_done(run_check *k)
{
	for (size_t i = 0; k->segments && i < k->run->head.member_count; i++)
		shd_graph_segment_close(k->segments[i]);
	free(k->segments);
	free(k->parts);
}

static int check_run(graph_checking *c, uint64_t number, sherd_error *err)
{
	char name[SHD_RFDB_NAME_MAX];
	graph_key key;
	graph_run *r = NULL;
	sherd_error found = {0};
	shd_rfdb_run_name(number, name);
	TRY(shd_graph_place_key(&c->place, name, &key, err));
	int rc = shd_graph_run_load(&r, &c->place, number, &found);
	if (rc == SHERD_ENOTFOUND)
		return SHERD_OK; /* replaced meanwhile */
	run_check k = {.checking = c, .run = r};
	if (rc == SHERD_OK) {
		if (!c->options->quick)
			rc = check_whole(&k, &found);
		if (rc == SHERD_OK)
			rc = sherd_reader_check(r->reader, &found);
		c->report->checked += c->options->quick ? SHD_RFDB_RUN_HEAD : r->head.size;
		check_done(&k);
	}
	if (rc == SHERD_OK && k.proved) {
		sherd_reader_advise(r->reader, 0, r->head.size, SHERD_ADVICE_APART);
		shd_vec_push(&c->runs, r);
		if (!c->runs.failed)
			return SHERD_OK;
		shd_graph_run_close(r);
		return shd_fail_nomem(err);
	}
	shd_graph_run_close(r);
	return shd_report_take(c->report, rc, &found, key.text, err);
}

int shd_graph_checking_runs(graph_checking *c, sherd_error *err)
{
	graph_run_numbers numbers = {0};
	unsigned caps = sherd_store_caps(c->place.store);
	if (!(caps & SHERD_CAP_MAP) || caps & SHERD_CAP_REMOTE)
		return SHERD_OK;
	int rc = shd_graph_runs_list(&c->place, &numbers, err);
	for (size_t i = 0; rc == SHERD_OK && i < numbers.count; i++)
		rc = check_run(c, numbers.items[i], err);
	shd_vec_done(&numbers);
	return rc;
}
