/* cli/graph/db.h - a graph database, named by the first operand of a command. */
#pragma once

#include "base/args.h"
#include "base/clock.h"

#include <sherd/graph.h>

typedef struct cli_db {
	const char *path; /* as the user wrote it */
	cli_place place;
	sherd_graph *graph;
} cli_db;

/* Opens it for reading, at the version of --at where the command has it: a number, or the newest with a tag KEY=VALUE.
 * Errors name their objects as the user does. */
int cli_db_open_reader(cli_db *db, cli_state *cli, const cli_args *args, sherd_error *err);
/* At a version in the words of --at; NULL: the current one. */
int cli_db_open_version(cli_db *db, cli_state *cli, const cli_args *args, const char *version, sherd_error *err);
/* While somebody else writes: waits for as long as --wait says, then tells who it is. */
int cli_db_open_writer(cli_db *db, cli_state *cli, const cli_args *args, sherd_error *err);
/* One that the place names, which the database then owns. */
int cli_db_open_place(cli_db *db, cli_place *place, const sherd_graph_options *options, sherd_error *err);
void cli_db_close(cli_db *db);
#define CLI_AUTO_DB __attribute__((cleanup(cli_db_close))) cli_db

/* Makes what was changed the next version. */
int cli_db_flush(cli_db *db, cli_state *cli, sherd_error *err);

/* The version that --at, or a text like it, means. */
int cli_db_version_of(const cli_db *db, const char *text, uint64_t *out, sherd_error *err);

/* Bytes of all objects below the folder, whoever needs them. */
typedef struct cli_db_bytes {
	uint64_t all, pins; /* pins: those of derive_pins/, which the real server keeps for itself */
} cli_db_bytes;
int cli_db_weigh(const cli_db *db, cli_db_bytes *out, sherd_error *err);

/* Takes --shards, --planner and --min-files. */
int cli_db_take_layout(const cli_args *args, sherd_graph_layout *out, sherd_error *err);
const char *cli_db_planner_name(sherd_graph_planner planner);

/* Copies what is live into a new database at the path, and says how many edges could not be. */
int cli_db_reshard(cli_state *cli, const sherd_graph *from, const char *path, const sherd_graph_layout *layout,
                   sherd_graph_reshard_result *result, sherd_error *err);

/* What sherd info tells. */
int cli_db_show(cli_state *cli, const char *path, cli_place *place, sherd_error *err);

/* What sherd cat prints of one: every record, or the node of that id. The place becomes the database's. */
int cli_db_cat(cli_state *cli, const cli_args *args, cli_place *place, sherd_error *err);

/* Where rc is a failure: names the object as the user does. */
static inline int cli_db_blame(const cli_db *db, int rc, sherd_error *err)
{
	return cli_place_blame(&db->place, rc, err);
}

#define CLI_WAIT_OPTION                                                                 \
	{                                                                               \
		"wait", "TIME", "how long to wait while another writes (default: 0)", 0 \
	}

#define CLI_LAYOUT_OPTIONS                                                                                           \
	{"shards", "N", "how many shards, from 1 to 65535 (default: 8)", 0},                                         \
		{"planner", "hash|directory", "hash (default): by a hash of the directory; directory: a shard each", \
	         0},                                                                                                 \
	{                                                                                                            \
		"min-files", "N", "directory: those with fewer files join their parent (default: 3)", 0              \
	}

#define CLI_AT_OPTION                                                                   \
	{                                                                               \
		"at", "VERSION", "read this version: its number, or a tag KEY=VALUE", 0 \
	}
