/* Random operations on a few prefixes against a naive model that only knows which set stands where.
 *
 * SHD_SEED chooses the sequence, SHD_STEPS its length. */
#include "support/ckpt_place.h"
#include "support/ckpt_sample.h"
#include "support/environment.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

SHD_AUTO_DEFINE(sherd_ckpt, sherd_ckpt_close)
SHD_AUTO_DEFINE(sherd_ckpt_list, sherd_ckpt_list_close)

enum { PREFIXES = 4 };

/* What the model knows of a prefix. Sets are remembered by the seed of their sample; 0: none. */
typedef struct place {
	char prefix[8];
	uint64_t committed;
	int64_t time;
	uint64_t orphan;         /* all shards are there, but neither metadata nor claim */
	uint64_t claimed;        /* by a save of this set, */
	uint32_t written;        /* which has these shards, by bit */
	sherd_ckpt_saver *saver; /* and lives; NULL: is dead */
	uint32_t by_saver;       /* shards that this saver wrote itself */
} place;

typedef struct model {
	sherd_store *store;
	place places[PREFIXES];
	uint64_t random, next_set;
	int64_t clock;
	char what[96]; /* the operation, for messages */
} model;

static uint64_t dice(model *m, uint64_t n)
{
	ckpt_sample d = {.random = m->random};
	uint64_t v = ckpt_sample_random(&d, n);
	m->random = d.random;
	return v;
}

static ckpt_sample *sample_of(uint64_t set)
{
	return ckpt_sample_small(set, 1 + (uint32_t)(set % 3));
}

static bool is_whole(uint64_t set, uint32_t written)
{
	return written == (1u << (1 + set % 3)) - 1;
}

static void expect(model *m, int got, int want, const sherd_error *e)
{
	if (got != want)
		fail_msg("%s: %d instead of %d: %s", m->what, got, want, got < 0 ? e->message : "");
}

static void commit_in_model(model *m, place *p, uint64_t set, int64_t when)
{
	(void)m;
	p->committed = set;
	p->time = when;
	p->orphan = p->claimed = 0;
	p->written = 0;
}

/* Of several processes, some of which have saved and left: nobody but the set itself clears it. */
static bool waits(const place *p)
{
	return p->claimed && p->claimed % 3 && p->written && !p->saver;
}

/* What beginning a save must give. */
static int can_begin(const place *p, bool replace)
{
	if (p->committed && !replace)
		return SHERD_EEXIST;
	if (p->saver || waits(p))
		return SHERD_ECONFLICT;
	return p->orphan ? SHERD_ECONFLICT : SHERD_OK;
}

/* ---- operations */

static void do_save(model *m, place *p)
{
	bool replace = dice(m, 2);
	sherd_error e = {0};
	uint64_t set = m->next_set++;
	ckpt_sample *s = sample_of(set);
	sherd_ckpt_save_options o = ckpt_sample_options(s, ++m->clock);
	o.replace = replace;
	o.digest = (sherd_digest)dice(m, 2);
	(void)snprintf(m->what, sizeof(m->what), "%s %s", replace ? "replace" : "save", p->prefix);
	int want = can_begin(p, replace);
	expect(m, sherd_ckpt_save(m->store, p->prefix, s->shards, &o, &e), want, &e);
	if (want == SHERD_OK)
		commit_in_model(m, p, set, m->clock);
	ckpt_sample_free(s);
}

static void do_take_over(model *m, place *p)
{
	bool replace = dice(m, 2);
	sherd_error e = {0};
	uint64_t set = m->next_set++;
	ckpt_sample *s = sample_of(set);
	sherd_ckpt_save_options o = ckpt_sample_options(s, ++m->clock);
	o.replace = replace;
	o.take_over = true;
	(void)snprintf(m->what, sizeof(m->what), "take over %s%s", p->prefix, replace ? " and replace" : "");
	int want = p->committed && !replace ? SHERD_EEXIST : SHERD_OK;
	expect(m, sherd_ckpt_save(m->store, p->prefix, s->shards, &o, &e), want, &e);
	ckpt_sample_free(s);
	if (want < 0)
		return;
	if (p->saver) {
		bool ends = dice(m, 2);
		int rc = ends ? sherd_ckpt_saver_finish(p->saver, NULL, &e) : SHERD_ECONFLICT;
		if (!ends)
			sherd_ckpt_saver_abort(p->saver);
		p->saver = NULL;
		if (rc != SHERD_ECONFLICT && rc != SHERD_EEXIST)
			fail_msg("%s: the victim got %d", m->what, rc);
	}
	commit_in_model(m, p, set, m->clock);
}

/* A new save in steps, or the dead one goes on. */
static void do_begin(model *m, place *p)
{
	bool replace = p->committed || dice(m, 2), joins = p->claimed && !p->saver && dice(m, 2);
	uint64_t set = joins ? p->claimed : m->next_set++;
	sherd_ckpt_saver *saver = NULL;
	sherd_error e = {0};
	ckpt_sample *s = sample_of(set);
	sherd_ckpt_save_options o = ckpt_sample_options(s, 1);
	o.replace = replace;
	(void)snprintf(m->what, sizeof(m->what), "%s %s", joins ? "join" : "begin", p->prefix);
	int want = joins && (!p->committed || replace) ? SHERD_OK : can_begin(p, replace);
	expect(m, sherd_ckpt_saver_open(&saver, m->store, p->prefix, &o, &e), want, &e);
	ckpt_sample_free(s);
	if (want < 0)
		return;
	p->saver = saver;
	p->by_saver = 0;
	if (!joins) {
		p->claimed = set;
		p->written = 0;
	}
}

static void do_write(model *m, place *p)
{
	ckpt_sample *s = p->saver ? sample_of(p->claimed) : NULL;
	if (!s)
		return;
	uint32_t r = (uint32_t)dice(m, s->world);
	sherd_error e = {0};
	(void)snprintf(m->what, sizeof(m->what), "write rank %u of %s", r, p->prefix);
	expect(m, sherd_ckpt_saver_shard(p->saver, r, s->shards[r].items, s->shards[r].count, &e), SHERD_OK, &e);
	if (!(p->written & 1u << r))
		p->by_saver |= 1u << r;
	p->written |= 1u << r;
	ckpt_sample_free(s);
}

static void do_finish(model *m, place *p)
{
	bool committed = false, want;
	sherd_error e = {0};
	if (!p->saver)
		return;
	(void)snprintf(m->what, sizeof(m->what), "finish %s", p->prefix);
	want = is_whole(p->claimed, p->written);
	expect(m, sherd_ckpt_saver_finish(p->saver, &committed, &e), SHERD_OK, &e);
	assert_int_equal(committed, want);
	p->saver = NULL;
	if (want)
		commit_in_model(m, p, p->claimed, 1);
}

static void do_abort(model *m, place *p)
{
	if (!p->saver)
		return;
	(void)snprintf(m->what, sizeof(m->what), "abort %s", p->prefix);
	sherd_ckpt_saver_abort(p->saver);
	p->saver = NULL;
	p->written &= ~p->by_saver;
	if (!p->written)
		p->claimed = 0;
}

static void do_commit(model *m, place *p)
{
	sherd_error e = {0};
	int want = p->committed ? SHERD_EEXIST : SHERD_ENOTFOUND;
	if (p->claimed)
		want = is_whole(p->claimed, p->written) ? SHERD_OK : SHERD_EINCOMPLETE;
	(void)snprintf(m->what, sizeof(m->what), "commit %s", p->prefix);
	expect(m, sherd_ckpt_commit(m->store, p->prefix, NULL, &e), want, &e);
	if (want < 0)
		return;
	uint64_t set = p->claimed;
	if (p->saver) {
		bool committed = false;
		expect(m, sherd_ckpt_saver_finish(p->saver, &committed, &e), SHERD_OK, &e);
		assert_true(committed);
		p->saver = NULL;
	}
	commit_in_model(m, p, set, 1);
}

static void do_reshard(model *m, place *p)
{
	place *to = &m->places[dice(m, PREFIXES)];
	SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
	sherd_error e = {0};
	if (!p->committed || to == p)
		return;
	(void)snprintf(m->what, sizeof(m->what), "reshard %s to %s", p->prefix, to->prefix);
	sherd_ckpt_save_options o = {.world = 1 + (uint32_t)dice(m, 3), .time_ns = ++m->clock};
	expect(m, sherd_ckpt_open(&c, m->store, p->prefix, NULL, &e), SHERD_OK, &e);
	int want = can_begin(to, false);
	expect(m, sherd_ckpt_reshard(c, m->store, to->prefix, dice(m, 2), &o, &e), want, &e);
	if (want == SHERD_OK)
		commit_in_model(m, to, p->committed, m->clock);
}

static bool is_newer(const place *a, const place *b)
{
	return a->time != b->time ? a->time > b->time : strcmp(a->prefix, b->prefix) > 0;
}

static void do_prune(model *m, place *p)
{
	size_t keep = 1 + dice(m, PREFIXES);
	bool goes[PREFIXES] = {false};
	sherd_error e = {0};
	(void)p;
	(void)snprintf(m->what, sizeof(m->what), "prune to %zu", keep);
	sherd_ckpt_prune_options o = {.keep = keep, .waiting_older_than_ns = dice(m, 3) == 0 ? 1 : 0};
	expect(m, sherd_ckpt_prune(m->store, "", &o, &e), SHERD_OK, &e);
	for (size_t i = 0; i < PREFIXES; i++) {
		size_t newer = 0;
		for (size_t k = 0; k < PREFIXES; k++)
			newer += m->places[k].committed && is_newer(&m->places[k], &m->places[i]);
		bool busy = m->places[i].saver || (waits(&m->places[i]) && !o.waiting_older_than_ns);
		goes[i] = m->places[i].committed && !busy && newer >= keep;
	}
	for (size_t i = 0; i < PREFIXES; i++) {
		place *q = &m->places[i];
		if (goes[i])
			q->committed = 0;
		if (q->claimed && !q->saver && (!waits(q) || o.waiting_older_than_ns)) {
			q->claimed = 0;
			q->written = 0;
		}
	}
}

static void do_repair(model *m, place *p)
{
	sherd_error e = {0};
	int want = SHERD_ENOTFOUND;
	if (p->committed)
		want = SHERD_EEXIST;
	else if (p->orphan)
		want = SHERD_OK;
	else if (p->written)
		want = is_whole(p->claimed, p->written) ? SHERD_OK : SHERD_EINCOMPLETE;
	(void)snprintf(m->what, sizeof(m->what), "repair %s", p->prefix);
	expect(m, sherd_ckpt_repair(m->store, p->prefix, NULL, NULL, &e), want, &e);
	if (want < 0)
		return;
	uint64_t set = p->orphan ? p->orphan : p->claimed;
	int64_t when = p->orphan ? p->time : 1;
	if (p->saver)
		expect(m, sherd_ckpt_saver_finish(p->saver, NULL, &e), SHERD_OK, &e);
	p->saver = NULL;
	commit_in_model(m, p, set, when);
}

static void do_lose_metadata(model *m, place *p)
{
	char key[32];
	if (!p->committed || p->claimed)
		return;
	(void)snprintf(m->what, sizeof(m->what), "lose the metadata of %s", p->prefix);
	(void)snprintf(key, sizeof(key), "%s.metadata.json", p->prefix);
	assert_ok(sherd_store_remove(m->store, key, err));
	p->orphan = p->committed;
	p->committed = 0;
}

static bool remove_key(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	assert_ok(sherd_store_remove(arg, key, err));
	return true;
}

static bool note_key(void *arg, const char *key, const sherd_stat *stat)
{
	(void)stat;
	char(*keys)[64] = arg;
	for (size_t i = 0; i < 8; i++)
		if (!keys[i][0]) {
			(void)snprintf(keys[i], sizeof(keys[i]), "%s", key);
			return true;
		}
	return false;
}

static void do_lose_orphan(model *m, place *p)
{
	char begin[32], keys[8][64] = {""};
	if (!p->orphan)
		return;
	(void)snprintf(m->what, sizeof(m->what), "lose the orphan of %s", p->prefix);
	(void)snprintf(begin, sizeof(begin), "%s_shard_", p->prefix);
	assert_ok(sherd_store_list(m->store, begin, "", note_key, keys, err));
	for (size_t i = 0; i < 8 && keys[i][0]; i++)
		(void)remove_key(m->store, keys[i], NULL);
	p->orphan = 0;
}

static void (*const operations[])(model *m, place *p) = {
	do_save,   do_save,  do_take_over, do_begin,   do_begin, do_write,  do_write,         do_write,       do_finish,
	do_finish, do_abort, do_commit,    do_reshard, do_prune, do_repair, do_lose_metadata, do_lose_orphan,
};

/* ---- comparing */

static sherd_ckpt_state state_of(const place *p)
{
	if (p->committed)
		return SHERD_CKPT_COMMITTED;
	if (p->claimed)
		return p->saver ? SHERD_CKPT_SAVING : waits(p) ? SHERD_CKPT_WAITING : SHERD_CKPT_DEAD;
	return SHERD_CKPT_ORPHANED;
}

static void compare_lists(model *m)
{
	SHD_AUTO(sherd_ckpt_list, sherd_ckpt_list_close) list = NULL;
	size_t known = 0;
	assert_ok(sherd_ckpt_list_open(&list, m->store, "", NULL, err));
	for (size_t i = 0; i < PREFIXES; i++)
		known += m->places[i].committed || m->places[i].claimed || m->places[i].orphan;
	if (sherd_ckpt_list_count(list) != known)
		fail_msg("after %s: %zu listed, %zu expected", m->what, sherd_ckpt_list_count(list), known);
	for (size_t i = 0; i < known; i++) {
		const sherd_ckpt_listing *l = sherd_ckpt_list_at(list, i);
		const place *p = &m->places[l->prefix[1] - '0'];
		if (l->state != state_of(p))
			fail_msg("after %s: %s is %s, not %s", m->what, l->prefix, sherd_ckpt_state_name(l->state),
			         sherd_ckpt_state_name(state_of(p)));
	}
}

static void compare_contents(model *m)
{
	for (size_t i = 0; i < PREFIXES; i++) {
		const place *p = &m->places[i];
		SHD_AUTO(sherd_ckpt, sherd_ckpt_close) c = NULL;
		if (p->committed) {
			ckpt_sample *s = sample_of(p->committed);
			const char *missing = ckpt_sample_missing(s, m->store, p->prefix);
			if (missing)
				fail_msg("after %s: %s: %s", m->what, p->prefix, missing);
			ckpt_sample_free(s);
			continue;
		}
		int rc = sherd_ckpt_open(&c, m->store, p->prefix, NULL, NULL);
		assert_int_equal(rc, p->claimed || p->orphan ? SHERD_EINCOMPLETE : SHERD_ENOTFOUND);
	}
}

static void reopen(model *m, ckpt_place *at)
{
	for (size_t i = 0; i < PREFIXES; i++)
		do_abort(m, &m->places[i]);
	if (!at->folder)
		return;
	sherd_store_close(at->store);
	assert_ok(sherd_store_open_local(&at->store, at->folder, NULL, err));
	m->store = at->store;
}

TEST(random_operations_do_what_a_naive_model_does)
{
	ckpt_place *at = *state;
	model m = {.store = at->store, .random = environment_number("SHERD_SEED", (uint64_t)time(NULL)), .next_set = 1};
	uint64_t steps = environment_number("SHERD_STEPS", 6000);
	print_message("SHERD_SEED=%llu\n", (unsigned long long)m.random);
	m.clock = 1000;
	for (size_t i = 0; i < PREFIXES; i++)
		(void)snprintf(m.places[i].prefix, sizeof(m.places[i].prefix), "p%zu", i);
	for (uint64_t step = 0; step < steps; step++) {
		place *p = &m.places[dice(&m, PREFIXES)];
		operations[dice(&m, COUNT_OF(operations))](&m, p);
		compare_lists(&m);
		if (step % 8 == 0)
			compare_contents(&m);
		if (dice(&m, 50) == 0)
			reopen(&m, at);
	}
	reopen(&m, at);
	compare_contents(&m);
}

int main(void)
{
	scratch_in_memory();
	const struct CMUnitTest tests[] = {CASE_ON_BOTH(random_operations_do_what_a_naive_model_does)};
	return cmocka_run_group_tests_name("model/ckpt", tests, NULL, NULL);
}
