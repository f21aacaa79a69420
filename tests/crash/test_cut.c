/* S-6: whatever command reads a file that is cut off while it does says so and ends with 1 or 4, never by a signal. The
 * command is traced: its file is cut at the moment when it has just been mapped, or is about to be read. */
#include "support/command.h"
#include "support/graph_make.h"
#include "support/rows_set.h"
#include "support/scratch.h"
#include "support/test.h"

#include "base/buf.h"
#include "base/error.h"

#include <sherd/store.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char *folder;

/* ---- a command under trace */

/* When the file is cut: once it is mapped, or at its nth read. */
enum { AT_MAP = 0 };

typedef struct tracing {
	const char *victim; /* path below the folder */
	unsigned when;      /* AT_MAP, or a number of reads */
	unsigned reads;
	bool cut;
	pid_t mapping[64]; /* threads that are about to return from mapping it */
} tracing;

static const char *path_of(const char *name)
{
	static char path[4096];
	(void)snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static bool is_victim(const tracing *t, pid_t thread, int fd)
{
	char link[64], path[4096];
	(void)snprintf(link, sizeof(link), "/proc/%d/fd/%d", (int)thread, fd);
	ssize_t n = readlink(link, path, sizeof(path) - 1);
	if (n < 0)
		return false;
	path[n] = 0;
	size_t len = strlen(t->victim);
	return (size_t)n > len && strcmp(path + n - len, t->victim) == 0;
}

static void cut(tracing *t)
{
	off_t size = 0;
	FILE *file = fopen(path_of(t->victim), "re");
	if (!t->cut && file && fseeko(file, 0, SEEK_END) == 0 && (size = ftello(file)) > 0)
		t->cut = truncate(path_of(t->victim), size / 2) == 0;
	if (file)
		(void)fclose(file);
}

static void at_call(tracing *t, pid_t thread)
{
	struct __ptrace_syscall_info info;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, sizeof(info), &info) <= 0)
		return;
	pid_t *slot = &t->mapping[(unsigned)thread % COUNT_OF(t->mapping)];
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && *slot == thread) {
		*slot = 0;
		cut(t);
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
		return;
	if (info.entry.nr == SYS_mmap && t->when == AT_MAP && is_victim(t, thread, (int)info.entry.args[4]))
		*slot = thread;
	if (info.entry.nr == SYS_pread64 && t->when != AT_MAP && is_victim(t, thread, (int)info.entry.args[0]) &&
	    ++t->reads == t->when)
		cut(t);
}

__attribute__((noreturn)) static void become(const char *command)
{
	char line[4096];
	/* Where leaks are looked for, nobody may trace. */
	(void)setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	(void)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	(void)raise(SIGSTOP);
	(void)snprintf(line, sizeof(line), "cd '%s' && exec '%s' %s > out 2> err", folder, getenv("SHERD_COMMAND"),
	               command);
	(void)execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	_exit(127);
}

/* Lets a thread that stopped go on; a signal of its own goes with it. */
static void go_on(tracing *t, pid_t thread, int status)
{
	int number = WSTOPSIG(status);
	if (number == (SIGTRAP | 0x80))
		at_call(t, thread);
	bool own = number != (SIGTRAP | 0x80) && number != SIGTRAP && number != SIGSTOP;
	(void)ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(uintptr_t)(own ? number : 0));
}

/* The exit status, or -1 when it was ended by a signal; -2 where nobody may trace. */
static int run_traced(const char *command, tracing *t)
{
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		become(command);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSTOPPED(status))
		return -2;
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(uintptr_t)options), 0);
	(void)ptrace(PTRACE_SYSCALL, child, NULL, NULL);
	for (;;) {
		pid_t thread = waitpid(-1, &status, __WALL);
		assert_true(thread > 0 || errno == EINTR);
		if (thread > 0 && WIFSTOPPED(status))
			go_on(t, thread, status);
		else if (thread == child)
			return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	}
}

/* ---- what is cut */

static char *read_file(const char *name, size_t *len)
{
	FILE *file = fopen(path_of(name), "re");
	char *data = NULL;
	assert_non_null(file);
	assert_int_equal(fseeko(file, 0, SEEK_END), 0);
	*len = (size_t)ftello(file);
	rewind(file);
	data = malloc(*len + 1);
	assert_non_null(data);
	assert_int_equal(fread(data, 1, *len, file), *len);
	data[*len] = 0;
	assert_int_equal(fclose(file), 0);
	return data;
}

static void write_file(const char *name, const char *data, size_t len)
{
	FILE *file = fopen(path_of(name), "we");
	assert_non_null(file);
	assert_int_equal(fwrite(data, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* In the folder; fails the test unless it succeeds. What it printed is free()d. */
static char *run_shell(const char *command)
{
	char line[4096];
	int status;
	(void)snprintf(line, sizeof(line), "cd '%s' && %s", folder, command);
	char *said = command_run(line, &status);
	if (status != 0)
		fail_msg("%s: %d: %s", command, status, said);
	return said;
}

static void run_plain(const char *command)
{
	char line[1024];
	(void)snprintf(line, sizeof(line), "'%s' %s", getenv("SHERD_COMMAND"), command);
	free(run_shell(line));
}

/* Cut in every way, the command tells or was done before; the file is put back as it was. */
static void assert_told(const char *command, const char *victim, bool maps)
{
	size_t len, said;
	char *whole = read_file(victim, &len), copied[600];
	bool on_copy = strcmp(command, "graph compact made") == 0;
	(void)snprintf(copied, sizeof(copied), "made%s", victim + strcspn(victim, "/"));
	for (unsigned when = AT_MAP; when < 3; when++) {
		tracing t = {.victim = on_copy ? copied : victim, .when = when};
		if (on_copy)
			free(run_shell("cp -r db made"));
		int status = run_traced(command, &t);
		if (status == -2)
			break;
		char *text = read_file("err", &said);
		if (status != 0 && status != 1 && status != 4)
			fail_msg("%s, cut %u: status %d: %s", command, when, status, text);
		if (status != 0 && !strstr(text, "sherd: "))
			fail_msg("%s, cut %u: status %d and not a word", command, when, status);
		if (when == AT_MAP && maps && (!t.cut || status == 0))
			fail_msg("%s: %s, status %d: %s", command, t.cut ? "cut" : "never mapped", status, text);
		free(text);
		write_file(t.victim, whole, len);
		/* Nothing of it was committed. */
		if (on_copy)
			run_plain("graph verify made");
		free(run_shell("rm -rf made made.* made_*"));
	}
	free(whole);
}

/* ---- what there is */

static sherd_store *open_store(void)
{
	sherd_store *store = NULL;
	assert_ok(sherd_store_open_local(&store, folder, NULL, err));
	return store;
}

static void make_rows(void)
{
	static const uint64_t sizes[] = {100, 900};
	sherd_store *store = open_store();
	rows_set_make_listed(store, "rows", SHERD_F32, 2, sizes, COUNT_OF(sizes), 256);
	sherd_store_close(store);
}

TEST(rows)
{
	make_rows();
	const char *victim = "rows/part-00001.shard";
	assert_told("rows stream rows --access map --dtype f32 --format raw", victim, true);
	assert_told("rows stream rows --access map --digest", victim, true);
	assert_told("rows stream rows --access auto --format text", victim, false);
	assert_told("rows stream rows --access read --digest", victim, false);
	assert_told("rows stream rows --access map --verify --digest", victim, true);
	assert_told("rows stream rows --access map --dtype f32 --format npy -o made.npy", victim, true);
	assert_told("rows gather rows --ids 0:1000", victim, false);
	assert_told("rows cat rows", victim, false);
	assert_told("rows verify rows", victim, false);
	assert_told("convert rows made.safetensors", victim, false);
}

TEST(checkpoints_models_and_others)
{
	make_rows();
	run_plain("convert rows one.safetensors");
	run_plain("checkpoint save one.safetensors k --shards 1");
	run_plain("convert one.safetensors m.sdc");
	assert_told("checkpoint load k -o made.safetensors", "k_shard_0.shard", false);
	assert_told("checkpoint verify k", "k_shard_0.shard", false);
	assert_told("checkpoint reshard k made --shards 2", "k_shard_0.shard", false);
	assert_told("cat k", "k_shard_0.shard", false);
	assert_told("convert k made.npy", "k_shard_0.shard", false);
	assert_told("convert one.safetensors made.npy", "one.safetensors", false);
	assert_told("verify one.safetensors", "one.safetensors", false);
	assert_told("cat m.sdc", "m.sdc", false);
	assert_told("verify m.sdc", "m.sdc", false);
	assert_told("convert m.sdc made.safetensors", "m.sdc", false);
}

TEST(sets_of_several_files)
{
	make_rows();
	run_plain("convert rows one.npy");
	run_plain("convert one.npy i --to index");
	run_plain("convert one.npy f/");
	run_plain("convert one.npy m.sdc --shards 2");
	run_plain("convert one.npy s.sdnb --shards 2");
	static const struct {
		const char *name, *victim;
	} sets[] = {{"i", "i-00001-of-00001.safetensors"},
	            {"f", "f/one.npy"},
	            {"m.sdc", "m.shard0-of-2.sdc"},
	            {"s.sdnb", "s.shard1-of-2.sdnb"}};
	static const char *const commands[] = {"cat %s", "convert %s made/"};
	for (size_t i = 0; i < COUNT_OF(sets); i++)
		for (size_t k = 0; k < COUNT_OF(commands); k++) {
			char command[64];
			(void)snprintf(command, sizeof(command), commands[k], sets[i].name); // NOLINT
			assert_told(command, sets[i].victim, false);
		}
}

/* The largest segment of a kind; free() it. */
static char *find_segment(const char *kind)
{
	char line[256];
	(void)snprintf(line, sizeof(line), "find db -name '*%s*' -size +8k -printf '%%s %%p\\n' | sort -n | tail -1",
	               kind);
	char *said = run_shell(line), *path = strchr(said, ' ');
	assert_non_null(path);
	path = strdup(path + 1);
	assert_non_null(path);
	path[strcspn(path, "\n")] = 0;
	free(said);
	return path;
}

TEST(graphs)
{
	sherd_store *store = open_store();
	const sherd_graph_layout layout = {.shards = 1};
	sherd_graph *g = graph_create(store, "db", &layout, NULL);
	graph_add_random(g, 1500, 3000, 5, 7);
	graph_flush(g);
	graph_add_random(g, 1000, 2000, 5, 8);
	graph_flush(g);
	sherd_graph_close(g);
	sherd_store_close(store);
	char *nodes = find_segment("nodes"), *edges = find_segment("edges");
	static const char *const commands[] = {"graph verify db",
	                                       "graph find db --type-prefix ''",
	                                       "graph export db --nodes made.n --edges made.e",
	                                       "cat db",
	                                       "graph compact made",
	                                       "graph reshard db made --shards 2"};
	for (size_t i = 0; i < COUNT_OF(commands); i++) {
		assert_told(commands[i], nodes, true);
		if (!strstr(commands[i], "find"))
			assert_told(commands[i], edges, true);
	}
	assert_told("graph stats db", edges, false);
	assert_told("graph versions db", nodes, false);
	free(nodes);
	free(edges);
}

static int set_up(void **state)
{
	(void)state;
	folder = scratch_make();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	scratch_remove(folder);
	return 0;
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
	scratch_in_memory();
	const struct CMUnitTest tests[] = {CASE(rows), CASE(checkpoints_models_and_others), CASE(sets_of_several_files),
	                                   CASE(graphs)};
	return cmocka_run_group_tests_name("crash/cut", tests, NULL, NULL);
}
