/* Which bytes a search touches: those of other shards are taken away from it. */
#include "support/graph_make.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/error.h"
#include "engine/graph/graph.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIRECTORIES = 12, FILES = 4, NODES = 5 };

static void name_file(unsigned directory, unsigned file, char out[32])
{
	(void)snprintf(out, 32, "d%u/f%u.js", directory, file);
}

/* Several segments in every shard, some of them with older rows of nodes that others hold too. */
static void fill(sherd_graph *g)
{
	for (unsigned round = 0; round < 3; round++) {
		for (unsigned d = 0; d < DIRECTORIES; d++)
			for (unsigned n = 0; n < FILES * NODES; n += 1 + round * 7) {
				char id[32], file[32];
				(void)snprintf(id, sizeof(id), "%u-%u", d, n);
				name_file(d, n / NODES, file);
				graph_add_node(g, id, round ? "OLD" : "F", n % 2 ? "odd" : "even", file);
				graph_add_edge(g, id, "0-0", "CALLS", "");
			}
		graph_flush(g);
	}
}

static void take_away(const sherd_reader *r)
{
	const void *bytes;
	if (!r || !sherd_reader_size(r))
		return;
	assert_ok(sherd_reader_map(&bytes, r, 0, (size_t)sherd_reader_size(r), err));
	assert_int_equal(mprotect((void *)(uintptr_t)bytes, (size_t)sherd_reader_size(r), PROT_NONE), 0);
}

/* Segments and indexes of every shard but this one, and all edges; returns how many. */
static size_t take_others(const sherd_graph *g, uint32_t shard)
{
	size_t taken = 0;
	for (unsigned kind = 0; kind < 2; kind++)
		for (size_t i = 0; i < g->view.lists[kind].count; i++) {
			const graph_segment *s = g->view.lists[kind].items[i];
			if (kind == SHD_RFDB_NODES && s->shard == shard)
				continue;
			take_away(s->reader);
			take_away(s->index_reader);
			taken++;
		}
	return taken;
}

/* Does a process that lost all shards but this one find as many in a graph that nobody has searched yet? */
static bool finds(sherd_store *store, const char *type, const char *file, const char *name, uint32_t shard)
{
	const sherd_graph_options reading = {.read_only = true};
	sherd_graph *g = graph_open(store, "db", &reading);
	size_t want = graph_count(g, type, file, name);
	int status;
	sherd_graph_close(g);
	g = graph_open(store, "db", &reading);
	assert_true(want > 0);
	pid_t child = fork();
	assert_true(child >= 0);
	if (!child) {
		(void)signal(SIGSEGV, SIG_DFL);
		if (take_others(g, shard) < 3)
			_exit(2);
		_exit(graph_count(g, type, file, name) == want ? 0 : 1);
	}
	sherd_graph_close(g);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFSIGNALED(status)) {
		assert_int_equal(WTERMSIG(status), SIGSEGV);
		return false;
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	return true;
}

static void search(const sherd_graph_layout *layout, bool compact)
{
	char *folder = scratch_make();
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	sherd_graph *g = graph_create(store, "db", layout, NULL);
	fill(g);
	if (compact)
		assert_ok(sherd_graph_compact(g, NULL, err));
	for (unsigned d = 0; d < DIRECTORIES; d++) {
		char file[32];
		name_file(d, d % FILES, file);
		uint32_t shard = sherd_graph_shard_of(g, sherd_graph_text_of(file));
		assert_true(finds(store, NULL, file, NULL, shard));
		assert_true(finds(store, "F", file, NULL, shard));
		assert_true(finds(store, NULL, file, "even", shard));
		/* Who does not say which file looks everywhere: the bytes are really gone. */
		assert_false(finds(store, NULL, NULL, "even", shard));
	}
	sherd_graph_close(g);
	sherd_store_close(store);
	scratch_remove(folder);
}

TEST(a_search_by_file_touches_no_other_shard_planned_by_hash)
{
	search(&(sherd_graph_layout){.shards = 4}, false);
	search(&(sherd_graph_layout){.shards = 4}, true);
}

TEST(a_search_by_file_touches_no_other_shard_planned_by_directory)
{
	search(&(sherd_graph_layout){.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1}, false);
	search(&(sherd_graph_layout){.planner = SHERD_GRAPH_DIRECTORY, .min_files = 1}, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_search_by_file_touches_no_other_shard_planned_by_hash),
		cmocka_unit_test(a_search_by_file_touches_no_other_shard_planned_by_directory),
	};
	return cmocka_run_group_tests_name("engine/graph/find", tests, NULL, NULL);
}
