/* Graphs pushed to a bucket while requests go wrong, SHERD_STORMS times (6): what is there is whole, and is what the
 * call told, now and when what was under way has arrived. */
#include "base/error.h"
#include "base/rng.h"
#include "support/graph_auto.h"
#include "support/graph_make.h"
#include "support/s3_server.h"
#include "support/test.h"

#include <sherd/verify.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

SHD_AUTO_DEFINE(sherd_report, sherd_report_close)

static uint64_t dice;

static unsigned throw_dice(unsigned below)
{
	return (unsigned)(shd_splitmix64(++dice) % below);
}

static void make_faults(s3_server *server)
{
	static const s3_fault kinds[] = {S3_RESET, S3_RESET_DONE, S3_LATE, S3_500,      S3_503,
	                                 S3_429,   S3_DONE_500,   S3_502,  S3_DONE_502, S3_TRUNCATED};
	static const char *const methods[] = {"PUT", "PUT", "GET", "HEAD", "DELETE", ""};
	static const char *const targets[] = {"", "current", "manifests", "segments", "making", "list-type"};
	for (unsigned i = throw_dice(6); i > 0; i--)
		s3_server_fail(server, methods[throw_dice(COUNT_OF(methods))], targets[throw_dice(COUNT_OF(targets))],
		               kinds[throw_dice(COUNT_OF(kinds))], 1 + (int)throw_dice(4));
}

static void change(sherd_store *store, const char *id)
{
	SCOPED_GRAPH g = graph_open(store, "db", NULL);
	graph_add_node(g, id, "F", id, "src/x.js");
	graph_flush(g);
}

/* Which of the nodes is the last that is there: 0 for no database. All of it must be whole. */
static unsigned look(sherd_store *store, const char *folder, uint64_t seed)
{
	static const char *const nodes[] = {"one", "two", "three"};
	SHD_AUTO(sherd_report, sherd_report_close) r = NULL;
	sherd_graph *g = NULL;
	sherd_error e = {0};
	unsigned last = 0;
	int rc = sherd_graph_open(&g, store, folder, &(sherd_graph_options){.read_only = true}, &e);
	if (rc == SHERD_ENOTFOUND)
		return 0;
	if (rc < 0)
		fail_msg("SHERD_SEED=%llu: %s: %s", (unsigned long long)seed, e.object, e.message);
	for (unsigned i = 0; i < COUNT_OF(nodes); i++)
		if (sherd_graph_exists(g, graph_id(nodes[i]), NULL) == 1)
			last = i + 1;
	sherd_graph_close(g);
	assert_ok(sherd_verify(&r, store, folder, NULL, err));
	if (sherd_report_errors(r))
		fail_msg("SHERD_SEED=%llu: %s: %s", (unsigned long long)seed, sherd_report_error(r, 0)->object,
		         sherd_report_error(r, 0)->message);
	return last;
}

static void judge(uint64_t seed, const char *when, int rc, unsigned before, unsigned wanted, unsigned now)
{
	bool fine = rc == SHERD_OK ? now == wanted : now == wanted || now == before;
	if (!fine)
		fail_msg("SHERD_SEED=%llu: %s: %d, and %u is there; %u was, %u was to be", (unsigned long long)seed,
		         when, rc, now, before, wanted);
}

static void push_thrice(s3_server *server, sherd_store *far, uint64_t seed)
{
	static const char *const nodes[] = {"one", "two", "three"};
	SCOPED_STORE near = memory();
	char folder[32];
	unsigned before = 0;
	dice = seed * 104729;
	(void)snprintf(folder, sizeof(folder), "graph-%llu", (unsigned long long)seed);
	sherd_graph_close(graph_create(near, "db", &(sherd_graph_layout){.shards = 2}, NULL));
	for (unsigned i = 0; i < COUNT_OF(nodes); i++) {
		change(near, nodes[i]);
		make_faults(server);
		int rc = sherd_graph_push(near, "db", far, folder, NULL, NULL, NULL);
		s3_server_calm(server);
		unsigned now = look(far, folder, seed);
		judge(seed, nodes[i], rc, before, i + 1, now);
		(void)s3_server_deliver(server);
		judge(seed, "later", rc, now, i + 1, look(far, folder, seed));
		assert_ok(sherd_graph_push(near, "db", far, folder, NULL, NULL, err));
		before = look(far, folder, seed);
		assert_int_equal(before, i + 1);
	}
}

static void storms(const s3_quirks *quirks)
{
	const char *one = getenv("SHERD_SEED"), *count = getenv("SHERD_STORMS");
	s3_server *server = s3_server_start(quirks);
	sherd_store *store = s3_server_store(server, "dir", "retries=2", NULL);
	assert_ok(sherd_store_put(store, "first", SHERD_WRITE_NEW, "", 0, err));
	for (uint64_t i = 1; !one && i <= (count ? strtoull(count, NULL, 10) : 6); i++)
		push_thrice(server, store, i);
	if (one)
		push_thrice(server, store, strtoull(one, NULL, 10));
	sherd_store_close(store);
	s3_server_stop(server);
}

TEST(what_is_pushed_is_whole_or_as_before)
{
	storms(NULL);
}

TEST(and_with_a_server_of_other_manners)
{
	storms(&(s3_quirks){.unquoted = true, .deaf_delete = true, .deaf_crc = true, .angry = true});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_pushed_is_whole_or_as_before),
		cmocka_unit_test(and_with_a_server_of_other_manners),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
