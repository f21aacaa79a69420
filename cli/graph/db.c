#include "graph/db.h"

#include "base/text.h"
#include "base/watch.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

/* Where the current version cannot be opened: which one can, and what to do. */
static void add_hint(const cli_db *db, bool takes_at, sherd_error *err)
{
	const sherd_graph_options current = {.read_only = true}, whole = {.read_only = true, .whole = true};
	sherd_graph *g = NULL;
	char at[32] = "";
	size_t len = strlen(err->message);
	/* What only a writer needs is damaged. */
	bool readable = sherd_graph_open(&g, db->place.store, db->place.key, &current, NULL) == SHERD_OK;
	if (!readable && sherd_graph_open(&g, db->place.store, db->place.key, &whole, NULL) == SHERD_OK) {
		uint64_t version = sherd_graph_version(g);
		if (takes_at)
			(void)snprintf(at, sizeof(at), "--at %" PRIu64 ", or ", version);
		(void)snprintf(err->message + len, sizeof(err->message) - len,
		               "; version %" PRIu64 " can be read (%ssherd graph repair)", version, at);
	}
	sherd_graph_close(g);
}

int cli_db_open_place(cli_db *db, cli_place *place, const sherd_graph_options *options, sherd_error *err)
{
	db->place = *place;
	*place = (cli_place){0};
	db->graph = NULL;
	int rc = sherd_graph_open(&db->graph, db->place.store, db->place.key, options, err);
	if (rc == SHERD_ENOTFOUND && !options->version && strcmp(err->reason, "incomplete") != 0)
		cli_fill(err, SHERD_ENOTFOUND, "not-found", "there is no graph database");
	if (rc == SHERD_ECORRUPT && !options->read_only)
		add_hint(db, false, err);
	(void)cli_db_blame(db, rc, err);
	if (rc < 0)
		cli_place_close(&db->place);
	return rc;
}

void cli_db_close(cli_db *db)
{
	sherd_graph_close(db->graph);
	cli_place_close(&db->place);
	*db = (cli_db){0};
}

static int parse_version(const char *text, uint64_t *out, sherd_error *err)
{
	const char *end;
	uint64_t v;
	if (!cli_text_digits(text, &v, &end) || *end || !v)
		return cli_usage(err, "'%.64s' is no version: a number from 1, or a tag KEY=VALUE", text);
	*out = v;
	return SHERD_OK;
}

static int version_of(const cli_db *db, const char *text, uint64_t *out, sherd_error *err)
{
	const char *equals = strchr(text, '=');
	if (!equals)
		return parse_version(text, out, err);
	CLI_AUTO_FREE char *key = strndup(text, (size_t)(equals - text));
	if (!key)
		return cli_no_memory(err);
	return sherd_graph_find_tag(out, db->graph, key, equals + 1, err);
}

int cli_db_version_of(const cli_db *db, const char *text, uint64_t *out, sherd_error *err)
{
	return cli_db_blame(db, version_of(db, text, out, err), err);
}

/* A number is opened by itself: the current version may be damaged. A tag is looked for from any that can be opened. */
static int open_at(cli_db *db, const char *at, bool takes_at, sherd_graph_options *options, sherd_error *err)
{
	bool tag = at && strchr(at, '=');
	if (at && !tag)
		TRY(parse_version(at, &options->version, err));
	options->whole = tag;
	int rc = sherd_graph_open(&db->graph, db->place.store, db->place.key, options, err);
	if (rc == SHERD_ENOTFOUND && !options->version && strcmp(err->reason, "incomplete") != 0)
		cli_fill(err, SHERD_ENOTFOUND, "not-found", "there is no graph database");
	if (rc == SHERD_ECORRUPT && !at)
		add_hint(db, takes_at, err);
	TRY(rc);
	if (!tag)
		return SHERD_OK;
	TRY(version_of(db, at, &options->version, err));
	sherd_graph_close(db->graph);
	db->graph = NULL;
	return sherd_graph_open(&db->graph, db->place.store, db->place.key, options, err);
}

int cli_db_open_version(cli_db *db, cli_state *cli, const cli_args *args, const char *version, sherd_error *err)
{
	sherd_graph_options options = {.read_only = true, .pool = cli->pool};
	bool takes_at = cli_command_takes(args->command, "at");
	*db = (cli_db){.path = args->operands[0]};
	TRY(cli_place_open_any(&db->place, db->path, false, err));
	int rc = cli_db_blame(db, open_at(db, version, takes_at, &options, err), err);
	if (rc < 0)
		cli_db_close(db);
	return rc;
}

int cli_db_open_reader(cli_db *db, cli_state *cli, const cli_args *args, sherd_error *err)
{
	return cli_db_open_version(db, cli, args, cli_args_text(args, "at"), err);
}

/* The process that holds the exclusive lock on a file, as the system tells; 0 when it does not. */
static long holder_of(const char *path)
{
	static const char exclusive[] = "FLOCK  ADVISORY  WRITE ";
	char line[256], where[64];
	struct stat st;
	long found = 0;
	FILE *locks = stat(path, &st) == 0 ? fopen("/proc/locks", "re") : NULL;
	if (!locks)
		return 0;
	(void)snprintf(where, sizeof(where), " %02x:%02x:%llu ", major(st.st_dev), minor(st.st_dev),
	               (unsigned long long)st.st_ino);
	while (!found && fgets(line, sizeof(line), locks)) {
		const char *kind = strstr(line, exclusive);
		if (kind && strstr(kind, where))
			found = strtol(kind + sizeof(exclusive) - 1, NULL, 10);
	}
	(void)fclose(locks);
	return found;
}

static void name_holder(const cli_db *db, sherd_error *err)
{
	char path[PATH_MAX], name[64] = "";
	int n = snprintf(path, sizeof(path), "%s/LOCK", db->path);
	long process = n > 0 && (size_t)n < sizeof(path) ? holder_of(path) : 0;
	if (!process)
		return;
	(void)snprintf(path, sizeof(path), "/proc/%ld/comm", process);
	FILE *comm = fopen(path, "re");
	if (comm && fgets(name, sizeof(name), comm))
		name[strcspn(name, "\n")] = 0;
	if (comm)
		(void)fclose(comm);
	(void)snprintf(err->message, sizeof(err->message), "process %ld%s%s%s writes to it; --wait TIME waits for that",
	               process, *name ? " (" : "", name, *name ? ")" : "");
}

static int open_writer(cli_db *db, const sherd_graph_options *options, sherd_error *err)
{
	cli_place place;
	TRY(cli_place_open_any(&place, db->path, false, err));
	return cli_db_open_place(db, &place, options, err);
}

int cli_db_open_writer(cli_db *db, cli_state *cli, const cli_args *args, sherd_error *err)
{
	static const struct timespec pause = {.tv_nsec = 20000000};
	const sherd_graph_options options = {.pool = cli->pool};
	uint64_t wait = 0, waited = 0;
	int rc;
	*db = (cli_db){.path = args->operands[0]};
	TRY(cli_args_span(args, "wait", &wait, err));
	while ((rc = open_writer(db, &options, err)) == SHERD_ECONFLICT && strcmp(err->reason, "locked") == 0 &&
	       waited < wait) {
		TRY(cli_watch_check(err));
		(void)nanosleep(&pause, NULL);
		waited += (uint64_t)pause.tv_nsec;
	}
	if (rc == SHERD_ECONFLICT && strcmp(err->reason, "locked") == 0)
		name_holder(db, err);
	return rc;
}

int cli_db_flush(cli_db *db, cli_state *cli, sherd_error *err)
{
	sherd_graph_commit_options commit = {.progress = &cli->progress};
	TRY(cli_clock_time(&commit.time_ns, err));
	int rc = cli_db_blame(db, sherd_graph_flush(db->graph, &commit, err), err);
	cli_out_clear_bar(&cli->out);
	return rc;
}

typedef struct weighing {
	cli_db_bytes bytes;
	size_t folder; /* length of the folder's name and its slash */
} weighing;

static bool weigh_one(void *arg, const char *key, const sherd_stat *stat)
{
	static const char pins[] = "derive_pins/";
	weighing *w = arg;
	w->bytes.all += stat->size;
	if (strncmp(key + w->folder, pins, strlen(pins)) == 0)
		w->bytes.pins += stat->size;
	return true;
}

int cli_db_weigh(const cli_db *db, cli_db_bytes *out, sherd_error *err)
{
	char prefix[SHERD_MAX_KEY + 2];
	const char *key = db->place.key;
	int len = snprintf(prefix, sizeof(prefix), "%s%s", key, *key ? "/" : "");
	weighing w = {.folder = (size_t)len};
	TRY(sherd_store_list(db->place.store, prefix, "", weigh_one, &w, err));
	*out = w.bytes;
	return SHERD_OK;
}

static const char *const planners[] = {[SHERD_GRAPH_HASH] = "hash", [SHERD_GRAPH_DIRECTORY] = "directory", NULL};

const char *cli_db_planner_name(sherd_graph_planner planner)
{
	return planners[planner];
}

int cli_db_take_layout(const cli_args *args, sherd_graph_layout *out, sherd_error *err)
{
	unsigned planner = SHERD_GRAPH_HASH;
	int64_t shards = 0;
	*out = (sherd_graph_layout){0};
	TRY(cli_args_word(args, "planner", planners, &planner, err));
	TRY(cli_args_number(args, "shards", 1, UINT16_MAX, &shards, err));
	TRY(cli_args_count(args, "min-files", 1, &out->min_files, err));
	out->planner = (sherd_graph_planner)planner;
	out->shards = (uint32_t)shards;
	if (out->shards && out->planner == SHERD_GRAPH_DIRECTORY)
		return cli_usage(err, "--shards goes with --planner hash only: directories decide how many there are");
	if (out->min_files && out->planner == SHERD_GRAPH_HASH)
		return cli_usage(err, "--min-files goes with --planner directory only");
	return SHERD_OK;
}
